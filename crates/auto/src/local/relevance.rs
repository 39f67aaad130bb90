//! The relevance of features, from the likelihood of rows given the nearest of the rows before them
//! (Vecchia 1988).
//!
//! The process has the kernel `k(r) + b` of `r² = Σ_j w_j (x_j − z_j)²`, where `k` is Matérn 3/2
//! and `b` the prior variance of a constant mean; it has variance `s²` and noise `s²ν`. For a row
//! `(x, y)` with the nearest examples `(X, Y)` let
//!
//! ```text
//! A = K(X) + b + ν diag(spreads),   β = A⁻¹(k(x) + b),   α = A⁻¹Y,
//! e = y − βᵀY,   v = 1 + b + ν − βᵀ(k(x) + b),   given (X, Y): y ~ N(βᵀY, s² v).
//! ```
//!
//! Rows count by their weights `c`; outputs share the kernel and `s²`. Sums are over rows and
//! outputs. With the best `s² = Σ c e²/v / Σ c` the log likelihood is
//! `−½(Σ c) ln(Σ c e²/v) − ½ Σ c ln v`, up to a constant. Its gradient by the logarithms of `w_j`
//! and `ν` follows from `de = −dkᵀα + βᵀdA α` and `dv = dν − 2 dkᵀβ + βᵀdA β`. The ascent is by
//! resilient steps, which look at the signs of the gradient only (Riedmiller and Braun 1993). Rows
//! say little of many features: `log w_j` has a normal prior of variance 4 around its mean over the
//! features, and `log ν` one of variance 10 around `log 0.1`.
//!
//! `k³/6 + (3 + m)k² + 3k²d` multiply-adds a row and step, with `k = 12` neighbours and `m`
//! outputs.

use mercer_kernels::AlignedVec;
use mercer_simd::{LANES, Lane, Op, Simd, dispatch, exp_lane};

use super::systems::{FAR, MEAN_VARIANCE, dot, eliminate};

/// Nearest examples of a row.
pub(crate) const NEIGHBOURS: usize = 12;
/// Steps of an ascent.
const STEPS: usize = 16;
/// Size of the first step in a logarithm, and of the largest.
const FIRST_STEP: f64 = 0.2;
const LARGEST_STEP: f64 = 0.7;
/// Inverse variances of the priors.
const TIES: [f64; 2] = [0.25, 0.1];
/// Noise at the start, as a share of the variance.
pub(crate) const NOISE: f64 = 0.1;
/// Bounds of the logarithms.
const RANGE: std::ops::RangeInclusive<f64> = -14.0..=14.0;

/// `w_j` for each feature, and `ν`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relevance {
    pub(crate) weights: Vec<f64>,
    pub(crate) noise: f64,
}

/// An example: its point, its targets, its inverse weight.
pub(crate) type WeightedExample<'a> = (&'a [f64], &'a [f64], f64);

/// Rows, each with [`NEIGHBOURS`] examples from before it.
///
/// Eight rows are a group: of each number of a row eight lie together.
#[derive(Clone, Debug)]
pub(crate) struct Examples {
    width: usize,
    outputs: usize,
    rows: usize,
    /// `(k + 1)d` for each group, the row after its neighbours; then targets in the same order, and
    /// `k` inverse weights.
    points: AlignedVec,
    targets: AlignedVec,
    spreads: AlignedVec,
    /// Weights of the rows; 0 for what fills the last group.
    weights: AlignedVec,
}

impl Examples {
    /// No rows of `width` numbers and `outputs` targets.
    pub(crate) fn new((width, outputs): (usize, usize)) -> Self {
        let [points, targets, spreads, weights] = [(); 4].map(|()| AlignedVec::default());
        Self { width, outputs, rows: 0, points, targets, spreads, weights }
    }

