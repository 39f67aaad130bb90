//! Several small kernel systems at once: Gaussian processes on the same few points.
//!
//! The processes share points and inputs and differ in kernel, noise and targets. With `k` points
//! each asks for a Cholesky factor of `k × k`. Four kernels, each with two targets, are eight
//! processes: a vector holds two rows of the factors of all four, and `k³/12 + k²` vector
//! operations solve all.

use mercer_kernels::{AlignedVec, Points};
use mercer_simd::{LANES, Lane, Op, Simd, dispatch, exp_lane};

/// Prior variance of the constant mean, in units of the prior variance of the function.
pub(super) const MEAN_VARIANCE: f64 = 10.0;

/// Scaled distances are cut here, where every kernel is 0.
pub(super) const FAR: f64 = 700.0;

/// One of the processes: `k(r) = (1 + s c r) exp(−c r)`, with noise of variance `noise` beside a
/// function of variance 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Process {
    /// `c > 0`, the inverse length.
    pub(crate) rate: f64,
    /// `s`: 1 for Matérn 3/2, 0 for the exponential kernel (Laplace).
    pub(crate) smooth: f64,
    /// Variance of the noise of an example of weight 1.
    pub(crate) noise: f64,
    /// Which of an example's targets it learns.
    pub(crate) target: u8,
}

/// Memory of a solution, reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Systems {
    /// The points, row by row.
    pub(crate) points: Vec<f64>,
    /// Squared distances of the input to the points.
    pub(crate) squared: Vec<f64>,
    /// Inverse weights of the examples.
    pub(crate) spreads: Vec<f64>,
    /// Targets by lanes: those of every example for the first output, then for the next.
    pub(crate) targets: AlignedVec,
    near: Points,
    distances: AlignedVec,
    matrix: AlignedVec,
}

impl Systems {
    /// `means ←` the posterior means at the input, eight processes for each output, of which the
    /// last four have the kernels of the first four and the second target. `k²d/2` multiply-adds
    /// for the distances of `k` points of `d` coordinates to each other.
    pub(crate) fn means(&mut self, processes: &[Process; LANES], means: &mut AlignedVec) {
        let k = self.spreads.len();
        let d = self.points.len() / k;
        let outputs = self.targets.len() / (LANES * k);
        self.matrix.resize(LANES * k * (k.div_ceil(2) + 1 + outputs));
        means.resize(LANES * outputs);
        let width = k.div_ceil(LANES);
        self.distances.resize(LANES * width * (k + 1));
        self.near.restart(d);
        let rows = self.distances.lanes_mut().chunks_exact_mut(width);
        for (i, row) in rows.take(k).enumerate() {
            let point = &self.points[i * d..(i + 1) * d];
            self.near.squared_distances_of_blocks(0, point, &mut row[..i.div_ceil(LANES)]);
            self.near.push(point);
        }
        self.distances[LANES * width * k..][..k].copy_from_slice(&self.squared);
        let lane = |of: fn(&Process) -> f64| Lane(processes.each_ref().map(of));
        dispatch(Means {
            k,
            rate: lane(|process| process.rate),
            smooth: lane(|process| process.smooth),
            noise: lane(|process| process.noise),
            distances: &mut self.distances,
            spreads: &self.spreads,
            targets: self.targets.lanes(),
            matrix: self.matrix.lanes_mut(),
            means: means.lanes_mut(),
        });
    }
}

struct Means<'a> {
    k: usize,
    rate: Lane,
    smooth: Lane,
    noise: Lane,
    /// Rows of whole lanes: those of each point to the points before it, and those of the input;
    /// squared, until their roots are taken.
    distances: &'a mut AlignedVec,
    spreads: &'a [f64],
    targets: &'a [Lane],
    /// Pairs of rows of `k` entries: those of the matrix, and then the right-hand sides, which
    /// forward substitution treats as further rows: the kernel row and ones, and both targets of
    /// each output.
    matrix: &'a mut [Lane],
    means: &'a mut [Lane],
}

/// Vectors of rows that are worked on together, so that their sums overlap.
const TOGETHER: usize = 4;

