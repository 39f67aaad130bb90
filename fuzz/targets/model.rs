//! Any bytes as a model file: refused or taken, and what is taken can be used.
//!
//! Length and checksum are put right first, for otherwise the checksum would be all that is ever
//! tested.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mercer::model::Model;

#[path = "../../crates/mercer/tests/all/exercise.rs"]
mod exercise;

const HEADER: usize = 24;

fuzz_target!(|data: &[u8]| {
    let _ = Model::from_bytes(data);
    if data.len() < HEADER {
        return;
    }
    let mut file = data.to_vec();
    file[..8].copy_from_slice(&mercer::model::MAGIC);
    (file[8], file[9]) = (1, 0);
    file[10] = 1 + file[10] % 6;
    file[11] = 0;
    let length = (file.len() - HEADER) as u64;
    file[16..24].copy_from_slice(&length.to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&file[8..12]);
    hasher.update(&file[16..]);
    file[12..16].copy_from_slice(&hasher.finalize().to_le_bytes());
    if let Ok(model) = Model::from_bytes(&file) {
        exercise::exercise(model);
    }
});
