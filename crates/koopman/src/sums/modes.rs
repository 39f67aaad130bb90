//! Eigenvalues and eigenfunctions with their spread and residual.
//!
//! The leading eigenvectors of `M` span functions on which the operator is fitted again, without a
//! ridge: with `B` an orthonormal basis of them in `L²`, `BᵀGB = I`, the eigenpairs of `BᵀAB`.
//! That takes the bias of the ridge away.
//!
//! **Reversible systems** look the same when time runs backward: the operator is its own adjoint in
//! `L²`. Where `BᵀAB` differs from its transpose by no more than the jackknife lets expect, pairs
//! count forward and backward, `½Bᵀ(G + C)B` and `½Bᵀ(A + Aᵀ)B`: eigenvalues are real, and chance
//! moves them less, since it mixes their functions less. An asymmetry that the test does not see is
//! no larger than what chance would have put in its place.
//!
//! **Spread:** a jackknife that leaves out one block of pairs after the other, within fixed `B`. It
//! says how much the eigenvalue would move with other data, and what is seen of its bias is added:
//! the change between lags that chance does not explain, and that from half of the points of a full
//! dictionary. It does not say how far the functions are from eigenfunctions. That is what the
//! **residual** is for, `E|f(x⁺) − μf(x)|² / E|f(x)|²` under a square root, of which a part comes
//! from the noise of a stochastic system (Colbrook et al. 2023).
//!
//! **Noise of measurement** makes the moduli of least squares too small. Along a trajectory the
//! features before `x` are instruments, whose noise is another one: with `L = Σ φ₋ψᵀ` on the
//! strongest functions, the eigenpairs of `(BᵀAB)⁻¹ BᵀLB` (two-stage least squares, of as many
//! instruments as functions). They are taken when the modulus of the slowest mode is larger by more
//! than the jackknife lets expect of the difference, and said to be so: they cost a larger spread.

use mercer_linalg_incremental::{Eigenvalue, GeneralEigen, Matrix, SymmetricEigen};

use super::blocks::{Group, Sums, sum};
use super::candidate::Candidate;
use super::choice::{RIDGES, solve, without};
use super::stretch::PairStretch;
use super::verdict::{Reason, Reliability};
use crate::Error;

/// Eigenvectors whose span is fitted again, if more are not asked for.
pub(super) const LEADING: usize = 12;
/// A direction with a variance below this part of the largest is rounding.
const NEGLIGIBLE: f64 = 1e-10;
/// A mode of a deterministic system is reliable up to this residual.
const RESIDUAL: f64 = 0.1;
/// Instruments are there for more than this part of the pairs, or are not asked.
const ENOUGH: f64 = 0.5;
/// Spreads that make a modulus large enough to be divided by.
const STRONG: f64 = 8.0;
/// Spreads by which the modulus of the slowest mode must be larger with instruments.
const CERTAIN: f64 = 2.5;
/// Residuals and spreads below this are rounding.
const ROUNDING: f64 = 1e-9;
/// The largest ridge with which modes of a deterministic system are looked for.
const MOST_RIDGE: f64 = 1e-3;
/// A system is reversible up to these squared ratios of asymmetries to their spreads, on average
/// and each, with this many blocks at least: more than chance makes of them (1.2 on average with 16
/// blocks), less than any system that turns.
const ALIKE_ON_AVERAGE: f64 = 3.0;
const ALIKE_EACH: f64 = 40.0;
const FEWEST_BLOCKS: usize = 8;
/// A function whose square is this part that of its mean is the constant.
const MOSTLY: f64 = 0.99;
/// Residuals below this are all equally good.
const EXACT: f64 = 1e-6;
/// Moduli of a deterministic system that differ by less are taken as one, if their spreads allow.
const ALIKE: f64 = 1e-3;

