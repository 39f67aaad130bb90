//! Section 5: regret against time, against γ and against α; the grid of experts and its intervals.
//!
//! OPF for a row of γ around ρ = ρ(A − LC), sample discounting (16) for a row of α (its regulariser
//! undiscounted as printed, and discounted, which is cheaper), the experts that know neither, and
//! the two floors: the last value, and the line through the last two.

use mercer_forecast::{ConformalIntervals, IntervalParams};
use mercer_streams::LinearSystem;

use super::forecasters::ForecastMethod;
use super::summary::{Curves, ReferenceRegret, axis, smaller_in};
use super::trial::{PredictionTrial, SystemModel, trials};
use super::{SECTION_5, SECTION_5_EPOCHS, horizon};
use crate::prelude::*;

/// Factors of the sweep beside ρ and 1.
const GAMMAS: [f64; 11] = [0.25, 0.3, 0.35, 0.4, 0.45, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95];

/// Share of the values that the intervals should hold.
const COVERAGE: f64 = 0.9;

/// Reference means at N = 7680; the last is known to its first digit alone.
const REFERENCES: &[ReferenceRegret] = &[
    ReferenceRegret { method: "OPF, γ = ρ", mean: 5.7, unit: 1e3, decimals: 1 },
    ReferenceRegret { method: "OPF, γ = 1", mean: 1.23, unit: 1e4, decimals: 2 },
    ReferenceRegret { method: "discounted, α = 0.99", mean: 8.0, unit: 1e4, decimals: 0 },
];

/// Intervals that should hold [`COVERAGE`] of the values.
pub(super) fn intervals(outputs: usize) -> Result<ConformalIntervals> {
    let params = IntervalParams::default().coverage(COVERAGE);
    Ok(ConformalIntervals::new(outputs, params)?)
}

/// Results of one method on one seed: its regret at each mark and, for the experts only, the share
/// of the values within their intervals over the second half, by output.
type ForgettingResult = (Vec<f64>, Option<Vec<f64>>);

pub(super) fn run(plan: &Plan) -> Result<Report> {
    let epochs = plan.size.unwrap_or(SECTION_5_EPOCHS);
    let model = SystemModel::new(LinearSystem::tracking())?;
    let last = horizon(&SECTION_5, epochs);
    let methods = methods(model.radius(), plan.full);
    let marks = log_spaced(SECTION_5.first_start() * 5 / 4, last, 60);
    let seeds = plan.repetitions_or(8, 100);
    let results = trials(plan, &model, last, seeds, "opf_forgetting", |trial| {
        methods.iter().map(|(_, method)| outcome(trial, method, &marks)).collect::<Result<Vec<_>>>()
    })?;
    let (methods, names) = methods.into_iter().map(|(name, method)| (method, name)).unzip();
    let mut coverage = Vec::new();
    let seeds = results.into_iter().map(|seed| {
        let (curves, shares): (Vec<_>, Vec<_>) = seed.into_iter().unzip();
        coverage.extend(shares.into_iter().flatten());
        curves
    });
    let curves = Curves { names, marks, seeds: seeds.collect() };
    ForgettingRuns { radius: model.radius(), last, methods, curves, coverage }.report(epochs == SECTION_5_EPOCHS)
}

fn methods(radius: f64, full: bool) -> Vec<(String, ForecastMethod)> {
    let mut gammas: Vec<f64> = GAMMAS.into_iter().chain([radius, 1.0]).collect();
    gammas.sort_by(f64::total_cmp);
    let named = |gamma: f64| if gamma == radius { "OPF, γ = ρ".to_owned() } else { format!("OPF, γ = {gamma}") };
    let mut methods: Vec<(String, ForecastMethod)> =
        gammas.iter().map(|&gamma| (named(gamma), ForecastMethod::Opf(gamma))).collect();
    for alpha in if full { vec![0.99, 0.999, 0.9999] } else { vec![0.99, 0.9999] } {
        methods.push((
            format!("discounted, α = {alpha}"),
            ForecastMethod::Discounted { alpha, discount_regulariser: false },
        ));
        let name = format!("discounted with its λ, α = {alpha}");
        methods.push((name, ForecastMethod::Discounted { alpha, discount_regulariser: true }));
    }
    methods.push(("Experts".into(), ForecastMethod::Experts));
    methods.push(("last value".into(), ForecastMethod::LastValue));
    methods.push(("linear extrapolation".into(), ForecastMethod::LinearExtrapolation));
    methods
}

