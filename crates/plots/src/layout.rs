//! Surroundings of the data: sizes, fonts, margins, the axes' dress.

use std::sync::Arc;

use kuva::TickFormat;
use kuva::render::layout::{AxisLabelOverlap, ComputedLayout, Layout};

use super::Figure;
use super::axis::{Axis, LABEL_GAP, LABEL_SIZE};
use super::heat_map;
use super::legend::{self, Legend};
use super::matrix;
use super::plots::Data;
use super::typeset::{plain, text_width, theme};

const PLOT_WIDTH: f64 = 600.0;
const PLOT_HEIGHT: f64 = 420.0;

/// Where a figure stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Frame {
    /// A picture of its own, with its legend.
    Alone,
    /// One of several; the legend is the picture's.
    Panel { width: f64, height: f64 },
}

/// Number of ticks of the horizontal axis, and their words.
fn x_ticks(figure: &Figure, axis: &Axis, room: f64) -> (usize, TickFormat) {
    let Some((first, words)) = &figure.x_words else { return (axis.ticks(room), axis.tick_format()) };
    let widest = words.iter().map(|word| text_width(word, LABEL_SIZE) + LABEL_GAP).fold(1.0, f64::max);
    let (first, words) = (*first, words.clone());
    let (ticks, apart) = axis.ticks_of_words(room, widest);
    let word = move |value: f64| {
        let is_multiple = (value / apart - (value / apart).round()).abs() < 1e-6;
        let place = Some(value - first).filter(|place| is_multiple && *place >= 0.0 && place.fract() == 0.0);
        place.and_then(|place| words.get(place as usize)).cloned().unwrap_or_default()
    };
    (ticks, TickFormat::Custom(Arc::new(word)))
}

pub(super) fn build(figure: &Figure, data: &Data<'_>, frame: Frame, legend: &Legend) -> Layout {
    let (x_axis, y_axis) = (&data.x_axis, &data.y_axis);
    let ((x_low, x_high), (y_low, y_high)) = (x_axis.placed_range(), y_axis.placed_range());
    let room = match frame {
        Frame::Alone => PLOT_WIDTH,
        Frame::Panel { width, .. } => width - 60.0,
    };
    let (ticks, x_format) = x_ticks(figure, x_axis, room);
    let mut layout = Layout::new((x_low, x_high), (y_low, y_high))
        .with_theme(theme())
        .with_ticks(ticks)
        .with_x_axis_min(x_low)
        .with_x_axis_max(x_high)
        .with_y_axis_min(y_low)
        .with_y_axis_max(y_high)
        .with_x_tick_format(x_format)
        .with_y_tick_format(y_axis.tick_format());
    layout.log_x = x_axis.log;
    layout.log_y = y_axis.log;
    let some = |text: &str| (!text.is_empty()).then(|| plain(text));
    layout.title = some(&figure.title);
    layout.x_label = some(&figure.x_label);
    match frame {
        Frame::Alone => sizes(&mut layout, [17, 15, 13, 14]),
        Frame::Panel { .. } => sizes(&mut layout, [15, 14, 12, 13]),
    }
    if figure.matrix.is_some() {
        (layout.suppress_x_ticks, layout.suppress_y_ticks) = (true, true);
        layout.show_grid = false;
    }
    if let Some(bars) = &figure.bars {
        layout.x_categories = Some(bars.categories.iter().map(|c| plain(c)).collect());
        layout.x_tick_format = TickFormat::Auto;
        if 2.0 * staggered_width(&layout) > room {
            layout.x_label_overlap = AxisLabelOverlap::Stagger;
        }
    }
    margins(&mut layout, figure, frame, legend);
    layout
}

fn sizes(layout: &mut Layout, [title, label, tick, body]: [u32; 4]) {
    layout.title_size = title;
    layout.label_size = label;
    layout.tick_size = tick;
    layout.body_size = body;
}

/// The plotting crate's margins, except for three things: the vertical axis' words stand above it
/// and not beside it, the legend takes its own width on the right, and no room is kept for words
/// that are not there.
fn margins(layout: &mut Layout, figure: &Figure, frame: Frame, legend: &Legend) {
    let label = f64::from(layout.label_size);
    if let Frame::Panel { width, .. } = frame {
        layout.title_wrap = Some((width / 9.5) as usize);
    } else {
        layout.title_wrap = Some(60);
    }
    let own = ComputedLayout::from_layout(layout);
    let left = own.y_tick_label_px.max(matrix::names_width(figure)) + 24.0;
    let right = own.margin_right + heat_map::bar_width(figure) + legend::width(legend);
    let above = if figure.y_label.is_empty() { 0.0 } else { label + 8.0 };
    let below = if figure.x_label.is_empty() { label } else { 0.0 };
    let named = if figure.matrix.is_some() { matrix::NAMES_BELOW } else { 0.0 };
    let (top, bottom) = (own.margin_top + above, own.margin_bottom - below + named);
    let (width, height) = match frame {
        Frame::Alone => {
            let plot_height = PLOT_HEIGHT.max(legend::height(legend));
            let plot_width = PLOT_WIDTH.max(staggered_width(layout));
            (left + plot_width + right, top + plot_height + bottom)
        }
        Frame::Panel { width, height } => (width, height),
    };
    layout.width = Some(width);
    layout.height = Some(height);
    layout.force_margin_left = Some(left);
    layout.force_margin_right = Some(right);
    layout.force_margin_top = Some(top);
    layout.force_margin_bottom = Some(bottom);
}

/// The width at which the categories' names have room in two rows.
fn staggered_width(layout: &Layout) -> f64 {
    let categories = layout.x_categories.iter().flatten();
    let widths = categories.map(|c| text_width(c, layout.tick_size));
    let (count, widest) = widths.fold((0.0, 0.0f64), |(n, most), w| (n + 1.0, most.max(w)));
    count * (widest + 16.0) / 2.0
}
