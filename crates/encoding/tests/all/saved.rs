//! Saved and read back: the same bits from there on, and damage that is found.

use mercer_core::Validate;
use mercer_encoding::{
    Cell, ClassPipeline, Encoding, EncodingOptions, Overrides, Pipeline, Scale, ScaledTargets, TargetScale,
};
use mercer_kernels::Gaussian;
use mercer_learners::{Classifier, Krls, KrlsParams};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};

type Learner = ScaledTargets<Krls<Gaussian>>;

const SCALES: [Scale; 4] = [Scale::None, Scale::Standard, Scale::Robust, Scale::Range];

fn record(t: usize) -> [Cell<'static>; 3] {
    let size = if t % 13 == 5 { Cell::Missing } else { Cell::Number((t * 31 % 97) as f64) };
    [size, Cell::Text(["a", "b", "c", "d", "e"][t * t % 5]), Cell::Instant(1.7e9 + 9e4 * t as f64)]
}

fn encoding(scale: Scale) -> Encoding {
    let names = ["size", "city", "at"].map(str::to_owned);
    let head: Vec<_> = (0..30).map(record).collect();
    Encoding::look(&names, &head, &Overrides::default(), EncodingOptions::default().scale(scale)).unwrap()
}

fn krls(dimension: usize) -> Krls<Gaussian> {
    let params = KrlsParams::default().lambda(0.1).max_dictionary(Some(8));
    Krls::new(Gaussian::new(2.0).unwrap(), dimension, params).unwrap()
}

fn pipeline(scale: Scale, rows: usize) -> Pipeline<Learner> {
    let encoding = encoding(scale);
    let learner = ScaledTargets::new(krls(encoding.dimension())).unwrap();
    let mut pipeline = Pipeline::new(encoding, learner).unwrap();
    for t in 0..rows {
        pipeline.learn(&record(t), target(t)).unwrap();
    }
    pipeline
}

fn target(t: usize) -> f64 {
    1e5 + 1e3 * (t * 31 % 97) as f64
}

fn again<T: Serialize + DeserializeOwned + Validate>(value: &T) -> T {
    let read: T = postcard::from_bytes(&postcard::to_stdvec(value).unwrap()).unwrap();
    assert_eq!(read.validate(), Ok(()));
    read
}

#[test]
fn what_was_read_back_goes_on_bit_for_bit() {
    for scale in SCALES {
        for rows in [0, 10, 100, 300] {
            let mut first = pipeline(scale, rows);
            let mut second = again(&first);
            assert_eq!(first.encoding(), second.encoding());
            for t in rows..rows + 300 {
                let made = [&mut first, &mut second].map(|pipeline| pipeline.learn(&record(t), target(t)).unwrap());
                assert_eq!(made[0].to_bits(), made[1].to_bits());
            }
            assert_eq!(first.encoding(), second.encoding());
        }
    }
}

#[test]
fn classes_too() {
    let encoding = encoding(Scale::Robust);
    let learner = Classifier::new(krls(encoding.dimension())).unwrap();
    let mut first = ClassPipeline::new(encoding, learner).unwrap();
    for t in 0..50 {
        first.learn(&record(t), (t % 3).min(t), 1.0).unwrap();
    }
    let mut second = again(&first);
    for t in 50..80 {
        let made = [&mut first, &mut second].map(|pipeline| pipeline.learn(&record(t), t % 3, 1.0).unwrap());
        assert_eq!(made[0], made[1]);
    }
}

#[test]
fn parts_that_do_not_fit_are_found() {
    let wide = pipeline(Scale::Standard, 20);
    let narrow = {
        let names = ["size"].map(str::to_owned);
        let head: Vec<_> = (0..30).map(|t| [Cell::Number((t * 31 % 97) as f64)]).collect();
        Encoding::look(&names, &head, &Overrides::default(), EncodingOptions::default()).unwrap()
    };
    // A pipeline is written as its encoding and then its learner.
    let mut bytes = postcard::to_stdvec(&narrow).unwrap();
    bytes.extend(postcard::to_stdvec(wide.learner()).unwrap());
    let mixed: Pipeline<Learner> = postcard::from_bytes(&bytes).unwrap();
    assert!(mixed.validate().is_err());
    let mut bytes = postcard::to_stdvec(narrow.schema()).unwrap();
    bytes.extend(postcard::to_stdvec(wide.encoding().transform()).unwrap());
    bytes.push(0); // no tokens
    let mixed: Encoding = postcard::from_bytes(&bytes).unwrap();
    assert!(mixed.validate().is_err());
    // Two scales for one output.
    let two = vec![TargetScale::from_targets([0.0, 1.0]); 2];
    let mut bytes = postcard::to_stdvec(&krls(1)).unwrap();
    bytes.extend(postcard::to_stdvec(&two).unwrap());
    // All rows for the scales were seen, nothing is screened or aside, and no row waits.
    bytes.extend([0; 4]);
    let mixed: Learner = postcard::from_bytes(&bytes).unwrap();
    assert!(mixed.validate().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A byte is altered, or the end lost: what is read and valid neither panics nor predicts what
    /// is not finite.
    #[test]
    fn damage_is_refused_or_harmless(scale in 0..SCALES.len(), rows in 0..3_usize, place in 0.0..1.0_f64, byte in 0..=255_u8, cut in prop::bool::weighted(0.1)) {
        let mut bytes = postcard::to_stdvec(&pipeline(SCALES[scale], [5, 40, 270][rows])).unwrap();
        let place = (place * bytes.len() as f64) as usize;
        bytes[place] = byte;
        if cut {
            bytes.truncate(place);
        }
        let Ok(mut read) = postcard::from_bytes::<Pipeline<Learner>>(&bytes) else { return Ok(()) };
        if read.validate().is_err() {
            return Ok(());
        }
        for t in 0..30 {
            if let Ok(made) = read.learn(&record(t), target(t)) {
                prop_assert!(made.is_finite());
            }
            let mut numbers = Vec::new();
            read.encoding().encode(&record(t), &mut numbers).unwrap();
            prop_assert!(numbers.iter().all(|number| number.is_finite()));
        }
    }
}
