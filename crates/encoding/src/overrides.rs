//! Kinds of columns that a user tells, against what the look at them finds.

use crate::error::EncodingError;
use crate::kind::ToldKind;
use crate::numeral::NumberMarks;
use crate::zone::Zone;

/// Kinds of columns that a user tells, by their names. `#3` is the third column, if no column is
/// called so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overrides {
    /// Columns that are not encoded.
    pub ignore: Vec<String>,
    /// If there are any, no other columns are encoded.
    pub only: Vec<String>,
    /// Columns of a kind that is told. Texts and identifiers are ignored, the others encoded.
    pub kinds: Vec<(String, ToldKind)>,
    /// The marks of numbers that have something around them.
    pub marks: NumberMarks,
    /// Columns that are targets, weights and the like: never encoded, never missed.
    pub aside: Vec<String>,
    /// The zone of times without an offset from UTC. Hours and days are those of its clocks.
    pub zone: Option<Zone>,
}

impl Overrides {
    /// The same with columns that are not encoded.
    #[must_use]
    pub fn ignore(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.ignore.extend(names.into_iter().map(Into::into));
        self
    }

    /// The same with columns beside which no others are encoded.
    #[must_use]
    pub fn only(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.only.extend(names.into_iter().map(Into::into));
        self
    }

    /// The same with a column whose kind is told. The last word counts.
    #[must_use]
    pub fn kind(mut self, name: impl Into<String>, kind: impl Into<ToldKind>) -> Self {
        self.kinds.push((name.into(), kind.into()));
        self
    }

    /// The same with columns that are targets, weights and the like.
    #[must_use]
    pub fn aside(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.aside.extend(names.into_iter().map(Into::into));
        self
    }

    /// The same with the marks of numbers that have something around them, such as `€1.234`.
    #[must_use]
    pub fn marks(self, marks: NumberMarks) -> Self {
        Self { marks, ..self }
    }

    /// The same with the zone of times without an offset.
    #[must_use]
    pub fn zone(self, zone: Option<Zone>) -> Self {
        Self { zone, ..self }
    }

    /// [`kind`](Self::kind) from a text `NAME=KIND`, where the kind may be `dmy`, `mdy` or `ymd`.
    /// The name ends at the last `=`.
    ///
    /// # Errors
    /// [`EncodingError::Override`]
    pub fn parse_kind(self, text: &str) -> Result<Self, EncodingError> {
        let refused = || EncodingError::Override(text.to_owned());
        let (name, kind) = text.rsplit_once('=').ok_or_else(refused)?;
        Ok(self.kind(name, kind.parse::<ToldKind>().map_err(|_| refused())?))
    }
}
