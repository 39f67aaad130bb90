//! Pipelines: alone and in batches the same, refused rows without a trace, learning that works.

use mercer_core::{ExampleError, Validate};
use mercer_encoding::{
    Cell, ClassPipeline, Encoding, EncodingError, EncodingOptions, Kind, Overrides, Pipeline, Scale, ScaledTargets,
};
use mercer_kernels::{Gaussian, median_width};
use mercer_learners::{
    Blocks, Classifier, Error, Growth, Krls, KrlsParams, Problem, Regressor, RegressorExt, Scratch, Target, Targets,
    Tokens, Variance,
};
use proptest::prelude::*;

type Learner = ScaledTargets<Krls<Gaussian>>;

const CITIES: [&str; 7] = ["Ulm", "Bonn", "Kiel", "Trier", "Jena", "Hof", "Ems"];

/// A record of a number with gaps, a category, and a day.
fn record(t: usize) -> [Cell<'static>; 3] {
    let size = if t % 11 == 3 { Cell::Missing } else { Cell::Number(50.0 + (t * 31 % 97) as f64) };
    // The last cities come late.
    let city = Cell::Text(CITIES[t * t % 7 % (2 + t / 60).min(7)]);
    [size, city, Cell::Instant(1.7e9 + 7200.0 * t as f64)]
}

fn price(t: usize) -> f64 {
    let city = t * t % 7 % (2 + t / 60).min(7);
    2e5 + 4e4 * city as f64 + 1e3 * (t * 31 % 97) as f64
}

fn encoding(scale: Scale) -> Encoding {
    let names = ["size", "city", "at"].map(str::to_owned);
    let head: Vec<_> = (0..50).map(record).collect();
    Encoding::look(&names, &head, &Overrides::default(), EncodingOptions::default().scale(scale)).unwrap()
}

fn pipeline(scale: Scale) -> Pipeline<Learner> {
    let head: Vec<_> = (0..50).map(record).collect();
    Pipeline::with_head(encoding(scale), &head, |dimension, encoded| {
        assert_eq!(encoded.len(), 50 * dimension);
        let kernel = Gaussian::new(median_width(dimension, encoded)).map_err(Error::from)?;
        ScaledTargets::new(Krls::new(kernel, dimension, KrlsParams::default().lambda(0.1))?)
    })
    .unwrap()
}

/// A learner that keeps the inputs it was taught.
#[derive(Clone, Debug)]
struct Recorder {
    dimension: usize,
    inputs: Vec<f64>,
}

impl Regressor for Recorder {
    fn problem(&self) -> Problem {
        Problem::squared(self.dimension, 1)
    }

    fn dictionary_size(&self) -> usize {
        0
    }

    fn predict_into(&self, x: &[f64], _: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        scores[0] = x.iter().sum();
        Ok(())
    }

    fn step(&mut self, x: &[f64], _: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        self.inputs.extend_from_slice(x);
        scores[0] = x.iter().sum();
        Ok(())
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        Err(growth.refused())
    }
}

fn recorder(scale: Scale) -> Pipeline<Recorder> {
    let encoding = encoding(scale);
    let learner = Recorder { dimension: encoding.dimension(), inputs: Vec::new() };
    Pipeline::new(encoding, learner).unwrap()
}

#[test]
fn prices_are_learnt_in_euros() {
    for scale in [Scale::Standard, Scale::Robust, Scale::Range] {
        let mut pipeline = pipeline(scale);
        let (mut squares, mut baseline) = (0.0, 0.0);
        for t in 0..1200 {
            let before = pipeline.predict(&record(t)).unwrap();
            let made = pipeline.learn(&record(t), price(t)).unwrap();
            assert!((before - made).abs() <= 1e-6 * made.abs().max(1.0));
            if t >= 600 && t % 11 != 3 {
                squares += (made - price(t)).powi(2);
                baseline += (price(t) - 3.3e5).powi(2);
            }
        }
        assert!(squares < 0.1 * baseline, "{scale}: {}", squares / baseline);
    }
}

