//! Rows that were predicted, each explained by the model that answered it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use mercer_learners::Error;

use super::{Absence, Aim, Explainer, Explanation, Ground};
use crate::answer::{RowPrediction, StepError};
use crate::model::Task;
use crate::{Row, Session};

/// Explains the answers of a session: a number, the score of two classes, or that of the class
/// that was predicted of more. Where groups have models of their own, by the one that answered.
///
/// The learner that explains a kind of answers is made with the first of them.
pub struct RowExplainers<'a> {
    session: &'a Session,
    ground: &'a Ground,
    permutations: usize,
    seed: u64,
    /// The place of the number among several.
    output: usize,
    /// By the group, none of the common model, and the class.
    made: BTreeMap<(Option<&'a str>, usize), Explainer<'a>>,
}

impl<'a> RowExplainers<'a> {
    /// Of a session; of several numbers the first is explained. Columns that are absent are as in
    /// the `ground`, each by itself; effects that are sampled take so many permutations.
    #[must_use]
    pub fn new(session: &'a Session, ground: &'a Ground, permutations: usize, seed: u64) -> Self {
        Self { session, ground, permutations, seed, output: 0, made: BTreeMap::new() }
    }

    /// The same for the number with that place, as [`output_place`](super::output_place) finds it.
    #[must_use]
    pub fn output(self, output: usize) -> Self {
        Self { output, ..self }
    }

    /// Explains what was answered for a row; none of a model of classes that had met none.
    ///
    /// # Errors
    /// As [`Explainer::explain`].
    pub fn explain(&mut self, row: &Row, answer: &RowPrediction) -> Result<Option<Explanation>, StepError> {
        let (session, ground) = (self.session, self.ground);
        let group = session.groups.as_ref().filter(|_| !answer.group.is_common);
        let own = group.and_then(|groups| groups.models.get_key_value(&answer.group.name));
        let (name, task) = own.map_or((None, &session.task), |(name, task)| (Some(&**name), task));
        let (class, aim) = match task {
            Task::Numbers(_) => (0, Aim::number(self.output, session.outputs())),
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
                let explainer = Explainer::of_task(session, task, ground, aim, Absence::Independent)?;
                place.insert(explainer.permutations(self.permutations, self.seed))
            }
        };
        explainer.explain(row).map(Some)
    }

    /// True if the effects on the answers of the common model are exact.
    ///
    /// # Errors
    /// The learner's.
    pub fn is_exact(&self) -> Result<bool, Error> {
        let aim = match &self.session.task {
            Task::Numbers(_) => Aim::number(self.output, self.session.outputs()),
            Task::Classes(task) => Aim::class(&task.classifier, 0),
        };
        Ok(Explainer::new(self.session, self.ground, aim, Absence::Independent)?.is_exact())
    }
}
