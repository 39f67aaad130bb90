//! Aggregation, fixed share and detectors of change against their formulas and bounds.

mod aggregation;
mod detectors;
mod fixed_share;
mod outliers;
mod recovery;
