//! Any bytes as a frame of zstd: what the port of the reference decoder makes of one, as pages of
//! Parquet are decompressed, is what ruzstd makes of it, or it is refused.

#![no_main]

use std::io::Read;

use libfuzzer_sys::fuzz_target;
use ruzstd::decoding::StreamingDecoder;
use zstd::zstd_safe::get_frame_content_size;

/// Bytes of a page at most.
const MOST: u64 = 1 << 20;

fuzz_target!(|frame: &[u8]| {
    let Some(told) = get_frame_content_size(frame).ok().flatten().filter(|told| *told <= MOST) else { return };
    let mut page = Vec::with_capacity(told as usize);
    let Ok(read) = zstd::bulk::Decompressor::new().unwrap().decompress_to_buffer(frame, &mut page) else { return };
    assert_eq!(read, page.len());
    let mut other = Vec::new();
    let decoded = StreamingDecoder::new(frame).map(|stream| stream.take(MOST + 1).read_to_end(&mut other));
    // What it refuses may be a frame all the same; bytes that both give must be the same.
    if read as u64 == told && matches!(decoded, Ok(Ok(length)) if length == read) {
        assert!(page == other);
    }
});
