//! Taylor features of the Gaussian kernel (Jézéquel, Gaillard and Rudi 2019, eq. 6).

use mercer_simd::{AlignedVec, Lane, Op, Simd, dispatch, exp, exp_lane};

use mercer_core::{Inconsistent, Validate};

use crate::kernel::KernelError;
use crate::stationary::width;

/// `g_k(x) = Π_i x_i^{k_i}/(σ^{|k|} √Π k_i!) · exp(−‖x‖²/2σ²)` for every multi-index `|k| ≤ M`,
/// `r = C(d + M, M)` of them.
///
/// They are orthonormal in the space of the Gaussian kernel, and `g(x)ᵀg(z)` is the kernel with the
/// exponential series of `xᵀz/σ²` cut after degree `M`: accurate for `‖x‖²/σ² ≲ 2`, useless far
/// from the origin. Give a `centre` to measure `x` from there.
///
/// A feature of degree `m` is one of degree `m − 1` times `x_i/σ` over `√k_i`. Ordered by degree
/// and then by the largest coordinate that occurs, the factors of one coordinate are a run: `r`
/// multiplications in long vectors.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TaylorFeatures {
    sigma: f64,
    centre: Vec<f64>,
    degree: usize,
    /// `1/√k_i` of the step that makes each feature.
    factors: AlignedVec,
}

impl Validate for TaylorFeatures {
    fn validate(&self) -> Result<(), Inconsistent> {
        Inconsistent::positive(self.sigma, "width of Taylor features")?;
        self.centre.validate()?;
        self.factors.validate()?;
        // A degree without features of its own would make counting them a long affair; without
        // coordinates none has any.
        let counted = (self.centre.is_empty() || self.degree < self.factors.len())
            && Self::count(self.centre.len(), self.degree) == self.factors.len() as u128;
        Inconsistent::require(counted, "list of Taylor features", "it has one for each multi-index")?;
        // They follow from dimension and degree.
        let again = Self::new(self.sigma, self.degree, self.centre.clone(), u64::MAX);
        Inconsistent::require(again.is_ok_and(|again| again == *self), "list of Taylor features", "factors are 1/√k")
    }
}

impl TaylorFeatures {
    /// The features up to `degree` for inputs of dimension `centre.len()`, measured from `centre`.
    ///
    /// # Errors
    /// [`KernelError::Width`], and [`KernelError::TooManyFeatures`] when a symmetric matrix of
    /// their number, which every least-squares learner keeps, would exceed `max_bytes`.
    pub fn new(sigma: f64, degree: usize, centre: Vec<f64>, max_bytes: u64) -> Result<Self, KernelError> {
        width(sigma)?;
        let d = centre.len();
        let count = Self::count(d, degree);
        let bytes = count.saturating_mul(count).saturating_mul(4);
        if bytes > u128::from(max_bytes) {
            return Err(KernelError::TooManyFeatures { dimension: d, degree, count, bytes });
        }
        let mut factors = AlignedVec::zeros(count as usize);
        factors[0] = 1.0;
        // Exponent of the largest coordinate of each feature; a run multiplies by that coordinate
        // once more.
        let mut exponents = vec![0u32; count as usize];
        for run in DegreeRuns::new(d, degree) {
            for j in 0..run.len {
                let repeats = j >= run.len - run.repeating;
                let exponent = if repeats { exponents[run.source + j] + 1 } else { 1 };
                exponents[run.target + j] = exponent;
                factors[run.target + j] = 1.0 / f64::from(exponent).sqrt();
            }
        }
        Ok(Self { sigma, centre, degree, factors })
    }

    /// `C(d + M, M)`, the number of multi-indices `|k| ≤ M` in `ℕᵈ`; [`u128::MAX`] stands for all
    /// numbers that are too large to count. `O(min(d, M))`.
    #[must_use]
    pub fn count(dimension: usize, degree: usize) -> u128 {
        let (few, many) = (dimension.min(degree) as u128, dimension.max(degree) as u128);
        let count = (1..=few).try_fold(1u128, |count, k| Some(count.checked_mul(many + k)? / k));
        count.unwrap_or(u128::MAX)
    }

