//! Decoders of zstd on the pages of a Parquet file: the port of the reference decoder to Rust, and
//! ruzstd, which has no unsafe code in what decodes.
//!
//! `cargo run --release -p mercer-benches --bin zstd -- [PAGES] [PASSES] [FOLDER]` compresses pages
//! of 1 MiB of numbers (64 unless told otherwise) of three kinds, decompresses them in turns (5
//! passes), and prints the best of each: seconds of the processor where Linux tells them. The bytes
//! must be those of before. The frames are left in FOLDER, if one is told, for other decoders.

use std::io::Read;
use std::path::Path;
use std::time::Instant;
use std::{env, fs, hint};

use anyhow::{Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

const PAGE: usize = 1 << 20;
/// The level at which Arrow's writers compress unless they are told otherwise.
const LEVEL: i32 = 1;

type Decoder = fn(&[u8], &mut Vec<u8>) -> Result<()>;

const DECODERS: [(&str, Decoder); 3] = [
    ("port of the reference", |frame, page| {
        page.clear();
        zstd::bulk::Decompressor::new()?.decompress_to_buffer(frame, page)?;
        Ok(())
    }),
    ("ruzstd, whole frames", |frame, page| {
        page.resize(PAGE, 0);
        FrameDecoder::new().decode_all(frame, page)?;
        Ok(())
    }),
    ("ruzstd, as a stream", |frame, page| {
        page.clear();
        StreamingDecoder::new(frame)?.read_to_end(page)?;
        Ok(())
    }),
];

/// A page of numbers, its bytes the least significant first.
fn page(random: &mut ChaCha8Rng, kind: &str) -> Vec<u8> {
    let number = |random: &mut ChaCha8Rng| match kind {
        "any" => random.random::<f64>(),
        "of 3 digits" => (random.random::<f64>() * 1000.0).round() / 1000.0,
        _ => f64::from(random.random_range(0..50_u32)),
    };
    (0..PAGE / 8).flat_map(|_| number(random).to_le_bytes()).collect()
}

/// Seconds that this thread has had the processor, or of the clock.
fn seconds(since: Instant) -> f64 {
    let spent = fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    spent.map_or(since.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

fn main() -> Result<()> {
    let begun = Instant::now();
    let mut arguments = env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (pages, passes) = (number(64)?, number(5)?);
    let folder = arguments.next();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for kind in ["any", "of 3 digits", "whole, below 50"] {
        let pages: Vec<Vec<u8>> = (0..pages).map(|_| page(&mut random, kind)).collect();
        let frames: Vec<Vec<u8>> =
            pages.iter().map(|page| zstd::bulk::compress(page, LEVEL)).collect::<Result<_, _>>()?;
        if let Some(folder) = &folder {
            for (place, frame) in frames.iter().enumerate() {
                fs::write(Path::new(folder).join(format!("{}-{place:03}.zst", kind.replace(' ', "-"))), frame)?;
            }
        }
        let bytes: usize = frames.iter().map(Vec::len).sum();
        println!("numbers {kind}: {:.0} % of {} MiB", 100.0 * bytes as f64 / (pages.len() * PAGE) as f64, pages.len());
        let mut best = [f64::INFINITY; DECODERS.len()];
        let mut decoded = Vec::with_capacity(PAGE);
        for _ in 0..passes {
            for (best, (name, decoder)) in best.iter_mut().zip(DECODERS) {
                let start = seconds(begun);
                for frame in &frames {
                    decoder(frame, &mut decoded)?;
                    hint::black_box(&decoded);
                }
                *best = best.min(seconds(begun) - start);
                ensure!(pages.last().is_some_and(|page| *page == decoded), "{name} gives other bytes");
            }
        }
        for (seconds, (name, _)) in best.into_iter().zip(DECODERS) {
            println!("  {name:<22} {seconds:.3} s, {:.0} MB/s", (pages.len() * PAGE) as f64 / seconds / 1e6);
        }
    }
    Ok(())
}
