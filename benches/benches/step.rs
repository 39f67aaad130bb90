//! A whole predict-then-update step of each learner, and a plain FOGD beside it.

mod common;

use mercer_benches::{SIZES, catalogue};

fn main() -> anyhow::Result<()> {
    common::bench("step", catalogue::step(&SIZES)?);
    Ok(())
}
