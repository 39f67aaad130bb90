//! Eigenvalues and eigenfunctions with their spread and residual.
//!
//! The leading eigenvectors of `M` span functions on which the operator is fitted again, without a
//! ridge: with `B` an orthonormal basis of them in `L²`, `BᵀGB = I`, the eigenpairs of `BᵀAB`.
//! That takes the bias of the ridge away.
//!
//! **Spread:** a jackknife that leaves out one block of pairs after the other, within fixed `B`. It
//! says how much the eigenvalue would move with other data, not how far the functions are from
//! eigenfunctions. That is what the **residual** is for, `E|f(x⁺) − μf(x)|² / E|f(x)|²` under a
//! square root, of which a part comes from the noise of a stochastic system (Colbrook et al. 2023).

use mercer_linalg_incremental::{Eigenvalue, GeneralEigen, Matrix, SymmetricEigen};

use super::blocks::Sums;
use super::choice::without;
use crate::Error;

/// Eigenvectors whose span is fitted again, if more are not asked for.
const LEADING: usize = 12;
/// A direction with a variance below this part of the largest is rounding.
const NEGLIGIBLE: f64 = 1e-10;
/// A mode of a deterministic system is reliable up to this residual.
const RESIDUAL: f64 = 0.1;
/// Residuals and spreads below this are rounding.
const ROUNDING: f64 = 1e-9;

/// An eigenvalue of the Koopman operator with what is known of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The eigenvalue `μ`.
    pub value: Eigenvalue,
    /// Standard error of `μ` by the jackknife over blocks; it does not contain bias.
    pub spread: f64,
    /// `√(E|f(x⁺) − μf(x)|² / E|f(x)|²)`; for a stochastic system near `√(1 − |μ|²)`.
    pub residual: f64,
    /// Whether it can be trusted: for a deterministic system when the residual is small, for a
    /// stochastic one when the modulus is more than three spreads and not above 1 by more than two.
    pub reliable: bool,
}

/// Modes with their functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spectrum {
    pub(crate) modes: Vec<Mode>,
    /// Real and imaginary parts of the coefficients on the features, of unit norm in `L²`.
    pub(crate) functions: Vec<[Vec<f64>; 2]>,
    /// Blocks of the jackknife.
    pub(crate) blocks: usize,
}

/// A complex vector on the refitted functions.
struct Vector<'a> {
    re: &'a [f64],
    im: &'a [f64],
}

