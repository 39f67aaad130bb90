//! Any text as `--set` pairs: the first byte chooses the learner, a line is a pair.
//!
//! Settings are parsed and evaluated; a learner is built only where its size cannot depend on them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mercer::AnyKernel;
use mercer::catalogue::{self, Context, Settings};

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let entries = catalogue::entries();
    let entry = &entries[usize::from(*choice) % entries.len()];
    match Settings::new(entry, text.lines()) {
        Ok(settings) => {
            let _ = settings.needs_rows();
            // Sizes that these take from their settings are memory that anybody may ask for.
            if ["fogd", "pkawv-taylor", "pkrr-taylor", "experts", "auto"].contains(&entry.name) {
                return;
            }
            let Ok(kernel) = "gaussian:1".parse::<AnyKernel>() else { return };
            let context = Context { dimension: 2, seed: 1, rows: &[0.5, -0.5], ..Context::default() };
            match settings.build(kernel, &context) {
                Ok(built) => assert_eq!(built.parameters.len(), entry.keys.len()),
                Err(error) => drop(error.to_string()),
            }
        }
        Err(error) => drop(error.to_string()),
    }
});