fn outcome(trial: &PredictionTrial, method: &ForecastMethod, marks: &[usize]) -> Result<ForgettingResult> {
    let m = trial.dimension();
    let mut forecaster = method.build(m, SECTION_5, trial.last())?;
    let from = SECTION_5.first_start();
    if *method != ForecastMethod::Experts {
        return Ok((trial.regret(&mut forecaster, from, marks)?, None));
    }
    let mut intervals = intervals(m)?;
    let (mut within, mut counted, mut refused) = (vec![0.0; m], 0.0, None);
    let curve = trial.regret_watched(&mut forecaster, from, marks, |k, prediction| {
        if k < from {
            return;
        }
        let y = trial.output(k);
        if 2 * k > trial.last() {
            counted += 1.0;
            for (output, within) in within.iter_mut().enumerate() {
                *within += f64::from(u8::from((y[output] - prediction[output]).abs() <= intervals.radius(output)));
            }
        }
        refused = intervals.observe(prediction, y).err().or(refused.take());
    })?;
    match refused {
        Some(error) => Err(error.into()),
        None => Ok((curve, Some(all_of(&within, |within| within / counted)))),
    }
}

struct ForgettingRuns {
    radius: f64,
    last: usize,
    methods: Vec<ForecastMethod>,
    curves: Curves,
    /// Coverage on each seed, by output.
    coverage: Vec<Vec<f64>>,
}

impl ForgettingRuns {
    /// `whole` says that the run has the paper's length, so that references apply.
    fn report(&self, whole: bool) -> Result<Report> {
        let seeds = self.curves.seeds.len();
        let mut report = Report::new("OPF, section 5: forgetting against regret");
        report.words(format!(
            "N = {}, {seeds} seeds, ρ(A − LC) = {:.5}; bands are one standard error. The reference means are those of an \
             independent dense implementation over 100 other seeds; the paper prints none.",
            self.last, self.radius
        ));
        report.table("opf_forgetting_claims", "What the paper says, and what this project promises", self.claims()?);
        report.table(
            "opf_forgetting",
            format!("Regret at N = {}, mean ± standard deviation", self.last),
            self.curves.table(REFERENCES, whole)?,
        );
        report.picture("opf_forgetting_time", "Regret against time: γ left, α and the rest right", self.against_time());
        report.picture("opf_forgetting_gamma", "Regret at N against γ", self.against_gamma());
        Ok(report)
    }