/// The code around a learner may teach it: the same as the pipeline itself, and what it refuses
/// leaves no trace.
#[test]
fn a_learner_may_be_taught_by_what_is_around_it() {
    let (mut direct, mut around) = (pipeline(Scale::Standard), pipeline(Scale::Standard));
    for t in 0..80 {
        let weight = [1.0, 0.0, 2.0][t % 3];
        let (y, mut expected, mut made) = ([price(t)], [0.0], [0.0]);
        let target = Target::weighted(&y, weight);
        direct.learn_target(&record(t), target, &mut expected).unwrap();
        around.learn_by(&record(t), target, |learner, x| learner.learn(x, target, &mut made)).unwrap();
        assert_eq!((made, around.encoding()), (expected, direct.encoding()), "{t}");
    }
    let before = around.encoding().clone();
    let refused =
        around.learn_by(&record(80), Target::new(&[0.0]), |_, _| Err::<(), _>(Error::Example(ExampleError::Diverged)));
    assert!(matches!(refused, Err(EncodingError::Learner(Error::Example(ExampleError::Diverged)))));
    assert_eq!(*around.encoding(), before);
}

#[test]
fn refused_rows_leave_no_trace() {
    let mut pipeline = pipeline(Scale::Robust);
    let records: Vec<_> = (0..600).map(record).collect();
    let mut ys: Vec<f64> = (0..600).map(price).collect();
    ys[411] = f64::NAN;
    let mut scores = Vec::new();
    let refused = pipeline.learn_rows(&records, Targets::numbers(&ys), &mut scores);
    assert!(matches!(refused, Err(EncodingError::Learner(Error::Example(ExampleError::NonFiniteTarget(_))))));
    assert_eq!(scores.len(), 411);
    let mut one = self::pipeline(Scale::Robust);
    for (record, y) in records.iter().zip(&ys).take(411) {
        one.learn(record, *y).unwrap();
    }
    assert_eq!(pipeline.encoding(), one.encoding());
    assert!(one.learn(&records[411], f64::NAN).is_err());
    assert!(one.learn(&records[411][..2], 1.0).is_err());
    assert_eq!(pipeline.encoding(), one.encoding());
    // A row of another width in the midst of a block.
    let (mut short, wide) = (Vec::new(), &records[411]);
    short.extend([&wide[..], &wide[..], &wide[..1], &wide[..]]);
    let refused = pipeline.learn_rows(&short, Targets::numbers(&[1.0; 4]), &mut scores);
    assert_eq!(refused, Err(EncodingError::Cells { expected: 3, got: 1 }));
    assert_eq!(scores.len(), 413);
    assert!(pipeline.learn_rows(&records, Targets::numbers(&[1.0]), &mut scores).is_err());
    let dimension = pipeline.encoding().dimension();
    let other = Recorder { dimension: dimension + 1, inputs: Vec::new() };
    let made = Pipeline::new(encoding(Scale::None), other);
    assert!(matches!(made, Err(EncodingError::Dimension { .. })));
}

