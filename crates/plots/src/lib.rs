//! Pictures of learning: curves with bands, points, bars, heat maps, and grids of them, as SVG and
//! PNG.
//!
//! A [`Figure`] has one pair of axes, and [`Panels`] has several. [`learning_curves`] draws several
//! learners into one figure. No other crate of Mercer knows the plotting library behind this one.
//! It adds:
//!
//! - one palette, in which a learner has the same colour everywhere ([`palette`]);
//! - ranges and tick labels that suit losses and step counts;
//! - lines thinned to 400 points, without samples that cannot be drawn (not finite, or not positive
//!   on a logarithmic axis);
//! - legends beside the curves, never on them.
//!
//! The same figure gives the same bytes.
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(test),
    warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)
)]

use std::path::{Path, PathBuf};

mod axis;
mod curves;
#[cfg(feature = "serde")]
pub mod exact;
mod format;
mod heat_map;
mod layout;
mod legend;
mod matrix;
mod overlay;
pub mod palette;
mod panels;
mod plots;
mod prepare;
mod render;
mod rows;
mod typeset;
mod whole;

pub use curves::{Curve, Score, learning_curves};
pub use format::{Format, UnknownFormat};
pub use heat_map::{Grid, HeatMap, Scale};
pub use panels::Panels;
pub use rows::{Row, decimals_of, significant};
pub use whole::write_whole;

/// Why a picture could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// No series has a single point that can be drawn.
    #[error(
        "figure {title:?}: nothing to draw; give at least one finite \
         point (positive ones along a logarithmic axis)"
    )]
    Empty {
        /// The figure's title.
        title: String,
    },
    /// Slices that go together differ in length.
    #[error("figure {title:?}, series {series:?}: {expected} x values but {got} {what}; give as many of each")]
    Lengths {
        /// The figure's title.
        title: String,
        /// The series' name.
        series: String,
        /// The kind of the values in the other slice.
        what: &'static str,
        /// Length of the first slice.
        expected: usize,
        /// Length of the other one.
        got: usize,
    },
    /// A heat map without cells, or on a logarithmic axis.
    #[error("figure {title:?}: a heat map needs at least one cell and linear axes")]
    HeatMap {
        /// The figure's title.
        title: String,
    },
    /// A range asked for is not one.
    #[error(
        "figure {title:?}: the y range from {low} to {high} is not one; give finite \
         limits, low before high, and positive ones along a logarithmic axis"
    )]
    Range {
        /// The figure's title.
        title: String,
        /// Lower limit.
        low: f64,
        /// Upper limit.
        high: f64,
    },
    /// Bars start at zero, which a logarithmic axis does not have.
    #[error("figure {title:?}: bars cannot stand on a logarithmic axis; draw points instead")]
    BarsOnLogAxis {
        /// The figure's title.
        title: String,
    },
    /// The plotting crate could not make the PNG.
    #[error("figure {title:?}: the PNG could not be made: {message}")]
    Raster {
        /// The figure's title.
        title: String,
        /// The plotting crate's own words.
        message: String,
    },
    /// A file could not be written.
    #[error("cannot write {path:?}: {source}; check the folder and the space left", path = path.display().to_string())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// The two files of a saved picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPicture {
    /// For papers and pages.
    pub svg: PathBuf,
    /// At twice the size, for everything else.
    pub png: PathBuf,
}

/// One point of a cloud told apart by two things: the colour says the series (a learner), the shape
/// the group (a data set).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mark {
    /// Says the colour.
    pub series: String,
    /// Says the shape.
    pub group: String,
    /// Horizontal place.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    pub x: f64,
    /// Vertical place.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    pub y: f64,
    /// Half the height of the error bar, if there is one.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    pub y_error: Option<f64>,
}

