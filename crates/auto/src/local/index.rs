//! A partition of the older examples of a window, by which the nearest are found without a look at
//! all of them.
//!
//! The points are halved at the median of the coordinate that varies most among some of them, and
//! the halves again, until 64 are left (the k-d tree of Bentley 1975). Each such leaf has a box. A
//! search looks at the leaves nearest to the input first, and passes over those whose box lies
//! beyond the `k`-th nearest point so far, or as far away with points in later places alone: a
//! window of equal points is not looked at as a whole. It finds what a look at all points finds, to
//! the bit.
//! `O(nd log n)` to make; the memory of the points, and a quarter more.

use mercer_kernels::{AlignedVec, Boxes, Points};
use mercer_simd::{LANES, Lane};

/// Points of a leaf, in blocks of eight.
const LEAF: usize = 64;
const BLOCKS: usize = LEAF / LANES;
/// Points that are looked at to find the coordinate that varies most.
const SAMPLE: usize = 32;

/// Copies of points by leaves, and where in the window each is.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    points: Points,
    places: Vec<usize>,
    boxes: Boxes,
    /// The first place of each leaf.
    firsts: Vec<usize>,
    /// Memory of the partition: points row by row, their order, the parts to be halved, and the
    /// sides of a box.
    rows: Vec<f64>,
    order: Vec<usize>,
    parts: Vec<(usize, usize)>,
    low: Vec<f64>,
    high: Vec<f64>,
}

/// Memory of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct SearchMemory {
    /// Squared distances of the boxes, and the boxes that may hold a near point.
    of_boxes: AlignedVec,
    leaves: Vec<(RankedPlace, usize)>,
    distances: Vec<Lane>,
}

/// A squared distance and a place as one number, by which the nearest are ordered; of equal
/// distances the first place goes before. Numbers that are not negative are in the order of their
/// bits.
type RankedPlace = u128;

fn rank(squared: f64, place: usize) -> RankedPlace {
    RankedPlace::from(squared.to_bits()) << 64 | place as RankedPlace
}

fn squared(rank: RankedPlace) -> f64 {
    f64::from_bits((rank >> 64) as u64)
}

impl Index {
    /// Points in it.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Forgets all points; the memory is kept.
    pub(super) fn clear(&mut self) {
        self.places.clear();
    }

    /// Takes the points in these places of a window, of one dimension at least, as many of the
    /// first ones as fill their leaves.
    pub(super) fn make(&mut self, window: &Points, places: impl Iterator<Item = usize>, count: usize) {
        let d = window.dimension();
        let Self { points, places: kept, boxes, firsts, rows, order, parts, low, high } = self;
        let count = count / LEAF * LEAF;
        points.restart(d);
        boxes.restart(d);
        firsts.clear();
        kept.clear();
        kept.extend(places.take(count));
        rows.resize(count * d, 0.0);
        for (place, row) in kept.iter().zip(rows.chunks_exact_mut(d)) {
            window.copy_point(*place, row);
        }
        order.clear();
        order.extend(0..count);
        parts.clear();
        parts.push((0, count));
        low.resize(d, 0.0);
        high.resize(d, 0.0);
        // The parts come from left to right, so leaves lie in the order of the points.
        while let Some((first, end)) = parts.pop() {
            let part = &mut order[first..end];
            let row = |index: usize| &rows[index * d..][..d];
            if part.len() <= LEAF {
                if part.is_empty() {
                    continue;
                }
                bounds(part.iter().map(|index| row(*index)), low, high);
                boxes.push(low, high);
                firsts.extend(part.iter().map(|index| kept[*index]).min());
                part.iter().for_each(|index| points.push(row(*index)));
                continue;
            }
            bounds(part.iter().step_by(part.len().div_ceil(SAMPLE)).map(|index| row(*index)), low, high);
            let sides = low.iter().zip(&*high).map(|(low, high)| high - low).enumerate();
            let widest = sides.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(widest, _)| widest);
            let middle = part.len() / LEAF / 2 * LEAF;
            let by = |index: &usize| rows[index * d + widest];
            part.select_nth_unstable_by(middle, |a, b| by(a).total_cmp(&by(b)).then(a.cmp(b)));
            parts.push((first + middle, end));
            parts.push((first, first + middle));
        }
        order.iter_mut().for_each(|index| *index = kept[*index]);
        std::mem::swap(kept, order);
    }

    /// Shows the collector all points that may be among the nearest, except for those in places
    /// that `is_gone`; at how many points and sides of boxes it looked. `see_others` shows it
    /// `others` that are not of the index: behind the likeliest points, which make the bound small,
    /// if they are many.
    pub(super) fn search(
        &self,
        x: &[f64],
        is_gone: impl Fn(usize) -> bool,
        (others, mut see_others): (usize, impl FnMut(&mut NearestPoints<'_>)),
        search: &mut SearchMemory,
        nearest: &mut NearestPoints<'_>,
    ) -> usize {
        let likely = nearest.count.div_ceil(LEAF) + 1;
        let few = others < LEAF || self.places.is_empty();
        if few {
            see_others(nearest);
        }
        if self.places.is_empty() {
            return 0;
        }
        let SearchMemory { of_boxes, leaves, distances } = search;
        self.boxes.squared_distances(x, of_boxes);
        leaves.clear();
        let ranked = of_boxes.iter().zip(&self.firsts).map(|(squared, first)| rank(*squared, *first));
        leaves.extend(ranked.zip(0..).filter(|(rank, _)| nearest.wants(*rank)));
        distances.resize(BLOCKS, Lane::ZERO);
        let mut looked = 2 * self.boxes.len();
        let mut look = |leaf: usize, nearest: &mut NearestPoints<'_>| {
            looked += LEAF;
            self.points.squared_distances_of_blocks(leaf * BLOCKS, x, distances);
            let place = |slot: usize| Some(self.places[leaf * LEAF + slot]).filter(|place| !is_gone(*place));
            nearest.see(distances, place);
        };
        if leaves.len() > likely {
            leaves.select_nth_unstable(likely);
            leaves.drain(..likely).for_each(|(_, leaf)| look(leaf, nearest));
            nearest.tighten();
        }
        if !few {
            see_others(nearest);
        }
        leaves.retain(|(rank, _)| nearest.wants(*rank));
        leaves.sort_unstable();
        for (rank, leaf) in leaves.iter() {
            if !nearest.wants(*rank) {
                break;
            }
            look(*leaf, nearest);
        }
        looked
    }
}

