//! Several figures in one picture, with one legend below them.

use std::path::Path;

use kuva::render::render::{Primitive, Scene, TextAnchor};

use super::layout::Frame;
use super::palette::Colours;
use super::typeset;
use super::{Figure, FigureError, SavedPicture, legend, render};

const PANEL_WIDTH: f64 = 450.0;
const PANEL_HEIGHT: f64 = 350.0;
const GAP: f64 = 14.0;
const TITLE_SIZE: u32 = 18;
const TITLE_HEIGHT: f64 = 36.0;

/// A grid of figures, filled row by row. A name has one colour in all of them, and one entry in the
/// legend below.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Panels {
    pub(super) title: String,
    columns: usize,
    pub(super) figures: Vec<Figure>,
}

impl Panels {
    /// An empty grid of `columns` (at least one) columns. The title may be empty.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: usize) -> Self {
        Self { title: title.into(), columns: columns.max(1), figures: Vec::new() }
    }

    /// Puts a figure on the next free place.
    #[must_use]
    pub fn panel(mut self, figure: Figure) -> Self {
        self.figures.push(figure);
        self
    }

    /// As [`Figure::thinned`], panel by panel.
    #[must_use]
    pub fn thinned(&self) -> Self {
        let figures = self.figures.iter().map(Figure::thinned).collect();
        Self { figures, title: self.title.clone(), columns: self.columns }
    }

    /// The picture as SVG text.
    ///
    /// # Errors
    /// [`FigureError`] of the first panel that cannot be drawn; `Empty` without a panel.
    pub fn svg(&self) -> Result<String, FigureError> {
        Ok(render::svg(&self.scene()?))
    }

    /// The picture as PNG bytes, at twice the SVG's size.
    ///
    /// # Errors
    /// As [`Panels::svg`].
    pub fn png(&self) -> Result<Vec<u8>, FigureError> {
        render::png(&self.scene()?, &self.title)
    }

    /// Writes `stem.svg` and `stem.png` into `dir`, as [`Figure::save`] does.
    ///
    /// # Errors
    /// As [`Figure::save`].
    pub fn save(&self, dir: impl AsRef<Path>, stem: &str) -> Result<SavedPicture, FigureError> {
        render::save(&self.scene()?, &self.title, dir.as_ref(), stem)
    }

    fn scene(&self) -> Result<Scene, FigureError> {
        if self.figures.is_empty() {
            return Err(FigureError::Empty { title: self.title.clone() });
        }
        let colours = Colours::assign(self.figures.iter().flat_map(render::names));
        let frame = Frame::Panel { width: PANEL_WIDTH, height: PANEL_HEIGHT };
        let columns = self.columns.min(self.figures.len());
        let rows = self.figures.len().div_ceil(columns);
        let width = GAP + columns as f64 * (PANEL_WIDTH + GAP);
        let top = if self.title.is_empty() { GAP } else { TITLE_HEIGHT + GAP / 2.0 };
        let bottom = top + rows as f64 * (PANEL_HEIGHT + GAP);
        let entries = self.figures.iter().flat_map(|f| legend::build(f, &colours));
        let entries = legend::distinct(entries.flat_map(|(_, entries)| entries));
        let height = bottom + legend::rows(None, &entries, width, bottom) + GAP;

        let theme = typeset::theme();
        let mut scene = Scene::new(width, height);
        scene.background_color = Some(theme.background.clone());
        scene.text_color = Some(theme.text_color.clone());
        if !self.title.is_empty() {
            scene.add(Primitive::Text {
                x: width / 2.0,
                y: TITLE_HEIGHT - f64::from(TITLE_SIZE) / 2.0,
                content: typeset::plain(&self.title),
                size: TITLE_SIZE,
                anchor: TextAnchor::Middle,
                rotate: None,
                bold: false,
                color: None,
            });
        }
        for (i, figure) in self.figures.iter().enumerate() {
            let x = GAP + (i % columns) as f64 * (PANEL_WIDTH + GAP);
            let y = top + (i / columns) as f64 * (PANEL_HEIGHT + GAP);
            let panel = render::draw(figure, &colours, frame)?;
            scene.font_family = panel.font_family;
            scene.defs.extend(panel.defs);
            scene.add(Primitive::GroupStart {
                transform: Some(format!("translate({x},{y})")),
                title: None,
                extra_attrs: None,
            });
            for element in panel.elements {
                scene.add(element);
            }
            scene.add(Primitive::GroupEnd);
        }
        legend::rows(Some(&mut scene), &entries, width, bottom);
        Ok(scene)
    }
}
