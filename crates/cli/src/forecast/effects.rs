//! Effects of known inputs, as they are told.

use std::fmt::Write as _;

use super::pass::SeriesPass;
use crate::report::output::digits;
use crate::report::plain::Plain;

/// The effect of an input on an output.
#[derive(serde::Serialize)]
pub(crate) struct EffectReport {
    column: String,
    input: String,
    /// Null while the input has not changed.
    per_unit: Option<f64>,
    standard_error: Option<f64>,
    /// The effect of a unit in units of the output's mean size.
    of_mean: Option<f64>,
    /// The share of the forecast of the next row that is made with the inputs.
    share: f64,
}

impl EffectReport {
    /// The effects on all outputs.
    pub(crate) fn all(pass: &SeriesPass) -> Vec<Self> {
        let Some(seasons) = pass.seasons() else { return Vec::new() };
        let (columns, inputs) = (pass.columns(), pass.columns().input_names());
        let of = |output: usize| {
            let name = columns.output_name(output).to_owned();
            let told = seasons.effects(output).into_iter().zip(inputs.clone());
            told.map(move |(effect, input)| Self {
                column: name.clone(),
                input: input.to_owned(),
                per_unit: effect.is_known().then_some(effect.per_unit),
                standard_error: effect.is_known().then_some(effect.standard_error),
                of_mean: effect.of_mean,
                share: effect.share,
            })
        };
        (0..columns.outputs.len()).flat_map(of).collect()
    }

    /// A table of effects.
    pub(super) fn write(effects: &[Self], several: bool, text: &mut String) {
        if effects.is_empty() {
            return;
        }
        // Writing to a string cannot fail.
        let head = "effect of one unit";
        let _ = writeln!(
            text,
            "\n  {head:<26}  {:>12}  {:>12}  {:>12}  {:>12}",
            "adds", "± error", "of the mean", "weight"
        );
        for effect in effects {
            let name = if several {
                format!("{} on {}", Plain(&effect.input), Plain(&effect.column))
            } else {
                Plain(&effect.input).to_string()
            };
            let none = || "–".to_owned();
            let [adds, error] = [effect.per_unit, effect.standard_error].map(|value| value.map_or_else(none, digits));
            let of_mean = effect.of_mean.map_or_else(none, |share| format!("{:.1} %", 100.0 * share));
            let name = format!("  {name}");
            let _ = writeln!(text, "  {name:<26}  {adds:>12}  {error:>12}  {of_mean:>12}  {:>12.2}", effect.share);
        }
    }
}
