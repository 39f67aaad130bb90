//! Novelty, changes and rises against their formulas, their promise, and what breaks it.

mod against_formulas;
mod changes;
mod negative_controls;
mod new_rows;
mod saved;
mod streams;
