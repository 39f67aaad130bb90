//! A bound on how deep state may contain state of its own type.
//!
//! A mixture of kernels holds kernels, a mixture of learners learners. A file of a few bytes a
//! level could claim a million of them, and the stack would be gone before anybody may look. So a
//! field that may contain its own type is deserialised through [`nested`].
//!
//! What is written must be readable. So the same field is validated through [`validate_nested`],
//! which counts the same levels: whoever validates state before he writes it never writes what
//! [`nested`] refuses.

use std::cell::Cell;

use crate::Inconsistent;

/// Levels that are deserialised and validated at most; no constructor of this workspace makes more
/// than three by itself.
pub const DEEPEST: usize = 16;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// One level, left again however the work on it ends.
struct Level;

impl Level {
    /// `None` beyond [`DEEPEST`] levels.
    fn enter() -> Option<Self> {
        let depth = DEPTH.get();
        (depth < DEEPEST).then(|| {
            DEPTH.set(depth + 1);
            Self
        })
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Deserialises a field that may contain its own type, one level deeper: for
/// `#[serde(deserialize_with)]`.
///
/// # Errors
/// Beyond [`DEEPEST`] levels.
#[cfg(feature = "serde")]
pub fn nested<'de, D: serde::Deserializer<'de>, T: serde::Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    let Some(_level) = Level::enter() else {
        return Err(serde::de::Error::custom("the saved state is nested too deeply"));
    };
    T::deserialize(deserializer)
}

/// Calls `validate`, which validates a field that is deserialised through `nested`, one level
/// deeper.
///
/// # Errors
/// Beyond [`DEEPEST`] levels, and those of `validate`.
pub fn validate_nested(validate: impl FnOnce() -> Result<(), Inconsistent>) -> Result<(), Inconsistent> {
    const { assert!(DEEPEST == 16, "the message below says the number") };
    let level = Level::enter();
    Inconsistent::require(level.is_some(), "nesting", "at most 16 mixtures or scales are one inside the other")?;
    validate()
}

#[cfg(test)]
#[cfg(feature = "serde")]
mod tests {
    use serde::Deserialize;

    use crate::{Inconsistent, Validate};

    #[derive(Deserialize)]
    struct Tree {
        #[serde(deserialize_with = "super::nested")]
        branches: Vec<Tree>,
    }

    impl Validate for Tree {
        fn validate(&self) -> Result<(), Inconsistent> {
            super::validate_nested(|| self.branches.validate())
        }
    }

    fn chain(levels: usize) -> String {
        r#"{"branches":["#.repeat(levels) + r#"{"branches":[]}"# + &"]}".repeat(levels)
    }

    #[test]
    fn depth_is_bounded_and_left_again() {
        for _ in 0..3 {
            let tree: Tree = serde_json::from_str(&chain(super::DEEPEST - 1)).expect("as deep as allowed");
            assert_eq!(tree.branches.len(), 1);
            assert!(serde_json::from_str::<Tree>(&chain(super::DEEPEST)).is_err());
        }
    }

    /// Validation takes exactly the levels that can be read: no level more, and none less.
    #[test]
    fn validation_counts_the_same_levels() {
        for _ in 0..3 {
            let mut tree: Tree = serde_json::from_str(&chain(super::DEEPEST - 1)).expect("as deep as allowed");
            assert_eq!(tree.validate(), Ok(()));
            tree = Tree { branches: vec![Tree { branches: Vec::new() }, tree] };
            let refused = tree.validate().expect_err("a level too many");
            assert!(refused.to_string().contains("at most 16 mixtures"), "{refused}");
        }
    }
}
