//! The look of lines and words, and how wide words are.

use kuva::plot::{LegendEntry, LegendShape};
use kuva::render::layout::Layout;
use kuva::render::theme::Theme;

/// Soft lines on white: the data are the darkest thing in the picture.
pub(super) fn theme() -> Theme {
    Theme {
        axis_color: "#555555".into(),
        tick_color: "#555555".into(),
        grid_color: "#e4e4e4".into(),
        text_color: "#222222".into(),
        legend_border: "none".into(),
        ..Theme::light()
    }
}

/// The plotting crate keeps its text measure to itself; the width it gives a legend tells it.
pub(super) fn text_width(text: &str, size: u32) -> f64 {
    let measure = |label: &str| {
        let mut layout = Layout::new((0.0, 1.0), (0.0, 1.0));
        layout.body_size = size;
        let entry =
            LegendEntry { label: label.to_owned(), color: String::new(), shape: LegendShape::Line, dasharray: None };
        layout.with_legend_entries(vec![entry]).legend_width
    };
    measure(text) - measure("")
}

/// A dollar sign is a dollar sign: the plotting crate would read it as the start of a formula.
pub(super) fn plain(text: &str) -> String {
    text.replace('$', "\\$")
}
