//! FB-KRLS: fixed-budget kernel recursive least squares (Van Vaerenbergh, Santamaría, Liu and
//! Príncipe 2010).
//!
//! `f` is the kernel ridge regression on the `M` examples kept, `α = (K + λI)⁻¹ỹ`. A new example
//! joins them; of the `M + 1` the one with the least `|α_i|/[(K + λI)⁻¹]_ii` then leaves, the
//! oldest of several. With `η_y > 0` the stored labels move first,
//! `ỹ_i ← ỹ_i + η_y ω k(d_i, x)(y − ỹ_i)`. Weights `ω` make the matrix `K + λΩ⁻¹`. As in
//! [`SwKrls`](crate::SwKrls) the state is the factor `L` of that matrix and `q = L⁻¹ỹ`, and a point
//! leaves by rotations; the diagonal of the inverse is kept up to date. The paper updates the
//! inverse itself. `Jd + 3½J²` multiply-adds a round (`½J²` more with `η_y > 0`), `Jd + ½J²`
//! numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel};
use mercer_linalg_incremental::Rotations;
use mercer_simd::dot;

use super::kernel_ridge::{KernelKrr, KernelRidgeParams};
use crate::engines::basis::inverse_diagonal::InverseDiagonal;
use crate::engines::update::{finite, in_range};
use crate::entry::{Entry, Learner, Parameters};
use crate::example::Target;
use crate::parameters::parameters;
use crate::{Blocks, Error, Growth, Problem, Regressor, RegressorExt, Scratch, Tokens, Variance};

parameters! {
    /// Parameters of [`FbKrls`].
    #[derive(Copy)]
    pub struct FbKrlsParams {
        /// ridge
        lambda: f64 = 0.1 => "λ" POSITIVE.search(0.0001, 10.0),
        /// examples kept
        max_dictionary: usize = 200 => "M" COUNT,
        /// step size with which stored labels follow new targets; 0 leaves them
        eta_y: f64 = 0.0 => "η_y" NOT_NEGATIVE,
    }
}

/// Kernel ridge regression on a fixed number of examples.
///
/// # Invariants
/// `inverse` is the diagonal of `(K + λΩ⁻¹)⁻¹` over the points of `ridge`, and `labels` are their
/// labels.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FbKrls<K> {
    ridge: KernelKrr<K>,
    labels: AlignedVec,
    inverse: InverseDiagonal,
    eta_y: f64,
    max_dictionary: usize,
    #[cfg_attr(feature = "serde", serde(skip))]
    scratch: Scratch,
    #[cfg_attr(feature = "serde", serde(skip))]
    moved: LabelShift,
    #[cfg_attr(feature = "serde", serde(skip))]
    rotations: Rotations,
}

/// Labels that have moved, and `L⁻¹` of them.
#[derive(Clone, Debug, Default)]
struct LabelShift {
    labels: AlignedVec,
    solved: AlignedVec,
}