/// One picture with one pair of axes. Built by chained calls; mistakes are reported when it is
/// drawn.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Figure {
    title: String,
    x_label: String,
    /// The place of the first word along the horizontal axis, and the words at it and at each unit
    /// after it.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    x_words: Option<(f64, Vec<String>)>,
    y_label: String,
    log_x: bool,
    log_y: bool,
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    y_range: Option<(f64, f64)>,
    series: Vec<PlotSeries>,
    heat_map: Option<HeatMap>,
    /// The names and words of a heat map that is a matrix.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    matrix: Option<matrix::Words>,
    /// True if a unit is as long upwards as to the right.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    equal: bool,
    marks: Option<Marks>,
    bars: Option<Bars>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct PlotSeries {
    name: String,
    style: SeriesStyle,
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    xs: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    ys: Vec<f64>,
    /// Lower and upper ends of the band or the error bars.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    interval: Option<(Vec<f64>, Vec<f64>)>,
    labels: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
enum SeriesStyle {
    Line,
    Dashed,
    Points,
    Dots,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Marks {
    series_title: String,
    group_title: String,
    marks: Vec<Mark>,
}

#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Bars {
    categories: Vec<String>,
    groups: Vec<BarSeries>,
}

/// The bars of one name, one a category.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct BarSeries {
    name: String,
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    heights: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    errors: Option<Vec<f64>>,
}

impl Figure {
    /// An empty figure. The title may be empty.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Words under the horizontal axis.
    #[must_use]
    pub fn x_label(mut self, label: impl Into<String>) -> Self {
        self.x_label = label.into();
        self
    }

    /// Words instead of numbers along a linear horizontal axis, such as dates: at `first` and at
    /// each unit after it.
    #[must_use]
    pub fn x_words(mut self, first: f64, words: Vec<String>) -> Self {
        self.x_words = Some((first, words));
        self
    }

    /// Words above the vertical axis.
    #[must_use]
    pub fn y_label(mut self, label: impl Into<String>) -> Self {
        self.y_label = label.into();
        self
    }

    /// A logarithmic horizontal axis.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// A logarithmic vertical axis.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// Makes a unit as long upwards as to the right, so that circles are round: the axis with more
    /// room shows more. For linear axes.
    #[must_use]
    pub fn equal_units(mut self) -> Self {
        self.equal = true;
        self
    }

    /// Shows only heights from `low` to `high`; lines are cut at the frame, points outside are left
    /// out. For figures in which one learner runs away from the others. Under bars the range is
    /// widened to hold zero.
    #[must_use]
    pub fn y_range(mut self, low: f64, high: f64) -> Self {
        self.y_range = Some((low, high));
        self
    }

    /// A solid line through the points.
    #[must_use]
    pub fn line(self, name: impl Into<String>, xs: &[f64], ys: &[f64]) -> Self {
        self.add(name.into(), SeriesStyle::Line, xs, ys, None)
    }

    /// A solid line with a shaded band from `lower` to `upper` (a standard deviation, an interval).
    #[must_use]
    pub fn line_with_band(self, name: impl Into<String>, xs: &[f64], ys: &[f64], lower: &[f64], upper: &[f64]) -> Self {
        let band = Some((lower.to_vec(), upper.to_vec()));
        self.add(name.into(), SeriesStyle::Line, xs, ys, band)
    }

    /// A dashed line: a bound or a guide. Named after a learner it has the learner's colour,
    /// otherwise a dark grey.
    #[must_use]
    pub fn dashed(self, name: impl Into<String>, xs: &[f64], ys: &[f64]) -> Self {
        self.add(name.into(), SeriesStyle::Dashed, xs, ys, None)
    }

    /// Points without a line.
    #[must_use]
    pub fn points(self, name: impl Into<String>, xs: &[f64], ys: &[f64]) -> Self {
        self.add(name.into(), SeriesStyle::Points, xs, ys, None)
    }

    /// Small points without a line, for many of them or for values beside a line.
    #[must_use]
    pub fn dots(self, name: impl Into<String>, xs: &[f64], ys: &[f64]) -> Self {
        self.add(name.into(), SeriesStyle::Dots, xs, ys, None)
    }

    /// Points with vertical error bars from `y − error` to `y + error`.
    #[must_use]
    pub fn points_with_error_bars(self, name: impl Into<String>, xs: &[f64], ys: &[f64], errors: &[f64]) -> Self {
        // As many ends as errors, so that drawing can report a wrong number of them.
        let ends = |sign: f64| {
            let end = |(i, e): (usize, &f64)| ys.get(i).map_or(f64::NAN, |y| y + sign * e);
            errors.iter().enumerate().map(end).collect()
        };
        let interval = (ends(-1.0), ends(1.0));
        self.add(name.into(), SeriesStyle::Points, xs, ys, Some(interval))
    }