impl Vector<'_> {
    /// `vᴴ S v` for a real matrix `S`: real and imaginary part.
    fn form(&self, matrix: &Matrix) -> (f64, f64) {
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

/// The modes of the square operator `operator` by the sums of `groups`, `count` at most (0 for
/// those that are fitted in any case). `O(p³)`.
///
/// # Errors
/// When an eigenvalue iteration fails.
pub(crate) fn spectrum(
    operator: &Matrix,
    groups: &[Sums],
    deterministic: bool,
    count: usize,
) -> Result<Spectrum, Error> {
    let Some((first, rest)) = groups.split_first() else { return Ok(Spectrum::default()) };
    let mut total = first.clone();
    rest.iter().for_each(|group| total.add(1.0, group));
    let basis = basis(operator, &total, count.max(LEADING))?;
    let project = |matrix: &Matrix, weight: f64| {
        let mut seen = basis.transposed_times(&matrix.times(&basis));
        super::blocks::scale(&mut seen, 1.0 / weight);
        seen
    };
    let fitted = |sums: &Sums| {
        let (gram, cross) = (project(&sums.gram, sums.weight), project(&sums.cross, sums.weight));
        gram.solve_positive_definite(&cross)
    };
    let (gram, cross, next) =
        (project(&total.gram, total.weight), project(&total.cross, total.weight), project(&total.next, total.weight));
    let pairs = GeneralEigen::new(&gram.solve_positive_definite(&cross)?, basis.columns())?;
    let mut left_out = Vec::with_capacity(groups.len());
    for group in groups {
        // Blocks without which the functions are dependent tell nothing.
        if let Ok(matrix) = fitted(&without(&total, group)) {
            left_out.push(GeneralEigen::values(&matrix)?);
        }
    }
    let mut found = Vec::with_capacity(pairs.values.len());
    for (value, (re, im)) in pairs.values.iter().zip(pairs.re.iter().zip(&pairs.im)) {
        let vector = Vector { re, im };
        let (norm, _) = vector.form(&gram);
        let (a_re, a_im) = vector.form(&cross);
        let (c, _) = vector.form(&next);
        // vᴴCv − 2Re(μ̄ vᴴAv) + |μ|² vᴴGv
        let squared = c - 2.0 * (value.re * a_re + value.im * a_im) + value.modulus().powi(2) * norm;
        let residual = (squared / norm).max(0.0).sqrt();
        let spread = jackknife(*value, &left_out);
        let mode = Mode { value: *value, spread, residual, reliable: false };
        let unit = |part: &[f64]| -> Vec<f64> {
            let lift = |i: usize| part.iter().enumerate().map(|(k, w)| w * basis.entry(i, k)).sum::<f64>();
            (0..basis.rows()).map(|i| lift(i) / norm.sqrt()).collect()
        };
        found.push((Mode { reliable: reliable(&mode, deterministic), ..mode }, [unit(re), unit(im)]));
    }
    if deterministic {
        // Stable: within each part the order by modulus stays.
        found.sort_by_key(|(mode, _)| !mode.reliable);
    }
    let (modes, functions) = found.into_iter().unzip();
    Ok(Spectrum { modes, functions, blocks: left_out.len() })
}

fn reliable(mode: &Mode, deterministic: bool) -> bool {
    let modulus = mode.value.modulus();
    if deterministic {
        mode.residual <= RESIDUAL
    } else {
        let spread = mode.spread.max(ROUNDING);
        modulus > 3.0 * spread && modulus <= 1.0 + 2.0 * spread
    }
}

/// An orthonormal basis in `L²` of the span of the leading eigenvectors.
fn basis(operator: &Matrix, total: &Sums, count: usize) -> Result<Matrix, Error> {
    let pairs = GeneralEigen::new(operator, count)?;
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(count + 1);
    for (value, (re, im)) in pairs.values.iter().zip(pairs.re.iter().zip(&pairs.im)) {
        // Of a complex pair the first has both parts.
        if value.im >= 0.0 {
            columns.push(re.clone());
        }
        if value.im > 0.0 {
            columns.push(im.clone());
        }
    }
    let span = Matrix::from_fn(operator.rows(), columns.len(), |i, j| columns[j][i]);
    let mut gram = span.transposed_times(&total.gram.times(&span));
    super::blocks::scale(&mut gram, 1.0 / total.weight);
    let variance = |j: usize| gram.entry(j, j).max(0.0);
    let largest = (0..columns.len()).map(variance).fold(0.0, f64::max);
    let kept: Vec<usize> = (0..columns.len()).filter(|j| variance(*j) > NEGLIGIBLE * largest).collect();
    let unit = |k: usize| variance(kept[k]).sqrt();
    let SymmetricEigen { values, vectors } =
        SymmetricEigen::new(kept.len(), |i, j| gram.entry(kept[i], kept[j]) / (unit(i) * unit(j)))?;
    let most = values.first().copied().unwrap_or(0.0);
    let rank = values.iter().filter(|value| **value > NEGLIGIBLE * most).count();
    let change = Matrix::from_fn(columns.len(), rank, |i, r| {
        let place = kept.iter().position(|k| *k == i);
        place.map_or(0.0, |k| vectors[r][k] / (unit(k) * values[r].sqrt()))
    });
    Ok(span.times(&change))
}

/// `√((g−1)/g Σ|μ_b − mean|²)`, with `μ_b` the nearest eigenvalue when block `b` is left out.
fn jackknife(value: Eigenvalue, left_out: &[Vec<Eigenvalue>]) -> f64 {
    let g = left_out.len() as f64;
    if left_out.len() < 2 {
        return f64::INFINITY;
    }
    let distance = |a: &Eigenvalue, b: &Eigenvalue| (a.re - b.re).hypot(a.im - b.im);
    let nearest = |values: &Vec<Eigenvalue>| {
        values.iter().min_by(|a, b| distance(a, &value).total_cmp(&distance(b, &value))).copied().unwrap_or(value)
    };
    let nearest: Vec<Eigenvalue> = left_out.iter().map(nearest).collect();
    let mean = |part: fn(&Eigenvalue) -> f64| nearest.iter().map(part).sum::<f64>() / g;
    let mean = Eigenvalue { re: mean(|v| v.re), im: mean(|v| v.im) };
    ((g - 1.0) / g * nearest.iter().map(|v| distance(v, &mean).powi(2)).sum::<f64>()).sqrt()
}
