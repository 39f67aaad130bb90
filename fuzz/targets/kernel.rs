//! Any text as a kernel's `SPEC`: a kernel that prints as a `SPEC` of the same kernel, or a
//! refusal.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mercer::{Kernel, KernelSpec, Points};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match text.parse::<KernelSpec>() {
        Ok(spec) => {
            assert_eq!(spec.to_string().parse::<KernelSpec>().as_ref(), Ok(&spec));
            if let KernelSpec::Given(kernel) = spec {
                let points = Points::from_rows(2, &[0.0, 0.5, -1.0, 2.0]);
                let mut row = Default::default();
                kernel.row(&points, &[0.25, 0.5], &mut row);
                assert_eq!(row.len(), 2);
            }
        }
        Err(error) => drop(error.to_string()),
    }
});
