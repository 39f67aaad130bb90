//! Detectors against their formulas, computed from all values, and how often they alarm when
//! nothing changes.

use mercer_core::Validate;
use mercer_experts::{Adwin, AnyDetector, ChangeDetector, PageHinkley};
use mercer_testkit::streams::normal;
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

/// At most ten deviations above the mean of `before`.
fn clipped(value: f64, before: &[f64]) -> f64 {
    if before.len() > 1 && deviation(before) > 0.0 { value.min(mean(before) + 10.0 * deviation(before)) } else { value }
}

/// ADWIN that keeps every value: `sizes` are those of the buckets, the oldest first.
struct LiteralAdwin {
    delta: f64,
    window: Vec<f64>,
    sizes: Vec<usize>,
}

impl LiteralAdwin {
    fn observe(&mut self, value: f64) -> bool {
        self.window.push(clipped(value, &self.window));
        self.sizes.push(1);
        // Six buckets of a size: the two oldest become one of twice the size.
        for size in (0..60).map(|i| 1_usize << i) {
            let same: Vec<usize> = (0..self.sizes.len()).filter(|i| self.sizes[*i] == size).collect();
            if same.len() == 6 {
                self.sizes[same[0]] = 2 * size;
                self.sizes.remove(same[1]);
            }
        }
        let mut alarm = false;
        loop {
            let n = self.window.len();
            let log = (2.0 * (self.sizes.len() - 1).max(1) as f64 / self.delta).ln();
            let variance = deviation(&self.window).powi(2);
            let (low, high) = self.window.iter().fold((f64::MAX, f64::MIN), |(l, h), x| (x.min(l), x.max(h)));
            let range = clipped(high, &self.window) - low;
            let (mut start, mut changed, mut risen) = (0, false, false);
            for size in &self.sizes[..self.sizes.len() - 1] {
                start += size;
                let (older, newer) = self.window.split_at(start);
                let inverse = 1.0 / older.len() as f64 + 1.0 / newer.len() as f64;
                let epsilon = (2.0 * variance * log * inverse).sqrt() + 2.0 * range * log * inverse / 3.0;
                let rise = mean(newer) - mean(older);
                changed |= rise.abs() > epsilon;
                risen |= rise > epsilon;
            }
            if !changed {
                assert_eq!(self.sizes.iter().sum::<usize>(), n);
                return alarm;
            }
            alarm |= risen;
            self.window.drain(..self.sizes[0]);
            self.sizes.remove(0);
        }
    }
}

/// Streams of losses: still, rising, falling, with outliers, constant.
fn streams() -> Vec<(&'static str, Vec<f64>)> {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut scaled = |scale: fn(usize) -> f64, count: usize| -> Vec<f64> {
        (0..count).map(|t| scale(t) * normal(&mut random).powi(2)).collect()
    };
    let mut outliers = scaled(|_| 1.0, 1500);
    for t in [200, 201, 700, 1200] {
        outliers[t] = [1e6, 1e300, f64::INFINITY, 1e9][t % 4];
    }
    vec![
        ("still", scaled(|_| 2.0, 2000)),
        ("a step up", scaled(|t| if t < 900 { 1.0 } else { 4.0 }, 1500)),
        ("steps up and down", scaled(|t| [1.0, 30.0, 0.1, 3.0][t / 400], 1600)),
        (
            "a learning curve, then a switch",
            scaled(|t| if t < 1000 { 0.1 + 20.0 / (1.0 + t as f64) } else { 5.0 }, 1300),
        ),
        ("a slow rise", scaled(|t| 1.0 + t as f64 / 300.0, 2000)),
        ("outliers", outliers),
        ("constant, then not", scaled(|t| f64::from(t >= 500), 800)),
        ("zero", vec![0.0; 300]),
    ]
}

#[test]
fn adwin_decides_as_the_definition_on_all_values() {
    for delta in [0.002, 0.2] {
        let mut alarms = 0;
        for (name, values) in streams() {
            let mut detector = Adwin::new(delta).expect("a probability");
            let mut literal = LiteralAdwin { delta, window: Vec::new(), sizes: Vec::new() };
            for (t, value) in values.iter().enumerate() {
                let expected = literal.observe(value.min(1e100));
                assert_eq!(detector.observe(*value), expected, "{name}, value {t}");
                assert_eq!(detector.width(), literal.window.len() as u64, "{name}, value {t}");
                let (a, b) = (detector.mean(), mean(&literal.window));
                assert!((a - b).abs() <= 1e-9 * b.abs(), "{name}, value {t}: mean {a} for {b}");
                assert_eq!(detector.validate(), Ok(()));
                alarms += usize::from(expected);
            }
        }
        assert!(alarms >= 5, "{alarms} alarms");
    }
}

