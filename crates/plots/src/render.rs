//! From a checked figure to a scene, and from a scene to files.

use std::path::Path;

use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::render::layout::ComputedLayout;
use kuva::render::render::{Scene, render_multiple};

use super::axis;
use super::layout::{self, Frame};
use super::overlay::{self, Pixels};
use super::palette::Colours;
use super::plots::{Data, plots};
use super::prepare::drawable;
use super::{Figure, FigureError, SavedPicture, SeriesStyle, heat_map, legend, matrix};
use crate::whole::write_whole;

/// Pixels of the PNG for one unit of the SVG.
const PNG_SCALE: f32 = 2.0;

pub(super) fn svg(scene: &Scene) -> String {
    let text = SvgBackend::new().render_scene(scene);
    // Without a view box a page that shows the picture smaller would cut it off instead.
    let opening = format!("<svg viewBox=\"0 0 {:.2} {:.2}\" ", scene.width, scene.height);
    legible(&renumbered(&text.replacen("<svg ", &opening, 1), "kuva-clip-"))
}

/// The text with the characters escaped that no XML file may hold (`\u{1b}` for the one that begins
/// a terminal's commands): names of classes and columns may have them.
fn legible(text: &str) -> String {
    let may_stand = |c: char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}') || "\t\n\r".contains(c);
    text.chars().fold(String::with_capacity(text.len()), |mut all, c| {
        if may_stand(c) {
            all.push(c);
        } else {
            all.extend(c.escape_default());
        }
        all
    })
}

/// The text with the numbers behind `prefix` replaced by 0, 1, … in the order in which they first
/// appear. The plotting crate numbers its clip paths through the whole process, so that the same
/// figure would not give the same bytes.
fn renumbered(text: &str, prefix: &str) -> String {
    let mut parts = text.split(prefix);
    let mut result = parts.next().unwrap_or_default().to_owned();
    let mut numbers: Vec<&str> = Vec::new();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = part.split_at(digits);
        let place = numbers.iter().position(|&known| known == number);
        let place = place.unwrap_or_else(|| {
            numbers.push(number);
            numbers.len() - 1
        });
        result.push_str(&format!("{prefix}{place}{rest}"));
    }
    result
}

pub(super) fn png(scene: &Scene, title: &str) -> Result<Vec<u8>, FigureError> {
    PngBackend::new()
        .with_scale(PNG_SCALE)
        .render_scene(scene)
        .map_err(|message| FigureError::Raster { title: title.to_owned(), message })
}

pub(super) fn save(scene: &Scene, title: &str, dir: &Path, stem: &str) -> Result<SavedPicture, FigureError> {
    let (text, pixels) = (svg(scene), png(scene, title)?);
    let saved = SavedPicture { svg: dir.join(format!("{stem}.svg")), png: dir.join(format!("{stem}.png")) };
    for (path, bytes) in [(&saved.svg, text.as_bytes()), (&saved.png, &pixels)] {
        write_whole(path, bytes).map_err(|source| FigureError::Write { path: path.clone(), source })?;
    }
    Ok(saved)
}

pub(super) fn single(figure: &Figure) -> Result<Scene, FigureError> {
    draw(figure, &Colours::assign(names(figure)), Frame::Alone)
}

/// The names of a figure in order, each with whether it is a dashed line's.
pub(super) fn names(figure: &Figure) -> Vec<(&str, bool)> {
    let series = figure.series.iter();
    let marks = figure.marks.iter().flat_map(|m| &m.marks);
    let bars = figure.bars.iter().flat_map(|b| &b.groups);
    series
        .map(|s| (s.name.as_str(), s.style == SeriesStyle::Dashed))
        .chain(marks.map(|m| (m.series.as_str(), false)))
        .chain(bars.map(|b| (b.name.as_str(), false)))
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

pub(super) fn draw(figure: &Figure, colours: &Colours, frame: Frame) -> Result<Scene, FigureError> {
    check(figure)?;
    let mut data = Data::new(figure).ok_or_else(|| FigureError::Empty { title: figure.title.clone() })?;
    let legend = match frame {
        Frame::Alone => legend::build(figure, colours),
        Frame::Panel { .. } => Vec::new(),
    };
    let mut layout = layout::build(figure, &data, frame, &legend);
    if figure.equal {
        let computed = ComputedLayout::from_layout(&layout);
        let room = |length: f64, before: f64, behind: f64| length - before - behind;
        let width = room(computed.width, computed.margin_left, computed.margin_right);
        let height = room(computed.height, computed.margin_top, computed.margin_bottom);
        axis::make_equal(&mut data.x_axis, &mut data.y_axis, width, height);
        layout = layout::build(figure, &data, frame, &legend);
    }
    let pixels = Pixels { computed: ComputedLayout::from_layout(&layout), x_axis: data.x_axis, y_axis: data.y_axis };
    let mut scene = render_multiple(plots(figure, &data, colours), layout);
    overlay::dashes(&mut scene, &data, colours, &pixels);
    overlay::whiskers(&mut scene, figure, &pixels);
    overlay::words(&mut scene, &data, &pixels);
    overlay::y_label(&mut scene, figure, &pixels);
    heat_map::bar(&mut scene, figure, &pixels);
    matrix::words(&mut scene, figure, &pixels);
    legend::column(&mut scene, &legend, &pixels.computed, heat_map::bar_width(figure));
    Ok(scene)
}

pub(super) fn check(figure: &Figure) -> Result<(), FigureError> {
    let title = || figure.title.clone();
    let same = |series: &str, what, expected, got| {
        if expected == got {
            Ok(())
        } else {
            Err(FigureError::Lengths { title: title(), series: series.to_owned(), what, expected, got })
        }
    };
    for s in &figure.series {
        same(&s.name, "y values", s.xs.len(), s.ys.len())?;
        if let Some((lower, upper)) = &s.interval {
            same(&s.name, "lower ends", s.xs.len(), lower.len())?;
            same(&s.name, "upper ends", s.xs.len(), upper.len())?;
        }
        if !s.labels.is_empty() {
            same(&s.name, "labels", s.xs.len(), s.labels.len())?;
        }
    }
    if let Some(bars) = &figure.bars {
        if figure.log_x || figure.log_y {
            return Err(FigureError::BarsOnLogAxis { title: title() });
        }
        for group in &bars.groups {
            let categories = bars.categories.len();
            same(&group.name, "bars", categories, group.heights.len())?;
            if let Some(errors) = &group.errors {
                same(&group.name, "bar errors", categories, errors.len())?;
            }
        }
    }
    if let Some(map) = &figure.heat_map {
        let cells = map.grid.columns * map.grid.rows;
        same("heat map", "cells", map.values.len(), cells)?;
        if cells == 0 || figure.log_x || figure.log_y {
            return Err(FigureError::HeatMap { title: title() });
        }
    }
    match figure.y_range {
        Some((low, high)) if !(low < high && drawable(low, figure.log_y) && drawable(high, figure.log_y)) => {
            Err(FigureError::Range { title: title(), low, high })
        }
        _ => Ok(()),
    }
}
