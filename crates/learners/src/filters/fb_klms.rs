//! FB-KLMS: fixed-budget kernel least mean squares (Rzepka 2012).
//!
//! With `k` the kernel values at the kept points, `κ = k(x, x)`, `e = y − f(x)`, `ω` the weight of
//! the example and `n = ‖k‖² + ε`: `α ← α + η ω e k/n`. If `min_i (κ − k_i/k(d_i, d_i)) ≥ ν`, `x`
//! joins with the coefficient `η ω e/n`. Of more than `M` points the one of the smallest `|α|`
//! leaves: the first of several, and it may be the new one. The first point joins with `η ω y/κ`.
//! `Jd + 3J` multiply-adds a round, `Jd + 2J` numbers of memory.
//!
//! The source has `ε = 0`; its step then grows without bound far from the dictionary. Steps at the
//! point itself shrink the error for `ε > ηκ/2`, and the default is `ε = κ`. Inputs with `κ = 0`
//! are the zero function; they teach nothing.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_simd::dot;
use mercer_sparsify::{Basis, EveryPoint};

use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView, check_move};
use crate::engines::update::importance::squared_rate;
use crate::engines::update::{Coefficients, finite};
use crate::entry::{Entry, Learner, Parameters};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

parameters! {
    /// Parameters of [`FbKlms`].
    #[derive(Copy)]
    pub struct FbKlmsParams {
        /// step size
        eta: f64 = 0.1 => "η" POSITIVE.search(0.01, 1.0),
        /// growth threshold; larger keeps fewer points
        nu: f64 = 0.3 => "ν" NOT_NEGATIVE.search(0.001, 1.0),
        /// added to the squared norm of the kernel row
        eps: Option<f64> = None => "ε" NOT_NEGATIVE.none("k(x, x) of each input"),
        /// most points kept
        max_dictionary: usize = 500 => "" COUNT,
    }
}

/// Fixed-budget kernel least mean squares.
pub type FbKlms<K> = OnCoefficients<K, EveryPoint, FixedBudgetStep>;

impl<K: Kernel> FbKlms<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: FbKlmsParams) -> Result<Self, Error> {
        params.check()?;
        let FbKlmsParams { eta, nu, eps, max_dictionary } = params;
        let update = FixedBudgetStep { eta, nu, eps, budget: max_dictionary };
        Self::from_parts(kernel, dimension, EveryPoint, update, (1, None))
    }
}

/// The normalised step of FB-KLMS; the smallest coefficient leaves.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FixedBudgetStep {
    eta: f64,
    nu: f64,
    eps: Option<f64>,
    budget: usize,
}

impl Validate for FixedBudgetStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.eta, "step size")?;
        Inconsistent::non_negative(self.nu, "growth threshold")?;
        Inconsistent::non_negative(self.eps.unwrap_or(0.0), "regulariser of a normalised step")?;
        Inconsistent::require(self.budget >= 1, "budget", "it is at least 1")
    }
}

impl<K: Kernel> CoefficientUpdate<K> for FixedBudgetStep {
    fn loss(&self) -> Loss {
        Loss::SQUARED
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { basis, probe, target, leaving, .. } = seen;
        alpha.values(probe.row(), scores);
        let (row, own) = (probe.row(), probe.self_value());
        let error = finite(target.y[0] - scores[0])?;
        if own == 0.0 {
            return Ok(());
        }
        let squared_row = finite(dot(row.lanes(), row.lanes()))?;
        let norm = if basis.is_empty() { own } else { squared_row + self.eps.unwrap_or(own) };
        let far = |(i, k): (usize, &f64)| own - k / basis.self_value(i) >= self.nu;
        let joins = row.iter().enumerate().all(far);
        let moves = (squared_row + if joins { own } else { 0.0 }) / norm;
        let step = finite(squared_rate(self.eta, moves, target.weight) * error / norm)?;
        check_move(alpha, step, scores[0], squared_row + f64::from(u8::from(joins)))?;
        alpha.add(&[step], row);
        if joins {
            alpha.push(&[step]);
        }
        if alpha.coordinates() > self.budget {
            let size = |i: &usize| alpha.vectors()[0][*i].abs();
            leaving.extend((0..alpha.coordinates()).min_by(|i, j| size(i).total_cmp(&size(j))));
        }
        Ok(())
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        growth.of_inputs()
    }

    fn fits(&self, points: usize, _: usize) -> bool {
        points <= self.budget
    }
}

#[doc(hidden)]
pub const FB_KLMS: Learner<FbKlms<AnyKernel>> = Entry {
    name: "fb-klms",
    summary: "normalised kernel least mean squares; the smallest coefficient leaves a full dictionary",
    keys: FbKlmsParams::KEYS,
    time: cost!(1.0 J d, 3.0 J),
    memory: cost!(1.0 J d, 2.0 J),
    source: "Rzepka 2012",
    remedy: Some("take a larger eps or a smaller step"),
    advice: "cheap steps with a dictionary that goes on changing",
    start: "`eta=0.1`, `nu=0.3`; 0.5 and 0.1 where there is little noise",
    trial: &["max_dictionary=30"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(FbKlms::new(kernel, context.dimension, values.parameters(context)?)?));
