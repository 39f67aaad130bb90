//! Systems whose spectrum is known.

use std::error::Error;
use std::f64::consts::TAU;
use std::sync::OnceLock;

use mercer_linalg_incremental::{GeneralEigen, Matrix, SymmetricEigen};
use mercer_streams::{Draws, rk4};

use super::{gyre, muller_brown};

/// Paths of one system or control, and what is true of it.
pub(crate) struct Sample {
    /// Rows of each path, each of `columns` numbers.
    pub(crate) paths: Vec<Vec<Vec<f64>>>,
    /// Rows of a state.
    pub(crate) delay: usize,
    /// True eigenvalues beside the constant's 1, the leading ones first.
    pub(crate) truth: Vec<[f64; 2]>,
    /// How many of them are the leading ones, which spreads are counted on.
    pub(crate) leading: usize,
}

pub(crate) const SYSTEMS: [&str; 16] = [
    "ou",
    "ou5",
    "ougaps",
    "dwell",
    "mc12",
    "triple",
    "muller",
    "lin3",
    "linpair",
    "osc10",
    "swar",
    "hopf",
    "stuart-landau",
    "gyre",
    "tent",
    "logistic",
];
/// Eigenvalues of a smaller modulus are none that is looked for.
const SMALLEST: f64 = 0.02;
/// Cells of a generator in a well and along a radius.
const CELLS: usize = 400;

fn one_path(rows: Vec<Vec<f64>>, truth: Vec<[f64; 2]>, leading: usize) -> Sample {
    Sample { paths: vec![rows], delay: 1, truth, leading }
}

/// The rows of `n` steps behind 200 others.
fn run(n: usize, mut x: Vec<f64>, mut next: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let mut rows = Vec::with_capacity(n + 1);
    for t in 0..=n + 200 {
        if t >= 200 {
            rows.push(x.clone());
        }
        x = next(&x);
    }
    rows
}

pub(super) fn turn(modulus: f64, angle: f64) -> [f64; 2] {
    [modulus * angle.cos(), modulus * angle.sin()]
}

/// Products of up to `degree` of these values, the largest first.
pub(super) fn products(values: &[[f64; 2]], degree: usize) -> Vec<[f64; 2]> {
    let mut all = vec![[1.0, 0.0]];
    for value in values {
        let mut more = Vec::new();
        for one in &all {
            let mut power = *one;
            for _ in 0..=degree {
                more.push(power);
                power = [power[0] * value[0] - power[1] * value[1], power[0] * value[1] + power[1] * value[0]];
            }
        }
        all = more.into_iter().filter(|value| value[0].hypot(value[1]) >= SMALLEST).collect();
    }
    leading_first(all)
}

/// Without the first, which is 1.
fn leading_first(mut values: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    values.retain(|value| value[0].hypot(value[1]) >= SMALLEST);
    values.sort_by(|a, b| b[0].hypot(b[1]).total_cmp(&a[0].hypot(a[1])).then(b[1].total_cmp(&a[1])));
    if !values.is_empty() {
        values.remove(0);
    }
    values
}

/// The leading values of a spectrum that is worked out once.
fn known(
    truth: &OnceLock<Vec<[f64; 2]>>,
    spectrum: impl Fn() -> Result<Vec<[f64; 2]>, Box<dyn Error>>,
) -> Result<Vec<[f64; 2]>, Box<dyn Error>> {
    if let Some(truth) = truth.get() {
        return Ok(truth.clone());
    }
    let found = leading_first(spectrum()?);
    Ok(truth.get_or_init(|| found).clone())
}