    /// A row after its [`NEIGHBOURS`] examples.
    pub(crate) fn push<'a>(&mut self, neighbours: impl Iterator<Item = WeightedExample<'a>>, row: WeightedExample<'_>) {
        let (k, d, m) = (NEIGHBOURS, self.width, self.outputs);
        let (group, lane) = (self.rows / LANES, self.rows % LANES);
        if lane == 0 {
            self.points.resize(self.points.len() + (k + 1) * d * LANES);
            self.targets.resize(self.targets.len() + (k + 1) * m * LANES);
            self.spreads.resize(self.spreads.len() + k * LANES);
            self.weights.resize(self.weights.len() + LANES);
            // Rows that are not there have equal neighbours, of which the noise makes a positive
            // definite matrix.
            self.spreads.lanes_mut()[group * k..].fill(Lane([1.0; LANES]));
        }
        let mut put = |place: usize, (x, y, spread): WeightedExample<'_>| {
            let points = self.points.lanes_mut()[(group * (k + 1) + place) * d..].iter_mut();
            points.zip(x).for_each(|(point, x)| point.0[lane] = *x);
            let targets = self.targets.lanes_mut()[(group * (k + 1) + place) * m..].iter_mut();
            targets.zip(y).for_each(|(target, y)| target.0[lane] = *y);
            if place < k {
                self.spreads.lanes_mut()[group * k + place].0[lane] = spread;
            } else {
                self.weights.lanes_mut()[group].0[lane] = 1.0 / spread;
            }
        };
        neighbours.take(k).enumerate().for_each(|(place, example)| put(place, example));
        put(k, row);
        self.rows += 1;
    }
}

impl Relevance {
    /// The same length for all of `width` numbers.
    pub(crate) fn uniform(width: usize, length: f64) -> Self {
        Self { weights: vec![length.powi(-2); width], noise: NOISE }
    }

    /// Numbers join behind the others, as relevant as those from `first` on are on average.
    pub(crate) fn grow(&mut self, first: usize, added: usize) {
        let known = &self.weights[first..];
        let mean = known.iter().map(|weight| weight.ln()).sum::<f64>() / known.len().max(1) as f64;
        self.weights.resize(self.weights.len() + added, mean.exp());
    }

    /// Multiply-adds for a row, in all steps.
    pub(crate) fn cost(width: usize, outputs: usize) -> f64 {
        let (k, d, m) = (NEIGHBOURS as f64, width as f64, outputs as f64);
        // An exponential costs as much as twenty.
        STEPS as f64 * (k * k * k / 6.0 + (3.0 + m + 3.0 * d) * k * k + 10.0 * k * k)
    }

    /// Relevance that these rows lead to, climbing from here: the likelihood has several peaks.
    /// `self` where they say nothing.
    pub(crate) fn learn(&self, examples: &Examples, within: impl Fn(&mut [f64])) -> Self {
        let mut weights = self.weights.clone();
        let d = self.weights.len();
        let mut logs: Vec<f64> = self.weights.iter().chain([&self.noise]).map(|value| value.ln()).collect();
        let (mut steps, mut before) = (vec![FIRST_STEP; logs.len()], vec![0.0; logs.len()]);
        let (mut best, mut memory) = ((f64::NEG_INFINITY, logs.clone()), RelevanceMemory::default());
        for _ in 0..STEPS {
            let Some((value, gradient)) = gradient(&logs, examples, &mut memory) else { break };
            if value > best.0 {
                best = (value, logs.clone());
            }
            for (((log, step), gradient), before) in logs.iter_mut().zip(&mut steps).zip(&gradient).zip(&before) {
                let same = gradient * before;
                if same > 0.0 {
                    *step = (1.3 * *step).min(LARGEST_STEP);
                } else if same < 0.0 {
                    *step *= 0.5;
                }
                if *gradient != 0.0 {
                    *log = (*log + step.copysign(*gradient)).clamp(*RANGE.start(), *RANGE.end());
                }
            }
            before = gradient;
            weights.iter_mut().zip(&logs).for_each(|(weight, log)| *weight = log.exp());
            within(&mut weights);
            logs.iter_mut().zip(&weights).for_each(|(log, weight)| *log = weight.ln());
        }
        if best.0 == f64::NEG_INFINITY {
            return self.clone();
        }
        Self { weights: best.1[..d].iter().map(|log| log.exp()).collect(), noise: best.1[d].exp() }
    }
}

