//! Twelve systems whose spectrum and conditional means are known, in the order of the table: four
//! linear or finite ones, three of Langevin in wells, five without noise.

use std::f64::consts::TAU;

use mercer_linalg_incremental::{GeneralEigen, Matrix, SymmetricEigen};
use mercer_streams::{Draws, Pairs, rk4};

use crate::prelude::*;

/// The systems by name, with the steps that are forecast.
pub(crate) const SYSTEMS: [(&str, [usize; 3]); 12] = [
    ("ou", [1, 5, 20]),
    ("two", [1, 5, 20]),
    ("five", [1, 5, 20]),
    ("lin3", [1, 5, 20]),
    ("triple", [1, 5, 20]),
    ("prinz", [1, 5, 20]),
    ("four2d", [1, 5, 20]),
    ("pendulum", [1, 10, 50]),
    ("duffing", [1, 10, 50]),
    ("lorenz", [1, 10, 50]),
    ("vdp", [1, 10, 50]),
    ("wave", [1, 10, 50]),
];
/// States that are forecast.
pub(crate) const QUERIES: usize = 300;
/// Cells of the generator in a potential, and its eigenpairs that are used.
const CELLS: usize = 500;
const PAIRS_OF_GENERATOR: usize = 30;
/// Numbers of a state of the wave.
const DELAYS: usize = 8;

/// Pairs of one system, and what is true of it.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) pairs: Pairs,
    /// The steps that are forecast.
    pub(crate) steps: [usize; 3],
    /// The leading eigenvalues: real and imaginary parts.
    pub(crate) eigenvalues: Vec<[f64; 2]>,
    pub(crate) queries: Vec<Vec<f64>>,
    /// The expected states after each of the three numbers of steps, query by query.
    pub(crate) futures: [Vec<Vec<f64>>; 3],
}

/// `n` pairs of the system at this place of [`SYSTEMS`].
pub(crate) fn sample(place: usize, n: usize, seed: u64) -> Result<Sample> {
    let (name, steps) = SYSTEMS[place];
    let mut draws = Draws::new(seed);
    let shape = Shape { n, steps };
    match name {
        "ou" => {
            let powers = (0..5).map(|k| [0.85_f64.powi(k), 0.0]);
            let one = |value: f64| Matrix::from_fn(1, 1, |_, _| value);
            linear(&shape, &one(0.85), &one((1.0_f64 - 0.85 * 0.85).sqrt()), powers.collect(), &mut draws)
        }
        "lin3" => lin3(&shape, &mut draws),
        "two" => chain(&shape, &Matrix::from_fn(2, 2, |i, j| [[0.9, 0.1], [0.2, 0.8]][i][j]), &mut draws),
        "five" => {
            let jumps = [
                [4, 525, 5, 379, 87],
                [123, 450, 54, 373, 0],
                [37, 669, 93, 0, 201],
                [18, 37, 266, 456, 223],
                [38, 303, 252, 118, 289],
            ];
            let entry = |i: usize, j: usize| 4e-4 * f64::from(jumps[i][j]) + if i == j { 0.6 } else { 0.0 };
            chain(&shape, &Matrix::from_fn(5, 5, entry), &mut draws)
        }
        "triple" | "prinz" | "four2d" => wells(&shape, &Well::named(name), &mut draws),
        "wave" => Ok(wave(&shape)),
        _ => flow(name, &shape, &mut draws),
    }
}

struct Shape {
    n: usize,
    steps: [usize; 3],
}

impl Shape {
    /// Paths and pairs of each: ten of them, or fifty of a long sample.
    fn paths(&self) -> (usize, usize) {
        let paths = if self.n <= 2000 { 10 } else { 50 };
        (paths, self.n / paths)
    }
}

/// `x⁺ = Ax + Bξ` with `ξ` normal.
fn linear(shape: &Shape, a: &Matrix, b: &Matrix, eigenvalues: Vec<[f64; 2]>, draws: &mut Draws) -> Result<Sample> {
    let d = a.rows();
    let apply =
        |of: &Matrix, x: &[f64]| -> Vec<f64> { (0..d).map(|i| (0..d).map(|j| of.entry(i, j) * x[j]).sum()).collect() };
    let mut next = |x: &[f64]| {
        let noise: Vec<f64> = (0..d).map(|_| draws.normal()).collect();
        apply(a, x).iter().zip(apply(b, &noise)).map(|(x, noise)| x + noise).collect::<Vec<f64>>()
    };
    let pairs = path(shape.n, vec![0.0; d], 200, &mut next);
    let queries = sparse(&path(10 * QUERIES, vec![0.0; d], 200, &mut next));
    let futures = shape.steps.map(|k| queries.iter().map(|x| (0..k).fold(x.clone(), |x, _| apply(a, &x))).collect());
    Ok(Sample { pairs, steps: shape.steps, eigenvalues, queries, futures })
}

