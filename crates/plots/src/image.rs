//! Heat maps as images: a PNG of one pixel a cell, as the address of data inside a page.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use super::HeatMap;

/// The cells, the first row at the bottom as on the axes.
pub(super) fn of(map: &HeatMap) -> String {
    let ends = map.ends();
    let pixels: Vec<[u8; 3]> = map.values.iter().map(|value| channels(&map.cell_colour(*value, ends))).collect();
    address(
        map.grid.columns,
        &pixels.chunks(map.grid.columns.max(1)).rev().flatten().copied().collect::<Vec<[u8; 3]>>(),
    )
}

/// The scale from its upper end to the lower one.
pub(super) fn bar(map: &HeatMap) -> String {
    const STEPS: usize = 64;
    let (low, high) = map.ends();
    let value = |i: usize| high - (high - low) * i as f64 / (STEPS - 1) as f64;
    let pixels: Vec<[u8; 3]> = (0..STEPS).map(|i| channels(&map.cell_colour(value(i), (low, high)))).collect();
    address(1, &pixels)
}

/// Reads `#rrggbb` and `rgb(r,g,b)`, the two forms of the colour scales.
fn channels(colour: &str) -> [u8; 3] {
    if let Some(digits) = colour.strip_prefix('#') {
        return [0, 2, 4].map(|i| digits.get(i..i + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).unwrap_or(0));
    }
    let mut numbers =
        colour.trim_start_matches("rgb(").trim_end_matches(')').split(',').map(|n| n.trim().parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

fn address(width: usize, pixels: &[[u8; 3]]) -> String {
    format!("data:image/png;base64,{}", base_64(&png(width, pixels)))
}

/// A PNG with a list of colours, or with full ones if there are more than 256.
fn png(width: usize, pixels: &[[u8; 3]]) -> Vec<u8> {
    let mut palette: Vec<[u8; 3]> = pixels.to_vec();
    palette.sort_unstable();
    palette.dedup();
    let listed = palette.len() <= 256;
    let width = width.max(1);
    let mut rows = Vec::new();
    for row in pixels.chunks(width) {
        rows.push(0);
        for pixel in row {
            match palette.binary_search(pixel) {
                Ok(place) if listed => rows.push(place as u8),
                _ => rows.extend(pixel),
            }
        }
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail.
    let data = packed.write_all(&rows).and_then(|()| packed.finish()).unwrap_or_default();
    let height = pixels.len() / width;
    let mut header = [(width as u32).to_be_bytes(), (height as u32).to_be_bytes()].concat();
    header.extend([8, if listed { 3 } else { 2 }, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header);
    if listed {
        chunk(&mut file, b"PLTE", palette.as_flattened());
    }
    chunk(&mut file, b"IDAT", &data);
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    let mut sum = Crc::new();
    sum.update(name);
    sum.update(data);
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(name);
    file.extend(data);
    file.extend(sum.sum().to_be_bytes());
}

fn base_64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_letters() {
        assert_eq!(
            (base_64(b"Mercer"), base_64(&[0xfb, 0xff]), base_64(b"")),
            ("TWVyY2Vy".into(), "+/8=".into(), String::new())
        );
    }

    #[test]
    fn colours_are_read() {
        assert_eq!((channels("#0a0B0c"), channels("rgb(1, 2,250)")), ([10, 11, 12], [1, 2, 250]));
    }

    #[test]
    fn an_image_has_its_parts_and_their_sums() {
        let file = png(2, &[[0, 0, 0], [255, 0, 0], [0, 0, 0], [0, 0, 255]]);
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(&file[12..29], b"IHDR\0\0\0\x02\0\0\0\x02\x08\x03\0\0\0");
        // The sum that every PNG has for its empty end.
        assert_eq!(&file[file.len() - 12..], b"\0\0\0\0IEND\xae\x42\x60\x82");
    }
}