/// `n` pairs of the system.
pub(crate) fn system(name: &str, n: usize, draws: &mut Draws) -> Result<Sample, Box<dyn Error>> {
    Ok(match name {
        "ou" => autoregressive(&[0.85], 24, n, 3, draws),
        "ou5" => autoregressive(&[0.95, 0.9, 0.8, 0.6, 0.3], 4, n, 3, draws),
        "ougaps" => with_gaps(n, draws),
        "mc12" => chain(n, draws)?,
        "triple" => triple(n, draws)?,
        "muller" => muller(n, draws)?,
        "lin3" | "linpair" => linear(name, n, draws),
        "osc10" => oscillators(n, draws),
        "swar" => switching(n, draws)?,
        "hopf" => hopf(n, draws)?,
        "stuart-landau" => stuart_landau(n, draws),
        "gyre" => {
            static TRUTH: OnceLock<Vec<[f64; 2]>> = OnceLock::new();
            let rows = run(n, vec![0.4, 0.3], |x| gyre::next(x, draws));
            one_path(rows, known(&TRUTH, gyre::spectrum)?, 2)
        }
        "tent" => {
            // The last digits are drawn, or doubling would run out of them.
            let mut tent =
                |x: &[f64]| vec![(1.0 - (2.0 * x[0] - 1.0).abs() + 1e-12 * draws.symmetric()).clamp(0.0, 1.0)];
            one_path(run(n, vec![0.3], &mut tent), Vec::new(), 0)
        }
        "logistic" => one_path(run(n, vec![0.3], |x| vec![4.0 * x[0] * (1.0 - x[0])]), Vec::new(), 0),
        _ => dwell(n, draws),
    })
}

fn autoregressive(rates: &[f64], degree: usize, n: usize, leading: usize, draws: &mut Draws) -> Sample {
    let next = |x: &[f64]| -> Vec<f64> {
        x.iter().zip(rates).map(|(x, rate)| rate * x + (1.0 - rate * rate).sqrt() * draws.normal()).collect()
    };
    let rows = run(n, vec![0.0; rates.len()], next);
    one_path(rows, products(&rates.iter().map(|rate| [*rate, 0.0]).collect::<Vec<_>>(), degree), leading)
}

/// A chain of twelve states, three groups of four.
fn chain(n: usize, draws: &mut Draws) -> Result<Sample, Box<dyn Error>> {
    let mut of_chain = Draws::new(12);
    let mut p = Matrix::from_fn(12, 12, |i, j| {
        let within = if i / 4 == j / 4 { 1.0 } else { 0.03 };
        within * (1.0 + of_chain.symmetric()) + if i == j { 2.0 } else { 0.0 }
    });
    let sums: Vec<f64> = (0..12).map(|i| (0..12).map(|j| p.entry(i, j)).sum()).collect();
    p = Matrix::from_fn(12, 12, |i, j| p.entry(i, j) / sums[i]);
    let next = |x: &[f64]| {
        let (mut u, from) = (0.5 + 0.5 * draws.symmetric(), x[0] as usize);
        let to = (0..11).find(|to| {
            u -= p.entry(from, *to);
            u < 0.0
        });
        vec![to.unwrap_or(11) as f64]
    };
    let rows = run(n, vec![0.0], next);
    Ok(one_path(rows, leading_first(GeneralEigen::values(&p)?.iter().map(|v| [v.re, v.im]).collect()), 2))
}

/// Langevin dynamics in three wells, ten paths or fifty.
fn triple(n: usize, draws: &mut Draws) -> Result<Sample, Box<dyn Error>> {
    let potential = |x: f64| 0.6 * (x * (x * x - 2.25)).powi(2) + 0.1 * x;
    let slope = |x: f64| 1.2 * x * (x * x - 2.25) * (3.0 * x * x - 2.25) + 0.1;
    let (beta, tau, step) = (3.0, 0.2, 2e-3);
    static TRUTH: OnceLock<Vec<[f64; 2]>> = OnceLock::new();
    let spectrum = || {
        let rates = radial(CELLS, [-2.5, 2.5], 1.0 / beta, |x| beta * potential(x), |_| 0.0)?;
        Ok(rates.iter().map(|rate| [(rate * tau).exp(), 0.0]).collect())
    };
    let count = if n <= 2000 { 10 } else { 50 };
    let mut paths = Vec::new();
    for path in 0..count {
        let mut x = [-1.5, 0.0, 1.5][path % 3];
        let mut rows = Vec::new();
        for t in 0..=n / count + 50 {
            if t >= 50 {
                rows.push(vec![x]);
            }
            for _ in 0..100 {
                x += -slope(x) * step + (2.0 * step / beta).sqrt() * draws.normal();
            }
        }
        paths.push(rows);
    }
    Ok(Sample { paths, delay: 1, truth: known(&TRUTH, spectrum)?, leading: 3 })
}