/// Log likelihood and log prior, up to a constant, with their gradient in the logarithms of `w` and
/// `ν`; none where all errors are 0 or out of range.
fn gradient(logs: &[f64], examples: &Examples, memory: &mut RelevanceMemory) -> Option<(f64, Vec<f64>)> {
    let d = examples.width;
    let rates: Vec<f64> = logs[..d].iter().map(|log| (0.5 * log).exp()).collect();
    let noise = logs[d].exp();
    dispatch(Likelihood { examples, rates: &rates, noise, memory });
    let RelevanceMemory { sums: [of_fit, of_spread], fits, variances, .. } = &*memory;
    let (fit, count) = (fits.iter().sum::<f64>(), examples.outputs as f64 * examples.weights.iter().sum::<f64>());
    let known = fit > 0.0 && fit.is_finite();
    let spread = examples.outputs as f64
        * examples.weights.iter().zip(&**variances).map(|(weight, v)| weight * v.ln()).sum::<f64>();
    let mut value = -0.5 * (count * fit.ln() + spread);
    let sums = of_fit.lanes().iter().zip(of_spread.lanes());
    let total = |lane: &Lane| lane.0.iter().sum::<f64>();
    let mut gradient: Vec<f64> =
        sums.map(|(of_fit, of_spread)| -0.5 * (count * total(of_fit) / fit + total(of_spread))).collect();
    let mean = logs[..d].iter().sum::<f64>() / d as f64;
    for (g, log) in gradient[..d].iter_mut().zip(logs) {
        *g -= TIES[0] * (log - mean);
        value -= 0.5 * TIES[0] * (log - mean).powi(2);
    }
    gradient[d] -= TIES[1] * (logs[d] - NOISE.ln());
    value -= 0.5 * TIES[1] * (logs[d] - NOISE.ln()).powi(2);
    (known && value.is_finite() && gradient.iter().all(|g| g.is_finite())).then_some((value, gradient))
}

/// Results of [`Likelihood`], and its memory.
#[derive(Clone, Debug, Default)]
struct RelevanceMemory {
    /// `Σ c d(e²/v)` and `Σ c m d(ln v)` by `log w` and `log ν`.
    sums: [AlignedVec; 2],
    /// `c e²/v` and `v` of each row.
    fits: AlignedVec,
    variances: AlignedVec,
    /// Points in units of their lengths; kernels and slopes of pairs, row by row with `k` places
    /// each; `βᵉ = Σ_o e_o α_o`; factors of a row of slopes.
    points: AlignedVec,
    matrix: AlignedVec,
    slopes: AlignedVec,
    along: AlignedVec,
    factors: [AlignedVec; 2],
}

impl RelevanceMemory {
    /// Sizes for so many groups of lanes, with sums of 0.
    fn resize(&mut self, groups: usize, width: usize, outputs: usize) {
        let k = NEIGHBOURS;
        for sums in &mut self.sums {
            sums.resize((width + 1) * LANES);
            sums.fill(0.0);
        }
        self.fits.resize(groups * LANES);
        self.variances.resize(groups * LANES);
        self.points.resize((k + 1) * width * LANES);
        self.matrix.resize((k + 1 + outputs) * k * LANES);
        self.slopes.resize((k + 1) * k * LANES);
        self.along.resize(k * LANES);
        self.factors.iter_mut().for_each(|factors| factors.resize(k * LANES));
    }
}

struct Likelihood<'a> {
    examples: &'a Examples,
    rates: &'a [f64],
    noise: f64,
    memory: &'a mut RelevanceMemory,
}

