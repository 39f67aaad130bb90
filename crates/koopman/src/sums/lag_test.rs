//! The lag test of a mode: whether its correlation in time falls as powers of its eigenvalue do.
//!
//! Windows of `D` successive rows share all rows but one, so that the window after the next is told
//! by copies, and white noise has eigenvalues far from 0. From lag `L = max(2, D)` on nothing is
//! copied. With the eigenfunction `f` fitted on one half of the blocks and the other half held out,
//! `r_k = E f̄(x_t) f(x_{t+k}) / E|f|²` must be `μᵏ` for `k = L, 2L` (Chapman and Kolmogorov).
//!
//! Each half is held out in turn, and a jackknife over the blocks tells the error of `r_k`.
//!
//! Lags of a function that mixes several modes may fall as powers do within their errors. Two
//! further conditions tell that the function is one of the operator `K`:
//!
//! - The eigenvalues nearest to `μ` in both halves are near each other.
//! - The **residual** `‖P(K − μ)f‖/‖f‖` is small, with `P` the projection on all features. For an
//!   operator that is normal in `L²` there is an eigenvalue within it where `P` loses nothing. Its
//!   square is a mean of products of different held-out blocks, in which noise has no part; with
//!   it, as in residual dynamic mode decomposition (Colbrook and Townsend 2024), it would be near
//!   `√(1 − |μ|²)` for any stochastic system.

use mercer_linalg_incremental::{Eigenvalue, GeneralEigen, Matrix};

use super::blocks::{Group, Sums, sum};
use super::choice::{regularised, solve};
use super::modes::{FitSource, LEADING, Span, Vector, jackknife, parts};
use super::verdict::{Reason, Reliability};
use crate::Error;

/// Standard errors by which the correlation at lag `L` must differ from 0.
const PRESENT: f64 = 3.0;
/// Standard errors that `|μ|ᴸ` must be, or there are too few pairs to tell.
const MEASURABLE: f64 = 4.0;
/// The correlation at lag `L` may differ from `μᴸ` by this part of it.
const NEAR: f64 = 0.5;
/// At both lags it may differ by this part and this much, or by so many standard errors.
const CLOSE: (f64, f64, f64) = (0.15, 0.05, 2.0);
/// Standard errors by which a correlation is off for more than chance.
const BEYOND_CHANCE: f64 = 2.0;
/// The largest residual of a mode, and the largest distance of its eigenvalues in both halves.
const MOST_RESIDUAL: f64 = 0.2;
const MOST_APART: f64 = 0.1;
/// The modulus by which a step between both lags may differ from that of the eigenvalue for more
/// than chance.
const MOST_DRIFT: f64 = 0.05;
/// Fewest blocks of the test.
const FEWEST_BLOCKS: usize = 6;
/// Pairs that have a successor `2L` steps on, at least this part of all.
const ENOUGH: f64 = 0.1;

/// Held-out correlations of a mode at the lags `L` and `2L`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Correlation {
    at: [Eigenvalue; 2],
    errors: [f64; 2],
    /// `‖P(K − μ)f‖/‖f‖` on held-out pairs.
    residual: f64,
    /// The distance of the eigenvalues of both halves.
    apart: f64,
    /// The change of `|μ|` from one step to those between both lags, if it is more than chance.
    drift: f64,
    /// The change of the eigenvalue from one step to the lags `L` and `2L` that chance does not
    /// explain.
    pub(super) bias: f64,
}

/// `(a + bi)ⁿ`
fn power(value: Eigenvalue, n: usize) -> Eigenvalue {
    let (modulus, angle) = (value.modulus().powi(n as i32), value.im.atan2(value.re) * n as f64);
    Eigenvalue { re: modulus * angle.cos(), im: modulus * angle.sin() }
}

pub(super) fn distance(a: Eigenvalue, b: Eigenvalue) -> f64 {
    (a.re - b.re).hypot(a.im - b.im)
}

impl Correlation {
    /// The verdict on the eigenvalue `value` by these correlations at lag `lag` and twice that.
    pub(super) fn verdict(&self, value: Eigenvalue, lag: usize) -> (Reliability, Reason) {
        let expected = [1, 2].map(|k| power(value, k * lag));
        let size = expected[0].modulus();
        if size < MEASURABLE * self.errors[0] {
            return (Reliability::Unknown, Reason::TooFast);
        }
        if self.at[0].modulus() <= PRESENT * self.errors[0] {
            return (Reliability::Unreliable, Reason::NoCorrelation);
        }
        let (part, least, errors) = CLOSE;
        let close = |k: usize| {
            let off = distance(self.at[k], expected[k]);
            off <= (part * expected[k].modulus() + least).max(errors * self.errors[k])
        };
        let near = distance(self.at[0], expected[0]) <= NEAR * size && self.drift <= MOST_DRIFT;
        if !near || !close(0) || !close(1) {
            (Reliability::Unreliable, Reason::OtherDecay)
        } else if self.apart > MOST_APART {
            (Reliability::Unknown, Reason::HalvesDiffer)
        } else if self.residual > MOST_RESIDUAL {
            (Reliability::Unknown, Reason::HeldOutResidual)
        } else {
            (Reliability::Reliable, Reason::LagsAgree)
        }
    }
}