impl Op for Means<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { k, distances, spreads, targets, matrix, means, .. } = self;
        let (rate, smooth, noise) = (simd.load(&self.rate), simd.load(&self.smooth), simd.load(&self.noise));
        let one = simd.splat(1.0);
        distances.lanes_mut().iter_mut().for_each(|lane| simd.store(simd.sqrt(simd.load(lane)), lane));
        let width = LANES * k.div_ceil(LANES);
        for (pair, row) in matrix.chunks_exact_mut(k).take(k.div_ceil(2)).enumerate() {
            let first = 2 * pair;
            // Of an odd number of rows the last is there twice.
            let second = (first + 1).min(k - 1);
            for (j, entry) in row[..=first].iter_mut().enumerate() {
                let a = simd.splat_half(distances[width * first + j]);
                let b = simd.splat_half(distances[width * second + j]);
                simd.store(kernel(simd, simd.join(a, b), rate, smooth), entry);
            }
            for (at, i) in [first, second].into_iter().enumerate() {
                let mut own = Lane::ZERO;
                simd.store(simd.mul_add(noise, simd.splat(spreads[i]), one), &mut own);
                *half_mut(&mut row[i], at) = *half(&own, at);
            }
        }
        let right = &mut matrix[k.div_ceil(2) * k..];
        for (j, entry) in right[..k].iter_mut().enumerate() {
            let distance = simd.splat(distances[width * k + j]);
            simd.store(kernel(simd, distance, rate, smooth), entry);
            *half_mut(entry, 1) = [1.0; 4];
        }
        right[k..].copy_from_slice(targets);
        eliminate::<S, 2>(simd, matrix, k);
        // With v, u, o the solutions for kernel row, targets and ones: μ = oᵀu/(oᵀo + 1/b), f = μ(1
        // − oᵀv) + vᵀu.
        let (vo, us) = matrix[k.div_ceil(2) * k..].split_at(k);
        let mut dots = Lane::ZERO;
        simd.store(dot_of_half(simd, (vo, 1), vo), &mut dots);
        let (ov, oo) = (twice(simd, half(&dots, 0)), twice(simd, half(&dots, 1)));
        for (u, means) in us.chunks_exact(k).zip(means) {
            let (vu, ou) = (dot_of_half(simd, (vo, 0), u), dot_of_half(simd, (vo, 1), u));
            let mean = simd.div(ou, simd.add(oo, simd.splat(1.0 / MEAN_VARIANCE)));
            let mean = simd.mul_add(mean, simd.sub(one, ov), vu);
            simd.store(mean, means);
        }
    }
}

/// A half of a lane.
#[inline(always)]
fn half(lane: &Lane, at: usize) -> &[f64; 4] {
    &lane.0.as_chunks().0[at]
}

#[inline(always)]
fn half_mut(lane: &mut Lane, at: usize) -> &mut [f64; 4] {
    &mut lane.0.as_chunks_mut().0[at]
}

/// A vector of which both halves are these.
#[inline(always)]
fn twice<S: Simd>(simd: S, half: &[f64; 4]) -> S::F64 {
    let half = simd.load_half(half);
    simd.join(half, half)
}

/// Entry of row `row` in a vector of `ROWS` rows, in the place of each.
#[inline(always)]
fn spread<S: Simd, const ROWS: usize>(simd: S, entry: &Lane, row: usize) -> S::F64 {
    if ROWS == 1 { simd.load(entry) } else { twice(simd, half(entry, row % ROWS)) }
}

/// Forward elimination of rows of `k` entries: the first `k` become the Cholesky factor `L` of the
/// matrix whose lower half they hold, each row `r` below becomes `L⁻¹r`. A vector has an entry of
/// `ROWS` rows, one for eight systems or two for four; a whole number of vectors holds the first
/// `k`.
#[inline(always)]
pub(super) fn eliminate<S: Simd, const ROWS: usize>(simd: S, matrix: &mut [Lane], k: usize) {
    let one = simd.splat(1.0);
    let least = simd.splat(f64::MIN_POSITIVE);
    for j in 0..k {
        let (own, below) = matrix[j / ROWS * k..].split_at_mut(k);
        let mut sum = simd.load(&own[j]);
        for entry in &own[..j] {
            sum = simd.negate_mul_add(simd.load(entry), spread::<S, ROWS>(simd, entry, j), sum);
        }
        simd.store(sum, &mut own[j]);
        // The noise keeps pivots far from 0, except where it is below rounding.
        let squared = spread::<S, ROWS>(simd, &own[j], j);
        let pivot = simd.sqrt(simd.select_less(squared, least, least, squared));
        let inverse = simd.div(one, pivot);
        let mut pivots = Lane::ZERO;
        simd.store(pivot, &mut pivots);
        simd.store(simd.mul(sum, inverse), &mut own[j]);
        if ROWS == 1 {
            own[j] = pivots;
        } else {
            *half_mut(&mut own[j], j % ROWS) = *half(&pivots, j % ROWS);
        }
        let own = &own[..j];
        let mut rows = below.chunks_exact_mut(k * TOGETHER);
        for rows in &mut rows {
            let (a, rest) = rows.split_at_mut(k);
            let (b, rest) = rest.split_at_mut(k);
            let (c, d) = rest.split_at_mut(k);
            let mut sums = [simd.load(&a[j]), simd.load(&b[j]), simd.load(&c[j]), simd.load(&d[j])];
            for (q, pivot) in own.iter().enumerate() {
                let pivot = spread::<S, ROWS>(simd, pivot, j);
                for (sum, row) in sums.iter_mut().zip([&*a, &*b, &*c, &*d]) {
                    *sum = simd.negate_mul_add(simd.load(&row[q]), pivot, *sum);
                }
            }
            for (sum, row) in sums.into_iter().zip([a, b, c, d]) {
                simd.store(simd.mul(sum, inverse), &mut row[j]);
            }
        }
        for row in rows.into_remainder().chunks_exact_mut(k) {
            let mut sum = simd.load(&row[j]);
            for (entry, pivot) in row[..j].iter().zip(own) {
                sum = simd.negate_mul_add(simd.load(entry), spread::<S, ROWS>(simd, pivot, j), sum);
            }
            simd.store(simd.mul(sum, inverse), &mut row[j]);
        }
    }
}

