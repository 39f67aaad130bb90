//! Fields that a saved type gained: files from before a field load, and the field gets its default.
//!
//! The body of a model file is a learner in postcard: a struct is its fields one after the other, without names or count. A reader
//! therefore has to know from elsewhere which fields a file holds. It knows the format version of the file, from the header, and each
//! field that came later says since which version files hold it:
//!
//! ```
//! # #[cfg(feature = "serde")] mod example {
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Learner {
//!     weight: f64,
//!     /// Files of version 1 and 2 end with the weight.
//!     #[serde(deserialize_with = "mercer_core::since::<3, _, _>")]
//!     rounds: Option<u64>,
//! }
//! # }
//! ```
//!
//! Whoever reads a file wraps the deserialisation into [`reading`] with the version of its header. This is the only mechanism by which
//! types gain fields. Its rules:
//!
//! - Files are always written in the newest version, with all fields. `Serialize` needs no attribute.
//! - A field may be added at any place of a struct, also of one inside a `Vec` or an enum variant. Fields are never removed, reordered
//!   or given another type. New variants of an enum go to its end.
//! - `Default` of the field's type must mean "not known: the file is too old", so it is often an `Option`.
//! - A new field raises the version of the file format once for each release, not once for each field.
//! - The version is a property of the thread. A file is deserialised on the thread that called [`reading`].
//!
//! A format with field names (JSON) calls [`since`] only if the name occurs. There, a field that may be missing needs `#[serde(default)]`
//! as well, which changes nothing in postcard.

use std::cell::Cell;

use serde::de::{Deserialize, Deserializer};

/// Version of what was written by this program, newer than any field.
const NEWEST: u16 = u16::MAX;

thread_local! {
    static READ: Cell<u16> = const { Cell::new(NEWEST) };
}

/// Puts the version back that was read before, however the reading ends.
struct Restore(u16);

impl Drop for Restore {
    fn drop(&mut self) {
        READ.set(self.0);
    }
}

/// Calls `f`, which deserialises a file of format `version`: fields with a later [`since`] are taken to be absent.
///
/// Without `reading`, everything is read as the newest version. Calls may be nested: the inner version holds within the inner call. The
/// version before is restored when `f` returns and when it panics.
pub fn reading<R>(version: u16, f: impl FnOnce() -> R) -> R {
    let _before = Restore(READ.replace(version));
    f()
}

/// The version of the file that is being read, for types whose form changed and which deserialise themselves.
#[must_use]
pub fn version() -> u16 {
    READ.get()
}

/// Deserialises a field that files hold since format `VERSION`: for `#[serde(deserialize_with = "mercer_core::since::<3, _, _>")]`.
///
/// In a file of an older version (see [`reading`]) it returns `T::default()` and leaves the deserializer alone, so that the next field is
/// read from the same place. Otherwise it deserialises a `T`.
///
/// # Errors
/// Those of `T`.
pub fn since<'de, const VERSION: u16, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    if version() < VERSION { Ok(T::default()) } else { T::deserialize(deserializer) }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::reading;

    /// As in files of version 2.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct V2 {
        a: u32,
        last: String,
    }

    /// As in files of version 3: a field came between.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct V3 {
        a: u32,
        #[serde(default, deserialize_with = "super::since::<3, _, _>")]
        b: Option<f64>,
        last: String,
    }

    fn old() -> Vec<V2> {
        (0..3).map(|a| V2 { a, last: format!("{a}.") }).collect()
    }

    fn new(b: Option<f64>) -> Vec<V3> {
        (0..3).map(|a| V3 { a, b, last: format!("{a}.") }).collect()
    }

    #[test]
    fn older_files_lack_the_field() -> Result<(), postcard::Error> {
        let bytes = postcard::to_stdvec(&old())?;
        for version in [1, 2] {
            assert_eq!(reading(version, || postcard::from_bytes::<Vec<V3>>(&bytes))?, new(None));
        }
        // Taken for a file of version 3, the text is a number.
        assert!(reading(3, || postcard::from_bytes::<Vec<V3>>(&bytes)).is_err());
        Ok(())
    }

    #[test]
    fn files_since_then_hold_it() -> Result<(), postcard::Error> {
        let learners = new(Some(0.5));
        let bytes = postcard::to_stdvec(&learners)?;
        for version in [3, 4, u16::MAX] {
            assert_eq!(reading(version, || postcard::from_bytes::<Vec<V3>>(&bytes))?, learners);
        }
        assert_eq!(postcard::from_bytes::<Vec<V3>>(&bytes)?, learners, "the newest version is the usual one");
        Ok(())
    }

    #[test]
    fn names_tell_what_is_there() -> Result<(), serde_json::Error> {
        let text = serde_json::to_string(&old())?;
        assert_eq!(reading(2, || serde_json::from_str::<Vec<V3>>(&text))?, new(None));
        assert_eq!(serde_json::from_str::<Vec<V3>>(&text)?, new(None));
        assert_eq!(serde_json::from_str::<Vec<V3>>(&serde_json::to_string(&new(Some(0.5)))?)?, new(Some(0.5)));
        Ok(())
    }

    #[test]
    fn the_version_before_comes_back() -> Result<(), postcard::Error> {
        let learners = new(Some(0.5));
        let bytes = postcard::to_stdvec(&learners)?;
        let is_newest = || postcard::from_bytes::<Vec<V3>>(&bytes).is_ok_and(|read| read == learners);
        let inner = reading(2, || (reading(3, is_newest), is_newest()));
        assert_eq!(inner, (true, false));
        assert!(is_newest());
        assert!(std::panic::catch_unwind(|| reading(2, || panic!("a broken file"))).is_err());
        assert!(is_newest(), "after a panic");
        // Other threads read other files.
        let elsewhere = reading(2, || std::thread::scope(|scope| scope.spawn(is_newest).join()));
        assert!(elsewhere.is_ok_and(|newest| newest));
        Ok(())
    }
}
