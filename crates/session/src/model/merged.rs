//! Learners of shards that add up: diagonal Kalman filters, by their precisions.

use mercer_encoding::{Encoding, Kind};
use mercer_kernels::AnyKernel;
use mercer_learners::{DiagonalKalman, Error};
use mercer_registry::AnyRegressor;

use super::{Tabular, Task};

/// Why two models do not merge.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterMergeError {
    /// Their learners do not add up.
    #[error("{0} does not merge; diagonal-kalman does, and so do the sums of mercer fit")]
    Learner(String),
    /// Their targets are numbers here and classes there, or other classes.
    #[error("their targets differ; train both with the same classes in the same order, or with numbers")]
    Targets,
    /// Numbers of their columns mean other things.
    #[error(
        "their columns differ, or numbers among them were scaled by other first rows; merge tables of texts, lists and categories of the same names, or LIBSVM"
    )]
    Columns,
    /// Their targets are in other units.
    #[error("their targets are scaled apart; train with --scale none")]
    Units,
    /// Intervals are of one run.
    #[error("intervals do not merge; train without --intervals")]
    Intervals,
    /// The filters are of other shapes.
    #[error(transparent)]
    Filter(#[from] Error),
}

impl Tabular<Task> {
    /// Adds what another model learnt from other rows: [`DiagonalKalman::merge`]. Their rows and
    /// scores add up.
    ///
    /// # Errors
    /// Every [`FilterMergeError`]; the model is then as before.
    pub fn merge(&mut self, other: &Self) -> Result<(), FilterMergeError> {
        let names = [&self.description.learner, &other.description.learner].map(String::clone);
        check_columns(self.encoding.as_ref(), other.encoding.as_ref())?;
        if self.description.features != other.description.features {
            return Err(FilterMergeError::Columns);
        }
        match (&mut self.task, &other.task) {
            (Task::Numbers(own), Task::Numbers(theirs)) => {
                if own.intervals.is_some() || theirs.intervals.is_some() {
                    return Err(FilterMergeError::Intervals);
                }
                if own.learner.scales() != theirs.learner.scales() {
                    return Err(FilterMergeError::Units);
                }
                filter_mut(own.learner.learner_mut(), &names[0])?
                    .merge(filter(theirs.learner.learner(), &names[1])?)?;
                own.score.merge(&theirs.score);
            }
            (Task::Classes(own), Task::Classes(theirs)) => {
                if own.labels.names() != theirs.labels.names() {
                    return Err(FilterMergeError::Targets);
                }
                filter_mut(own.classifier.learner_mut(), &names[0])?
                    .merge(filter(theirs.classifier.learner(), &names[1])?)?;
                own.score.merge(&theirs.score);
                own.learnt += theirs.learnt;
            }
            _ => return Err(FilterMergeError::Targets),
        }
        self.background.merge(&other.background);
        if let (Some(own), Some(theirs)) = (&mut self.encoding, &other.encoding) {
            own.merge_sample(theirs);
        }
        self.progress.rows += other.progress.rows;
        self.progress.bad += other.progress.bad;
        // The rows of both are those of no run that could go on.
        self.progress.fingerprint ^= other.progress.fingerprint.rotate_left(1);
        Ok(())
    }
}

fn filter<'a>(learner: &'a AnyRegressor<AnyKernel>, name: &str) -> Result<&'a DiagonalKalman, FilterMergeError> {
    match learner {
        AnyRegressor::DiagonalKalman(filter) => Ok(filter),
        _ => Err(FilterMergeError::Learner(name.to_owned())),
    }
}

fn filter_mut<'a>(
    learner: &'a mut AnyRegressor<AnyKernel>,
    name: &str,
) -> Result<&'a mut DiagonalKalman, FilterMergeError> {
    match learner {
        AnyRegressor::DiagonalKalman(filter) => Ok(filter),
        _ => Err(FilterMergeError::Learner(name.to_owned())),
    }
}

/// Refuses columns whose tokens would mean other things. Keys of texts are those of their names;
/// deviations and bins of numbers are those of the first rows.
fn check_columns(own: Option<&Encoding>, theirs: Option<&Encoding>) -> Result<(), FilterMergeError> {
    let (own, theirs) = match (own, theirs) {
        (None, None) => return Ok(()),
        (Some(own), Some(theirs)) => (own.schema(), theirs.schema()),
        _ => return Err(FilterMergeError::Columns),
    };
    let of_texts = |kind: Kind| matches!(kind, Kind::Text | Kind::List | Kind::Category);
    let alike = own.columns().len() == theirs.columns().len()
        && own.columns().iter().zip(theirs.columns()).all(|(own, theirs)| {
            let same = own.name == theirs.name && own.kind == theirs.kind && own.used == theirs.used;
            same && (of_texts(own.kind) || !own.used.is_learnt() || own == theirs)
        });
    if alike { Ok(()) } else { Err(FilterMergeError::Columns) }
}
