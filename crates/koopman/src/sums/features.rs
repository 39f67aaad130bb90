//! The features `φ(x) = [1, x, z(x)]` of one candidate.
//!
//! `z(x) = L⁻¹ k_D(x)` are orthonormal coordinates on a dictionary `D` of a kernel, kept by
//! approximate linear dependence (Engel, Mannor and Meir 2004): of some points the one with the
//! largest residual `δ = (k(x,x) − ‖z‖²)/k(x,x)` joins, while `δ` exceeds a tolerance and there is
//! room. The constant makes the eigenvalue 1 exact; with the state itself, linear dynamics (DMD)
//! are nested and a forecast is read off without centring. Functions of a Gaussian kernel fit
//! anything; polynomials of one degree are mapped into themselves by linear dynamics, so that
//! products of eigenfunctions are found as well.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AnyKernel, Kernel};
use mercer_linalg_incremental::SOLVES_TOGETHER;
use mercer_sparsify::{NewtonBasis, Probe};

/// A point this near to the span of those kept, squared, adds nothing. All polynomials of a degree
/// are wanted, as far as rounding lets tell them.
const DEPENDENT: f64 = 1e-6;
const DEPENDENT_POLYNOMIAL: f64 = 1e-10;
/// Points among which the farthest is looked for at once.
const TOGETHER: usize = 512;

/// The features of a candidate.
///
/// # Invariants
/// `kept` names the round of each point of the basis, of which there are at most `most`.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Features {
    basis: NewtonBasis<AnyKernel>,
    most: usize,
    kept: Vec<u64>,
}

impl Validate for Features {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "features of an operator";
        self.basis.validate()?;
        Inconsistent::size(self.most, WHAT)?;
        let fits = self.kept.len() == self.basis.len() && self.kept.len() <= self.most;
        Inconsistent::require(fits, WHAT, "a round for each point, and no more than there is room for")
    }
}

impl Features {
    /// No point yet, on inputs of `dimension` numbers; with `most = 0` there will be none.
    pub(crate) fn new(kernel: AnyKernel, dimension: usize, most: usize) -> Self {
        Self { basis: NewtonBasis::new(kernel, dimension), most, kept: Vec::with_capacity(most) }
    }

    /// `p = 1 + d + m`
    pub(crate) fn len(&self) -> usize {
        self.leading() + self.basis.len()
    }

    /// `1 + d`: the features that need no dictionary.
    pub(crate) fn leading(&self) -> usize {
        1 + self.basis.dimension()
    }

    /// The kernel; `None` without a dictionary.
    pub(crate) fn kernel(&self) -> Option<&AnyKernel> {
        Some(self.basis.kernel()).filter(|_| !self.basis.is_empty())
    }

    /// True if the features are the same, with room for more or without. Without a point any two
    /// are the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.basis == other.basis || (self.basis.is_empty() && other.basis.is_empty())
    }

    /// True if a further point may join.
    pub(crate) fn has_room(&self) -> bool {
        self.basis.len() < self.most
    }

    /// True if there is no room for points that it may lack; polynomials have all they need.
    pub(crate) fn is_full(&self) -> bool {
        !self.has_room() && matches!(self.kernel(), Some(AnyKernel::Gaussian(_)))
    }

    /// Takes no further point.
    pub(crate) fn close(&mut self) {
        self.most = self.basis.len();
    }

    /// Points kept: the round of each, and where it is.
    pub(crate) fn dictionary(&self) -> impl ExactSizeIterator<Item = (u64, Vec<f64>)> {
        self.kept.iter().enumerate().map(|(i, round)| (*round, self.basis.points().point(i)))
    }

    /// Asks about points, row by row, and keeps those that are new. `O(md + m²)` a point.
    pub(crate) fn grow(&mut self, points: &[f64], rounds: &[u64], probes: &mut Vec<Probe>) {
        let width = (self.basis.dimension() * TOGETHER).max(1);
        for (points, rounds) in points.chunks(width).zip(rounds.chunks(TOGETHER)) {
            if !self.has_room() {
                return;
            }
            self.probe(points, probes);
            self.keep_farthest(points, rounds, probes);
        }
    }

    fn keep_farthest(&mut self, points: &[f64], rounds: &[u64], probes: &mut [Probe]) {
        let d = self.basis.dimension();
        let tolerance =
            if matches!(self.basis.kernel(), AnyKernel::Polynomial(_)) { DEPENDENT_POLYNOMIAL } else { DEPENDENT };
        while self.has_room() {
            let kernel = self.basis.kernel();
            let residual =
                |probes: &[Probe], i: usize| probes[i].residual() / kernel.self_value(&points[i * d..(i + 1) * d]);
            let farther = |best: usize, i: usize| if residual(probes, i) > residual(probes, best) { i } else { best };
            let best = (0..rounds.len()).reduce(farther).filter(|best| residual(probes, *best) > tolerance);
            let Some(best) = best else { return };
            let (x, coordinate) = (&points[best * d..(best + 1) * d], probes[best].residual().sqrt());
            self.basis.append(x, probes[best].coordinates(), coordinate);
            self.kept.push(rounds[best]);
            for (x, probe) in points.chunks_exact(d).zip(&mut *probes) {
                if probe.residual() > tolerance * self.basis.kernel().self_value(x) {
                    self.basis.catch_up(x, probe);
                }
            }
        }
    }

    /// Makes the probe of each point. `O(md + ½m²)` a point, four in one read of the factor.
    pub(crate) fn probe(&self, points: &[f64], probes: &mut Vec<Probe>) {
        let d = self.basis.dimension();
        let count = points.len() / d.max(1);
        if probes.len() < count {
            probes.resize_with(count, Probe::default);
        }
        let mut rows = points.chunks_exact(d * SOLVES_TOGETHER);
        let mut groups = probes.chunks_exact_mut(SOLVES_TOGETHER);
        for (rows, probes) in rows.by_ref().zip(groups.by_ref()) {
            if let Ok(probes) = probes.try_into() {
                let x = |i: usize| &rows[i * d..(i + 1) * d];
                self.basis.probe_together(std::array::from_fn(x), probes);
            }
        }
        let done = count - count % SOLVES_TOGETHER;
        for (x, probe) in points[done * d..].chunks_exact(d).zip(&mut probes[done..]) {
            self.basis.probe(x, probe);
        }
    }

    /// Writes `[1, x, z]` of a probed point.
    pub(crate) fn write(&self, x: &[f64], probe: &Probe, features: &mut [f64]) {
        features[0] = 1.0;
        features[1..=x.len()].copy_from_slice(x);
        features[1 + x.len()..].copy_from_slice(&probe.coordinates()[..self.basis.len()]);
    }

    /// `φ(x)` of one point. `O(md + ½m²)`.
    pub(crate) fn evaluate(&self, x: &[f64], probe: &mut Probe, features: &mut Vec<f64>) {
        self.basis.probe(x, probe);
        features.resize(self.len(), 0.0);
        self.write(x, probe, features);
    }
}
