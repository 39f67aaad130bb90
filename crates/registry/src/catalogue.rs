//! Learners by name: the keys that set each, and how to build it when the program runs.
//!
//! [`entries`] lists one [`Entry`] a learner, and [`find`] looks one up. [`Settings`] are made of
//! an entry and `KEY=VALUE` pairs (checked for spelling at once), and with a kernel and a
//! [`Context`] they make a learner (checked for range). A value is
//! - a number;
//! - `auto`, where a rule finds it in the data ([`Key::auto`]);
//! - `none`, where doing without means something ([`Key::none`]);
//! - for [`Kind::Numbers`], one number or one a feature, separated by commas;
//! - for [`Kind::Kernels`], kernels, separated by commas, or by `;` where one has a comma of its
//!   own (`polynomial:3,1;linear`);
//! - for [`Kind::Name`], [`Kind::Loss`], [`Kind::Members`] and [`Kind::Learner`], one of its names,
//!   a loss such as `huber:0.5`, a list of other learners, one other learner.
//!
//! No value depends on the length of the stream: one of unknown length is learnt as a file is.
//!
//! ```
//! use mercer_registry::catalogue::{self, Context, Settings};
//! # use mercer_kernels::AnyKernel;
//! use mercer_learners::{Regressor, RegressorExt};
//!
//! let kernel: AnyKernel = "gaussian:0.5".parse()?;
//! let settings = Settings::new(catalogue::find("nons-ald")?, ["alpha=0.025", "radius=2"])?;
//! let mut built = settings.build(kernel, &Context { dimension: 1, ..Context::default() })?;
//! built.learner.update(&[0.3], 1.0)?;
//! assert_eq!(built.learner.dictionary_size(), 1);
//! assert_eq!(built.parameters[1].1.to_string(), "0.025");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod settings;

pub use crate::{Built, entries, trial};
pub use error::CatalogueError;
pub use mercer_learners::catalogue::{
    BuildError, Context, Entry, Key, Kind, Look, Rule, SearchRange, Takes, Value, Values,
};
pub use settings::Settings;
pub use settings::split;

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

/// The name that was probably meant: one that continues or contains what was written, or differs in
/// a few letters.
#[must_use]
pub fn nearest<'n>(written: &str, names: &[&'n str]) -> Option<&'n str> {
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
        assert_eq!(near("winnow"), None);
        assert_eq!(near(""), None);
    }

    #[test]
    fn edits_by_hand() {
        assert_eq!((edits("", "abc"), edits("kitten", "sitting"), edits("krsl", "krls")), (3, 3, 2));
    }
}
