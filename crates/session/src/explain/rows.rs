//! Rows that were predicted, each explained by the model that answered it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use mercer_learners::Error;

use super::{Absence, Aim, ExplainedColumns, Explainer, Explanation};
use crate::Session;
use crate::answer::RowPrediction;
use crate::model::Task;

/// Explains the answers of a session: the number, the score of two classes, or that of the class
/// that was predicted of more. Where groups have models of their own, by the one that answered.
///
/// The learner that explains a kind of answers is made with the first of them.
pub struct RowExplainers<'a> {
    session: &'a Session,
    columns: &'a ExplainedColumns,
    background: &'a [Vec<f64>],
    permutations: usize,
    seed: u64,
    /// By the group, none of the common model, and the class.
    made: BTreeMap<(Option<&'a str>, usize), Explainer<'a>>,
}

impl<'a> RowExplainers<'a> {
    /// Of a session that predicts one number or classes. Columns that are absent are as in the
    /// background, each by itself; effects that are sampled take so many permutations.
    ///
    /// # Panics
    /// If there is no background.
    #[must_use]
    pub fn new(
        session: &'a Session,
        columns: &'a ExplainedColumns,
        background: &'a [Vec<f64>],
        permutations: usize,
        seed: u64,
    ) -> Self {
        assert!(!background.is_empty(), "a background has rows");
        Self { session, columns, background, permutations, seed, made: BTreeMap::new() }
    }

    /// Explains what was answered of inputs `x`; none of a model of classes that had met none.
    ///
    /// # Errors
    /// The learner's.
    pub fn explain(&mut self, x: &[f64], answer: &RowPrediction) -> Result<Option<Explanation>, Error> {
        let group = self.session.groups.as_ref().filter(|_| !answer.group.is_common);
        let own = group.and_then(|groups| groups.models.get_key_value(&answer.group.name));
        let (name, task) = own.map_or((None, &self.session.task), |(name, task)| (Some(&**name), task));
        let (class, aim) = match task {
            Task::Numbers(_) => (0, Aim::number(0, 1)),
            Task::Classes(task) => {
                let later = if task.labels.len() == 2 { task.labels.later(0, 1) } else { None };
                let judged = answer.group.own.as_ref().unwrap_or(&answer.judged);
                let Some(class) = later.or(judged.class) else { return Ok(None) };
                (class, Aim::class(&task.classifier, class))
            }
        };
        let explainer = match self.made.entry((name, class)) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(place) => {
                let made = Explainer::new(task, self.columns, aim, Absence::Independent, self.background)?;
                place.insert(made.permutations(self.permutations, self.seed))
            }
        };
        explainer.explain(x).map(Some)
    }

    /// True if the effects on the answers of the common model are exact.
    ///
    /// # Errors
    /// The learner's.
    pub fn is_exact(&self) -> Result<bool, Error> {
        let aim = match &self.session.task {
            Task::Numbers(_) => Aim::number(0, 1),
            Task::Classes(task) => Aim::class(&task.classifier, 0),
        };
        let one = &self.background[..1];
        Ok(Explainer::new(&self.session.task, self.columns, aim, Absence::Independent, one)?.is_exact())
    }
}
