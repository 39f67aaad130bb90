//! Lemma 3.1: how many points the ALD rule keeps.
//!
//! With `λ_i ≤ R₀ rⁱ` the lemma says `J ≤ 2 ln(C₁R₀/α)/ln(1/r)`, with `λ_i ≤ R₀ i⁻ᵖ` it says
//! `J ≤ e (C₂R₀/α)^{1/p}`, and leaves the constants open. They can be taken to be 1: the
//! determinant of the dictionary's Gram matrix is the product of the residuals at which its points
//! were kept, hence above `αᴶ`, and at most `λ_1 ⋯ λ_J` by interlacing; so `α < (λ_1 ⋯ λ_J)^{1/J}`,
//! which is at most `R₀ r^{(J+1)/2}`, or `R₀ (J!)^{−p/J} ≤ R₀ (e/J)ᵖ`. `R₀` is the smallest that
//! fits the eigenvalues of the stream's own kernel matrix.

use super::Walk;
use crate::decay::{Law, Regime};
use crate::hindsight::Hindsight;
use crate::prelude::*;

const REGIMES: [Regime; 4] = [Regime::EXPONENTIAL, Regime::LAPLACE, Regime::MATERN_32, Regime::MATERN_52];

const THRESHOLDS: [f64; 8] = [1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7];

/// Eigenvalues below this share of T are not known well enough to fit a law to.
const KNOWN: f64 = 1e-7;

/// The smallest `R₀` with `λ_i ≤ R₀ rⁱ` or `λ_i ≤ R₀ i⁻ᵖ` for the eigenvalues given, the largest
/// first.
fn smallest_scale(law: Law, eigenvalues: &[f64]) -> f64 {
    let scale = |(index, value): (usize, &f64)| {
        let i = (index + 1) as f64;
        match law {
            Law::Exponential { ratio } => value / ratio.powf(i),
            Law::Polynomial { degree } => value * i.powf(degree),
        }
    };
    eigenvalues.iter().enumerate().map(scale).fold(0.0, f64::max)
}

/// The lemma's bound with `C₁ = C₂ = 1`.
fn bound(law: Law, scale: f64, alpha: f64) -> f64 {
    match law {
        Law::Exponential { ratio } => 2.0 * (scale / alpha).ln() / (1.0 / ratio).ln(),
        Law::Polynomial { degree } => std::f64::consts::E * (scale / alpha).powf(1.0 / degree),
    }
}

/// Sizes and bounds on one stream: `(α, J, bound)`.
fn measure(regime: &Regime, rounds: usize, thresholds: &[f64], seed: u64) -> Result<Vec<[f64; 3]>> {
    let (kernel, stream) = (regime.kernel()?, regime.stream(rounds, seed)?);
    let hindsight = Hindsight::new(&kernel, &stream)?;
    let values = hindsight.eigenvalues();
    let known = values.iter().take_while(|value| **value > KNOWN * rounds as f64).count();
    let scale = smallest_scale(regime.law, &values[..known]);
    let row = |&alpha: &f64| {
        let walk = Walk::new(kernel.clone(), &stream, alpha)?;
        Ok([alpha, walk.basis.len() as f64, bound(regime.law, scale, alpha)])
    };
    thresholds.iter().map(row).collect()
}

pub(in crate::sublinear) fn run(plan: &Plan) -> Result<Report> {
    let longest = plan.size_or(1000, 2000);
    let lengths: Vec<usize> = (0..5).rev().map(|i| longest >> i).collect();
    // The last length serves both pictures.
    let inputs = REGIMES.iter().flat_map(|regime| lengths.iter().map(|&rounds| (*regime, rounds)));
    let name = |(regime, rounds): &(Regime, usize)| format!("lemma31 / {} / {rounds}", regime.name);
    let results = plan.each(inputs, name, |(regime, rounds), _| {
        let own = [1.0 / *rounds as f64];
        let thresholds = if *rounds == longest { [&THRESHOLDS[..], &own[..]].concat() } else { own.to_vec() };
        // All lengths of a regime are beginnings of one stream.
        measure(regime, *rounds, &thresholds, plan.seed)
    })?;

    let mut report = Report::new("Lemma 3.1: the size of an ALD dictionary");
    report.words(INTRODUCTION);
    let mut table = Table::with("decay | T # | α ~3 | J # | bound .1 | within");
    let mut by_threshold = Panels::new(format!("Dictionary size against α, T = {longest}"), 2);
    let mut by_length = Panels::new("Dictionary size against T, α = 1/T", 2);
    for regime in &REGIMES {
        let mut series: Vec<(usize, Vec<[f64; 3]>)> = Vec::new();
        for ((own, rounds), rows) in results.0.iter().filter(|((own, _), _)| own == regime) {
            for [alpha, size, bound] in rows {
                let within = Judgement::bound(size <= bound, [(*size, *bound)]);
                table.push(row![own.name, *rounds, *alpha, *size, *bound, within])?;
            }
            series.push((*rounds, rows.clone()));
        }
        let column = |rows: &[[f64; 3]], i: usize| rows.iter().map(|row| row[i]).collect::<Vec<f64>>();
        if let Some((_, rows)) = series.last() {
            let rows = &rows[..rows.len() - 1];
            let (alphas, sizes, bounds) = (column(rows, 0), column(rows, 1), column(rows, 2));
            let figure = Figure::new(format!("decay {}", regime.name)).x_label("α").y_label("stored points");
            by_threshold = by_threshold.panel(figure.log_x().log_y().line("measured", &alphas, &sizes).dashed(
                "Lemma 3.1",
                &alphas,
                &bounds,
            ));
        }
        let lengths: Vec<f64> = series.iter().map(|(rounds, _)| *rounds as f64).collect();
        // The last row of every stream is the one at α = 1/T.
        let ends: Vec<[f64; 3]> = series.iter().filter_map(|(_, rows)| rows.last().copied()).collect();
        let figure = Figure::new(format!("decay {}", regime.name)).x_label("T").y_label("stored points");
        by_length = by_length.panel(figure.log_x().log_y().line("measured", &lengths, &column(&ends, 1)).dashed(
            "Lemma 3.1",
            &lengths,
            &column(&ends, 2),
        ));
    }
    report.table("lemma31", "Dictionary sizes and the lemma's bound", table);
    report.picture("lemma31_alpha", "Dictionary size against the threshold; dashed: the bound", by_threshold);
    report.picture("lemma31_rounds", "Dictionary size against T at α = 1/T; dashed: the bound", by_length);
    Ok(report)
}

const INTRODUCTION: &str = "The lemma leaves its constants open; they are taken to be 1, which a determinant argument allows (the \
Gram matrix's determinant is the product of the residuals at which points were kept, and at most the product of the largest \
eigenvalues). R₀ is the smallest that fits the eigenvalues of the stream's kernel matrix.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_by_hand() {
        let law = Law::Exponential { ratio: 0.5 };
        assert_eq!(smallest_scale(law, &[3.0, 2.0]), 8.0);
        assert!((bound(law, 8.0, 0.5) - 8.0).abs() < 1e-12);
        let law = Law::Polynomial { degree: 2.0 };
        assert_eq!(smallest_scale(law, &[3.0, 2.0]), 8.0);
        assert!((bound(law, 8.0, 0.5) - 4.0 * std::f64::consts::E).abs() < 1e-12);
    }

    #[test]
    fn the_bound_holds() {
        for regime in &REGIMES {
            for [alpha, size, bound] in measure(regime, 200, &THRESHOLDS, 5).unwrap() {
                assert!(size <= bound, "{} at {alpha}: {size} > {bound}", regime.name);
            }
        }
    }
}
