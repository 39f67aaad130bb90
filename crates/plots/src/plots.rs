//! A figure's data made ready, and what of it the plotting crate draws.

use kuva::plot::{BandPlot, BarPlot, LinePlot, MarkerShape, ScatterPlot};
use kuva::render::plots::Plot;

use super::axis::Axis;
use super::palette::{Colours, NEUTRAL, colour_of};
use super::prepare::{Point, clean, cut, drawable, is_ordered, thin};
use super::{Bars, Figure, Mark, PlotSeries, SeriesStyle};

pub(super) const MARKER_RADIUS: f64 = 5.0;
pub(super) const BAR_WIDTH: f64 = 0.75;
/// Radius of the dots of a cloud of more than [`MANY_POINTS`].
const DOT_RADIUS: f64 = 1.6;
/// Radius of the dots of a smaller cloud that are not to hide a line.
const SMALL_RADIUS: f64 = 2.6;
const MANY_POINTS: usize = 300;
const LINE_WIDTH: f64 = 2.2;
const BAND_OPACITY: f64 = 0.18;
/// Factor below the lowest line to which a band may pull a logarithmic axis.
const BAND_REACH: f64 = 3.0;

const SHAPES: [MarkerShape; 10] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::TriangleDown,
    MarkerShape::Star,
    MarkerShape::Hexagon,
    MarkerShape::Cross,
    MarkerShape::Plus,
    MarkerShape::Pentagon,
];

/// The drawable part of a figure, with the axes around it.
pub(super) struct Data<'a> {
    pub(super) series: Vec<(&'a PlotSeries, Vec<Point>)>,
    pub(super) marks: Vec<(&'a Mark, Point)>,
    pub(super) x_axis: Axis,
    pub(super) y_axis: Axis,
}

impl<'a> Data<'a> {
    /// `None` when nothing can be drawn.
    pub(super) fn new(figure: &'a Figure) -> Option<Self> {
        let (log_x, log_y) = (figure.log_x, figure.log_y);
        let series = figure.series.iter();
        let (left, right) = figure.heat_map.as_ref().map_or((f64::NEG_INFINITY, f64::INFINITY), |map| map.grid.x_range);
        let inside = |p: &Point| (left..=right).contains(&p.x);
        let series: Vec<_> = series.map(|s| (s, clean(points(s).filter(inside), log_x, log_y))).collect();
        let marks = figure.marks.iter().flat_map(|m| &m.marks);
        let marks: Vec<_> = marks
            .filter_map(|mark| {
                let error = mark.y_error.unwrap_or(0.0);
                let point = Point { x: mark.x, y: mark.y, low: mark.y - error, high: mark.y + error };
                let point = clean(std::iter::once(point), log_x, log_y).pop()?;
                Some((mark, point))
            })
            .collect();
        let (x_axis, y_axis) = axes(figure, &series, &marks)?;
        Some(Self { series, marks, x_axis, y_axis })
    }
}

impl Figure {
    /// The same picture from less data: a long line keeps the points that are drawn of it.
    #[must_use]
    pub fn thinned(&self) -> Self {
        let mut figure = self.clone();
        let Some(Data { series, x_axis, .. }) = Data::new(self) else { return figure };
        for (own, (_, points)) in figure.series.iter_mut().zip(&series) {
            // The ends of a band and the turns of a line settle where the axes end.
            if own.style == SeriesStyle::Line && own.interval.is_none() && is_ordered(points) {
                let kept = thin(points, &x_axis);
                if kept.len() < points.len() {
                    (own.xs, own.ys) = kept.iter().map(|point| (point.x, point.y)).unzip();
                }
            }
        }
        figure
    }
}

/// All points of a series, drawable or not.
pub(super) fn points(series: &PlotSeries) -> impl Iterator<Item = Point> {
    (0..series.xs.len()).map(|i| {
        let y = series.ys[i];
        let interval = series.interval.as_ref();
        let (low, high) = interval.map_or((y, y), |(lower, upper)| (lower[i], upper[i]));
        Point { x: series.xs[i], y, low, high }
    })
}

pub(super) fn in_frame(point: &Point, y_axis: &Axis) -> bool {
    (y_axis.low..=y_axis.high).contains(&point.y)
}

/// The marks' groups in the order in which they first appear.
pub(super) fn mark_groups(figure: &Figure) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for mark in figure.marks.iter().flat_map(|m| &m.marks) {
        if !groups.contains(&mark.group.as_str()) {
            groups.push(&mark.group);
        }
    }
    groups
}