    /// Points with a word beside each; the words keep clear of each other.
    #[must_use]
    pub fn labelled_points<L: AsRef<str>>(self, name: impl Into<String>, xs: &[f64], ys: &[f64], labels: &[L]) -> Self {
        let mut result = self.add(name.into(), SeriesStyle::Points, xs, ys, None);
        if let Some(series) = result.series.last_mut() {
            series.labels = labels.iter().map(|l| l.as_ref().to_owned()).collect();
        }
        result
    }

    /// A cloud of points told apart by colour (headed `series_title` in the legend) and shape
    /// (headed `group_title`).
    #[must_use]
    pub fn marks(mut self, series_title: impl Into<String>, group_title: impl Into<String>, marks: Vec<Mark>) -> Self {
        self.marks = Some(Marks { series_title: series_title.into(), group_title: group_title.into(), marks });
        self
    }

    /// Colours behind everything else. The axes are the grid's; what lies outside of them is left
    /// out.
    #[must_use]
    pub fn heat_map(mut self, map: HeatMap) -> Self {
        self.heat_map = Some(map);
        self
    }

    /// The categories that [`Figure::bars`] stand over, from left to right. They number 1, 2, … on
    /// the horizontal axis, so that lines and points can be drawn over them.
    #[must_use]
    pub fn categories<L: AsRef<str>>(mut self, categories: &[L]) -> Self {
        self.bars.get_or_insert_default().categories = categories.iter().map(|c| c.as_ref().to_owned()).collect();
        self
    }

    /// One bar a category; several calls stand side by side. Heights that are not finite leave a
    /// gap. Bars with an empty name take their colours from the categories (learners, say) and have
    /// no legend.
    #[must_use]
    pub fn bars(self, name: impl Into<String>, heights: &[f64]) -> Self {
        self.add_bars(name.into(), heights, None)
    }

    /// Bars with whiskers from `height − error` to `height + error`.
    #[must_use]
    pub fn bars_with_errors(self, name: impl Into<String>, heights: &[f64], errors: &[f64]) -> Self {
        self.add_bars(name.into(), heights, Some(errors.to_vec()))
    }

    /// The picture as SVG text.
    ///
    /// # Errors
    /// [`FigureError`] when the figure is empty or its parts do not fit together.
    pub fn svg(&self) -> Result<String, FigureError> {
        Ok(render::svg(&render::single(self)?))
    }

    /// The picture as PNG bytes, at twice the SVG's size.
    ///
    /// # Errors
    /// [`FigureError`] when the figure is empty or its parts do not fit together.
    pub fn png(&self) -> Result<Vec<u8>, FigureError> {
        render::png(&render::single(self)?, &self.title)
    }

    /// Writes `stem.svg` and `stem.png` into `dir`, which is made if missing. Nothing is written if
    /// the picture cannot be made, and a file that exists is replaced as a whole or not at all.
    ///
    /// # Errors
    /// [`FigureError`] when the figure cannot be drawn or a file cannot be written.
    pub fn save(&self, dir: impl AsRef<Path>, stem: &str) -> Result<SavedPicture, FigureError> {
        render::save(&render::single(self)?, &self.title, dir.as_ref(), stem)
    }

    fn add(
        mut self,
        name: String,
        style: SeriesStyle,
        xs: &[f64],
        ys: &[f64],
        interval: Option<(Vec<f64>, Vec<f64>)>,
    ) -> Self {
        self.series.push(PlotSeries { name, style, xs: xs.to_vec(), ys: ys.to_vec(), interval, labels: Vec::new() });
        self
    }

    fn add_bars(mut self, name: String, heights: &[f64], errors: Option<Vec<f64>>) -> Self {
        self.bars.get_or_insert_default().groups.push(BarSeries { name, heights: heights.to_vec(), errors });
        self
    }
}

#[cfg(test)]
mod tests;
