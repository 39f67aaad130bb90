//! Blocks of examples on a dictionary: probes are made together, before anything is learnt.

use mercer_core::ExampleError;
use mercer_kernels::Kernel;
use mercer_sparsify::{Admission, NewtonBasis, SOLVES_TOGETHER};

use super::{DictionaryMemory, OnDictionary};
use crate::engines::basis::timing::GrowthTiming;
use crate::engines::update::GrowingUpdate;
use crate::example::Rows;
use crate::learner::{learn_in_order, learn_one_by_one};
use crate::{Blocks, Error, Regressor as _, RegressorExt as _};

/// Below this size, batching does not pay: while most points are still admitted, updating the
/// coordinates costs as much as the batched solve saves.
const WORTH_A_GROUP: usize = 80;

impl<K: Kernel, A: Admission<NewtonBasis<K>>, U: GrowingUpdate, T: GrowthTiming> OnDictionary<K, A, U, T> {
    /// Learns examples whose probes are made, one by one.
    fn learn_each(
        &mut self,
        rows: Rows<'_>,
        memory: &mut DictionaryMemory,
        scores: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let (probes, removals) = (memory.probes.as_flattened_mut(), self.removals);
        learn_in_order(rows.len(), self.outputs(), scores, |row, made| {
            let (x, target, probe) = (rows.input(row), rows.target(row), &mut probes[row]);
            self.problem().check(x, target)?;
            self.refresh(x, probe, removals);
            self.learn_probed(x, target, probe, made)
        })
    }

    /// Learns examples whose probes are made, those between two kept points at once: whether a
    /// point is kept depends on its probe alone, so it is known before anything is learnt.
    fn learn_runs(
        &mut self,
        rows: Rows<'_>,
        memory: &mut DictionaryMemory,
        scores: &mut Vec<f64>,
    ) -> Result<(), Error> {
        self.kernel_coefficients.clear();
        let (mut first, removals) = (0, self.removals);
        while first < rows.len() {
            // The run ends with its last example, or before one that is kept or refused.
            let mut end = first;
            let mut kept = None;
            let mut refused = Ok(());
            let probes = memory.probes.as_flattened_mut();
            while end < rows.len() && kept.is_none() {
                let (x, target, probe) = (rows.input(end), rows.target(end), &mut probes[end]);
                refused = self.problem().check(x, target);
                if refused.is_err() {
                    break;
                }
                self.refresh(x, probe, removals);
                if !probe.is_finite() {
                    refused = Err(ExampleError::KernelOverflow.into());
                    break;
                }
                let decision = if target.weight > 0.0 { self.decide(x, probe) } else { None };
                kept = decision.filter(|decision| (*decision).into().growth().is_some());
                end += usize::from(kept.is_none());
            }
            for (probe, coordinates) in probes[first..end].iter_mut().zip(&mut memory.coordinates) {
                std::mem::swap(probe.coordinates_mut(), coordinates);
            }
            let coordinates = &mut memory.coordinates[..end - first];
            self.update.learn_block(coordinates, rows.targets().range(first, end), scores)?;
            refused?;
            if kept.is_some() {
                let (x, target, probe) = (rows.input(end), rows.target(end), &mut probes[end]);
                learn_in_order(1, self.outputs(), scores, |_, made| self.step_with(x, target, kept, probe, made))?;
                end += 1;
            }
            first = end;
        }
        Ok(())
    }
}

impl<K: Kernel, A: Admission<NewtonBasis<K>>, U: GrowingUpdate, T: GrowthTiming> Blocks for OnDictionary<K, A, U, T> {
    /// Looks ahead: the coordinates of [`SOLVES_TOGETHER`] inputs come from one read of the factor,
    /// and are brought up to date when a point is kept among them; updates that take several rounds
    /// at once get those between two kept points. While a small dictionary still keeps most points,
    /// or points leave as others join, it learns one by one.
    fn learn_together(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
        let (mut first, mut kept, mut removes) = (0, SOLVES_TOGETHER, false);
        while rows.len() - first >= SOLVES_TOGETHER {
            let before = self.dictionary_size();
            let removed = self.removals;
            // A point that leaves makes all probes out of date.
            if (before < WORTH_A_GROUP || removes) && 2 * kept > SOLVES_TOGETHER {
                learn_one_by_one(self, rows.range(first, first + SOLVES_TOGETHER), scores)?;
                first += SOLVES_TOGETHER;
                kept = self.kept_since(before, removed);
                removes = self.removals > removed;
                continue;
            }
            let at_once = if T::BEFORE_STEP && !A::HAS_STATE { self.update.block_size() } else { 1 };
            let groups = (at_once.min(rows.len() - first) / SOLVES_TOGETHER).max(1);
            let some = rows.range(first, first + groups * SOLVES_TOGETHER);
            let mut memory = std::mem::take(&mut self.memory);
            memory.make_room(groups);
            for (group, probes) in memory.probes[..groups].iter_mut().enumerate() {
                self.basis.probe_together(std::array::from_fn(|i| some.input(group * SOLVES_TOGETHER + i)), probes);
            }
            let learnt = if at_once > 1 {
                self.learn_runs(some, &mut memory, scores)
            } else {
                self.learn_each(some, &mut memory, scores)
            };
            self.memory = memory;
            learnt?;
            first += groups * SOLVES_TOGETHER;
            kept = self.kept_since(before, removed);
            removes = self.removals > removed;
        }
        learn_one_by_one(self, rows.range(first, rows.len()), scores)
    }

    /// It learns on one.
    fn limit_threads(&mut self, _: usize) {}
}
