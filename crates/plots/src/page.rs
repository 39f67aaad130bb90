//! A picture taken apart for a page: one small SVG a panel, and the legend as data.
//!
//! The page sets the colours, because it has two themes: strokes and fills are CSS variables, which [`Parts::colours`] lists. A panel is
//! [`WIDTH`] units wide with words of 12 units and more, so that they stay legible on a phone, and says in `data-` attributes what a script
//! needs: the frame in pixels and the ranges of the axes, from which the place of a point gives its value back. Every series
//! is a group of its own (`data-series`). A heat map is one image, not a rectangle a cell.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use kuva::render::render_utils::{generate_ticks, generate_ticks_log};

use super::axis::{Axis, make_equal};
use super::palette::{Colour, Colours, NEUTRAL, colour_of};
use super::plots::{BAR_WIDTH, Data, bar, in_frame, mark_groups, points};
use super::prepare::{Point, cut, drawable, thin};
use super::{Figure, FigureError, Panels, Scale, Style, image, render};

/// Width of a panel.
pub const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 262.0;
const WORD: f64 = 12.0;
/// What a letter of 12 units is taken to be wide, so that room is made for it.
const LETTER: f64 = 7.3;

/// A picture taken apart.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The panels, from left to right and from top to bottom.
    pub panels: Vec<Panel>,
    /// The names of the series with their colours.
    pub legend: Vec<Key>,
    /// Every colour that the panels name, as `rrggbb`; a panel says `var(--c-rrggbb)`.
    pub colours: BTreeSet<String>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub struct Panel {
    /// Its title; may be empty.
    pub title: String,
    /// An SVG element.
    pub svg: String,
}

/// An entry of the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What is said.
    pub name: String,
    /// The series in all panels, by its `data-series`.
    pub series: usize,
    /// `rrggbb`
    pub colour: String,
    /// How it is drawn.
    pub kind: KeyKind,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A solid line.
    Line,
    /// A dashed line.
    Dashed,
    /// Points or bars.
    Filled,
}

impl Figure {
    /// The picture for a page.
    ///
    /// # Errors
    /// As [`Figure::svg`].
    pub fn parts(&self) -> Result<Parts, FigureError> {
        parts(&[self])
    }
}

impl Panels {
    /// The picture for a page.
    ///
    /// # Errors
    /// As [`Panels::svg`].
    pub fn parts(&self) -> Result<Parts, FigureError> {
        if self.figures.is_empty() {
            return Err(FigureError::Empty { title: self.title.clone() });
        }
        parts(&self.figures.iter().collect::<Vec<&Figure>>())
    }
}

fn parts(figures: &[&Figure]) -> Result<Parts, FigureError> {
    let colours = Colours::assign(figures.iter().flat_map(|figure| render::names(figure)));
    let mut legend: Vec<Key> = Vec::new();
    for figure in figures {
        let series = figure.series.iter().map(|series| {
            let kind = match series.style {
                Style::Line => KeyKind::Line,
                Style::Dashed => KeyKind::Dashed,
                Style::Points | Style::Dots => KeyKind::Filled,
            };
            (series.name.as_str(), kind)
        });
        let marks = figure.marks.iter().flat_map(|marks| &marks.marks).map(|m| (m.series.as_str(), KeyKind::Filled));
        let bars = figure.bars.iter().flat_map(|bars| &bars.groups).map(|g| (g.name.as_str(), KeyKind::Filled));
        for (name, kind) in series.chain(marks).chain(bars) {
            let dashed = kind == KeyKind::Dashed;
            let known = |key: &Key| key.name == name && (key.kind == KeyKind::Dashed) == dashed;
            if !name.is_empty() && !legend.iter().any(known) {
                let colour = hexadecimal(colours.of(name, dashed).unwrap_or(NEUTRAL));
                legend.push(Key { name: name.to_owned(), series: legend.len(), colour, kind });
            }
        }
    }
    let mut drawing = Drawing { colours: &colours, legend: &legend, used: BTreeSet::new() };
    let panels = figures.iter().map(|figure| drawing.panel(figure)).collect::<Result<Vec<Panel>, FigureError>>()?;
    let mut used = drawing.used;
    used.extend(legend.iter().map(|key| key.colour.clone()));
    Ok(Parts { panels, legend, colours: used })
}

