//! The last examples of a stream, and Gaussian processes on those of them that are nearest to an
//! input.

use std::sync::OnceLock;

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Points};
use mercer_simd::{LANES, Lane};

use super::index::{Index, NearestPoints, SearchMemory};
use super::systems::{Process, Systems};
use super::with_column;

/// An example with so small a weight says nothing.
const LARGEST_SPREAD: f64 = 1e100;

/// Targets of an example that processes may learn, for each output.
pub(crate) const TARGETS: usize = 2;

/// Blocks of eight examples whose distances are computed together.
const BLOCKS: usize = 16;
/// The index is made anew when it lacks so many examples, and at least this share of all.
const LEAST_RECENT: usize = 512;
const RECENT_SHARE: usize = 12;
/// Searches by which a new index is measured.
const PROBES: usize = 16;

/// Examples of a stream in the units of a metric, the last `capacity` of them, and eight processes
/// on the `k` nearest to an input.
///
/// # Invariants
/// `targets` holds [`TARGETS`] rows of `outputs` numbers for each point, `spreads` a number;
/// `oldest` is a place in a full window, and 0 before.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Neighbours {
    points: Points,
    targets: Vec<f64>,
    /// Inverse weights.
    spreads: Vec<f64>,
    capacity: usize,
    oldest: usize,
    count: usize,
    processes: [Process; LANES],
    outputs: usize,
    /// Index of all but the last `recent` examples. A file has none: whoever looks first makes it.
    #[cfg_attr(feature = "serde", serde(skip))]
    index: OnceLock<OlderExamples>,
    /// Examples that have come since the index was made.
    recent: usize,
    /// At how many points of the index a search looked when it was made, 0 before.
    looked: usize,
}

/// Index of the older examples of a window.
#[derive(Clone, Debug, Default)]
struct OlderExamples {
    index: Index,
    /// Examples before the last `recent` that are not in it, because they fill no leaf.
    left_over: usize,
}

/// Memory of a prediction, with its result; the first three are for who asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct NeighbourMemory {
    pub(crate) input: Vec<f64>,
    pub(crate) point: Vec<f64>,
    pub(crate) predictions: Vec<f64>,
    distances: Vec<Lane>,
    search: SearchMemory,
    candidates: Vec<u128>,
    near: Vec<(f64, usize)>,
    systems: Systems,
    means: AlignedVec,
}

impl NeighbourMemory {
    /// Values that the processes expected when they were asked last: eight numbers for each output.
    pub(crate) fn means(&self) -> &[f64] {
        &self.means
    }
}