/// Sums of a mode over one held-out block: `|f|²`, and `f̄ f₊` at both lags.
#[derive(Clone, Copy, Default)]
struct Part {
    norms: [f64; 2],
    products: [(f64, f64); 2],
}

/// The eigenfunctions of some blocks, or of some features.
pub(super) struct HalfFit {
    span: Span,
    pairs: GeneralEigen,
}

impl HalfFit {
    pub(super) fn new(groups: &[Group<'_>], leading: usize, ridge: f64, kind: FitSource) -> Result<Self, Error> {
        let total = sum(groups);
        let operator = solve(&total, leading, ridge, 0..total.gram.rows())?;
        let found = GeneralEigen::new(&operator, LEADING)?;
        let columns = parts(found.values.iter().zip(found.re.iter().zip(&found.im)));
        let span = Span::new(&columns, &[], &total, &total.gram)?;
        let pairs = span.fit(kind)?.pairs;
        Ok(Self { span, pairs })
    }

    /// All eigenvalues.
    pub(super) fn into_values(self) -> Vec<Eigenvalue> {
        self.pairs.values
    }

    /// The place of the eigenvalue nearest to this one.
    fn nearest(&self, value: Eigenvalue) -> Option<usize> {
        let away = |i: &usize| distance(self.pairs.values[*i], value);
        (0..self.pairs.values.len()).min_by(|a, b| away(a).total_cmp(&away(b)))
    }

    /// Real and imaginary parts, side by side, of the functions nearest to these eigenvalues on all
    /// features.
    fn functions(&self, values: &[Eigenvalue]) -> Matrix {
        let part = |i: usize, column: usize| {
            let parts = if column.is_multiple_of(2) { &self.pairs.re } else { &self.pairs.im };
            self.nearest(values[column / 2]).map_or(0.0, |k| parts[k][i])
        };
        self.span.basis.times(&Matrix::from_fn(self.span.basis.columns(), 2 * values.len(), part))
    }

    /// The squared residual of the function nearest to each eigenvalue on the held-out blocks, and
    /// the square of the function, a pair; `total` are the sums of all.
    fn squares(
        &self,
        held_out: &[Group<'_>],
        (total, leading, ridge): (&Sums, usize, f64),
        values: &[Eigenvalue],
    ) -> Result<Vec<[f64; 2]>, Error> {
        let functions = self.functions(values);
        let (p, m) = (functions.rows(), values.len());
        // (A − μG)v of each block, real and imaginary parts.
        let mut parts = Matrix::zeros(p, 2 * m * held_out.len());
        let (mut weight, mut weights) = (0.0, 0.0);
        for (b, group) in held_out.iter().enumerate() {
            let sums = group.sums();
            let [now, next] = [&sums.gram, &sums.cross].map(|matrix| matrix.times(&functions));
            for (k, value) in values.iter().enumerate() {
                let (re, im) = (2 * k, 2 * k + 1);
                for (column, other, sign) in [(re, im, 1.0), (im, re, -1.0)] {
                    let numbers = parts.column_mut(2 * m * b + column).iter_mut().zip(next.column(column));
                    for ((part, next), (own, other)) in numbers.zip(now.column(column).iter().zip(now.column(other))) {
                        *part = next - value.re * own + sign * value.im * other;
                    }
                }
            }
            (weight, weights) = (weight + sums.weight, weights + sums.weight * sums.weight);
        }
        let solved = regularised((&total.gram, total.weight), leading, ridge).solve_positive_definite(&parts)?;
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let sum = |of: &Matrix, column: usize| -> Vec<f64> {
            (0..p).map(|i| (0..held_out.len()).map(|b| of.entry(i, 2 * m * b + column)).sum()).collect()
        };
        let image = total.gram.times(&functions);
        let square = |column: usize| {
            let all = product(&sum(&parts, column), &sum(&solved, column));
            let own = (0..held_out.len()).map(|b| 2 * m * b + column);
            let own: f64 = own.map(|column| product(parts.column(column), solved.column(column))).sum();
            let norm = product(functions.column(column), image.column(column)) / total.weight;
            [(all - own) / (weight * weight - weights), norm]
        };
        Ok((0..m).map(|k| (square(2 * k), square(2 * k + 1))).map(|(a, b)| [a[0] + b[0], a[1] + b[1]]).collect())
    }

    /// The sums of a held-out block on the functions nearest to these eigenvalues.
    fn on(&self, group: &Group<'_>, values: &[Eigenvalue]) -> Vec<Part> {
        let sums = group.sums();
        let lift = |matrix: &Matrix| self.span.basis.transposed_times(&matrix.times(&self.span.basis));
        let gram = lift(&sums.gram);
        let lags = sums.lag_sums.each_ref().map(lift);
        let one = |value: &Eigenvalue| {
            let Some(i) = self.nearest(*value) else { return Part::default() };
            let vector = Vector { re: &self.pairs.re[i], im: &self.pairs.im[i] };
            let unit = vector.form(&self.span.total.gram).0 / self.span.total.weight;
            let norm = vector.form(&gram).0 / sums.weight / unit;
            let products = lags.each_ref().map(|lag| {
                let (re, im) = vector.form(lag);
                (re / unit, im / unit)
            });
            Part { norms: sums.lag_weights.map(|weight| weight * norm), products }
        };
        values.iter().map(one).collect()
    }
}

/// The held-out correlations of these eigenvalues; `None` where pairs form no path, or too few
/// blocks.
///
/// # Errors
/// When an eigenvalue iteration fails.
pub(super) fn correlations(
    groups: &[Group<'_>],
    (leading, ridge): (usize, f64),
    kind: FitSource,
    (values, lag): (&[Eigenvalue], usize),
) -> Result<Option<Vec<Correlation>>, Error> {
    let total: f64 = groups.iter().map(|group| group.0.iter().map(|sums| sums.weight).sum::<f64>()).sum();
    let far: f64 = groups.iter().flat_map(|group| &group.0).map(|sums: &&Sums| sums.lag_weights[1]).sum();
    if groups.len() < FEWEST_BLOCKS || far < ENOUGH * total {
        return Ok(None);
    }
    let all = sum(groups);
    let mut parts_of: Vec<Vec<Part>> = Vec::with_capacity(groups.len());
    let mut halves = Vec::with_capacity(2);
    for half in 0..2 {
        let of = |half: usize| groups.iter().enumerate().filter(move |(i, _)| i % 2 == half).map(|(_, group)| group);
        let [train, held_out]: [Vec<Group<'_>>; 2] = [1 - half, half].map(|half| of(half).cloned().collect());
        // Functions that one half does not tell are those of no mode.
        let Ok(fit) = HalfFit::new(&train, leading, ridge, kind) else { return Ok(None) };
        let Ok(squares) = fit.squares(&held_out, (&all, leading, ridge), values) else { return Ok(None) };
        parts_of.extend(held_out.iter().map(|group| fit.on(group, values)));
        let nearest = |value: &Eigenvalue| fit.nearest(*value).map_or(*value, |i| fit.pairs.values[i]);
        halves.push((squares, values.iter().map(nearest).collect::<Vec<_>>()));
    }
    let [(first, here), (second, there)] = &halves[..] else { return Ok(None) };
    let one = |(k, value): (usize, &Eigenvalue)| {
        let own: Vec<Part> = parts_of.iter().map(|parts| parts[k]).collect();
        let squared = 0.5 * [first[k], second[k]].map(|[residual, norm]| residual / norm).iter().sum::<f64>();
        let residual = squared.max(0.0).sqrt();
        Correlation { residual, apart: distance(here[k], there[k]), ..correlation(&own, *value, lag) }
    };
    Ok(Some(values.iter().enumerate().map(one).collect()))
}

fn correlation(own: &[Part], value: Eigenvalue, lag: usize) -> Correlation {
    // Over all blocks but one; over all where none is left out.
    let over = |left_out: Option<usize>, k: usize| {
        let (mut norm, mut re, mut im) = (0.0, 0.0, 0.0);
        for part in own.iter().enumerate().filter(|(b, _)| Some(*b) != left_out).map(|(_, part)| part) {
            norm += part.norms[k];
            re += part.products[k].0;
            im += part.products[k].1;
        }
        Eigenvalue { re: re / norm, im: im / norm }
    };
    let at = [0, 1].map(|k| over(None, k));
    let error =
        |number: &dyn Fn(Option<usize>) -> f64| jackknife(&(0..own.len()).map(|b| number(Some(b))).collect::<Vec<_>>());
    let errors = [0, 1].map(|k| error(&|b| over(b, k).re).hypot(error(&|b| over(b, k).im)));
    // ln|μ| between the lags L and 2L, where copies and noise of measurement have no part.
    let rate = |left_out: Option<usize>| (over(left_out, 1).modulus() / over(left_out, 0).modulus()).ln() / lag as f64;
    let off = value.modulus() * (rate(None) - value.modulus().ln());
    let chance = value.modulus() * error(&rate);
    let of_rate = (off * off - chance * chance).max(0.0).sqrt();
    // The change of μ that takes its powers to the correlations: |dμⁿ| = n|μ|ⁿ⁻¹|dμ|.
    let of_power = [0, 1].map(|k| {
        let (n, size) = ((k + 1) * lag, value.modulus());
        let off = distance(at[k], power(value, n));
        let told = size.powi(n as i32) > MEASURABLE * errors[k] && off > BEYOND_CHANCE * errors[k];
        if told { (off * off - errors[k] * errors[k]).sqrt() / (n as f64 * size.powi(n as i32 - 1)) } else { 0.0 }
    });
    let finite = |bias: f64| if bias.is_finite() { bias.min(1.0) } else { 0.0 };
    let bias = [of_rate, of_power[0], of_power[1]].map(finite).into_iter().fold(0.0, f64::max);
    let drift = if off.abs() > BEYOND_CHANCE * chance { finite(of_rate) } else { 0.0 };
    Correlation { at, errors, residual: 0.0, apart: 0.0, drift, bias }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` pairs on five orthonormal features with `A/n = RDRᵀ`, `R` turning the second feature to
    /// the third by `sine`, and `noise` at an entry.
    fn block(n: f64, sine: f64, noise: (usize, f64)) -> Sums {
        let values = [1.0, 0.9, 0.5, 0.3, 0.2];
        let cosine = (1.0 - sine * sine).sqrt();
        let turn = |i: usize, k: usize| match (i, k) {
            (1, 1) | (2, 2) => cosine,
            (2, 1) => sine,
            (1, 2) => -sine,
            _ => f64::from(u8::from(i == k)),
        };
        let entry = |i: usize, j: usize| (0..5).map(|k| turn(i, k) * values[k] * turn(j, k)).sum::<f64>();
        let added = |i: usize, j: usize| if (i, j) == (noise.0, 1) { noise.1 } else { 0.0 };
        Sums {
            gram: Matrix::from_fn(5, 5, |i, j| if i == j { n } else { 0.0 }),
            cross: Matrix::from_fn(5, 5, |i, j| n * (entry(i, j) + added(i, j))),
            weight: n,
            rows: n,
            ..Sums::new(5, 5)
        }
    }

    /// With `f` turned by `sin θ = 0.6` from the function of 0.9 to that of 0.5, `(K − 0.9)f` is
    /// 0.6 · 0.4. Noise on other features, of another one in each block, has no part in it.
    #[test]
    fn residuals_held_out_are_those_of_a_turned_function_without_the_noise() -> Result<(), Error> {
        let train = [block(100.0, 0.6, (0, 0.0)), block(50.0, 0.6, (0, 0.0))];
        let held_out = [block(40.0, 0.0, (3, 1.0)), block(60.0, 0.0, (4, 2.0))];
        let fit = HalfFit::new(&train.each_ref().map(|block| Group(vec![block])), 5, 0.0, FitSource::LeastSquares)?;
        let all = sum(&[Group(train.iter().chain(&held_out).collect())]);
        let groups = held_out.each_ref().map(|block| Group(vec![block]));
        let value = Eigenvalue { re: 0.9, im: 0.0 };
        let [square, norm] = fit.squares(&groups, (&all, 5, 0.0), &[value])?[0];
        assert!(((square / norm).sqrt() - 0.24).abs() < 1e-6, "{square} {norm}");
        Ok(())
    }

    #[test]
    fn a_mode_whose_lags_agree_needs_a_small_residual_and_halves_that_agree() {
        let value = Eigenvalue { re: 0.9, im: 0.0 };
        let at = [0.81, 0.6561].map(|re| Eigenvalue { re, im: 0.0 });
        let good = Correlation { at, errors: [0.01; 2], residual: 0.1, apart: 0.05, drift: 0.0, bias: 0.0 };
        assert_eq!(good.verdict(value, 2), (Reliability::Reliable, Reason::LagsAgree));
        let apart = Correlation { apart: 0.11, ..good };
        assert_eq!(apart.verdict(value, 2), (Reliability::Unknown, Reason::HalvesDiffer));
        let residual = Correlation { residual: 0.21, ..good };
        assert_eq!(residual.verdict(value, 2), (Reliability::Unknown, Reason::HeldOutResidual));
        let drifting = Correlation { drift: 0.06, ..good };
        assert_eq!(drifting.verdict(value, 2), (Reliability::Unreliable, Reason::OtherDecay));
        // Lags that disagree are told first.
        let other = Correlation { at: [0.5, 0.25].map(|re| Eigenvalue { re, im: 0.0 }), ..residual };
        assert_eq!(other.verdict(value, 2), (Reliability::Unreliable, Reason::OtherDecay));
    }
}
