//! Marks drawn on top of the plotting crate's picture, in its pixels.
//!
//! Four things are drawn here because the plotting crate's own are not good enough: its PNG
//! restarts a dash pattern at every point of a line (a smooth dashed line comes out solid) and
//! draws rotated words without smoothing; its bars get whiskers even where there is no error; its
//! words beside points run over other points.

use kuva::render::layout::ComputedLayout;
use kuva::render::render::{Primitive, Scene, TextAnchor};

use super::axis::Axis;
use super::palette::{Colours, NEUTRAL};
use super::plots::{BAR_WIDTH, Data, MARKER_RADIUS, bar, in_frame, points};
use super::prepare::{cut, drawable, thin};
use super::typeset::{plain, text_width};
use super::{Figure, SeriesStyle};

const DASH: f64 = 9.0;
const DASH_GAP: f64 = 6.0;
const DASH_WIDTH: f64 = 1.8;
const WHISKER: &str = "#333333";
const LEADER: &str = "#999999";
const WORD_SIZE: u32 = 12;

/// From data to pixels.
pub(super) struct Pixels {
    pub(super) computed: ComputedLayout,
    pub(super) x_axis: Axis,
    pub(super) y_axis: Axis,
}

impl Pixels {
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.computed.map_x(self.x_axis.place(x)), self.computed.map_y(self.y_axis.place(y)))
    }
}

/// The dashed lines.
pub(super) fn dashes(scene: &mut Scene, data: &Data<'_>, colours: &Colours, pixels: &Pixels) {
    for (series, points) in &data.series {
        if series.style != SeriesStyle::Dashed {
            continue;
        }
        let colour = colours.get(&series.name, true).unwrap_or(NEUTRAL).to_string();
        for piece in cut(&thin(points, &data.x_axis), &data.x_axis, &data.y_axis) {
            let line: Vec<_> = piece.into_iter().map(|p| pixels.at(p)).collect();
            for points in dashed(&line) {
                scene.add(Primitive::PolyLine {
                    points,
                    stroke: colour.as_str().into(),
                    stroke_width: DASH_WIDTH,
                    stroke_dasharray: None,
                });
            }
        }
    }
}

/// The dashes along a line: pieces of length [`DASH`], [`DASH_GAP`] apart, measured along it.
fn dashed(line: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let mut dashes: Vec<Vec<(f64, f64)>> = Vec::new();
    let (mut on, mut left) = (true, DASH);
    if let Some(&start) = line.first() {
        dashes.push(vec![start]);
    }
    for pair in line.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let share = done / length;
            let at = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            match dashes.last_mut() {
                Some(dash) if on => dash.push(at),
                _ => dashes.push(vec![at]),
            }
            on = !on;
            left = if on { DASH } else { DASH_GAP };
        }
        left -= length - done;
        if on && let Some(dash) = dashes.last_mut() {
            dash.push(to);
        }
    }
    dashes.retain(|dash| dash.len() > 1);
    dashes
}

/// The whiskers of the bars that have errors.
pub(super) fn whiskers(scene: &mut Scene, figure: &Figure, pixels: &Pixels) {
    let Some(bars) = &figure.bars else {
        return;
    };
    let (low, high) = (pixels.y_axis.low, pixels.y_axis.high);
    let width = BAR_WIDTH / bars.groups.len().max(1) as f64;
    for group in 0..bars.groups.len() {
        for category in 0..bars.categories.len() {
            let (height, error) = bar(bars, group, category);
            if error <= 0.0 {
                continue;
            }
            let x = category as f64 + 1.0 - BAR_WIDTH / 2.0 + width * (group as f64 + 0.5);
            let (x, top) = pixels.at((x, (height + error).clamp(low, high)));
            let (_, foot) = pixels.at((1.0, (height - error).clamp(low, high)));
            let cap = 5.0;
            for (from, to) in
                [((x, foot), (x, top)), ((x - cap, foot), (x + cap, foot)), ((x - cap, top), (x + cap, top))]
            {
                line(scene, from, to, WHISKER, 1.4);
            }
        }
    }
}

fn line(scene: &mut Scene, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
    scene.add(Primitive::Line {
        x1: from.0,
        y1: from.1,
        x2: to.0,
        y2: to.1,
        stroke: colour.into(),
        stroke_width: width,
        stroke_dasharray: None,
    });
}

pub(super) fn text(scene: &mut Scene, content: &str, size: u32, (x, y): (f64, f64), anchor: TextAnchor) {
    scene.add(Primitive::Text { x, y, content: plain(content), size, anchor, rotate: None, bold: false, color: None });
}

