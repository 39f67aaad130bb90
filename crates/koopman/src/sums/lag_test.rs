//! The lag test of a mode: whether its correlation in time falls as powers of its eigenvalue do.
//!
//! Windows of `D` successive rows share all rows but one, so that the window after the next is told
//! by copies, and white noise has eigenvalues far from 0. From lag `L = max(2, D)` on nothing is
//! copied. With the eigenfunction `f` fitted on one half of the blocks and the other half held out,
//! `r_k = E f̄(x_t) f(x_{t+k}) / E|f|²` must be `μᵏ` for `k = L, 2L` (Chapman and Kolmogorov).
//!
//! Each half is held out in turn, and a jackknife over the blocks tells the error of `r_k`.

use mercer_linalg_incremental::{Eigenvalue, GeneralEigen, Matrix};

use super::blocks::{Group, Sums, sum};
use super::choice::solve;
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
/// Fewest blocks of the test.
const FEWEST_BLOCKS: usize = 6;
/// Pairs that have a successor `2L` steps on, at least this part of all.
const ENOUGH: f64 = 0.1;

/// Held-out correlations of a mode at the lags `L` and `2L`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Correlation {
    at: [Eigenvalue; 2],
    errors: [f64; 2],
    /// The change of the eigenvalue from one step to the lags `L` and `2L` that chance does not
    /// explain.
    pub(super) bias: f64,
}

/// `(a + bi)ⁿ`
fn power(value: Eigenvalue, n: usize) -> Eigenvalue {
    let (modulus, angle) = (value.modulus().powi(n as i32), value.im.atan2(value.re) * n as f64);
    Eigenvalue { re: modulus * angle.cos(), im: modulus * angle.sin() }
}

fn distance(a: Eigenvalue, b: Eigenvalue) -> f64 {
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
        if distance(self.at[0], expected[0]) <= NEAR * size && close(0) && close(1) {
            (Reliability::Reliable, Reason::LagsAgree)
        } else {
            (Reliability::Unreliable, Reason::OtherDecay)
        }
    }
}

/// Sums of a mode over one held-out block: `|f|²`, and `f̄ f₊` at both lags.
#[derive(Clone, Copy, Default)]
struct Part {
    norms: [f64; 2],
    products: [(f64, f64); 2],
}

/// The eigenfunctions of one half of the blocks.
struct HalfFit {
    span: Span,
    pairs: GeneralEigen,
}

impl HalfFit {
    fn new(groups: &[Group<'_>], leading: usize, ridge: f64, kind: FitSource) -> Result<Self, Error> {
        let total = sum(groups);
        let operator = solve(&total, leading, ridge, 0..total.gram.rows())?;
        let found = GeneralEigen::new(&operator, LEADING)?;
        let columns = parts(found.values.iter().zip(found.re.iter().zip(&found.im)));
        let span = Span::new(&columns, &[], &total, &total.gram)?;
        let pairs = span.fit(kind)?.pairs;
        Ok(Self { span, pairs })
    }

    /// The sums of a held-out block on the functions nearest to these eigenvalues.
    fn on(&self, group: &Group<'_>, values: &[Eigenvalue]) -> Vec<Part> {
        let sums = group.sums();
        let lift = |matrix: &Matrix| self.span.basis.transposed_times(&matrix.times(&self.span.basis));
        let gram = lift(&sums.gram);
        let lags = sums.lag_sums.each_ref().map(lift);
        let one = |value: &Eigenvalue| {
            let away = |i: &usize| distance(self.pairs.values[*i], *value);
            let nearest = (0..self.pairs.values.len()).min_by(|a, b| away(a).total_cmp(&away(b)));
            let Some(i) = nearest else { return Part::default() };
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
    let mut parts_of: Vec<Vec<Part>> = Vec::with_capacity(groups.len());
    for half in 0..2 {
        let of = |half: usize| groups.iter().enumerate().filter(move |(i, _)| i % 2 == half).map(|(_, group)| group);
        let train: Vec<Group<'_>> = of(1 - half).cloned().collect();
        // Functions that one half does not tell are those of no mode.
        let Ok(fit) = HalfFit::new(&train, leading, ridge, kind) else { return Ok(None) };
        parts_of.extend(of(half).map(|group| fit.on(group, values)));
    }
    let one = |(k, value): (usize, &Eigenvalue)| {
        let own: Vec<Part> = parts_of.iter().map(|parts| parts[k]).collect();
        correlation(&own, *value, lag)
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
    Correlation { at, errors, bias }
}
