//! Figure 1: the closed-loop Markov blocks `G_a = C(A − LC)^{a−1}L`, and what least squares makes
//! of them.
//!
//! The true blocks fall like ρᵃ. Plain least squares (γ = 1) has errors of one size at every lag,
//! so that beyond the first few lags its estimates are nothing but error; γ = ρ expects the fall
//! and keeps them small. Shown are Frobenius norms at the end of the run of section 5.

use mercer_forecast::{EpochSchedule, Forecaster};
use mercer_streams::LinearSystem;

use super::forecasters::opf;
use super::summary::band as band_of;
use super::trial::{PredictionTrial, SystemModel, trials};
use super::{SECTION_5, SECTION_5_EPOCHS, horizon};
use crate::prelude::*;

/// Results of one seed for one γ: norms of the estimated blocks, and of their errors, lag 1 first.
struct Estimate {
    norms: Vec<f64>,
    errors: Vec<f64>,
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let epochs = plan.size.unwrap_or(SECTION_5_EPOCHS);
    let model = SystemModel::new(LinearSystem::tracking())?;
    let last = horizon(&SECTION_5, epochs);
    let gammas = [("γ = 1", 1.0), ("γ = ρ", model.radius())];
    let seeds = plan.repetitions_or(8, 50);
    let results = trials(plan, &model, last, seeds, "opf_overfitting", |trial| {
        gammas.iter().map(|(_, gamma)| estimate(&model, trial, &SECTION_5, *gamma)).collect::<Result<Vec<_>>>()
    })?;

    let lags = results[0][0].norms.len();
    let truth: Vec<f64> = model.markov(lags).iter().map(|block| norm(block)).collect();
    let xs: Vec<f64> = (1..=lags).map(|lag| lag as f64).collect();
    let mut figure = Figure::new("estimates").x_label("lag a").y_label("‖G_a‖").log_y();
    let mut errors = Figure::new("errors of the estimates").x_label("lag a").y_label("‖estimate − G_a‖").log_y();
    let mut table = Table::with("lag # | truth ~3");
    let mut bands = Vec::new();
    for (i, (name, _)) in gammas.iter().enumerate() {
        let band = band_of(results.iter().map(|seed| seed[i].norms.as_slice()));
        figure = band.draw(figure, *name, &xs);
        let error = band_of(results.iter().map(|seed| seed[i].errors.as_slice()));
        errors = error.draw(errors, *name, &xs);
        table = table.numbers(*name, Format::Significant(3)).numbers(format!("error, {name}"), Format::Significant(3));
        bands.push((band, error));
    }
    figure = figure.dashed("truth", &xs, &truth);
    errors = errors.dashed("truth", &xs, &truth);
    for lag in 0..lags {
        let mut row = vec![(lag + 1).into(), truth[lag].into()];
        row.extend(bands.iter().flat_map(|(band, error)| [band.mean[lag].into(), error.mean[lag].into()]));
        table.push(row)?;
    }

    let mut claims = Claims::new();
    let tail = |i: usize| mean(&bands[i].0.mean[lags / 2..]) / mean(&truth[lags / 2..]);
    claims.of_paper(
        "γ = 1 overfits the small blocks: over the second half of the lags its estimates are larger than the truth",
        format!("{} times as large on average", short(tail(0))),
        tail(0) > 2.0,
    )?;
    let total = |i: usize| bands[i].1.mean.iter().map(|e| e * e).sum::<f64>().sqrt();
    claims.of_paper(
        "γ = ρ estimates the blocks better, all lags together",
        format!("error {} against {} of γ = 1", short(total(1)), short(total(0))),
        total(1) < total(0),
    )?;
    let mut report = Report::new("OPF, Figure 1: overfitted Markov blocks");
    report.words(format!(
        "The system of section 5 at N = {last}, {seeds} seeds; p = {lags} lags; bands are one standard error."
    ));
    report.table("opf_overfitting_claims", "What the paper says of Figure 1", claims.table());
    report.table("opf_overfitting", "Norms of true and estimated Markov blocks", table);
    report.picture(
        "opf_overfitting",
        "Norms of the Markov blocks by lag, true (dashed) and estimated, and of the errors",
        Panels::new("", 2).panel(figure).panel(errors),
    );
    Ok(report)
}

fn estimate(model: &SystemModel, trial: &PredictionTrial, schedule: &EpochSchedule, gamma: f64) -> Result<Estimate> {
    let m = trial.dimension();
    let mut opf = opf(m, *schedule, gamma)?;
    trial.regret(&mut opf, 0, &[])?;
    let (lags, coefficients) = (opf.lags(), opf.coefficients());
    let truth = model.markov(lags);
    // m rows of mp numbers, lag 1 first, become blocks.
    let block = |lag: usize| -> Vec<f64> {
        (0..m)
            .flat_map(|row| (0..m).map(move |column| (row, column)))
            .map(|(row, column)| coefficients[(row * lags + lag) * m + column])
            .collect()
    };
    let blocks: Vec<Vec<f64>> = (0..lags).map(block).collect();
    let error = |(block, truth): (&Vec<f64>, &Vec<f64>)| {
        norm(&block.iter().zip(truth).map(|(a, b)| a - b).collect::<Vec<f64>>())
    };
    let errors = blocks.iter().zip(&truth).map(error).collect();
    Ok(Estimate { norms: blocks.iter().map(|block| norm(block)).collect(), errors })
}

/// The Frobenius norm.
fn norm(block: &[f64]) -> f64 {
    block.iter().map(|x| x * x).sum::<f64>().sqrt()
}