/// The rates of `d²/dx² D − D energy'(x) d/dx − loss(x)` between two walls, by finite volumes: the
/// largest first.
fn radial(
    cells: usize,
    [low, high]: [f64; 2],
    diffusion: f64,
    energy: impl Fn(f64) -> f64,
    loss: impl Fn(f64) -> f64,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let width = (high - low) / cells as f64;
    let at = |i: usize| low + (i as f64 + 0.5) * width;
    let rate = |from: usize, to: usize| diffusion * ((energy(at(from)) - energy(at(to))) / 2.0).exp() / (width * width);
    let leaves = |i: usize| {
        let neighbours = [i.checked_sub(1), Some(i + 1).filter(|next| *next < cells)];
        neighbours.into_iter().flatten().map(|to| rate(i, to)).sum::<f64>()
    };
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => -leaves(i) - loss(at(i)),
        1 => (rate(i, j) * rate(j, i)).sqrt(),
        _ => 0.0,
    };
    Ok(SymmetricEigen::new(cells, entry)?.values)
}

/// A turning pair and a real mode; or a turning pair of which one number is seen, with noise of a
/// tenth of its deviation.
fn linear(name: &str, n: usize, draws: &mut Draws) -> Sample {
    let modes: [(f64, f64); 2] = if name == "lin3" { [(0.95, 0.3), (0.8, 0.0)] } else { [(0.98, 0.2), (0.0, 0.0)] };
    let step = |x: &[f64]| -> Vec<f64> {
        let mut next = Vec::new();
        for (k, (modulus, angle)) in modes.iter().enumerate() {
            let ([c, s], [a, b]) = (turn(*modulus, *angle), [x[2 * k], x[2 * k + 1]]);
            next.extend([c * a - s * b + 0.3 * draws.normal(), s * a + c * b + 0.3 * draws.normal()]);
        }
        next
    };
    let rows = run(n + 3, vec![0.0; 4], step);
    let pairs = modes.map(|(modulus, angle)| turn(modulus, angle));
    if name == "lin3" {
        let rows = rows.iter().take(n + 1).map(|x| vec![x[0] + x[2], 3.0 * x[1], 0.5 * x[2] - x[0]]).collect();
        let conjugate = [pairs[0][0], -pairs[0][1]];
        return one_path(rows, products(&[pairs[0], conjugate, [0.8, 0.0]], 4), 3);
    }
    let seen: Vec<f64> = rows.iter().map(|x| x[0]).collect();
    let deviation = (seen.iter().map(|y| y * y).sum::<f64>() / seen.len() as f64).sqrt();
    let rows = seen.iter().map(|y| vec![y + 0.1 * deviation * draws.normal()]).collect();
    let [re, im] = pairs[0];
    Sample { paths: vec![rows], delay: 4, truth: products(&[[re, im], [re, -im]], 4), leading: 4 }
}

/// `ṙ = r(1 − r²)`, turning by 1, with noise, seen every 0.3.
fn hopf(n: usize, draws: &mut Draws) -> Result<Sample, Box<dyn Error>> {
    let (noise, tau, substeps) = (0.2_f64, 0.3, 60);
    let (step, diffusion) = (tau / f64::from(substeps), noise * noise / 2.0);
    static TRUTH: OnceLock<Vec<[f64; 2]>> = OnceLock::new();
    let spectrum = || {
        let mut truth = Vec::new();
        for k in 0..12_i32 {
            // Along the radius, with r as the measure of an annulus.
            let energy = |r: f64| (0.25 * r.powi(4) - 0.5 * r * r) / diffusion - r.ln();
            let rates = radial(CELLS, [0.0, 2.2], diffusion, energy, |r| diffusion * f64::from(k * k) / (r * r))?;
            for rate in rates.iter().take(6) {
                let (modulus, angle) = ((rate * tau).exp(), f64::from(k) * tau);
                let pair = [turn(modulus, angle), turn(modulus, -angle)];
                truth.extend(if k == 0 { vec![[modulus, 0.0]] } else { pair.to_vec() });
            }
        }
        Ok(truth)
    };
    let next = |x: &[f64]| {
        let mut x = [x[0], x[1]];
        for _ in 0..substeps {
            let out = 1.0 - x[0] * x[0] - x[1] * x[1];
            let drift = [x[0] * out - x[1], x[1] * out + x[0]];
            for (x, drift) in x.iter_mut().zip(drift) {
                *x += step * drift + noise * step.sqrt() * draws.normal();
            }
        }
        x.to_vec()
    };
    Ok(one_path(run(n, vec![1.0, 0.0], next), known(&TRUTH, spectrum)?, 4))
}

