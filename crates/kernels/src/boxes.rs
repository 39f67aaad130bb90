//! Boxes around sets of points, by which a search for near points passes over sets that are far
//! away.

use mercer_simd::{AlignedVec, LANES, Lane, Op, Simd, dispatch};

use crate::points::Points;

/// Boxes `[a, b]` of `ℝᵈ` with sides parallel to the axes, stored like [`Points`].
#[derive(Clone, Debug, Default)]
pub struct Boxes {
    low: Points,
    high: Points,
}

impl Boxes {
    /// Forgets all boxes; those to come have dimension `dimension`. The memory is kept.
    pub fn restart(&mut self, dimension: usize) {
        self.low.restart(dimension);
        self.high.restart(dimension);
    }

    /// Number of boxes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.low.len()
    }

    /// True if there is no box.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.low.is_empty()
    }

    /// Appends the box from `low` to `high`. `O(d)`.
    ///
    /// # Panics
    /// If one of them has not `d` coordinates.
    pub fn push(&mut self, low: &[f64], high: &[f64]) {
        self.low.push(low);
        self.high.push(high);
    }

    /// `distances ← min ‖x − z‖²` over the points `z` of each box:
    /// `Σ max(a_i − x_i, 0, x_i − b_i)²`, with padding 0. `2Ld` operations for `L` boxes,
    /// vectorised.
    ///
    /// The sum has the order of [`Points::squared_distances`], so no distance of a point in the box
    /// is below it, rounding included.
    ///
    /// # Panics
    /// If `x` has not `d` coordinates.
    pub fn squared_distances(&self, x: &[f64], distances: &mut AlignedVec) {
        assert_eq!(x.len(), self.low.dimension(), "an input has one coordinate for each dimension");
        distances.resize(self.len());
        dispatch(Outside { boxes: self, x, distances: distances.lanes_mut() });
        if let Some(last) = distances.lanes_mut().last_mut().filter(|_| !self.len().is_multiple_of(LANES)) {
            last.0[self.len() % LANES..].fill(0.0);
        }
    }
}

struct Outside<'a> {
    boxes: &'a Boxes,
    x: &'a [f64],
    distances: &'a mut [Lane],
}

impl Op for Outside<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (d, zero) = (self.x.len(), simd.splat(0.0));
        let (low, high) = (&self.boxes.low, &self.boxes.high);
        for (block, out) in self.distances.iter_mut().enumerate() {
            let [low, high] = [low, high].map(|points| &points.lanes()[block * points.stride()..][..d]);
            let sides = low.iter().zip(high);
            let sum = sides.zip(self.x).fold(zero, |sum, ((low, high), x)| {
                let x = simd.splat(*x);
                let (below, above) = (simd.sub(simd.load(low), x), simd.sub(x, simd.load(high)));
                let outside = simd.select_less(below, above, above, below);
                let outside = simd.select_less(outside, zero, zero, outside);
                simd.mul_add(outside, outside, sum)
            });
            simd.store(sum, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_point_of_a_box_is_nearer_than_the_box_and_a_corner_is_as_near() {
        let (mut boxes, mut state) = (Boxes::default(), 1_u64);
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 22) - 2.0
        };
        boxes.restart(3);
        let mut sets = Vec::new();
        for _ in 0..21 {
            let set: Vec<[f64; 3]> = (0..9).map(|_| [random(), random(), random()]).collect();
            let side =
                |of: fn(f64, f64) -> f64| [0, 1, 2].map(|i| set.iter().map(|z| z[i]).reduce(of).expect("points"));
            boxes.push(&side(f64::min), &side(f64::max));
            sets.push((side(f64::min), side(f64::max), set));
        }
        assert!(boxes.len() == 21 && !boxes.is_empty());
        let (mut distances, mut of_points) = (AlignedVec::new(), AlignedVec::new());
        for _ in 0..200 {
            let x = [random(), 2.0 * random(), random()];
            boxes.squared_distances(&x, &mut distances);
            for ((low, high, set), least) in sets.iter().zip(&*distances) {
                Points::from_rows(3, &set.concat()).squared_distances(&x, &mut of_points);
                assert!(of_points.iter().all(|distance| distance >= least));
                let nearest: Vec<f64> = (0..3).map(|i| x[i].clamp(low[i], high[i])).collect();
                Points::from_rows(3, &nearest).squared_distances(&x, &mut of_points);
                assert_eq!(of_points[0], *least);
            }
        }
        boxes.restart(2);
        assert!(boxes.is_empty());
    }
}
