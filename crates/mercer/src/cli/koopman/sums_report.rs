//! What exact sums have found, for people and as JSON.

use std::fmt::Write as _;

use mercer::koopman::{Choice, Mode, OperatorModel};
use serde_json::{Value, json};

use super::sums::COVERAGE;
use crate::cli::output::{digits, number};

/// What is known beside the model.
pub(super) struct Found {
    pub(super) data: String,
    /// Of the columns of the file; empty if it has none.
    pub(super) names: Vec<String>,
    /// Rows of a state, where the file is a trajectory.
    pub(super) delay: Option<usize>,
    /// Gaps at which the trajectory was cut.
    pub(super) cuts: u64,
    /// Time from a state to its successor, and whether it was told.
    pub(super) tau: f64,
    pub(super) timed: bool,
    /// Modes that are wanted at most.
    pub(super) modes: usize,
}

pub(super) struct Forecast {
    pub(super) rows: Vec<Vec<f64>>,
    /// Of each row from the end of the data, or one for all queries.
    pub(super) half_widths: Vec<Vec<Option<f64>>>,
    pub(super) from_end: bool,
}

impl Forecast {
    fn half_width(&self, row: usize, j: usize) -> Option<f64> {
        *self.half_widths.get(if self.from_end { row } else { 0 })?.get(j)?
    }
}

pub(super) struct SumsReport<'a> {
    pub(super) found: Found,
    pub(super) model: &'a OperatorModel,
    pub(super) forecast: Option<Forecast>,
    /// Numbers of `x` and of `x⁺`.
    pub(super) dimensions: (usize, usize),
    pub(super) seconds: f64,
}

