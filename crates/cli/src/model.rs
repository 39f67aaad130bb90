//! Models: made, taught and kept in files.

pub(crate) mod cells;
pub(crate) mod classes;
pub(crate) mod construction;
pub(crate) mod groups;
pub(crate) mod labels;
pub(crate) mod learning;
pub(crate) mod lock;
pub(crate) mod memory;
pub(crate) mod saving;
pub(crate) mod store;
pub(crate) mod watching;
