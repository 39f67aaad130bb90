//! Which width and which ridge: scores on held-out pairs, from the sums alone.
//!
//! The operator of least squares on the pairs but those of group `b` is `M₋b = (G₋b + R)⁻¹ A₋b`,
//! with `R` the ridge `λ` on the coordinates `z` and next to none on the constant and the state.
//!
//! **For forecasts:** the squared error of the state on each group by what the others say,
//! `Σ_b tr(C_b − 2M₋bᵀA_b + M₋bᵀG_bM₋b)` over the columns of the state.
//!
//! **For the spectrum of a stochastic system:** the Hilbert–Schmidt distance in `L²` to the true
//! operator (the VAMP-E score of Wu and Noé 2020). With the eigenbases of `G` and `C`, and `K_f`
//! the whitened `A` of fold `f` of the pairs, it falls as
//! `Σ_f 2⟨K₋f, K_f⟩ − ‖K₋f‖²` rises, the norm taken in `L²`. It can be compared across widths. A
//! function with a variance below `1/n` rests on one pair, so `λ ≥ 0.9/n` here. Of a deterministic
//! system the least residual of an eigenfunction decides.

use std::ops::Range;

use mercer_linalg_incremental::{Matrix, Singular, SymmetricEigen};

use super::blocks::{Group, Sums, add, sum};
use super::candidate::{FOLDS, Fold};
use crate::Error;

/// Ridges that are tried, relative to features of norm 1.
pub(crate) const RIDGES: [f64; 8] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-11];
/// The ridge on the constant and the state: against columns that depend on each other.
const SLIGHT: f64 = 1e-10;
/// Directions below this part of the largest are rounding.
const NEGLIGIBLE: f64 = 1e-12;
/// An error below this part of the variance is rounding of the sums.
const ROUNDING: f64 = 1e-13;

/// `mean(G) + R`
pub(super) fn regularised((gram, weight): (&Matrix, f64), leading: usize, ridge: f64) -> Matrix {
    Matrix::from_fn(gram.rows(), gram.rows(), |i, j| {
        let diagonal = if i < leading { SLIGHT } else { ridge };
        gram.entry(i, j) / weight + if i == j { diagonal } else { 0.0 }
    })
}

/// `M = (G + R)⁻¹ A` on the given columns of `A`. `O(p³)`.
pub(crate) fn solve(sums: &Sums, leading: usize, ridge: f64, columns: Range<usize>) -> Result<Matrix, Singular> {
    let (first, count) = (columns.start, columns.len());
    let mean = |i: usize, j: usize| sums.cross.entry(i, first + j) / sums.weight;
    let right = Matrix::from_fn(sums.gram.rows(), count, mean);
    regularised((&sums.gram, sums.weight), leading, ridge).solve_positive_definite(&right)
}

/// A ridge with what it is worth.
#[derive(Clone, Debug)]
pub(crate) struct RidgeScore {
    pub(crate) ridge: f64,
    pub(crate) value: f64,
    /// The part of each group.
    parts: Vec<f64>,
}

impl RidgeScore {
    /// That of equations that cannot be solved.
    pub(crate) fn none() -> Self {
        Self { ridge: 1.0, value: f64::INFINITY, parts: Vec::new() }
    }

    /// True if this error is the larger one by no more than chance lets expect: by so many standard
    /// errors of its differences from the other over the groups, or by rounding.
    pub(crate) fn is_as_small_as(&self, other: &Self, errors: f64) -> bool {
        let differences: Vec<f64> = self.parts.iter().zip(&other.parts).map(|(a, b)| a - b).collect();
        let g = differences.len() as f64;
        let sum: f64 = differences.iter().sum();
        let squares: f64 = differences.iter().map(|d| (d - sum / g).powi(2)).sum();
        g > 1.0 && sum <= (errors * (squares * g / (g - 1.0)).sqrt()).max(ROUNDING)
    }
}

