//! The rules of aggregation by name.

/// How regrets become weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Rule {
    /// Exponential weights with AdaHedge's rate.
    Ewa,
    /// Bernstein online aggregation, a rate an expert.
    Boa,
    /// Polynomial weights, a rate an expert.
    #[default]
    MlPoly,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 3] = [Self::Ewa, Self::Boa, Self::MlPoly];

    /// The name, as [`FromStr`](std::str::FromStr) reads it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ewa => "ewa",
            Self::Boa => "boa",
            Self::MlPoly => "ml-poly",
        }
    }

    /// Whether a share of the weight means something: its weights are exponential.
    pub(super) fn shares(self) -> bool {
        self != Self::MlPoly
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no [`Rule`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no aggregation rule {0:?}; the rules are ewa, boa and ml-poly")]
pub struct UnknownRule(pub String);

impl std::str::FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        Self::ALL.into_iter().find(|rule| rule.name() == name).ok_or_else(|| UnknownRule(name.to_owned()))
    }
}