/// A pair of modes and a real one, in coordinates of other units, turned into each other.
fn lin3(shape: &Shape, draws: &mut Draws) -> Result<Sample> {
    let (c, s) = (0.95 * 0.3_f64.cos(), 0.95 * 0.3_f64.sin());
    let own = Matrix::from_fn(3, 3, |i, j| [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 0.8]][i][j]);
    // Orthogonal columns of the lengths 1, 3 and 1/2, which are the units.
    let mix = Matrix::from_fn(3, 3, |i, j| [[2.0, -6.0, 0.5], [1.0, 6.0, 1.0], [2.0, 3.0, -1.0]][i][j] / 3.0);
    let back = Matrix::from_fn(3, 3, |i, j| mix.entry(j, i) / [1.0, 9.0, 0.25][i]);
    let turned = mix.times(&own).times(&back);
    let square = 0.95 * 0.95;
    let (re, im) = (square * 0.6_f64.cos(), square * 0.6_f64.sin());
    let eigenvalues = vec![[1.0, 0.0], [c, s], [c, -s], [square, 0.0], [re, im], [re, -im]];
    let noise = Matrix::from_fn(3, 3, |i, j| 0.3 * mix.entry(i, j));
    linear(shape, &turned, &noise, eigenvalues, draws)
}

/// A chain on 0, 1, 2, ….
fn chain(shape: &Shape, p: &Matrix, draws: &mut Draws) -> Result<Sample> {
    let states = p.rows();
    let mut next = |x: &[f64]| {
        let (mut u, from) = (0.5 + 0.5 * draws.symmetric(), x[0] as usize);
        let to = (0..states - 1).find(|to| {
            u -= p.entry(from, *to);
            u < 0.0
        });
        vec![to.unwrap_or(states - 1) as f64]
    };
    let pairs = path(shape.n, vec![0.0], 100, &mut next);
    let queries = sparse(&path(10 * QUERIES, vec![0.0], 100, &mut next));
    let means = shape.steps.map(|k| (0..k).fold(Matrix::from_fn(states, 1, |i, _| i as f64), |f, _| p.times(&f)));
    let futures = means.each_ref().map(|f| queries.iter().map(|x| vec![f.entry(x[0] as usize, 0)]).collect());
    let eigenvalues = GeneralEigen::values(p)?.iter().map(|value| [value.re, value.im]).collect();
    Ok(Sample { pairs, steps: shape.steps, eigenvalues, queries, futures })
}

/// A potential along each coordinate.
struct Well {
    potential: fn(f64) -> f64,
    slope: fn(f64) -> f64,
    beta: f64,
    tau: f64,
    step: f64,
    edge: f64,
    dimension: usize,
    modes: usize,
}

/// Rates, the root of the law at rest and eigenvectors.
type Generator = (Vec<f64>, Vec<f64>, Vec<Vec<f64>>);

impl Well {
    fn named(name: &str) -> Self {
        fn prinz(x: f64) -> f64 {
            let hill = |height: f64, width: f64, at: f64| height * (-width * (x - at).powi(2)).exp();
            4.0 * (x.powi(8) + hill(0.8, 80.0, 0.0) + hill(0.2, 80.0, 0.5) + hill(0.5, 40.0, -0.5))
        }
        fn prinz_slope(x: f64) -> f64 {
            let hill =
                |height: f64, width: f64, at: f64| 2.0 * width * (x - at) * height * (-width * (x - at).powi(2)).exp();
            4.0 * (8.0 * x.powi(7) - hill(0.8, 80.0, 0.0) - hill(0.2, 80.0, 0.5) - hill(0.5, 40.0, -0.5))
        }
        let triple = |x: f64| 0.6 * (x * (x * x - 2.25)).powi(2) + 0.1 * x;
        let triple_slope = |x: f64| 1.2 * x * (x * x - 2.25) * (3.0 * x * x - 2.25) + 0.1;
        let (double, double_slope) = (|x: f64| (x * x - 1.0).powi(2), |x: f64| 4.0 * x * (x * x - 1.0));
        let well = |potential: fn(f64) -> f64, slope: fn(f64) -> f64| Self {
            potential,
            slope,
            beta: 3.0,
            tau: 0.2,
            step: 2e-3,
            edge: 2.5,
            dimension: 1,
            modes: 4,
        };
        match name {
            "triple" => well(triple, triple_slope),
            "prinz" => Self { beta: 1.0, tau: 0.05, step: 5e-4, edge: 1.4, ..well(prinz, prinz_slope) },
            _ => Self { beta: 4.0, tau: 0.1, edge: 2.2, dimension: 2, ..well(double, double_slope) },
        }
    }

