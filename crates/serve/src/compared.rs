//! A model and its challenger: which of them has lost less on the same rows.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

/// The losses of predictions made before learning, of the model that is served and of another that
/// learns the same rows beside it.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The learner of the challenger.
    pub challenger: String,
    /// Rows that both have predicted and learnt.
    pub rows: u64,
    /// Rows that the challenger refused; they are not compared.
    pub refused: u64,
    /// The mean losses of the model and of the challenger.
    pub losses: [f64; 2],
    /// The mean of the loss of the model less that of the challenger, and the ends of an interval
    /// that holds it at all times together with probability 95 %. Infinite before there are rows.
    pub difference: [f64; 3],
    /// Why the challenger could not be saved when that was tried last.
    pub unsaved: Option<String>,
}

impl Compared {
    /// Which one is better, as a word: neither as long as the interval holds 0.
    fn better(&self) -> &'static str {
        let [_, lower, upper] = self.difference;
        match () {
            () if lower > 0.0 => "challenger",
            () if upper < 0.0 => "champion",
            () => "undecided",
        }
    }

    pub(super) fn json(&self) -> Json {
        let [difference, lower, upper] = self.difference;
        json!({
            "challenger": self.challenger,
            "rows": self.rows,
            "refused": self.refused,
            "champion_loss": self.losses[0],
            "challenger_loss": self.losses[1],
            "difference": difference,
            "lower": lower,
            "upper": upper,
            "better": self.better(),
            "unsaved": self.unsaved,
        })
    }

    pub(super) fn metrics(&self) -> String {
        let [difference, lower, upper] = self.difference;
        let mut text = String::new();
        for (name, help, value) in [
            ("mercer_compared_rows", "Rows that model and challenger have both learnt.", self.rows as f64),
            ("mercer_compared_refused", "Rows that the challenger refused.", self.refused as f64),
            ("mercer_champion_loss", "Mean loss of the model on these rows.", self.losses[0]),
            ("mercer_challenger_loss", "Mean loss of the challenger on these rows.", self.losses[1]),
            ("mercer_loss_difference", "Mean of the loss of the model less that of the challenger.", difference),
            ("mercer_loss_difference_lower", "The lower end of an interval of 95 % of that.", lower),
            ("mercer_loss_difference_upper", "The upper end.", upper),
        ] {
            // Writing to a string cannot fail.
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
        }
        text
    }
}
