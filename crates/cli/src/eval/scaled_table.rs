//! Rows in memory, over which one learner after another goes as `eval` does.

use mercer_encoding::Encoding;
use mercer_kernels::AnyKernel;
use mercer_registry::catalogue::{self, Entry, Value};

use super::pass::{Ends, EvalPass, EvalRoad};
use super::scoring::Scoring;
use super::{check_skip, premises};
use crate::arguments::task::{Kind, TaskOptions};
use crate::data::encoded_rows::{Oddities, RunningEncoding};
use crate::data::stop::Stop;
use crate::eval::arguments::EvalArguments;
use crate::eval::feed::{ExampleChunk, ExampleFeed, Names, tell_odd};
use crate::model::construction::{Construction, FreshLearner, Premises};
use crate::model::memory;
use crate::report::failure::Failure;
use crate::report::scores::{Metric, Scores};
use crate::report::trace::Checkpoint;
use crate::report::verbosity;

/// All rows of DATA, scaled and in order, as `eval` would learn them.
pub(crate) struct ScaledTable {
    chunks: Vec<ExampleChunk>,
    /// Where labels come late, so that every pass encodes the rows anew.
    encoding: Option<Encoding>,
    names: Names,
    kind: Kind,
    dimension: usize,
    ends: Ends,
    rows: usize,
}

/// The outcome of a pass.
pub(crate) struct PassResult {
    pub(crate) kernel: String,
    pub(crate) parameters: Vec<(&'static str, Value)>,
    pub(crate) dictionary_size: usize,
    /// The time of the learner alone.
    pub(crate) seconds: f64,
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Remarks on the result.
    pub(crate) notes: Vec<String>,
    scoring: Scoring,
    /// Rows at the beginning that were not scored.
    skip: usize,
}

impl PassResult {
    /// Over all rows that are scored.
    pub(crate) fn scores(&self) -> Scores {
        self.scoring.scores()
    }

    /// Over the later half of them.
    pub(crate) fn second_half(&self) -> Scores {
        let scored = self.scoring.scored();
        self.scoring.between(scored / 2, scored, true).1
    }

    /// The curve of the scores of windows of so many rows, and those of the baselines.
    #[cfg(feature = "plots")]
    pub(crate) fn curves(
        &self,
        name: &str,
        metric: Metric,
        rows: usize,
    ) -> (mercer_plots::Curve, Vec<mercer_plots::Curve>) {
        super::picture::curves(&self.scoring, name, self.skip, metric, Some(rows))
    }

    /// Over the window of so many rows that ends with row `t`.
    pub(crate) fn window(&self, t: usize, rows: usize) -> Scores {
        let until = t - self.skip.min(t);
        self.scoring.between(until.saturating_sub(rows), until, true).1
    }
}

impl ScaledTable {
    /// Reads DATA.
    pub(crate) fn read(arguments: &EvalArguments) -> Result<Self, Failure> {
        let mut feed = ExampleFeed::open(arguments, &Stop::never())?;
        let encoding = feed.encoding().cloned();
        let (mut chunks, mut odd) = (Vec::new(), Oddities::default());
        let mut running = encoding.clone().map(|encoding| RunningEncoding::new(encoding, feed.kind()));
        if let (Some(running), Some(delay)) = (&mut running, arguments.common.label_delay) {
            running.delay(delay);
        }
        loop {
            let mut chunk = ExampleChunk::default();
            feed.fill(&mut chunk)?;
            if chunk.len() == 0 {
                break;
            }
            if let Some(running) = &mut running {
                chunk.encode(running, feed.names());
                for row in 0..chunk.len() {
                    tell_odd(&mut odd, &running.encoding, &chunk.records[row], feed.names(), chunk.place_of(row));
                }
            }
            chunks.push(chunk);
        }
        feed.order_note().iter().for_each(verbosity::remark);
        feed.left_out().iter().for_each(verbosity::say);
        let rows = chunks.iter().map(ExampleChunk::len).sum();
        check_skip(arguments.scores.skipped(catalogue::find(&arguments.common.learner)?), rows)?;
        Ok(Self {
            rows,
            chunks,
            encoding,
            names: feed.names().clone(),
            kind: feed.kind(),
            dimension: feed.dimension(),
            ends: Ends { block: feed.block(), rounds: feed.length() },
        })
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// d.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// A prefix is as many chunks of so many rows.
    pub(crate) fn chunk(&self) -> usize {
        self.chunks.first().map_or(1, ExampleChunk::len)
    }

    fn premises(&self) -> Premises<'_> {
        premises(self.dimension, self.kind, self.chunks.first())
    }

    /// The kernel that the options name, or the median heuristic.
    pub(crate) fn kernel(&self, arguments: &EvalArguments, entry: &Entry) -> Result<AnyKernel, Failure> {
        let Premises { dimension, rows, weights, .. } = self.premises();
        arguments.common.kernel(entry, dimension, rows, weights).map(|(kernel, _)| kernel)
    }

    /// One pass of the learner that the options name over the first `rows` rows, or a whole chunk
    /// more.
    ///
    /// # Errors
    /// Those of `eval`.
    pub(crate) fn pass(&self, arguments: &EvalArguments, rows: usize) -> Result<PassResult, Failure> {
        let common = &arguments.common;
        let (entry, shown) = (catalogue::find(&common.learner)?, common.data.display().to_string());
        self.kind.check(entry, TaskOptions::from_arguments(common), &shown)?;
        memory::check(entry, &shown, self.rows, self.dimension)?;
        let made = Construction::new(common, entry, &self.premises())?;
        let (kernel, parameters) = (made.kernel.clone(), made.parameters.clone());
        let skip = arguments.scores.skipped(entry);
        let road = EvalRoad { encoding: self.encoding.clone(), groups: None, ends: self.ends, skip, aloud: false };
        let mut pass = EvalPass::new(arguments, entry, made, road)?;
        for chunk in &self.chunks {
            if pass.count >= rows {
                break;
            }
            pass.learn(chunk, &self.names)?;
        }
        let notes = pass.notes(&kernel, &parameters);
        let EvalPass { session, scoring, trace, seconds, .. } = pass;
        Ok(PassResult {
            kernel,
            parameters,
            dictionary_size: session.dictionary_size(),
            seconds: seconds.as_secs_f64(),
            checkpoints: trace.checkpoints(),
            notes,
            scoring,
            skip,
        })
    }

    /// The score that is asked for, or the root mean squared error, or the accuracy of classes.
    pub(crate) fn followed(&self, arguments: &EvalArguments) -> Result<Metric, Failure> {
        Metric::followed(arguments.scores.metric, self.kind.is_class(), false)
    }

    /// The score that is asked for, or what is usual: the root mean squared error; of classes the
    /// log loss, or the accuracy where the learner has no probabilities.
    pub(crate) fn metric(&self, arguments: &EvalArguments) -> Result<Metric, Failure> {
        let (asked, followed) = (arguments.scores.metric, self.followed(arguments)?);
        let entry = catalogue::find(&arguments.common.learner)?;
        match Construction::new(&arguments.common, entry, &self.premises())?.learner {
            FreshLearner::Classes(classifier, _) if asked.is_none() && classifier.has_probabilities() => {
                Ok(Metric::LogLoss)
            }
            _ => Ok(followed),
        }
    }
}
