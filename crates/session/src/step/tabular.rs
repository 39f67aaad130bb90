//! A row for a model with its table: encoded, predicted, learnt.

use mercer_core::Cells;
use mercer_encoding::ScaledTargets;
use mercer_kernels::AnyKernel;
use mercer_learners::intervals::LearnerIntervals;
use mercer_readers::Example;
use mercer_registry::AnyRegressor;

use super::{Lesson, Row};
use crate::answer::{EarlyPrediction, RowPrediction, RunningScore, StepError};
use crate::model::{Tabular, Task};
use crate::notes::Watch;

impl Tabular<Task> {
    /// The intervals of a model of numbers.
    #[must_use]
    pub fn intervals(&self) -> Option<&LearnerIntervals> {
        self.numbers()?.intervals.as_ref()
    }

    /// The learner of a model of numbers, which may screen its targets.
    #[must_use]
    pub fn screened(&self) -> Option<&ScaledTargets<AnyRegressor<AnyKernel>>> {
        self.numbers().map(|task| &task.learner)
    }

    /// The score of the predictions so far, each made before its target was shown; of groups those
    /// of the model that answered.
    #[must_use]
    pub fn running_score(&self) -> RunningScore {
        self.groups.as_ref().map_or_else(|| self.task.running_score(), |groups| groups.score)
    }

    /// True if a row has what the model learns: all of its targets, or its label.
    #[must_use]
    pub fn has_target(&self, Example { targets, label, .. }: &Example) -> bool {
        match self.task {
            Task::Numbers(_) => !targets.iter().any(|target| target.is_nan()),
            Task::Classes(_) => !label.is_empty(),
        }
    }

    /// The inputs of the learner for a row, without its tokens.
    ///
    /// # Errors
    /// [`StepError::Encoding`]
    pub fn inputs(&self, row: &Row) -> Result<Vec<f64>, StepError> {
        let Some(encoding) = &self.encoding else { return Ok(row.example.features.clone()) };
        let mut numbers = Vec::new();
        encoding.encode(&row.record, &mut numbers)?;
        Ok(numbers)
    }

    /// Predicts a row, which it encodes where the model has a table.
    ///
    /// # Errors
    /// Every [`StepError`].
    pub fn predict(&self, row: &mut Row, answer: &mut RowPrediction) -> Result<(), StepError> {
        let known = self.classes().map_or(0, |task| task.labels.len());
        if self.encoding.is_some() {
            return self.predict_record(&row.record, known, answer);
        }
        self.task.predict(row.input(), known, answer)?;
        answer.set_ends();
        Ok(())
    }

    /// Predicts a record of the table, of classes `known` of which were met.
    ///
    /// # Errors
    /// Every [`StepError`].
    pub fn predict_record(
        &self,
        record: &(impl Cells + ?Sized),
        known: usize,
        answer: &mut RowPrediction,
    ) -> Result<(), StepError> {
        let encoding = self.encoding.as_ref().ok_or_else(no_table)?;
        let mut input = std::mem::take(&mut answer.input);
        let encoded = input.encode(encoding, record).map_err(StepError::from);
        let made = encoded.and_then(|input| match &self.groups {
            Some(groups) => Ok(groups.predict(&self.task, record, input, answer)?),
            None => Ok(self.task.predict(input, known, answer)?),
        });
        answer.input = input;
        made?;
        answer.set_ends();
        Ok(())
    }

    /// Predicts a row, which it encodes where the model has a table, and learns it. A label that
    /// is learnt for the first time becomes a class.
    ///
    /// Where groups have models of their own, that of the row's group answers and learns, and the
    /// common one learns, too.
    ///
    /// # Errors
    /// Every [`StepError`]; the model is then as before, but for the common one where that of the
    /// group alone refuses the row.
    pub fn learn(&mut self, row: &mut Row, watch: &mut Watch, answer: &mut RowPrediction) -> Result<(), StepError> {
        self.learn_row(row, None, watch, answer)
    }

    /// Learns a row whose label has come, and scores the prediction that was made of it early.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub fn learn_late(
        &mut self,
        row: &mut Row,
        early: &EarlyPrediction,
        watch: &mut Watch,
        answer: &mut RowPrediction,
    ) -> Result<(), StepError> {
        self.learn_row(row, Some(early), watch, answer)
    }

    fn learn_row(
        &mut self,
        row: &Row,
        early: Option<&EarlyPrediction>,
        watch: &mut Watch,
        answer: &mut RowPrediction,
    ) -> Result<(), StepError> {
        let (Row { example, record, .. }, Self { encoding, task, groups, background, .. }) = (row, self);
        let Some(encoding) = encoding else {
            task.learn_example(row.input(), example, early, Some(watch), answer)?;
            if example.weight != 0.0 {
                background.take(row.input().numbers);
            }
            answer.set_ends();
            return Ok(());
        };
        let mut input = std::mem::take(&mut answer.input);
        let encoded = input.encode(encoding, record).map_err(StepError::from);
        let learnt = encoded.and_then(|input| match groups {
            Some(groups) => groups.learn(task, (record, input), example, early, watch, answer),
            None => task.learn_example(input, example, early, Some(watch), answer),
        });
        answer.input = input;
        let mean = learnt?;
        if example.weight != 0.0 {
            background.take(answer.input.numbers());
            encoding.learn_with(record, mean)?;
        }
        answer.set_ends();
        Ok(())
    }

    /// Predicts a record of the table and learns it; then the statistics of the columns move,
    /// unless its weight is 0.
    ///
    /// # Errors
    /// Every [`StepError`]; the model is then as before.
    pub fn learn_record(
        &mut self,
        record: &(impl Cells + ?Sized),
        lesson: Lesson<'_>,
        watch: &mut Watch,
        answer: &mut RowPrediction,
    ) -> Result<(), StepError> {
        let Self { encoding, task, background, .. } = self;
        let encoding = encoding.as_mut().ok_or_else(no_table)?;
        let mut input = std::mem::take(&mut answer.input);
        let encoded = input.encode(encoding, record).map_err(StepError::from);
        let learnt = encoded.and_then(|input| task.learn(input, lesson, watch, answer));
        answer.input = input;
        learnt?;
        if lesson.weight() != 0.0 {
            background.take(answer.input.numbers());
            encoding.learn_with(record, lesson.mean())?;
        }
        answer.set_ends();
        Ok(())
    }
}

fn no_table() -> StepError {
    StepError::Target("the model has no table behind it".into())
}