    /// The degree `M = ⌈8R²/σ² ∨ 2 ln(n/(λ ∧ 1))⌉` for `n` inputs of norm at most `R` and ridge `λ`
    /// (Theorem 4).
    #[must_use]
    pub fn sufficient_degree(radius: f64, sigma: f64, rounds: usize, lambda: f64) -> usize {
        let spread = 8.0 * (radius / sigma).powi(2);
        let horizon = 2.0 * (rounds as f64 / lambda.min(1.0)).ln();
        spread.max(horizon).ceil() as usize
    }

    /// Input dimension `d`.
    #[must_use]
    pub fn input_dimension(&self) -> usize {
        self.centre.len()
    }

    /// Number of features `r`.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.factors.len()
    }

    /// `features ← g(x − centre)`: `r` multiplications; allocates only when `features` must grow.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    pub fn map(&self, x: &[f64], features: &mut AlignedVec) {
        assert_eq!(x.len(), self.input_dimension(), "an input has one coordinate for each dimension");
        features.resize(self.dimension());
        let scaled = |x: f64, c: f64| (x - c) / self.sigma;
        let squared: f64 = x.iter().zip(&self.centre).map(|(x, c)| scaled(*x, *c).powi(2)).sum();
        features[0] = exp(-0.5 * squared);
        for run in DegreeRuns::new(x.len(), self.degree) {
            let (sources, targets) = features.split_at_mut(run.target);
            dispatch(Multiply {
                source: &sources[run.source..run.source + run.len],
                factors: &self.factors[run.target..run.target + run.len],
                scale: scaled(x[run.coordinate], self.centre[run.coordinate]),
                target: &mut targets[..run.len],
            });
        }
    }

    /// [`map`](Self::map) for the rows of a row-major block, the same bits: eight rows share every
    /// instruction. `work` is memory for `8r` numbers.
    ///
    /// # Panics
    /// If a row has not `d` coordinates.
    pub fn map_block(&self, xs: &[f64], features: &mut [AlignedVec], work: &mut AlignedVec) {
        let d = self.input_dimension().max(1);
        let padded = self.dimension().next_multiple_of(8);
        for (xs, rows) in xs.chunks(8 * d).zip(features.chunks_mut(8)) {
            assert!(xs.len().is_multiple_of(d), "an input has one coordinate for each dimension");
            rows.iter_mut().for_each(|row| row.resize(self.dimension()));
            work.resize(0);
            work.resize(8 * padded);
            dispatch(MapBlock { features: self, xs, lanes: work.lanes_mut(), rows });
        }
    }
}

/// The features of up to eight inputs, a lane a feature, then turned into rows.
struct MapBlock<'a> {
    features: &'a TaylorFeatures,
    xs: &'a [f64],
    lanes: &'a mut [Lane],
    rows: &'a mut [AlignedVec],
}

impl Op for MapBlock<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { features: TaylorFeatures { sigma, centre, degree, factors }, xs, lanes, rows } = self;
        let d = centre.len();
        let scaled = |i: usize| {
            let mut lane = Lane::ZERO;
            for (value, x) in lane.0.iter_mut().zip(xs.chunks_exact(d.max(1))) {
                *value = (x[i] - centre[i]) / sigma;
            }
            lane
        };
        let mut squared = simd.splat(0.0);
        for i in 0..d {
            let x = simd.load(&scaled(i));
            squared = simd.add(squared, simd.mul(x, x));
        }
        simd.store(exp_lane(simd, simd.mul(simd.splat(-0.5), squared)), &mut lanes[0]);
        for run in DegreeRuns::new(d, *degree) {
            let x = simd.load(&scaled(run.coordinate));
            let (sources, targets) = lanes.split_at_mut(run.target);
            let sources = &sources[run.source..run.source + run.len];
            let factors = &factors[run.target..run.target + run.len];
            for ((target, source), factor) in targets.iter_mut().zip(sources).zip(factors) {
                simd.store(simd.mul(simd.mul(x, simd.load(source)), simd.splat(*factor)), target);
            }
        }
        for (p, panel) in lanes.as_chunks::<8>().0.iter().enumerate() {
            let mut columns = [simd.splat(0.0); 8];
            for j in 0..8 {
                columns[j] = simd.load(&panel[j]);
            }
            for (row, values) in rows.iter_mut().zip(simd.transpose(columns)) {
                simd.store(values, &mut row.lanes_mut()[p]);
            }
        }
    }
}