/// `(1 + s c r) exp(−c r)`, by lanes. (A function, since closures are not compiled for the
/// instruction set.)
#[inline(always)]
fn kernel<S: Simd>(simd: S, distance: S::F64, rate: S::F64, smooth: S::F64) -> S::F64 {
    let (one, far) = (simd.splat(1.0), simd.splat(FAR));
    let r = simd.mul(distance, rate);
    let r = simd.select_less(r, far, r, far);
    simd.mul(simd.mul_add(smooth, r, one), exp_lane(simd, simd.sub(simd.splat(0.0), r)))
}

/// `aᵀb` for both rows of the vectors of `b`, where `a` is one row of these vectors.
#[inline(always)]
fn dot_of_half<S: Simd>(simd: S, (a, at): (&[Lane], usize), b: &[Lane]) -> S::F64 {
    let mut sum = simd.splat(0.0);
    for (a, b) in a.iter().zip(b) {
        sum = simd.mul_add(twice(simd, half(a, at)), simd.load(b), sum);
    }
    sum
}

/// `aᵀb`, by lanes.
#[inline(always)]
pub(super) fn dot<S: Simd>(simd: S, a: &[Lane], b: &[Lane]) -> S::F64 {
    let mut sum = simd.splat(0.0);
    for (a, b) in a.iter().zip(b) {
        sum = simd.mul_add(simd.load(a), simd.load(b), sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    #[test]
    fn every_lane_is_a_gaussian_process_in_closed_form() -> Result<(), Box<dyn std::error::Error>> {
        let mut systems = Systems::default();
        for k in [1, 2, 5, 16, 31, 32] {
            let point = |i: usize| [(i as f64 * 0.7).sin() * 2.0, (i as f64 * 1.3).cos(), i as f64 * 0.05];
            let distance =
                |a: [f64; 3], b: [f64; 3]| a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            let x = [0.3, -0.2, 0.4];
            let processes: [Process; LANES] = std::array::from_fn(|c| Process {
                rate: 0.4 + 0.3 * (c % 4) as f64,
                smooth: f64::from(u8::from(c % 2 == 0)),
                noise: [1e-3, 0.1, 0.5, 0.2][c % 4],
                target: u8::from(c >= 4),
            });
            systems.points = (0..k).flat_map(point).collect();
            systems.squared = (0..k).map(|i| distance(point(i), x).powi(2)).collect();
            systems.spreads = (0..k).map(|i| 1.0 + (i % 3) as f64).collect();
            let target =
                |output: usize, i: usize, c: usize| (i as f64 * 0.9 + output as f64).cos() * (c / 4 + 1) as f64;
            systems.targets.resize(2 * k * LANES);
            for (place, y) in systems.targets.iter_mut().enumerate() {
                *y = target(place / (k * LANES), place / LANES % k, place % LANES);
            }
            let mut means = AlignedVec::default();
            systems.means(&processes, &mut means);
            for (c, process) in processes.iter().enumerate() {
                let kernel = |r: f64| (1.0 + process.smooth * process.rate * r) * (-process.rate * r).exp();
                // A constant of prior variance b is one more term of the kernel.
                let gram = DMatrix::from_fn(k, k, |i, j| {
                    let own = if i == j { process.noise * systems.spreads[i] } else { 0.0 };
                    kernel(distance(point(i), point(j))) + MEAN_VARIANCE + own
                });
                let factor = gram.cholesky().ok_or("not positive definite")?;
                let row = DVector::from_fn(k, |i, _| kernel(distance(point(i), x)) + MEAN_VARIANCE);
                for output in 0..2 {
                    let y = DVector::from_fn(k, |i, _| target(output, i, c));
                    let (exact, mean) = (row.dot(&factor.solve(&y)), means[output * LANES + c]);
                    assert!((mean - exact).abs() < 1e-9 * exact.abs().max(1.0), "{mean} for {exact}, k = {k}");
                }
            }
        }
        Ok(())
    }
}
