//! Parts that were summed up, known again by what they were made of.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

/// One shard that was summed up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Part {
    /// Into how many shards the rows were cut.
    pub of: u64,
    /// Which of them, from 0.
    pub shard: u64,
    /// Its rows.
    pub rows: u64,
    /// What it was read from.
    pub sources: Vec<PartSource>,
}

/// Rows of one file, or of what stands for a file.
///
/// Two are the same if they have the same name and the same contents: files with equal rows are
/// two, and a file is one however often it is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PartSource {
    /// The path of a file, the name of a data set, or a name that was given; empty for sums of rows
    /// that came from nowhere.
    pub name: String,
    /// Digest of the contents.
    pub digest: u128,
    /// The first of its rows, from 0, and the one behind the last.
    pub first: u64,
    /// See `first`.
    pub end: u64,
}

impl PartSource {
    /// Rows of contents with this digest.
    pub fn new(name: impl Into<String>, digest: u128, rows: Range<u64>) -> Self {
        Self { name: name.into(), digest, first: rows.start, end: rows.end }
    }

    /// True if both are of one source.
    fn is_of(&self, other: &Self) -> bool {
        self.digest == other.digest && self.name == other.name
    }

    /// True if a row is in both.
    fn overlaps(&self, other: &Self) -> bool {
        self.is_of(other) && self.first < other.end && other.first < self.end
    }

    /// True if both look like copies of one file: they have the same contents, and the name of a
    /// file in different folders, or one of them came by a pipe, which tells no name.
    #[must_use]
    pub fn is_copy_of(&self, other: &Self) -> bool {
        let file = |name: &str| Path::new(name).file_name().map(std::ffi::OsStr::to_owned);
        let is_piped = |name: &str| name == "standard input" || name.starts_with("/dev/") || name.starts_with("/proc/");
        let may_be_one = file(&self.name) == file(&other.name) || is_piped(&self.name) || is_piped(&other.name);
        self.digest == other.digest && self.name != other.name && may_be_one
    }
}

/// Digest of all that is read: XXH3 of 128 bits, by which unequal contents are taken for equal once
/// in 10³⁸.
///
/// # Errors
/// That of the reader.
pub fn digest_of(mut reader: impl std::io::Read) -> std::io::Result<u128> {
    let (mut hasher, mut block) = (XxHash3_128::new(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut block)? {
            0 => return Ok(hasher.finish_128()),
            read => hasher.write(&block[..read]),
        }
    }
}

/// The same of bytes.
#[must_use]
pub(super) fn digest(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// The first two sources of two lists that `matches`.
fn pair<'a>(
    ours: &'a [Part],
    theirs: &'a [Part],
    matches: impl Fn(&PartSource, &PartSource) -> bool,
) -> Option<(&'a PartSource, &'a PartSource)> {
    // By digest. Of many states one joins the others at a time, so theirs are few.
    let mut few: Vec<&PartSource> = theirs.iter().flat_map(|part| &part.sources).collect();
    few.sort_by_key(|source| source.digest);
    ours.iter().flat_map(|part| &part.sources).find_map(|source| {
        let from = few.partition_point(|other| other.digest < source.digest);
        let alike = few[from..].iter().take_while(|other| other.digest == source.digest);
        Some((source, *alike.into_iter().find(|other| matches(source, other))?))
    })
}

/// A source of which some rows are in both lists.
pub(super) fn twice<'a>(ours: &'a [Part], theirs: &'a [Part]) -> Option<&'a PartSource> {
    pair(ours, theirs, PartSource::overlaps).map(|(source, _)| source)
}

/// Two sources of the two lists of which one [may be a copy](PartSource::is_copy_of) of the other.
#[must_use]
pub fn copies<'a>(ours: &'a [Part], theirs: &'a [Part]) -> Option<(&'a PartSource, &'a PartSource)> {
    pair(ours, theirs, PartSource::is_copy_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, digest: u128, rows: Range<u64>) -> Part {
        Part { of: 1, shard: 0, rows: rows.end - rows.start, sources: vec![PartSource::new(name, digest, rows)] }
    }

    #[test]
    fn a_source_is_known_by_its_name_and_its_contents() {
        let ours = [part("/a/p0.csv", 1, 0..10), part("/a/p1.csv", 1, 0..10)];
        assert!(twice(&ours, &[part("/a/p0.csv", 1, 5..6)]).is_some());
        // Other rows, another name, other contents.
        assert!(twice(&ours, &[part("/a/p0.csv", 1, 10..20)]).is_none());
        assert!(twice(&ours, &[part("/a/p2.csv", 1, 0..10)]).is_none());
        assert!(twice(&ours, &[part("/a/p0.csv", 2, 0..10)]).is_none());
    }

    #[test]
    fn copies_have_the_same_contents_and_no_other_file_name() {
        let ours = [part("/a/p0.csv", 1, 0..10)];
        assert!(copies(&ours, &[part("/b/p0.csv", 1, 0..10)]).is_some());
        assert!(copies(&ours, &[part("/b/p1.csv", 1, 0..10)]).is_none());
        assert!(copies(&ours, &ours).is_none());
        // What came by a pipe may be any file.
        for piped in ["standard input", "/dev/fd/63"] {
            assert!(copies(&ours, &[part(piped, 1, 0..10)]).is_some());
            assert!(copies(&ours, &[part(piped, 2, 0..10)]).is_none());
        }
    }

    #[test]
    fn a_digest_in_blocks_is_that_of_the_whole() {
        let bytes: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        assert_eq!(digest_of(&bytes[..]).unwrap(), digest(&bytes));
        assert_ne!(digest(b"1,2\n"), digest(b"1,3\n"));
    }
}
