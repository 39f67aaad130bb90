//! True and false modes by verdict, and leading eigenvalues that two spreads hold.

use mercer_koopman::{Mode, OperatorModel, Reason, Reliability};

use super::systems::Sample;

/// Modes that are read.
pub(crate) const MODES: usize = 15;
/// A mode this near to a true eigenvalue is true.
const NEAR: f64 = 0.05;

/// Counts of one system or control, or of many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// Reliable, unreliable and open; true and false of each.
    modes: [[usize; 2]; 3],
    held: usize,
    leading: usize,
    /// Models, and those whose record is told to wander.
    models: usize,
    wandering: usize,
    /// The least one-step error, as a part of the variance.
    least_error: f64,
}

impl Default for Tally {
    fn default() -> Self {
        Self { modes: [[0; 2]; 3], held: 0, leading: 0, models: 0, wandering: 0, least_error: f64::INFINITY }
    }
}

impl Tally {
    pub(crate) const HEADS: [&str; 4] = ["reliable", "unreliable", "open", "held"];

    pub(crate) fn add(&mut self, other: &Self) {
        for (ours, theirs) in self.modes.iter_mut().flatten().zip(other.modes.iter().flatten()) {
            *ours += theirs;
        }
        self.held += other.held;
        self.leading += other.leading;
        self.models += other.models;
        self.wandering += other.wandering;
        self.least_error = self.least_error.min(other.least_error);
    }

    pub(crate) fn cells(&self) -> [String; 4] {
        let [reliable, unreliable, open] = self.modes.map(|[is_true, is_false]| format!("{is_true}/{is_false}"));
        let held = if self.leading > 0 { format!("{}/{}", self.held, self.leading) } else { "–".to_owned() };
        [reliable, unreliable, open, held]
    }

    /// The cells of a table behind those of the verdicts: the share of false ones of the reliable
    /// modes, leading eigenvalues that are held, the least one-step error, records told to wander.
    pub(crate) fn shares(&self) -> [String; 4] {
        let [is_true, is_false] = self.modes[0];
        let held = if self.leading > 0 { format!("{} of {}", self.held, self.leading) } else { "–".to_owned() };
        [
            percent(is_false, is_true + is_false),
            held,
            format!("{:.1} %", 100.0 * self.least_error),
            format!("{} of {}", self.wandering, self.models),
        ]
    }

    /// The shares that are asked of systems.
    pub(crate) fn of_systems(&self) -> String {
        let [is_true, is_false] = self.modes[0];
        format!(
            "false {} of reliable (at most 5 %); two spreads hold {} of leading modes (at least 90 %)",
            percent(is_false, is_true + is_false),
            percent(self.held, self.leading)
        )
    }

    /// The shares that are asked of controls without a mode.
    pub(crate) fn of_controls(&self) -> String {
        let all: usize = self.modes.iter().flatten().sum();
        format!(
            "{} of {all} modes reliable ({}); least one-step error {:.1} %; {} of {} records told to wander",
            self.modes[0][1],
            percent(self.modes[0][1], all),
            100.0 * self.least_error,
            self.wandering,
            self.models
        )
    }

    /// Those of a model on a sample; each mode is printed if it is `told`.
    pub(crate) fn count(model: &OperatorModel, sample: &Sample, told: bool) -> Self {
        let is_mode = |mode: &&Mode| mode.reason != Reason::Constant;
        let modes: Vec<&Mode> = model.modes().iter().filter(is_mode).take(MODES).collect();
        let mut tally = Self {
            leading: sample.leading,
            models: 1,
            wandering: usize::from(model.wanders()),
            least_error: model.quality().held_out,
            ..Self::default()
        };
        for (mode, partner) in modes.iter().zip(partners(&modes, &sample.truth, NEAR)) {
            let is_true = partner.is_some();
            let kind = match mode.reliability {
                Reliability::Reliable => 0,
                Reliability::Unreliable => 1,
                _ => 2,
            };
            tally.modes[kind][usize::from(!is_true)] += 1;
            if told {
                let Mode { value, spread, residual, reason, .. } = mode;
                let (kind, words) = (Self::HEADS[kind], reason.words());
                println!(
                    "  {:.4} {:+.4}i ± {spread:.2e} residual {residual:.2e} {is_true} {kind}: {words}",
                    value.re, value.im
                );
            }
        }
        let leading = &sample.truth[..sample.leading];
        let partners = partners(&modes, leading, f64::INFINITY);
        for (j, truth) in leading.iter().enumerate() {
            let own = partners.iter().position(|partner| *partner == Some(j)).map(|i| modes[i]);
            let held = own.is_some_and(|mode| away(mode, truth) <= 2.0 * mode.spread);
            tally.held += usize::from(held);
            if told {
                println!("  leading {truth:.4?}: {:.4?} {held}", own.map(|mode| (mode.value, mode.spread)));
            }
        }
        tally
    }
}

fn away(mode: &Mode, truth: &[f64; 2]) -> f64 {
    (mode.value.re - truth[0]).hypot(mode.value.im - truth[1])
}

/// The true eigenvalue of each mode within `most`, one to one: the nearest pairs first.
fn partners(modes: &[&Mode], truths: &[[f64; 2]], most: f64) -> Vec<Option<usize>> {
    let mut pairs: Vec<(usize, usize)> =
        (0..modes.len()).flat_map(|i| (0..truths.len()).map(move |j| (i, j))).collect();
    pairs.retain(|(i, j)| away(modes[*i], &truths[*j]) <= most);
    pairs.sort_by(|a, b| away(modes[a.0], &truths[a.1]).total_cmp(&away(modes[b.0], &truths[b.1])));
    let (mut found, mut taken) = (vec![None; modes.len()], vec![false; truths.len()]);
    for (i, j) in pairs {
        if found[i].is_none() && !taken[j] {
            (found[i], taken[j]) = (Some(j), true);
        }
    }
    found
}

fn percent(part: usize, of: usize) -> String {
    if of > 0 { format!("{:.1} %", 100.0 * part as f64 / of as f64) } else { "none".to_owned() }
}
