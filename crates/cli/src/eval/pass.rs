//! The pass over the rows: a session that predicts, learns and scores them, in blocks or singly.

mod late;

use std::time::{Duration, Instant};

use mercer_core::ExampleError;
use mercer_encoding::{Encoding, Scale};
use mercer_learners::{Error, RegressorExt};
use mercer_registry::catalogue::{Entry, Value};
use mercer_session::model::{Classes, Numbers, Task};
use mercer_session::notes::{self, Face, LearningFacts, Watch};
use mercer_session::{
    BlockTargets, EarlyPrediction, GroupAnswer, Groups, LateRows, Row, RowPrediction, Session, StepError, record_time,
};

use crate::data::encoded_rows::Oddities;
use crate::data::stop::Stop;
use crate::eval::arguments::EvalArguments;
use crate::eval::ended;
use crate::eval::feed::{ExampleChunk, ExampleFeed, Names, tell_odd};
#[cfg(feature = "plots")]
use crate::eval::picture;
use crate::eval::rounds::Rounds;
use crate::eval::scoring::{Guess, Scoring};
use crate::model::cells::AnswerCells;
use crate::model::construction::{Construction, FreshLearner};
use crate::model::groups::CommonAnswers;
use crate::model::labels::LabelsById;
use crate::model::watching::SessionWatch;
use crate::report::failure::Failure;
use crate::report::notes::{Implausibles, texts, written};
use crate::report::output::{Predictions, number};
use crate::report::trace::{Checkpoint, Trace};
use crate::report::verbosity;
use late::LateRow;

/// Where blocks end.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) block: usize,
    pub(super) rounds: Option<usize>,
}

impl Ends {
    /// Rows of the next block after `learnt` rows, `left` of which are at hand: it ends at the next
    /// checkpoint at the latest, so that the dictionary's size there is known.
    fn next(self, learnt: usize, left: usize) -> usize {
        let checkpoint = self.rounds.map(|rounds| Trace::next_checkpoint(rounds, learnt));
        let until = checkpoint.map_or(usize::MAX, |checkpoint| checkpoint.saturating_sub(learnt).max(1));
        self.block.min(left).min(until)
    }
}

/// The way that a pass goes.
pub(super) struct EvalRoad {
    /// Of columns that the session encodes.
    pub(super) encoding: Option<Encoding>,
    pub(super) groups: Option<Groups<Task>>,
    pub(super) ends: Ends,
    /// Rows at the beginning that are not scored.
    pub(super) skip: usize,
    /// True if odd cells are told.
    pub(super) aloud: bool,
}

/// The learner and its scores.
pub(super) struct EvalPass {
    pub(super) entry: &'static Entry,
    pub(super) session: Session,
    pub(super) scoring: Scoring,
    watch: Watch,
    implausible: Implausibles,
    /// Rows that were learnt.
    learnt: u64,
    /// The memory of the row that is learnt.
    sample: Row,
    /// Watches the rows, if they are to be watched.
    pub(super) watching: Option<SessionWatch>,
    /// Where rows are learnt one by one, the last answer.
    single: Option<RowPrediction>,
    late: Option<LateRows<LateRow>>,
    /// Rows that wait for labels that come by id, with what baselines predicted.
    pub(super) labels: Option<LabelsById<(LateRow, RowPrediction, Guess)>>,
    /// Rows of groups without a model.
    pub(super) common: CommonAnswers,
    relearnt: RowPrediction,
    /// What was odd about the cells that the session encodes; none if it is not told.
    pub(super) odd: Option<Oddities>,
    unscaled: bool,
    pub(super) skip: usize,
    ends: Ends,
    /// Rounds so far, and those of the last chunk.
    pub(super) count: usize,
    pub(super) rounds: Rounds,
    pub(super) trace: Trace,
    pub(super) seconds: Duration,
    /// What the picture shows, if one is wanted.
    #[cfg(feature = "plots")]
    pub(super) gathered: Option<picture::PictureData>,
}

