//! Damaged, foreign and crafted files are refused in words, and never harm.

use std::io::Read;

use mercer::forecast::{Forecaster, LinearExtrapolation};
use mercer::model::{Model, ModelError, Prediction, VERSION};
use proptest::prelude::*;

use crate::exercise::exercise;
use crate::subjects::{models, regression};

/// Bytes before the body.
const HEADER: usize = 24;

fn bytes(name: &str) -> Vec<u8> {
    Model::Regression(Box::new(regression(name, 12))).to_bytes().unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    let message = Model::from_bytes(bytes).unwrap_err().to_string();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

/// The file with another body and the checksum that belongs to it.
fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    let length = (file.len() - HEADER) as u64;
    file[16..24].copy_from_slice(&length.to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&file[8..12]);
    hasher.update(&file[16..]);
    let checksum = hasher.finalize();
    file[12..16].copy_from_slice(&checksum.to_le_bytes());
    file
}

#[test]
fn refusals_say_what_is_wrong() {
    let good = bytes("nons-ald");
    assert_eq!(sealed(good.clone()), good, "the checksum of this test is that of the format");
    let altered = |at: usize, value: u8| {
        let mut file = good.clone();
        file[at] = value;
        refusal(&file)
    };
    for foreign in [&b""[..], b"a,b,y\n1,2,3\n", b"PK\x03\x04", &good[1..]] {
        assert!(refusal(foreign).contains("is not a model file"));
    }
    assert!(altered(8, 2).contains("format 2, and this program reads format 1; use a newer mercer"));
    assert!(altered(8, 0).contains("format 0"));
    assert_eq!(VERSION, 1);
    // What files began with before the first release.
    let development = [b"\x89MERCER\n", &good[8..]].concat();
    assert_eq!(refusal(&development), "was made by a development version of mercer; train it again");
    assert!(altered(10, 9).contains("unknown kind 9"));
    assert!(altered(16, 0).contains("bytes behind the end"));
    assert!(altered(22, 1).contains("truncated"));
    for length in 8..good.len() {
        assert!(refusal(&good[..length]).contains("truncated"), "{length} bytes");
    }
    for length in 1..8 {
        assert!(matches!(Model::from_bytes(&good[..length]), Err(ModelError::Truncated { .. })));
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(refusal(&longer).contains("has 1 bytes behind the end"));
    // A claim that no memory could hold.
    let mut claim = good.clone();
    claim[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(refusal(&claim).contains("truncated"));
}

/// Nothing else is read of a file that is refused by its header, however long it is. Another file
/// is read as far as it says, and one byte more.
#[test]
fn files_are_read_by_their_header_first() {
    let good = bytes("nons-ald");
    let read = |file: &[u8]| {
        let mut endless = file.chain(std::io::repeat(7)).take(1 << 40);
        let refused = Model::read(&mut endless).unwrap_err().to_string();
        (refused, (1_u64 << 40) - endless.limit())
    };
    for (place, value) in [(0, b'a'), (8, 2), (10, 9), (23, 1)] {
        let mut file = good.clone();
        file[place] = value;
        let (refused, bytes) = read(&file);
        assert_eq!(bytes, 24, "{refused}");
    }
    let (refused, bytes) = read(&good);
    assert!(refused.starts_with("has 1 bytes behind the end"), "{refused}");
    assert_eq!(bytes, good.len() as u64 + 1);
}

#[test]
fn every_altered_bit_is_seen() {
    let good = bytes("krls");
    for at in 12..good.len() {
        for bit in 0..8 {
            let mut file = good.clone();
            file[at] ^= 1 << bit;
            assert!(Model::from_bytes(&file).is_err(), "bit {bit} of byte {at}");
        }
    }
}

/// Even where the checksum is that of the altered bytes, so that decoding and validation are all
/// that stands between.
#[test]
fn altered_and_sealed_bytes_do_not_panic_whatever_is_done_with_the_model() {
    let models: Vec<_> = models(12).into_iter().map(|(name, model)| (name, model.to_bytes().unwrap())).collect();
    let (refused, taken) = std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            let models = models.iter().skip(half).step_by(2);
            scope.spawn(move || models.map(|(name, good)| altered_and_sealed(name, good)).fold((0, 0), add))
        });
        halves.map(|half| half.join().unwrap()).into_iter().fold((0, 0), add)
    });
    assert!(refused > 1000 && taken > 1000, "{refused} refused, {taken} taken");
}

fn add(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0 + b.0, a.1 + b.1)
}

/// Numbers of files with one other byte that were refused, and that were taken and used.
fn altered_and_sealed(name: &str, good: &[u8]) -> (usize, usize) {
    let (mut refused, mut taken) = (0, 0);
    for at in HEADER..good.len().min(HEADER + 1500) {
        for value in [0, 1, 0x7f, 0x80, 0xff, good[at] ^ 1, good[at] ^ 0x40] {
            let mut file = good.to_vec();
            file[at] = value;
            match Model::from_bytes(&sealed(file)) {
                Ok(model) => {
                    taken += 1;
                    exercise(model);
                }
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.to_string().lines().count(), 1, "{name}");
                }
            }
        }
    }
    (refused, taken)
}

