//! The modes for people: tables of at most 100 columns.

use std::fmt::Write as _;

use mercer_koopman::{Eigenvalue, Mode, ModeShapes, Reliability};

use super::sums_report::SumsReport;
use crate::report::output::digits;

/// Characters of a line.
const WIDTH: usize = 100;
/// Columns of the data that the shape of a mode names.
const COLUMNS: usize = 4;

/// The number with so many figures.
fn figures(value: f64, count: usize) -> String {
    let rounded: f64 = format!("{value:.*e}", count - 1).parse().unwrap_or(value);
    digits(rounded)
}

pub(super) fn complex(value: Eigenvalue) -> String {
    match value.im == 0.0 {
        true => figures(value.re, 5),
        false => {
            let sign = if value.im < 0.0 { '−' } else { '+' };
            format!("{} {sign} {}i", figures(value.re, 4), figures(value.im.abs(), 4))
        }
    }
}

pub(super) fn spread(spread: f64) -> String {
    if spread.is_finite() { figures(spread, 2) } else { "unknown".to_owned() }
}

/// A row of cells, each with its width; there is a space behind each at least.
fn row(cells: &[(String, usize)]) -> String {
    let mut text = "  ".to_owned();
    for (cell, width) in cells {
        let _ = write!(text, "{cell:<width$} ", width = width.saturating_sub(1));
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Words of a list, wrapped behind a name.
fn wrapped(name: &str, items: &[String]) -> String {
    let (mut text, mut line) = (String::new(), format!("  {name}"));
    for (i, item) in items.iter().enumerate() {
        let end = if i + 1 < items.len() { ";" } else { "" };
        if line.chars().count() + item.chars().count() + 2 > WIDTH {
            text += &(std::mem::replace(&mut line, "   ".to_owned()) + "\n");
        }
        let _ = write!(line, " {item}{end}");
    }
    text + &line + "\n"
}

impl SumsReport<'_> {
    /// The modes, why they can be trusted or not, and what moves with each.
    pub(super) fn mode_lines(&self) -> String {
        if self.modes().is_empty() {
            return String::new();
        }
        let unit = self.unit();
        let heads = ["mode", "eigenvalue", "± spread", "time scale", "period", "residual", "amplitude", "reliable"];
        let widths = [5, 20, 9, 23, 9, 10, 11, 11];
        let cells = |texts: [String; 8]| row(&texts.into_iter().zip(widths).collect::<Vec<_>>());
        let mut text = format!("\n{}", cells(heads.map(str::to_owned)));
        for (i, mode) in self.modes().iter().enumerate() {
            text += &cells([
                (i + 1).to_string(),
                complex(mode.value),
                spread(mode.spread),
                self.scale_words(mode),
                self.period(mode).map_or("–".to_owned(), |period| figures(period, 4)),
                figures(mode.residual, 3),
                self.shapes.amplitudes.get(i).map_or("–".to_owned(), |amplitude| figures(*amplitude, 3)),
                verdict(mode).to_owned(),
            ]);
        }
        let _ = writeln!(text, "  time scales and periods are in {unit}, ranges within two spreads");
        for kind in ["yes", "no", "cannot tell"] {
            let reasons = reasons(self.modes(), kind);
            if !reasons.is_empty() {
                text += &wrapped(&format!("{kind}:"), &reasons);
            }
        }
        text + &self.shape_lines() + &self.set_lines() + &self.lag_lines()
    }

    fn scale_words(&self, mode: &Mode) -> String {
        let told = |time: Option<f64>, count| time.map_or("infinite".to_owned(), |time| figures(time, count));
        let [low, at, high] = [-2.0, 0.0, 2.0].map(|spreads| self.time_scale(mode, spreads));
        format!("{} ({}–{})", told(at, 4), told(low, 3), told(high, 3))
    }

    /// The columns that move most with each mode; nothing of a single column.
    fn shape_lines(&self) -> String {
        let ModeShapes { shapes, .. } = &self.shapes;
        let (names, units) = (self.shape_columns(), self.shape_units());
        if names.len() < 2 || shapes.is_empty() {
            return String::new();
        }
        let mut text = "\n  shapes, in the units of the columns (and the phase)\n".to_owned();
        for (i, (mode, shape)) in self.modes().iter().zip(shapes).enumerate() {
            if mode.value.im < 0.0 {
                continue;
            }
            let size = |j: &usize| shape[*j][0].hypot(shape[*j][1]) / units[*j];
            let mut order: Vec<usize> = (0..shape.len()).collect();
            order.sort_by(|a, b| size(b).total_cmp(&size(a)));
            let one = |j: &usize| {
                let [re, im] = shape[*j];
                let name: String = names[*j].chars().take(30).collect();
                match mode.value.im == 0.0 {
                    true => format!("{name} {}", figures(re, 3)),
                    false => format!("{name} {} ({:.0}°)", figures(re.hypot(im), 3), im.atan2(re).to_degrees()),
                }
            };
            text += &wrapped(&format!("{}:", i + 1), &order.iter().take(COLUMNS).map(one).collect::<Vec<_>>());
        }
        text
    }

    fn set_lines(&self) -> String {
        let Some((sets, committor)) = self.read.sets() else { return String::new() };
        let list = |values: &[f64]| values.iter().map(|value| figures(*value, 3)).collect::<Vec<_>>().join(", ");
        let mut text = format!("\n  almost invariant sets, with their weights at rest: {}\n", list(&sets.weights()));
        for (i, jumps) in sets.jumps().iter().enumerate() {
            let _ = writeln!(text, "  from set {} in a step to each: {}", i + 1, list(jumps));
        }
        if let Some(committor) = committor {
            let _ = writeln!(text, "  committor of each set: {}", list(committor));
        }
        text
    }

    /// Time scales at each lag, and the test of Chapman and Kolmogorov.
    fn lag_lines(&self) -> String {
        let lags = &self.read.lags;
        let Some(first) = lags.iter().map(|mode| mode.lag).min() else { return String::new() };
        let widths = [6, 6, 21, 9, 24, 21, 10];
        let cells = |texts: [String; 7]| row(&texts.into_iter().zip(widths).collect::<Vec<_>>());
        let heads = ["mode", "lag", "eigenvalue", "± spread", "time scale", &format!("power of lag {first}"), "agrees"];
        let mut text = format!("\n{}", cells(heads.map(str::to_owned)));
        for mode in lags {
            let told = |time: Option<f64>, count| time.map_or("infinite".to_owned(), |time| figures(time, count));
            let [low, at, high] = [-2.0, 0.0, 2.0].map(|spreads| self.lag_scale(mode, spreads));
            text += &cells([
                mode.mode.to_string(),
                mode.lag.to_string(),
                complex(mode.value),
                spread(mode.spread),
                format!("{} ({}–{})", told(at, 4), told(low, 3), told(high, 3)),
                complex(mode.power),
                match mode.agrees {
                    Some(true) => "yes",
                    Some(false) => "no",
                    None => "too small",
                }
                .to_owned(),
            ]);
        }
        text + "  spreads hold chance and the bias that other lags show; powers agree within two spreads of chance\n"
    }
}

fn verdict(mode: &Mode) -> &'static str {
    match mode.reliability {
        Reliability::Reliable => "yes",
        Reliability::Unreliable => "no",
        _ => "cannot tell",
    }
}

/// The reasons of the modes of a verdict, each with the modes that have it.
fn reasons(modes: &[Mode], kind: &str) -> Vec<String> {
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for (i, mode) in modes.iter().enumerate().filter(|(_, mode)| verdict(mode) == kind) {
        let words = mode.reason.words();
        match found.iter_mut().find(|(known, _)| *known == words) {
            Some((_, places)) => places.push((i + 1).to_string()),
            None => found.push((words, vec![(i + 1).to_string()])),
        }
    }
    found.into_iter().map(|(words, places)| format!("{words} ({})", places.join(", "))).collect()
}