    fn cell(&self, i: usize) -> f64 {
        -self.edge + 2.0 * self.edge * i as f64 / (CELLS - 1) as f64
    }

    /// Rates, the root of the law at rest and eigenvectors of the symmetric generator on the cells.
    fn generator(&self) -> Result<Generator> {
        let width = self.cell(1) - self.cell(0);
        let energy: Vec<f64> = (0..CELLS).map(|i| self.beta * (self.potential)(self.cell(i))).collect();
        let rate = |from: usize, to: usize| ((energy[from] - energy[to]) / 2.0).exp() / (self.beta * width * width);
        let leaves = |i: usize| {
            let neighbours = [i.checked_sub(1), Some(i + 1).filter(|next| *next < CELLS)];
            neighbours.into_iter().flatten().map(|to| rate(i, to)).sum::<f64>()
        };
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => -leaves(i),
            1 => (rate(i, j) * rate(j, i)).sqrt(),
            _ => 0.0,
        };
        let SymmetricEigen { values, vectors } = SymmetricEigen::new(CELLS, entry)?;
        let least = energy.iter().copied().fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> = energy.iter().map(|energy| (least - energy).exp()).collect();
        let sum: f64 = weights.iter().sum();
        Ok((values, weights.iter().map(|weight| (weight / sum).sqrt()).collect(), vectors))
    }
}

fn wells(shape: &Shape, well: &Well, draws: &mut Draws) -> Result<Sample> {
    let (rates, roots, vectors) = well.generator()?;
    let cumulate = |sum: &mut f64, root: &f64| {
        *sum += root * root;
        Some(*sum)
    };
    let cumulated: Vec<f64> = roots.iter().scan(0.0, cumulate).collect();
    let at_rest = |draws: &mut Draws| {
        let u = 0.5 + 0.5 * draws.symmetric();
        well.cell(cumulated.partition_point(|c| *c < u).min(CELLS - 1)) + 0.002 * draws.symmetric()
    };
    let state = |draws: &mut Draws| (0..well.dimension).map(|_| at_rest(draws)).collect::<Vec<f64>>();
    let substeps = (well.tau / well.step).round() as usize;
    let noise = (2.0 * well.step / well.beta).sqrt();
    let (paths, length) = shape.paths();
    let mut pairs = Pairs::new(well.dimension, well.dimension);
    for _ in 0..paths {
        let mut x = state(draws);
        for _ in 0..length {
            let before = x.clone();
            for _ in 0..substeps {
                x.iter_mut().for_each(|x| *x += -(well.slope)(*x) * well.step + noise * draws.normal());
            }
            pairs.push(&before, &x);
        }
    }
    let queries: Vec<Vec<f64>> = (0..QUERIES).map(|_| state(draws)).collect();
    // The part of each mode in the state itself.
    let shares: Vec<f64> = vectors[..PAIRS_OF_GENERATOR]
        .iter()
        .map(|u| (0..CELLS).map(|i| u[i] * roots[i] * well.cell(i)).sum())
        .collect();
    let mean = |x: f64, k: usize| {
        let place = ((x + well.edge) / (well.cell(1) - well.cell(0))).clamp(0.0, CELLS as f64 - 1.001);
        let (i, part) = (place as usize, place.fract());
        let at = |i: usize| {
            let modes = vectors.iter().zip(&rates).zip(&shares);
            modes.map(|((u, rate), share)| share * (rate * well.tau * k as f64).exp() * u[i] / roots[i]).sum::<f64>()
        };
        (1.0 - part) * at(i) + part * at(i + 1)
    };
    let futures = shape.steps.map(|k| queries.iter().map(|x| x.iter().map(|x| mean(*x, k)).collect()).collect());
    let one = |k: usize| (rates[k] * well.tau).exp();
    let eigenvalues = match well.dimension {
        1 => (0..well.modes).map(|k| [one(k), 0.0]).collect(),
        _ => [1.0, one(1), one(1), one(1) * one(1)].map(|value| [value, 0.0]).to_vec(),
    };
    Ok(Sample { pairs, steps: shape.steps, eigenvalues, queries, futures })
}

