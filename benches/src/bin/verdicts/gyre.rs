//! A period of the double gyre, then noise between reflecting walls, and the spectrum of that map.
//!
//! With `G` the mean over the noise, which the walls fold back, the operator `f ↦ (Gf)∘T` has the
//! eigenvalues of `g ↦ G(g∘T)` on functions `g = Gf` that the noise has made smooth. On a grid
//! finer than the noise `g∘T` is cubic interpolation and `G` a product of two matrices. The leading
//! eigenvalues are those of the iteration of Arnoldi. Jumps between cells as wide as the noise
//! would add half as much noise again.

use std::error::Error;
use std::f64::consts::{PI, TAU};

use mercer_koopman::OperatorModel;
use mercer_linalg_incremental::{GeneralEigen, Matrix};
use mercer_streams::{Draws, rk4};

pub(crate) const NOISE: f64 = 0.03;
const WIDTH: f64 = 2.0;
const HEIGHT: f64 = 1.0;
/// Points of the grid along each axis.
const WIDE: usize = 160;
const HIGH: usize = 80;
/// Vectors of the iteration, and the residual up to which an eigenvalue counts.
const VECTORS: usize = 90;
const RESIDUAL: f64 = 0.01;

/// States that forecasts are asked for, runs that their mean is made of, and its steps.
const ASKED: usize = 100;
const RUNS: usize = 200;
const STEPS: usize = 20;

/// `T`: where a period of the flow leads.
fn map(x: [f64; 2]) -> [f64; 2] {
    let field = |x: &[f64; 3]| {
        let (a, b) = (0.25 * (TAU * x[2]).sin(), 1.0 - 0.5 * (TAU * x[2]).sin());
        let (f, slope) = (a * x[0] * x[0] + b * x[0], 2.0 * a * x[0] + b);
        let speed = 0.25 * PI;
        [-speed * (PI * f).sin() * (PI * x[1]).cos(), speed * (PI * f).cos() * (PI * x[1]).sin() * slope, 1.0]
    };
    let mut state = [x[0], x[1], 0.0];
    (0..20).for_each(|_| rk4(field, &mut state, 0.05));
    [state[0], state[1]]
}

/// A state after `x`.
pub(crate) fn next(x: &[f64], draws: &mut Draws) -> Vec<f64> {
    let reflected = |x: f64, most: f64| {
        let x = x.abs() % (2.0 * most);
        x.min(2.0 * most - x)
    };
    let [a, b] = map([x[0], x[1]]);
    vec![reflected(a + NOISE * draws.normal(), WIDTH), reflected(b + NOISE * draws.normal(), HEIGHT)]
}

/// Four points of an axis and their weights in cubic interpolation at `x`; walls reflect.
fn around(x: f64, count: usize, cell: f64) -> [(usize, f64); 4] {
    let place = x / cell - 0.5;
    let (first, f) = (place.floor() as i64, place - place.floor());
    let weights = [
        f * (-0.5 + f * (1.0 - 0.5 * f)),
        1.0 + f * f * (1.5 * f - 2.5),
        f * (0.5 + f * (2.0 - 1.5 * f)),
        f * f * (0.5 * f - 0.5),
    ];
    let folded = |i: i64| {
        let i = i.max(-1 - i) as usize;
        if i >= count { 2 * count - 1 - i } else { i }
    };
    [0, 1, 2, 3].map(|k| (folded(first - 1 + k as i64), weights[k]))
}

/// The mean over the noise along an axis of `count` points.
fn smoothing(count: usize, cell: f64) -> Matrix {
    let at = |i: usize| (i as f64 + 0.5) * cell;
    let length = count as f64 * cell;
    let density = |i: usize, j: usize| {
        let images = [at(j), -at(j), 2.0 * length - at(j)];
        images.iter().map(|y| (-0.5 * ((at(i) - y) / NOISE).powi(2)).exp()).sum::<f64>()
    };
    let sums: Vec<f64> = (0..count).map(|i| (0..count).map(|j| density(i, j)).sum()).collect();
    Matrix::from_fn(count, count, |i, j| density(i, j) / sums[i])
}

