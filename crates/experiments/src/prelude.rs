//! Names that nearly every experiment needs.

pub(crate) use crate::claims::{Claims, claim, size_near};
pub(crate) use crate::digits::short;
pub(crate) use crate::figure::{Band, Figure, Grid, HeatMap, Mark, Panels, Scale};
pub(crate) use crate::judgement::{ComparisonKind, Judgement};
pub(crate) use crate::plan::{Plan, Runs};
pub(crate) use crate::report::Report;
pub(crate) use crate::runner::seed_of;
pub(crate) use crate::stats::{
    PowerLaw, Summary, all_of, dot, log_spaced, mean, mean_of, median, sample_std, standard_error,
};
pub(crate) use crate::table::{Cell, Format, Table, row};

pub(crate) use anyhow::Result;
