//! The growing Cholesky factor: append, solves, rank-one changes.

mod common;

use mercer_benches::{SIZES, catalogue};

fn main() -> anyhow::Result<()> {
    common::bench("factor", catalogue::factor(&SIZES));
    Ok(())
}
