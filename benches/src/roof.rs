//! The machine's roofs, measured in the run that is judged by them.
//!
//! Bandwidth depends on where the data lies, so it is measured at the asked working-set size: front
//! to back, at four fronts at once, and back and forth, where what was used last is in the cache
//! still; the fastest counts. The peak of arithmetic is that of independent fused multiply-adds on
//! registers. Each is the best of many short batches.

use std::collections::HashMap;
use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

use mercer_simd::{LANES, Lane, Op, Simd, dispatch};

use crate::Workload;
use crate::timing::smallest;

/// Bytes a second at one working-set size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// Reading.
    pub read: f64,
    /// Reading an element and writing it back, both counted.
    pub update: f64,
}

/// The roofs of this machine, measured when first asked for.
#[derive(Debug)]
pub struct Roofs {
    budget: Duration,
    bandwidth: HashMap<usize, Bandwidth>,
    arithmetic: f64,
}

impl Roofs {
    /// Measures the arithmetic peak; each bandwidth will be given `budget` for either direction.
    #[must_use]
    pub fn new(budget: Duration) -> Self {
        let mut roofs = Self { budget, bandwidth: HashMap::new(), arithmetic: 0.0 };
        roofs.measure_arithmetic();
        roofs
    }

    /// Vector arithmetic operations a second, an `f64` fused multiply-add counted once.
    #[must_use]
    pub fn arithmetic(&self) -> f64 {
        self.arithmetic
    }

    /// The bandwidth at a working set of `bytes`, rounded up to whole lanes; measured once, then
    /// remembered.
    pub fn at(&mut self, bytes: usize) -> Bandwidth {
        let lanes = bytes.div_ceil(size_of::<Lane>()).max(1);
        *self.bandwidth.entry(lanes).or_insert_with(|| roof(lanes * size_of::<Lane>(), self.budget))
    }

    /// Measures everything known so far again and keeps the better figure.
    pub fn measure_again(&mut self) {
        self.measure_arithmetic();
        for (lanes, known) in &mut self.bandwidth {
            let again = roof(lanes * size_of::<Lane>(), self.budget);
            *known = Bandwidth { read: known.read.max(again.read), update: known.update.max(again.update) };
        }
    }

    /// The seconds that memory alone and arithmetic alone would need for `work`.
    pub fn seconds(&mut self, work: Workload) -> (f64, f64) {
        let bandwidth = self.at(work.working_set());
        let memory = work.read as f64 / bandwidth.read + work.updated as f64 / bandwidth.update;
        (memory, work.arithmetic as f64 / self.arithmetic)
    }

    fn measure_arithmetic(&mut self) {
        // Which number of chains is best depends on the latency and on how many registers there
        // are.
        for peak in [arithmetic::<6>(self.budget), arithmetic::<12>(self.budget)] {
            self.arithmetic = self.arithmetic.max(peak);
        }
    }
}

/// The bandwidth at a working set of `bytes` (rounded down to whole lanes, at least one).
#[must_use]
pub fn roof(bytes: usize, budget: Duration) -> Bandwidth {
    let mut lanes = vec![Lane([1.0; LANES]); (bytes / size_of::<Lane>()).max(1)];
    let bytes = lanes.len() * size_of::<Lane>();
    // Enough passes that starting one does not show; an even number, there and back.
    let passes = (1_000_000 / bytes).max(1).next_multiple_of(2);
    let mut best = |pass: &mut dyn FnMut(&mut [Lane], bool)| {
        let seconds = smallest(budget / 3, || {
            let start = Instant::now();
            (0..passes).for_each(|k| pass(black_box(&mut lanes), k % 2 == 1));
            start.elapsed().as_secs_f64()
        });
        (passes * bytes) as f64 / seconds
    };
    let read = [
        best(&mut |lanes, _| read_once(ReadSum([lanes]))),
        best(&mut |lanes, _| read_once(ReadSum(quarters(lanes)))),
        best(&mut |lanes, back| parts(lanes.len(), back).for_each(|part| read_once(ReadSum([&lanes[part]])))),
    ];
    let update = [
        best(&mut |lanes, _| dispatch(Update([lanes]))),
        best(&mut |lanes, _| dispatch(Update(quarters_mut(lanes)))),
        best(&mut |lanes, back| parts(lanes.len(), back).for_each(|part| dispatch(Update([&mut lanes[part]])))),
    ];
    Bandwidth { read: read.into_iter().fold(0.0, f64::max), update: 2.0 * update.into_iter().fold(0.0, f64::max) }
}

fn read_once<const PARTS: usize>(read: ReadSum<'_, PARTS>) {
    black_box(dispatch(read));
}