/// An eigenvalue of the Koopman operator with what is known of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Mode {
    /// The eigenvalue `μ`.
    pub value: Eigenvalue,
    /// Standard error of `μ` by the jackknife over blocks, and its bias: the change from one step
    /// to later lags that chance does not explain and the change from half of the points of a full
    /// dictionary, or half the residual for a deterministic system.
    pub spread: f64,
    /// `√(E|f(x⁺) − μf(x)|² / E|f(x)|²)`; for a stochastic system near `√(1 − |μ|²)`.
    pub residual: f64,
    /// True if it can be trusted. For a deterministic system the residual must be small, for a
    /// stochastic one the modulus more than three spreads and not above 1 by more than two; and
    /// along a path its correlation at two lags, on pairs that it was not fitted to, must be that
    /// of the eigenvalue, both halves of the pairs must have eigenvalues within 0.1 of each other,
    /// and the function a residual held out of at most 0.2, in which noise has no part. Half of the
    /// points of a full dictionary must have an eigenvalue within 0.05.
    pub reliability: Reliability,
    /// Why.
    pub reason: Reason,
}

impl Mode {
    /// True if it can be trusted.
    #[must_use]
    pub fn is_reliable(&self) -> bool {
        self.reliability == Reliability::Reliable
    }
}

/// Modes with their functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spectrum {
    pub(crate) modes: Vec<Mode>,
    /// Real and imaginary parts of the coefficients on the features, of unit norm in `L²`.
    pub(crate) functions: Vec<[Vec<f64>; 2]>,
    /// Blocks of the jackknife.
    pub(crate) blocks: usize,
    /// True if instruments were taken, because of noise of measurement.
    pub(crate) instruments: bool,
    /// True if the operator was taken as its own adjoint.
    pub(crate) reversible: bool,
    /// True if the record wanders or has a trend.
    pub(crate) wanders: bool,
    /// The VAMP-2 score on held-out pairs, of as many singular functions as modes are wanted.
    pub(crate) vamp2: Option<f64>,
    /// Sums that the eigenpairs were fitted from.
    pub(super) source: FitSource,
    /// What its functions leave of each eigenvalue, where modes were not judged and their spreads
    /// are those of chance.
    pub(super) function_bias: Vec<f64>,
}

/// A complex vector on the refitted functions.
pub(super) struct Vector<'a> {
    pub(super) re: &'a [f64],
    pub(super) im: &'a [f64],
}

impl Vector<'_> {
    /// `vᴴ S v` for a real matrix `S`: real and imaginary part.
    pub(super) fn form(&self, matrix: &Matrix) -> (f64, f64) {
        let (mut re, mut im) = (0.0, 0.0);
        for j in 0..matrix.columns() {
            for (i, entry) in matrix.column(j).iter().enumerate() {
                re += entry * (self.re[i] * self.re[j] + self.im[i] * self.im[j]);
                im += entry * (self.re[i] * self.im[j] - self.im[i] * self.re[j]);
            }
        }
        (re, im)
    }
}