/// The words of the vertical axis, level and above it.
pub(super) fn y_label(scene: &mut Scene, figure: &Figure, pixels: &Pixels) {
    if !figure.y_label.is_empty() {
        let place = (10.0, pixels.computed.margin_top - 12.0);
        let size = pixels.computed.label_size;
        text(scene, &figure.y_label, size, place, TextAnchor::Start);
    }
}

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn around((x, y): (f64, f64), half_width: f64, half_height: f64) -> Self {
        Self { left: x - half_width, top: y - half_height, right: x + half_width, bottom: y + half_height }
    }

    fn shared(&self, other: &Self) -> f64 {
        let width = self.right.min(other.right) - self.left.max(other.left);
        let height = self.bottom.min(other.bottom) - self.top.max(other.top);
        width.max(0.0) * height.max(0.0)
    }

    fn size(&self) -> f64 {
        (self.right - self.left) * (self.bottom - self.top)
    }
}

/// The words beside labelled points, each where it covers least of the points and the words before
/// it: right, left, above, below, at the corners, then further away with a line to its point.
pub(super) fn words(scene: &mut Scene, data: &Data<'_>, pixels: &Pixels) {
    let shown = |p: &&super::prepare::Point| in_frame(p, &data.y_axis);
    let places = data.series.iter().flat_map(|(_, points)| points);
    let places = places.chain(data.marks.iter().map(|(_, point)| point));
    let mut taken: Vec<Area> =
        places.filter(shown).map(|p| Area::around(pixels.at((p.x, p.y)), MARKER_RADIUS, MARKER_RADIUS)).collect();
    let computed = &pixels.computed;
    let frame = Area {
        left: computed.margin_left,
        top: computed.margin_top,
        right: computed.width - computed.margin_right,
        bottom: computed.height - computed.margin_bottom,
    };
    let usable = |p: &super::prepare::Point| {
        drawable(p.x, data.x_axis.log) && drawable(p.y, data.y_axis.log) && in_frame(p, &data.y_axis)
    };
    for (series, _) in &data.series {
        for (point, word) in points(series).zip(&series.labels) {
            if !usable(&point) || word.is_empty() {
                continue;
            }
            let anchor = pixels.at((point.x, point.y));
            let half_width = text_width(&plain(word), WORD_SIZE) / 2.0;
            let cost = |area: &Area| {
                let covered: f64 = taken.iter().map(|t| t.shared(area)).sum();
                covered + (area.size() - area.shared(&frame))
            };
            let Some((area, far)) =
                candidates(anchor, half_width).into_iter().min_by(|(a, _), (b, _)| cost(a).total_cmp(&cost(b)))
            else {
                continue;
            };
            let middle = ((area.left + area.right) / 2.0, (area.top + area.bottom) / 2.0);
            if far {
                let end = (anchor.0.clamp(area.left, area.right), anchor.1.clamp(area.top, area.bottom));
                line(scene, anchor, end, LEADER, 1.0);
            }
            let baseline = middle.1 + f64::from(WORD_SIZE) * 0.36;
            text(scene, word, WORD_SIZE, (middle.0, baseline), TextAnchor::Middle);
            taken.push(area);
        }
    }
}

/// Where a word may stand, best first, and whether it then needs a line to its point.
fn candidates(anchor: (f64, f64), half_width: f64) -> Vec<(Area, bool)> {
    let half_height = f64::from(WORD_SIZE) * 0.6;
    let directions =
        [(1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let mut result = Vec::new();
    for gap in [MARKER_RADIUS + 2.0, 18.0, 34.0] {
        for (right, down) in directions {
            let middle = (anchor.0 + right * (half_width + gap), anchor.1 + down * (half_height + gap));
            result.push((Area::around(middle, half_width, half_height), gap > 10.0));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_keep_their_length_across_the_points_of_a_line() {
        let points: Vec<(f64, f64)> = (0..=100).map(|i| (f64::from(i), 0.0)).collect();
        let many = dashed(&points);
        let one = dashed(&[(0.0, 0.0), (100.0, 0.0)]);
        assert_eq!(many.len(), 7);
        for (a, b) in many.iter().zip(&one) {
            let ends = |dash: &[(f64, f64)]| (dash[0].0, dash[dash.len() - 1].0);
            let ((from, to), (start, end)) = (ends(a), ends(b));
            assert!((from - start).abs() < 1e-9 && (to - end).abs() < 1e-9);
            assert!(to - from <= DASH + 1e-9);
        }
        assert_eq!(one[1][0].0, 15.0);
        assert!(dashed(&[]).is_empty() && dashed(&[(1.0, 1.0)]).is_empty());
    }

    #[test]
    fn a_word_goes_where_nothing_is() {
        let (first, far) = candidates((0.0, 0.0), 20.0)[0];
        assert!(!far && first.left > MARKER_RADIUS);
        assert_eq!(first.shared(&Area::around((0.0, 0.0), 5.0, 5.0)), 0.0);
        assert_eq!(first.shared(&first), first.size());
    }
}
