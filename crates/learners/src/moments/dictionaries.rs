//! Dictionaries of shards: their points joined, their sums moved onto the joint points, and points
//! sampled by leverage.
//!
//! **Two passes.** Every shard keeps points of its own (a dictionary's, or a sample);
//! [`FixedMap::joined`] joins and thins them; a second pass sums up every shard on the joint
//! points. The sums are exact: the result depends on the shards only through the points.
//!
//! **One pass.** Every shard sums up on its own points, and [`RidgeMoments::projected`] moves the
//! sums onto the joint ones: with `T = L_U⁻¹ K(U, S) L_S⁻ᵀ` the coordinates of a function of the
//! span of `S` go to those of its projection, `G ← T G Tᵀ` and `b ← T b`. What a row had outside
//! the span of its shard's points is lost, so this is inexact; [`Projection`] measures what moving
//! loses beside that.
//!
//! **Leverage.** [`leverage_sample`] is BLESS (Rudi, Calandriello, Carratino and Rosasco 2018,
//! Algorithm 1): from large `λ` down to the one asked for, uniform candidates are scored by the
//! sample before and sampled by their scores. It needs no matrix larger than the sample.

use mercer_core::ExampleError;
use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_linalg_incremental::Matrix;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{FixedMap, MapError, RidgeMoments};
use crate::engines::basis::FeatureMap;
use crate::{Error, ParameterError};

/// Loss from moving sums onto other points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// The share of `tr G` that lies outside the new span.
    pub lost: f64,
    /// The largest squared distance of an old point to the new span, as a share of `k(s, s)`.
    pub farthest: f64,
}

impl<K: Kernel> FixedMap<K> {
    /// The Nyström approximation on the points of several shards, in their order; a point whose
    /// squared distance to the span of those before is at most `alpha · k(x, x)` is left out. `½J³`
    /// for `J` points in all.
    ///
    /// # Errors
    /// When `alpha` is negative or not finite, and as [`FixedMap::nystrom`].
    pub fn joined(kernel: K, shards: &[&Points], alpha: f64) -> Result<Self, MapError> {
        let dimension = shards.first().map_or(0, |points| points.dimension());
        let mut all = Points::new(dimension);
        for shard in shards {
            if shard.dimension() != dimension {
                let source = Error::Example(ExampleError::Dimension { expected: dimension, got: shard.dimension() });
                return Err(MapError::Point { row: all.len() + 1, source });
            }
            (0..shard.len()).for_each(|index| all.push(&shard.point(index)));
        }
        let alpha = ParameterError::non_negative("alpha", alpha);
        Self::thinned(kernel, &all, alpha.map_err(|error| MapError::Point { row: 0, source: error.into() })?)
    }
}

impl<K: Kernel + Clone + PartialEq> RidgeMoments<FixedMap<K>> {
    /// The same sums on the points of `onto`, to merge with those of other shards, and what that
    /// has lost. `J_U J_S (J_U + J_S)`.
    ///
    /// # Errors
    /// When one of the maps is no Nyström approximation, or their kernels differ.
    pub fn projected(&self, onto: &FixedMap<K>) -> Result<(Self, Projection), Error> {
        let size = onto.coordinates() as f64;
        let (FixedMap::Nystrom(from), FixedMap::Nystrom(to)) = (self.feature_map(), onto) else {
            let requirement = "those of given points, here and there";
            return Err(ParameterError { name: "features", requirement, value: size }.into());
        };
        ParameterError::require(
            from.kernel() == to.kernel(),
            "features",
            "those of points with the same kernel",
            size,
        )?;
        if from.points().dimension() != to.points().dimension() {
            return Err(
                ExampleError::Dimension { expected: to.points().dimension(), got: from.points().dimension() }.into()
            );
        }
        let (u, s) = (to.len(), from.len());
        let (mut coordinates, mut work) = (AlignedVec::new(), AlignedVec::new());
        // The old points in the new coordinates.
        let mut points = Matrix::zeros(u, s);
        let mut farthest = 0.0f64;
        for index in 0..s {
            let x = from.points().point(index);
            onto.map(&x, &mut coordinates, &mut work);
            points.column_mut(index).copy_from_slice(&coordinates);
            let value = from.kernel().self_value(&x);
            if value > 0.0 {
                farthest = farthest.max(onto.outside(&x, &coordinates) / value);
            }
        }
        let mut transition = Matrix::zeros(u, s);
        for p in 0..u {
            let row: Vec<f64> = (0..s).map(|j| points.entry(p, j)).collect();
            from.factor().forward_solve(&AlignedVec::from_slice(&row), &mut coordinates);
            (0..s).for_each(|j| transition.column_mut(j)[p] = coordinates[j]);
        }
        let sums = self.sums().transformed(&transition);
        let (before, after) = (self.sums().gram().trace(), sums.gram().trace());
        let lost = if before > 0.0 { (1.0 - after / before).max(0.0) } else { 0.0 };
        let mut moved = Self::from_sums(onto.clone(), sums, self.rate())?;
        moved.advance_to(self.time().max(0.0))?;
        Ok((moved, Projection { lost, farthest }))
    }
}

