//! Matrices: a heat map whose rows and columns have names and whose cells have words.

use kuva::render::render::{Primitive, Scene, TextAnchor};

use super::overlay::Pixels;
use super::typeset::{plain, text_width};
use super::{Figure, Grid, HeatMap, Scale};

const NAME_SIZE: u32 = 12;
const WORD_SIZE: u32 = 12;
/// Most letters of a row's name.
const MOST_LETTERS: usize = 14;
/// Height of the names of the columns below the axes.
pub(super) const NAMES_BELOW: f64 = 20.0;

/// Words in and around the cells.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Words {
    /// From bottom to top, as the cells are.
    rows: Vec<String>,
    columns: Vec<String>,
    cells: Vec<String>,
}

impl Figure {
    /// A table in colours, such as a confusion matrix: `values` row by row from the top, each with
    /// its word. Cells are white at the lowest value and blue at the highest. Long names are cut,
    /// and words that do not fit into a cell are left out.
    ///
    /// ```
    /// use mercer_plots::Figure;
    ///
    /// let counts = Figure::new("counts").matrix(&["cat", "dog"], &["cat", "dog"], &[0.9, 0.1, 0.2, 0.8], &["90", "10", "4", "16"]);
    /// assert!(counts.svg()?.contains(">16<"));
    /// # Ok::<(), mercer_plots::FigureError>(())
    /// ```
    #[must_use]
    pub fn matrix<L: AsRef<str>>(mut self, rows: &[L], columns: &[L], values: &[f64], words: &[L]) -> Self {
        let texts = |texts: &[L]| texts.iter().map(|text| text.as_ref().to_owned()).collect::<Vec<String>>();
        let mut names = texts(rows);
        names.reverse();
        let width = columns.len().max(1);
        let upward = |cells: &mut dyn Iterator<Item = Vec<usize>>| cells.flatten().collect::<Vec<usize>>();
        let places: Vec<usize> = (0..values.len()).collect();
        let order = upward(&mut places.chunks(width).rev().map(<[usize]>::to_vec));
        let words = texts(words);
        let cells = order.iter().map(|place| words.get(*place).cloned().unwrap_or_default()).collect();
        let grid = Grid {
            x_range: (0.5, columns.len() as f64 + 0.5),
            y_range: (0.5, rows.len() as f64 + 0.5),
            columns: columns.len(),
            rows: rows.len(),
        };
        let values = order.iter().map(|place| values[*place]).collect();
        self.heat_map = Some(HeatMap { grid, values, scale: Scale::Sequential });
        self.matrix = Some(Words { rows: names, columns: texts(columns), cells });
        self
    }
}

/// Width of the names of the rows beside the axes; zero without a matrix.
pub(super) fn names_width(figure: &Figure) -> f64 {
    let names = figure.matrix.iter().flat_map(|words| &words.rows);
    names.map(|name| text_width(&plain(&cut(name, MOST_LETTERS)), NAME_SIZE)).fold(0.0, f64::max)
}

/// A name of at most so many letters.
fn cut(name: &str, most: usize) -> String {
    match name.chars().count() > most {
        true => name.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

/// Draws the names and the words.
pub(super) fn words(scene: &mut Scene, figure: &Figure, pixels: &Pixels) {
    let (Some(words), Some(map)) = (&figure.matrix, &figure.heat_map) else { return };
    let computed = &pixels.computed;
    let (left, top) = (computed.margin_left, computed.margin_top);
    let (right, bottom) = (computed.width - computed.margin_right, computed.height - computed.margin_bottom);
    let (width, height) = ((right - left) / map.grid.columns as f64, (bottom - top) / map.grid.rows as f64);
    let middle = |size: u32| f64::from(size) * 0.36;
    let mut text = |content: String, size: u32, (x, y): (f64, f64), anchor: TextAnchor, white: bool| {
        let color = white.then(|| "#ffffff".into());
        scene.add(Primitive::Text { x, y, content: plain(&content), size, anchor, rotate: None, bold: false, color });
    };
    // Names of rows that are lower than a letter would run into each other.
    let every = (f64::from(NAME_SIZE) / height).ceil().max(1.0) as usize;
    for (i, name) in words.rows.iter().enumerate().filter(|(i, _)| i % every == 0) {
        let y = bottom - (i as f64 + 0.5) * height + middle(NAME_SIZE);
        text(cut(name, MOST_LETTERS), NAME_SIZE, (left - 8.0, y), TextAnchor::End, false);
    }
    let every = (26.0 / width).ceil().max(1.0) as usize;
    let letters = ((width * every as f64 - 6.0) / 7.0).max(1.0) as usize;
    for (j, name) in words.columns.iter().enumerate().filter(|(j, _)| j % every == 0) {
        let x = left + (j as f64 + 0.5) * width;
        text(cut(name, letters), NAME_SIZE, (x, bottom + 18.0), TextAnchor::Middle, false);
    }
    let (low, high) = map.ends();
    for (place, (word, value)) in words.cells.iter().zip(&map.values).enumerate() {
        let (i, j) = (place / map.grid.columns, place % map.grid.columns);
        if word.is_empty() || height < f64::from(WORD_SIZE) + 4.0 || text_width(word, WORD_SIZE) > width - 4.0 {
            continue;
        }
        let centre = (left + (j as f64 + 0.5) * width, bottom - (i as f64 + 0.5) * height + middle(WORD_SIZE));
        text(word.clone(), WORD_SIZE, centre, TextAnchor::Middle, (value - low) / (high - low) > 0.55);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_given_from_the_top_and_drawn_there() {
        let figure = Figure::new("").matrix(&["a", "b"], &["x", "y", "z"], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &["1"; 6]);
        let map = figure.heat_map.as_ref().unwrap();
        assert_eq!((map.grid.columns, map.grid.rows), (3, 2));
        assert_eq!(map.values, [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
        assert_eq!(figure.matrix.as_ref().unwrap().rows, ["b", "a"]);
        assert!(figure.svg().is_ok());
    }

    #[test]
    fn many_cells_and_long_names_are_drawn() {
        let names: Vec<String> = (0..60).map(|i| format!("a class with a long name, {i}")).collect();
        let values: Vec<f64> = (0..3600).map(f64::from).collect();
        let words: Vec<String> = values.iter().map(f64::to_string).collect();
        let svg = Figure::new("").matrix(&names, &names, &values, &words).svg().unwrap();
        assert!(svg.contains('…') && !svg.contains(">3599<"));
        assert_eq!(cut("çédille", 4), "çéd…");
    }
}
