//! One model for each group of a table, beside a common one that learns the rows of all.

use std::collections::BTreeMap;

use mercer_core::{Cell, Cells};
use mercer_learners::{Error, Input};
use mercer_readers::Example;
use serde::{Deserialize, Serialize};

use crate::classes::ClassPrediction;
use crate::late::EarlyPrediction;
use crate::model::Task;
use crate::notes::Watch;
use crate::step::{RowPrediction, RunningScore, StepError};

/// Models of groups. A new group begins with a copy of the common model; rows of groups beyond the
/// most, and rows that name none, are those of the common model alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Groups<T> {
    /// The place in the schema of the column that names the group of a row.
    pub column: usize,
    /// Most groups that have a model.
    pub most: usize,
    /// By name.
    pub models: BTreeMap<String, T>,
    /// Score of the answers, each of them by the group's model or by the common one.
    pub score: RunningScore,
}

/// The model that answered a row of a group.
#[derive(Default)]
pub struct GroupAnswer {
    /// The name of the group; empty where the row has none, or no models are kept for groups.
    pub name: String,
    /// True if the common model answered, because the group has none.
    pub is_common: bool,
    /// What a model of the group says of its own classes: the answer has those of the common one.
    pub(crate) own: Option<ClassPrediction>,
    /// Memory for the answer of the common model.
    beside: Option<Box<RowPrediction>>,
}

/// Writes a name, as a cell has it; empty where there is none.
pub fn write_name(cell: Cell<'_>, name: &mut String) {
    name.clear();
    match cell {
        Cell::Missing => {}
        Cell::Text(text) | Cell::Numeral(_, text) => name.push_str(text.trim()),
        Cell::Number(value) => name.push_str(&value.to_string()),
        Cell::Integer(value) => name.push_str(&value.to_string()),
        typed => name.push_str(&typed.to_string()),
    }
}

impl<T> Groups<T> {
    /// Of a column, and at most so many; none has begun.
    #[must_use]
    pub fn new(column: usize, most: usize) -> Self {
        Self { column, most, models: BTreeMap::new(), score: RunningScore::default() }
    }

    /// The same with another form of its models.
    pub(crate) fn map<U>(self, form: impl Fn(T) -> U) -> Groups<U> {
        let Self { column, most, models, score } = self;
        Groups { column, most, models: models.into_iter().map(|(name, model)| (name, form(model))).collect(), score }
    }
}

impl Groups<Task> {
    /// Predicts a record by the model of its group.
    pub(crate) fn predict(
        &self,
        common: &Task,
        record: &(impl Cells + ?Sized),
        input: Input<'_>,
        answer: &mut RowPrediction,
    ) -> Result<(), Error> {
        write_name(record.cell(self.column), &mut answer.group.name);
        let own = self.models.get(&answer.group.name);
        answer.group.is_common = own.is_none();
        let model = own.unwrap_or(common);
        model.predict(input, model.classes_known(), answer)?;
        answer.name_classes(own, common, common.classes_known());
        Ok(())
    }

    /// Has the model of the record's group answer and learn, and the common one learn, too.
    pub(crate) fn learn(
        &mut self,
        common: &mut Task,
        (record, input): (&(impl Cells + ?Sized), Input<'_>),
        example: &Example,
        early: Option<&EarlyPrediction>,
        watch: &mut Watch,
        answer: &mut RowPrediction,
    ) -> Result<Option<f64>, StepError> {
        write_name(record.cell(self.column), &mut answer.group.name);
        let Self { most, models, score, .. } = self;
        let name = &answer.group.name;
        let begins = !name.is_empty() && models.len() < *most && !models.contains_key(name) && example.weight != 0.0;
        if begins {
            models.insert(name.clone(), common.begin_group());
        }
        let Some(own) = models.get_mut(name) else {
            answer.group.is_common = true;
            let before = common.running_score();
            let mean = common.learn_example(input, example, early, Some(watch), answer)?;
            score.add_since(before, common.running_score());
            answer.group.own = None;
            return Ok(mean);
        };
        answer.group.is_common = false;
        let known = common.classes_known();
        let mut beside = answer.group.beside.take().unwrap_or_default();
        let learnt = common.learn_example(input, example, None, None, &mut beside);
        answer.group.beside = Some(beside);
        let mean = learnt?;
        let before = own.running_score();
        own.learn_example(input, example, early, Some(watch), answer)?;
        score.add_since(before, own.running_score());
        answer.name_classes(Some(own), common, known);
        Ok(mean)
    }
}

impl RunningScore {
    /// Adds what one score has more than it had before.
    fn add_since(&mut self, before: Self, now: Self) {
        self.rounds += now.rounds - before.rounds;
        self.weight += now.weight - before.weight;
        self.loss += now.loss - before.loss;
    }
}

impl Task {
    /// Classes that were met; 0 for numbers.
    fn classes_known(&self) -> usize {
        if let Self::Classes(task) = self { task.labels.len() } else { 0 }
    }

    /// A copy for a group, whose score begins anew.
    fn begin_group(&self) -> Self {
        let mut model = self.clone();
        match &mut model {
            Self::Numbers(task) => task.score = mercer_learners::Score::default(),
            Self::Classes(task) => task.score = mercer_learners::ClassScore::default(),
        }
        model
    }
}

impl RowPrediction {
    /// Turns classes of a group's own model, if it is one that answered, into those of the common
    /// one, which had met so many before the row.
    fn name_classes(&mut self, own: Option<&Task>, common: &Task, known: usize) {
        self.group.own = None;
        let (Some(Task::Classes(own)), Task::Classes(common)) = (own, common) else { return };
        self.known = known;
        let place = |class: usize| own.labels.get(class).and_then(|name| common.labels.find(name));
        let mut probabilities = vec![0.0; common.labels.len()];
        for (class, share) in self.judged.probabilities.iter().enumerate() {
            if let Some(place) = place(class) {
                probabilities[place] = *share;
            }
        }
        let (class, score) = (self.judged.class.and_then(place), self.judged.score);
        if self.judged.probabilities.is_empty() {
            probabilities.clear();
        }
        self.group.own = Some(std::mem::replace(&mut self.judged, ClassPrediction { class, score, probabilities }));
    }
}
