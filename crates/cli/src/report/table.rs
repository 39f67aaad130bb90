//! Progressive validation on stderr: every example is predicted before it is learnt, and what that
//! cost is told at rounds 1, 2, 4, 8, …

use std::time::Instant;

use mercer_session::RunningScore;

use crate::report::verbosity;

/// Prints a line each time the number of rounds has doubled.
pub(crate) struct ProgressTable {
    quiet: bool,
    /// The heads of the columns of losses.
    heads: [&'static str; 2],
    /// The round of the next line.
    next: usize,
    /// The score at the last line, and the time of that line.
    last: (RunningScore, Instant),
    begun: bool,
}

impl ProgressTable {
    /// A table that goes on behind these rounds of a model of `classes` or of numbers.
    pub(crate) fn new(quiet: bool, classes: bool, standing: RunningScore) -> Self {
        let heads = if classes { ["errors since last", "error rate"] } else { ["loss since last", "average loss"] };
        let next = (standing.rounds + 1).next_power_of_two();
        Self { quiet, heads, next, last: (standing, Instant::now()), begun: false }
    }

    /// A round was scored; `size` tells the size of the dictionary.
    #[inline]
    pub(crate) fn round(&mut self, standing: RunningScore, size: impl FnOnce() -> usize) {
        if standing.rounds == self.next {
            self.next *= 2;
            self.line(standing, size());
        }
    }

    /// The last line, unless it has just been printed.
    pub(crate) fn end(&mut self, standing: RunningScore, size: usize) {
        if standing.rounds > self.last.0.rounds {
            self.line(standing, size);
        }
    }

    fn line(&mut self, standing: RunningScore, size: usize) {
        let (RunningScore { rounds, weight, loss }, now) = (standing, Instant::now());
        let (before, then) = std::mem::replace(&mut self.last, (standing, now));
        if self.quiet {
            return;
        }
        if !std::mem::replace(&mut self.begun, true) {
            let [last, all] = self.heads;
            verbosity::line(format_args!(
                "{:>12}  {last:>16}  {all:>16}  {:>10}  {:>12}",
                "row", "dictionary", "rows/s"
            ));
        }
        let since = (rounds - before.rounds) as f64;
        let rate = since / now.duration_since(then).as_secs_f64().max(1e-9);
        // Before a row that counts there is no mean.
        let mean = |loss: f64, weight: f64| if weight > 0.0 { format!("{:.9}", loss / weight) } else { "-".to_owned() };
        let (last, all) = (mean(loss - before.loss, weight - before.weight), mean(loss, weight));
        verbosity::line(format_args!("{rounds:>12}  {last:>16}  {all:>16}  {size:>10}  {rate:>12.0}"));
    }
}
