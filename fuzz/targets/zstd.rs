//! The port of the reference decoder of zstd, as pages of Parquet are decompressed by it. Any bytes
//! as a frame: whatever was in the memory before, the bytes that it gives are the same. Any bytes
//! that were compressed come back, and ruzstd gives the same.
//!
//! On damaged frames without a checksum decoders may differ.

#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use ruzstd::decoding::StreamingDecoder;
use zstd::bulk::{Decompressor, compress};
use zstd::zstd_safe::get_frame_content_size;

/// Bytes of a page at most.
const MOST: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    if let Some(told) = get_frame_content_size(bytes).ok().flatten().filter(|told| *told <= MOST) {
        assert_eq!(decompressed(bytes, told as usize, 0), decompressed(bytes, told as usize, 0xaa));
    }
    let frame = compress(bytes, 1).unwrap();
    assert!(decompressed(&frame, bytes.len(), 0x55).is_some_and(|page| page == bytes));
    let mut other = Vec::new();
    StreamingDecoder::new(&frame[..]).unwrap().read_to_end(&mut other).unwrap();
    assert!(other == bytes);
});

/// The bytes of a frame in memory that was filled before.
fn decompressed(frame: &[u8], length: usize, fill: u8) -> Option<Vec<u8>> {
    let mut page = vec![fill; length];
    let read = Decompressor::new().ok()?.decompress_to_buffer(frame, &mut page[..]).ok()?;
    page.truncate(read);
    Some(page)
}
