//! The last examples of a stream, and Gaussian processes on those of them that are nearest to an input.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Points};
use mercer_simd::{LANES, Lane, Op, Simd, dispatch};

use super::systems::{Process, Systems};
use super::with_column;

/// An example with so small a weight says nothing.
const LARGEST_SPREAD: f64 = 1e100;

/// Targets of an example that processes may learn, for each output.
pub(crate) const TARGETS: usize = 2;

/// Blocks that the distances of a window are cut into; a group is one of eight in a block.
const BLOCKS: usize = 32;

/// Examples of a stream in the units of a metric, the last `capacity` of them, and eight processes on the `k` nearest to an input.
///
/// # Invariants
/// `targets` holds [`TARGETS`] rows of `outputs` numbers for each point, `spreads` a number; `oldest` is a place in a full window, and 0 before.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Neighbours {
    points: Points,
    #[cfg_attr(feature = "serde", serde(deserialize_with = "flat"))]
    targets: Vec<f64>,
    /// Inverse weights.
    spreads: Vec<f64>,
    capacity: usize,
    oldest: usize,
    count: usize,
    processes: [Process; LANES],
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::learner::one_before_format_5"))]
    outputs: usize,
}

/// Up to format 4 targets were in pairs.
#[cfg(feature = "serde")]
fn flat<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    use serde::Deserialize;
    if mercer_core::version() >= 5 {
        return Vec::deserialize(deserializer);
    }
    let pairs: Vec<[f64; TARGETS]> = Vec::deserialize(deserializer)?;
    Ok(pairs.into_flattened())
}

/// Memory of a prediction, with its result; the first three are for who asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) input: Vec<f64>,
    pub(crate) point: Vec<f64>,
    pub(crate) predictions: Vec<f64>,
    distances: AlignedVec,
    /// Least distances of groups, as they are and in another order.
    least: AlignedVec,
    bounds: Vec<f64>,
    near: Vec<(f64, usize)>,
    neighbour: Vec<f64>,
    points: Option<Points>,
    row: AlignedVec,
    systems: Systems,
    means: AlignedVec,
}

impl Memory {
    /// What the processes expected when they were asked last: eight numbers for each output.
    pub(crate) fn means(&self) -> &[f64] {
        &self.means
    }
}

impl Neighbours {
    /// No examples with inputs of dimension `dimension` and `outputs ≥ 1` outputs; windows of `capacity ≥ 1` of them, of which `count ≥ 1` make a
    /// prediction.
    pub(crate) fn new(
        (dimension, outputs): (usize, usize),
        capacity: usize,
        count: usize,
        processes: [Process; LANES],
    ) -> Self {
        let points = Points::new(dimension);
        Self { points, targets: Vec::new(), spreads: Vec::new(), capacity, oldest: 0, count, processes, outputs }
    }

    /// Outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Input dimension.
    pub(crate) fn dimension(&self) -> usize {
        self.points.dimension()
    }

    /// Examples held.
    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    /// `memory.means() ←` what the processes expect of each of their targets at `x`; 0 before the first example. `Nd` multiply-adds for `N` examples,
    /// and `k³/6 + k² + ½mk² + ½k²d` for eight of them at a time, with `m` outputs.
    pub(crate) fn means(&self, x: &[f64], memory: &mut Memory) {
        let outputs = self.outputs;
        if self.points.is_empty() {
            memory.means.resize(LANES * outputs);
            memory.means.fill(0.0);
            return;
        }
        self.find(x, memory);
        let Memory { near, neighbour: point, points, row, systems, means, .. } = memory;
        let d = self.points.dimension();
        let found = points.get_or_insert_with(|| Points::new(d));
        found.restart(d);
        point.resize(d, 0.0);
        systems.distances.clear();
        systems.spreads.clear();
        systems.targets.resize(outputs * near.len() * LANES);
        for (place, (_, index)) in near.iter().enumerate() {
            self.points.copy_point(*index, point);
            found.squared_distances(point, row);
            systems.distances.extend(row.iter().map(|squared| squared.sqrt()));
            found.push(point);
            systems.spreads.push(self.spreads[*index]);
            let width = TARGETS * outputs;
            let targets = &self.targets[index * width..(index + 1) * width];
            for output in 0..outputs {
                let lanes = &mut systems.targets[(output * near.len() + place) * LANES..][..LANES];
                for (lane, process) in lanes.iter_mut().zip(&self.processes) {
                    *lane = targets[usize::from(process.target) * outputs + output];
                }
            }
        }
        systems.distances.extend(near.iter().map(|(squared, _)| squared.sqrt()));
        systems.means(&self.processes, means);
    }

