//! `--plot`: a picture of the result, written beside its place and then renamed.

#[cfg(feature = "plots")]
use std::path::Path;
use std::path::PathBuf;

use clap::Args;

use crate::report::failure::Failure;
#[cfg(feature = "plots")]
use crate::report::output::Aside;

/// Where the picture goes.
#[derive(Args)]
pub(crate) struct PlotArguments {
    /// Draw a picture of the result into this file, whose name ends in .svg or .png; it appears
    /// when the run is complete
    #[arg(long, value_name = "OUT.svg|OUT.png")]
    pub(crate) plot: Option<PathBuf>,
}

/// A picture that is to be drawn.
#[cfg(feature = "plots")]
pub(crate) struct PlotFile {
    file: Aside,
    format: mercer_plots::Format,
    place: String,
}

impl PlotArguments {
    /// The file, if one is wanted; `inputs` are read, and must not be written over.
    #[cfg(feature = "plots")]
    pub(crate) fn create(&self, inputs: &[&Path]) -> Result<Option<PlotFile>, Failure> {
        let Some(path) = &self.plot else { return Ok(None) };
        let place = path.display().to_string();
        let format = mercer_plots::Format::from_path(path)
            .map_err(|unknown| Failure::usage(format!("--plot {place:?}: {unknown}; give such a name")))?;
        let file = Aside::create_for("--plot", path, inputs, "")?;
        Ok(Some(PlotFile { file, format, place }))
    }

    /// Refuses what this program was built without.
    #[cfg(not(feature = "plots"))]
    pub(crate) fn refuse(&self) -> Result<(), Failure> {
        match self.plot {
            None => Ok(()),
            Some(_) => Err(Failure::usage(
                "--plot: this mercer was built without pictures; build it with the feature plots, or leave --plot out",
            )),
        }
    }
}

/// Data as a title says them: the name of the file without its folders.
#[cfg(feature = "plots")]
pub(crate) fn short_name(data: &str) -> String {
    Path::new(data).file_name().map_or(data.into(), |name| name.to_string_lossy()).into_owned()
}

#[cfg(feature = "plots")]
impl PlotFile {
    /// Draws the picture and puts it in its place.
    pub(crate) fn finish(self, picture: &mercer_plots::Panels) -> Result<(), Failure> {
        let Self { mut file, format, place } = self;
        let bytes = picture.bytes(format).map_err(|error| Failure::because(format!("{place}: {error}")))?;
        file.write_bytes(&bytes)?;
        file.finish()
    }
}