/// `0..lanes` in parts of a quarter of a megabyte, from the first to the last or back.
fn parts(lanes: usize, back: bool) -> impl Iterator<Item = Range<usize>> {
    const PART: usize = 4096;
    let count = lanes.div_ceil(PART);
    (0..count).map(move |k| if back { count - 1 - k } else { k }).map(move |k| k * PART..lanes.min((k + 1) * PART))
}

/// Four parts of equal length; up to three lanes at the end are left out.
fn quarters(lanes: &[Lane]) -> [&[Lane]; 4] {
    let quarter = lanes.len() / 4;
    std::array::from_fn(|k| &lanes[k * quarter..(k + 1) * quarter])
}

fn quarters_mut(lanes: &mut [Lane]) -> [&mut [Lane]; 4] {
    let quarter = lanes.len() / 4;
    let (a, rest) = lanes.split_at_mut(quarter);
    let (b, rest) = rest.split_at_mut(quarter);
    let (c, rest) = rest.split_at_mut(quarter);
    [a, b, c, &mut rest[..quarter]]
}

/// The sum of all lanes of parts of equal length, which are read side by side: one read of each,
/// eight running sums.
struct ReadSum<'a, const PARTS: usize>([&'a [Lane]; PARTS]);

impl<const PARTS: usize> Op for ReadSum<'_, PARTS> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        let groups = self.0.map(|part| part.as_chunks::<8>());
        let mut sums = [simd.splat(0.0); 8];
        for i in 0..groups[0].0.len() {
            for (group, _) in &groups {
                for (sum, lane) in sums.iter_mut().zip(&group[i]) {
                    *sum = simd.add(*sum, simd.load(lane));
                }
            }
        }
        for lane in groups.iter().flat_map(|(_, rest)| *rest) {
            sums[0] = simd.add(sums[0], simd.load(lane));
        }
        simd.sum(sums.into_iter().fold(simd.splat(0.0), |a, b| simd.add(a, b)))
    }
}

/// `x ← ½x + ½` for every element of parts of equal length, side by side: one read and one write of
/// each; 1 stays 1.
struct Update<'a, const PARTS: usize>([&'a mut [Lane]; PARTS]);

impl<const PARTS: usize> Op for Update<'_, PARTS> {
    type Output = ();
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let half = simd.splat(0.5);
        let mut groups = self.0.map(|part| part.as_chunks_mut::<8>());
        for i in 0..groups[0].0.len() {
            for (group, _) in &mut groups {
                for lane in &mut group[i] {
                    simd.store(simd.mul_add(simd.load(lane), half, half), lane);
                }
            }
        }
        for lane in groups.iter_mut().flat_map(|(_, rest)| &mut **rest) {
            simd.store(simd.mul_add(simd.load(lane), half, half), lane);
        }
    }
}

/// Fused multiply-adds a second with `CHAINS` independent vectors.
fn arithmetic<const CHAINS: usize>(budget: Duration) -> f64 {
    const ROUNDS: usize = 20_000;
    let seconds = smallest(budget, || {
        let start = Instant::now();
        black_box(dispatch(Chains::<CHAINS> { rounds: black_box(ROUNDS) }));
        start.elapsed().as_secs_f64()
    });
    (ROUNDS * CHAINS * LANES) as f64 / seconds
}

struct Chains<const CHAINS: usize> {
    rounds: usize,
}

impl<const CHAINS: usize> Op for Chains<CHAINS> {
    type Output = f64;
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        let (a, b) = (simd.splat(black_box(0.5)), simd.splat(black_box(0.5)));
        let mut chains = [simd.splat(1.0); CHAINS];
        for _ in 0..self.rounds {
            for chain in &mut chains {
                *chain = simd.mul_add(*chain, a, b);
            }
        }
        simd.sum(chains.into_iter().fold(simd.splat(0.0), |sum, chain| simd.add(sum, chain)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roof_loops_touch_every_lane() {
        for back in [false, true] {
            let mut seen: Vec<usize> = parts(10_000, back).flatten().collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..10_000));
        }
        let mut lanes = vec![Lane([3.0; LANES]); 75];
        dispatch(Update([&mut lanes]));
        assert_eq!(dispatch(ReadSum([&lanes])), 75.0 * 8.0 * 2.0);
        dispatch(Update(quarters_mut(&mut lanes)));
        assert_eq!(dispatch(ReadSum(quarters(&lanes))), 72.0 * 8.0 * 1.5);
        assert_eq!(dispatch(Chains::<6> { rounds: 4 }), 48.0);
    }

    #[test]
    fn seconds_follow_the_work() {
        let mut roofs = Roofs::new(Duration::ZERO);
        let work = Workload { read: 6400, updated: 0, arithmetic: 1000 };
        let (memory, arithmetic) = roofs.seconds(work);
        assert_eq!(memory, 6400.0 / roofs.at(6400).read);
        assert_eq!(arithmetic, 1000.0 / roofs.arithmetic());
    }
}
