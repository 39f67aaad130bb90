//! The cost of scaling without knowing the file, against a scale taken from all of it. It is
//! measured on real data, with the table behind the numbers in the docs.
//!
//! `MERCER_DATA=DIR cargo test -p mercer-encoding --test scores -- --nocapture` prints it. Errors
//! are squared errors over the variance of the targets.

use mercer_datasets::Registry;
use mercer_encoding::{Cell, Encoding, EncodingOptions, Overrides, Scale, ScaledTargets, Schema, TargetScale};
use mercer_kernels::{Gaussian, median_width};
use mercer_learners::{
    AogdAld, AogdAldParams, Fogd, FogdParams, Krls, KrlsParams, NonsAld, NonsAldParams, PkawvTaylor, Regressor,
    RegressorExt, TaylorParams,
};
use mercer_registry::AnyRegressor;

const ROWS: usize = 4000;
const HEAD: usize = 1000;
const SETS: [&str; 7] = ["calhousing", "cpusmall", "elevators", "ccpp", "diamonds", "bank", "casp"];
const LEARNERS: [&str; 5] = ["nons-ald", "aogd-ald", "krls", "fogd", "pkawv-taylor"];

type Learner = AnyRegressor<Gaussian>;

fn learner(name: &str, width: f64, d: usize) -> Option<Learner> {
    let kernel = Gaussian::new(width).unwrap();
    let most = Some(150);
    Some(match name {
        "nons-ald" => NonsAld::new(kernel, d, NonsAldParams::default().max_dictionary(most)).unwrap().into(),
        "aogd-ald" => AogdAld::new(kernel, d, AogdAldParams::default()).unwrap().into(),
        "krls" => {
            let params = KrlsParams::default().lambda(0.1).nu(1e-3).max_dictionary(most);
            Krls::new(kernel, d, params).unwrap().into()
        }
        "fogd" => Fogd::new(d, FogdParams::default().sigma(width).features(200)).unwrap().into(),
        _ if d > 15 => return None,
        _ => PkawvTaylor::new(d, TaylorParams::default().sigma(width).degree(2).lambda(0.1)).unwrap().into(),
    })
}

/// Rows and targets of a set in a random order.
fn table(name: &str) -> Option<(Vec<Vec<Cell<'static>>>, Vec<f64>)> {
    let mut table = Registry::load().ok()?.open(name).ok()?.permuted(1);
    table.truncate(ROWS);
    let rows = table.iter().map(|(x, _)| x.iter().map(|value| Cell::Number(*value)).collect()).collect();
    Some((rows, table.iter().map(|(_, y)| y).collect()))
}

/// Inputs that are encoded with statistics that begin with the first `head` rows.
fn inputs(rows: &[Vec<Cell<'_>>], scale: Scale, head: usize) -> (Vec<f64>, usize) {
    let names: Vec<String> = (0..rows[0].len()).map(|place| format!("x{place}")).collect();
    let schema = Schema::infer(&names, &rows[..HEAD], &Overrides::default()).unwrap();
    let mut encoding = Encoding::new(schema, EncodingOptions::default().scale(scale)).unwrap();
    encoding.learn_head(&rows[..head]).unwrap();
    let mut made = Vec::new();
    for row in rows {
        encoding.encode(row, &mut made).unwrap();
        encoding.learn(row).unwrap();
    }
    (made, encoding.dimension())
}

/// Error over the rounds from 256 on, and over the last half.
fn errors(learner: &mut impl Regressor, xs: &[f64], d: usize, ys: &[f64]) -> [f64; 2] {
    let made: Vec<f64> =
        (0..ys.len()).map(|t| learner.predict_then_update(&xs[t * d..(t + 1) * d], ys[t]).unwrap()).collect();
    [256, ys.len() / 2].map(|from| {
        let n = (ys.len() - from) as f64;
        let mean = ys[from..].iter().sum::<f64>() / n;
        let variance = ys[from..].iter().map(|y| (y - mean).powi(2)).sum::<f64>();
        made[from..].iter().zip(&ys[from..]).map(|(made, y)| (made - y).powi(2)).sum::<f64>() / variance
    })
}

#[test]
fn scales_of_the_first_targets_are_as_good_as_those_of_all() {
    let (mut worst, mut sets) = (0.0_f64, 0);
    println!("set        learner         online: from 256, last half    scale of the file: the same");
    for set in SETS {
        let Some((rows, ys)) = table(set) else { continue };
        sets += 1;
        let (xs, d) = inputs(&rows, Scale::Standard, HEAD);
        let width = median_width(d, &xs[..500 * d]);
        for name in LEARNERS {
            let Some(made) = learner(name, width, d) else { continue };
            let all = TargetScale::from_targets(ys.iter().copied());
            let online = errors(&mut ScaledTargets::new(made.clone()).unwrap(), &xs, d, &ys);
            let oracle = errors(&mut ScaledTargets::fixed(made, vec![all]).unwrap(), &xs, d, &ys);
            println!("{set:10} {name:13} {:8.4} {:8.4}  {:8.4} {:8.4}", online[0], online[1], oracle[0], oracle[1]);
            worst = worst.max(online[1] / oracle[1]);
        }
    }
    println!("worst ratio over the last half, of {sets} sets: {worst:.3}");
    assert!(sets == 0 || worst < 1.2, "{worst}");
}

#[test]
fn statistics_of_the_head_are_as_good_as_those_of_all() {
    println!("set        scale     krls over the last half: from nothing, from the head, from all rows");
    for set in SETS {
        let Some((rows, ys)) = table(set) else { continue };
        for scale in [Scale::Standard, Scale::Robust, Scale::Range] {
            let made = [0, HEAD, rows.len()].map(|head| {
                let (xs, d) = inputs(&rows, scale, head);
                let width = median_width(d, &xs[..500 * d]);
                let learner = learner("krls", width, d).unwrap();
                errors(&mut ScaledTargets::new(learner).unwrap(), &xs, d, &ys)
            });
            println!("{set:10} {scale:8} {:8.4} {:8.4} {:8.4}", made[0][1], made[1][1], made[2][1]);
            // That of the standard scale, which the documentation speaks of.
            assert!(scale != Scale::Standard || made[1][1] < 1.1 * made[2][1], "{set}");
        }
    }
}

/// A named learner gets a table of numbers without gaps bit for bit.
#[test]
fn tables_of_numbers_pass_bit_for_bit() {
    for set in SETS {
        let Some((rows, _)) = table(set) else { continue };
        let (made, d) = inputs(&rows, Scale::None, HEAD);
        assert_eq!(d, rows[0].len());
        for (cell, number) in rows.iter().flatten().zip(made) {
            assert!(matches!(cell, Cell::Number(value) if value.to_bits() == number.to_bits()));
        }
    }
}
