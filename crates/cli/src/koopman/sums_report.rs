//! The findings of exact sums, for people and as JSON.

use std::fmt::Write as _;

use mercer_kernels::AnyKernel;
use mercer_koopman::{Choice, Mode, OperatorModel, Quality, Reliability, Trajectory};
use serde_json::{Value, json};

use super::pairs::PairLayout;
use crate::report::output::{digits, number};

/// The part of the true states that intervals shall hold.
pub(crate) const COVERAGE: f64 = 0.9;

pub(super) struct Forecast {
    pub(super) rows: Vec<Vec<f64>>,
    /// Half widths of the intervals: for each row from the end of the data, or one for all queries.
    pub(super) half_widths: Vec<Vec<Option<f64>>>,
    pub(super) from_end: bool,
}

impl Forecast {
    fn half_width(&self, row: usize, j: usize) -> Option<f64> {
        *self.half_widths.get(if self.from_end { row } else { 0 })?.get(j)?
    }
}

pub(super) struct SumsReport<'a> {
    pub(super) data: &'a str,
    pub(super) layout: &'a PairLayout,
    pub(super) trajectory: Option<&'a Trajectory>,
    /// Pairs of this run, and those left out of it because they miss a number.
    pub(super) learnt: u64,
    pub(super) left_out: u64,
    pub(super) stopped: bool,
    /// Time from a state to its successor, if it was told.
    pub(super) tau: Option<f64>,
    /// Modes that are wanted at most.
    pub(super) modes: usize,
    pub(super) model: &'a OperatorModel,
    pub(super) forecast: Option<Forecast>,
    pub(super) seconds: f64,
}