/// Two damped cosines, eight successive values a state.
fn wave(shape: &Shape) -> Sample {
    let damping: f64 = if shape.n <= 2000 { 0.9995 } else { 0.999_97 };
    let value = |t: usize| {
        let time = t as f64;
        damping.powf(time) * ((0.31 * time).cos() + 0.6 * (0.83 * time + 1.0).cos())
    };
    let state = |t: usize| (t..t + DELAYS).map(value).collect::<Vec<f64>>();
    let mut pairs = Pairs::new(DELAYS, DELAYS);
    (0..shape.n).for_each(|t| pairs.push(&state(t), &state(t + 1)));
    let turn = |angle: f64| [damping * angle.cos(), damping * angle.sin()];
    let eigenvalues = vec![turn(0.31), turn(-0.31), turn(0.83), turn(-0.83)];
    let futures = shape.steps.map(|k| (0..QUERIES).map(|t| state(t + k)).collect());
    Sample { pairs, steps: shape.steps, eigenvalues, queries: (0..QUERIES).map(state).collect(), futures }
}

/// `ẋ = f(x)`, the third number of a plane system left at 0.
struct Flow {
    field: fn(&[f64; 3]) -> [f64; 3],
    interval: f64,
    dimension: usize,
    paths: usize,
    /// Half ranges of a start, and how long it is let go.
    start: [f64; 3],
    wait: f64,
}

impl Flow {
    fn named(name: &str, n: usize) -> Self {
        let flow = |field: fn(&[f64; 3]) -> [f64; 3], interval, paths, start| Self {
            field,
            interval,
            dimension: 2,
            paths,
            start,
            wait: 0.0,
        };
        match name {
            "pendulum" => {
                flow(|x| [x[1], -x[0].sin() - 0.2 * x[1], 0.0], 0.1, if n <= 2000 { 20 } else { 200 }, [2.0, 1.0, 0.0])
            }
            "duffing" => flow(
                |x| [x[1], x[0] - x[0].powi(3) - 0.5 * x[1], 0.0],
                0.25,
                n / if n <= 4000 { 10 } else { 20 },
                [2.0, 2.0, 0.0],
            ),
            "vdp" => {
                Self { wait: 30.0, ..flow(|x| [x[1], (1.0 - x[0] * x[0]) * x[1] - x[0], 0.0], 0.1, 1, [2.0, 2.0, 0.0]) }
            }
            _ => {
                let field =
                    |x: &[f64; 3]| [10.0 * (x[1] - x[0]), x[0] * (28.0 - x[2]) - x[1], x[0] * x[1] - 8.0 / 3.0 * x[2]];
                Self { dimension: 3, wait: 20.0, ..flow(field, 0.02, 1, [8.0, 8.0, 8.0]) }
            }
        }
    }

    fn advance(&self, x: &mut [f64; 3], intervals: usize) {
        (0..10 * intervals).for_each(|_| rk4(self.field, x, self.interval / 10.0));
    }

    fn begin(&self, draws: &mut Draws) -> [f64; 3] {
        let mut x = self.start.map(|half| half * draws.symmetric());
        self.advance(&mut x, (self.wait / self.interval).round() as usize);
        x
    }
}