/// The modes of the square operator `operator` by the sums of `groups` and `C` over all pairs, of a
/// deterministic system or not; instruments are looked for if it `asks`.
/// `O(p³)`.
///
/// # Errors
/// When an eigenvalue iteration fails.
pub(crate) fn spectrum(
    operator: &Matrix,
    groups: &[Group<'_>],
    next: &Matrix,
    (deterministic, asks): (bool, bool),
    count: usize,
) -> Result<Spectrum, Error> {
    if groups.is_empty() {
        return Ok(Spectrum::default());
    }
    let total = sum(groups);
    let found = GeneralEigen::new(operator, count.max(LEADING))?;
    let columns = parts(found.values.iter().zip(found.re.iter().zip(&found.im)));
    let span = Span::new(&columns, groups, &total, next)?;
    let reversible = !deterministic && span.is_reversible();
    let mut source = if reversible { FitSource::Reversible } else { FitSource::LeastSquares };
    let fit = span.fit(source)?;
    let mut modes = span.modes(&fit, deterministic);
    let mut spectrum = Spectrum { blocks: fit.left_out.len(), reversible, ..Spectrum::default() };
    if asks && !deterministic && total.lags > ENOUGH * total.weight {
        let of = |modes: &[(Mode, [Vec<f64>; 2])]| parts(modes.iter().map(|(mode, [re, im])| (&mode.value, (re, im))));
        let strong = |(mode, _): &&(Mode, [Vec<f64>; 2])| mode.value.modulus() > STRONG * mode.spread.max(ROUNDING);
        let trusted: Vec<_> = modes.iter().filter(strong).cloned().collect();
        let is_constant = |mode: &Mode| (mode.value.re - 1.0).hypot(mode.value.im) < ROUNDING;
        let slowest = trusted.iter().find(|(mode, _)| mode.is_reliable() && !is_constant(mode)).cloned();
        if let Some(slowest) = slowest
            && is_noisy(&of(&[slowest]), groups, &total, next)?
        {
            let span = Span::new(&of(&trusted), groups, &total, next)?;
            if let Ok(fit) = span.fit(FitSource::Instruments) {
                modes = span.modes(&fit, deterministic);
                source = FitSource::Instruments;
                (spectrum.blocks, spectrum.instruments, spectrum.reversible) = (fit.left_out.len(), true, false);
            }
        }
    }
    spectrum.source = source;
    (spectrum.modes, spectrum.functions) = modes.into_iter().unzip();
    Ok(spectrum)
}

/// The candidate and the ridge with the eigenfunction nearest to a true one, beside the constant:
/// those of the forecast, the candidate `own`, if none is nearer. A width that forecasts best in
/// one step may miss slow functions, and without noise a residual tells. `ridges` are those that
/// forecast best, of each candidate.
///
/// # Errors
/// When an eigenvalue iteration fails.
pub(crate) fn of_least_residual(
    candidates: &[Candidate],
    ridges: &[f64],
    own: usize,
    pending: &PairStretch,
) -> Result<(usize, f64), Error> {
    let (mut found, mut least) = ((own, ridges[own]), f64::INFINITY);
    let others = (0..candidates.len()).filter(|i| *i != own);
    for i in std::iter::once(own).chain(others) {
        let candidate = &candidates[i];
        let alone = candidate.alone(pending);
        let (total, next) = (sum(&candidate.groups(1, alone.as_ref())), candidate.folds(alone.as_ref()).1);
        let (leading, p) = (candidate.features.leading(), candidate.features.len());
        let first = ridges[i];
        let larger = RIDGES.into_iter().rev().filter(|ridge| (first..=MOST_RIDGE).contains(ridge) && *ridge != first);
        for ridge in std::iter::once(first).chain(larger) {
            let Ok(operator) = solve(&total, leading, ridge, 0..p) else { continue };
            let residual = least_residual(&operator, &total, &next)?;
            if residual < least {
                (found, least) = ((i, ridge), residual);
            }
        }
    }
    Ok(found)
}

/// The least residual of an eigenfunction of `operator` beside the constant, not below rounding.
/// `O(p³)`.
///
/// # Errors
/// When an eigenvalue iteration fails.
fn least_residual(operator: &Matrix, total: &Sums, next: &Matrix) -> Result<f64, Error> {
    let found = GeneralEigen::new(operator, LEADING)?;
    let columns = parts(found.values.iter().zip(found.re.iter().zip(&found.im)));
    let span = Span::new(&columns, &[], total, next)?;
    let modes = span.modes(&span.fit(FitSource::LeastSquares)?, true);
    let mut residuals: Vec<f64> = modes.iter().map(|(mode, _)| mode.residual).collect();
    residuals.sort_by(f64::total_cmp);
    // The constant has the first.
    Ok(residuals.get(1).map_or(f64::INFINITY, |residual| residual.max(EXACT)))
}

/// Puts the modes of a deterministic system in order: the reliable ones first, of one modulus those
/// that turn slowly.
pub(super) fn put_in_order(spectrum: &mut Spectrum) {
    let (modes, functions) = (std::mem::take(&mut spectrum.modes), std::mem::take(&mut spectrum.functions));
    let mut modes: Vec<_> = modes.into_iter().zip(functions).collect();
    // Stable: within each part the order by modulus stays.
    modes.sort_by_key(|(mode, _)| !mode.is_reliable());
    slow_first(&mut modes);
    (spectrum.modes, spectrum.functions) = modes.into_iter().unzip();
}

/// Puts modes of one modulus in the order of their frequency: what turns slowly stands before its
/// harmonics.
fn slow_first(modes: &mut [(Mode, [Vec<f64>; 2])]) {
    let mut rest = modes;
    while let Some((first, _)) = rest.first() {
        let (least, kind) = (first.value.modulus() - (2.0 * first.spread).clamp(ROUNDING, ALIKE), first.is_reliable());
        let alike = |(mode, _): &&(Mode, [Vec<f64>; 2])| mode.is_reliable() == kind && mode.value.modulus() >= least;
        let count = rest.iter().take_while(alike).count();
        let (own, others) = rest.split_at_mut(count);
        let angle = |mode: &Mode| mode.value.im.abs().atan2(mode.value.re);
        own.sort_by(|(a, _), (b, _)| angle(a).total_cmp(&angle(b)));
        rest = others;
    }
}

/// True if the modulus of the slowest mode, of the given parts, is larger with instruments than
/// chance lets expect.
fn is_noisy(slowest: &[Vec<f64>], groups: &[Group<'_>], total: &Sums, next: &Matrix) -> Result<bool, Error> {
    let span = Span::new(slowest, groups, total, next)?;
    let (plain, Ok(instruments)) = (span.fit(FitSource::LeastSquares)?, span.fit(FitSource::Instruments)) else {
        return Ok(false);
    };
    // The constant has the first.
    let second = |values: &[Eigenvalue]| values.get(1).map(|value| value.modulus());
    let difference = |a: &[Eigenvalue], b: &[Eigenvalue]| Some(second(a)? - second(b)?);
    let left_out = instruments.left_out.iter().zip(&plain.left_out);
    let left_out: Vec<f64> = left_out.filter_map(|(a, b)| difference(a, b)).collect();
    let (Some(larger), true) = (difference(&instruments.pairs.values, &plain.pairs.values), left_out.len() > 1) else {
        return Ok(false);
    };
    let spread = jackknife(&left_out);
    Ok(larger > CERTAIN * spread.max(ROUNDING) && second(&instruments.pairs.values) <= Some(1.0 + 2.0 * spread))
}

/// Sums that eigenpairs are fitted from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum FitSource {
    #[default]
    LeastSquares,
    Reversible,
    Instruments,
}

/// Eigenpairs of the operator on some functions, and its eigenvalues when each block is left out.
pub(super) struct EigenFit {
    pub(super) pairs: GeneralEigen,
    left_out: Vec<Vec<Eigenvalue>>,
}

/// The span of some functions: an orthonormal basis with the sums on it, over all pairs and when
/// each block is left out.
pub(super) struct Span {
    pub(super) basis: Matrix,
    pub(super) total: Sums,
    next: Matrix,
    left_out: Vec<Sums>,
}

impl Span {
    pub(super) fn new(columns: &[Vec<f64>], groups: &[Group<'_>], total: &Sums, next: &Matrix) -> Result<Self, Error> {
        let basis = basis(columns, total)?;
        let of = |matrix: &Matrix| basis.transposed_times(&matrix.times(&basis));
        let seen = |sums: &Sums| {
            let Sums { lags, weight, rows, .. } = *sums;
            let [gram, cross, lagged] = [&sums.gram, &sums.cross, &sums.lagged].map(of);
            Sums { gram, cross, lagged, lags, weight, rows, ..Sums::new(0, 0) }
        };
        let (total, next) = (seen(total), of(next));
        let left_out = groups.iter().map(|group| without(&total, &seen(&group.sums()))).collect();
        Ok(Self { total, next, left_out, basis })
    }

    /// True if `BᵀAB` differs from its transpose by no more than chance lets expect: whether the
    /// pairs look the same when time runs backward.
    fn is_reversible(&self) -> bool {
        let difference =
            |sums: &Sums, i: usize, j: usize| (sums.cross.entry(i, j) - sums.cross.entry(j, i)) / sums.weight;
        let n = self.basis.columns();
        let ratio = |(i, j): (usize, usize)| {
            let left_out: Vec<f64> = self.left_out.iter().map(|sums| difference(sums, i, j)).collect();
            (difference(&self.total, i, j) / jackknife(&left_out).max(ROUNDING)).powi(2)
        };
        let ratios: Vec<f64> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(ratio).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        self.left_out.len() >= FEWEST_BLOCKS
            && mean <= ALIKE_ON_AVERAGE
            && ratios.iter().all(|ratio| *ratio <= ALIKE_EACH)
    }

    pub(super) fn fit(&self, kind: FitSource) -> Result<EigenFit, Error> {
        let mean = |matrix: &Matrix, weight: f64| {
            Matrix::from_fn(matrix.rows(), matrix.columns(), |i, j| matrix.entry(i, j) / weight)
        };
        let fitted = |sums: &Sums| {
            let (gram, cross) = (mean(&sums.gram, sums.weight), mean(&sums.cross, sums.weight));
            match kind {
                FitSource::LeastSquares => gram.solve_positive_definite(&cross),
                FitSource::Reversible => {
                    // Of C a block has the mean; the rest, from the ends of trajectories, is shared
                    // out.
                    let ends = |i, j| (self.next.entry(i, j) - self.total.gram.entry(i, j)) / self.total.weight;
                    let next = |i: usize, j: usize| match i.min(j) {
                        0 => cross.entry(0, i.max(j)),
                        _ => gram.entry(i, j) + ends(i, j),
                    };
                    let half = |entry: &dyn Fn(usize, usize) -> f64| {
                        Matrix::from_fn(gram.rows(), gram.rows(), |i, j| 0.5 * entry(i, j))
                    };
                    let both = half(&|i, j| gram.entry(i, j) + next(i, j));
                    both.solve_positive_definite(&half(&|i, j| cross.entry(i, j) + cross.entry(j, i)))
                }
                FitSource::Instruments => cross.solve(&mean(&sums.lagged, sums.lags)),
            }
        };
        let pairs = GeneralEigen::new(&fitted(&self.total)?, self.basis.columns())?;
        let mut left_out = Vec::with_capacity(self.left_out.len());
        for sums in &self.left_out {
            // Blocks without which the functions are dependent tell nothing.
            if let Ok(matrix) = fitted(sums) {
                left_out.push(GeneralEigen::values(&matrix)?);
            }
        }
        Ok(EigenFit { pairs, left_out })
    }

    /// The modes with the coefficients of their functions.
    fn modes(&self, EigenFit { pairs, left_out }: &EigenFit, deterministic: bool) -> Vec<(Mode, [Vec<f64>; 2])> {
        let one = |(value, (re, im)): (&Eigenvalue, (&Vec<f64>, &Vec<f64>))| {
            let vector = Vector { re, im };
            let (norm, _) = vector.form(&self.total.gram);
            let (a_re, a_im) = vector.form(&self.total.cross);
            let (c, _) = vector.form(&self.next);
            // vᴴCv − 2Re(μ̄ vᴴAv) + |μ|² vᴴGv
            let squared = c - 2.0 * (value.re * a_re + value.im * a_im) + value.modulus().powi(2) * norm;
            let residual = (squared / norm).max(0.0).sqrt();
            let (reliability, reason) = (Reliability::Unknown, Reason::NoLags);
            let mode = Mode { value: *value, spread: spread(*value, left_out), residual, reliability, reason };
            let unit = |part: &[f64]| -> Vec<f64> {
                let lift = |i: usize| part.iter().enumerate().map(|(k, w)| w * self.basis.entry(i, k)).sum::<f64>();
                (0..self.basis.rows()).map(|i| lift(i) / (norm / self.total.weight).sqrt()).collect()
            };
            // The first function of the basis is the constant, and the others have mean 0.
            let constant = re[0].hypot(im[0]).powi(2) >= MOSTLY * re.iter().chain(im).map(|w| w * w).sum::<f64>();
            let (reliability, reason) = match constant {
                true => (Reliability::Reliable, Reason::Constant),
                false => first_look(&mode, deterministic),
            };
            (Mode { reliability, reason, ..mode }, [unit(re), unit(im)])
        };
        pairs.values.iter().zip(pairs.re.iter().zip(&pairs.im)).map(one).collect()
    }
}

/// The verdict on a mode without regard to lags: by its residual, or by its spread.
fn first_look(mode: &Mode, deterministic: bool) -> (Reliability, Reason) {
    let modulus = mode.value.modulus();
    if deterministic {
        return match mode.residual <= RESIDUAL {
            true => (Reliability::Reliable, Reason::SmallResidual),
            false => (Reliability::Unreliable, Reason::Residual),
        };
    }
    let spread = mode.spread.max(ROUNDING);
    if modulus <= 3.0 * spread {
        (Reliability::Unreliable, Reason::WithinSpread)
    } else if modulus > 1.0 + 2.0 * spread {
        (Reliability::Unreliable, Reason::AboveOne)
    } else {
        (Reliability::Reliable, Reason::SpreadAlone)
    }
}

/// The real functions that span given eigenfunctions.
pub(super) fn parts<'a>(pairs: impl Iterator<Item = (&'a Eigenvalue, (&'a Vec<f64>, &'a Vec<f64>))>) -> Vec<Vec<f64>> {
    let mut columns = Vec::new();
    for (value, (re, im)) in pairs {
        // Of a complex pair the first has both parts.
        if value.im >= 0.0 {
            columns.push(re.clone());
        }
        if value.im > 0.0 {
            columns.push(im.clone());
        }
    }
    columns
}

