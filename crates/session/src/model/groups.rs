//! Forecasters of the groups of a table in a file.

use std::borrow::Borrow;

use mercer_core::{Inconsistent, Validate};
use mercer_forecast::{Forecaster, SharedWeights};
use serde::{Deserialize, Serialize};

use super::{ModelError, ModelKind, Prediction, RowDigest, frame};

/// Forecasters of many series of one table, by the names of their groups, which share what their
/// experts are worth.
///
/// `P` is [`Prediction`], or a reference to one where groups are written as they are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GroupPredictions<P = Prediction> {
    /// The column that names the groups.
    pub column: String,
    /// What a new group begins with: nothing is observed.
    pub fresh: P,
    /// Names and forecasters, in the order in which the groups came.
    pub groups: Vec<(String, P)>,
    /// What experts were worth in all groups, with which a new one begins.
    pub shared: SharedWeights,
    /// The rows of all groups when that was found out.
    pub shared_at: u64,
    /// The rows of all groups, each with its group.
    pub seen: RowDigest,
}

impl<P: Borrow<Prediction> + Serialize> GroupPredictions<P> {
    /// [`Model::to_bytes`](super::Model::to_bytes) without a model around it.
    ///
    /// # Errors
    /// As [`Model::to_bytes`](super::Model::to_bytes).
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        frame::pack(ModelKind::GroupPredictions, self)
    }
}

impl<P: Borrow<Prediction>> Validate for GroupPredictions<P> {
    fn validate(&self) -> Result<(), Inconsistent> {
        let fresh: &Prediction = self.fresh.borrow();
        fresh.validate()?;
        self.shared.validate()?;
        Inconsistent::require(fresh.forecaster.time() == 0, "pattern of groups", "it has observed nothing")?;
        let mut names: Vec<&str> = self.groups.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        Inconsistent::require(names.windows(2).all(|two| two[0] != two[1]), "list of groups", "names differ")?;
        let mut rows = 0_u64;
        for (_, group) in &self.groups {
            let group: &Prediction = group.borrow();
            group.validate()?;
            let alike = group.forecaster.outputs() == fresh.forecaster.outputs()
                && group.forecaster.inputs() == fresh.forecaster.inputs()
                && (&group.method, &group.columns, &group.inputs) == (&fresh.method, &fresh.columns, &fresh.inputs);
            Inconsistent::require(alike, "list of groups", "all have the columns and the method of one")?;
            rows = rows.saturating_add(group.seen().rows);
        }
        Inconsistent::require(rows == self.seen.rows, "count of rows", "it is that of all groups together")?;
        Inconsistent::require(self.shared_at <= rows, "shared weights", "they are of the past")
    }
}
