//! Costs of Mercer's operations, beside what the machine could do at best in the same run.
//!
//! A time alone says little: it depends on the machine, its load and its clock. So every operation
//! here says what it has to do at the least ([`Workload`]: bytes read, bytes read and written back,
//! arithmetic), and the [`Roofs`] of the machine are measured beside it, at the working-set size of
//! the operation. The share of the roof is what a change moves.
//!
//! | module | holds |
//! |---|---|
//! | [`catalogue`] | every measured operation, one file a topic, ready to run at a given size |
//! | [`operation`] | [`Operation`] and [`Workload`]; how an operation is timed when it changes its own size |
//! | [`roof`] | bandwidth by working-set size and the peak of fused multiply-adds |
//! | [`stream`] | the deterministic stream on which a dictionary reaches an exact size and stays there |
//! | [`peer`] | the stream as a file for programs of other libraries, and our rate on it |
//! | [`plain`] | scalar loops with the standard library's functions, to compare with |
//! | [`timing`] | the smallest time of many short batches |
//!
//! The criterion benches (`cargo bench -p mercer-benches`) and the report
//! (`cargo xtask bench-report`) run the same catalogue. Nothing here is part of the library.

pub mod catalogue;
pub mod operation;
pub mod peer;
pub mod plain;
pub mod roof;
pub mod soak;
pub mod stream;
pub mod timing;

pub use operation::{Operation, Workload};
pub use roof::Roofs;

/// Dictionary sizes and vector lengths at which operations are measured.
pub const SIZES: [usize; 7] = [50, 100, 150, 200, 400, 500, 1000];

/// Input dimension of every learner measured.
pub const DIMENSION: usize = 10;