/// Fair pseudo-random numbers in `0..below`, the same everywhere: SplitMix64 of a row and a stream.
fn draw(t: usize, stream: u64, below: u64) -> u64 {
    let mut z = (t as u64 * 8 + stream + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % below
}

/// A date, three categories, one of them with 5,000 values, and a tenth of the cells missing.
#[test]
fn an_ordinary_table_is_learnt_with_no_option_at_all() {
    let shops: Vec<String> = (0..5000).map(|shop| format!("shop {shop}")).collect();
    let days: Vec<String> =
        (0..2500).map(|t| format!("202{}-{:02}-{:02}", t / 1000, 1 + t / 28 % 12, 1 + t % 28)).collect();
    let row = |t: usize| {
        let cells = [
            Cell::Text(&days[t]),
            Cell::Text(CITIES[draw(t, 0, 7) as usize]),
            Cell::Text(["red", "green", "blue"][draw(t, 1, 3) as usize]),
            Cell::Text(&shops[draw(t, 2, 5000) as usize]),
            Cell::Number(draw(t, 3, 1000) as f64),
        ];
        let mut column = 0;
        cells.map(|cell| {
            column += 1;
            if column > 1 && draw(t, 10 * column, 10) == 0 { Cell::Missing } else { cell }
        })
    };
    let target = |t: usize| {
        let season = (t / 28 % 12) as f64;
        9e5 + 4e4 * draw(t, 0, 7) as f64 - 5e4 * draw(t, 1, 3) as f64 + 200.0 * draw(t, 3, 1000) as f64 + 9e3 * season
    };
    let names = ["day", "city", "colour", "shop", "size"].map(str::to_owned);
    let head: Vec<_> = (0..1000).map(row).collect();
    let options = EncodingOptions::default().scale(Scale::Standard);
    let encoding = Encoding::look(&names, &head, &Overrides::default(), options).unwrap();
    let kinds: Vec<Kind> = encoding.schema().columns().iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [Kind::Time, Kind::Category, Kind::Category, Kind::Category, Kind::Number]);
    let mut pipeline = Pipeline::with_head(encoding, &head, |dimension, encoded| {
        let kernel = Gaussian::new(2.0 * median_width(dimension, encoded)).map_err(Error::from)?;
        let params = KrlsParams::default().lambda(0.1).max_dictionary(Some(200));
        ScaledTargets::new(Krls::new(kernel, dimension, params)?)
    })
    .unwrap();
    let (mut squares, mut baseline, mut mean) = (0.0, 0.0, 0.0);
    for t in 0..2500 {
        let made = pipeline.learn(&row(t), target(t)).unwrap();
        if t >= 1250 {
            squares += (made - target(t)).powi(2);
            baseline += (mean - target(t)).powi(2);
        }
        mean += (target(t) - mean) / (t + 1) as f64;
    }
    // Gaps hide a part of what the target depends on.
    assert!(squares < 0.3 * baseline, "{}", squares / baseline);
}

/// Rows that lack a column are learnt as if its numbers had been 0; then it is learnt as any other.
#[test]
fn columns_may_appear_late() {
    let x = |t: usize| Cell::Number((t * 31 % 97) as f64 / 97.0);
    let names = ["x"].map(str::to_owned);
    let encoding =
        Encoding::look(&names, &[[x(0)], [x(1)]], &Overrides::default(), EncodingOptions::default()).unwrap();
    let make = |dimension| {
        let learner = Krls::new(Gaussian::new(1.0).unwrap(), dimension, KrlsParams::default().lambda(0.1)).unwrap();
        ScaledTargets::new(learner).unwrap()
    };
    let mut pipeline = Pipeline::new(encoding, make(1)).unwrap();
    let mut wide = make(2);
    for t in 0..40 {
        let Cell::Number(value) = x(t) else { panic!("a number") };
        pipeline.learn(&[x(t)], price(t)).unwrap();
        wide.update(&[value, 0.0], price(t)).unwrap();
    }
    assert!(matches!(pipeline.add_columns([("x", Kind::Number)]), Err(EncodingError::SameName { first: 1, .. })));
    pipeline.add_columns([("late", Kind::Number)]).unwrap();
    for t in 40..80 {
        let (Cell::Number(value), late) = (x(t), t as f64 / 80.0) else { panic!("a number") };
        let made = pipeline.learn(&[x(t), Cell::Number(late)], price(t)).unwrap();
        assert_eq!(made, wide.predict_then_update(&[value, late], price(t)).unwrap());
    }
    assert_eq!(pipeline.validate(), Ok(()));
    let before = pipeline.encoding().dimension();
    for (name, kind, added) in [("c", Kind::Category, 17), ("t", Kind::Time, 7), ("words", Kind::Text, 0)] {
        let dimension = pipeline.encoding().dimension();
        pipeline.add_columns([(name, kind)]).unwrap();
        assert_eq!(pipeline.encoding().dimension() - dimension, added);
    }
    let row = [x(1), x(2), Cell::Text("red"), Cell::Instant(1.7e9), Cell::Text("some words")];
    pipeline.learn(&row, 1.0).unwrap();
    assert_eq!((pipeline.encoding().names().len(), pipeline.validate()), (before + 24, Ok(())));
    // A learner that cannot grow leaves everything as it is.
    let mut fixed = recorder(Scale::None);
    let encoding = fixed.encoding().clone();
    assert_eq!(fixed.add_columns([("late", Kind::Number)]), Err(EncodingError::Learner(Error::FixedInputs)));
    assert_eq!(fixed.encoding(), &encoding);
    assert_eq!(fixed.add_columns([("words", Kind::Text)]), Ok(()));
}