/// What all panels of a picture share.
struct Drawing<'a> {
    colours: &'a Colours,
    legend: &'a [Key],
    used: BTreeSet<String>,
}

/// From data to the pixels of the frame, whose upper left corner is the origin.
struct Frame {
    x_axis: Axis,
    y_axis: Axis,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Frame {
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x_axis.fraction(x) * self.width, (1.0 - self.y_axis.fraction(y)) * self.height)
    }
}

impl Drawing<'_> {
    fn panel(&mut self, figure: &Figure) -> Result<Panel, FigureError> {
        render::check(figure)?;
        let mut data = Data::new(figure).ok_or_else(|| FigureError::Empty { title: figure.title.clone() })?;
        let scale = figure.heat_map.as_ref().filter(|map| map.scale != Scale::Sets && figure.matrix.is_none());
        let marks = |axis: &Axis, room: f64| ticks(axis, room);
        let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0) as f64 * LETTER;
        let rows = figure.matrix.as_ref().map(super::matrix::Words::names);
        let left = match &rows {
            Some((rows, _)) => widest(&mut rows.iter().map(|name| name.chars().count())),
            None => widest(&mut marks(&data.y_axis, HEIGHT).iter().map(|(_, text)| text.chars().count())),
        };
        let (left, right) = (left.min(110.0) + 12.0, if scale.is_some() { 66.0 } else { 22.0 });
        let top = if figure.y_label.is_empty() { 8.0 } else { 24.0 };
        let bottom = if figure.x_label.is_empty() { 24.0 } else { 42.0 };
        let (width, height) = (WIDTH - left - right, HEIGHT - top - bottom);
        if figure.equal {
            make_equal(&mut data.x_axis, &mut data.y_axis, width, height);
        }
        let frame = Frame { x_axis: data.x_axis, y_axis: data.y_axis, left, top, width, height };
        let mut svg = String::new();
        let axis = |axis: &Axis| format!("{:e} {:e} {}", axis.low, axis.high, u8::from(axis.log));
        let _ = write!(
            svg,
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" data-frame=\"{left:.1} {top:.1} {width:.1} {height:.1}\" \
             data-x=\"{}\" data-y=\"{}\">",
            axis(&frame.x_axis),
            axis(&frame.y_axis)
        );
        self.axes(&mut svg, figure, &frame, rows);
        let _ = write!(
            svg,
            "<svg class=\"plot\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">"
        );
        if let Some(map) = &figure.heat_map {
            let source = image::of(map);
            let _ = write!(
                svg,
                "<image class=\"heat\" width=\"{width:.1}\" height=\"{height:.1}\" preserveAspectRatio=\"none\" href=\"{source}\"/>"
            );
        }
        self.bars(&mut svg, figure, &frame);
        self.series(&mut svg, &data, &frame);
        self.marks(&mut svg, figure, &data, &frame);
        self.words(&mut svg, figure, &data, &frame);
        svg.push_str("</svg>");
        if let Some(map) = scale {
            let (x, ends) = (WIDTH - right + 8.0, map.ends());
            let source = image::bar(map);
            let _ = write!(
                svg,
                "<image class=\"heat\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"10\" height=\"{height:.1}\" preserveAspectRatio=\"none\" \
                 href=\"{source}\"/>"
            );
            for (share, value) in [(0.0, ends.0), (0.5, (ends.0 + ends.1) / 2.0), (1.0, ends.1)] {
                let y = top + (1.0 - share) * (height - 8.0) + 8.0;
                text(&mut svg, (x + 13.0, y), "start", &short(value, ends.1 - ends.0));
            }
        }
        svg.push_str("</svg>");
        Ok(Panel { title: figure.title.clone(), svg })
    }

    /// Grid, ticks and the words of the axes.
    fn axes(&mut self, svg: &mut String, figure: &Figure, frame: &Frame, names: Option<(Vec<String>, Vec<String>)>) {
        let Frame { left, top, width, height, .. } = *frame;
        svg.push_str("<g class=\"axes\">");
        let (right, bottom) = (left + width, top + height);
        if let Some((rows, columns)) = names {
            let step = |count: usize, room: f64| (WORD * count as f64 / room).ceil().max(1.0) as usize;
            let every = step(rows.len(), height);
            for (i, name) in rows.iter().enumerate().step_by(every) {
                let y = bottom - (i as f64 + 0.5) * height / rows.len() as f64 + 4.0;
                text(svg, (left - 6.0, y), "end", &cut_word(name, 14));
            }
            let widest = columns.iter().map(|name| name.chars().count().min(14)).max().unwrap_or(1) as f64 * LETTER;
            let every = (widest * columns.len() as f64 / width).ceil().max(1.0) as usize;
            for (j, name) in columns.iter().enumerate().step_by(every) {
                text(
                    svg,
                    (left + (j as f64 + 0.5) * width / columns.len() as f64, bottom + 16.0),
                    "middle",
                    &cut_word(name, 14),
                );
            }
        } else if let Some(bars) = figure.bars.as_ref().filter(|bars| !bars.categories.is_empty()) {
            let count = bars.categories.len() as f64;
            let letters = ((width / count - 4.0) / LETTER).floor();
            let widest = bars.categories.iter().map(|name| name.chars().count()).max().unwrap_or(1) as f64;
            for (i, name) in bars.categories.iter().enumerate() {
                let x = left + (i as f64 + 0.5) * width / count;
                // Names that do not fit side by side stand in two rows.
                let (row, most) =
                    if widest <= letters { (0.0, widest) } else { ((i % 2) as f64, (2.0 * letters).max(3.0)) };
                text(svg, (x, bottom + 15.0 + 13.0 * row), "middle", &cut_word(name, most as usize));
            }
        } else {
            for (value, word) in ticks(&frame.x_axis, width) {
                let x = left + frame.x_axis.fraction(value) * width;
                let _ = write!(svg, "<path class=\"grid\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>");
                text(svg, (x, bottom + 16.0), "middle", &word);
            }
        }
        if figure.matrix.is_none() {
            for (value, word) in ticks(&frame.y_axis, height) {
                let y = bottom - frame.y_axis.fraction(value) * height;
                let _ = write!(svg, "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>");
                text(svg, (left - 6.0, y + 4.0), "end", &word);
            }
        }
        let _ = write!(svg, "<path class=\"frame\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/></g>");
        if !figure.x_label.is_empty() {
            text(svg, (left + width / 2.0, HEIGHT - 6.0), "middle", &figure.x_label);
        }
        if !figure.y_label.is_empty() {
            text(svg, (4.0, 14.0), "start", &figure.y_label);
        }
    }

    /// Opens the group of a series.
    fn open(&mut self, svg: &mut String, name: &str, dashed: bool, colour: Colour) {
        let colour = hexadecimal(colour);
        let known = |key: &&Key| key.name == name && (key.kind == KeyKind::Dashed) == dashed;
        let number =
            self.legend.iter().find(known).map_or(String::new(), |key| format!(" data-series=\"{}\"", key.series));
        let _ = write!(svg, "<g{number} style=\"color:var(--c-{colour})\">");
        self.used.insert(colour);
    }

    fn bars(&mut self, svg: &mut String, figure: &Figure, frame: &Frame) {
        let Some(bars) = &figure.bars else { return };
        let width = BAR_WIDTH / bars.groups.len().max(1) as f64;
        for (j, group) in bars.groups.iter().enumerate() {
            for (i, category) in bars.categories.iter().enumerate() {
                let (value, error) = bar(bars, j, i);
                let known = self.colours.of(&group.name, false).unwrap_or(NEUTRAL);
                self.open(svg, &group.name, false, if group.name.is_empty() { colour_of(category) } else { known });
                let x = i as f64 + 1.0 - BAR_WIDTH / 2.0 + width * j as f64;
                let clamp = |v: f64| v.clamp(frame.y_axis.low, frame.y_axis.high);
                let ((x0, y0), (x1, y1)) = (frame.at((x, clamp(value))), frame.at((x + width, clamp(0.0))));
                let (top, low) = (y0.min(y1), y0.max(y1));
                let _ = write!(
                    svg,
                    "<path class=\"bar\" d=\"M{x0:.1} {top:.1}H{x1:.1}V{low:.1}H{x0:.1}Z\"><title>{}: {}</title></path>",
                    escaped(category),
                    short(value, value)
                );
                if error > 0.0 {
                    let (middle, high) = frame.at((x + width / 2.0, clamp(value + error)));
                    let (_, foot) = frame.at((x, clamp(value - error)));
                    let _ = write!(svg, "<path class=\"whisker\" d=\"M{middle:.1} {foot:.1}V{high:.1}\"/>");
                }
                svg.push_str("</g>");
            }
        }
    }

    fn series(&mut self, svg: &mut String, data: &Data<'_>, frame: &Frame) {
        for (series, points) in &data.series {
            let dashed = series.style == Style::Dashed;
            self.open(svg, &series.name, dashed, self.colours.of(&series.name, dashed).unwrap_or(NEUTRAL));
            match series.style {
                Style::Line | Style::Dashed => {
                    let points = thin(points, &frame.x_axis);
                    if series.interval.is_some() && points.len() > 1 {
                        band(svg, &points, frame);
                    }
                    for piece in cut(&points, &frame.x_axis, &frame.y_axis) {
                        let class = if dashed { "dash" } else { "line" };
                        let _ = write!(svg, "<path class=\"{class}\" d=\"{}\"/>", line(piece.into_iter(), frame));
                    }
                    if let ([only], false) = (points.as_slice(), dashed) {
                        dots(svg, std::iter::once(only), frame, "dots");
                    }
                }
                Style::Points | Style::Dots => {
                    if series.interval.is_some() {
                        arms(svg, points, frame);
                    }
                    let many = points.len() > 300;
                    let class = match series.style {
                        _ if many => "dots tiny",
                        Style::Dots => "dots small",
                        _ => "dots",
                    };
                    dots(svg, points.iter().filter(|p| in_frame(p, &frame.y_axis)), frame, class);
                }
            }
            svg.push_str("</g>");
        }
    }

    /// Points told apart by a letter for their group, beside which the caption of the page says what it is.
    fn marks(&mut self, svg: &mut String, figure: &Figure, data: &Data<'_>, frame: &Frame) {
        let groups = mark_groups(figure);
        for (mark, point) in &data.marks {
            self.open(svg, &mark.series, false, self.colours.of(&mark.series, false).unwrap_or(NEUTRAL));
            if mark.y_error.is_some() {
                arms(svg, std::slice::from_ref(point), frame);
            }
            let number = groups.iter().position(|group| *group == mark.group).map_or(0, |place| place + 1);
            dots(svg, std::iter::once(point), frame, "dots");
            let (x, y) = frame.at((point.x, point.y));
            let _ = write!(
                svg,
                "<text class=\"word\" x=\"{:.1}\" y=\"{:.1}\">{number}<title>{}, {}: {}</title></text>",
                x + 5.0,
                y - 3.0,
                escaped(&mark.series),
                escaped(&mark.group),
                short(point.y, point.y)
            );
            svg.push_str("</g>");
        }
    }

    /// Words beside points, where they cover no other word; and those of a matrix.
    fn words(&mut self, svg: &mut String, figure: &Figure, data: &Data<'_>, frame: &Frame) {
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        for (series, _) in &data.series {
            for (point, word) in points(series).zip(&series.labels) {
                let shown = drawable(point.x, frame.x_axis.log)
                    && drawable(point.y, frame.y_axis.log)
                    && in_frame(&point, &frame.y_axis)
                    && !word.is_empty();
                if !shown {
                    continue;
                }
                let ((x, y), width) = (frame.at((point.x, point.y)), word.chars().count() as f64 * LETTER);
                let places = [
                    (x + 6.0, y + 4.0),
                    (x - 6.0 - width, y + 4.0),
                    (x - width / 2.0, y - 7.0),
                    (x - width / 2.0, y + 16.0),
                ];
                let free = |(u, v): &(f64, f64)| {
                    let inside = *u >= 0.0 && u + width <= frame.width && *v >= 10.0 && *v <= frame.height;
                    inside && taken.iter().all(|(a, b, w)| u + width < *a || a + w < *u || (v - b).abs() >= WORD)
                };
                let place = places.into_iter().find(free).unwrap_or(places[0]);
                taken.push((place.0, place.1, width));
                let _ = write!(
                    svg,
                    "<text class=\"word\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                    place.0,
                    place.1,
                    escaped(word)
                );
            }
        }
        let (Some(words), Some(map)) = (&figure.matrix, &figure.heat_map) else { return };
        let (width, height) = (frame.width / map.grid.columns as f64, frame.height / map.grid.rows as f64);
        let ends = map.ends();
        for (place, (word, value)) in words.cells().iter().zip(&map.values).enumerate() {
            let (i, j) = (place / map.grid.columns, place % map.grid.columns);
            if word.is_empty() || height < WORD + 2.0 || word.chars().count() as f64 * LETTER > width {
                continue;
            }
            let class = if (value - ends.0) / (ends.1 - ends.0) > 0.55 { "cell dark" } else { "cell" };
            let (x, y) = ((j as f64 + 0.5) * width, frame.height - (i as f64 + 0.5) * height + 4.0);
            let _ = write!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(word));
        }
    }
}