/// The leading eigenvalues, 1 among them.
pub(crate) fn spectrum() -> Result<Vec<[f64; 2]>, Box<dyn Error>> {
    let cell = WIDTH / WIDE as f64;
    let center = |i: usize| (i as f64 + 0.5) * cell;
    let ends = (0..HIGH).flat_map(|j| (0..WIDE).map(move |i| (i, j)));
    let places: Vec<[[(usize, f64); 4]; 2]> = ends
        .map(|(i, j)| {
            let [x, y] = map([center(i), center(j)]);
            [around(x, WIDE, cell), around(y, HIGH, cell)]
        })
        .collect();
    let [along, across] = [smoothing(WIDE, cell), smoothing(HIGH, cell)];
    let apply = |g: &Matrix| {
        let moved = |i: usize, j: usize| {
            let [xs, ys] = &places[j * WIDE + i];
            ys.iter().map(|(l, v)| xs.iter().map(|(k, u)| u * g.entry(*k, *l)).sum::<f64>() * v).sum()
        };
        along.times(&Matrix::from_fn(WIDE, HIGH, moved)).times_transposed(&across)
    };
    let product = |a: &Matrix, b: &Matrix| a.values().iter().zip(b.values()).map(|(a, b)| a * b).sum::<f64>();
    let mut draws = Draws::new(1);
    let start = Matrix::from_fn(WIDE, HIGH, |_, _| draws.normal());
    let size = product(&start, &start).sqrt();
    let mut basis = vec![Matrix::from_fn(WIDE, HIGH, |i, j| start.entry(i, j) / size)];
    let mut seen = Matrix::zeros(VECTORS, VECTORS);
    let mut rest = 0.0;
    for step in 0..VECTORS {
        let mut image = apply(&basis[step]);
        // Twice, or rounding would leave them oblique.
        for _ in 0..2 {
            for (k, vector) in basis.iter().enumerate() {
                let part = product(vector, &image);
                seen.column_mut(step)[k] += part;
                for j in 0..HIGH {
                    image.column_mut(j).iter_mut().zip(vector.column(j)).for_each(|(x, v)| *x -= part * v);
                }
            }
        }
        rest = product(&image, &image).sqrt();
        if step + 1 < VECTORS {
            seen.column_mut(step)[step + 1] = rest;
        }
        basis.push(Matrix::from_fn(WIDE, HIGH, |i, j| image.entry(i, j) / rest));
    }
    let found = GeneralEigen::new(&seen, VECTORS)?;
    let settled = |k: &usize| {
        let (re, im) = (&found.re[*k], &found.im[*k]);
        let norm = re.iter().chain(im).map(|v| v * v).sum::<f64>().sqrt();
        rest * re[VECTORS - 1].hypot(im[VECTORS - 1]) <= RESIDUAL * norm
    };
    Ok((0..found.values.len()).filter(settled).map(|k| [found.values[k].re, found.values[k].im]).collect())
}

/// What a model says of the kind of the system, and its forecasts of 20 steps: the distance to the
/// mean of many runs, in deviations of the state, and the farthest beyond the walls, as a part of
/// the range.
///
/// # Errors
/// When a forecast is refused.
pub(crate) fn told(model: &OperatorModel, draws: &mut Draws) -> Result<String, Box<dyn Error>> {
    let (mut x, mut squares, mut beyond) = (vec![0.4, 0.3], 0.0, 0.0_f64);
    let mut asked: Vec<Vec<f64>> = Vec::with_capacity(ASKED);
    for _ in 0..ASKED {
        (0..STEPS).for_each(|_| x = next(&x, draws));
        asked.push(x.clone());
        let mut mean = [0.0; 2];
        for _ in 0..RUNS {
            let mut y = x.clone();
            (0..STEPS).for_each(|_| y = next(&y, draws));
            mean.iter_mut().zip(y).for_each(|(mean, y)| *mean += y / RUNS as f64);
        }
        let path = model.forecast(&x, &[], STEPS)?;
        for (y, most) in path.iter().flat_map(|y| y.iter().zip([WIDTH, HEIGHT])) {
            beyond = beyond.max((y / most - 1.0).max(-y / most));
        }
        squares += path[STEPS - 1].iter().zip(mean).map(|(y, mean)| (y - mean).powi(2)).sum::<f64>();
    }
    let mean = |j: usize| asked.iter().map(|x| x[j]).sum::<f64>() / ASKED as f64;
    let variance: f64 = (0..2).map(|j| asked.iter().map(|x| (x[j] - mean(j)).powi(2)).sum::<f64>()).sum();
    Ok(format!(
        "{}; {STEPS} steps on {:.2} deviations from the mean of {RUNS} runs; at most {:.1} % of the range beyond the walls",
        if model.is_deterministic() { "deterministic" } else { "stochastic" },
        (squares / variance).sqrt(),
        100.0 * beyond.max(0.0)
    ))
}
