//! Facts about a column: its kind, its use, and the reason. The command, the server and Python have
//! their words from here.

use std::borrow::Cow;

use crate::face::{BEGIN_WITH_ZERO, CLASSES_TELL, Face};
use crate::left_out::LeftOut;
use crate::schema::{Column, Kind, Use};
use crate::transform::EncodingOptions;

/// A column in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ColumnFacts {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: String,
    /// Its use: encoded, or not and why.
    #[cfg_attr(feature = "serde", serde(rename = "use"))]
    pub used: String,
    /// Why it is what it is, and what would make it another thing; nothing where it is plain.
    pub why: String,
}

impl Column {
    /// The facts from a look at so many rows.
    #[must_use]
    pub fn facts(&self, rows: u64, face: Face) -> ColumnFacts {
        let Self { name, kind, used, .. } = self;
        let why = self.reason(rows, face);
        ColumnFacts { name: name.clone(), kind: kind.to_string(), used: used.to_string(), why }
    }

    /// The same in a line, if it is more than a plain number.
    #[must_use]
    pub fn line(&self, rows: u64, face: Face) -> Option<String> {
        let Self { name, kind, used, notation, why, .. } = self;
        let reason = self.reason(rows, face);
        let words = match used {
            Use::SetAside if *kind == Kind::Number => {
                let why = self.doubt_of_target().map(|why| face.said(name, &why));
                let words: Vec<String> = notation.words().into_iter().chain(why).collect();
                format!("target or weight, {}", Some(words.join(", ")).filter(|words| !words.is_empty())?)
            }
            Use::SetAside if *kind == Kind::Category && !why.is_empty() => {
                format!("target or weight, {}", face.said(name, why))
            }
            Use::SetAside | Use::Unwanted => return None,
            Use::Encoded if *kind == Kind::Number && reason.is_empty() => return None,
            Use::Encoded if *kind == Kind::Constant && self.is_plain_number() => return None,
            Use::Encoded if reason.is_empty() => kind.to_string(),
            Use::Encoded => format!("{kind}, {reason}"),
            _ => reason,
        };
        Some(format!("column {name:?}: {words}"))
    }

    /// The same of a column of a table that is read as numbers as they are, if that may surprise.
    #[must_use]
    pub fn line_of_numbers(&self, face: Face) -> Option<String> {
        let Self { name, kind, used, why, .. } = self;
        let words = match used {
            Use::Unwanted => return None,
            Use::SetAside => format!("target or weight, {}", face.said(name, &self.doubt_of_target()?)),
            _ if *kind == Kind::Identifier => self.taken(face),
            _ if why.is_empty() => return None,
            _ => format!("{kind}, {}", face.said(name, why)),
        };
        Some(format!("column {name:?}: {words}"))
    }

    /// What is to be said of a target: a mark of gaps, or classes, or codes, among its numbers;
    /// anything of categories.
    fn doubt_of_target(&self) -> Option<Cow<'_, str>> {
        let Self { kind, why, .. } = self;
        if why.starts_with(BEGIN_WITH_ZERO) {
            return Some(format!("{BEGIN_WITH_ZERO}; {CLASSES_TELL}").into());
        }
        let of_target = |why: &&str| *kind == Kind::Category || why.contains("--gap ") || why.contains(CLASSES_TELL);
        Some(why.as_str()).filter(|why| !why.is_empty() && of_target(why)).map(Cow::Borrowed)
    }

    /// Why a column that names rows is a number, where all columns are.
    #[must_use]
    pub fn taken(&self, face: Face) -> String {
        let leave = face.kind_argument(&self.name, Kind::Identifier);
        format!("counts the rows, and is taken as a number; {leave} leaves it out")
    }

    /// That a number counts the rows of a series, in which it is no value, if it does.
    #[must_use]
    pub fn counting(&self, face: Face) -> Option<String> {
        let counts = self.counter && self.kind == Kind::Number && self.why.is_empty();
        counts.then(|| {
            let number = face.kind_argument(&self.name, Kind::Number);
            format!("counts rows or time, so that no forecast is made of it; {number} has one made")
        })
    }

    /// True if it may be another thing than its cells show at once. It is left out, begins later,
    /// is written in a way of its own, or something is to be said of it.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        match self.used {
            Use::SetAside | Use::Unwanted => false,
            Use::Encoded => !self.why.is_empty() || !self.notation.is_plain(),
            _ => true,
        }
    }

    /// Why a column is what it is, and what would make it another thing.
    fn reason(&self, rows: u64, face: Face) -> String {
        let Self { name, kind, used, missing, distinct, mean, notation, why, .. } = self;
        let category = || face.kind_argument(name, Kind::Category);
        let mut parts = Vec::new();
        match (used, kind) {
            (Use::Identifier, _) if self.range.is_some() => return LeftOut::NumbersRows.words(name, face),
            (Use::Identifier, _) => {
                let told = if why.is_empty() { String::new() } else { format!(", {}", face.said(name, why)) };
                return LeftOut::NamesRows.words(name, face) + &told;
            }
            (Use::Text, Kind::List) => return LeftOut::Lists.words(name, face),
            (Use::Text, _) if why.is_empty() => return LeftOut::Text.words(name, face),
            (Use::Text, _) => return format!("left out, for {}", face.said(name, why)),
            (Use::Words, Kind::List) => {
                let left_out = face.kind_argument(name, Kind::Identifier);
                return format!(
                    "its members are tokens of learners that take them, such as auto and coin; {left_out} leaves it out"
                );
            }
            (Use::Words, _) => {
                let (whole, left_out) = (category(), face.kind_argument(name, Kind::Identifier));
                let words = "its words and signs are tokens of learners that take them, such as auto and coin";
                let why = if why.is_empty() { String::new() } else { format!("; {}", face.said(name, why)) };
                return format!("{words}; {whole} takes whole cells, {left_out} leaves it out{why}");
            }
            (Use::Late, _) => {
                return format!("has no value in the first {rows} rows, and begins with the first that it has");
            }
            (Use::Encoded, Kind::Category) if *distinct > EncodingOptions::default().categories as u64 => {
                let (alone, beside) = if *mean { (" alone", ", beside the mean target of each") } else { ("", "") };
                let mean = face.kind_argument(name, Kind::Mean);
                parts.push(format!("{distinct} values so far{beside}; {mean} takes the mean{alone}"));
            }
            (_, Kind::Category | Kind::Mean) => parts.push(format!("{distinct} values so far")),
            _ => {}
        }
        parts.extend(notation.words());
        if *missing > 0 {
            parts.push(format!("{missing} of the first {rows} cells missing"));
        }
        if !why.is_empty() {
            parts.push(face.said(name, why));
        }
        parts.join(", ")
    }
}
