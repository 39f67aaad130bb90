//! What is told: facts, tables and series, as text, JSON and pictures; and failures.

pub(crate) mod alarms;
#[cfg(feature = "arrow")]
pub(crate) mod columnar;
pub(crate) mod evaluation;
pub(crate) mod facts;
pub(crate) mod failure;
pub(crate) mod json;
pub(crate) mod moments;
pub(crate) mod notes;
pub(crate) mod output;
pub(crate) mod plain;
pub(crate) mod plot;
pub(crate) mod replies;
pub(crate) mod result_table;
pub(crate) mod sample;
pub(crate) mod scores;
pub(crate) mod stretches;
pub(crate) mod table;
pub(crate) mod trace;
pub(crate) mod verbosity;