fn flow(name: &str, shape: &Shape, draws: &mut Draws) -> Result<Sample> {
    let flow = Flow::named(name, shape.n);
    let d = flow.dimension;
    let mut pairs = Pairs::new(d, d);
    for path in 0..flow.paths {
        let mut x = flow.begin(draws);
        for _ in path * shape.n / flow.paths..(path + 1) * shape.n / flow.paths {
            let before = x;
            flow.advance(&mut x, 1);
            pairs.push(&before[..d], &x[..d]);
        }
    }
    let mut queries = Vec::with_capacity(QUERIES);
    let mut x = flow.begin(draws);
    for query in 0..QUERIES {
        if flow.paths > 1 {
            x = flow.begin(draws);
            flow.advance(&mut x, if name == "pendulum" { query % 50 } else { 0 });
        } else {
            flow.advance(&mut x, if name == "vdp" { 1 } else { 25 });
        }
        queries.push(x);
    }
    let after = |k: usize| {
        let end = |x: &[f64; 3]| {
            let mut x = *x;
            flow.advance(&mut x, k);
            x[..d].to_vec()
        };
        queries.iter().map(end).collect::<Vec<_>>()
    };
    let futures = shape.steps.map(after);
    let exponential = |rate: f64, angle: f64| [rate.exp() * angle.cos(), rate.exp() * angle.sin()];
    let eigenvalues = match name {
        // e^{(−0.1 ± i√0.99) 0.1}, and the square of the modulus.
        "pendulum" => {
            let angle = 0.1 * 0.99_f64.sqrt();
            vec![[1.0, 0.0], exponential(-0.01, angle), exponential(-0.01, -angle), exponential(-0.02, 0.0)]
        }
        "duffing" => vec![[1.0, 0.0]; 2],
        "lorenz" => vec![[1.0, 0.0]],
        // The period of the limit cycle for this damping.
        _ => [0.0, 1.0, -1.0, 2.0, -2.0].map(|k| exponential(0.0, k * TAU * flow.interval / 6.663_286_859_3)).to_vec(),
    };
    Ok(Sample {
        pairs,
        steps: shape.steps,
        eigenvalues,
        queries: queries.iter().map(|x| x[..d].to_vec()).collect(),
        futures,
    })
}

/// The pairs of one path behind its first steps.
fn path(n: usize, mut x: Vec<f64>, skip: usize, next: &mut impl FnMut(&[f64]) -> Vec<f64>) -> Pairs {
    let mut pairs = Pairs::new(x.len(), x.len());
    for t in 0..skip + n {
        let after = next(&x);
        if t >= skip {
            pairs.push(&x, &after);
        }
        x = after;
    }
    pairs
}

/// Every tenth state.
fn sparse(pairs: &Pairs) -> Vec<Vec<f64>> {
    pairs.iter().step_by(10).map(|(x, _)| x.to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The eigenvalues compared are those of a generator of 800 cells.
    #[test]
    fn wells_have_the_eigenvalues_of_a_finer_generator() {
        let printed = [("triple", vec![1.0, 0.9819, 0.9621, 0.3941]), ("prinz", vec![1.0, 0.9418, 0.674, 0.4639])];
        for (name, values) in printed {
            let place = SYSTEMS.iter().position(|system| system.0 == name).unwrap();
            let sample = sample(place, 10, 1).unwrap();
            for (found, value) in sample.eigenvalues.iter().zip(values) {
                assert!((found[0] - value).abs() < 1e-3, "{name}: {found:?} {value}");
            }
        }
    }

    /// The mean of the pairs from near a query, where the next state has a law; the next state
    /// itself elsewhere.
    #[test]
    fn futures_are_the_means_of_what_follows() {
        for (place, (name, _)) in SYSTEMS.iter().enumerate() {
            let sample = sample(place, 2000, 5).unwrap();
            let mean = |of: &dyn Fn(&[f64], &[f64]) -> f64| {
                sample.pairs.iter().map(|(x, next)| of(x, next)).sum::<f64>() / sample.pairs.len() as f64
            };
            let d = sample.queries[0].len();
            assert_eq!((sample.pairs.len(), sample.queries.len()), (2000, QUERIES), "{name}");
            let spread: f64 = (0..d).map(|j| mean(&|x, _| x[j] * x[j]) - mean(&|x, _| x[j]).powi(2)).sum();
            let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
            // The states of the wave are pairs themselves, and no others come near.
            let (limit, least) = if *name == "wave" { (1e-12, 1) } else { (0.05, 9) };
            let (mut error, mut count) = (0.0, 0.0);
            for (query, future) in sample.queries.iter().zip(&sample.futures[0]).step_by(10) {
                let near = |limit: f64| sample.pairs.iter().filter(move |(x, _)| distance(x, query) <= limit * spread);
                let found: Vec<f64> = (0..d)
                    .map(|j| near(limit).map(|(_, next)| next[j]).sum::<f64>() / near(limit).count() as f64)
                    .collect();
                if near(limit).count() >= least {
                    (error, count) = (error + distance(&found, future), count + 1.0);
                }
            }
            assert!(count > 3.0 && error / count < 0.08 * spread, "{name}: {} of {spread}, {count}", error / count);
        }
    }
}
