//! A bound on how deep state may contain state of its own type.
//!
//! A mixture of kernels holds kernels, a mixture of learners learners. A file of a few bytes a level could claim a million of them,
//! and the stack would be gone before anybody may look. So what may contain itself is deserialised through [`nested`].

use std::cell::Cell;

use serde::de::{Deserialize, Deserializer, Error};

/// Levels that are deserialised at most; no constructor of this workspace makes more than three.
pub const DEEPEST: usize = 16;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// One level, left again however its deserialisation ends.
struct Level;

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Deserialises a field that may contain its own type, one level deeper: for `#[serde(deserialize_with)]`.
///
/// # Errors
/// Beyond [`DEEPEST`] levels.
pub fn nested<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    if DEPTH.get() == DEEPEST {
        return Err(D::Error::custom("the saved state is nested too deeply"));
    }
    DEPTH.set(DEPTH.get() + 1);
    let _level = Level;
    T::deserialize(deserializer)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Tree {
        #[serde(deserialize_with = "super::nested")]
        branches: Vec<Tree>,
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
}
