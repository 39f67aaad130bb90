//! Learners by name: what each is, the keys that set it, what they mean, and how to build it when the program runs.
//!
//! One [`Entry`] a learner; [`entries`] lists them, [`find`] looks one up. An entry turns `KEY=VALUE` pairs into
//! [`Settings`] (checked for spelling at once), and settings with a kernel and a [`Context`] into a learner (checked for
//! range). A value is
//! - a number, or arithmetic in `T` (rounds) and `d` (features): `+ - * / ^`, parentheses, `sqrt`, `ln` (or `log`), `exp`,
//!   `min`, `max`; a whole-number key rounds a formula down;
//! - `auto`, where a paper gives a rule ([`Key::auto`]);
//! - `none`, where doing without means something ([`Key::none`]);
//! - for [`Kind::Numbers`], one number or one a feature, separated by commas;
//! - for [`Kind::Rule`] and [`Kind::Members`], an aggregation rule and a list of other learners.
//!
//! No default depends on `T`, so that a learner does the same on a stream of unknown length as on a file.
//!
//! ```
//! use mercer::catalogue::{self, Context};
//! use mercer::{AnyKernel, Regressor};
//!
//! let kernel: AnyKernel = "gaussian:0.5".parse()?;
//! let settings = catalogue::find("nons-ald")?.settings(["alpha=25/T", "radius=2"])?;
//! let mut built = settings.build(kernel, &Context { rounds: Some(1000), dimension: 1, seed: 0, rows: &[] })?;
//! built.learner.update(&[0.3], 1.0)?;
//! assert_eq!(built.learner.dictionary_size(), 1);
//! assert_eq!(built.parameters[1].1.to_string(), "0.025");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entries;
mod error;
mod expression;
mod members;
mod settings;

use mercer_kernels::AnyKernel;
use mercer_learners::{AnyRegressor, Error as LearnerError};

pub use error::CatalogueError;
pub use expression::ExpressionError;
pub use settings::{Built, Context, Settings, Value};

use settings::Values;

/// A learner, as its user sees it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What sets it, in the order in which it is shown.
    pub keys: &'static [Key],
    /// Multiply-adds a round: `t` the round, `d` the features, `J` the dictionary size, other letters the keys' symbols.
    pub time: &'static str,
    /// Numbers of memory, in the same letters.
    pub memory: &'static str,
    /// Why memory grows with the stream, for those learners whose memory does.
    pub growth: Option<&'static str>,
    /// The paper it comes from, with the place in it.
    pub source: &'static str,
    /// The key that bounds its predictions, so that targets beyond it cannot be met.
    pub bound: Option<&'static str>,
    /// The setting to change when it diverges, beside scaling the data.
    pub remedy: Option<&'static str>,
    /// Whether it chooses kernel and scaling itself, and does not look at the kernel it is given.
    pub autonomous: bool,
    build: fn(AnyKernel, &Context<'_>, &Values<'_>) -> Result<AnyRegressor<AnyKernel>, BuildError>,
}

/// One parameter of a learner.
#[derive(Debug)]
#[non_exhaustive]
pub struct Key {
    /// The name by which it is set.
    pub name: &'static str,
    /// The paper's symbol.
    pub symbol: &'static str,
    /// What it is when it is not set, written as a user would.
    pub default: &'static str,
    /// The values it may have, in words.
    pub range: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// What `none` means here, if it may be.
    pub none: Option<&'static str>,
    /// What `auto` means here, if a paper gives a rule.
    pub auto: Option<Rule>,
}

/// What the values of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A number.
    Number,
    /// A whole number.
    Count,
    /// One number for all features, or as many as there are features.
    Numbers,
    /// The name of an aggregation rule.
    Rule,
    /// Learners with their settings: `NAME KEY=VALUE …; NAME …`, where the key `kernel` is known too.
    Members,
}

/// A rule for a key, of a paper unless its source says otherwise.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// The rule, as an expression that could be given instead of `auto`, or in words if it looks at the data.
    pub formula: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// How it looks at the data, if it does.
    looks: Option<Look>,
}

