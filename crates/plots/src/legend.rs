//! Legends: what they say, and their two forms, a column beside a figure and rows below a grid.

use kuva::plot::{LegendEntry, LegendShape, MarkerShape};
use kuva::render::layout::ComputedLayout;
use kuva::render::render::{Primitive, Scene, TextAnchor, render_legend_at};

use super::palette::{Colours, NEUTRAL};
use super::plots::{mark_groups, shape};
use super::typeset::{plain, text_width, theme};
use super::{Figure, SeriesStyle};

const SIZE: u32 = 14;
const ROW: f64 = 22.0;
/// Height of a heading with the space above it.
const HEADING: f64 = 32.0;
/// Width of an entry besides its words: the swatch before them and the space behind.
const SWATCH: f64 = 48.0;

/// Entries under their headings; a group without a heading has an empty one.
pub(super) type Legend = Vec<(String, Vec<LegendEntry>)>;

/// The legend of a figure. Empty names have no entry, and a name that is drawn twice has one.
pub(super) fn build(figure: &Figure, colours: &Colours) -> Legend {
    let entry = |name: &str, dashed: bool, shape: LegendShape| LegendEntry {
        label: plain(name),
        color: colours.get(name, dashed).unwrap_or(NEUTRAL).to_string(),
        shape,
        dasharray: dashed.then(|| "4 4".to_owned()),
    };
    let circle = LegendShape::Marker(MarkerShape::Circle);
    let series = figure.series.iter().map(|s| match s.style {
        SeriesStyle::Points | SeriesStyle::Dots => entry(&s.name, false, circle),
        SeriesStyle::Line => entry(&s.name, false, LegendShape::Line),
        SeriesStyle::Dashed => entry(&s.name, true, LegendShape::Line),
    });
    let bars = figure.bars.iter().flat_map(|b| &b.groups);
    let bars = bars.map(|group| entry(&group.name, false, LegendShape::Rect));
    let mut legend = vec![(String::new(), series.chain(bars).collect())];
    if let Some(marks) = &figure.marks {
        let series = marks.marks.iter().map(|m| entry(&m.series, false, circle));
        legend.push((plain(&marks.series_title), series.collect()));
        let groups = mark_groups(figure).into_iter().enumerate();
        let groups = groups.map(|(i, group)| LegendEntry {
            label: plain(group),
            color: NEUTRAL.to_string(),
            shape: LegendShape::Marker(shape(i)),
            dasharray: None,
        });
        legend.push((plain(&marks.group_title), groups.collect()));
    }
    for (_, entries) in &mut legend {
        *entries = distinct(std::mem::take(entries));
    }
    legend.retain(|(_, entries)| !entries.is_empty());
    legend
}

/// The entries that say something new: no empty words, none twice.
pub(super) fn distinct(entries: impl IntoIterator<Item = LegendEntry>) -> Vec<LegendEntry> {
    let mut result: Vec<LegendEntry> = Vec::new();
    for entry in entries {
        let same = |e: &LegendEntry| e.label == entry.label && e.dasharray == entry.dasharray;
        if !entry.label.is_empty() && !result.iter().any(same) {
            result.push(entry);
        }
    }
    result
}

fn entry_width(entry: &LegendEntry) -> f64 {
    text_width(&entry.label, SIZE) + SWATCH
}

/// Width of the column; zero without entries.
pub(super) fn width(legend: &Legend) -> f64 {
    let entries = legend.iter().flat_map(|(_, entries)| entries);
    let headings = legend.iter().map(|(heading, _)| text_width(heading, SIZE));
    entries.map(entry_width).chain(headings).fold(0.0, f64::max)
}

/// Height of the column.
pub(super) fn height(legend: &Legend) -> f64 {
    let group = |(heading, entries): &(String, Vec<LegendEntry>)| {
        entries.len() as f64 * ROW + if heading.is_empty() { 0.0 } else { HEADING }
    };
    legend.iter().map(group).sum()
}

/// Draws the legend as a column into the right margin.
/// `beside` is what stands between the axes and the legend.
pub(super) fn column(scene: &mut Scene, legend: &Legend, computed: &ComputedLayout, beside: f64) {
    let x = computed.width - computed.margin_right + 12.0 + beside;
    let mut y = computed.margin_top + ROW / 2.0;
    for (i, (heading, entries)) in legend.iter().enumerate() {
        if !heading.is_empty() {
            let gap = if i == 0 { 0.0 } else { HEADING - ROW };
            scene.add(Primitive::Text {
                x: x + 5.0,
                y: y + gap + f64::from(SIZE) / 3.0,
                content: heading.clone(),
                size: SIZE,
                anchor: TextAnchor::Start,
                rotate: None,
                bold: true,
                color: None,
            });
            y += gap + ROW;
        }
        for entry in entries {
            draw(scene, entry, x, y);
            y += ROW;
        }
    }
}

/// Draws the entries in centred rows of about equal length from `top` down; gives the height they
/// take. Without a scene they are only measured.
pub(super) fn rows(scene: Option<&mut Scene>, entries: &[LegendEntry], width: f64, top: f64) -> f64 {
    let room = width - SWATCH;
    let total: f64 = entries.iter().map(entry_width).sum();
    let longest = entries.iter().map(entry_width).fold(0.0, f64::max);
    // The least number of rows, each with its share of the whole and what the last entry may stick
    // out.
    let limit = room.min(total / (total / room).ceil().max(1.0) + longest / 2.0);
    let mut rows: Vec<(Vec<&LegendEntry>, f64)> = Vec::new();
    for entry in entries {
        let room = entry_width(entry);
        match rows.last_mut() {
            Some((row, length)) if *length + room <= limit => {
                row.push(entry);
                *length += room;
            }
            _ => rows.push((vec![entry], room)),
        }
    }
    let height = rows.len() as f64 * ROW;
    if let Some(scene) = scene {
        for (i, (row, length)) in rows.iter().enumerate() {
            let mut x = (width - length) / 2.0;
            for entry in row {
                draw(scene, entry, x, top + (i as f64 + 0.5) * ROW);
                x += entry_width(entry);
            }
        }
    }
    height
}

/// One entry whose middle line is at `y`.
fn draw(scene: &mut Scene, entry: &LegendEntry, x: f64, y: f64) {
    let mut shown = entry.clone();
    if matches!(entry.shape, LegendShape::Line) {
        // The plotting crate's sample is too short to show a dash.
        let dashes: &[(f64, f64)] =
            if entry.dasharray.is_some() { &[(1.0, 8.0), (13.0, 20.0)] } else { &[(1.0, 20.0)] };
        for (from, to) in dashes {
            scene.add(Primitive::Line {
                x1: x + from,
                y1: y,
                x2: x + to,
                y2: y,
                stroke: entry.color.as_str().into(),
                stroke_width: 2.2,
                stroke_dasharray: None,
            });
        }
        shown.color = "none".to_owned();
    }
    // The plotting crate centres an entry five units below the height it is told.
    let (one, top, theme) = (std::slice::from_ref(&shown), y - 5.0, theme());
    render_legend_at(one, None, None, false, scene, x, top, 0.0, SIZE, &theme);
}
