//! Least squares upon lags: the square-root engine, OPF, and plain loops.

mod common;

use mercer_benches::catalogue;

fn main() -> anyhow::Result<()> {
    common::bench("prediction", catalogue::prediction(&[21, 63, 150, 300])?);
    Ok(())
}