impl SumsReport<'_> {
    fn modes(&self) -> &[Mode] {
        &self.model.modes()[..self.model.modes().len().min(self.found.modes)]
    }

    /// `−τ/ln|μ|` at a modulus moved by so many spreads; `None` from 1 on.
    fn time_scale(&self, mode: &Mode, spreads: f64) -> Option<f64> {
        let modulus = mode.value.modulus() + spreads * mode.spread;
        (modulus < 1.0 - 1e-9).then(|| if modulus > 0.0 { -self.found.tau / modulus.ln() } else { 0.0 })
    }

    fn period(&self, mode: &Mode) -> Option<f64> {
        let angle = mode.value.im.atan2(mode.value.re).abs();
        (mode.value.im != 0.0).then(|| std::f64::consts::TAU * self.found.tau / angle)
    }

    /// The keys of the paper's learner, then what this one knows.
    pub(super) fn object(&self) -> Value {
        let model = self.model;
        let quality = model.quality();
        let mut rounds: Vec<u64> = model.dictionary().iter().map(|point| point.round).collect();
        rounds.sort_unstable();
        rounds.dedup();
        let choice = |choice: Choice| json!({"width": choice.width, "ridge": choice.ridge, "size": choice.size});
        let finite = |value: f64| value.is_finite().then_some(value);
        let modes = self.modes().iter().map(|mode| {
            json!({
                "re": mode.value.re,
                "im": mode.value.im,
                "modulus": mode.value.modulus(),
                "spread": finite(mode.spread),
                "time_scale": self.time_scale(mode, 0.0),
                "time_scale_interval": [self.time_scale(mode, -2.0), self.time_scale(mode, 2.0)],
                "period": self.period(mode),
                "residual": mode.residual,
                "reliable": mode.reliable,
            })
        });
        let eigenvalues = self.modes().iter().map(|mode| json!({"re": mode.value.re, "im": mode.value.im}));
        let mut object = json!({
            "n": model.rounds(),
            "dictionary_size": model.spectrum_choice().size,
            "dictionary_indices": rounds,
            "hs_norm": model.hs_norm(),
            "forced_rejections": 0,
            "full_rejections": 0,
            "eigenvalues": eigenvalues.collect::<Vec<_>>(),
            "seconds": self.seconds,
            "method": "sums",
            "delay": self.found.delay,
            "cuts": self.found.cuts,
            "step_time": self.found.tau,
            "deterministic": model.is_deterministic(),
            "held_out": {"error": quality.held_out, "no_change": quality.no_change, "mean": quality.mean},
            "kernel": "gaussian",
            "units": model.units(),
            "forecast_choice": choice(model.forecast_choice()),
            "mode_choice": choice(model.spectrum_choice()),
            "modes": modes.collect::<Vec<_>>(),
        });
        if let (Some(forecast), Some(object)) = (&self.forecast, object.as_object_mut()) {
            object.insert("predictions".to_owned(), json!(forecast.rows));
            object.insert("half_widths".to_owned(), json!(forecast.half_widths));
            object.insert("coverage".to_owned(), json!(COVERAGE));
        }
        object
    }

    pub(super) fn text(&self, forecasts: bool) -> String {
        let (model, found) = (self.model, &self.found);
        let (d, d_plus) = self.dimensions;
        let mut text = format!(
            "Koopman operator of {}: {} pairs, x of {d} and x⁺ of {d_plus} numbers\n\n",
            found.data,
            model.rounds()
        );
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<24}{value}");
        };
        let choice = |choice: Choice| match choice.width {
            None => "linear features".to_owned(),
            Some(width) => format!(
                "{} points, Gaussian of width {} in deviations, ridge {:e}",
                choice.size,
                digits(width),
                choice.ridge
            ),
        };
        line("method", "sums: exact least squares on a sparse dictionary");
        if let Some(delay) = found.delay {
            line("rows of a state", &delay.to_string());
        }
        if found.cuts > 0 {
            line("cut at gaps", &found.cuts.to_string());
        }
        line("forecasts from", &choice(model.forecast_choice()));
        if !self.modes().is_empty() {
            line("modes from", &choice(model.spectrum_choice()));
        }
        let percent = |part: f64| format!("{} %", digits(100.0 * part));
        let quality = model.quality();
        line(
            "one-step error",
            &format!(
                "{} of the variance on held-out pairs; no change {}, the mean {}",
                percent(quality.held_out),
                percent(quality.no_change),
                percent(quality.mean)
            ),
        );
        let nature = if model.is_deterministic() {
            "deterministic: forecasts iterate"
        } else if d == d_plus {
            "stochastic: forecasts are means"
        } else {
            "stochastic"
        };
        line("the system is", nature);
        line("seconds", &digits(self.seconds));
        text += &self.mode_lines();
        if forecasts && self.forecast.is_some() {
            let _ = write!(text, "\n{}", self.forecast_lines());
        }
        if quality.mean > 0.0 && quality.held_out >= quality.mean.min(quality.no_change) {
            text += "\nNote: forecasts are no better than the mean or no change; more pairs, or --delay, may help\n";
        }
        text
    }

    fn mode_lines(&self) -> String {
        if self.modes().is_empty() {
            return String::new();
        }
        let unit = if self.found.timed { "units of time" } else { "steps" };
        let mut text = format!(
            "\n  {:>4}  {:<24}{:<12}{:<12}{:<26}{:<12}{:<12}reliable\n",
            "mode", "eigenvalue", "± spread", "modulus", "time scale", "period", "residual"
        );
        let told = |time: Option<f64>| time.map_or("infinite".to_owned(), digits);
        for (i, mode) in self.modes().iter().enumerate() {
            let (re, im) = (mode.value.re, mode.value.im);
            let value = match im == 0.0 {
                true => digits(re),
                false => format!("{} {} {}i", digits(re), if im < 0.0 { '−' } else { '+' }, digits(im.abs())),
            };
            let spread = if mode.spread.is_finite() { digits(mode.spread) } else { "unknown".to_owned() };
            let scale = format!(
                "{} ({}–{})",
                told(self.time_scale(mode, 0.0)),
                told(self.time_scale(mode, -2.0)),
                told(self.time_scale(mode, 2.0))
            );
            let period = self.period(mode).map_or("–".to_owned(), digits);
            let (modulus, residual) = (digits(mode.value.modulus()), digits(mode.residual));
            let reliable = if mode.reliable { "yes" } else { "no" };
            let _ = writeln!(
                text,
                "  {:>4}  {value:<24}{spread:<12}{modulus:<12}{scale:<26}{period:<12}{residual:<12}{reliable}",
                i + 1
            );
        }
        let _ =
            writeln!(text, "  time scales and periods are in {unit}, ranges within two spreads; spreads hold no bias");
        text
    }

    /// The forecasts as CSV: those from the end with step and interval.
    pub(super) fn forecast_lines(&self) -> String {
        let Some(forecast) = &self.forecast else { return String::new() };
        let width = forecast.rows.first().map_or(0, Vec::len);
        let name = |j: usize| {
            // Names of x⁺ are the last; a trajectory has each column once.
            let names = &self.found.names;
            let first = names.len().saturating_sub(width);
            names
                .get(first + j)
                .cloned()
                .unwrap_or_else(|| format!("next{}", j + 1))
                .replace(['"', ',', '\n', '\r'], "_")
        };
        let mut text = if forecast.from_end { "step,".to_owned() } else { String::new() };
        let header = (0..width).map(|j| match forecast.from_end {
            true => format!("{0},{0}_lower,{0}_upper", name(j)),
            false => name(j),
        });
        text += &(header.collect::<Vec<_>>().join(",") + "\n");
        for (i, row) in forecast.rows.iter().enumerate() {
            let mut cells = if forecast.from_end { vec![(i + 1).to_string()] } else { Vec::new() };
            for (j, value) in row.iter().enumerate() {
                cells.push(number(*value));
                if forecast.from_end {
                    let half = forecast.half_width(i, j);
                    cells
                        .extend([-1.0, 1.0].map(|sign| half.map_or(String::new(), |half| number(value + sign * half))));
                }
            }
            text += &(cells.join(",") + "\n");
        }
        text
    }
}
