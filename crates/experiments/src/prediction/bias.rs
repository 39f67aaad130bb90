//! E.3: the bias of a finite window against β, what cancellation leaves of it, and the regret.
//!
//! The bias `b_k = C(A − LC)^p x̂_{k−p}` is what the window of p lags cannot see. On a system that
//! integrates x̂ grows, but the regression learns to make up for it: the bias error of (21) is
//! `Σ b_l Z_lᵀ V̄⁻¹ Z_{k+1} − b_{k+1}`. Both are shown as root mean squares over the last epoch
//! (the paper says "average"), and beside them the regret of the whole run.

use mercer_forecast::EpochSchedule;
use mercer_streams::LinearSystem;

use super::decomposition::decompose;
use super::forecasters::opf;
use super::summary::band as band_of;
use super::trial::{PredictionTrial, SystemModel, trials};
use super::{LAMBDA, SECTION_5, SECTION_5_EPOCHS, horizon};
use crate::prelude::*;

/// The β tried; Theorem 1's, which the system decides, is put behind them.
const BETAS: [f64; 11] = [0.3, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0];

/// Results of one γ on one seed, by β.
struct BiasResult {
    bias: Vec<f64>,
    left: Vec<f64>,
    regret: Vec<f64>,
}

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let epochs = plan.size.unwrap_or(SECTION_5_EPOCHS);
    let model = SystemModel::new(LinearSystem::tracking())?;
    let last = horizon(&SECTION_5, epochs);
    let gammas = [("γ = ρ", model.radius()), ("γ = 1", 1.0)];
    // The paper's choice by Theorem 1, with Jordan blocks of order 2 at the eigenvalue 1.
    let theory = 5.0 / (1.0 / model.radius()).ln();
    let betas: Vec<f64> = BETAS.into_iter().chain([theory]).collect();
    let seeds = plan.repetitions_or(8, 50);
    let results = trials(plan, &model, last, seeds, "opf_bias", |trial| {
        gammas.iter().map(|(_, gamma)| outcome(&model, trial, *gamma, &betas)).collect::<Result<Vec<_>>>()
    })?;

    let band = |gamma: usize, pick: fn(&BiasResult) -> &Vec<f64>| {
        band_of(results.iter().map(|seed: &Vec<BiasResult>| pick(&seed[gamma]).as_slice()))
    };
    let mut bias = Figure::new("bias and what is left of it").x_label("β").y_label("root mean square").log_y();
    bias = band(0, |o| &o.bias).draw(bias, "bias", &betas);
    let mut regret = Figure::new("regret").x_label("β").y_label(format!("regret at N = {last}")).log_y();
    let mut table = Table::with("β ~3 | lags # | bias ~3");
    let (mut lefts, mut regrets) = (Vec::new(), Vec::new());
    for (i, (name, _)) in gammas.iter().enumerate() {
        let left = band(i, |o| &o.left);
        bias = left.draw(bias, format!("left over, {name}"), &betas);
        let own = band(i, |o| &o.regret);
        regret = own.draw(regret, *name, &betas);
        table = table
            .numbers(format!("left, {name}"), Format::Significant(3))
            .numbers(format!("regret, {name}"), Format::Significant(4));
        lefts.push(left);
        regrets.push(own);
    }
    let biases = band(0, |o| &o.bias);
    let start = horizon(&SECTION_5, epochs - 1) + 1;
    for (i, beta) in betas.iter().enumerate() {
        let lags = EpochSchedule { beta: *beta, ..SECTION_5 }.epoch(start).lags;
        let mut row = vec![(*beta).into(), lags.into(), biases.mean[i].into()];
        row.extend(lefts.iter().zip(&regrets).flat_map(|(left, regret)| [left.mean[i].into(), regret.mean[i].into()]));
        table.push(row)?;
    }

    let mut claims = Claims::new();
    let smallest = lefts[0].mean.iter().zip(&biases.mean).map(|(left, bias)| bias / left).fold(f64::INFINITY, f64::min);
    claims.of_paper(
        "What cancellation leaves is much smaller than the bias (γ = ρ)",
        format!("at least {} times smaller at every β", short(smallest)),
        smallest > 3.0,
    )?;
    // From β = 1.5 on the bias no longer matters.
    let settled = BETAS.iter().position(|beta| *beta == 1.5).unwrap_or(0);
    let spread = |own: &Band| {
        let tail = &own.mean[settled..BETAS.len()];
        tail.last().copied().unwrap_or(f64::NAN) / tail[0]
    };
    claims.of_paper(
        "With γ = ρ the regret is flat in β; with γ = 1 it grows",
        format!("from β = 1.5 to 5: times {} and times {}", short(spread(&regrets[0])), short(spread(&regrets[1]))),
        (spread(&regrets[0]) - 1.0).abs() < 0.1 && spread(&regrets[1]) > 1.25,
    )?;
    let least = |own: &Band| {
        let best = (0..BETAS.len()).min_by(|a, b| own.mean[*a].total_cmp(&own.mean[*b])).unwrap_or(0);
        (BETAS[best], own.mean[best])
    };
    let ((beta, value), asked) = (least(&regrets[1]), regrets[1].mean[BETAS.len()]);
    claims.of_paper(
        "A β smaller than Theorem 1's is better (γ = 1)",
        format!(
            "least regret {} at β = {beta} against {} at Theorem 1's β = {}",
            short(value),
            short(asked),
            short(theory)
        ),
        value < asked,
    )?;
    let mut report = Report::new("OPF, E.3: bias, its cancellation and regret against β");
    report.words(format!("The system of section 5 at N = {last}, {seeds} seeds; bands are one standard error."));
    report.table("opf_bias_claims", "What the paper says of β", claims.table());
    report.table("opf_bias", "Root mean squares over the last epoch, and regret", table);
    report.picture(
        "opf_bias",
        "Bias, what is left of it, and regret against β",
        Panels::new("", 2).panel(bias).panel(regret),
    );
    Ok(report)
}

fn outcome(model: &SystemModel, trial: &PredictionTrial, gamma: f64, betas: &[f64]) -> Result<BiasResult> {
    let (mut bias, mut left, mut regret) = (Vec::new(), Vec::new(), Vec::new());
    for &beta in betas {
        let schedule = EpochSchedule { beta, ..SECTION_5 };
        let terms = decompose(model, trial, &schedule, gamma, LAMBDA, 1)?;
        for last in &terms {
            bias.push(last.bias.sqrt());
            left.push(last.bias_error.sqrt());
        }
        let mut opf = opf(trial.dimension(), schedule, gamma)?;
        regret.extend(trial.regret(&mut opf, schedule.first_start(), &[trial.last()])?);
    }
    Ok(BiasResult { bias, left, regret })
}
