//! Heat maps: a function of two variables in colours, behind whatever else a figure shows.

use std::sync::Arc;

use kuva::plot::{ColorMap, Heatmap};
use kuva::render::plots::Plot;
use kuva::render::render::{Primitive, Scene, TextAnchor};

use super::Figure;
use super::axis::Axis;
use super::overlay::{Pixels, text};
use super::palette::{NEUTRAL, set_colour};
use super::typeset::text_width;

/// Width of the bar that says what the colours mean.
const BAR: f64 = 14.0;
/// Room for the bar beside the axes, without its words.
const BAR_ROOM: f64 = BAR + 20.0;
/// Steps of a colour scale. Fewer than an eye can tell make a smaller file.
const STEPS: usize = 96;
const WORD_SIZE: u32 = 12;

/// A rectangle cut into equal cells, `columns` by `rows`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Grid {
    /// From the left edge to the right one.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    pub x_range: (f64, f64),
    /// From the lower edge to the upper one.
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    pub y_range: (f64, f64),
    /// Cells from left to right.
    pub columns: usize,
    /// Cells from bottom to top.
    pub rows: usize,
}

impl Grid {
    /// A square around the origin with sides of twice `half_side`, cut into `cells` by `cells`.
    #[must_use]
    pub fn square(half_side: f64, cells: usize) -> Self {
        let range = (-half_side, half_side);
        Self { x_range: range, y_range: range, columns: cells, rows: cells }
    }

    /// The cells' centres, row by row from the bottom, each from left to right: the order of a
    /// map's values.
    #[must_use]
    pub fn centres(&self) -> Vec<[f64; 2]> {
        let at = |(low, high): (f64, f64), i: usize, of: usize| low + (high - low) * (i as f64 + 0.5) / of as f64;
        let row =
            |j| (0..self.columns).map(move |i| [at(self.x_range, i, self.columns), at(self.y_range, j, self.rows)]);
        (0..self.rows).flat_map(row).collect()
    }

    pub(super) fn axes(&self) -> (Axis, Axis) {
        let axis = |(low, high)| Axis { low, high, log: false };
        (axis(self.x_range), axis(self.y_range))
    }
}

/// Scale that turns values into colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Scale {
    /// From white (the lowest value) to dark blue (the highest).
    Sequential,
    /// From blue over white (zero) to red, as far below zero as above.
    Diverging,
    /// Values 0, 1, 2, … are numbers of sets, each with a colour of its own.
    Sets,
}

/// The values of a function on a grid; what is not finite stays grey.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HeatMap {
    /// The cells.
    pub grid: Grid,
    /// A value a cell, in the order of [`Grid::centres`].
    #[cfg_attr(feature = "serde", serde(with = "crate::exact"))]
    pub values: Vec<f64>,
    /// Their colours.
    pub scale: Scale,
}

impl HeatMap {
    /// The values at the two ends of the scale.
    pub(super) fn ends(&self) -> (f64, f64) {
        let finite = self.values.iter().copied().filter(|v| v.is_finite());
        match self.scale {
            Scale::Diverging => {
                let most = finite.map(f64::abs).fold(f64::MIN_POSITIVE, f64::max);
                (-most, most)
            }
            Scale::Sequential | Scale::Sets => {
                let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
                if low < high { (low, high) } else { (low.min(0.0), low.max(0.0) + 1.0) }
            }
        }
    }

    /// The colour at a share of the scale.
    fn colour(&self, share: f64) -> String {
        let stepped = (share * (STEPS - 1) as f64).round() / (STEPS - 1) as f64;
        match self.scale {
            Scale::Sequential => ColorMap::Blues.map(0.85 * stepped),
            // The plotting crate's scale runs from red to blue.
            Scale::Diverging => ColorMap::RedBlue.map(1.0 - stepped),
            Scale::Sets => NEUTRAL.to_string(),
        }
    }

    /// The colour of a cell with this value, on a scale with these ends.
    pub(super) fn cell_colour(&self, value: f64, ends: (f64, f64)) -> String {
        match self.scale {
            _ if !value.is_finite() => NEUTRAL.tint(0.6).to_string(),
            Scale::Sets => set_colour(value as usize).to_string(),
            _ => self.colour((value - ends.0) / (ends.1 - ends.0)),
        }
    }

