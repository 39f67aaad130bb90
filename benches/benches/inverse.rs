//! The symmetric inverse: product, and product with the deferred update.

mod common;

use mercer_benches::{SIZES, catalogue};

fn main() -> anyhow::Result<()> {
    common::bench("inverse", catalogue::inverse(&SIZES));
    Ok(())
}
