//! The median heuristic for the width of a kernel.

/// At most this many rows enter, so that the cost stays far below a millisecond.
const ROWS: usize = 200;

/// The median Euclidean distance between the first rows (at most 200 of them) of a row-major table of `dimension` columns;
/// 1 when there are no two distinct rows or a distance is not finite.
#[must_use]
pub fn median_width(dimension: usize, rows: &[f64]) -> f64 {
    let rows: Vec<&[f64]> = rows.chunks_exact(dimension.max(1)).take(ROWS).collect();
    let mut distances: Vec<f64> = rows
        .iter()
        .enumerate()
        .flat_map(|(i, x)| rows[..i].iter().map(move |z| (x, z)))
        .map(|(x, z)| x.iter().zip(*z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>().sqrt())
        .filter(|distance| *distance > 0.0)
        .collect();
    if distances.is_empty() {
        return 1.0;
    }
    let middle = distances.len() / 2;
    let median = *distances.select_nth_unstable_by(middle, f64::total_cmp).1;
    if median.is_finite() { median } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_three_distances() {
        assert_eq!(median_width(1, &[0.0, 1.0, 5.0]), 4.0);
        assert_eq!(median_width(2, &[1.0, 1.0, 1.0, 1.0]), 1.0);
        assert_eq!(median_width(1, &[]), 1.0);
    }
}