/// A rule that looks at the kernel, the data and the values of the keys before its own.
type Look = fn(&AnyKernel, &Context<'_>, &Values<'_>) -> Result<Value, LookError>;

impl Rule {
    /// Whether it looks at the data; if not, its formula is an expression.
    #[must_use]
    pub fn looks_at_data(&self) -> bool {
        self.looks.is_some()
    }
}

/// Why a checked setting still makes no learner.
enum BuildError {
    /// The learner refuses a parameter.
    Learner(LearnerError),
    /// The learner cannot use the kernel; what it needs.
    Kernel(&'static str),
    /// The parameters ask for more memory than a machine has.
    TooLarge(&'static str),
    /// A member of a mixture cannot be built.
    Member(Box<CatalogueError>),
}

/// Why a rule that looks at the data finds no value.
enum LookError {
    /// It needs to see rows, or to know how many there will be.
    NeedsData(&'static str),
    /// No learner could be built either.
    Build(BuildError),
}

impl From<BuildError> for LookError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<LearnerError> for BuildError {
    fn from(error: LearnerError) -> Self {
        Self::Learner(error)
    }
}

/// All learners that can be made before the first row is read, in the order of [`AnyRegressor`]; those on a frozen dictionary cannot.
#[must_use]
pub fn entries() -> &'static [Entry] {
    &entries::ENTRIES
}

/// The learner of this name.
///
/// # Errors
/// [`CatalogueError::UnknownLearner`], with the nearest name and all names.
pub fn find(name: &str) -> Result<&'static Entry, CatalogueError> {
    entries().iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = entries().iter().map(|entry| entry.name).collect();
        CatalogueError::UnknownLearner { name: name.to_owned(), nearest: nearest(name, &known), known }
    })
}

impl Entry {
    /// Numbers kept after `rows` rows of `dimension` features, at least: what [`memory`](Self::memory) says in `t`; 0 for learners that do
    /// not grow with the stream.
    #[must_use]
    pub fn least_numbers(&self, rows: usize, dimension: usize) -> f64 {
        let (t, d) = (rows as f64, dimension as f64);
        let points = if self.memory.starts_with("td") || self.memory.starts_with("t(d") { t * d } else { 0.0 };
        let factor = if self.memory.contains("½t²") { 0.5 * t * t } else { 0.0 };
        points + factor
    }

    /// The settings that these `KEY=VALUE` pairs make, defaults for the keys that are not among them.
    ///
    /// # Errors
    /// When a pair is not one, a key is unknown or set twice, or a value is not written as one.
    pub fn settings<'p>(&'static self, pairs: impl IntoIterator<Item = &'p str>) -> Result<Settings, CatalogueError> {
        Settings::new(self, pairs)
    }
}

/// The name that was probably meant: one that continues or contains what was written, or differs in a few letters.
fn nearest(written: &str, names: &[&'static str]) -> Option<&'static str> {
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let written: String = plain(written).chars().take(40).collect();
    let part = names.iter().copied().find(|name| written.len() >= 3 && plain(name).contains(&written));
    part.or_else(|| {
        let distances = names.iter().map(|name| (edits(&written, &plain(name)), *name));
        let (distance, name) = distances.min_by_key(|(distance, _)| *distance)?;
        (distance <= 1 + name.len() / 4).then_some(name)
    })
}

/// Letters to insert, delete or replace to make `from` into `to` (Levenshtein).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let known: Vec<&str> = entries().iter().map(|entry| entry.name).collect();
        let near = |written: &str| nearest(written, &known);
        assert_eq!(near("nons"), Some("nons-ald"));
        assert_eq!(near("NONS_ALD"), Some("nons-ald"));
        assert_eq!(near("krsl"), Some("krls"));
        assert_eq!(near("sketched"), Some("sketched-kons"));
        assert_eq!(near("pros-n-kon"), Some("pros-n-kons"));
        assert_eq!(near("perceptron"), None);
        assert_eq!(near(""), None);
    }

    #[test]
    fn edits_by_hand() {
        assert_eq!((edits("", "abc"), edits("kitten", "sitting"), edits("krsl", "krls")), (3, 3, 2));
    }
}