/// The sums without those of one group.
pub(crate) fn without(total: &Sums, group: &Sums) -> Sums {
    let mut rest = total.clone();
    rest.add(-1.0, group);
    rest
}

/// The held-out squared error of the features `columns` of `x⁺`, summed over them, a pair: for each
/// ridge at which the equations can be solved. `O(groups · ridges · p³)`.
pub(crate) fn forecast_scores(groups: &[Group<'_>], leading: usize, columns: &Range<usize>) -> Vec<RidgeScore> {
    if groups.is_empty() {
        return Vec::new();
    }
    let total = sum(groups);
    // Without a dictionary all ridges are one.
    let count = if total.gram.rows() == leading { 1 } else { RIDGES.len() };
    let nothing = |ridge: &f64| RidgeScore { ridge: *ridge, value: 0.0, parts: Vec::with_capacity(groups.len()) };
    let mut scores: Vec<RidgeScore> = RIDGES[..count].iter().map(nothing).collect();
    for group in groups {
        let group = group.sums();
        let rest = without(&total, &group);
        for score in &mut scores {
            let part = solve(&rest, leading, score.ridge, columns.clone())
                .map_or(f64::INFINITY, |operator| error(&group, &operator, columns) / total.weight);
            score.value += part;
            score.parts.push(part);
        }
    }
    scores.retain(|score| score.value.is_finite());
    scores
}

/// `Σ_j C_jj − 2m_jᵀA_j + m_jᵀGm_j` over the columns `j`.
fn error(group: &Sums, operator: &Matrix, columns: &Range<usize>) -> f64 {
    let image = group.gram.times(operator);
    let of_column = |(k, j): (usize, usize)| {
        let m = operator.column(k);
        let product = |other: &[f64]| m.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
        group.squares[j] - 2.0 * product(group.cross.column(j)) + product(image.column(k))
    };
    columns.clone().enumerate().map(of_column).sum::<f64>().max(0.0)
}

/// `‖K̂ − K‖²_HS` in `L²` up to a constant, for each ridge that the number of pairs allows.
/// `O(p³ + ridges · p²)`.
///
/// # Errors
/// When an eigen-decomposition fails.
pub(crate) fn spectrum_scores(total: &Sums, folds: &[Fold; FOLDS], next: &Matrix) -> Result<Vec<RidgeScore>, Error> {
    let (wg, ug) = eigen(&total.gram, total.weight)?;
    let (wc, uc) = eigen(next, total.weight)?;
    let seen: Vec<Matrix> = folds.iter().map(|fold| ug.transposed_times(&fold.cross.times(&uc))).collect();
    let all = Matrix::from_fn(wg.len(), wc.len(), |i, j| seen.iter().map(|fold| fold.entry(i, j)).sum());
    let weight: f64 = folds.iter().map(|fold| fold.weight).sum();
    let allowed = RIDGES.iter().filter(|ridge| **ridge >= 0.9 / total.weight);
    let scores = allowed.map(|ridge| {
        let value = folds.iter().zip(&seen).filter(|(fold, _)| fold.weight > 0.0).map(|(fold, own)| {
            let rest = weight - fold.weight;
            let mut value = 0.0;
            for (j, wc) in wc.iter().enumerate() {
                for (i, wg) in wg.iter().enumerate() {
                    let (a, c) = (1.0 / (wg + ridge), 1.0 / (wc + ridge));
                    let held_out = own.entry(i, j) / fold.weight;
                    let others = (all.entry(i, j) - own.entry(i, j)) / rest;
                    value -= a * c * (2.0 * held_out * others - others * others * wg * a * wc * c);
                }
            }
            value / FOLDS as f64
        });
        let parts: Vec<f64> = value.collect();
        RidgeScore { ridge: *ridge, value: parts.iter().sum(), parts }
    });
    Ok(scores.filter(|score| score.value.is_finite()).collect())
}

/// The VAMP-2 score of rank `rank` on held-out pairs (Wu and Noé 2020): the mean over the folds of
/// `‖UᵀK_f V‖²`, with `U` and `V` the leading singular functions of the pairs of the other folds.
/// It is at most the rank, and the constant has 1 of it. Functions are made orthonormal by `G` and
/// `C` over all pairs, as for the choice of a spectrum. `O(p³)`.
///
/// # Errors
/// When an eigen-decomposition fails.
pub(crate) fn vamp2(
    total: &Sums,
    folds: &[Fold; FOLDS],
    next: &Matrix,
    (ridge, rank): (f64, usize),
) -> Result<f64, Error> {
    let (wg, ug) = eigen(&total.gram, total.weight)?;
    let (wc, uc) = eigen(next, total.weight)?;
    let most = |values: &[f64]| values.first().copied().unwrap_or(0.0);
    // Directions that are rounding have no part.
    let whiten = |value: f64, most: f64| if value > NEGLIGIBLE * most { 1.0 / (value + ridge).sqrt() } else { 0.0 };
    let white = |fold: &Matrix, weight: f64| {
        let seen = ug.transposed_times(&fold.times(&uc));
        let one = |i: usize, j: usize| whiten(wg[i], most(&wg)) * seen.entry(i, j) * whiten(wc[j], most(&wc)) / weight;
        Matrix::from_fn(wg.len(), wc.len(), one)
    };
    let used: Vec<&Fold> = folds.iter().filter(|fold| fold.weight > 0.0).collect();
    let weight: f64 = used.iter().map(|fold| fold.weight).sum();
    let mut score = 0.0;
    for fold in &used {
        let mut rest = Matrix::zeros(wg.len(), wc.len());
        used.iter().filter(|other| !std::ptr::eq(**other, *fold)).for_each(|other| add(&mut rest, 1.0, &other.cross));
        let (own, others) = (white(&fold.cross, fold.weight), white(&rest, weight - fold.weight));
        let square = others.times_transposed(&others);
        let SymmetricEigen { values, vectors } = SymmetricEigen::new(wg.len(), |i, j| square.entry(i, j))?;
        let rank = values.iter().take(rank).filter(|value| **value > NEGLIGIBLE * most(&values)).count();
        let left = Matrix::from_fn(wg.len(), rank, |i, r| vectors[r][i]);
        // V = KᵀU/σ
        let mut right = others.transposed_times(&left);
        (0..rank).for_each(|r| right.column_mut(r).iter_mut().for_each(|v| *v /= values[r].sqrt()));
        let seen = left.transposed_times(&own.times(&right));
        score += seen.values().iter().map(|s| s * s).sum::<f64>() / used.len() as f64;
    }
    Ok(score)
}

/// Eigenvalues, none below 0, and eigenvectors as columns, of `matrix / weight`.
fn eigen(matrix: &Matrix, weight: f64) -> Result<(Vec<f64>, Matrix), Error> {
    let p = matrix.rows();
    let SymmetricEigen { values, vectors } = SymmetricEigen::new(p, |i, j| matrix.entry(i, j) / weight)?;
    let values = values.into_iter().map(|value| value.max(0.0)).collect();
    Ok((values, Matrix::from_fn(p, p, |i, j| vectors[j][i])))
}

/// `√tr(G M C⁻¹ Mᵀ)`, the Hilbert–Schmidt norm in `L²`, with the ridge on `C` as well. `O(p³)`.
///
/// # Errors
/// When `C` is singular to rounding.
pub(crate) fn norm(
    total: &Sums,
    next: &Matrix,
    leading: usize,
    ridge: f64,
    operator: &Matrix,
) -> Result<f64, Singular> {
    let gram = total.gram.times(operator);
    let solved = regularised((next, total.weight), leading, ridge).solve_positive_definite(&gram.transposed())?;
    let trace = (0..operator.rows()).map(|i| {
        (0..operator.columns()).map(|j| solved.entry(j, i) * operator.entry(i, j)).sum::<f64>() / total.weight
    });
    Ok(trace.sum::<f64>().max(0.0).sqrt())
}