impl Neighbours {
    /// No examples with inputs of dimension `dimension` and `outputs ≥ 1` outputs; windows of
    /// `capacity ≥ 1` of them, of which `count ≥ 1` make a prediction.
    pub(crate) fn new(
        (dimension, outputs): (usize, usize),
        capacity: usize,
        count: usize,
        processes: [Process; LANES],
    ) -> Self {
        let points = Points::new(dimension);
        let (targets, spreads) = (Vec::new(), Vec::new());
        Self {
            points,
            targets,
            spreads,
            capacity,
            oldest: 0,
            count,
            processes,
            outputs,
            index: OnceLock::new(),
            recent: 0,
            looked: 0,
        }
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

    /// `memory.means() ←` what the processes expect of each of their targets at `x`; 0 before the
    /// first example. `Nd` multiply-adds at most for `N` examples, `½k²d`, and `k³/12 + ¾k² + ½mk²`
    /// vector operations, with `m` outputs.
    pub(crate) fn means(&self, x: &[f64], memory: &mut NeighbourMemory) {
        let outputs = self.outputs;
        if self.points.is_empty() {
            memory.means.resize(LANES * outputs);
            memory.means.fill(0.0);
            return;
        }
        self.find(x, memory);
        let NeighbourMemory { near, systems, means, .. } = memory;
        let (d, k, width) = (self.points.dimension(), near.len(), TARGETS * outputs);
        systems.points.resize(k * d, 0.0);
        systems.targets.resize(outputs * k * LANES);
        systems.squared.clear();
        systems.spreads.clear();
        let learnt = self.processes.each_ref().map(|process| usize::from(process.target) * outputs);
        for (place, (squared, index)) in near.iter().enumerate() {
            self.points.copy_point(*index, &mut systems.points[place * d..(place + 1) * d]);
            systems.squared.push(*squared);
            systems.spreads.push(self.spreads[*index]);
            let targets = &self.targets[index * width..(index + 1) * width];
            for output in 0..outputs {
                let lanes = &mut systems.targets[(output * k + place) * LANES..][..LANES];
                lanes.iter_mut().zip(learnt).for_each(|(lane, first)| *lane = targets[first + output]);
            }
        }
        systems.means(&self.processes, means);
    }

    /// Places of the examples that are nearest to `x`, the nearest first. `Nd` multiply-adds at
    /// most.
    pub(crate) fn nearest<'m>(
        &self,
        x: &[f64],
        memory: &'m mut NeighbourMemory,
    ) -> impl ExactSizeIterator<Item = usize> + 'm {
        memory.near.clear();
        if !self.points.is_empty() {
            self.find(x, memory);
        }
        memory.near.iter().map(|(_, place)| *place)
    }

    /// `memory.near ←` the nearest examples with their squared distances, the nearest first; of
    /// equal ones, the first in the order of the window. At how many points and sides of boxes of
    /// the index it looked.
    fn find(&self, x: &[f64], memory: &mut NeighbourMemory) -> usize {
        let NeighbourMemory { distances, candidates, near, search, .. } = memory;
        let mut nearest = NearestPoints::new(self.count, candidates);
        let held = self.len();
        let OlderExamples { index, left_over } = self.older_examples();
        let recent = if index.len() == 0 { held } else { (self.recent + left_over).min(held) };
        let first = (self.oldest + held - recent) % held;
        let see_recent = |nearest: &mut NearestPoints<'_>| {
            for range in [first..held.min(first + recent), 0..(first + recent).saturating_sub(held)] {
                for block in (range.start / LANES..range.end.div_ceil(LANES)).step_by(BLOCKS) {
                    distances.resize(BLOCKS.min(range.end.div_ceil(LANES) - block), Lane::ZERO);
                    self.points.squared_distances_of_blocks(block, x, distances);
                    nearest.see(distances, |slot| Some(block * LANES + slot).filter(|place| range.contains(place)));
                }
            }
        };
        let is_recent = |place: usize| (if place < first { place + held } else { place }) - first < recent;
        let looked = index.search(x, is_recent, (recent, see_recent), search, &mut nearest);
        nearest.finish(near);
        looked
    }

    /// Makes the index anew where so many examples have come that it pays. It changes no
    /// prediction, only how soon it is made: let who asks often call this now and then.
    pub(crate) fn arrange(&mut self, memory: &mut NeighbourMemory) {
        let held = self.len();
        if self.recent < LEAST_RECENT.max(held / RECENT_SHARE) || self.dimension() == 0 {
            return;
        }
        let oldest = self.oldest;
        let mut older = self.index.take().unwrap_or_default();
        older.index.make(&self.points, self.places(), held);
        older.left_over = 0;
        self.recent = held - older.index.len();
        let is_empty = older.index.len() == 0;
        self.index = OnceLock::from(older);
        if is_empty {
            return;
        }
        // What is measured on a new index depends on the examples alone, and not on whether they
        // come from a file.
        let mut point = std::mem::take(&mut memory.point);
        point.resize(self.dimension(), 0.0);
        let probes = (1..=PROBES).map(|age| {
            self.points.copy_point((oldest + held - age) % held, &mut point);
            self.find(&point, memory)
        });
        self.looked = probes.sum::<usize>() / PROBES;
        memory.point = point;
    }

    /// Places of the examples, the oldest first.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let (oldest, held) = (self.oldest, self.len());
        (0..held).map(move |age| if oldest + age < held { oldest + age } else { oldest + age - held })
    }

    /// The index, made anew if the window comes from a file and had one when it was saved.
    fn older_examples(&self) -> &OlderExamples {
        self.index.get_or_init(|| {
            let older = self.len().saturating_sub(self.recent);
            let mut index = Index::default();
            if self.dimension() > 0 {
                index.make(&self.points, self.places(), older);
            }
            let left_over = older - index.len();
            OlderExamples { index, left_over }
        })
    }

    /// Forgets the index.
    fn disarrange(&mut self) {
        if let Some(older) = self.index.get_mut() {
            older.index.clear();
        }
        self.recent = self.len();
    }

    /// At how many points and sides of boxes a search looks, as far as it is known.
    pub(crate) fn looked(&self) -> usize {
        if self.looked == 0 { self.len() } else { self.looked + self.recent }
    }

    /// Takes an example in, for the oldest one when there are enough; its place. `O(d)`.
    pub(crate) fn push(&mut self, x: &[f64], targets: [&[f64]; TARGETS], weight: f64) -> usize {
        let spread = (1.0 / weight).clamp(f64::MIN_POSITIVE, LARGEST_SPREAD);
        let outputs = self.outputs;
        self.recent += 1;
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

    /// Calls `see` with the place and the point of each of the last `count` examples, in the order
    /// of time.
    pub(crate) fn for_each_of_last(&self, count: usize, mut see: impl FnMut(usize, &[f64])) {
        let (held, mut point) = (self.len(), vec![0.0; self.dimension()]);
        for age in (0..count.min(held)).rev() {
            // The newest is before the oldest.
            let place = (self.oldest + held - 1 - age) % held;
            self.points.copy_point(place, &mut point);
            see(place, &point);
        }
    }

    /// The first target of the example in a place, a number for each output, and its inverse
    /// weight.
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

    /// True if all is held that may be, and nothing has left since it was the first time or anew.
    pub(crate) fn is_just_full(&self) -> bool {
        self.len() == self.capacity && self.oldest == 0
    }

    /// Holds one example more than so far.
    ///
    /// It is for a window that [is just full](Self::is_just_full), where the order of the examples
    /// is that of their places.
    pub(crate) fn extend(&mut self) {
        self.capacity += 1;
    }

    /// Goes over to another metric, in whose units numbers are so many times those of this one,
    /// with processes of its own. `O(Nd)`.
    pub(crate) fn rescale(&mut self, ratios: &[f64], processes: [Process; LANES]) {
        let mut point = vec![0.0; self.dimension()];
        for place in 0..self.len() {
            self.points.copy_point(place, &mut point);
            point.iter_mut().zip(ratios).for_each(|(value, ratio)| *value *= ratio);
            self.points.replace(place, &point);
        }
        self.processes = processes;
        self.disarrange();
    }

    /// Features join that were 0 in all examples.
    pub(crate) fn grow(&mut self, added: usize) {
        self.points.grow(added);
        self.disarrange();
    }

    /// Gains an output, in which every example was like that of output `like`, or 0.
    pub(crate) fn add_output(&mut self, like: Option<usize>) {
        self.targets = with_column(&self.targets, self.outputs, like);
        self.outputs += 1;
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
        Inconsistent::size(self.recent, WHAT)?;
        Inconsistent::size(self.looked, WHAT)?;
        Inconsistent::require(fits, WHAT, "it has targets and a weight for each example")?;
        self.targets.iter().try_for_each(|y| Inconsistent::require(y.is_finite(), WHAT, "targets are numbers"))?;
        self.spreads.iter().try_for_each(|spread| Inconsistent::positive(*spread, WHAT))?;
        self.processes.iter().try_for_each(|process| {
            Inconsistent::positive(process.rate, "rate of a kernel")?;
            Inconsistent::positive(process.noise, "noise of a process")?;
            Inconsistent::require([0.0, 1.0].contains(&process.smooth), "process", "its kernel is known")
        })?;
        let (first, second) = self.processes.split_at(LANES / TARGETS);
        let pairs = first.iter().zip(second).all(|(a, b)| *b == Process { target: 1, ..*a } && a.target == 0);
        Inconsistent::require(pairs, "process", "each kernel has both targets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest examples of a window as a list sorts them, with that of the search, after each
    /// of so many rounds.
    fn compare(mut neighbours: Neighbours, d: usize, rounds: u32, mut change: impl FnMut(u32, &mut Neighbours)) {
        let (mut memory, mut exact) = (NeighbourMemory::default(), Vec::new());
        for t in 0..rounds {
            let x: Vec<f64> =
                (0..d).map(|i| f64::from(t * (37 + 16 * i as u32) % (101 - 12 * i as u32)) * 0.02).collect();
            if !neighbours.points.is_empty() && (t < 600 || t % 7 == 0) {
                neighbours.find(&x, &mut memory);
                exact.clear();
                let mut distances = AlignedVec::new();
                neighbours.points.squared_distances(&x, &mut distances);
                exact.extend(distances.iter().copied().zip(0..));
                exact.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                exact.truncate(32);
                assert_eq!(memory.near, exact, "round {t}");
            }
            neighbours.push(&x, [&[0.0]; TARGETS], 1.0);
            change(t, &mut neighbours);
            assert_eq!(neighbours.validate(), Ok(()));
        }
    }

    fn window(d: usize, capacity: usize) -> Neighbours {
        let process = |lane| Process { rate: 1.0, smooth: 1.0, noise: 0.1, target: u8::from(lane >= LANES / 2) };
        Neighbours::new((d, 1), capacity, 32, std::array::from_fn(process))
    }

    #[test]
    fn the_nearest_are_those_of_a_sorted_list_whatever_was_replaced() {
        compare(window(2, 300), 2, 1000, |_, _| {});
    }

    #[test]
    fn an_index_changes_nothing_whatever_was_replaced_since() {
        for d in [1, 2, 5] {
            let mut memory = NeighbourMemory::default();
            compare(window(d, 1500), d, 5000, |_, neighbours| neighbours.arrange(&mut memory));
        }
    }

    #[test]
    fn a_window_that_grows_keeps_its_order_and_its_index() {
        let mut memory = NeighbourMemory::default();
        compare(window(2, 700), 2, 4000, |t, neighbours| {
            if neighbours.is_just_full() && t < 3000 {
                neighbours.extend();
            }
            neighbours.arrange(&mut memory);
            assert!(t < 1500 || neighbours.looked() < neighbours.len() / 2, "{}", neighbours.looked());
        });
    }

    #[test]
    fn of_equal_points_few_are_looked_at() {
        let (mut neighbours, mut memory) = (window(2, 6400), NeighbourMemory::default());
        (0..6400).for_each(|_| _ = neighbours.push(&[0.5, -0.5], [&[0.0]; TARGETS], 1.0));
        neighbours.arrange(&mut memory);
        assert!(neighbours.looked() < 600, "{}", neighbours.looked());
        neighbours.find(&[0.5, -0.5], &mut memory);
        assert!(memory.near.iter().copied().eq((0..32).map(|place| (0.0, place))));
    }

    #[test]
    fn a_window_without_its_index_makes_it_when_it_is_asked() {
        for capacity in [1500, 4000] {
            let mut memory = NeighbourMemory::default();
            compare(window(2, capacity), 2, 3000, |t, neighbours| {
                neighbours.arrange(&mut memory);
                if t % 1001 == 1000 {
                    // As from a file.
                    neighbours.index = OnceLock::new();
                    let looked = neighbours.find(&[0.3, 0.7], &mut memory);
                    assert!((1..neighbours.len()).contains(&looked), "round {t}: {looked}");
                }
            });
        }
    }

    #[test]
    fn points_of_no_dimension_have_no_index() {
        let mut memory = NeighbourMemory::default();
        compare(window(0, 600), 0, 1300, |_, neighbours| neighbours.arrange(&mut memory));
    }
}
