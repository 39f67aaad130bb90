//! Blocks of rows.

use mercer_learners::{Blocks, Error, Regressor as _, Rows, learn_one_by_one};

use super::Auto;

impl Blocks for Auto {
    /// Blocks end where a stage does; within them the members learn in their blocked passes.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let (mut first, problem) = (0, self.problem());
        while first < rows.len() {
            let most = self.until_stage().unwrap_or(usize::MAX).min(rows.len() - first);
            let learnable = |row: usize| {
                let (x, target) = (rows.input(row), rows.target(row));
                target.weight != 0.0 && problem.check(x, target).is_ok()
            };
            let wakes = |row: usize| {
                row > first && self.mixture.as_ref().is_some_and(|stage| stage.scaling.wakes(rows.input(row)))
            };
            let end = (first..first + most).find(|row| !learnable(*row) || wakes(*row)).unwrap_or(first + most);
            if end == first {
                // It is refused, or only predicted.
                learn_one_by_one(self, rows.range(first, first + 1), scores)?;
                first += 1;
            } else {
                self.learn_good(rows.range(first, end), |made| scores.extend_from_slice(made))?;
                first = end;
            }
        }
        Ok(())
    }

    fn limit_threads(&mut self, threads: usize) {
        self.threads = threads;
        if let Some(stage) = &mut self.mixture {
            stage.ahead.set_threads(threads);
        }
    }
}
