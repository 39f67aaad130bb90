//! The nearest of many points.

use mercer_simd::{AlignedVec, LANES};

/// The `N` smallest numbers, in order, and their places: of equal ones the first.
pub(crate) fn smallest<const N: usize>(distances: &AlignedVec) -> [(f64, usize); N] {
    let mut nearest = [(f64::INFINITY, 0); N];
    for (block, lane) in distances.lanes().iter().enumerate() {
        let limit = nearest[N - 1].0;
        // Of most blocks none is near.
        if lane.0.iter().map(|distance| u64::from(*distance < limit)).sum::<u64>() == 0 {
            continue;
        }
        let first = block * LANES;
        for (k, distance) in lane.0.into_iter().enumerate().take(distances.len() - first) {
            if distance < nearest[N - 1].0 {
                let place = nearest.partition_point(|(other, _)| *other <= distance);
                nearest.copy_within(place..N - 1, place + 1);
                nearest[place] = (distance, first + k);
            }
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_are_the_first_of_all_in_order() {
        for count in [1, 5, 8, 21, 100] {
            let distances: AlignedVec = (0..count).map(|i| f64::from(i * 37 % 23)).collect();
            let mut expected: Vec<(f64, usize)> = distances.iter().copied().zip(0..).collect();
            expected.sort_by(|a, b| a.0.total_cmp(&b.0));
            expected.resize(expected.len().max(5), (f64::INFINITY, 0));
            assert_eq!(smallest::<5>(&distances)[..], expected[..5]);
        }
    }
}
