//! Which colour a learner has, in every picture the same.
//!
//! The learners that share a picture most often (those of the benchmark table) take the eight
//! colours of Okabe and Ito, which stay apart for colour-blind readers; the others take darker
//! tones of Paul Tol's muted scheme. [`colour_of`] answers for one name, [`Colours`] for all names
//! of one picture, where variants of a learner ("NONS-ALD, μ = 5") become lighter tints of its
//! colour.

use std::collections::BTreeMap;
use std::fmt;

/// An sRGB colour; shown as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    /// Red, 0 to 255.
    pub red: u8,
    /// Green, 0 to 255.
    pub green: u8,
    /// Blue, 0 to 255.
    pub blue: u8,
}

impl Colour {
    const fn new(rgb: u32) -> Self {
        Self { red: (rgb >> 16) as u8, green: (rgb >> 8) as u8, blue: rgb as u8 }
    }

    /// The colour mixed with white: `share` of 0 is the colour itself, 1 is white.
    #[must_use]
    pub fn tint(self, share: f64) -> Self {
        let mix =
            |channel: u8| (f64::from(channel) + (255.0 - f64::from(channel)) * share.clamp(0.0, 1.0)).round() as u8;
        Self { red: mix(self.red), green: mix(self.green), blue: mix(self.blue) }
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

/// For bounds and guides that belong to no learner.
pub const NEUTRAL: Colour = Colour::new(0x44_44_44);

const LEARNERS: [(&str, Colour); 20] = [
    ("NONS-ALD", Colour::new(0xd5_5e_00)),
    ("AOGD-ALD", Colour::new(0x00_72_b2)),
    ("FOGD", Colour::new(0xe6_9f_00)),
    ("NOGD", Colour::new(0x56_b4_e9)),
    ("PROS-N-KONS", Colour::new(0xcc_79_a7)),
    ("CON-KONS", Colour::new(0x00_9e_73)),
    ("KRLS", Colour::new(0x00_00_00)),
    ("KOGD", Colour::new(0xaa_44_99)),
    ("KONS", Colour::new(0x88_22_55)),
    ("Sketched-KONS", Colour::new(0x99_99_33)),
    ("Kernel-AWV", Colour::new(0x11_77_33)),
    ("Kernel-KRR", Colour::new(0x88_88_88)),
    ("PKAWV-Taylor", Colour::new(0xb2_18_2b)),
    ("PKAWV-Nyström", Colour::new(0x33_22_88)),
    ("PKAWV", Colour::new(0x5b_3a_29)),
    ("PKRR-Taylor", Colour::new(0xf4_8c_6e)),
    ("PKRR-Nyström", Colour::new(0x7b_6f_c4)),
    ("Experts", Colour::new(0x2f_4b_4f)),
    ("Perceptron", Colour::new(0x22_22_22)),
    ("PA", Colour::new(0x9e_7c_4b)),
];

/// For names that are no learner's, in the order they are handed out (Paul Tol's bright scheme).
const OTHERS: [Colour; 7] = [
    Colour::new(0x44_77_aa),
    Colour::new(0xcc_bb_44),
    Colour::new(0xee_66_77),
    Colour::new(0x22_88_33),
    Colour::new(0x66_cc_ee),
    Colour::new(0xaa_33_77),
    Colour::new(0xbb_bb_bb),
];

/// The colour of the set of this number, where numbers stand for sets; they repeat after seven.
#[must_use]
pub(super) fn set_colour(set: usize) -> Colour {
    OTHERS[set % OTHERS.len()].tint(0.6)
}

/// Tints of the second, third, … variant of one learner in one picture.
const TINTS: [f64; 4] = [0.0, 0.4, 0.62, 0.76];

/// The colour of a learner, or of a variant whose name starts with the learner's ("FOGD, D = 400");
/// [`NEUTRAL`] for any other name. Upper and lower case are the same.
#[must_use]
pub fn colour_of(name: &str) -> Colour {
    learner(name).map_or(NEUTRAL, |(_, colour)| colour)
}

/// The longest learner's name that `name` starts with and that ends at the end of a word.
fn learner(name: &str) -> Option<(&'static str, Colour)> {
    let lower = name.to_lowercase();
    LEARNERS
        .iter()
        .filter(|(known, _)| {
            lower
                .strip_prefix(&known.to_lowercase())
                .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '-'))
        })
        .max_by_key(|(known, _)| known.len())
        .copied()
}

/// The colours of all names of one picture.
#[derive(Clone, Debug, Default)]
pub struct Colours {
    solid: BTreeMap<String, Colour>,
    dashed: BTreeMap<String, Colour>,
}

