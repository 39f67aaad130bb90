//! The operator learner: a step, its pass over the matrix, the Gram formulas of the paper's
//! appendix, a heat map.

mod common;

use mercer_benches::{SIZES, catalogue};

fn main() -> anyhow::Result<()> {
    common::bench("operator", catalogue::operator(&SIZES)?);
    Ok(())
}
