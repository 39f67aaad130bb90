//! The words of a program for its settings.

use mercer_encoding::Face;

/// How a program is told to set something.
pub(super) trait FaceWords {
    /// A key with a value, or with a letter in its place.
    fn set(self, key: &str, value: &str) -> String;
    fn pick(self, command: &'static str, python: &'static str) -> &'static str;
    fn width(self) -> &'static str;
    /// What helps where the cause is not known, for a learner that chooses its kernel itself or
    /// not.
    fn anything(self, autonomous: bool) -> &'static str;
}

impl FaceWords for Face {
    fn set(self, key: &str, value: &str) -> String {
        let number = value.parse::<f64>().is_ok() || value == "N" || value == "…";
        match self {
            Self::Command => format!("--set {key}={value}"),
            Self::Python if number => format!("{key}={value}"),
            Self::Python => format!("{key}=\"{value}\""),
        }
    }

    fn pick(self, command: &'static str, python: &'static str) -> &'static str {
        match self {
            Self::Command => command,
            Self::Python => python,
        }
    }

    fn width(self) -> &'static str {
        self.pick("--kernel gaussian:SIGMA", "kernel=\"gaussian:SIGMA\"")
    }

    fn anything(self, autonomous: bool) -> &'static str {
        if autonomous {
            return "the features may tell nothing of the target, or the rows may be too few";
        }
        self.pick(
            "try another kernel width (--kernel gaussian:SIGMA), --scale standard, or --learner auto",
            "try another width (kernel=\"gaussian:SIGMA\"), a larger dictionary, standardised inputs, mercer.Pipeline, or mercer.Auto",
        )
    }
}