    /// Places of the examples that are nearest to `x`, in no order. `Nd` multiply-adds.
    pub(crate) fn nearest<'m>(&self, x: &[f64], memory: &'m mut Memory) -> impl ExactSizeIterator<Item = usize> + 'm {
        memory.near.clear();
        if !self.points.is_empty() {
            self.find(x, memory);
        }
        memory.near.iter().map(|(_, place)| *place)
    }

    /// `memory.near ←` the nearest examples with their squared distances, in no order; of equal ones, the first in the order of the window.
    ///
    /// The distances are cut into some 256 groups. The `k`-th smallest of the groups' least distances bounds the `k`-th smallest of all, and little more than
    /// `k` distances are below it.
    fn find(&self, x: &[f64], memory: &mut Memory) {
        let Memory { distances, near, least, bounds, .. } = memory;
        self.points.squared_distances(x, distances);
        let (held, count) = (self.points.len(), self.count.min(self.points.len()));
        let lanes = distances.lanes_mut();
        if let Some(last) = lanes.last_mut().filter(|_| held % LANES > 0) {
            last.0[held % LANES..].fill(f64::INFINITY);
        }
        let depth = lanes.len().div_ceil(BLOCKS);
        least.resize(lanes.len().div_ceil(depth) * LANES);
        dispatch(Least { lanes, depth, least: least.lanes_mut() });
        bounds.clear();
        bounds.extend_from_slice(least);
        // Padding, and what is too far away for a number, is above every bound.
        let bound = match bounds.len() > count {
            true => bounds.select_nth_unstable_by(count - 1, f64::total_cmp).1.min(f64::MAX),
            false => f64::MAX,
        };
        near.clear();
        for (block, (least, lanes)) in least.lanes().iter().zip(lanes.chunks(depth)).enumerate() {
            for (place, _) in least.0.iter().enumerate().filter(|(_, least)| **least <= bound) {
                let first = block * depth * LANES + place;
                let group = lanes.iter().map(|lane| lane.0[place]).zip((first..held).step_by(LANES));
                near.extend(group.filter(|near| near.0 <= bound));
            }
        }
        if near.len() > count {
            near.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near.truncate(count);
        }
    }

    /// Takes an example in, for the oldest one when there are enough; its place. `O(d)`.
    pub(crate) fn push(&mut self, x: &[f64], targets: [&[f64]; TARGETS], weight: f64) -> usize {
        let spread = (1.0 / weight).clamp(f64::MIN_POSITIVE, LARGEST_SPREAD);
        let outputs = self.outputs;
        if self.points.len() < self.capacity {
            self.points.push(x);
            targets.into_iter().for_each(|targets| self.targets.extend_from_slice(targets));
            self.spreads.push(spread);
            self.points.len() - 1
        } else {
            let place = self.oldest;
            self.points.replace(place, x);
            let first = place * TARGETS * outputs;
            let kept = self.targets[first..first + TARGETS * outputs].chunks_exact_mut(outputs);
            kept.zip(targets).for_each(|(kept, targets)| kept.copy_from_slice(targets));
            self.spreads[place] = spread;
            self.oldest = (place + 1) % self.capacity;
            place
        }
    }

    /// Calls `see` with the place and the point of each of the last `count` examples, in the order of time.
    pub(crate) fn for_each_of_last(&self, count: usize, mut see: impl FnMut(usize, &[f64])) {
        let (held, mut point) = (self.len(), vec![0.0; self.dimension()]);
        for age in (0..count.min(held)).rev() {
            // The newest is before the oldest.
            let place = (self.oldest + held - 1 - age) % held;
            self.points.copy_point(place, &mut point);
            see(place, &point);
        }
    }

    /// The first target of the example in a place, a number for each output, and its inverse weight.
    pub(crate) fn target(&self, place: usize) -> (&[f64], f64) {
        (&self.targets[place * TARGETS * self.outputs..][..self.outputs], self.spreads[place])
    }

    /// The noise of the first process.
    pub(crate) fn noise(&self) -> f64 {
        self.processes[0].noise
    }

    /// Examples that make a prediction at most, and that are held at most.
    pub(crate) fn limits(&self) -> (usize, usize) {
        (self.count, self.capacity)
    }

    /// Goes over to another metric, in whose units numbers are so many times those of this one, with processes of its own. `O(Nd)`.
    pub(crate) fn rescale(&mut self, ratios: &[f64], processes: [Process; LANES]) {
        let mut point = vec![0.0; self.dimension()];
        for place in 0..self.len() {
            self.points.copy_point(place, &mut point);
            point.iter_mut().zip(ratios).for_each(|(value, ratio)| *value *= ratio);
            self.points.replace(place, &point);
        }
        self.processes = processes;
    }

    /// Gains an output, in which every example was like that of output `like`, or 0.
    pub(crate) fn add_output(&mut self, like: Option<usize>) {
        self.targets = with_column(&self.targets, self.outputs, like);
        self.outputs += 1;
    }
}