/// The same without noise, from many starts.
fn stuart_landau(n: usize, draws: &mut Draws) -> Sample {
    let (tau, length) = (0.1, 50);
    let field = |x: &[f64; 2]| {
        let out = 1.0 - x[0] * x[0] - x[1] * x[1];
        [x[0] * out - x[1], x[1] * out + x[0]]
    };
    let mut paths = Vec::new();
    for _ in 0..n.div_ceil(length) {
        let (radius, angle) = (0.75 + 0.55 * draws.symmetric(), TAU * draws.symmetric());
        let mut x = [radius * angle.cos(), radius * angle.sin()];
        let mut rows = vec![x.to_vec()];
        for _ in 0..length {
            (0..5).for_each(|_| rk4(field, &mut x, tau / 5.0));
            rows.push(x.to_vec());
        }
        paths.push(rows);
    }
    let mut truth = Vec::new();
    // All that turn by less than half a turn a step.
    for k in 0..=31_i32 {
        for m in 0..6_i32 {
            let (modulus, angle) = ((-2.0 * tau * f64::from(m)).exp(), f64::from(k) * tau);
            truth.extend(if k == 0 { vec![[modulus, 0.0]] } else { vec![turn(modulus, angle), turn(modulus, -angle)] });
        }
    }
    // Of one modulus those that turn slowly come first, and of all the constant.
    truth.sort_by(|a, b| {
        let key = |v: &[f64; 2]| [(-v[0].hypot(v[1]) * 1e6).round(), (v[1].atan2(v[0]).abs() * 1e6).round()];
        key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
    });
    truth.remove(0);
    Sample { paths, delay: 1, truth, leading: 4 }
}

/// An autoregression on twenty paths of unequal length.
fn dwell(n: usize, draws: &mut Draws) -> Sample {
    let mut sample = Sample { paths: Vec::new(), delay: 1, truth: products(&[[0.9, 0.0]], 36), leading: 2 };
    for path in 1..=20 {
        let length = (n * path / 210).max(3);
        let next = |x: &[f64]| vec![0.9 * x[0] + 0.19_f64.sqrt() * draws.normal()];
        sample.paths.push(run(length, vec![0.0], next));
    }
    sample
}

/// An autoregression in five groups, of which one cell in twenty-five is empty: paths end there.
fn with_gaps(n: usize, draws: &mut Draws) -> Sample {
    let mut sample = Sample { paths: Vec::new(), delay: 1, truth: products(&[[0.85, 0.0]], 24), leading: 3 };
    for _ in 0..5 {
        let next = |x: &[f64]| vec![0.85 * x[0] + (1.0_f64 - 0.85 * 0.85).sqrt() * draws.normal()];
        let rows = run(n / 5, vec![0.0], next);
        let mut path = Vec::new();
        for row in rows {
            match draws.symmetric() < -0.92 {
                true => sample.paths.push(std::mem::take(&mut path)),
                false => path.push(row),
            }
        }
        sample.paths.push(path);
    }
    sample.paths.retain(|path| !path.is_empty());
    sample
}

