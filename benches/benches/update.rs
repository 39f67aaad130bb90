//! The linear updates at a fixed number of coordinates.

mod common;

use mercer_benches::{SIZES, catalogue};

fn main() -> anyhow::Result<()> {
    common::bench("update", catalogue::update(&SIZES)?);
    Ok(())
}
