//! The pass over the pairs.

use std::time::{Duration, Instant};

use mercer_koopman::{LagScan, Trajectory, Verdict};
use mercer_session::model::Operator;

use super::pairs::{PairChunk, PairStream};
use crate::model::saving::Saving;
use crate::report::failure::Failure;
use crate::report::verbosity::rows_bar;

/// The rounds of this run.
pub(super) struct KoopmanPass {
    pub(super) model: Operator,
    pub(super) learnt: u64,
    pub(super) seconds: Duration,
    /// Pairs that only a full dictionary kept out.
    pub(super) full: u64,
    /// Pairs that were kept out although one side of them was new.
    pub(super) one_sided: u64,
    /// Learners of the pairs at other lags, if they are asked for.
    pub(super) scan: Option<LagScan>,
}

impl KoopmanPass {
    pub(super) fn new(model: Operator) -> Self {
        Self { model, learnt: 0, seconds: Duration::ZERO, full: 0, one_sided: 0, scan: None }
    }

    /// Learns all pairs, of which `chunk` holds the first.
    pub(super) fn learn_all(
        &mut self,
        mut chunk: PairChunk,
        pairs: &mut PairStream,
        saving: &mut Option<Saving>,
    ) -> Result<(), Failure> {
        let bar = rows_bar(None);
        while chunk.rows() > 0 {
            let ended = self.learn(&chunk, pairs, saving);
            if ended.is_err() {
                // The rows of pairs that were not learnt are in it.
                self.model.trajectory = pairs.trajectory().map(Trajectory::begun);
            }
            ended?;
            bar.inc(chunk.rows() as u64);
            if let Some(descent) = self.model.learner.descent() {
                bar.set_message(descent.operator().inputs().len().to_string());
            }
            pairs.fill(&mut chunk, false)?;
        }
        bar.finish_and_clear();
        self.model.trajectory = pairs.trajectory().cloned();
        Ok(())
    }

    fn learn(&mut self, chunk: &PairChunk, pairs: &PairStream, saving: &mut Option<Saving>) -> Result<(), Failure> {
        for (index, (x, x_plus)) in chunk.iter(pairs.layout()).enumerate() {
            if let Some(scan) = &mut self.scan {
                let taken = scan.update(x, x_plus);
                taken.map_err(|error| Failure::because(format!("{}: --lags: {error}", pairs.place(chunk, index))))?;
            }
            if let Some(saving) = saving
                && saving.knows([x, x_plus])?
            {
                continue;
            }
            let seen = self.model.seen().after([x, x_plus]);
            // The clock runs only here.
            let start = Instant::now();
            let step = self.model.learner.update(x, x_plus);
            self.seconds += start.elapsed();
            let step = step.map_err(|error| Failure::because(format!("{}: {error}", pairs.place(chunk, index))))?;
            self.model.fingerprint = seen.fingerprint;
            self.learnt += 1;
            let verdict = step.map(|step| step.verdict);
            self.full += u64::from(verdict == Some(Verdict::Full));
            self.one_sided += u64::from(verdict == Some(Verdict::OneSided));
            if let Some(saving) = saving.as_ref().filter(|saving| saving.is_due(seen.rows)) {
                let is_last = index + 1 == chunk.rows();
                let trajectory = pairs.trajectory();
                self.model.trajectory = trajectory.map(|rows| if is_last { rows.clone() } else { rows.begun() });
                saving.save(self.model.to_bytes())?;
            }
        }
        Ok(())
    }
}