fn line(points: impl Iterator<Item = (f64, f64)>, frame: &Frame) -> String {
    let mut path = String::new();
    for (i, point) in points.enumerate() {
        let (x, y) = frame.at(point);
        let _ = write!(path, "{}{x:.1} {y:.1}", if i == 0 { "M" } else { "L" });
    }
    path
}

fn band(svg: &mut String, points: &[Point], frame: &Frame) {
    let end = |v: f64| v.clamp(frame.y_axis.low, frame.y_axis.high);
    let there = points.iter().map(|p| (p.x, end(p.high)));
    let back = points.iter().rev().map(|p| (p.x, end(p.low)));
    let _ = write!(svg, "<path class=\"band\" d=\"{}Z\"/>", line(there.chain(back), frame));
}

/// Points as lines of no length with round ends: a zoom moves them and does not stretch them.
fn dots<'p>(svg: &mut String, points: impl Iterator<Item = &'p Point>, frame: &Frame, class: &str) {
    let mut path = String::new();
    for point in points {
        let (x, y) = frame.at((point.x, point.y));
        let _ = write!(path, "M{x:.1} {y:.1}h0");
    }
    if !path.is_empty() {
        let _ = write!(svg, "<path class=\"{class}\" d=\"{path}\"/>");
    }
}

