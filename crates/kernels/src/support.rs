//! The coordinates at which points of many dimensions are not 0, so that kernel rows pass over the
//! others.

use mercer_simd::LANES;

/// Dimensions from which supports are kept.
pub(crate) const WIDE: usize = 2048;

/// Blocks of eight points that share a support.
pub(crate) const BLOCKS_A_GROUP: usize = 4;
const POINTS_A_GROUP: usize = LANES * BLOCKS_A_GROUP;

/// A support of more than one in so many dimensions is none.
const SHARE: usize = 8;

/// For each group of points coordinates in order, among them all at which some point is not 0;
/// `None` for a group that has too many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Supports(Vec<Option<Vec<usize>>>);

/// The coordinates from `first` on at which `x` is not 0; `None` if they are too many.
pub(crate) fn support(x: &[f64], first: usize) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for (place, _) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
        places.push(first + place);
        if SHARE * places.len() > x.len() {
            return None;
        }
    }
    Some(places)
}

/// The members of two lists in order, each once.
pub(crate) fn union(a: &[usize], b: &[usize]) -> Vec<usize> {
    let (mut all, mut a, mut b) = (Vec::with_capacity(a.len() + b.len()), a, b);
    while let (Some(i), Some(j)) = (a.first(), b.first()) {
        all.push(*i.min(j));
        (a, b) = (&a[usize::from(i <= j)..], &b[usize::from(j <= i)..]);
    }
    all.extend_from_slice(a);
    all.extend_from_slice(b);
    all
}

/// True for the last point of a group.
pub(crate) fn ends_group(index: usize) -> bool {
    (index + 1).is_multiple_of(POINTS_A_GROUP)
}

impl Supports {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Keeps those of so many points.
    pub(crate) fn truncate(&mut self, points: usize) {
        self.0.truncate(points.div_ceil(POINTS_A_GROUP));
    }

    /// Takes the point of that place in account; false if the group has lost its support by it.
    pub(crate) fn note(&mut self, index: usize, point: &[f64]) -> bool {
        let group = index / POINTS_A_GROUP;
        if group >= self.0.len() {
            self.0.resize(group + 1, Some(Vec::new()));
        }
        let Some(known) = &mut self.0[group] else { return true };
        let all = support(point, 0).map(|new| union(known, &new));
        self.0[group] = all.filter(|all| SHARE * all.len() <= point.len());
        self.0[group].is_some()
    }

    /// Forgets that of the group of a point; returns the places of its points.
    pub(crate) fn begin_anew(&mut self, index: usize) -> std::ops::Range<usize> {
        let group = index / POINTS_A_GROUP;
        self.0[group] = Some(Vec::new());
        group * POINTS_A_GROUP..(group + 1) * POINTS_A_GROUP
    }

    /// That of a group.
    pub(crate) fn of_group(&self, group: usize) -> Option<&[usize]> {
        self.0.get(group)?.as_deref()
    }

    /// That of the group of a point.
    pub(crate) fn of_point(&self, index: usize) -> Option<&[usize]> {
        self.of_group(index / POINTS_A_GROUP)
    }
}