/// An orthonormal basis in `L²` of the span of the constant, which comes first and whose eigenvalue
/// is 1, and some functions.
fn basis(columns: &[Vec<f64>], total: &Sums) -> Result<Matrix, Error> {
    // The first feature is 1.
    let constant = |i: usize| f64::from(u8::from(i == 0));
    let mean = |column: &[f64]| {
        let product: f64 = column.iter().zip(total.gram.column(0)).map(|(v, g)| v * g).sum();
        product / total.gram.entry(0, 0)
    };
    let means: Vec<f64> = columns.iter().map(|column| mean(column)).collect();
    let centred = |i: usize, j: usize| columns[j][i] - if i == 0 { means[j] } else { 0.0 };
    let span = Matrix::from_fn(total.gram.rows(), columns.len(), centred);
    let mut gram = span.transposed_times(&total.gram.times(&span));
    super::blocks::scale(&mut gram, 1.0 / total.weight);
    let variance = |j: usize| gram.entry(j, j).max(0.0);
    let largest = (0..columns.len()).map(|j| variance(j) + means[j] * means[j]).fold(0.0, f64::max);
    let kept: Vec<usize> = (0..columns.len()).filter(|j| variance(*j) > NEGLIGIBLE * largest).collect();
    if kept.is_empty() {
        return Ok(Matrix::from_fn(span.rows(), 1, |i, _| constant(i)));
    }
    let unit = |k: usize| variance(kept[k]).sqrt();
    let SymmetricEigen { values, vectors } =
        SymmetricEigen::new(kept.len(), |i, j| gram.entry(kept[i], kept[j]) / (unit(i) * unit(j)))?;
    let most = values.first().copied().unwrap_or(0.0);
    let rank = values.iter().filter(|value| **value > NEGLIGIBLE * most).count();
    let change = Matrix::from_fn(columns.len(), rank, |i, r| {
        let place = kept.iter().position(|k| *k == i);
        place.map_or(0.0, |k| vectors[r][k] / (unit(k) * values[r].sqrt()))
    });
    let rest = span.times(&change);
    Ok(Matrix::from_fn(span.rows(), 1 + rank, |i, j| if j == 0 { constant(i) } else { rest.entry(i, j - 1) }))
}

/// The standard error of an eigenvalue, from the nearest ones when each block is left out.
pub(super) fn spread(value: Eigenvalue, left_out: &[Vec<Eigenvalue>]) -> f64 {
    let distance = |a: &Eigenvalue| (a.re - value.re).hypot(a.im - value.im);
    let nearest = |values: &Vec<Eigenvalue>| {
        values.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).copied().unwrap_or(value)
    };
    let (re, im): (Vec<f64>, Vec<f64>) = left_out.iter().map(nearest).map(|value| (value.re, value.im)).unzip();
    jackknife(&re).hypot(jackknife(&im))
}

/// `√((g−1)/g Σ(x_b − mean)²)`, with `x_b` the estimate when block `b` is left out.
pub(super) fn jackknife(left_out: &[f64]) -> f64 {
    let g = left_out.len() as f64;
    if left_out.len() < 2 {
        return f64::INFINITY;
    }
    let mean = left_out.iter().sum::<f64>() / g;
    ((g - 1.0) / g * left_out.iter().map(|x| (x - mean).powi(2)).sum::<f64>()).sqrt()
}
