//! Exponential and sine with cosine, at each instruction set and in the standard library.

mod common;

use mercer_benches::catalogue;

fn main() -> anyhow::Result<()> {
    common::bench("exp_sincos", catalogue::exp_sincos());
    Ok(())
}
