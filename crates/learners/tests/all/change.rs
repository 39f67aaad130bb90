//! Learning when the target changes: fixed share, learners that start anew, and both after a
//! switch.

mod fixed_share;
mod restarting;
mod switch;