/// Ridge leverage scores `ℓ_i = (1/λn)(k(x_i,x_i) − k_J(x_i)ᵀ (K_J + λnA)⁻¹ k_J(x_i))` of
/// candidates against a sample `J` with weights `A`, for a stream of `n` rows. With all rows as the
/// sample and `A = I` they are those of the definition, the diagonal of `K (K + λnI)⁻¹`. `J³ + J²`
/// a candidate.
///
/// # Errors
/// When `λn` is not positive, a weight is not positive, or the kernel overflows.
///
/// # Panics
/// If the weights are not as many as the sample.
pub fn leverage_scores<K: Kernel>(
    kernel: &K,
    candidates: &Points,
    (sample, weights): (&Points, &[f64]),
    (lambda, rows): (f64, f64),
) -> Result<Vec<f64>, Error> {
    assert_eq!(sample.len(), weights.len(), "a weight for each point of the sample");
    let ridge = ParameterError::positive("lambda", lambda * rows)?;
    let own = |index: usize| kernel.self_value(&candidates.point(index));
    if sample.is_empty() {
        return Ok((0..candidates.len()).map(|index| own(index) / ridge).collect());
    }
    let (mut gram, mut cross) = (Vec::new(), Vec::new());
    kernel.block(sample, sample, &mut gram);
    kernel.block(sample, candidates, &mut cross);
    let j = sample.len();
    let system = Matrix::from_fn(j, j, |a, b| gram[a][b] + if a == b { ridge * weights[a] } else { 0.0 });
    let right = Matrix::from_fn(j, candidates.len(), |a, b| cross[b][a]);
    let solved = system.solve_positive_definite(&right).map_err(|_| ExampleError::KernelOverflow)?;
    let score = |index: usize| {
        let explained: f64 = right.column(index).iter().zip(solved.column(index)).map(|(a, b)| a * b).sum();
        ((own(index) - explained) / ridge).max(0.0)
    };
    Ok((0..candidates.len()).map(score).collect())
}

/// Points for ridge regression with ridge `λn` on a stream of which `rows` are candidates, sampled
/// by their leverage: about `points_a_dimension` times the effective dimension of them. The same
/// seed gives the same points.
///
/// # Errors
/// As [`leverage_scores`], and when there is no candidate.
pub fn leverage_sample<K: Kernel>(
    kernel: &K,
    rows: &Points,
    lambda: f64,
    points_a_dimension: f64,
    seed: u64,
) -> Result<Points, Error> {
    let n = ParameterError::at_least_one("candidates", rows.len())?;
    let (lambda, size) =
        (ParameterError::positive("lambda", lambda)?, ParameterError::positive("points", points_a_dimension)?);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let largest = (0..n).map(|index| kernel.self_value(&rows.point(index))).fold(0.0, f64::max);
    let (mut sample, mut weights) = (Points::new(rows.dimension()), Vec::new());
    let mut level = largest.max(lambda);
    loop {
        let before = level;
        level = (level / 2.0).max(lambda);
        // Uniform candidates, as many as the scores at this level may be large.
        let count = ((size * largest / level).ceil() as usize).clamp(1, n);
        let mut candidates = Points::new(rows.dimension());
        let mut places: Vec<usize> = (0..n).collect();
        for chosen in 0..count {
            let other = rng.random_range(chosen..n);
            places.swap(chosen, other);
            candidates.push(&rows.point(places[chosen]));
        }
        let scores = leverage_scores(kernel, &candidates, (&sample, &weights), (before, n as f64))?;
        let total: f64 = scores.iter().sum();
        if total.is_nan() || total <= 0.0 {
            return Ok(if sample.is_empty() { candidates } else { sample });
        }
        let dimension = n as f64 / count as f64 * total;
        let draws = ((size * dimension).ceil() as usize).clamp(1, n);
        let mut times = vec![0usize; count];
        for _ in 0..draws {
            let mut left = rng.random::<f64>() * total;
            let drawn = scores.iter().position(|score| {
                left -= score;
                left < 0.0
            });
            times[drawn.unwrap_or(count - 1)] += 1;
        }
        (sample, weights) = (Points::new(rows.dimension()), Vec::new());
        for (index, times) in times.iter().enumerate().filter(|(_, times)| **times > 0) {
            sample.push(&candidates.point(index));
            // A point drawn several times stands for as many, each with the weight of the
            // algorithm.
            weights.push(count as f64 * draws as f64 / n as f64 * scores[index] / total / *times as f64);
        }
        if level <= lambda {
            return Ok(sample);
        }
    }
}