impl Op for Likelihood<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { examples, rates, memory, .. } = self;
        let (d, k, m) = (examples.width, NEIGHBOURS, examples.outputs);
        let groups = examples.weights.lanes().len();
        memory.resize(groups, d, m);
        let RelevanceMemory { sums: [of_fit, of_spread], fits, variances, points, matrix, slopes, along, factors } =
            memory;
        let [of_e, of_v] = factors;
        let (points, matrix, slopes) = (points.lanes_mut(), matrix.lanes_mut(), slopes.lanes_mut());
        let (along, of_e, of_v) = (along.lanes_mut(), of_e.lanes_mut(), of_v.lanes_mut());
        let (of_fit, of_spread) = (of_fit.lanes_mut(), of_spread.lanes_mut());
        let noise = simd.splat(self.noise);
        let own = simd.splat(1.0 + MEAN_VARIANCE);
        let (zero, one, two) = (simd.splat(0.0), simd.splat(1.0), simd.splat(2.0));
        for group in 0..groups {
            let spreads = &examples.spreads.lanes()[group * k..][..k];
            let targets = &examples.targets.lanes()[group * (k + 1) * m..][..(k + 1) * m];
            let given = &examples.points.lanes()[group * (k + 1) * d..][..(k + 1) * d];
            scale_points(simd, given, rates, points);
            kernels(simd, points, matrix, slopes);
            for (p, spread) in spreads.iter().enumerate() {
                simd.store(simd.mul_add(noise, simd.load(spread), own), &mut matrix[p * k + p]);
            }
            for output in 0..m {
                for p in 0..k {
                    matrix[(k + 1 + output) * k + p] = targets[p * m + output];
                }
            }
            eliminate::<S, 1>(simd, matrix, k);
            let (factor, right) = matrix.split_at_mut(k * k);
            let (beta, alphas) = right.split_at_mut(k);
            let least = simd.splat(f64::MIN_POSITIVE);
            let variance = simd.sub(simd.add(own, noise), dot(simd, beta, beta));
            let variance = simd.select_less(variance, least, least, variance);
            let (mut squares, inverse) = (zero, simd.div(one, variance));
            along.iter_mut().for_each(|lane| simd.store(zero, lane));
            for (output, alpha) in alphas.chunks_exact_mut(k).enumerate() {
                let error = simd.sub(simd.load(&targets[k * m + output]), dot(simd, beta, alpha));
                squares = simd.mul_add(error, error, squares);
                substitute_back(simd, factor, alpha);
                for (along, alpha) in along.iter_mut().zip(&*alpha) {
                    simd.store(simd.mul_add(error, simd.load(alpha), simd.load(along)), along);
                }
            }
            substitute_back(simd, factor, beta);
            let weight = simd.load(&examples.weights.lanes()[group]);
            let fit = simd.mul(weight, simd.mul(squares, inverse));
            simd.store(fit, &mut fits.lanes_mut()[group]);
            simd.store(variance, &mut variances.lanes_mut()[group]);
            // d(c e²/v) = by_e (e de) + by_v dv, and d(c m ln v) = by_ln dv.
            let by_e = simd.mul(two, simd.mul(weight, inverse));
            let by_v = simd.sub(zero, simd.mul(fit, inverse));
            let by_ln = simd.mul(simd.mul(weight, simd.splat(m as f64)), inverse);
            let slopes_of_noise = slopes_of_noise(simd, beta, along, spreads);
            add_noise(simd, noise, slopes_of_noise, [by_e, by_v, by_ln], [&mut of_fit[d], &mut of_spread[d]]);
            let pairs = NeighbourPairs { points: &*points, slopes: &*slopes, beta: &*beta, along: &*along };
            let (of, sums) = ([&mut *of_e, &mut *of_v], [&mut *of_fit, &mut *of_spread]);
            pairs.add(simd, [by_e, by_v, by_ln], of, sums);
        }
    }
}

/// Writes points in the units of the features' rates.
#[inline(always)]
fn scale_points<S: Simd>(simd: S, given: &[Lane], rates: &[f64], points: &mut [Lane]) {
    for (points, given) in points.chunks_exact_mut(rates.len()).zip(given.chunks_exact(rates.len())) {
        for ((point, given), rate) in points.iter_mut().zip(given).zip(rates) {
            simd.store(simd.mul(simd.load(given), simd.splat(*rate)), point);
        }
    }
}

/// Adds what the logarithm of the noise does to the fit and to the spread: `ν (by_e de + by_v dv)`
/// and `ν by_ln dv`.
#[inline(always)]
fn add_noise<S: Simd>(
    simd: S,
    noise: S::F64,
    [of_e, of_v]: [S::F64; 2],
    [by_e, by_v, by_ln]: [S::F64; 3],
    [of_fit, of_spread]: [&mut Lane; 2],
) {
    let fit = simd.mul(noise, simd.mul_add(by_e, of_e, simd.mul(by_v, of_v)));
    simd.store(simd.add(fit, simd.load(of_fit)), of_fit);
    let spread = simd.mul(noise, simd.mul(by_ln, of_v));
    simd.store(simd.add(spread, simd.load(of_spread)), of_spread);
}

/// Slopes of `e` and `v` in the noise: `0 + Σ βsα` and `1 + Σ β²s` over the neighbours, with
/// `α` in `along`.
#[inline(always)]
fn slopes_of_noise<S: Simd>(simd: S, beta: &[Lane], along: &[Lane], spreads: &[Lane]) -> [S::F64; 2] {
    let (mut of_e, mut of_v) = (simd.splat(0.0), simd.splat(1.0));
    for ((beta, along), spread) in beta.iter().zip(along).zip(spreads) {
        let (beta, spread) = (simd.load(beta), simd.load(spread));
        of_e = simd.mul_add(simd.mul(beta, spread), simd.load(along), of_e);
        of_v = simd.mul_add(simd.mul(beta, spread), beta, of_v);
    }
    [of_e, of_v]
}

