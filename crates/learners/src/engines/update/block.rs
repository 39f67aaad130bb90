//! Rounds that are learnt together on one matrix.

use mercer_core::ExampleError;
use mercer_kernels::AlignedVec;
use mercer_linalg_incremental::{BlockRecursion, SymmetricMatrix};

use super::Coefficients;
use crate::Error;
use crate::example::{Target, Targets};

/// Fewer rounds than this are faster one by one.
pub(crate) const SHORTEST_BLOCK: usize = 4;

/// Memory of a block and of its rounds.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockRounds {
    recursion: BlockRecursion,
    along: Vec<f64>,
    pub(crate) values: Vec<f64>,
}

/// Findings of a round: the values `z = Wᵀφ` and the uncertainty `s = φᵀPφ`.
pub(crate) struct RoundValues<'a> {
    pub(crate) z: &'a [f64],
    pub(crate) s: f64,
}

/// Results of a round: predictions into `scores` and, for the output `k`, `w_k ← w_k + along_k Pφ`.
pub(crate) struct RoundUpdate<'a> {
    pub(crate) scores: &'a mut [f64],
    pub(crate) along: &'a mut [f64],
}

/// The rounds of a block. `round` gives the gain of `P ← P − gain · c cᵀ`, `c = Pφ`; rounds of
/// weight 0 must give 0 and leave `along` zero.
///
/// # Errors
/// The first refused round's; those before it are learnt.
pub(crate) fn learn_rounds(
    block: &mut BlockRounds,
    p: &mut SymmetricMatrix,
    w: &mut Coefficients,
    (phis, targets): (&[AlignedVec], Targets<'_>),
    scores: &mut Vec<f64>,
    mut round: impl FnMut(RoundValues<'_>, Target<'_>, RoundUpdate<'_>) -> Result<f64, Error>,
) -> Result<(), Error> {
    let BlockRounds { recursion, along, values } = block;
    let outputs = w.outputs();
    recursion.begin(p, w.vectors(), phis);
    along.resize(outputs, 0.0);
    values.resize(outputs, 0.0);
    let mut learnt = Ok(());
    for target in targets.iter() {
        along.fill(0.0);
        values.iter_mut().zip(recursion.values()).for_each(|(value, z)| *value = z);
        let before = scores.len();
        scores.resize(before + outputs, 0.0);
        let found = RoundValues { z: values, s: recursion.quadratic() };
        // A round that is only predicted must not carry what is not finite into those after it.
        let idle = target.weight == 0.0 && !(found.s.is_finite() && found.z.iter().all(|z| z.is_finite()));
        if idle {
            scores.truncate(before);
            learnt = Err(ExampleError::KernelOverflow.into());
            break;
        }
        match round(found, target, RoundUpdate { scores: &mut scores[before..], along }) {
            Ok(gain) => recursion.advance(gain, along),
            Err(error) => {
                scores.truncate(before);
                learnt = Err(error);
                break;
            }
        }
    }
    recursion.finish(p, w.vectors_mut());
    learnt
}
