//! Blocks of rounds of recursive least squares.

use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::BlockRecursion;
use mercer_simd::dot;

use super::LeastSquares;
use crate::Error;
use crate::engines::update::block::{RoundUpdate, RoundValues, SHORTEST_BLOCK, learn_rounds};
use crate::engines::update::readout::{Readout, read};
use crate::engines::update::{LinearBlocks, finite, learn_each, move_in_range};
use crate::example::{Target, Targets};

impl<F: Readout> LinearBlocks for LeastSquares<F> {
    fn size(&mut self) -> usize {
        // Whether a round forgets depends on the whole column c, which a block knows only at its
        // end.
        if self.forgetting < 1.0 { 1 } else { BlockRecursion::suitable(self.w.coordinates()) }
    }

    fn learn_together(
        &mut self,
        phis: &mut [AlignedVec],
        targets: Targets<'_>,
        scores: &mut Vec<f64>,
    ) -> Result<(), Error> {
        if self.size() == 1 || phis.len() < SHORTEST_BLOCK {
            return learn_each(self, phis, targets, scores);
        }
        let heavy = |(phi, target): (&AlignedVec, Target<'_>)| {
            target.weight > 1.0 && target.weight > self.heaviest(dot(phi.lanes(), phi.lanes()))
        };
        if phis.iter().zip(targets.iter()).any(heavy) {
            return learn_each(self, phis, targets, scores);
        }
        let squares = phis.iter().map(|phi| dot(phi.lanes(), phi.lanes()));
        self.reach = squares.fold(self.reach, f64::max).min(f64::MAX);
        let largest = self.largest_variance();
        let Self { w, p, block, residuals, .. } = self;
        learn_rounds(
            block,
            p,
            w,
            (phis, targets),
            scores,
            |RoundValues { z, s }, target, RoundUpdate { scores, along }| {
                let weight = target.weight;
                scores.copy_from_slice(z);
                if weight == 0.0 {
                    read::<F>(scores, || s);
                    return Ok(0.0);
                }
                let s = finite(s)?;
                let gain = weight / (1.0 + weight * s);
                for ((along, y), z) in along.iter_mut().zip(target.y).zip(z) {
                    *along = finite(y - z)? * gain;
                    move_in_range(*along, s, largest)?;
                }
                let squares = along.iter().zip(target.y).zip(z).map(|((step, y), z)| step * (y - z));
                residuals.record(1.0, weight, squares);
                read::<F>(scores, || s);
                Ok(gain)
            },
        )
    }
}
