//! Learning when the target changes: fixed share, detectors of change, learners that start anew, and all of them after a switch.

mod detectors;
mod fixed_share;
mod restarting;
mod switch;