impl EvalPass {
    pub(super) fn new(
        arguments: &EvalArguments,
        entry: &'static Entry,
        made: Construction,
        road: EvalRoad,
    ) -> Result<Self, Failure> {
        let (common, labels) = (&arguments.common, &arguments.common.groups.labels);
        let EvalRoad { encoding, groups, ends, skip, aloud } = road;
        let variance = arguments.columns.iter().any(|column| column == "variance");
        let answer = RowPrediction { variances: variance.then(Vec::new), ..RowPrediction::default() };
        let task = task(arguments, made.learner)?;
        let session = Session { encoding, groups, ..Session::plain(task) };
        Ok(Self {
            entry,
            scoring: Scoring::new(&session.task),
            rounds: Rounds::new(session.outputs()),
            session,
            watch: Watch::default(),
            implausible: Implausibles::default(),
            learnt: 0,
            sample: Row::default(),
            watching: None,
            single: arguments.is_single().then_some(answer),
            late: common.label_delay.map(LateRows::new),
            labels: labels.label_id.as_ref().map(|_| LabelsById::new(labels.max_kept)),
            common: CommonAnswers::default(),
            relearnt: RowPrediction::default(),
            odd: aloud.then(Oddities::default),
            unscaled: common.scale == Scale::None,
            skip,
            ends,
            count: 0,
            trace: Trace::new(),
            seconds: Duration::ZERO,
            #[cfg(feature = "plots")]
            gathered: None,
        })
    }

    /// Goes over all rows, of which `chunk` has the first, and writes their predictions.
    pub(super) fn over(
        &mut self,
        arguments: &EvalArguments,
        feed: &mut ExampleFeed,
        mut chunk: ExampleChunk,
        mut written: Option<(Predictions, AnswerCells)>,
        stop: &Stop,
    ) -> Result<Option<Predictions>, Failure> {
        if let Some((file, cells)) = &mut written {
            file.write(&format!("t,{}\n", cells.header()))?;
        }
        let (bar, mut lines) = (verbosity::rows_bar(feed.rounds()), String::new());
        while chunk.len() > 0 {
            self.learn(&chunk, feed.names())?;
            if let Some((file, cells)) = &mut written {
                lines.clear();
                self.write(&mut lines, cells, feed.names());
                file.write(&lines)?;
            }
            bar.inc(chunk.len() as u64);
            bar.set_message(self.session.dictionary_size().to_string());
            ended(stop, arguments, self.count)?;
            feed.fill(&mut chunk)?;
        }
        bar.finish_and_clear();
        self.learn_rest()?;
        ended(stop, arguments, self.count)?;
        Ok(written.map(|(file, _)| file))
    }