/// Kernels and slopes of the points of a group to those before them.
#[inline(always)]
fn kernels<S: Simd>(simd: S, points: &[Lane], matrix: &mut [Lane], slopes: &mut [Lane]) {
    let (k, constant) = (NEIGHBOURS, simd.splat(MEAN_VARIANCE));
    let d = points.len() / (k + 1);
    for p in 0..=k {
        let (before, x) = points.split_at(p * d);
        for (q, z) in before.chunks_exact(d).enumerate() {
            let mut squared = simd.splat(0.0);
            for (x, z) in x[..d].iter().zip(z) {
                let gap = simd.sub(simd.load(x), simd.load(z));
                squared = simd.mul_add(gap, gap, squared);
            }
            let (kernel, slope) = matern(simd, squared);
            simd.store(simd.add(kernel, constant), &mut matrix[p * k + q]);
            simd.store(slope, &mut slopes[p * k + q]);
        }
    }
}

/// The pairs of neighbours of a group, and of a neighbour and the row.
struct NeighbourPairs<'a> {
    points: &'a [Lane],
    slopes: &'a [Lane],
    beta: &'a [Lane],
    along: &'a [Lane],
}

impl NeighbourPairs<'_> {
    /// Adds what they say of `log w` to `sums`, with the factors of a row of slopes in `of`.
    #[inline(always)]
    fn add<S: Simd>(&self, simd: S, [by_e, by_v, by_ln]: [S::F64; 3], of: [&mut [Lane]; 2], sums: [&mut [Lane]; 2]) {
        let ([of_e, of_v], [of_fit, of_spread], k) = (of, sums, NEIGHBOURS);
        let d = self.points.len() / (k + 1);
        for p in 1..=k {
            let (own_beta, own_along) = match self.beta.get(p) {
                Some(own_beta) => (simd.load(own_beta), simd.load(&self.along[p])),
                None => (simd.splat(-1.0), simd.splat(0.0)),
            };
            for q in 0..p {
                let (beta, along) = (simd.load(&self.beta[q]), simd.load(&self.along[q]));
                let of_error = simd.mul_add(own_beta, along, simd.mul(own_along, beta));
                let of_variance = simd.mul(simd.splat(2.0), simd.mul(own_beta, beta));
                let slope = simd.load(&self.slopes[p * k + q]);
                let factor = simd.mul_add(by_e, of_error, simd.mul(by_v, of_variance));
                simd.store(simd.mul(slope, factor), &mut of_e[q]);
                simd.store(simd.mul(slope, simd.mul(by_ln, of_variance)), &mut of_v[q]);
            }
            let (before, x) = self.points.split_at(p * d);
            for f in 0..d {
                let x = simd.load(&x[f]);
                let (mut e, mut v) = (simd.load(&of_fit[f]), simd.load(&of_spread[f]));
                for ((z, of_e), of_v) in before[f..].iter().step_by(d).zip(&*of_e).zip(&*of_v) {
                    let gap = simd.sub(x, simd.load(z));
                    let squared = simd.mul(gap, gap);
                    e = simd.mul_add(simd.load(of_e), squared, e);
                    v = simd.mul_add(simd.load(of_v), squared, v);
                }
                simd.store(e, &mut of_fit[f]);
                simd.store(v, &mut of_spread[f]);
            }
        }
    }
}

/// `x ← L⁻ᵀx`
#[inline(always)]
fn substitute_back<S: Simd>(simd: S, factor: &[Lane], x: &mut [Lane]) {
    let k = x.len();
    for p in (0..k).rev() {
        let (before, own) = x.split_at_mut(p);
        let row = &factor[p * k..=p * k + p];
        let value = simd.div(simd.load(&own[0]), simd.load(&row[p]));
        simd.store(value, &mut own[0]);
        for (entry, row) in before.iter_mut().zip(row) {
            simd.store(simd.negate_mul_add(simd.load(row), value, simd.load(entry)), entry);
        }
    }
}