/// The shape of the group with this number; they repeat after ten.
pub(super) fn shape(group: usize) -> MarkerShape {
    SHAPES[group % SHAPES.len()]
}

/// Height and error of a bar; a height that cannot be drawn is a bar of no height.
pub(super) fn bar(bars: &Bars, group: usize, category: usize) -> (f64, f64) {
    let group = &bars.groups[group];
    let usable = |v: f64| if drawable(v, false) { v } else { 0.0 };
    let errors = group.errors.as_ref();
    (usable(group.heights[category]), errors.map_or(0.0, |errors| usable(errors[category])))
}

fn axes(figure: &Figure, series: &[(&PlotSeries, Vec<Point>)], marks: &[(&Mark, Point)]) -> Option<(Axis, Axis)> {
    if let Some(map) = &figure.heat_map {
        return Some(map.grid.axes());
    }
    let all = || {
        let series = series.iter().flat_map(|(_, points)| points);
        series.chain(marks.iter().map(|(_, point)| point))
    };
    let bars = figure.bars.as_ref().filter(|b| !b.categories.is_empty());
    let has_dots =
        !marks.is_empty() || figure.series.iter().any(|s| matches!(s.style, SeriesStyle::Points | SeriesStyle::Dots));
    let x_pad = if has_dots { 0.05 } else { 0.0 };
    let x_axis = match bars {
        Some(bars) => Axis { low: 0.5, high: bars.categories.len() as f64 + 0.5, log: false },
        // Rounds count from one; an axis of them starts at zero.
        None => Axis::around(all().map(|p| p.x), figure.log_x, x_pad, 0.02)?,
    };

    let lowest = all().map(|p| p.y).fold(f64::INFINITY, f64::min) / BAND_REACH;
    let ends = all().flat_map(|p| {
        let low = if figure.log_y { p.low.max(lowest) } else { p.low };
        [low, p.y, p.high.max(low)]
    });
    let bar_ends = bars.into_iter().flat_map(|bars| {
        let every = move |group| (0..bars.categories.len()).map(move |category| (group, category));
        (0..bars.groups.len()).flat_map(every).flat_map(|(g, c)| {
            let (height, error) = bar(bars, g, c);
            [0.0, height - error, height + error]
        })
    });
    let mut y_axis = Axis::around(ends.chain(bar_ends), figure.log_y, 0.04, 0.3)?;
    if let Some((low, high)) = figure.y_range {
        let bars = bars.is_some();
        y_axis.low = if bars { low.min(0.0) } else { low };
        y_axis.high = if bars { high.max(0.0) } else { high };
    }
    Some((x_axis, y_axis))
}

/// From back to front: the heat map, bands, bars, solid lines, points.
pub(super) fn plots(figure: &Figure, data: &Data<'_>, colours: &Colours) -> Vec<Plot> {
    let (x_axis, y_axis) = (&data.x_axis, &data.y_axis);
    let colour = |name: &str| colours.get(name, false).unwrap_or(NEUTRAL).to_string();
    let (mut plots, mut strokes, mut dots) = (Vec::new(), Vec::new(), Vec::new());
    plots.extend(figure.heat_map.as_ref().map(super::HeatMap::plot));
    for (series, points) in &data.series {
        let colour = colour(&series.name);
        match series.style {
            SeriesStyle::Dashed => {}
            SeriesStyle::Line => {
                let points = thin(points, x_axis);
                if series.interval.is_some() {
                    plots.push(band(&points, &colour, x_axis, y_axis));
                }
                strokes.extend(stroke(&points, &colour, x_axis, y_axis));
            }
            SeriesStyle::Points | SeriesStyle::Dots => {
                let (circle, arms) = (MarkerShape::Circle, series.interval.is_some());
                let radius = match series.style {
                    SeriesStyle::Dots if points.len() <= MANY_POINTS => SMALL_RADIUS,
                    _ => radius_of(points.len()),
                };
                dots.extend(cloud(points, arms, &colour, circle, radius, x_axis, y_axis));
            }
        }
    }
    let groups = mark_groups(figure);
    for (mark, point) in &data.marks {
        let group = groups.iter().position(|&g| g == mark.group).unwrap_or(0);
        let (colour, arms) = (colour(&mark.series), mark.y_error.is_some());
        dots.extend(cloud(&[*point], arms, &colour, shape(group), MARKER_RADIUS, x_axis, y_axis));
    }
    plots.extend(bar_plot(figure, colours, y_axis));
    plots.extend(strokes);
    plots.extend(dots);
    plots
}

