//! What a pass writes: its predictions, row by row, and its report.

use std::fmt::Write as _;

use mercer_learners::{Regressor, RegressorExt};
use mercer_registry::catalogue::Value;
use mercer_session::model::{Task, Taught};

use crate::arguments::task::TaskOptions;
use crate::eval::arguments::EvalArguments;
use crate::eval::classes;
use crate::eval::feed::{ExampleFeed, Names};
use crate::eval::pass::EvalPass;
use crate::eval::scoring::Scoring;
use crate::model::cells::{AnswerCell, AnswerCells, Offer};
use crate::model::classes::quoted;
use crate::model::labels::LabelsById;
use crate::report::evaluation::{CurvePoint, EvalReport, GroupScores, Parameters, WindowScores};
use crate::report::failure::Failure;
use crate::report::output::number;
use crate::report::scores::{Metric, Scores};
use crate::report::trace::Checkpoint;

impl EvalPass {
    /// The columns of the predictions.
    pub(super) fn cells(&self, arguments: &EvalArguments, feed: &ExampleFeed) -> Result<AnswerCells, Failure> {
        let has_variance = self.session.screened().is_some_and(RegressorExt::has_variance);
        let has_intervals = self.session.intervals().is_some();
        let (classes, has_probabilities) = match self.session.classes() {
            None => (Vec::new(), false),
            // Whoever names the columns needs no list of classes.
            Some(task) => {
                let names = if arguments.columns.is_empty() { feed.survey()? } else { Vec::new() };
                (names, task.classifier.has_probabilities())
            }
        };
        let targets = feed.columns().targets();
        let (kind, classes) = (feed.kind(), &*classes);
        AnswerCells::plan(
            &arguments.columns,
            &Offer { kind, targets, classes, has_probabilities, has_variance, has_intervals },
        )
    }

    /// The scores of each group, the largest first, if there are groups.
    fn group_scores(&self) -> Vec<GroupScores> {
        let Some(groups) = &self.session.groups else { return Vec::new() };
        let size = |name: &str| groups.models.get(name).map(|model| model.learner().dictionary_size());
        let one = |(name, (rows, scores)): (&String, (usize, Scores))| GroupScores {
            group: Some(name.clone()).filter(|name| !name.is_empty()),
            rows,
            dictionary_size: size(name).unwrap_or_else(|| self.session.dictionary_size()),
            scores,
        };
        let mut all: Vec<GroupScores> = match &self.scoring {
            Scoring::Numbers(numbers) => {
                numbers.groups.iter().map(|(name, sums)| one((name, (sums.rounds(), sums.scores())))).collect()
            }
            Scoring::Classes(classes) => {
                let scored = classes.groups.iter();
                scored.map(|(name, sums)| one((name, (sums.score.rounds(), classes::scores(sums, None))))).collect()
            }
        };
        all.sort_by_key(|group| std::cmp::Reverse(group.rows));
        all
    }

    /// Writes the lines of a chunk that was learnt.
    pub(super) fn write(&self, lines: &mut String, cells: &AnswerCells, names: &Names) {
        let before = self.count - self.rounds.len();
        for index in 0..self.rounds.len() {
            // Writing to a string cannot fail.
            let _ = write!(lines, "{}", before + index + 1);
            for (_, cell) in cells.named() {
                lines.push(',');
                if let Some(text) = self.cell(cell, names, index) {
                    lines.push_str(&text);
                }
            }
            lines.push('\n');
        }
    }