#[test]
fn classes_alone_and_in_batches() {
    let class = |t: usize| t * 31 % 97 / 40;
    let make = || {
        let encoding = encoding(Scale::Standard);
        let kernel = Gaussian::new(3.0).unwrap();
        let learner = Krls::new(kernel, encoding.dimension(), KrlsParams::default().lambda(0.1)).unwrap();
        ClassPipeline::new(encoding, Classifier::new(learner).unwrap()).unwrap()
    };
    let (mut one, mut many) = (make(), make());
    assert_eq!(one.predict(&record(0)), Ok(None));
    // Classes join in the order in which they are met.
    let mut order: Vec<usize> = Vec::new();
    let mut classes = Vec::new();
    for t in 0..700 {
        let place = order.iter().position(|known| *known == class(t)).unwrap_or_else(|| {
            order.push(class(t));
            order.len() - 1
        });
        classes.push(place);
    }
    let records: Vec<_> = (0..700).map(record).collect();
    let (mut alone, mut wrong) = (Vec::new(), 0);
    for (t, record) in records.iter().enumerate() {
        let made = one.learn(record, classes[t], 1.0).unwrap();
        wrong += usize::from(t >= 350 && t % 11 != 3 && made != Some(classes[t]));
        alone.push(made);
    }
    assert!(wrong < 20, "{wrong} of 318 wrong");
    let mut together = Vec::new();
    many.learn_rows(&records, &classes, &[], |_, classifier, scores| together.push(classifier.choice(scores))).unwrap();
    assert_eq!(alone, together);
    assert_eq!(one.encoding(), many.encoding());
    let (mut scratch, mut shares) = (Default::default(), Vec::new());
    assert_eq!(one.probabilities_with(&records[0], &mut scratch, &mut shares), Ok(true));
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares.len() == 3);
    // A class that skips one is refused with the rows behind it.
    let before = many.encoding().clone();
    let refused = many.learn_rows(&records[..5], &[0, 1, 9, 0, 1], &[], |_, _, _| {});
    assert!(refused.is_err());
    let mut expected = before;
    records[..2].iter().for_each(|record| expected.learn(record).unwrap());
    assert_eq!(many.encoding(), &expected);
    assert!(many.learn_rows(&records[..2], &[0], &[], |_, _, _| {}).is_err());
}

proptest! {
    /// Encoded inputs and statistics are the same, bit for bit, however the rows are cut into
    /// batches, with a row of weight 0 only predicted.
    #[test]
    fn alone_and_in_batches_the_same(scale in 0..4_usize, cuts in prop::collection::vec(1..600_usize, 1..5), idle in 0..9_usize) {
        let scale = [Scale::None, Scale::Standard, Scale::Robust, Scale::Range][scale];
        let (mut one, mut many) = (recorder(scale), recorder(scale));
        let (mut alone, mut together) = (Vec::new(), Vec::new());
        let mut first = 0;
        for cut in cuts {
            let records: Vec<_> = (first..first + cut).map(record).collect();
            let ys: Vec<f64> = (first..first + cut).map(price).collect();
            let weights: Vec<f64> = (first..first + cut).map(|t| f64::from(u8::from(t % 9 != idle))).collect();
            many.learn_rows(&records, Targets::new(&ys, &weights, 1).unwrap(), &mut together).unwrap();
            for (row, record) in records.iter().enumerate() {
                let mut score = [0.0];
                one.learn_target(record, Target::weighted(&[ys[row]], weights[row]), &mut score).unwrap();
                alone.push(score[0]);
            }
            first += cut;
        }
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&one.learner().inputs), bits(&many.learner().inputs));
        prop_assert_eq!(bits(&alone), bits(&together));
        prop_assert_eq!(one.encoding(), many.encoding());
    }
}