/// Overdamped motion in the potential of Müller and Brown at the temperature 20, seen every 0.01.
fn muller(n: usize, draws: &mut Draws) -> Result<Sample, Box<dyn Error>> {
    let (tau, substeps) = (0.01, 200);
    let step = tau / f64::from(substeps);
    let noise = (2.0 * muller_brown::TEMPERATURE * step).sqrt();
    let next = |x: &[f64]| {
        let mut x = [x[0], x[1]];
        for _ in 0..substeps {
            let slope = muller_brown::slope(x);
            x = [0, 1].map(|k| x[k] - slope[k] * step + noise * draws.normal());
        }
        x.to_vec()
    };
    let rows = run(n, vec![-0.56, 1.44], next);
    static TRUTH: OnceLock<Vec<[f64; 2]>> = OnceLock::new();
    let spectrum = || {
        let rates = muller_brown::rates(muller_brown::CELL)?;
        Ok(rates.iter().map(|rate| [(rate * tau).exp(), 0.0]).collect())
    };
    Ok(one_path(rows, known(&TRUTH, spectrum)?, 2))
}

/// Five damped oscillators without noise, seen as ten mixtures from many starts.
fn oscillators(n: usize, draws: &mut Draws) -> Sample {
    const OSCILLATORS: [(f64, f64); 5] = [(0.995, 0.2), (0.99, 0.35), (0.985, 0.55), (0.98, 0.8), (0.97, 1.1)];
    let mut of_mixture = Draws::new(10);
    let mixture = Matrix::from_fn(10, 10, |i, j| of_mixture.normal() / 3.0 + f64::from(u8::from(i == j)));
    let (pairs, length) = (OSCILLATORS.map(|(modulus, angle)| turn(modulus, angle)), 50);
    let mut paths = Vec::new();
    for _ in 0..n.div_ceil(length) {
        let mut z: Vec<f64> = (0..10).map(|_| draws.normal()).collect();
        let mut rows = Vec::new();
        for _ in 0..=length {
            rows.push((0..10).map(|i| (0..10).map(|j| mixture.entry(i, j) * z[j]).sum()).collect());
            for (k, [re, im]) in pairs.iter().enumerate() {
                let (a, b) = (z[2 * k], z[2 * k + 1]);
                (z[2 * k], z[2 * k + 1]) = (re * a - im * b, im * a + re * b);
            }
        }
        paths.push(rows);
    }
    // The ten of the linear functions come first, then their products.
    let linear: Vec<[f64; 2]> = pairs.iter().flat_map(|[re, im]| [[*re, *im], [*re, -im]]).collect();
    let product = |(i, j): (usize, usize)| {
        let ([a, b], [c, d]) = (linear[i], linear[j]);
        [a * c - b * d, a * d + b * c]
    };
    let products = (0..10).flat_map(|i| (i..10).map(move |j| (i, j))).map(product);
    Sample { paths, delay: 1, truth: linear.iter().copied().chain(products).collect(), leading: 10 }
}

/// An autoregression whose rate is switched by a hidden chain of two states, seen in two rows. With
/// `P` the chain and `a` the rates, functions `yᵏg(s)` go to `yᵏ(aᵏPg)(s)` and lower powers, so
/// that the spectrum is that of all `diag(aᵏ)P`.
fn switching(n: usize, draws: &mut Draws) -> Result<Sample, Box<dyn Error>> {
    let (p, rates) = ([[0.97, 0.03], [0.05, 0.95]], [0.9_f64, -0.6]);
    let mut truth = Vec::new();
    for power in 0..9 {
        let one = Matrix::from_fn(2, 2, |i, j| rates[i].powi(power) * p[i][j]);
        truth.extend(GeneralEigen::values(&one)?.iter().map(|value| [value.re, value.im]));
    }
    let mut state = 0;
    let next = |y: &[f64]| {
        let y = rates[state] * y[0] + draws.normal();
        if 0.5 + 0.5 * draws.symmetric() >= p[state][state] {
            state = 1 - state;
        }
        vec![y]
    };
    let rows = run(n + 1, vec![0.0], next);
    Ok(Sample { paths: vec![rows], delay: 2, truth: leading_first(truth), leading: 3 })
}
