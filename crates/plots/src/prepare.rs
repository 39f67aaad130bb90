//! From raw samples to what is drawn: unusable points dropped, long lines thinned, lines cut at the
//! frame.

use super::axis::Axis;

/// The most points a drawn line has.
pub(super) const MOST_POINTS: usize = 400;

/// A point with the interval drawn around it; both ends are `y` where there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// True if an axis can show `v`: finite and far from overflow, and positive if the axis is
/// logarithmic.
pub(super) fn drawable(v: f64, log: bool) -> bool {
    if log { (1e-120..=1e120).contains(&v) } else { v.abs() <= 1e300 }
}

/// The points whose place is [`drawable`]. An end of the interval that is not finite (or as good as
/// that) falls back to `y`; one that is not positive is kept, for it only means "down to the
/// frame".
pub(super) fn clean(points: impl Iterator<Item = Point>, log_x: bool, log_y: bool) -> Vec<Point> {
    let sane = |end: f64| drawable(end, log_y && end > 1.0);
    points
        .filter(|p| drawable(p.x, log_x) && drawable(p.y, log_y))
        .map(|p| Point {
            low: if sane(p.low) { p.low } else { p.y },
            high: if sane(p.high) { p.high } else { p.y },
            ..p
        })
        .collect()
}

/// At most [`MOST_POINTS`] of the points, in their order: the first, the last, and from each of
/// equally wide pieces of the axis the lowest and the highest, so that a spike survives and a noisy
/// line keeps its envelope.
pub(super) fn thin(points: &[Point], x_axis: &Axis) -> Vec<Point> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let pieces = (MOST_POINTS - 2) / 2;
    let ordered = is_ordered(points);
    let (start, length) = (x_axis.fraction(first.x), x_axis.fraction(last.x) - x_axis.fraction(first.x));
    let piece_of = |i: usize| {
        // A line that turns back has no pieces of the axis; pieces of its course serve instead.
        let along = if ordered && length > 0.0 {
            (x_axis.fraction(points[i].x) - start) / length
        } else {
            i as f64 / points.len() as f64
        };
        ((along * pieces as f64) as usize).min(pieces - 1)
    };
    let mut kept = vec![0];
    let mut at = 1;
    while at < points.len() - 1 {
        let piece = piece_of(at);
        let (mut lowest, mut highest) = (at, at);
        while at < points.len() - 1 && piece_of(at) == piece {
            if points[at].y < points[lowest].y {
                lowest = at;
            }
            if points[at].y > points[highest].y {
                highest = at;
            }
            at += 1;
        }
        kept.push(lowest.min(highest));
        if lowest != highest {
            kept.push(lowest.max(highest));
        }
    }
    kept.push(points.len() - 1);
    kept.into_iter().map(|i| points[i]).collect()
}

/// True if no point lies to the left of the one before it.
pub(super) fn is_ordered(points: &[Point]) -> bool {
    points.windows(2).all(|pair| pair[0].x <= pair[1].x)
}

/// The pieces of a line inside the frame, cut where it crosses the upper or lower edge.
pub(super) fn cut(points: &[Point], x_axis: &Axis, y_axis: &Axis) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut open = false;
    for pair in points.windows(2) {
        let (from, to) = (y_axis.fraction(pair[0].y), y_axis.fraction(pair[1].y));
        let Some((enter, leave)) = inside(from, to) else {
            open = false;
            continue;
        };
        let at = |share: f64| {
            // The ends are taken as they are: going through fractions would blur them.
            if share == 0.0 {
                return (pair[0].x, pair[0].y);
            }
            if share == 1.0 {
                return (pair[1].x, pair[1].y);
            }
            let (start, end) = (x_axis.fraction(pair[0].x), x_axis.fraction(pair[1].x));
            (
                x_axis.value_at(start + share * (end - start)),
                y_axis.value_at((from + share * (to - from)).clamp(0.0, 1.0)),
            )
        };
        match pieces.last_mut() {
            Some(piece) if open && enter == 0.0 => piece.push(at(leave)),
            _ => pieces.push(vec![at(enter), at(leave)]),
        }
        open = leave == 1.0;
    }
    pieces
}

/// The shares of the way between two heights that lie between 0 and 1; `None` if there is none.
fn inside(from: f64, to: f64) -> Option<(f64, f64)> {
    let (mut enter, mut leave) = (0.0, 1.0);
    for (start, end) in [(from, to), (1.0 - from, 1.0 - to)] {
        if start < 0.0 && end < 0.0 {
            return None;
        }
        if start < 0.0 {
            enter = f64::max(enter, start / (start - end));
        } else if end < 0.0 {
            leave = f64::min(leave, start / (start - end));
        }
    }
    (enter <= leave).then_some((enter, leave))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, y: f64) -> Point {
        Point { x, y, low: y, high: y }
    }

    fn axis(low: f64, high: f64) -> Axis {
        Axis { low, high, log: false }
    }

    #[test]
    fn what_cannot_be_drawn_is_dropped() {
        let raw = [
            point(1.0, 2.0),
            point(f64::NAN, 2.0),
            point(2.0, f64::INFINITY),
            point(2.0, 1e308),
            point(0.0, 1.0),
            point(3.0, -1.0),
        ];
        assert_eq!(clean(raw.into_iter(), false, false).len(), 3);
        assert_eq!(clean(raw.into_iter(), true, true), vec![point(1.0, 2.0)]);
        let band = Point { low: f64::NEG_INFINITY, high: 5.0, ..point(1.0, 2.0) };
        assert_eq!(clean([band].into_iter(), false, true)[0].low, 2.0);
    }

    #[test]
    fn thinning_keeps_ends_order_and_spikes() {
        let mut points: Vec<Point> = (0..10_000).map(|i| point(f64::from(i), 1.0)).collect();
        points[4321].y = 9.0;
        for axis in [axis(0.0, 1e4), Axis { low: 1.0, high: 1e4, log: true }] {
            let thinned = thin(&points[1..], &axis);
            assert!(thinned.len() <= MOST_POINTS && thinned.len() > 100);
            assert_eq!(thinned.first(), points[1..].first());
            assert_eq!(thinned.last(), points.last());
            assert!(thinned.windows(2).all(|pair| pair[0].x < pair[1].x));
            assert!(thinned.iter().any(|p| p.y == 9.0));
        }
        assert_eq!(thin(&points[..400], &axis(0.0, 400.0)), points[..400]);
    }

    #[test]
    fn a_line_that_turns_back_is_thinned_too() {
        let points: Vec<Point> = (0..5000)
            .map(|i| {
                let angle = f64::from(i) * 0.01;
                point(angle.cos(), angle.sin())
            })
            .collect();
        assert!(thin(&points, &axis(-1.0, 1.0)).len() <= MOST_POINTS);
    }

    #[test]
    fn lines_are_cut_at_the_frame() {
        let points = [point(0.0, 0.5), point(1.0, 2.5), point(2.0, 0.5), point(3.0, 0.75)];
        let pieces = cut(&points, &axis(0.0, 3.0), &axis(0.0, 1.0));
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces[0][0], (0.0, 0.5));
        assert!((pieces[0][1].0 - 0.25).abs() < 1e-12 && (pieces[0][1].1 - 1.0).abs() < 1e-12);
        assert!((pieces[1][0].0 - 1.75).abs() < 1e-12);
        assert_eq!(pieces[1][1..], [(2.0, 0.5), (3.0, 0.75)]);
        assert!(cut(&[point(0.0, 2.0), point(1.0, 3.0)], &axis(0.0, 1.0), &axis(0.0, 1.0)).is_empty());
    }
}
