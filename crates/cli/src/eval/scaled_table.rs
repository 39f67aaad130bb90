//! Rows in memory, over which one learner after another goes as `eval` does.

use mercer_encoding::Scale;
use mercer_kernels::AnyKernel;
use mercer_registry::catalogue::{self, Entry, Value};

use super::{Ends, EvalPass, Scoring, check_skip, premises};
use crate::arguments::task::{Kind, TaskOptions};
use crate::data::stop::Stop;
use crate::eval::arguments::EvalArguments;
use crate::eval::feed::{ExampleChunk, ExampleFeed, Names};
use crate::model::construction::{Construction, FreshLearner, Premises};
use crate::model::memory;
use crate::report::failure::Failure;
use crate::report::scores::{Metric, Scores};
use crate::report::trace::Checkpoint;
use crate::report::verbosity;

/// All rows of DATA, scaled and in order, as `eval` would learn them.
pub(crate) struct ScaledTable {
    chunks: Vec<ExampleChunk>,
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
    body: Scoring,
    /// Rows at the beginning that were not scored.
    skip: usize,
}

impl PassResult {
    /// Over all rows that are scored.
    pub(crate) fn scores(&self) -> Scores {
        self.body.scores()
    }

    /// Over the later half of them.
    pub(crate) fn second_half(&self) -> Scores {
        let scored = self.body.scored();
        self.body.between(scored / 2, scored, true).1
    }

    /// The curve of the scores of windows of so many rows, and those of the baselines.
    #[cfg(feature = "plots")]
    pub(crate) fn curves(
        &self,
        name: &str,
        metric: Metric,
        rows: usize,
    ) -> (mercer_plots::Curve, Vec<mercer_plots::Curve>) {
        super::picture::curves(&self.body, name, self.skip, metric, Some(rows))
    }

    /// Over the window of so many rows that ends with row `t`.
    pub(crate) fn window(&self, t: usize, rows: usize) -> Scores {
        let until = t - self.skip.min(t);
        self.body.between(until.saturating_sub(rows), until, true).1
    }
}

impl ScaledTable {
    /// Reads DATA.
    pub(crate) fn read(arguments: &EvalArguments) -> Result<Self, Failure> {
        let mut feed = ExampleFeed::open(arguments, &Stop::never())?;
        let mut chunks = Vec::new();
        loop {
            let mut chunk = ExampleChunk::default();
            feed.fill(&mut chunk)?;
            if chunk.len() == 0 {
                break;
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
        let Construction { learner, kernel, parameters } = Construction::new(common, entry, &self.premises())?;
        let (unscaled, skip) = (common.scale == Scale::None, arguments.scores.skipped(entry));
        let mut pass = EvalPass::new(entry, Scoring::of(arguments, learner)?, unscaled, skip, self.ends);
        for chunk in &self.chunks {
            if pass.rounds >= rows {
                break;
            }
            pass.learn(chunk, &self.names)?;
        }
        let notes = pass.notes(&kernel, &parameters);
        let EvalPass { body, trace, seconds, .. } = pass;
        Ok(PassResult {
            kernel,
            parameters,
            dictionary_size: body.dictionary_size(),
            seconds: seconds.as_secs_f64(),
            checkpoints: trace.checkpoints(),
            notes,
            body,
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