/// `target ← source · factors · scale`
struct Multiply<'a> {
    source: &'a [f64],
    factors: &'a [f64],
    scale: f64,
    target: &'a mut [f64],
}

impl Op for Multiply<'_> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        // Runs begin anywhere, so this is left to the compiler, which vectorises it for the
        // dispatched instruction set.
        for ((target, source), factor) in self.target.iter_mut().zip(self.source).zip(self.factors) {
            *target = self.scale * source * factor;
        }
    }
}

/// The features of degree `m` whose largest coordinate is `i`: `x_i` times a run of those of degree
/// `m − 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DegreeRun {
    coordinate: usize,
    source: usize,
    target: usize,
    len: usize,
    /// Number of features at the end of the source that have `i` as their largest coordinate
    /// already.
    repeating: usize,
}

/// All runs in the order of evaluation.
struct DegreeRuns {
    d: usize,
    degree: usize,
    m: usize,
    i: usize,
    /// Features of degree `m − 1` whose largest coordinate is below, or at most, `i`.
    source: usize,
    below: usize,
    target: usize,
}

impl DegreeRuns {
    fn new(d: usize, degree: usize) -> Self {
        Self { d, degree, m: 1, i: 0, source: 0, below: 0, target: 1 }
    }
}

impl Iterator for DegreeRuns {
    type Item = DegreeRun;

    fn next(&mut self) -> Option<DegreeRun> {
        if self.m > self.degree || self.d == 0 {
            return None;
        }
        // Monomials of degree m − 1 in the first i + 1 coordinates: C(m − 1 + i, i).
        let len = TaylorFeatures::count(self.m - 1, self.i) as usize;
        let repeating = if self.m == 1 { 0 } else { len - self.below };
        let run = DegreeRun { coordinate: self.i, source: self.source, target: self.target, len, repeating };
        self.target += len;
        self.below = len;
        self.i += 1;
        if self.i == self.d {
            self.source += len;
            (self.i, self.below) = (0, 0);
            self.m += 1;
        }
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gaussian, Kernel};

    /// Every multi-index up to the degree, by brute force.
    fn definition(x: &[f64], sigma: f64, degree: usize) -> Vec<f64> {
        let mut indices = vec![vec![]];
        for _ in x {
            indices = indices
                .into_iter()
                .flat_map(|k: Vec<usize>| (0..=degree).map(move |e| [k.clone(), vec![e]].concat()))
                .filter(|k| k.iter().sum::<usize>() <= degree)
                .collect();
        }
        let squared: f64 = x.iter().map(|x| x * x / (sigma * sigma)).sum();
        let feature = |k: &Vec<usize>| {
            k.iter().zip(x).fold((-0.5 * squared).exp(), |product, (&e, x)| {
                let factorial: f64 = (1..=e).map(|i| i as f64).product();
                product * (x / sigma).powi(e as i32) / factorial.sqrt()
            })
        };
        indices.iter().map(feature).collect()
    }