#[test]
fn page_hinkley_decides_as_the_recursion() {
    for (tolerance, threshold) in [(0.5, 50.0), (0.1, 10.0)] {
        let mut alarms = 0;
        for (name, values) in streams() {
            let mut detector = PageHinkley::new(tolerance, threshold).expect("positive");
            let (mut seen, mut sum, mut least): (Vec<f64>, f64, f64) = (Vec::new(), 0.0, 0.0);
            for (t, value) in values.iter().enumerate() {
                seen.push(clipped(value.min(1e100), &seen));
                let (own, deviation) = (seen[seen.len() - 1], deviation(&seen));
                let step = if deviation > 0.0 { (own - mean(&seen)) / deviation } else { 0.0 };
                sum += step.min(10.0) - tolerance;
                least = least.min(sum);
                let expected = sum - least > threshold;
                assert_eq!(detector.observe(*value), expected, "{name}, value {t}");
                assert!((detector.statistic() - (sum - least)).abs() < 1e-6, "{name}, value {t}");
                assert_eq!(detector.validate(), Ok(()));
                if expected {
                    detector.reset();
                    (seen, sum, least) = (Vec::new(), 0.0, 0.0);
                    alarms += 1;
                }
            }
        }
        assert!(alarms >= 4, "{alarms} alarms");
    }
}

/// Equal values whose sums are not exact: the rounding is no change.
#[test]
fn rounding_is_no_change() {
    let (mut adwin, mut page_hinkley) = (Adwin::new(0.9).expect("a probability"), PageHinkley::default());
    for t in 0..20_000 {
        let value = 0.1 + f64::from(t % 3) * 1e-17;
        assert!(!adwin.observe(value) && !page_hinkley.observe(value));
    }
    assert_eq!(adwin.width(), 20_000);
}

/// In 20 runs of 10⁵ values for each distribution: 2·10⁶ rounds, in which ADWIN's bound would allow
/// 4000 alarms.
#[test]
fn there_is_no_alarm_while_nothing_changes() {
    type Draw = fn(&mut ChaCha8Rng) -> f64;
    let kinds: [(&str, Draw); 4] = [
        ("squared normal", |random| normal(random).powi(2)),
        ("exponential", |random| -(1.0 - random.random::<f64>()).ln()),
        ("uniform", |random| random.random()),
        ("coins", |random| f64::from(random.random_bool(0.1))),
    ];
    for (name, draw) in kinds {
        for seed in 0..20 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let (mut adwin, mut page_hinkley) = (Adwin::default(), PageHinkley::default());
            for t in 0..100_000 {
                let value = draw(&mut random);
                assert!(!adwin.observe(value), "{name}, seed {seed}: ADWIN at {t}");
                assert!(!page_hinkley.observe(value), "{name}, seed {seed}: Page–Hinkley at {t}");
            }
        }
    }
}

/// Values until the alarm after a change at 5000, in the mean of 20 runs; the module `restart`
/// tells these numbers.
#[test]
fn changes_are_found_soon() {
    for (factor, adwin, page_hinkley) in [(30.0, 17.0, 10.0), (4.0, 66.0, 38.0), (2.0, 224.0, 314.0)] {
        let (mut of_adwin, mut of_page_hinkley) = (0, 0);
        for seed in 0..20 {
            for (detector, delays) in [
                (AnyDetector::from(Adwin::default()), &mut of_adwin),
                (PageHinkley::default().into(), &mut of_page_hinkley),
            ] {
                let (mut random, mut detector) = (ChaCha8Rng::seed_from_u64(seed), detector);
                let mut draw = |scale: f64| scale * normal(&mut random).powi(2);
                assert!((0..5000).all(|_| !detector.observe(draw(1.0))), "a false alarm");
                *delays += (1..10_000).find(|_| detector.observe(draw(factor))).expect("an alarm");
            }
        }
        for (name, sum, expected) in [("ADWIN", of_adwin, adwin), ("Page–Hinkley", of_page_hinkley, page_hinkley)] {
            let mean = f64::from(sum) / 20.0;
            assert!((mean - expected).abs() < 1.0, "{name}, {factor} times: {mean} values");
        }
    }
}