/// The least and the largest of each coordinate.
fn bounds<'a>(rows: impl Iterator<Item = &'a [f64]>, low: &mut [f64], high: &mut [f64]) {
    low.fill(f64::INFINITY);
    high.fill(f64::NEG_INFINITY);
    for row in rows {
        for ((low, high), value) in low.iter_mut().zip(&mut *high).zip(row) {
            *low = low.min(*value);
            *high = high.max(*value);
        }
    }
}

/// Collects the nearest of the points that it sees: of equal ones, those in the first places. What
/// is too far away for a number is not near.
#[derive(Debug)]
pub(super) struct NearestPoints<'a> {
    near: &'a mut Vec<RankedPlace>,
    count: usize,
    /// None behind this one is among the nearest.
    bound: RankedPlace,
}

impl<'a> NearestPoints<'a> {
    /// Will find the `count` nearest; `near` is memory.
    pub(super) fn new(count: usize, near: &'a mut Vec<RankedPlace>) -> Self {
        near.clear();
        Self { near, count, bound: rank(f64::MAX, usize::MAX) }
    }

    /// True if a point may be among the nearest.
    fn wants(&self, point: RankedPlace) -> bool {
        point <= self.bound
    }

    /// Sees the points at these squared distances, of which `place` says where they are; none where
    /// there is nothing.
    pub(super) fn see(&mut self, distances: &[Lane], place: impl Fn(usize) -> Option<usize>) {
        for (block, lane) in distances.iter().enumerate() {
            let bound = squared(self.bound);
            let bit = |(slot, squared): (usize, &f64)| u32::from(*squared <= bound) << slot;
            let mut within: u32 = lane.0.iter().enumerate().map(bit).sum();
            while within != 0 {
                let slot = within.trailing_zeros() as usize;
                within &= within - 1;
                let ranked = place(block * LANES + slot).map(|place| rank(lane.0[slot], place));
                self.near.extend(ranked.filter(|point| *point <= self.bound));
            }
            if self.near.len() >= 2 * self.count + LANES {
                self.tighten();
            }
        }
    }

    /// Leaves the nearest so far.
    fn tighten(&mut self) {
        if self.near.len() >= self.count {
            let (_, farthest, _) = self.near.select_nth_unstable(self.count - 1);
            self.bound = *farthest;
            self.near.truncate(self.count);
        }
    }

    /// `found ←` the nearest with their squared distances, the nearest first.
    pub(super) fn finish(mut self, found: &mut Vec<(f64, usize)>) {
        self.tighten();
        self.near.sort_unstable();
        found.clear();
        found.extend(self.near.iter().map(|rank| (squared(*rank), *rank as usize)));
    }
}