    #[test]
    fn features_are_those_of_the_definition() -> Result<(), KernelError> {
        for (d, degree) in [(1, 6), (2, 4), (3, 3), (5, 2), (4, 0), (18, 2)] {
            let x: Vec<f64> = (0..d).map(|i| 0.3 * (i as f64 + 1.0).sin()).collect();
            let features = TaylorFeatures::new(0.8, degree, vec![0.0; d], 1 << 30)?;
            let mut z = AlignedVec::new();
            features.map(&x, &mut z);
            let mut sorted = z.to_vec();
            let mut expected = if d < 10 { definition(&x, 0.8, degree) } else { sorted.clone() };
            assert_eq!(sorted.len() as u128, TaylorFeatures::count(d, degree));
            sorted.sort_by(f64::total_cmp);
            expected.sort_by(f64::total_cmp);
            assert_eq!(sorted.len(), expected.len());
            assert!(sorted.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-15), "d {d}, degree {degree}");
        }
        Ok(())
    }

    #[test]
    fn a_map_of_no_coordinates_is_the_constant() -> Result<(), KernelError> {
        let features = TaylorFeatures::new(0.8, 3, vec![], 1 << 30)?;
        let mut z = AlignedVec::new();
        features.map(&[], &mut z);
        assert_eq!(*z, [1.0]);
        assert!(features.validate().is_ok());
        Ok(())
    }

    #[test]
    fn a_block_has_the_bits_of_its_rows() -> Result<(), KernelError> {
        for (d, degree) in [(1, 5), (4, 3), (18, 2)] {
            let features = TaylorFeatures::new(1.3, degree, vec![0.1; d], 1 << 30)?;
            let xs: Vec<f64> = (0..11 * d).map(|i| (i as f64).sin()).collect();
            let mut block = vec![AlignedVec::new(); 11];
            features.map_block(&xs, &mut block, &mut AlignedVec::new());
            let mut single = AlignedVec::new();
            for (x, row) in xs.chunks(d).zip(&block) {
                features.map(x, &mut single);
                assert_eq!(*row, single, "d {d}, degree {degree}");
            }
        }
        Ok(())
    }

    #[test]
    fn products_are_the_gaussian_kernel_at_high_degree_and_around_the_centre() -> Result<(), KernelError> {
        let features = TaylorFeatures::new(1.1, 16, vec![5.0, -3.0], 1 << 30)?;
        let (x, z) = ([5.4, -3.3], [4.6, -2.5]);
        let (mut a, mut b) = (AlignedVec::new(), AlignedVec::new());
        features.map(&x, &mut a);
        features.map(&z, &mut b);
        let product: f64 = a.iter().zip(b.iter()).map(|(a, b)| a * b).sum();
        assert!((product - Gaussian::new(1.1)?.evaluate(&x, &z)).abs() < 1e-14);
        Ok(())
    }

    #[test]
    fn too_many_features_are_refused_with_their_count_and_bytes() {
        let error = TaylorFeatures::new(1.0, 10, vec![0.0; 18], 1 << 32).map(drop);
        assert_eq!(
            error,
            Err(KernelError::TooManyFeatures {
                dimension: 18,
                degree: 10,
                count: 13_123_110,
                bytes: 688_864_064_288_400
            })
        );
        assert_eq!(TaylorFeatures::count(18, 2), 190);
        assert_eq!(TaylorFeatures::count(2, 18), 190);
        assert_eq!(TaylorFeatures::sufficient_degree(1.0, 1.0, 1000, 1.0), 14);
    }

    #[test]
    fn what_cannot_be_counted_is_refused_at_once_and_in_words() {
        let error = TaylorFeatures::new(1.0, 30_000_000_000_000, vec![0.0; 9], 1 << 32).map(drop);
        let words = error.map_err(|error| error.to_string());
        assert_eq!(
            words,
            Err("more than 10^38 Taylor features of degree 30000000000000 in dimension 9 need more than 10^38 bytes for their \
                 matrix; take a smaller degree, fewer inputs, or a wider kernel on inputs scaled to a smaller range"
                .to_owned())
        );
    }
}
