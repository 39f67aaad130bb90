//! Wrong values among the first rows of a series.

/// Ranges of the other rows beyond which a value is none of the series.
const FAR: f64 = 100.0;
/// Rows of which one may be such a value.
const ONE_IN: usize = 10;

/// Sets aside the values that lie more than a hundred ranges of all others beyond them, one in ten
/// at most: in the first rows nothing is a surprise when it comes, and a wrong value would be in
/// all scales for as long as they last. Others must differ. Returns how many. `O(n ln n)`.
pub(crate) fn set_aside(beginning: &mut [Option<f64>]) -> usize {
    let mut sorted: Vec<f64> = beginning.iter().flatten().copied().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (mut rest, mut kept) = (&sorted[..], &sorted[..]);
    for _ in 0..(sorted.len() / ONE_IN).max(1) {
        let [low, second, .., last, high] = *rest else { break };
        let (gap, further) = (second - low, high - last);
        rest = if gap > further { &rest[1..] } else { &rest[..rest.len() - 1] };
        let range = rest[rest.len() - 1] - rest[0];
        if range > 0.0 && gap.max(further) > FAR * range {
            kept = rest;
        }
    }
    let aside = sorted.len() - kept.len();
    let (Some(low), Some(high), true) = (kept.first(), kept.last(), aside > 0) else { return 0 };
    beginning.iter_mut().for_each(|row| *row = row.filter(|y| (*low..=*high).contains(y)));
    aside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_far_beyond_all_others_are_set_aside() {
        for (mut values, aside) in [
            (vec![1.0, 1e9, 2.0, 1.5, 1.1], &[1][..]),
            (vec![-9999.0, 1.0, 2.0, 1.5, 1.1], &[0]),
            // Not far enough; one of five at most; nothing that differs.
            (vec![1.0, 90.0, 2.0, 1.5, 1.1], &[]),
            (vec![1.0, 1e9, 2.0, 1e9, 1.1], &[]),
            (vec![0.0, 0.0, 30.0, 0.0, 0.0], &[]),
            (
                (0..20).map(|t| if t == 3 || t == 9 { 1e6 * (1.0 + f64::from(t)) } else { f64::from(t) }).collect(),
                &[3, 9],
            ),
        ] {
            let mut beginning = values.drain(..).map(Some).collect::<Vec<_>>();
            assert_eq!(set_aside(&mut beginning), aside.len(), "{beginning:?}");
            assert!(beginning.iter().enumerate().all(|(t, row)| row.is_none() == aside.contains(&t)), "{beginning:?}");
        }
    }
}
