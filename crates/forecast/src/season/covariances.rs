//! The covariances of eight filters at once, a lane each: what a lane gets are the sums and
//! products of a filter alone, in the same order.

use mercer_simd::{LANES, Lane, Op, Simd};

use super::bank_model::{BankModel, FRONT, is_seen};

/// A row passes for eight filters of a bank.
pub(super) struct CovarianceStep<'a> {
    pub(super) model: &'a BankModel,
    /// The filters; where there are fewer, the first stands in the places of the others.
    pub(super) group: [usize; LANES],
    /// True if the row was observed.
    pub(super) observed: bool,
    /// The lower triangles of all filters, one after the other.
    pub(super) covariances: &'a mut [f64],
    /// Gains of all filters, state by state.
    pub(super) gains: &'a mut [f64],
    /// Room for `s² + s` lanes.
    pub(super) work: &'a mut [Lane],
}

impl Op for CovarianceStep<'_> {
    /// By how much a gain of each moved at most.
    type Output = [f64; LANES];

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> [f64; LANES] {
        let Self { model, group, observed, covariances, gains, work } = self;
        let (s, filters) = (model.states(), model.filters());
        let (p, seen) = work.split_at_mut(s * s);
        let triangles = group.map(|k| k * s * (s + 1) / 2);
        let mut place = 0;
        for i in 0..s {
            for j in 0..=i {
                let lane = Lane(triangles.map(|first| covariances[first + place]));
                (p[i * s + j], p[j * s + i]) = (lane, lane);
                place += 1;
            }
        }
        let mut changes = [0.0_f64; LANES];
        if observed {
            for (i, seen) in seen.iter_mut().enumerate() {
                simd.store(sum(simd, &p[i * s..][..s]), seen);
            }
            let variance = simd.add(simd.splat(1.0), sum(simd, seen));
            for i in 0..s {
                let gain = simd.div(simd.load(&seen[i]), variance);
                for (p, seen) in p[i * s..][..s].iter_mut().zip(&*seen) {
                    simd.store(simd.sub(simd.load(p), simd.mul(gain, simd.load(seen))), p);
                }
                let mut lane = Lane::ZERO;
                simd.store(gain, &mut lane);
                for ((k, gain), change) in group.iter().zip(lane.0).zip(&mut changes) {
                    let kept = &mut gains[i * filters + k];
                    // A filter that stands in another place as well moves once.
                    *change = change.max((gain - *kept).abs());
                    *kept = gain;
                }
            }
        }
        advance(simd, model, &group, p);
        let mut place = 0;
        for i in 0..s {
            for entry in &p[i * s..][..=i] {
                triangles.iter().zip(entry.0).for_each(|(first, value)| covariances[first + place] = value);
                place += 1;
            }
        }
        changes
    }
}

/// The sum over the states that the observation has in it. (A function, since closures are not
/// compiled for the instruction set.)
#[inline(always)]
fn sum<S: Simd>(simd: S, states: &[Lane]) -> S::F64 {
    let mut sum = simd.splat(-0.0);
    for (i, lane) in states.iter().enumerate() {
        if is_seen(i) {
            sum = simd.add(sum, simd.load(lane));
        }
    }
    sum
}

/// `P ← A P Aᵀ + Q`, `P` row by row.
#[inline(always)]
fn advance<S: Simd>(simd: S, model: &BankModel, group: &[usize; LANES], p: &mut [Lane]) {
    let s = model.states();
    let lane = |of: &dyn Fn(usize) -> f64| Lane(group.map(of));
    let damping = simd.load(&lane(&|k| model.grid[k].damping));
    let memory = simd.load(&lane(&|k| model.grid[k].memory));
    // A symmetric matrix: rows are combined, the result is transposed, and rows are combined again.
    for _ in 0..2 {
        for j in 0..s {
            let slope = simd.mul(damping, simd.load(&p[s + j]));
            simd.store(simd.add(simd.load(&p[j]), slope), &mut p[j]);
            simd.store(slope, &mut p[s + j]);
            simd.store(simd.mul(simd.load(&p[2 * s + j]), memory), &mut p[2 * s + j]);
        }
        for (pair, (cos, sin)) in p[FRONT * s..].chunks_exact_mut(2 * s).zip(&model.turns) {
            let (first, second) = pair.split_at_mut(s);
            let (cos, sin) = (simd.splat(*cos), simd.splat(*sin));
            for (a, b) in first.iter_mut().zip(second) {
                let (x, y) = (simd.load(a), simd.load(b));
                simd.store(simd.add(simd.mul(cos, x), simd.mul(sin, y)), a);
                simd.store(simd.sub(simd.mul(cos, y), simd.mul(sin, x)), b);
            }
        }
        for i in 0..s {
            for j in 0..i {
                p.swap(i * s + j, j * s + i);
            }
        }
    }
    for i in 0..s {
        let noise = simd.load(&lane(&|k| model.noise(k, i)));
        simd.store(simd.add(simd.load(&p[i * s + i]), noise), &mut p[i * s + i]);
    }
}