impl SumsReport<'_> {
    fn tau(&self) -> f64 {
        self.tau.unwrap_or(1.0)
    }

    fn modes(&self) -> &[Mode] {
        &self.model.modes()[..self.model.modes().len().min(self.modes)]
    }

    /// `−τ/ln|μ|` at a modulus moved by so many spreads; `None` from 1 on.
    fn time_scale(&self, mode: &Mode, spreads: f64) -> Option<f64> {
        let modulus = mode.value.modulus() + spreads * mode.spread;
        (modulus < 1.0 - 1e-9).then(|| if modulus > 0.0 { -self.tau() / modulus.ln() } else { 0.0 })
    }

    fn period(&self, mode: &Mode) -> Option<f64> {
        let angle = mode.value.im.atan2(mode.value.re).abs();
        (mode.value.im != 0.0).then(|| std::f64::consts::TAU * self.tau() / angle)
    }

    /// The keys of the paper's learner, then what this one knows.
    pub(super) fn object(&self) -> Value {
        let model = self.model;
        let quality = model.quality();
        let mut rounds: Vec<u64> = model.dictionary().iter().map(|point| point.round).collect();
        rounds.sort_unstable();
        rounds.dedup();
        let choice = |choice: &Choice| {
            let kernel = choice.kernel.as_ref().map(AnyKernel::to_string);
            json!({"kernel": kernel, "ridge": choice.ridge, "size": choice.size})
        };
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
                "reliable": match mode.reliability {
                    Reliability::Reliable => Some(true),
                    Reliability::Unreliable => Some(false),
                    _ => None,
                },
                "reason": mode.reason.words(),
            })
        });
        let eigenvalues = self.modes().iter().map(|mode| json!({"re": mode.value.re, "im": mode.value.im}));
        let mut object = json!({
            "pairs": model.rounds(),
            "dictionary_size": model.spectrum_choice().size,
            "dictionary_indices": rounds,
            "hs_norm": model.hs_norm(),
            "forced_rejections": 0,
            "full_rejections": 0,
            "eigenvalues": eigenvalues.collect::<Vec<_>>(),
            "seconds": self.seconds,
            "method": "sums",
            "delay": self.trajectory.map(Trajectory::delay),
            "cuts": self.trajectory.map_or(0, Trajectory::cuts),
            "left_out": self.left_out,
            "step_time": self.tau(),
            "deterministic": model.is_deterministic(),
            "held_out": {"error": quality.held_out, "no_change": quality.no_change, "mean": quality.mean},
            "instruments": model.has_instruments(),
            "reversible": model.is_reversible(),
            "wanders": model.wanders(),
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
        let model = self.model;
        let (d, d_plus) = (self.layout.input_dimension, self.layout.state_dimension);
        let n = model.rounds();
        let mut text = format!("Koopman operator of {}: {n} pairs, x of {d} and x⁺ of {d_plus} numbers\n\n", self.data);
        let mut line = |name: &str, value: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<24}{value}");
        };
        line("method", "sums: exact least squares on a sparse dictionary");
        if self.learnt < n {
            line(
                "pairs of this run",
                &format!("{}, behind {} that the model had learnt", self.learnt, n - self.learnt),
            );
        }
        if let Some(trajectory) = self.trajectory {
            line("rows of a state", &trajectory.delay().to_string());
            if trajectory.cuts() > 0 {
                line("cut at gaps", &trajectory.cuts().to_string());
            }
        }
        if self.left_out > 0 {
            line("left out", &format!("{} pairs that miss a number", self.left_out));
        }
        line("forecasts from", &choice(model.forecast_choice()));
        if !self.modes().is_empty() {
            line("modes from", &choice(model.spectrum_choice()));
        }
        line("one-step error", &error(model.quality()));
        let nature = if model.is_deterministic() {
            "deterministic: forecasts iterate"
        } else if model.is_reversible() {
            "stochastic, the same backward in time: forecasts are means"
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
        for note in self.notes() {
            let _ = writeln!(text, "\nNote: {note}");
        }
        text
    }

    /// Notes that a person needs to trust the figures.
    fn notes(&self) -> Vec<&'static str> {
        let Quality { held_out, no_change, mean, .. } = self.model.quality();
        let ended = self.trajectory.is_some_and(|trajectory| trajectory.state().is_none());
        let notes = [
            (mean > 0.0 && held_out >= mean.min(no_change))
                .then_some("forecasts are no better than the mean or no change; more pairs, or --delay, may help"),
            self.model.wanders().then_some(
                "the record wanders or has a trend: time scales would be those of the record, and no mode is reliable; differences \
                 of the rows may be what is stationary",
            ),
            self.model.has_instruments().then_some(
                "the states are measured with noise, or do not tell all; modes come from two-stage least squares, since those of least \
                 squares would be too small; --delay helps as well",
            ),
            (self.forecast.is_none() && ended)
                .then_some("there is no forecast from the end, since the trajectory was cut in its last rows"),
            self.stopped.then_some("ended by a signal; the same command with --resume goes on from here"),
        ];
        notes.into_iter().flatten().collect()
    }

    fn mode_lines(&self) -> String {
        if self.modes().is_empty() {
            return String::new();
        }
        let unit = if self.tau.is_some() { "units of time" } else { "steps" };
        let mut text = format!(
            "\n  {:>4}  {:<24}{:<12}{:<12}{:<32}{:<12}{:<12}reliable\n",
            "mode", "eigenvalue", "± spread", "modulus", "time scale", "period", "residual"
        );
        let told = |time: Option<f64>| time.map_or("infinite".to_owned(), digits);
        for (i, mode) in self.modes().iter().enumerate() {
            let (re, im) = (mode.value.re, mode.value.im);
            let value = match im == 0.0 {
                true => digits(re),
                false => format!("{} {} {}i", digits(re), if im < 0.0 { '−' } else { '+' }, digits(im.abs())),
            };
            // Three figures, so that the column holds them.
            let spread: Option<f64> =
                format!("{:.2e}", mode.spread).parse().ok().filter(|spread: &f64| spread.is_finite());
            let spread = spread.map_or("unknown".to_owned(), digits);
            let scale = format!(
                "{} ({}–{})",
                told(self.time_scale(mode, 0.0)),
                told(self.time_scale(mode, -2.0)),
                told(self.time_scale(mode, 2.0))
            );
            let period = self.period(mode).map_or("–".to_owned(), digits);
            let (modulus, residual) = (digits(mode.value.modulus()), digits(mode.residual));
            let reliable = match mode.reliability {
                Reliability::Reliable => "yes",
                Reliability::Unreliable => "no",
                _ => "cannot tell",
            };
            let reason = mode.reason.words();
            let _ = writeln!(
                text,
                "  {:>4}  {value:<24}{spread:<12}{modulus:<12}{scale:<32}{period:<12}{residual:<12}{reliable}: {reason}",
                i + 1
            );
        }
        let _ = writeln!(text, "  time scales and periods are in {unit}, ranges within two spreads");
        text
    }

    /// The forecasts as CSV: those from the end with step and interval.
    pub(super) fn forecast_lines(&self) -> String {
        let Some(forecast) = &self.forecast else { return String::new() };
        let width = forecast.rows.first().map_or(0, Vec::len);
        // A trajectory has its columns as the newest row of x; names of x⁺ are the last.
        let names = self.layout.names();
        let end = if forecast.from_end { self.layout.input_dimension } else { names.len() };
        let name = |j: usize| names[end - width + j].replace(['"', ',', '\n', '\r'], "_");
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

fn choice(Choice { kernel, ridge, size, .. }: &Choice) -> String {
    match kernel {
        None => "linear features".to_owned(),
        Some(AnyKernel::Gaussian(kernel)) => {
            let width = digits(kernel.sigma());
            format!("{size} points, Gaussian of width {width} in deviations, ridge {ridge:e}")
        }
        Some(kernel) => format!("{size} points, {kernel} in deviations, ridge {ridge:e}"),
    }
}

fn error(Quality { held_out, no_change, mean, .. }: Quality) -> String {
    let percent = |part: f64| format!("{} %", digits(100.0 * part));
    let (held_out, no_change, mean) = (percent(held_out), percent(no_change), percent(mean));
    format!("{held_out} of the variance on held-out pairs; no change {no_change}, the mean {mean}")
}