fn arms(svg: &mut String, points: &[Point], frame: &Frame) {
    let mut path = String::new();
    for point in points.iter().filter(|p| in_frame(p, &frame.y_axis)) {
        let (x, high) = frame.at((point.x, point.high.min(frame.y_axis.high)));
        let (_, low) = frame.at((point.x, point.low.max(frame.y_axis.low)));
        let _ = write!(path, "M{x:.1} {low:.1}V{high:.1}");
    }
    let _ = write!(svg, "<path class=\"whisker\" d=\"{path}\"/>");
}

/// The ticks of an axis with their words, as many as have room.
fn ticks(axis: &Axis, room: f64) -> Vec<(f64, String)> {
    let (low, high) = axis.placed_range();
    let format = axis.tick_format();
    let values =
        if axis.log { generate_ticks_log(low, high) } else { generate_ticks(low, high, axis.ticks(room).min(6)) };
    let scale = axis.place(1.0);
    let all: Vec<(f64, String)> = values
        .into_iter()
        .filter(|value| (low..=high).contains(value))
        .map(|value| (value / scale, format.format(value)))
        .filter(|(_, word)| !word.is_empty())
        .collect();
    // Words stand side by side along one axis and above each other along the other; the wider need serves both.
    let widest = all.iter().map(|(_, word)| word.chars().count()).max().unwrap_or(1) as f64 * LETTER + 6.0;
    let every = (widest * all.len() as f64 / room).ceil().max(1.0) as usize;
    all.into_iter().step_by(every).collect()
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escaped(words));
}

