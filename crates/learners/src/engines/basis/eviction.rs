//! Which point leaves a full dictionary.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel};
use mercer_linalg_incremental::Removal;
use mercer_sparsify::NewtonBasis;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::engines::basis::inverse_diagonal::InverseDiagonal;
use crate::engines::update::Coefficients;

/// ChaCha8 stream of the draws, apart from other draws with the same seed.
const STREAM: u64 = 0x0065_7669_6374;

/// Which point leaves when one joins a dictionary of the largest size.
///
/// The example is learnt with its own point in the dictionary, which has one point too many for a
/// moment; then the rule takes one out. `α = L⁻ᵀw` are the kernel coefficients of what was learnt,
/// `f = Σ α_i k(d_i, ·)`; of several points that are equal the oldest leaves.
///
/// The [`Removal`] says what becomes of the part of `f` along the direction that leaves the span.
/// [`Removal::Marginalise`] projects `f` on what is left, and keeps what is known in the other
/// directions: the choice of KRLS-T for least squares. [`Removal::Condition`] gives the
/// least-squares fit (or the minimiser of the Newton step's quadratic model) to all rounds among
/// the functions on what is left. Gradient steps have no matrix, and both are the projection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Eviction {
    /// None: a full dictionary keeps no further point.
    #[default]
    Never,
    /// The oldest, so that the dictionary is a window over the points kept.
    Oldest(Removal),
    /// One of the others at random, never the new one.
    Random {
        /// Treatment of its direction.
        how: Removal,
        /// Seed of the draws.
        seed: u64,
    },
    /// The one of the smallest `|α_i|` (Euclidean over the outputs), the new one included.
    SmallestCoefficient(Removal),
    /// The one whose removal moves `f` least, the new one included: the least `‖α_i‖/[K⁻¹]_ii`
    /// (Csató and Opper 2002). `diag(K⁻¹)` is kept up to date with `½J²` multiply-adds when a point
    /// joins and `J²` when one leaves.
    LeastSignificant(Removal),
}

impl Eviction {
    /// The names of the rules, as [`named`](Self::named) reads them.
    pub const NAMES: [&'static str; 5] = ["never", "oldest", "random", "smallest", "least-significant"];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let place = match self {
            Self::Never => 0,
            Self::Oldest(_) => 1,
            Self::Random { .. } => 2,
            Self::SmallestCoefficient(_) => 3,
            Self::LeastSignificant(_) => 4,
        };
        Self::NAMES[place]
    }

    /// The rule of this name, whose points are marginalised; `seed` is for draws. `None` when there
    /// is no such rule.
    #[must_use]
    pub fn named(name: &str, seed: u64) -> Option<Self> {
        let how = Removal::Marginalise;
        Some(match name {
            "never" => Self::Never,
            "oldest" => Self::Oldest(how),
            "random" => Self::Random { how, seed },
            "smallest" => Self::SmallestCoefficient(how),
            "least-significant" => Self::LeastSignificant(how),
            _ => return None,
        })
    }
}

/// A rule at work.
///
/// # Invariants
/// `inverse_diagonal` holds `diag(K⁻¹)` of the dictionary for the rule of the least significant
/// point, and nothing for the others.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Evictor {
    rule: Eviction,
    rng: Option<ChaCha8Rng>,
    inverse_diagonal: InverseDiagonal,
    /// Kernel coefficients.
    #[cfg_attr(feature = "serde", serde(skip))]
    alpha: AlignedVec,
    #[cfg_attr(feature = "serde", serde(skip))]
    squares: Vec<f64>,
}

impl Evictor {
    /// The rule on a dictionary: `J³/6` multiply-adds for the rule of the least significant point.
    pub(crate) fn new<K: Kernel>(rule: Eviction, basis: &NewtonBasis<K>) -> Self {
        let mut evictor = Self { rule, ..Self::default() };
        if let Eviction::Random { seed, .. } = rule {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(STREAM);
            evictor.rng = Some(rng);
        }
        if evictor.weighs() {
            evictor.inverse_diagonal = InverseDiagonal::from_factor(basis.factor());
        }
        evictor
    }

    /// The rule.
    pub(crate) fn rule(&self) -> Eviction {
        self.rule
    }

    /// True if the rule needs `diag(K⁻¹)`.
    fn weighs(&self) -> bool {
        matches!(self.rule, Eviction::LeastSignificant(_))
    }

    /// `diag(K⁻¹)`, for the rule that needs it.
    #[cfg(test)]
    pub(crate) fn inverse_diagonal(&self) -> &[f64] {
        self.inverse_diagonal.values()
    }

