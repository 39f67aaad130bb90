//! The findings of exact sums, for people and as JSON.

use std::fmt::Write as _;

use mercer_kernels::AnyKernel;
use mercer_koopman::{Choice, LagMode, Mode, ModeShapes, OperatorModel, Quality, Reason, Reliability, Trajectory};
use serde_json::{Value, json};

use super::pairs::PairLayout;
use super::read_outs::ReadOff;
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
    /// True if that is in seconds.
    pub(super) in_seconds: bool,
    /// What rows look like that they were not taken for.
    pub(super) doubt: Option<&'a str>,
    /// Modes that are wanted at most.
    pub(super) modes: usize,
    pub(super) model: &'a OperatorModel,
    /// Those of the modes that are wanted.
    pub(super) shapes: ModeShapes,
    pub(super) read: ReadOff,
    pub(super) forecast: Option<Forecast>,
    pub(super) seconds: f64,
}

impl SumsReport<'_> {
    fn tau(&self) -> f64 {
        self.tau.unwrap_or(1.0)
    }

    /// In what times are told.
    pub(super) fn unit(&self) -> &'static str {
        match self.tau {
            None => "steps",
            Some(_) if self.in_seconds => "seconds",
            Some(_) => "units of time",
        }
    }

    pub(super) fn modes(&self) -> &[Mode] {
        &self.model.modes()[..self.model.modes().len().min(self.modes)]
    }

    /// `−τ/ln|μ|` at a modulus moved by so many spreads; `None` from 1 on.
    pub(super) fn time_scale(&self, mode: &Mode, spreads: f64) -> Option<f64> {
        time_scale(mode.value.modulus() + spreads * mode.spread, self.tau())
    }

    /// The same at a lag, which all is over.
    pub(super) fn lag_scale(&self, mode: &LagMode, spreads: f64) -> Option<f64> {
        time_scale(mode.value.modulus() + spreads * mode.spread, mode.lag as f64 * self.tau())
    }

    /// The names of the columns of a state's newest row: those of the trajectory, or of x.
    pub(super) fn shape_columns(&self) -> Vec<String> {
        let mut names = self.layout.names();
        let state = self.layout.state_dimension;
        names.truncate(state);
        names.split_off(state - self.trajectory.map_or(state, Trajectory::columns))
    }

    /// Their units.
    pub(super) fn shape_units(&self) -> Vec<f64> {
        let state = self.layout.state_dimension;
        self.model.units()[state - self.trajectory.map_or(state, Trajectory::columns)..state].to_vec()
    }

    pub(super) fn period(&self, mode: &Mode) -> Option<f64> {
        let angle = mode.value.im.atan2(mode.value.re).abs();
        (mode.value.im != 0.0).then(|| std::f64::consts::TAU * self.tau() / angle)
    }

    fn mode_object(&self, i: usize, mode: &Mode) -> Value {
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
            "amplitude": self.shapes.amplitudes.get(i),
            "shape": self.shapes.shapes.get(i),
        })
    }

    fn lag_objects(&self) -> Vec<Value> {
        let one = |mode: &LagMode| {
            json!({
                "mode": mode.mode,
                "lag": mode.lag,
                "re": mode.value.re,
                "im": mode.value.im,
                "spread": finite(mode.spread),
                "bias": mode.bias,
                "time_scale": self.lag_scale(mode, 0.0),
                "time_scale_interval": [self.lag_scale(mode, -2.0), self.lag_scale(mode, 2.0)],
                "power": {"re": mode.power.re, "im": mode.power.im, "spread": finite(mode.power_spread)},
                "agrees": mode.agrees,
            })
        };
        self.read.lags.iter().map(one).collect()
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
        let modes = self.modes().iter().enumerate().map(|(i, mode)| self.mode_object(i, mode));
        let eigenvalues = self.modes().iter().map(|mode| json!({"re": mode.value.re, "im": mode.value.im}));
        let later = model.later_errors().into_iter().map(|(step, error)| json!({"step": step, "error": error}));
        let mut object = json!({
            "pairs": model.rounds(),
            "dictionary_size": model.dictionary().len(),
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
            "held_out": {
                "error": quality.held_out,
                "no_change": quality.no_change,
                "mean": quality.mean,
                "later": later.collect::<Vec<_>>(),
            },
            "instruments": model.has_instruments(),
            "reversible": model.is_reversible(),
            "wanders": model.wanders(),
            "names": &self.layout.names()[..self.layout.input_dimension],
            "units": model.units(),
            "shape_names": self.shape_columns(),
            "reconstruction": {"state_error": self.shapes.state_error, "step_error": self.shapes.step_error},
            "vamp2": model.vamp2(),
            "sets": self.read.sets_object(),
            "lags": self.lag_objects(),
            "forecast_choice": choice(model.forecast_choice()),
            "mode_choice": choice(model.spectrum_choice()),
            "modes": modes.collect::<Vec<_>>(),
            "notes": self.notes(),
        });
        if let (Some(forecast), Some(object)) = (&self.forecast, object.as_object_mut()) {
            object.insert("predictions".to_owned(), json!(forecast.rows));
            object.insert("half_widths".to_owned(), json!(forecast.half_widths));
            object.insert("coverage".to_owned(), json!(COVERAGE));
        }
        object
    }

    pub(super) fn text(&self, forecasts: bool) -> String {
        let (d, d_plus) = (self.layout.input_dimension, self.layout.state_dimension);
        let n = self.model.rounds();
        let mut text = format!("Koopman operator of {}: {n} pairs, x of {d} and x⁺ of {d_plus} numbers\n\n", self.data);
        for (name, value) in self.facts_of_the_run().into_iter().chain(self.facts_of_the_model()) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {name:<24}{value}");
        }
        text += &self.mode_lines();
        if forecasts && self.forecast.is_some() {
            let _ = write!(text, "\n{}", self.forecast_lines());
        }
        for note in self.notes() {
            let _ = writeln!(text, "\nNote: {note}");
        }
        text
    }

    /// How the pairs were learnt, by name.
    fn facts_of_the_run(&self) -> Vec<(&'static str, String)> {
        let n = self.model.rounds();
        let mut facts = vec![("method", "sums: exact least squares on a sparse dictionary".to_owned())];
        if self.learnt < n {
            let before = n - self.learnt;
            facts.push(("pairs of this run", format!("{}, behind {before} that the model had learnt", self.learnt)));
        }
        if let Some(trajectory) = self.trajectory {
            facts.push(("rows of a state", trajectory.delay().to_string()));
            if trajectory.cuts() > 0 {
                facts.push(("cut at gaps", trajectory.cuts().to_string()));
            }
        }
        if let Some(tau) = self.tau {
            facts.push(("a step is", format!("{} {}", digits(tau), self.unit())));
        }
        if self.left_out > 0 {
            facts.push(("left out", format!("{} pairs that miss a number", self.left_out)));
        }
        facts
    }

    /// What was learnt, by name.
    fn facts_of_the_model(&self) -> Vec<(&'static str, String)> {
        let model = self.model;
        let mut facts = vec![("forecasts from", choice(model.forecast_choice()))];
        if !self.modes().is_empty() {
            facts.push(("modes from", choice(model.spectrum_choice())));
        }
        facts.push(("one-step error", error(model.quality())));
        let later = model.later_errors();
        if !later.is_empty() {
            let words = |(step, error): &(usize, f64)| format!("{} in {step} steps", percent(*error));
            facts.push(("later errors", later.iter().map(words).collect::<Vec<_>>().join(", ")));
        }
        if !self.modes().is_empty() {
            facts.push(("the modes hold", self.held()));
            if let Some(score) = model.vamp2() {
                facts.push(("VAMP-2 held out", format!("{} of at most {}", digits(score), self.modes)));
            }
        }
        let nature = if model.is_deterministic() {
            "deterministic: forecasts iterate"
        } else if model.is_reversible() {
            "stochastic, the same backward in time: forecasts are means"
        } else if self.layout.acts() {
            "stochastic"
        } else {
            "stochastic: forecasts are means"
        };
        facts.extend([("the system is", nature.to_owned()), ("seconds", digits(self.seconds))]);
        facts
    }

    /// How much of the state the modes hold.
    fn held(&self) -> String {
        let part =
            |missed: f64| format!("{} %", digits(format!("{:.2e}", 100.0 * (1.0 - missed)).parse().unwrap_or(0.0)));
        let step = self.shapes.step_error.map(|missed| format!(", and {} of it one step on", part(missed)));
        format!("{} of the variance of a row{}", part(self.shapes.state_error), step.unwrap_or_default())
    }

    /// Notes that a person needs to trust the figures.
    fn notes(&self) -> Vec<&str> {
        let Quality { held_out, no_change, mean, .. } = self.model.quality();
        let acts = self.layout.acts() && !self.modes().is_empty();
        let follows = self.modes().iter().any(|mode| mode.reason == Reason::InputsFollow);
        let ended = self.trajectory.is_some_and(|trajectory| trajectory.state().is_none());
        let no_better = match (self.model.wanders() && no_change < mean, self.trajectory) {
            (true, _) => "forecasts are no better than that nothing changes, as of a random walk",
            (false, Some(_)) => "forecasts are no better than the mean or no change; more pairs, or --delay, may help",
            (false, None) => "forecasts are no better than the mean or no change; more pairs may help",
        };
        let notes = [
            self.doubt,
            (mean > 0.0 && held_out >= mean.min(no_change)).then_some(no_better),
            (acts && self.model.forecast_choice().kernel.is_some()).then_some(
                "forecasts come from a non-linear operator, and the modes are those of A in the best x⁺ = a + Ax + Bu",
            ),
            follows.then_some(
                "the state tells the inputs, so that the data do not tell what it would do at fixed ones; vary the inputs",
            ),
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

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn time_scale(modulus: f64, time: f64) -> Option<f64> {
    (modulus < 1.0 - 1e-9).then(|| if modulus > 0.0 { -time / modulus.ln() } else { 0.0 })
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

fn percent(part: f64) -> String {
    format!("{} %", digits(format!("{:.3e}", 100.0 * part).parse().unwrap_or(f64::NAN)))
}

fn error(Quality { held_out, no_change, mean, .. }: Quality) -> String {
    let (held_out, no_change, mean) = (percent(held_out), percent(no_change), percent(mean));
    format!("{held_out} of the variance on held-out pairs; no change {no_change}, the mean {mean}")
}