fn stroke(points: &[Point], colour: &str, x_axis: &Axis, y_axis: &Axis) -> Vec<Plot> {
    let place = |(x, y)| (x_axis.place(x), y_axis.place(y));
    let plot = |piece: Vec<(f64, f64)>| {
        let line = LinePlot::new().with_data(piece.into_iter().map(place).collect::<Vec<_>>());
        Plot::Line(line.with_color(colour).with_stroke_width(LINE_WIDTH))
    };
    cut(points, x_axis, y_axis).into_iter().map(plot).collect()
}

fn band(points: &[Point], colour: &str, x_axis: &Axis, y_axis: &Axis) -> Plot {
    let end = |v: f64| y_axis.place(v.clamp(y_axis.low, y_axis.high));
    let plot = BandPlot::new(
        points.iter().map(|p| x_axis.place(p.x)),
        points.iter().map(|p| end(p.low)),
        points.iter().map(|p| end(p.high)),
    );
    Plot::Band(plot.with_color(colour).with_opacity(BAND_OPACITY))
}

fn radius_of(points: usize) -> f64 {
    if points > MANY_POINTS { DOT_RADIUS } else { MARKER_RADIUS }
}

/// Points of one colour and shape, with error bars cut at the frame; `None` when all are outside.
fn cloud(
    points: &[Point],
    arms: bool,
    colour: &str,
    shape: MarkerShape,
    radius: f64,
    x_axis: &Axis,
    y_axis: &Axis,
) -> Option<Plot> {
    let seen: Vec<&Point> = points.iter().filter(|p| in_frame(p, y_axis)).collect();
    let place = |p: &&Point| (x_axis.place(p.x), y_axis.place(p.y));
    let arm = |p: &&Point| {
        let (low, high) = (p.low.max(y_axis.low), p.high.min(y_axis.high));
        let middle = y_axis.place(p.y);
        (middle - y_axis.place(low), y_axis.place(high) - middle)
    };
    let plot = ScatterPlot::new()
        .with_data(seen.iter().map(place).collect::<Vec<_>>())
        .with_color(colour)
        .with_marker(shape)
        .with_size(radius);
    (!seen.is_empty())
        .then(|| Plot::Scatter(if arms { plot.with_y_err_asymmetric(seen.iter().map(arm)) } else { plot }))
}

fn bar_plot(figure: &Figure, colours: &Colours, y_axis: &Axis) -> Option<Plot> {
    let bars = figure.bars.as_ref().filter(|b| !b.groups.is_empty())?;
    let mut plot = BarPlot::new().with_width(BAR_WIDTH);
    for (i, category) in bars.categories.iter().enumerate() {
        let value = |(j, group): (usize, &super::BarSeries)| {
            let colour = if group.name.is_empty() {
                colour_of(category)
            } else {
                colours.get(&group.name, false).unwrap_or(NEUTRAL)
            };
            let height = bar(bars, j, i).0.clamp(y_axis.low, y_axis.high);
            (height, colour.to_string())
        };
        plot = plot.with_group(category, bars.groups.iter().enumerate().map(value));
    }
    Some(Plot::Bar(plot))
}