#[test]
fn deep_nesting_is_refused_before_the_stack_is_gone() {
    // `Kons` with a mixture of one term that is a mixture of one term …: weight, then the kernel's
    // variant.
    let good = bytes("kons");
    let weight = 0.4_f64.to_le_bytes();
    let at = (HEADER..good.len() - 8).find(|at| good[*at..*at + 8] == weight).unwrap();
    let mut file = good[..at].to_vec();
    for _ in 0..100_000 {
        file.extend(1.0_f64.to_le_bytes());
        // Variant `Mixture`, one term.
        file.extend([6, 1]);
    }
    file.extend(&good[at..]);
    assert!(refusal(&sealed(file)).contains("does not hold a model"));
}

/// A number of inputs that nothing backs must not be believed before it is looked at.
#[test]
fn a_forecaster_of_endless_inputs_is_refused_without_room_for_them() {
    let mut extrapolation = LinearExtrapolation::new(1);
    [0.25, 0.5].into_iter().for_each(|y| extrapolation.observe(&[], &[y]).unwrap());
    let mut file = Model::Prediction(Box::new(Prediction::new(Vec::new(), extrapolation.into()))).to_bytes().unwrap();
    // The body ends with the number of inputs and that of the rows.
    let rows = file.pop().unwrap();
    assert_eq!(file.pop(), Some(0));
    // 2⁶³ − 1 inputs, in seven bits a byte.
    let mut endless = file.clone();
    endless.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, rows]);
    assert!(refusal(&sealed(endless)).contains("number of inputs"));
    // A few are believed.
    file.extend([3, rows]);
    assert!(Model::from_bytes(&sealed(file)).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Several alterations at once, and cuts, insertions and repeats.
    #[test]
    fn mangled_bodies_do_not_panic(
        which in 0..33_usize,
        edits in prop::collection::vec((0..4_usize, any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let all = models(9);
        let mut body = all[which % all.len()].1.to_bytes().unwrap().split_off(HEADER);
        let header = all[which % all.len()].1.to_bytes().unwrap()[..HEADER].to_vec();
        for (edit, at, value) in edits {
            let at = at.index(body.len().max(1)).min(body.len().saturating_sub(1));
            match edit {
                0 if !body.is_empty() => body[at] = value,
                1 => body.truncate(at),
                2 => body.insert(at, value),
                _ => body.extend_from_within(at..),
            }
        }
        if let Ok(model) = Model::from_bytes(&sealed([header, body].concat())) {
            exercise(model);
        }
    }
}

/// Forges a body: bytes that are changed, cut, put in or repeated, and numbers at the ends of what
/// they can be.
fn forge(body: &mut Vec<u8>, mut next: impl FnMut() -> usize) {
    const NUMBERS: [[u8; 10]; 4] = [
        // 2⁶⁴ − 1 and 2³¹ in seven bits a byte, then NaN and the largest number.
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        [0x80, 0x80, 0x80, 0x80, 8, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 0, 0],
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xef, 0x7f, 0, 0],
    ];
    const LENGTHS: [usize; 4] = [10, 5, 8, 8];
    for _ in 0..=next() % 4 {
        let at = next() % body.len().max(1);
        match next() % 6 {
            _ if body.is_empty() => body.push(0),
            0 | 1 => body[at] = next() as u8,
            2 => body.truncate(at),
            3 => body.insert(at, next() as u8),
            4 => {
                let end = (at + next() % 200).min(body.len());
                body.extend_from_within(at..end);
            }
            _ => {
                let which = next() % NUMBERS.len();
                let end = (at + next() % 9).min(body.len());
                drop(body.splice(at..end, NUMBERS[which][..LENGTHS[which]].iter().copied()));
            }
        }
    }
}

/// `cargo xtask faults` runs it where a process has little memory, and looks at what it prints.
#[test]
#[ignore = "takes minutes; a step of cargo xtask faults"]
fn forged_files_of_each_kind() {
    let count: u64 = std::env::var("MERCER_FORGED").map_or(10_000, |count| count.parse().unwrap());
    let (mut slowest, mut taken, mut all) = (std::time::Duration::ZERO, 0, 0);
    for (name, model) in models(12) {
        let good = model.to_bytes().unwrap();
        let mut state = u64::from(crc32fast::hash(name.as_bytes()));
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        for _ in 0..count {
            let mut body = good[HEADER..].to_vec();
            forge(&mut body, &mut next);
            let file = sealed([&good[..HEADER], &body].concat());
            let begun = std::time::Instant::now();
            if let Ok(model) = Model::from_bytes(&file) {
                taken += 1;
                exercise(model);
            }
            slowest = slowest.max(begun.elapsed());
            all += 1;
        }
    }
    println!("forged files: {all}, of them models: {taken}, the slowest in ms: {}", slowest.as_millis());
}

#[test]
fn a_model_that_could_not_be_read_back_is_not_saved() {
    let mut model = regression("krls", 3);
    model.progress.bad = model.progress.rows + 1;
    assert!(matches!(Model::Regression(Box::new(model)).to_bytes(), Err(ModelError::Inconsistent(_))));
}