/// `(1 + r) exp(−r)` and its derivative by the square, `−1½ exp(−r)`, of `r = √(3 squared)`.
#[inline(always)]
fn matern<S: Simd>(simd: S, squared: S::F64) -> (S::F64, S::F64) {
    let far = simd.splat(FAR);
    let r = simd.sqrt(simd.mul(simd.splat(3.0), squared));
    let r = simd.select_less(r, far, r, far);
    let e = exp_lane(simd, simd.sub(simd.splat(0.0), r));
    (simd.mul_add(r, e, e), simd.mul(simd.splat(-1.5), e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    fn row(t: usize) -> [f64; 3] {
        std::array::from_fn(|f| ((3 * t + f) as f64 * 1.7 + ((3 * t + f).pow(2) % 97) as f64).sin())
    }

    /// Rows with those just before them, some of a weight of their own.
    fn examples(n: usize, m: usize, target: impl Fn(usize, usize) -> f64) -> Examples {
        let (k, mut examples) = (NEIGHBOURS, Examples::new((3, m)));
        let targets = |t: usize| -> Vec<f64> { (0..m).map(|o| target(t, o)).collect() };
        for t in k..n {
            let past: Vec<_> = (t - k..t).map(|t| (row(t), targets(t), spread(t))).collect();
            examples.push(past.iter().map(|(x, y, s)| (&x[..], &y[..], *s)), (&row(t), &targets(t), spread(t)));
        }
        examples
    }

    fn spread(t: usize) -> f64 {
        if t.is_multiple_of(5) { 2.0 } else { 1.0 }
    }

    fn target(t: usize, output: usize) -> f64 {
        let x = row(t);
        (3.0 * x[0]).sin() + 0.3 * x[1] + output as f64 * x[2]
    }

    /// `log p(y) + log p(θ)` up to a constant, by dense solutions row by row.
    fn log_posterior(logs: &[f64], n: usize, m: usize) -> f64 {
        let k = NEIGHBOURS;
        let kernel = |a: usize, b: usize| {
            let (a, b) = (row(a), row(b));
            let r = (0..3).map(|f| 3.0 * logs[f].exp() * (a[f] - b[f]).powi(2)).sum::<f64>().sqrt();
            (1.0 + r) * (-r).exp() + MEAN_VARIANCE
        };
        let noise = logs[3].exp();
        let (mut fit, mut spreads, mut count) = (0.0, 0.0, 0.0);
        for t in k..n {
            let past: Vec<usize> = (t - k..t).collect();
            let a = DMatrix::from_fn(k, k, |i, j| {
                kernel(past[i], past[j]) + if i == j { noise * spread(past[i]) } else { 0.0 }
            });
            let near = DVector::from_fn(k, |i, _| kernel(past[i], t));
            let solved = a.cholesky().expect("positive definite").solve(&near);
            let variance = kernel(t, t) + noise - near.dot(&solved);
            for o in 0..m {
                let error = target(t, o) - (0..k).map(|i| solved[i] * target(past[i], o)).sum::<f64>();
                fit += error * error / variance / spread(t);
                spreads += variance.ln() / spread(t);
                count += 1.0 / spread(t);
            }
        }
        let centre = logs[..3].iter().sum::<f64>() / 3.0;
        let prior: f64 = logs[..3].iter().map(|log| 0.5 * TIES[0] * (log - centre).powi(2)).sum();
        -0.5 * (count * fit.ln() + spreads) - prior - 0.5 * TIES[1] * (logs[3] - NOISE.ln()).powi(2)
    }

    #[test]
    fn likelihood_and_gradient_are_those_of_dense_formulas() {
        for (n, m) in [(40, 1), (33, 2), (13, 1)] {
            let examples = examples(n, m, target);
            let logs = [0.3, -0.5, 0.1, -2.0];
            let (value, exact) = gradient(&logs, &examples, &mut RelevanceMemory::default()).expect("finite");
            assert!((value - log_posterior(&logs, n, m)).abs() < 1e-9 * value.abs());
            for f in 0..4 {
                let at = |h: f64| {
                    let mut logs = logs;
                    logs[f] += h;
                    log_posterior(&logs, n, m)
                };
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                let gap = (exact[f] - difference).abs();
                assert!(gap < 1e-5 * difference.abs().max(1.0), "{f}: {} {difference}", exact[f]);
            }
        }
    }

    #[test]
    fn the_feature_that_matters_gets_the_shortest_length() {
        let uniform = Relevance::uniform(3, 1.5);
        let found = uniform.learn(&examples(160, 1, target), |_| ());
        assert!(found.weights[0] > 10.0 * found.weights[1] && found.weights[1] > 3.0 * found.weights[2], "{found:?}");
        assert!(found.noise < 0.1, "{found:?}");
        // Nothing to learn from.
        assert_eq!(uniform.learn(&examples(160, 1, |_, _| 0.0), |_| ()), uniform);
        assert_eq!(uniform.learn(&Examples::new((3, 1)), |_| ()), uniform);
    }
}
