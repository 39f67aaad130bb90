//! The factors of the regret bound (22) against γ (section 5, D.1), and the bounds on them (E.4).
//!
//! For every γ, epoch and seed: the accumulation factor `Σ ‖V̄^{−1/2}Z_{k+1}‖²` (squared and a
//! priori, as the proof uses it; (22) is also printed without the square), the regression factor
//! `‖E Z̄ᵀV̄^{−1/2}‖₂²` and the regularisation factor `‖λGD⁻²V̄^{−1/2}‖₂²`. Beside the regression
//! factor stand what the analyses bound it by, their tails left out: the largest eigenvalue of the
//! innovations' covariance times `2 tr(Z̄ᵀV̄⁻¹Z̄)` (this paper; the 2 is Lemma 5's), or times
//! `ln(det V̄/det λD⁻²)` (self-normalised martingales; without the constant that several outputs
//! cost).

use mercer_streams::LinearSystem;

use super::decomposition::{EpochTerms, decompose, largest};
use super::summary::{axis, band as band_of};
use super::trial::{SystemModel, trials};
use super::{LAMBDA, SECTION_5, SECTION_5_EPOCHS, horizon};
use crate::judgement::Outcome;
use crate::prelude::*;

/// Factors beside ρ and 1.
const GAMMAS: [f64; 9] = [0.3, 0.4, 0.45, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95];

/// Factor that Lemma 5 puts before the trace.
const TRACE_CONSTANT: f64 = 2.0;

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let epochs = plan.size.unwrap_or(SECTION_5_EPOCHS);
    let model = SystemModel::new(LinearSystem::tracking())?;
    let last = horizon(&SECTION_5, epochs);
    let mut gammas: Vec<f64> = GAMMAS.into_iter().chain([model.radius(), 1.0]).collect();
    gammas.sort_by(f64::total_cmp);
    let seeds = plan.repetitions_or(8, 50);
    let seeds = trials(plan, &model, last, seeds, "opf_terms", |trial| {
        gammas.iter().map(|&gamma| decompose(&model, trial, &SECTION_5, gamma, LAMBDA, usize::MAX)).collect()
    })?;
    let covariance = model.innovation_covariance();
    let m = model.outputs();
    let innovation = largest(m, |i, j| covariance[i * m + j])?;
    TermRuns { radius: model.radius(), last, gammas, innovation, seeds }.report()
}

/// A quantity of an epoch.
type Term = fn(&EpochTerms) -> f64;

/// Seeds by γ by epoch.
struct TermRuns {
    radius: f64,
    last: usize,
    gammas: Vec<f64>,
    /// The largest eigenvalue of R̄.
    innovation: f64,
    seeds: Vec<Vec<Vec<EpochTerms>>>,
}

impl TermRuns {
    /// A term against γ at the end of one epoch (from 0), or its sum over the epochs so far.
    fn against_gamma(&self, epoch: usize, summed: bool, term: Term) -> Band {
        let value = |epochs: &Vec<EpochTerms>| -> f64 {
            if summed { epochs[..=epoch].iter().map(term).sum() } else { term(&epochs[epoch]) }
        };
        let curves: Vec<Vec<f64>> = self.seeds.iter().map(|seed| seed.iter().map(value).collect()).collect();
        band_of(curves.iter().map(Vec::as_slice))
    }

    /// A term against the ends of the epochs for one γ.
    fn against_time(&self, gamma: usize, scale: f64, term: Term) -> Band {
        let curves: Vec<Vec<f64>> =
            self.seeds.iter().map(|seed| seed[gamma].iter().map(|epoch| scale * term(epoch)).collect()).collect();
        band_of(curves.iter().map(Vec::as_slice))
    }

    fn index(&self, gamma: f64) -> usize {
        self.gammas.iter().position(|own| *own == gamma).unwrap_or(0)
    }

    fn report(&self) -> Result<Report> {
        let epochs = self.seeds[0][0].len();
        let ends: Vec<usize> = self.seeds[0][0].iter().map(|epoch| epoch.end).collect();
        let mut report = Report::new("OPF, section 5, D.1 and E.4: what forgetting does to the error's factors");
        report.words(format!(
            "The system of section 5 at N = {}, {} seeds, ρ = {:.5}; bands are one standard error. The largest eigenvalue of the \
             innovations' covariance is {:.3}.",
            self.last,
            self.seeds.len(),
            self.radius,
            self.innovation
        ));
        report.table("opf_terms_claims", "What the paper says of the factors", self.claims(epochs)?);
        let mut table = Table::with("γ ~4");
        let columns: [(&str, bool, Term); 9] = [
            ("Σ‖ỹ − ŷ‖²", true, |e| e.gap),
            ("accumulation", true, |e| e.accumulation),
            ("regression", false, |e| e.regression),
            ("regularisation", false, |e| e.regularisation),
            ("trace", false, |e| e.trace),
            ("log det ratio", false, |e| e.log_determinant),
            ("bias error", false, |e| e.bias_error),
            ("regression error", false, |e| e.regression_error),
            ("regularisation error", false, |e| e.regularisation_error),
        ];
        let bands: Vec<Band> =
            columns.iter().map(|(_, summed, term)| self.against_gamma(epochs - 1, *summed, *term)).collect();
        for (name, _, _) in &columns {
            table = table.numbers(*name, Format::Significant(4));
        }
        for (i, gamma) in self.gammas.iter().enumerate() {
            let row = std::iter::once((*gamma).into()).chain(bands.iter().map(|band| band.mean[i].into()));
            table.push(row.collect())?;
        }
        report.table("opf_terms", "The gap of (19) and the accumulation of (22) over all epochs, the factors at N, mean squared errors of (21) in the last epoch", table);
        report.picture("opf_terms_gamma", "Factors against γ", self.pictures(&ends));
        report.picture(
            "opf_terms_bounds",
            "The regression factor and its bounds, at the ends of the epochs",
            self.bounds(&ends),
        );
        Ok(report)
    }