    /// Remarks on the result of a learner with these settings.
    pub(super) fn notes(&self, kernel: &str, parameters: &[(&'static str, Value)]) -> Vec<String> {
        let (entry, parameters, scaled) = (self.entry, written(parameters), !self.unscaled);
        let alike = notes::alike_names(&self.session);
        match (&self.session.task, &self.scoring) {
            (Task::Numbers(task), Scoring::Numbers(numbers)) => {
                let (rounds, learner) = (numbers.score.rounds(), task.learner.learner());
                let facts = LearningFacts { entry, kernel, parameters: &parameters, scaled, learner, rounds };
                let implausible = self.implausible.note(&task.learner);
                implausible
                    .into_iter()
                    .chain(texts(self.watch.notes(&facts, Face::Command).into_iter().chain(alike)))
                    .collect()
            }
            (Task::Classes(_), Scoring::Classes(classes)) => {
                let (rounds, size) = (classes.score.rounds(), self.session.dictionary_size());
                let crowded = notes::crowded(entry, rounds, size, Face::Command);
                let majority = notes::majority(Some(entry), &classes.score, Face::Command);
                texts(crowded.into_iter().chain(majority).chain(alike))
            }
            _ => Vec::new(),
        }
    }

    /// Predicts, learns and scores a chunk; the clock runs only while a learner is at work.
    pub(super) fn learn(&mut self, chunk: &ExampleChunk, names: &Names) -> Result<(), Failure> {
        self.rounds.clear();
        match self.single.take() {
            Some(mut answer) => {
                let learnt = (0..chunk.len()).try_for_each(|row| self.learn_row(chunk, names, row, &mut answer));
                self.single = Some(answer);
                learnt
            }
            None => self.learn_blocks(chunk, names),
        }
    }

    /// Learns a chunk block by block, and then scores its rows.
    fn learn_blocks(&mut self, chunk: &ExampleChunk, names: &Names) -> Result<(), Failure> {
        let labels: Vec<&str> = chunk.targets.iter().map_while(|target| names.label(*target)).collect();
        let (d, m) = (self.session.dimension(), self.session.outputs());
        let start = Instant::now();
        let mut refused = None;
        while self.rounds.sizes.len() < chunk.len() && refused.is_none() {
            let first = self.rounds.sizes.len();
            let end = first + self.ends.next(self.count + first, chunk.len() - first);
            let targets = match &self.session.task {
                Task::Numbers(_) => BlockTargets::Numbers(&chunk.targets[first * m..end * m]),
                Task::Classes(_) => BlockTargets::Labels(&labels[first..end]),
            };
            let (inputs, weights) = (chunk.inputs(first, end, d), chunk.weights.get(first..end).unwrap_or_default());
            let made = &mut self.rounds.made;
            refused = self.session.task.learn_rows(inputs, targets, weights, made).err();
            let learnt = made.classes.len().max(made.numbers.len() / m);
            self.rounds.sizes.resize(learnt, self.session.dictionary_size());
        }
        self.seconds += start.elapsed();
        let learnt = self.rounds.sizes.len();
        self.rounds.targets.extend_from_slice(&chunk.targets[..learnt * m]);
        self.rounds.weights.extend((0..learnt).map(|row| chunk.weight(row)));
        if let Task::Classes(task) = &self.session.task {
            self.scoring.know(&task.labels);
        }
        for row in 0..learnt {
            self.count_learnt(chunk.weight(row));
            if let Task::Numbers(_) = &self.session.task {
                let (predictions, targets) = (self.rounds.predictions(row), self.rounds.targets(row));
                let x = &chunk.features[row * d..][..d];
                self.watch.record(x, predictions, targets, chunk.weight(row), self.rounds.sizes[row]);
            }
            self.score(&|| names.place(chunk, row), row, None)?;
            let class = self.rounds.made.classes.get(row).map_or(0, |round| round.class);
            self.scoring.show(self.rounds.targets(row), class, chunk.weight(row));
        }
        refused.map_or(Ok(()), |refusal| Err(self.stopped(&names.place(chunk, learnt), &refusal)))
    }

    /// Predicts and scores a row, and learns it, or those whose labels have come.
    fn learn_row(
        &mut self,
        chunk: &ExampleChunk,
        names: &Names,
        row: usize,
        answer: &mut RowPrediction,
    ) -> Result<(), Failure> {
        let mut sample = std::mem::take(&mut self.sample);
        chunk.put_row(row, names, &mut sample);
        let place = || names.place(chunk, row);
        let weight = sample.example.weight;
        if self.labels.is_some() && self.takes_label(&mut sample, chunk.targets_of(row), &place, answer)? {
            return Ok(());
        }
        let start = Instant::now();
        let learnt = if self.late.is_some() {
            let encoding = self.session.encoding.as_ref();
            let time = encoding.and_then(|encoding| record_time(encoding.schema(), &sample.record));
            while let Some(late) = self.late.as_mut().and_then(|late| late.due(time)) {
                self.learn_late(late)?;
            }
            self.session.predict(&mut sample, answer)
        } else {
            self.session.learn(&mut sample, &mut self.watch, answer)
        };
        self.seconds += start.elapsed();
        learnt.map_err(|refusal| self.stopped(&place(), &refusal))?;
        if let Some(watching) = &mut self.watching {
            let taken = watching.take(&sample, chunk.targets_of(row)[0], answer, &self.session.task);
            taken.map_err(|error| Failure::because(format!("{}: {error}", place())))?;
        }
        if let (Some(encoding), Some(odd)) = (&self.session.encoding, &mut self.odd) {
            tell_odd(odd, encoding, &sample.record, names, chunk.place_of(row));
        }
        let class = match &mut self.scoring {
            Scoring::Classes(classes) => classes.class(&sample.example.label, weight),
            Scoring::Numbers(_) => 0,
        };
        let round = self.add_round(answer, chunk.targets_of(row), (class, weight));
        self.common.take(&answer.group, place);
        if self.late.is_none() {
            self.count_learnt(weight);
        }
        self.score(&place, round, None)?;
        match &mut self.late {
            Some(late) => {
                late.wait(LateRow { row: sample, early: EarlyPrediction::new(answer), class, place: place() });
            }
            None => {
                self.scoring.show(self.rounds.targets(round), class, weight);
                self.sample = sample;
            }
        }
        Ok(())
    }

    /// Adds a row that was answered to the rounds of the chunk, with its target as data have it.
    fn add_round(&mut self, answer: &RowPrediction, targets: &[f64], (class, weight): (usize, f64)) -> usize {
        self.rounds.made.push(&self.session.task, answer, class);
        self.rounds.targets.extend_from_slice(targets);
        self.rounds.weights.push(weight);
        self.rounds.sizes.push(self.session.dictionary_size());
        if self.session.groups.is_some() {
            let GroupAnswer { name, is_common, .. } = &answer.group;
            self.rounds.groups.push(if *is_common { String::new() } else { name.clone() });
        }
        self.rounds.len() - 1
    }

    /// A row of that weight was learnt.
    fn count_learnt(&mut self, weight: f64) {
        self.learnt += 1;
        if let Some(learner) = self.session.screened() {
            self.implausible.take(learner, self.learnt, weight);
        }
    }

    /// Scores a round of the last chunk.
    fn score(&mut self, place: &dyn Fn() -> String, round: usize, guess: Option<&Guess>) -> Result<(), Failure> {
        if self.count >= self.skip {
            self.scoring.record(&self.rounds, round, &self.session.task, guess);
        }
        self.count += 1;
        let cumulative_loss = self.scoring.loss();
        if let (false, Scoring::Numbers(_)) = (cumulative_loss.is_finite(), &self.scoring) {
            let shown = |values: &[f64]| values.iter().map(|value| number(*value)).collect::<Vec<_>>().join(" ");
            let (target, prediction) = (shown(self.rounds.targets(round)), shown(self.rounds.predictions(round)));
            return Err(Failure::because(format!(
                "{}: the squared error overflows (target {target}, prediction {prediction}); {}",
                place(),
                self.mending()
            )));
        }
        #[cfg(feature = "plots")]
        if let Some(gathered) = self.gathered.as_mut().filter(|_| self.count > self.skip) {
            gathered.take(&self.rounds, round, self.count);
        }
        let dictionary_size = self.rounds.sizes[round];
        self.trace.record(Checkpoint { t: self.count, cumulative_loss, dictionary_size });
        Ok(())
    }

    /// Why the learner did not take an example, and what to change.
    fn stopped(&self, place: &str, refusal: &StepError) -> Failure {
        let name = self.entry.name;
        let StepError::Learner(error) = refusal else { return Failure::because(format!("{place}: {refusal}")) };
        Failure::because(match error {
            Error::Example(ExampleError::Diverged) => {
                format!("{place}: {name} diverged: its update is not a finite number; {}", self.mending())
            }
            Error::Example(ExampleError::KernelOverflow) if self.unscaled => {
                format!("{place}: {name}: {error}; {SCALING}")
            }
            _ => format!("{place}: {name}: {error}"),
        })
    }

    fn mending(&self) -> String {
        let scaling = self.unscaled.then_some(SCALING);
        let ways: Vec<&str> = scaling.into_iter().chain(self.entry.remedy).collect();
        if ways.is_empty() { "check the data for values far from all others".to_owned() } else { ways.join(", or ") }
    }
}

/// What is learnt of the targets.
fn task(arguments: &EvalArguments, learner: FreshLearner) -> Result<Task, Failure> {
    let common = &arguments.common;
    Ok(match learner {
        FreshLearner::Numbers(mut learner) => {
            learner.set_threads(arguments.threads.into());
            let learner = common.behind_scales(learner)?.screening(common.outliers);
            let intervals = common.intervals.make(&learner, common.interval_scale())?;
            Task::Numbers(Box::new(Numbers { intervals, ..Numbers::new(learner) }))
        }
        FreshLearner::Classes(mut classifier, labels) => {
            classifier.learner_mut().set_threads(arguments.threads.into());
            Task::Classes(Box::new(Classes::new(*classifier, labels)))
        }
    })
}

/// What mends most of what unscaled data do.
const SCALING: &str = "scale the data (--scale standard)";
