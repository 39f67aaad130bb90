//! The beginning of a run: a new forecaster, or those of a model file.

use std::path::Path;

use mercer_forecast::SharedWeights;
use mercer_session::model::{GroupPredictions, Model, ModelKind, Prediction, RowDigest};

use crate::model::store;
use crate::report::failure::Failure;

/// The forecasters with which passes begin.
pub(super) enum Beginning {
    /// The forecaster of a single series.
    Series(Box<Prediction>),
    /// The forecasters of the groups of a table.
    Groups(Box<GroupPredictions>),
}

impl Beginning {
    /// With nothing observed; `group` is the column that names groups, if there is one.
    pub(super) fn new(fresh: Prediction, group: Option<&str>) -> Self {
        let Some(column) = group else { return Self::Series(fresh.into()) };
        let (shared, seen) = (SharedWeights::default(), RowDigest::default());
        let (column, groups) = (column.to_owned(), Vec::new());
        Self::Groups(GroupPredictions { column, fresh, groups, shared, shared_at: 0, seen }.into())
    }

    /// From a model file.
    pub(super) fn load(path: &Path) -> Result<Self, Failure> {
        match store::load(path)?.model {
            Model::Prediction(model) => Ok(Self::Series(model)),
            Model::GroupPredictions(groups) => Ok(Self::Groups(groups)),
            other => Err(store::other_kind(path, ModelKind::Prediction, &other)),
        }
    }

    /// The forecaster whose method, parameters and columns are those of all.
    pub(super) fn pattern(&self) -> &Prediction {
        match self {
            Self::Series(model) => model,
            Self::Groups(groups) => &groups.fresh,
        }
    }

    pub(super) fn groups(&self) -> Option<&GroupPredictions> {
        if let Self::Groups(groups) = self { Some(groups) } else { None }
    }

    /// The forecasters in their order.
    pub(super) fn each(&self) -> Vec<&Prediction> {
        match self {
            Self::Series(model) => vec![model],
            Self::Groups(groups) => groups.groups.iter().map(|(_, model)| model).collect(),
        }
    }

    /// The rows observed.
    pub(super) fn seen(&self) -> RowDigest {
        match self {
            Self::Series(model) => model.seen(),
            Self::Groups(groups) => groups.seen,
        }
    }
}