fn cut_word(word: &str, most: usize) -> String {
    if word.chars().count() <= most {
        return word.to_owned();
    }
    word.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number for a label, with digits that suit a range of this size.
fn short(value: f64, range: f64) -> String {
    let digits = (1 - range.abs().max(1e-300).log10().floor() as i32).clamp(0, 4) as usize;
    format!("{value:.digits$}").replace('-', "−")
}

fn hexadecimal(colour: Colour) -> String {
    colour.to_string().trim_start_matches('#').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Grid, HeatMap, Mark};

    #[test]
    fn series_have_groups_and_names_a_key_each() {
        let figure = |title: &str| {
            Figure::new(title).x_label("t").y_label("<loss>").line("FOGD", &[1.0, 2.0], &[1.0, 3.0]).dashed(
                "bound",
                &[1.0, 2.0],
                &[2.0, 4.0],
            )
        };
        let parts = Panels::new("P", 2).panel(figure("a")).panel(figure("b")).parts().unwrap();
        let names: Vec<(&str, usize, KeyKind)> =
            parts.legend.iter().map(|k| (k.name.as_str(), k.series, k.kind)).collect();
        assert_eq!(names, [("FOGD", 0, KeyKind::Line), ("bound", 1, KeyKind::Dashed)]);
        assert_eq!(parts.panels.len(), 2);
        for panel in &parts.panels {
            assert!(panel.svg.contains("data-series=\"0\"") && panel.svg.contains("class=\"dash\""), "{}", panel.svg);
            assert!(panel.svg.contains("&lt;loss&gt;") && !panel.svg.contains("<loss>"));
        }
        assert!(parts.colours.contains("e69f00"), "{:?}", parts.colours);
    }

    #[test]
    fn a_heat_map_is_one_image_and_everything_else_is_drawn() {
        let map = HeatMap {
            grid: Grid::square(1.0, 61),
            values: (0..3721).map(f64::from).collect(),
            scale: Scale::Diverging,
        };
        let svg = Figure::new("").heat_map(map).points("p", &[0.0], &[0.5]).parts().unwrap().panels.remove(0).svg;
        assert_eq!(svg.matches("<image").count(), 2);
        assert!(svg.len() < 12_000, "{}", svg.len());
        let mark = Mark { series: "FOGD".into(), group: "bank".into(), x: 1.0, y: 2.0, y_error: Some(0.5) };
        let marks = Figure::new("").marks("learner", "set", vec![mark]).parts().unwrap();
        assert!(marks.panels[0].svg.contains("FOGD, bank: 2"));
        let bars =
            Figure::new("").categories(&["x", "y"]).bars_with_errors("n", &[1.0, 2.0], &[0.1, 0.5]).parts().unwrap();
        assert_eq!(bars.panels[0].svg.matches("class=\"bar\"").count(), 2);
        let matrix = Figure::new("")
            .matrix(&["a", "b"], &["x", "y"], &[1.0, 2.0, 3.0, 4.0], &["1", "2", "3", "4"])
            .parts()
            .unwrap();
        assert!(matrix.panels[0].svg.contains("class=\"cell dark\""), "{}", matrix.panels[0].svg);
        assert!(Figure::new("").parts().is_err() && Panels::new("", 1).parts().is_err());
    }

    #[test]
    fn a_place_gives_its_value_back() {
        let svg = Figure::new("")
            .log_x()
            .line("a", &[1.0, 10.0, 100.0], &[0.0, 1.0, 2.0])
            .parts()
            .unwrap()
            .panels
            .remove(0)
            .svg;
        let of = |name: &str| -> Vec<f64> {
            let value = svg.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap();
            value.split(' ').map(|v| v.parse().unwrap()).collect()
        };
        let (frame, x) = (of("data-frame"), of("data-x"));
        let path = svg.split("class=\"line\" d=\"").nth(1).unwrap();
        let middle: f64 = path.split('L').nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        let value = 10f64.powf(x[0].log10() + middle / frame[2] * (x[1].log10() - x[0].log10()));
        assert!((value - 10.0).abs() < 0.05, "{value}");
    }
}
