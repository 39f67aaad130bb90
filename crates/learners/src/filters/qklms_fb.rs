//! QKLMS-FB: quantised kernel least mean squares with a fixed budget (Zhao, Chen, Zhu and Principe
//! 2013).
//!
//! As [`Qklms`](crate::Qklms), but a full dictionary makes room: the point of the least
//! significance `E` leaves, the first of several. With `e = y − f(x)`, `s = η ω e`, `ω` the weight
//! of the example, `L` the influence of a point and `c = πσ²/2` for a Gaussian of width `σ`:
//!
//! - `x` merges into `j`: `E_i ← βE_i + c|α_i| k(d_i, d_j)` for `i ≠ j`;
//!   `E_j ← |α_j + s| (βE_j/|α_j| + c)` with the `α` from before, or `c|α_j + s|` if that is 0;
//!   `α_j ← α_j + s`; `L ← βL`, then `L_j ← L_j + 1`;
//! - `x` joins with `s`: `E ← β[E; 0] + c|s| k(·, x)`, `L ← [βL; 1]`;
//! - point `l` leaves before: `E_i ← E_i − L_l c|α_i| k(d_i, d_l)`, and `e` is the error without
//!   it.
//!
//! All terms of `E` have the factor `c`, so no decision depends on it, and `E` is kept in units of
//! `c`. The source knows Gaussians only. Other kernels are used in the same way; in `E_j`, `c` then
//! has the factor `k(d_j, d_j)`.
//!
//! `3Jd + 4J` multiply-adds a round at most, `Jd + 4J` numbers of memory.

use mercer_core::{Inconsistent, Validate, cost};
use mercer_kernels::{AlignedVec, AnyKernel, Kernel};
use mercer_sparsify::{Answer, Basis, KernelBasis, Quantised};

use crate::engines::coefficients::{CoefficientUpdate, OnCoefficients, SampleView};
use crate::engines::update::importance::squared_rate;
use crate::engines::update::{Coefficients, finite};
use crate::entry::{Entry, Learner, Parameters, Rule};
use crate::loss::Loss;
use crate::parameters::parameters;
use crate::{Error, Growth};

parameters! {
    /// Parameters of [`QklmsFb`].
    #[derive(Copy)]
    pub struct QklmsFbParams {
        /// step size, below 2/k(x,x)
        eta: f64 = 0.1 => "η" POSITIVE.search(0.01, 1.0),
        /// inputs this near share a point
        epsilon: f64 = 0.3 => "ε" NOT_NEGATIVE.found_by_default(Rule::NEAREST).search(0.01, 1.0),
        /// forgetting factor of the significance of points
        beta: f64 = 0.999 => "β" UNIT_INTERVAL,
        /// most points kept
        max_dictionary: usize = 1000 => "" COUNT,
    }
}

/// Quantised kernel least mean squares with a fixed budget.
pub type QklmsFb<K> = OnCoefficients<K, Quantised, SignificanceStep>;

impl<K: Kernel> QklmsFb<K> {
    /// A learner for inputs of dimension `dimension`.
    ///
    /// # Errors
    /// When a parameter is out of its range.
    pub fn new(kernel: K, dimension: usize, params: QklmsFbParams) -> Result<Self, Error> {
        params.check()?;
        let QklmsFbParams { eta, epsilon, beta, max_dictionary } = params;
        let update = SignificanceStep { eta, beta, budget: max_dictionary, ..SignificanceStep::default() };
        Self::from_parts(kernel, dimension, Quantised::new(epsilon)?, update, (1, None))
    }
}

/// The step of [`Qklms`](crate::Qklms), and the significance that tells which point leaves.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SignificanceStep {
    eta: f64,
    beta: f64,
    budget: usize,
    /// `E/c`
    significance: Vec<f64>,
    /// `L`
    influence: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    next: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    point: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    row: AlignedVec,
}

impl Validate for SignificanceStep {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "significance of points";
        Inconsistent::positive(self.eta, "step size")?;
        let sound = (0.0..=1.0).contains(&self.beta) && self.budget >= 1;
        Inconsistent::require(sound, WHAT, "its parameters are in range")?;
        self.significance.validate()?;
        self.influence.iter().try_for_each(|value| Inconsistent::non_negative(*value, "influence of a point"))
    }
}