    pub(super) fn plot(&self) -> Plot {
        let ends = self.ends();
        // The plotting crate stretches what it is given from 0 to 1: the cells are given their
        // places in a list of colours.
        let (mut colours, mut cells) = (Vec::new(), Vec::with_capacity(self.values.len()));
        for value in &self.values {
            let colour = self.cell_colour(*value, ends);
            let place = colours.iter().position(|known| *known == colour).unwrap_or_else(|| {
                colours.push(colour);
                colours.len() - 1
            });
            cells.push(place as f64);
        }
        let last = colours.len().saturating_sub(1);
        let pick = move |share: f64| colours[((share * last as f64).round() as usize).min(last)].clone();
        let mut map = Heatmap::new()
            .with_data(cells.chunks(self.grid.columns.max(1)).map(<[f64]>::to_vec))
            .with_color_map(ColorMap::Custom(Arc::new(pick)));
        map.x_range = Some(self.grid.x_range);
        map.y_range = Some(self.grid.y_range);
        map.cell_size = 1.0;
        Plot::Heatmap(map)
    }

    /// The bar's words with their places, 0 below and 1 above.
    fn words(&self) -> Vec<(f64, String)> {
        let (low, high) = self.ends();
        let largest = low.abs().max(high.abs());
        let decimals = (1 - largest.log10().floor() as i32).clamp(0, 6) as usize;
        let say = |value: f64| format!("{value:.decimals$}").replace('-', "−");
        [0.0, 0.5, 1.0].map(|share| (share, say(low + share * (high - low)))).to_vec()
    }
}

/// The heat map, if a bar says what its colours mean: neither sets nor a matrix, whose cells say
/// it.
fn scaled(figure: &Figure) -> Option<&HeatMap> {
    figure.heat_map.as_ref().filter(|map| map.scale != Scale::Sets && figure.matrix.is_none())
}

/// The width that the bar of a figure takes on the right; zero without one.
pub(super) fn bar_width(figure: &Figure) -> f64 {
    scaled(figure).map_or(0.0, |map| {
        let words = map.words().into_iter().map(|(_, word)| text_width(&word, WORD_SIZE));
        BAR_ROOM + words.fold(0.0, f64::max)
    })
}

/// Draws the bar beside the axes.
pub(super) fn bar(scene: &mut Scene, figure: &Figure, pixels: &Pixels) {
    let Some(map) = scaled(figure) else { return };
    let computed = &pixels.computed;
    let x = computed.width - computed.margin_right + 12.0;
    let (top, bottom) = (computed.margin_top, computed.height - computed.margin_bottom);
    let step = (bottom - top) / STEPS as f64;
    for i in 0..STEPS {
        scene.add(Primitive::Rect {
            x,
            y: bottom - (i + 1) as f64 * step,
            width: BAR,
            // Over the seam to the one below, which smoothing would let through.
            height: step + if i == 0 { 0.0 } else { 0.5 },
            fill: map.colour(i as f64 / (STEPS - 1) as f64).as_str().into(),
            stroke: None,
            stroke_width: None,
            opacity: None,
        });
    }
    for (share, word) in map.words() {
        let y = (bottom - share * (bottom - top) + f64::from(WORD_SIZE) * 0.36).clamp(top + 8.0, bottom);
        text(scene, &word, WORD_SIZE, (x + BAR + 5.0, y), TextAnchor::Start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centres_run_from_the_lower_left() {
        let grid = Grid { x_range: (0.0, 4.0), y_range: (-1.0, 1.0), columns: 2, rows: 2 };
        assert_eq!(grid.centres(), [[1.0, -0.5], [3.0, -0.5], [1.0, 0.5], [3.0, 0.5]]);
        assert_eq!(Grid::square(2.0, 61).centres()[61 * 30 + 30], [0.0, 0.0]);
    }

    #[test]
    fn scales_have_their_ends_and_zero_is_white() {
        let map = |scale, values: [f64; 4]| HeatMap { grid: Grid::square(1.0, 2), values: values.to_vec(), scale };
        let diverging = map(Scale::Diverging, [-0.5, 0.0, 2.0, f64::NAN]);
        assert_eq!(diverging.ends(), (-2.0, 2.0));
        let channels = |colour: String| [1, 3, 5].map(|i| u8::from_str_radix(&colour[i..i + 2], 16).unwrap());
        assert!(channels(diverging.colour(0.5)).iter().all(|channel| *channel > 235));
        let (blue, red) = (channels(diverging.colour(0.0)), channels(diverging.colour(1.0)));
        assert!(blue[2] > blue[0] && red[0] > red[2]);
        assert_eq!(map(Scale::Sequential, [3.0, 1.0, 2.0, 5.0]).ends(), (1.0, 5.0));
        assert_eq!(map(Scale::Sequential, [3.0; 4]).ends(), (0.0, 4.0));
        assert_eq!(diverging.words()[0].1, "−2.0");
    }
}
