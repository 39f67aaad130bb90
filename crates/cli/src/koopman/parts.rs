//! Sums over parts of the data that are learnt apart: forks of one model, added up.

use std::path::{Path, PathBuf};

use mercer_koopman::{OperatorSums, Trajectory};
use mercer_session::model::{AnyOperator, Operator};

use super::pairs::PairLayout;
use crate::model::store;
use crate::report::failure::Failure;

fn of_sums<'a>(path: &Path, model: &'a Operator) -> Result<&'a OperatorSums, Failure> {
    let why = "was learnt by gradient descent, whose steps do not add up; learn it by --method sums";
    model.learner.sums().ok_or_else(|| Failure::because(format!("{}: {why}", path.display())))
}

/// The model of a file without what it has learnt.
pub(super) fn fork(path: &Path) -> Result<Operator, Failure> {
    let model = store::load_operator(path)?;
    let fork = of_sums(path, &model)?.fork();
    let fork = fork.map_err(|error| Failure::because(format!("{}: {error}", path.display())))?;
    let trajectory = model.trajectory.as_ref().map(Trajectory::begun);
    Ok(Operator { learner: AnyOperator::Sums(Box::new(fork)), fingerprint: 0, trajectory, ..model })
}

/// The model with what those of other files have learnt.
pub(super) fn merge(mut model: Operator, others: &[PathBuf]) -> Result<Operator, Failure> {
    for path in others {
        let other = store::load_operator(path)?;
        let refused = |what: String| Failure::because(format!("{}: {what}", path.display()));
        if PairLayout::of_model(&other) != PairLayout::of_model(&model) {
            return Err(refused("has learnt other columns; give parts of the same data".to_owned()));
        }
        let theirs = of_sums(path, &other)?;
        match &mut model.learner {
            AnyOperator::Sums(ours) => ours.merge(theirs).map_err(|error| {
                refused(format!("{error}; begin the parts by --fork of the model that they are added to"))
            })?,
            _ => of_sums(path, &model).map(drop)?,
        }
        // Where a path ended is not known of pairs that were learnt apart.
        model.trajectory = model.trajectory.as_ref().map(Trajectory::begun);
    }
    Ok(model)
}