    fn pictures(&self, ends: &[usize]) -> Panels {
        let figure = |title: &str, y: &str| Figure::new(title).x_label("γ").y_label(y).log_y();
        let last = ends.len() - 1;
        let mut accumulation = figure("accumulation, summed to the end of an epoch", "accumulation factor");
        // Every other epoch, so that the legend stays short.
        for epoch in (0..ends.len()).rev().step_by(2) {
            let band = self.against_gamma(epoch, true, |e| e.accumulation);
            accumulation = band.draw(accumulation, format!("N = {}", ends[epoch]), &self.gammas);
        }
        let mut trade = figure(&format!("trade-off at N = {}", ends[last]), "squared norm");
        let parts: [(&str, Term); 2] = [("regression", |e| e.regression), ("regularisation", |e| e.regularisation)];
        for (name, term) in parts {
            trade = self.against_gamma(last, false, term).draw(trade, name, &self.gammas);
        }
        Panels::new("", 2).panel(accumulation).panel(trade)
    }

    fn bounds(&self, ends: &[usize]) -> Panels {
        let xs = axis(ends);
        let mut panels = Panels::new("", 2);
        for (title, gamma) in [("γ = ρ", self.radius), ("γ = 1", 1.0)] {
            let i = self.index(gamma);
            let figure = Figure::new(title).x_label("k").y_label("squared norm").log_x().log_y();
            let figure = self.against_time(i, 1.0, |e| e.regression).draw(figure, "regression factor", &xs);
            let trace = self.against_time(i, TRACE_CONSTANT * self.innovation, |e| e.trace);
            let determinant = self.against_time(i, self.innovation, |e| e.log_determinant);
            let figure = trace.draw(figure, "trace bound (this paper)", &xs);
            panels = panels.panel(determinant.draw(figure, "determinant bound", &xs));
        }
        panels
    }

    fn claims(&self, epochs: usize) -> Result<Table> {
        let (balanced, plain) = (self.index(self.radius), self.index(1.0));
        let last = epochs - 1;
        let mut claims = Claims::new();
        let ratio = |summed: bool, term: Term| {
            let band = self.against_gamma(last, summed, term);
            (band.mean[balanced], band.mean[plain])
        };
        let parts: [(&str, bool, Term); 2] =
            [("accumulation", true, |e| e.accumulation), ("regression", false, |e| e.regression)];
        for (name, summed, term) in parts {
            let (a, b) = ratio(summed, term);
            claims.of_paper(
                format!("Forgetting (γ = ρ) reduces the {name} factor"),
                format!("{} against {} at γ = 1", short(a), short(b)),
                a < b,
            )?;
        }
        let (a, b) = ratio(false, |e| e.regularisation);
        let saved = ratio(false, |e| e.regression);
        claims.of_paper(
            "It does not raise the regularisation factor by more than it saves of the regression factor",
            format!("raised by {}, saved {}", short(a - b), short(saved.1 - saved.0)),
            a - b < saved.1 - saved.0,
        )?;
        let (trace, _) = ratio(false, |e| e.trace);
        let half = self.seeds[0][balanced][last].lags as f64 * 1.5;
        claims.judge(
            "D.1: at γ = ρ the trace is at most about mp/2",
            format!("{} against mp/2 = {}", short(trace), short(half)),
            if trace <= half {
                Judgement::bound(true, [(trace, half)])
            } else {
                Judgement::new(ComparisonKind::Bound, Outcome::Differs, "larger by constants")
            },
        )?;
        for (name, i) in [("γ = ρ", balanced), ("γ = 1", plain)] {
            let end = |term: Term| mean_of(&self.seeds, |seed| term(&seed[i][last]));
            let (actual, trace) = (end(|e| e.regression), TRACE_CONSTANT * self.innovation * end(|e| e.trace));
            let determinant = self.innovation * end(|e| e.log_determinant);
            claims.judge(
                format!(
                    "E.4, {name}: the regression factor is below the trace bound, and that below the determinant bound"
                ),
                format!("{} ≤ {} ≤ {}", short(actual), short(trace), short(determinant)),
                Judgement::bound(actual <= trace && trace <= determinant, [(actual, trace)]),
            )?;
        }
        Ok(claims.table())
    }
}
