//! The words of a program for its settings.

/// Whose words settings are told in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Face {
    /// `--set key=value`
    #[default]
    Command,
    /// `key="value"`
    Python,
}

impl Face {
    /// A key with a value, or with a letter in its place.
    pub(super) fn set(self, key: &str, value: &str) -> String {
        let number = value.parse::<f64>().is_ok() || value == "N" || value == "…";
        match self {
            Self::Command => format!("--set {key}={value}"),
            Self::Python if number => format!("{key}={value}"),
            Self::Python => format!("{key}=\"{value}\""),
        }
    }

    pub(super) fn pick(self, command: &'static str, python: &'static str) -> &'static str {
        match self {
            Self::Command => command,
            Self::Python => python,
        }
    }

    pub(super) fn width(self) -> &'static str {
        self.pick("--kernel gaussian:SIGMA", "kernel=\"gaussian:SIGMA\"")
    }

    /// What helps where the cause is not known.
    pub(super) fn anything(self) -> &'static str {
        self.pick(
            "try another kernel width (--kernel gaussian:SIGMA), --scale standard, or --learner auto",
            "try another width (kernel=\"gaussian:SIGMA\"), a larger dictionary, standardised inputs, mercer.Pipeline, or mercer.Auto",
        )
    }
}