impl Colours {
    /// Colours for `(name, dashed)` in the order of the picture. A dashed line (a bound) has its
    /// learner's own colour and does not count as a variant.
    #[must_use]
    pub fn assign<'a>(names: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        let names: Vec<_> = names.into_iter().collect();
        // They are handed out again from the first: more unknown names are too many for any
        // palette.
        let mut free = OTHERS.into_iter().cycle();
        let mut result = Self::default();
        let mut variants: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, dashed) in names {
            if result.get(name, dashed).is_some() {
                continue;
            }
            let colour = match (learner(name), dashed) {
                (Some((_, colour)), true) => colour,
                (Some((known, colour)), false) => {
                    let variant = variants.entry(known).or_default();
                    *variant += 1;
                    colour.tint(TINTS[(*variant - 1).min(TINTS.len() - 1)])
                }
                (None, true) if !result.dashed.values().any(|&used| used == NEUTRAL) => NEUTRAL,
                (None, _) => free.next().unwrap_or(NEUTRAL),
            };
            let map = if dashed { &mut result.dashed } else { &mut result.solid };
            map.insert(name.to_owned(), colour);
        }
        result
    }

    /// The colour of a name given to [`Colours::assign`].
    #[must_use]
    pub fn get(&self, name: &str, dashed: bool) -> Option<Colour> {
        if dashed { &self.dashed } else { &self.solid }.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_variants_and_strangers() {
        assert_eq!(colour_of("NONS-ALD").to_string(), "#d55e00");
        assert_eq!(colour_of("nons-ald (μ = 5)"), colour_of("NONS-ALD"));
        assert_eq!(colour_of("PKAWV-Taylor, M = 3"), colour_of("PKAWV-Taylor"));
        assert_ne!(colour_of("PKAWV-Taylor"), colour_of("PKAWV"));
        assert_ne!(colour_of("KONS"), colour_of("Sketched-KONS"));
        assert_eq!(colour_of("KONSTANT"), NEUTRAL);
        assert_eq!(colour_of("batch"), NEUTRAL);
    }

    #[test]
    fn every_learner_has_a_colour_of_its_own() {
        for (i, (name, colour)) in LEARNERS.iter().enumerate() {
            for (other, second) in &LEARNERS[i + 1..] {
                assert_ne!(colour, second, "{name} and {other}");
            }
        }
    }

    #[test]
    fn variants_are_tinted_and_bounds_are_not() {
        let names = [
            ("FOGD", true),
            ("FOGD, D = 100", false),
            ("FOGD, D = 400", false),
            ("theorem", true),
            ("measured", false),
        ];
        let colours = Colours::assign(names);
        let fogd = colour_of("FOGD");
        assert_eq!(colours.get("FOGD", true), Some(fogd));
        assert_eq!(colours.get("FOGD, D = 100", false), Some(fogd));
        assert_eq!(colours.get("FOGD, D = 400", false), Some(fogd.tint(0.4)));
        assert_eq!(colours.get("theorem", true), Some(NEUTRAL));
        assert_eq!(colours.get("measured", false), Some(OTHERS[0]));
        assert_eq!(colours.get("absent", false), None);
    }

    /// Linear sRGB as seen without the red (protan) or the green (deutan) cones; matrices of
    /// Machado, Oliveira and Fernandes (2009), severity 1.
    const PROTAN: [[f64; 3]; 3] =
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]];
    const DEUTAN: [[f64; 3]; 3] =
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]];
    const PLAIN: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    fn lab(colour: Colour, eye: &[[f64; 3]; 3]) -> [f64; 3] {
        let linear = [colour.red, colour.green, colour.blue].map(|channel| {
            let v = f64::from(channel) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        });
        let times =
            |m: &[[f64; 3]; 3], v: [f64; 3]| m.map(|row| (row[0] * v[0] + row[1] * v[1] + row[2] * v[2]).max(0.0));
        let xyz =
            times(&[[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], times(eye, linear));
        let f = |t: f64| {
            if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 }
        };
        let (x, y, z) = (f(xyz[0] / 0.9505), f(xyz[1]), f(xyz[2] / 1.089));
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    #[test]
    fn the_learners_of_the_benchmark_table_stay_apart_for_every_eye() {
        for eye in [PLAIN, PROTAN, DEUTAN] {
            for (i, (name, first)) in LEARNERS[..7].iter().enumerate() {
                for (other, second) in &LEARNERS[i + 1..7] {
                    let (a, b) = (lab(*first, &eye), lab(*second, &eye));
                    let distance = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
                    assert!(distance > 10.0, "{name} and {other}: {distance:.1}");
                }
            }
        }
    }
}
