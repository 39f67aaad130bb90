//! The kinds of files that pictures are.

use std::fmt;
use std::path::Path;

use super::{Figure, FigureError, Panels};

/// File format of a picture, told by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable vector graphics, text for browsers and papers.
    Svg,
    /// Pixels, two for each unit of the SVG.
    Png,
}

/// A name whose ending is none of a picture's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat {
    ending: Option<String>,
}

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ending {
            Some(ending) => write!(f, "a picture ends in .svg or .png, not in .{}", ending.escape_debug()),
            None => f.write_str("a picture ends in .svg or .png, and this name has no ending"),
        }
    }
}

impl std::error::Error for UnknownFormat {}

impl Format {
    /// The format that a file of this name has; upper and lower case are the same.
    ///
    /// # Errors
    /// [`UnknownFormat`] when the name ends in neither `.svg` nor `.png`.
    pub fn from_path(path: &Path) -> Result<Self, UnknownFormat> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(UnknownFormat { ending }),
        }
    }
}

impl Figure {
    /// The bytes of a file of that format.
    ///
    /// # Errors
    /// As [`Figure::svg`] and [`Figure::png`].
    pub fn bytes(&self, format: Format) -> Result<Vec<u8>, FigureError> {
        match format {
            Format::Svg => Ok(self.svg()?.into_bytes()),
            Format::Png => self.png(),
        }
    }
}

impl Panels {
    /// The bytes of a file of that format.
    ///
    /// # Errors
    /// As [`Panels::svg`] and [`Panels::png`].
    pub fn bytes(&self, format: Format) -> Result<Vec<u8>, FigureError> {
        match format {
            Format::Svg => Ok(self.svg()?.into_bytes()),
            Format::Png => self.png(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_formats() {
        assert_eq!(Format::from_path(Path::new("a/b.SVG")), Ok(Format::Svg));
        assert_eq!(Format::from_path(Path::new("b.tar.png")), Ok(Format::Png));
        let refused = |name: &str| Format::from_path(Path::new(name)).unwrap_err().to_string();
        assert_eq!(refused("out.pdf"), "a picture ends in .svg or .png, not in .pdf");
        assert_eq!(refused("png"), "a picture ends in .svg or .png, and this name has no ending");
    }
}