    fn claims(&self) -> Result<Table> {
        let finals = |name: &str| self.curves.named_finals(name);
        let (balanced, plain) = (finals("OPF, γ = ρ"), finals("OPF, γ = 1"));
        let mut claims = Claims::new();
        let (smaller, of) = smaller_in(&balanced, &plain);
        claims.of_paper(
            "γ = ρ has less regret than γ = 1",
            format!("{} against {}; smaller in {of}", short(mean(&balanced)), short(mean(&plain))),
            smaller == balanced.len(),
        )?;
        let opf: Vec<(f64, f64)> = self
            .methods
            .iter()
            .enumerate()
            .filter_map(|(i, method)| match method {
                ForecastMethod::Opf(gamma) => Some((*gamma, mean(&self.curves.finals(i)))),
                _ => None,
            })
            .collect();
        let above = opf.iter().filter(|(gamma, _)| *gamma >= self.radius);
        let best_above = above.clone().map(|(_, regret)| *regret).fold(f64::INFINITY, f64::min);
        claims.of_paper(
            "γ = ρ is the best of [ρ, 1]",
            format!("{} at ρ, {} at the best of [ρ, 1]", short(mean(&balanced)), short(best_above)),
            mean(&balanced) <= best_above,
        )?;
        let steps: Vec<f64> = above.map(|(_, regret)| *regret).collect();
        let falls = steps.windows(2).filter(|pair| pair[1] < pair[0]).count();
        claims.of_paper(
            "Regret rises with γ on [ρ, 1]",
            format!("{falls} falls in {} steps", steps.len() - 1),
            falls == 0,
        )?;
        let best = opf.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((f64::NAN, f64::NAN));
        claims.observe(
            "Whether a γ below ρ is better still (the paper: open)",
            format!("least regret {} at γ = {}", short(best.1), short(best.0)),
            if best.0 < self.radius { "better below ρ" } else { "not better below ρ" },
        )?;
        for (name, better) in [("discounted, α = 0.9999", true), ("discounted, α = 0.99", false)] {
            let own = finals(name);
            let (smaller, of) = smaller_in(&own, &plain);
            let statement = if better { "is slightly better than" } else { "is far worse than" };
            claims.of_paper(
                format!("{name} {statement} γ = α = 1"),
                format!("{} against {}; smaller in {of}", short(mean(&own)), short(mean(&plain))),
                if better { mean(&own) < mean(&plain) } else { smaller == 0 && mean(&own) > 3.0 * mean(&plain) },
            )?;
        }
        let experts = finals("Experts");
        claims.ours(
            "The expert grid, which knows no γ, has at most 1.15 times the regret of the best γ in hindsight",
            format!("{} times {}", short(mean(&experts) / best.1), short(best.1)),
            mean(&experts) <= 1.15 * best.1,
        )?;
        let shares = all_of(&self.coverage, |shares| mean(shares));
        claims.ours(
            format!("Intervals hold {}% of the values within 1% over the second half", 100.0 * COVERAGE),
            format!("{:.2}% on average over seeds and outputs", 100.0 * mean(&shares)),
            (mean(&shares) - COVERAGE).abs() <= 0.01,
        )?;
        Ok(claims.table())
    }

    fn against_time(&self) -> Panels {
        let xs = axis(&self.curves.marks);
        let draw = |title: &str, names: &[&str]| {
            let figure = Figure::new(title).x_label("N").y_label("regret").log_x().log_y();
            names.iter().fold(figure, |figure, name| self.curves.band(name).draw(figure, *name, &xs))
        };
        let gammas = ["OPF, γ = ρ", "OPF, γ = 0.3", "OPF, γ = 0.7", "OPF, γ = 1"];
        // The last value is off by orders of magnitude, and stands in the table.
        let others = ["OPF, γ = ρ", "OPF, γ = 1", "discounted, α = 0.99", "linear extrapolation"];
        // The experts lie upon the best line and the slow discount upon γ = 1, so that they are
        // dashed.
        let mean_of = |name: &str| self.curves.band(name).mean;
        let left = draw("forgetting of lags", &gammas).dashed("Experts", &xs, &mean_of("Experts"));
        let slow = "discounted, α = 0.9999";
        let right = draw("discounting of samples, and a floor", &others).dashed(slow, &xs, &mean_of(slow));
        Panels::new("", 2).panel(left).panel(right)
    }

    fn against_gamma(&self) -> Figure {
        let mut points: Vec<[f64; 4]> = Vec::new();
        for (name, method) in self.curves.names.iter().zip(&self.methods) {
            if let ForecastMethod::Opf(gamma) = method {
                let band = self.curves.band(name);
                if let (Some(mean), Some(low), Some(high)) = (band.mean.last(), band.low.last(), band.high.last()) {
                    points.push([*gamma, *mean, *low, *high]);
                }
            }
        }
        let [gammas, means, low, high] = [0, 1, 2, 3].map(|i| all_of(&points, |point| point[i]));
        let experts = mean(&self.curves.named_finals("Experts"));
        let best = means.iter().copied().fold(f64::INFINITY, f64::min);
        let most = high.iter().copied().fold(0.0, f64::max);
        Figure::new("")
            .x_label("γ")
            .y_label(format!("regret at N = {}", self.last))
            .line_with_band("OPF", &gammas, &means, &low, &high)
            .dashed("Experts", &[gammas[0], 1.0], &[experts, experts])
            .dashed("γ = ρ", &[self.radius, self.radius], &[0.9 * best, most])
    }
}