    /// A point with coordinates `[φ; √δ]` is about to join.
    pub(crate) fn joins<K: Kernel>(&mut self, basis: &NewtonBasis<K>, phi: &AlignedVec, new_coordinate: f64) {
        if self.weighs() {
            self.inverse_diagonal.joins(basis.factor(), phi, new_coordinate);
        }
    }

    /// Point `index` is about to leave.
    pub(crate) fn leaves<K: Kernel>(&mut self, basis: &NewtonBasis<K>, index: usize) {
        if self.weighs() {
            self.inverse_diagonal.leaves(basis.factor(), index);
        }
    }

    /// The point that leaves a dictionary with a point too many, and how; the coefficients are
    /// those in its orthonormal coordinates.
    pub(crate) fn choose<K: Kernel>(
        &mut self,
        basis: &NewtonBasis<K>,
        coefficients: Option<&Coefficients>,
    ) -> Option<(usize, Removal)> {
        match self.rule {
            Eviction::Never => None,
            Eviction::Oldest(how) => Some((0, how)),
            Eviction::Random { how, .. } => {
                let others = basis.len().saturating_sub(1).max(1);
                Some((self.rng.as_mut().map_or(0, |rng| rng.random_range(0..others)), how))
            }
            Eviction::SmallestCoefficient(how) | Eviction::LeastSignificant(how) => {
                let Some(coefficients) = coefficients else { return Some((0, how)) };
                self.weigh(basis, coefficients);
                let mut least = (0, f64::INFINITY);
                for (index, square) in self.squares.iter().enumerate() {
                    if *square < least.1 {
                        least = (index, *square);
                    }
                }
                Some((least.0, how))
            }
        }
    }

    /// `squares_i ← Σ_k α_ik²`, over `[K⁻¹]_ii²` where the rule says so. `½J²` for each output.
    fn weigh<K: Kernel>(&mut self, basis: &NewtonBasis<K>, coefficients: &Coefficients) {
        self.squares.clear();
        self.squares.resize(basis.len(), 0.0);
        let alpha = &mut self.alpha;
        for w in coefficients.vectors() {
            basis.coefficients(w, alpha);
            self.squares.iter_mut().zip(alpha.iter()).for_each(|(square, alpha)| *square += alpha * alpha);
        }
        if self.weighs() {
            self.squares.iter_mut().zip(self.inverse_diagonal.values()).for_each(|(square, q)| *square /= q * q);
        }
    }

    /// True if the state is that of a dictionary of so many points.
    pub(crate) fn fits(&self, points: usize) -> bool {
        let draws = matches!(self.rule, Eviction::Random { .. });
        self.inverse_diagonal.values().len() == if self.weighs() { points } else { 0 } && self.rng.is_some() == draws
    }
}

impl Validate for Evictor {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.inverse_diagonal.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_kernels::Gaussian;
    use mercer_sparsify::Probe;
    use nalgebra::DMatrix;

    #[test]
    fn the_diagonal_is_that_of_a_dense_inverse_whatever_joins_and_leaves() -> Result<(), Box<dyn std::error::Error>> {
        let kernel = Gaussian::new(0.5)?;
        let mut basis = NewtonBasis::new(kernel, 2);
        let mut evictor = Evictor::new(Eviction::LeastSignificant(Removal::Marginalise), &basis);
        let (mut probe, mut rotations) = (Probe::default(), mercer_linalg_incremental::Rotations::new());
        for t in 0..400_usize {
            let x = [(t * 37 % 101) as f64 * 0.02, (t * 53 % 89) as f64 * 0.02];
            basis.probe(&x, &mut probe);
            if probe.residual() > 1e-3 {
                let new = probe.residual().sqrt();
                evictor.joins(&basis, probe.coordinates(), new);
                basis.append(&x, probe.coordinates(), new);
            }
            if basis.len() > 12 + t / 40 {
                let index = t * 7 % basis.len();
                evictor.leaves(&basis, index);
                basis.remove(index, &mut rotations);
            }
            let points: Vec<_> = (0..basis.len()).map(|i| basis.points().point(i)).collect();
            let gram = DMatrix::from_fn(points.len(), points.len(), |i, j| kernel.evaluate(&points[i], &points[j]));
            let inverse = gram.try_inverse().ok_or("a Gram matrix is singular")?;
            let afresh = Evictor::new(evictor.rule(), &basis);
            for (i, (q, afresh)) in evictor.inverse_diagonal().iter().zip(afresh.inverse_diagonal()).enumerate() {
                let exact = inverse[(i, i)];
                assert!((q - exact).abs() <= 1e-8 * exact, "{q} for {exact} in round {t}");
                assert!((afresh - exact).abs() <= 1e-8 * exact);
            }
            assert!(evictor.fits(basis.len()));
        }
        Ok(())
    }
}
