//! Progressive validation on stderr: every example is predicted before it is learnt, and what that cost is told at rounds 1, 2, 4, 8, …

use std::time::Instant;

use mercer::Score;

/// Prints a line each time the number of rounds has doubled.
pub(crate) struct Table {
    quiet: bool,
    /// Whether losses are in scaled units.
    scaled: bool,
    /// The round of the next line.
    next: usize,
    /// Rounds and loss at the last line, and when it was.
    last: (usize, f64, Instant),
    begun: bool,
}

impl Table {
    /// A table that goes on behind the rounds of `score`.
    pub(crate) fn new(quiet: bool, scaled: bool, score: &Score) -> Self {
        let rounds = score.rounds();
        let next = (rounds + 1).next_power_of_two();
        Self { quiet, scaled, next, last: (rounds, score.cumulative_loss(), Instant::now()), begun: false }
    }

    /// A round was scored; `size` tells the size of the dictionary.
    #[inline]
    pub(crate) fn round(&mut self, score: &Score, size: impl FnOnce() -> usize) {
        if score.rounds() == self.next {
            self.next *= 2;
            self.line(score, size());
        }
    }

    /// The last line, unless it has just been printed.
    pub(crate) fn end(&mut self, score: &Score, size: usize) {
        if score.rounds() > self.last.0 {
            self.line(score, size);
        }
    }

    fn line(&mut self, score: &Score, size: usize) {
        let (rounds, loss, now) = (score.rounds(), score.cumulative_loss(), Instant::now());
        let (rounds_before, loss_before, then) = std::mem::replace(&mut self.last, (rounds, loss, now));
        if self.quiet {
            return;
        }
        if !std::mem::replace(&mut self.begun, true) {
            let [last, all] = match self.scaled {
                true => ["scaled loss last", "scaled loss mean"],
                false => ["loss since last", "average loss"],
            };
            eprintln!("{:>12}  {last:>16}  {all:>16}  {:>10}  {:>12}", "row", "dictionary", "rows/s");
        }
        let since = (rounds - rounds_before) as f64;
        let rate = since / now.duration_since(then).as_secs_f64().max(1e-9);
        let (mean, average) = ((loss - loss_before) / since, score.mse());
        eprintln!("{rounds:>12}  {mean:>16.9}  {average:>16.9}  {size:>10}  {rate:>12.0}");
    }
}
