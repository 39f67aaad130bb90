//! Gaussian kernel rows, and plain loops with the standard library's `exp` beside them.

mod common;

use mercer_benches::{SIZES, catalogue};

fn main() -> anyhow::Result<()> {
    common::bench("kernel_row", catalogue::kernel_row(&SIZES)?);
    Ok(())
}