    /// The text of a cell; a value that does not exist yet has none.
    fn cell(&self, cell: &AnswerCell, names: &Names, index: usize) -> Option<String> {
        let rounds = &self.rounds;
        match (cell, &self.session.task) {
            (AnswerCell::Size, _) => Some(rounds.sizes[index].to_string()),
            (AnswerCell::Target(output), Task::Numbers(_)) => Some(number(rounds.targets(index)[*output])),
            (AnswerCell::Prediction(output), Task::Numbers(_)) => Some(number(rounds.predictions(index)[*output])),
            (AnswerCell::Loss, Task::Numbers(task)) => Some(number(rounds.loss(index, task.learner.loss()))),
            (AnswerCell::Variance(output), Task::Numbers(_)) => rounds.variance(index, *output).map(number),
            (AnswerCell::Lower(output), Task::Numbers(_)) => {
                rounds.interval(index, *output).map(|ends| number(ends[0]))
            }
            (AnswerCell::Upper(output), Task::Numbers(_)) => {
                rounds.interval(index, *output).map(|ends| number(ends[1]))
            }
            (AnswerCell::Base | AnswerCell::Effect(..) | AnswerCell::OtherEffects, _)
            | (AnswerCell::Score | AnswerCell::Probability(_), Task::Numbers(_))
            | (AnswerCell::Variance(_) | AnswerCell::Lower(_) | AnswerCell::Upper(_), Task::Classes(_)) => None,
            (AnswerCell::Target(_), Task::Classes(_)) => names.label(rounds.targets(index)[0]).map(quoted),
            (AnswerCell::Prediction(_), Task::Classes(task)) => {
                task.labels.get(rounds.class(index).judged.class?).map(quoted)
            }
            (AnswerCell::Loss, Task::Classes(_)) => rounds.class(index).loss.map(number),
            (AnswerCell::Score, Task::Classes(_)) => rounds.class(index).judged.score.map(number),
            (AnswerCell::Probability(class), Task::Classes(task)) => {
                let round = rounds.class(index);
                round.judged.probability(task.labels.find(class)?, round.known).map(number)
            }
        }
    }

    /// What is to be told of all rows.
    pub(super) fn report(
        &mut self,
        arguments: &EvalArguments,
        feed: &ExampleFeed,
        followed: Metric,
        (kernel, parameters): (String, Vec<(&'static str, Value)>),
    ) -> EvalReport {
        let alarms = self.watching.as_mut().map(|watching| watching.alarms(arguments.alarm_rate.rows));
        let Self { entry, scoring: body, skip, count: n, .. } = &*self;
        let (asked, n, skip, scored) = (&arguments.scores, *n, *skip, body.scored());
        let window = asked.window.map_or((n / 10).max(1), usize::from);
        let mut notes = self.notes(&kernel, &parameters);
        notes.extend((skip > asked.skip).then(|| not_predicted(entry.name, skip)));
        notes.extend(self.session.groups.iter().filter_map(|groups| self.common.line(groups)));
        notes.extend(self.labels.iter().flat_map(LabelsById::report));
        notes.extend(alarms.iter().flat_map(|alarms| alarms.notes("mercer watch --burn-in")));
        notes.extend(feed.order_note().into_iter().chain(feed.left_out()));
        let own = || Some(self.odd.as_ref()?.facts(self.session.encoding.as_ref()?));
        let (columns, counts) = feed.facts().or_else(own).unzip();
        let seconds = self.seconds.as_secs_f64();
        let (_, second_half) = body.between(scored / 2, scored, true);
        let (rows, last) = body.between(scored.saturating_sub(window), scored, true);
        let progress = |Checkpoint { t, cumulative_loss, dictionary_size }| {
            let until = t - skip.min(t);
            let score = |from: usize| followed.value(&body.between(from, until, followed == Metric::Auc).1);
            let (window_score, score) = (score(until.saturating_sub(window)), score(0));
            CurvePoint { t, cumulative_loss, dictionary_size, window_score, score }
        };
        let (task, outputs) = match body {
            Scoring::Numbers(numbers) => ("regression", numbers.outputs(feed.columns().targets())),
            Scoring::Classes(_) => ("class", Vec::new()),
        };
        EvalReport {
            learner: entry.name,
            kernel,
            parameters: Parameters(parameters),
            rows: n,
            features: feed.dimension(),
            scores: body.scores(),
            second_half,
            last_window: WindowScores { rows, scores: last },
            outputs,
            groups: self.group_scores(),
            dictionary_size: self.session.dictionary_size(),
            seconds,
            seconds_per_example: seconds / n as f64,
            checkpoints: self.trace.checkpoints().into_iter().map(progress).collect(),
            task,
            why: feed.kind().why(TaskOptions::from_arguments(&arguments.common)),
            columns,
            counts,
            alarms,
            notes,
            asked: asked.metric,
            followed,
            skipped: skip,
            window,
        }
    }
}

/// The note on so many rows at the beginning, which are not scored.
fn not_predicted(learner: &str, skip: usize) -> String {
    let first = if skip == 1 {
        "first row, for nothing is known before it; it is".to_owned()
    } else {
        format!("first {skip} rows, for no label is known before them; they are")
    };
    format!("{learner} does not predict the {first} not scored")
}