impl<K: Kernel> FbKrls<K> {
    /// The ridge regression on the examples that are kept.
    #[must_use]
    pub fn ridge(&self) -> &KernelKrr<K> {
        &self.ridge
    }

    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: FbKrlsParams) -> Result<Self, Error> {
        params.check()?;
        let FbKrlsParams { lambda, max_dictionary, eta_y } = params;
        Ok(Self {
            ridge: KernelKrr::new(kernel, dimension, KernelRidgeParams::default().lambda(lambda))?,
            labels: AlignedVec::new(),
            inverse: InverseDiagonal::default(),
            eta_y,
            max_dictionary,
            scratch: Scratch::default(),
            moved: LabelShift::default(),
            rotations: Rotations::new(),
        })
    }

    /// The stored labels after a target `y` at kernel row `row`, with `L⁻¹` of them, in `moved`.
    fn move_labels(&mut self, row: &[f64], y: f64, weight: f64) -> Result<(), Error> {
        let LabelShift { labels, solved } = &mut self.moved;
        labels.assign(&self.labels);
        let rate = (self.eta_y * weight).min(self.eta_y.max(1.0));
        for (label, k) in labels.iter_mut().zip(row) {
            *label += rate * k * (y - *label);
            in_range(*label)?;
        }
        self.ridge.factor().forward_solve(labels, solved);
        solved.iter().try_for_each(|entry| in_range(*entry))
    }

    fn learn_with(
        &mut self,
        x: &[f64],
        target: Target<'_>,
        scratch: &mut Scratch,
        scores: &mut [f64],
    ) -> Result<(), Error> {
        let s = self.ridge.solve(x, scratch, scores)?;
        let [v, row, alpha] = &mut scratch.vectors;
        let (y, pivot) = (target.y[0], self.ridge.pivot(x, target.weight, s)?);
        // The reciprocal bounds what joins the diagonal of the inverse.
        finite(1.0 / (pivot * pivot))?;
        let mut value = [scores[0]];
        if self.eta_y > 0.0 {
            self.move_labels(row, y, target.weight)?;
            value = [finite(dot(v.lanes(), self.moved.solved.lanes()))?];
        }
        in_range((y - value[0]) / pivot)?;
        if self.eta_y > 0.0 {
            std::mem::swap(&mut self.labels, &mut self.moved.labels);
            std::mem::swap(&mut self.ridge.solved_targets_mut().vectors_mut()[0], &mut self.moved.solved);
        }
        self.inverse.joins(self.ridge.factor(), v, pivot);
        self.ridge.join(x, target, v, s, &mut value)?;
        self.labels.push(y);
        if self.ridge.len() > self.max_dictionary {
            self.ridge.factor().backward_solve(&self.ridge.solved_targets().vectors()[0], alpha);
            let mut least = (0, f64::INFINITY);
            for (index, (alpha, inverse)) in alpha.iter().zip(self.inverse.values()).enumerate() {
                let significance = alpha.abs() / inverse;
                if significance < least.1 {
                    least = (index, significance);
                }
            }
            self.inverse.leaves(self.ridge.factor(), least.0);
            self.ridge.remove(least.0, &mut self.rotations);
            self.labels.remove(least.0);
        }
        Ok(())
    }
}

impl<K: Validate> Validate for FbKrls<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.ridge.validate()?;
        self.labels.validate()?;
        self.inverse.validate()?;
        Inconsistent::non_negative(self.eta_y, "step size of labels")?;
        let points = self.ridge.len();
        let fits = points <= self.max_dictionary && [self.labels.len(), self.inverse.values().len()] == [points; 2];
        let fits = fits && self.max_dictionary > 0 && self.ridge.solved_targets().outputs() == 1;
        Inconsistent::require(fits, "fixed-budget learner", "it has a label for each kept point")
    }
}

impl<K: Kernel> Regressor for FbKrls<K> {
    fn problem(&self) -> Problem {
        Problem::squared(self.ridge.dimension(), 1)
    }

    fn dictionary_size(&self) -> usize {
        self.ridge.dictionary_size()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        self.ridge.predict_into(x, scratch, scores)
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let learnt = self.learn_with(x, target, &mut scratch, scores);
        self.scratch = scratch;
        learnt
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        match growth {
            Growth::Inputs(added) => self.ridge.grow(added),
            Growth::Output { .. } => Err(growth.refused()),
        }
    }
}

#[doc(hidden)]
pub const FB_KRLS: Learner<FbKrls<AnyKernel>> = Entry {
    name: "fb-krls",
    summary: "fixed-budget kernel recursive least squares: ridge regression on the examples that matter most",
    keys: FbKrlsParams::KEYS,
    time: cost!(1.0 J d, 3.5 J J),
    memory: cost!(1.0 J d, 0.5 J J),
    source: "Van Vaerenbergh et al. 2010",
    remedy: Some("raise lambda"),
    advice: "a small dictionary for data without drift; eta_y > 0 for slow drift",
    start: "`max_dictionary=200`, `lambda=0.1`",
    trial: &["max_dictionary=20"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(FbKrls::new(kernel, context.dimension, values.parameters(context)?)?));