/// `least ←` the least of each eight columns of `depth` lanes.
struct Least<'a> {
    lanes: &'a [Lane],
    depth: usize,
    least: &'a mut [Lane],
}

impl Op for Least<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (lanes, least) in self.lanes.chunks(self.depth).zip(self.least) {
            let mut low = simd.splat(f64::INFINITY);
            for lane in lanes {
                let lane = simd.load(lane);
                low = simd.select_less(lane, low, lane, low);
            }
            simd.store(low, least);
        }
    }
}

impl Validate for Neighbours {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "window of examples";
        self.points.validate()?;
        Inconsistent::size(self.capacity, WHAT)?;
        Inconsistent::size(self.count, WHAT)?;
        let len = self.points.len();
        Inconsistent::size(self.outputs, WHAT)?;
        let fits = Some(self.targets.len()) == self.outputs.checked_mul(TARGETS).and_then(|w| w.checked_mul(len))
            && self.spreads.len() == len
            && (1..=usize::MAX).contains(&self.count)
            && len <= self.capacity
            && (self.oldest == 0 || self.oldest < len && len == self.capacity);
        Inconsistent::require(fits, WHAT, "it has targets and a weight for each example")?;
        self.targets.iter().try_for_each(|y| Inconsistent::require(y.is_finite(), WHAT, "targets are numbers"))?;
        self.spreads.iter().try_for_each(|spread| Inconsistent::positive(*spread, WHAT))?;
        self.processes.iter().try_for_each(|process| {
            Inconsistent::positive(process.rate, "rate of a kernel")?;
            Inconsistent::positive(process.noise, "noise of a process")?;
            let known = [0.0, 1.0].contains(&process.smooth) && usize::from(process.target) < TARGETS;
            Inconsistent::require(known, "process", "its kernel and target are known")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_those_of_a_sorted_list_whatever_was_replaced() {
        let process = Process { rate: 1.0, smooth: 1.0, noise: 0.1, target: 0 };
        let (mut neighbours, mut memory) = (Neighbours::new((2, 1), 300, 32, [process; LANES]), Memory::default());
        let mut window: Vec<[f64; 2]> = Vec::new();
        for t in 0..1000_u32 {
            let x = [f64::from(t * 37 % 101) * 0.02, f64::from(t * 53 % 89) * 0.03];
            if !window.is_empty() {
                neighbours.find(&x, &mut memory);
                let mut exact: Vec<f64> =
                    window.iter().map(|z| (0..2).fold(0.0, |sum, i| (x[i] - z[i]).mul_add(x[i] - z[i], sum))).collect();
                exact.sort_by(f64::total_cmp);
                let mut found: Vec<f64> = memory.near.iter().map(|near| near.0).collect();
                found.sort_by(f64::total_cmp);
                assert_eq!(found.len(), window.len().min(32));
                for (found, exact) in found.iter().zip(&exact) {
                    assert!((found - exact).abs() < 1e-12);
                }
            }
            neighbours.push(&x, [&[0.0]; TARGETS], 1.0);
            window.push(x);
            if window.len() > 300 {
                window.remove(0);
            }
            assert_eq!(neighbours.validate(), Ok(()));
        }
    }
}
