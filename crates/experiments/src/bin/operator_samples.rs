//! Writes the samples on which `crates/experiments/operators/peers.py` scores other libraries.

use std::path::Path;

/// The seed of a run of the experiments that is told none.
const SEED: u64 = 1;

fn main() -> anyhow::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or_else(|| anyhow::anyhow!("give a folder"))?;
    Ok(mercer_experiments::papers::write_samples(Path::new(&folder), SEED)?)
}