impl SignificanceStep {
    /// `row ← k(·, d_j)`
    fn look_from<K: Kernel>(&mut self, basis: &KernelBasis<K>, j: usize) {
        self.point.resize(basis.dimension(), 0.0);
        basis.points().copy_point(j, &mut self.point);
        basis.kernel().row(basis.points(), &self.point, &mut self.row);
    }

    /// Fills `next` with the significance after a merge into `j`, by which its coefficient becomes
    /// `moved`.
    fn merge(&mut self, alpha: &[f64], j: usize, own: f64, moved: f64) {
        let Self { beta, significance, next, row, .. } = self;
        let terms = significance.iter().zip(alpha).zip(row.iter());
        next.extend(terms.map(|((old, alpha), k)| *beta * old + alpha.abs() * k));
        let before = if alpha[j] == 0.0 { 0.0 } else { *beta * significance[j] / alpha[j].abs() };
        next[j] = moved.abs() * (before + own);
    }

    /// The point of the least significance.
    fn least(&self) -> Option<usize> {
        (0..self.significance.len()).min_by(|i, j| self.significance[*i].total_cmp(&self.significance[*j]))
    }
}

impl<K: Kernel> CoefficientUpdate<K> for SignificanceStep {
    fn loss(&self) -> Loss {
        Loss::SQUARED
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let SampleView { basis, probe, answer, target, leaving, .. } = seen;
        alpha.values(probe.row(), scores);
        let (old, error) = (&alpha.vectors()[0], target.y[0] - scores[0]);
        // A merged point moves f(x) by its kernel value, one that joins by k(x, x).
        let moves = if let Answer::Merge(j) = answer { probe.row()[j] } else { probe.self_value() };
        let rate = squared_rate(self.eta, moves, target.weight);
        // Squares in range keep the predictions of all points together in range.
        let in_range = |value: f64| finite(value * value).map(|_| value);
        self.next.clear();
        if let Answer::Merge(j) = answer {
            let step = finite(rate * error)?;
            let moved = in_range(old[j] + step)?;
            self.look_from(basis, j);
            self.merge(old, j, basis.self_value(j), moved);
            self.next.iter().try_for_each(|value| finite(*value).map(drop))?;
            std::mem::swap(&mut self.significance, &mut self.next);
            self.influence.iter_mut().for_each(|influence| *influence *= self.beta);
            self.influence[j] += 1.0;
            alpha.add_to(j, &[step]);
            return Ok(());
        }
        let removed = if basis.len() >= self.budget { self.least() } else { None };
        let mut step = rate * error;
        self.next.extend(&self.significance);
        if let Some(l) = removed {
            self.look_from(basis, l);
            let terms = self.next.iter_mut().zip(old.iter()).zip(self.row.iter());
            terms.for_each(|((value, alpha), k)| *value -= self.influence[l] * alpha.abs() * k);
            step = rate * (error + old[l] * probe.row()[l]);
        }
        let step = in_range(finite(step)?)?;
        let terms = self.next.iter_mut().zip(probe.row().iter());
        terms.for_each(|(value, k)| *value = self.beta * *value + step.abs() * k);
        self.next.push(step.abs() * probe.self_value());
        self.next.iter().try_for_each(|value| finite(*value).map(drop))?;
        std::mem::swap(&mut self.significance, &mut self.next);
        self.influence.iter_mut().for_each(|influence| *influence *= self.beta);
        self.influence.push(1.0);
        if let Some(l) = removed {
            self.significance.remove(l);
            self.influence.remove(l);
            leaving.push(l);
        }
        alpha.push(&[step]);
        Ok(())
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        growth.of_inputs()
    }

    fn fits(&self, points: usize, _: usize) -> bool {
        self.significance.len() == points && self.influence.len() == points && points <= self.budget
    }
}

#[doc(hidden)]
pub const QKLMS_FB: Learner<QklmsFb<AnyKernel>> = Entry {
    name: "qklms-fb",
    summary: "quantised kernel least mean squares; the least significant point leaves a full dictionary",
    keys: QklmsFbParams::KEYS,
    time: cost!(3.0 J d, 4.0 J),
    memory: cost!(1.0 J d, 4.0 J),
    source: "Zhao et al. 2013",
    remedy: Some("take a smaller step"),
    advice: "cheap steps on a budget; drift",
    start: "`eta=0.1`, `epsilon` as found or a fifth of the width",
    trial: &["epsilon=0.3", "max_dictionary=30"],
    ..Entry::PLAIN
}
.made_by(|kernel, context, values| Ok(QklmsFb::new(kernel, context.dimension, values.parameters(context)?)?));
