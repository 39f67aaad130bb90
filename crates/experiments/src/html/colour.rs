//! The colours of a picture on a dark page.
//!
//! Pictures are drawn for white paper. On a dark page a grey turns round (white becomes the page's dark, black its light), and a hue
//! keeps its place among the others but moves into the light half, so that lines stand out and tints stay tints. Both are done in
//! Oklab, in which equal steps look equal (Ottosson 2020).

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Red, green and blue, 0 to 255.
pub(super) type Rgb = [u8; 3];

/// Below this distance from the axis of greys a colour counts as grey.
const GREY: f64 = 0.03;

/// The colours' part of a page's style: a variable each, with another value on a dark screen.
pub(super) fn style(colours: &BTreeSet<Rgb>) -> String {
    let all = |of: fn(Rgb) -> Rgb| {
        colours.iter().fold(String::new(), |mut text, colour| {
            let _ = write!(text, "{}:#{};", name(*colour), hexadecimal(of(*colour)));
            text
        })
    };
    format!(":root{{{}}}@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}", all(|colour| colour), all(dark))
}

/// The variable of a colour.
pub(super) fn name(colour: Rgb) -> String {
    format!("--c-{}", hexadecimal(colour))
}

fn hexadecimal(colour: Rgb) -> String {
    colour.iter().map(|channel| format!("{channel:02x}")).collect()
}

/// Reads `#rrggbb`, `white` and `black`.
pub(super) fn read(text: &str) -> Option<Rgb> {
    match text {
        "white" => Some([255; 3]),
        "black" => Some([0; 3]),
        _ => {
            let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
            let channel = |i: usize| u8::from_str_radix(&digits[i..i + 2], 16).ok();
            Some([channel(0)?, channel(2)?, channel(4)?])
        }
    }
}

fn dark(colour: Rgb) -> Rgb {
    let [lightness, a, b] = oklab(colour);
    if a.hypot(b) < GREY {
        return srgb([0.95 - 0.73 * lightness, a, b]);
    }
    // A chroma that the lighter colour cannot have would be cut off a channel at a time, which turns the hue.
    let lightness = 0.46 + 0.45 * lightness;
    let shares = (0..=20).map(|step| 1.0 - f64::from(step) / 20.0);
    let fitting = shares.map(|share| [lightness, share * a, share * b]).find(|lab| fits(*lab));
    srgb(fitting.unwrap_or([lightness, 0.0, 0.0]))
}

fn oklab(colour: Rgb) -> [f64; 3] {
    let [red, green, blue] = colour.map(|channel| {
        let v = f64::from(channel) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    });
    let l = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue).cbrt();
    let m = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue).cbrt();
    let s = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue).cbrt();
    [
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    ]
}

fn linear([lightness, a, b]: [f64; 3]) -> [f64; 3] {
    let l = (lightness + 0.3963377774 * a + 0.2158037573 * b).powi(3);
    let m = (lightness - 0.1055613458 * a - 0.0638541728 * b).powi(3);
    let s = (lightness - 0.0894841775 * a - 1.2914855480 * b).powi(3);
    [
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    ]
}

fn fits(lab: [f64; 3]) -> bool {
    linear(lab).iter().all(|channel| (-1e-4..=1.0001).contains(channel))
}

fn srgb(lab: [f64; 3]) -> Rgb {
    linear(lab).map(|channel| {
        let v = channel.clamp(0.0, 1.0);
        let v = if v <= 0.0031308 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        (255.0 * v).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of WCAG 2.
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let luminance = |colour: Rgb| {
            let [red, green, blue] = colour.map(|channel| {
                let v = f64::from(channel) / 255.0;
                if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    #[test]
    fn oklab_there_and_back() {
        for colour in [[0, 0, 0], [255, 255, 255], [213, 94, 0], [0, 114, 178], [1, 2, 250]] {
            assert_eq!(srgb(oklab(colour)), colour);
        }
        // The published value of pure red.
        let [l, a, b] = oklab([255, 0, 0]);
        assert!((l - 0.62796).abs() < 1e-4 && (a - 0.22486).abs() < 1e-4 && (b - 0.12585).abs() < 1e-4);
    }

    #[test]
    fn every_learner_is_seen_on_a_dark_page() {
        let page = [0x1b, 0x1e, 0x21];
        for colour in
            ["#d55e00", "#0072b2", "#332288", "#000000", "#117733", "#b2182b", "#5b3a29", "#2f4b4f", "#882255"]
        {
            let colour = read(colour).unwrap();
            // What WCAG 2 asks of graphics.
            assert!(contrast(dark(colour), page) > 3.0, "{colour:?} becomes {:?}", dark(colour));
        }
        for words in ["#222222", "#444444", "#555555"] {
            assert!(contrast(dark(read(words).unwrap()), page) > 4.5);
        }
        assert!(contrast(dark(read("#e4e4e4").unwrap()), page) < 1.5);
    }

    #[test]
    fn colours_are_read_and_named() {
        assert_eq!(read("#0a0B0c"), Some([10, 11, 12]));
        assert_eq!((read("none"), read("#fff"), read("#ééé")), (None, None, None));
        let style = style(&BTreeSet::from([[255, 255, 255]]));
        assert!(style.starts_with(":root{--c-ffffff:#ffffff;}@media screen"), "{style}");
    }
}
