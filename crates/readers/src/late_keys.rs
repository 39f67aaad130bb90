//! Keys of JSON objects that come when the columns are known: they are left out, told and counted.

use crate::error::{Finding, Line, Remark};

/// Keys that are told and counted one by one.
const MOST: usize = 32;

/// The keys that were left out, and how many rows had each.
#[derive(Debug, Default)]
pub(crate) struct LateKeys {
    counts: Vec<(String, u64)>,
    /// Keys beyond those.
    others: u64,
    remarks: Vec<Remark>,
    /// The columns of keys that are to be left out and were in no row yet.
    expected: Vec<(usize, String)>,
}

impl LateKeys {
    /// Keys that are to be left out, each with its column, and may come late.
    pub(crate) fn expecting(keys: impl Iterator<Item = (usize, String)>) -> Self {
        Self { expected: keys.collect(), ..Self::default() }
    }

    /// A row has a column that is left out.
    #[inline]
    pub(crate) fn meet(&mut self, column: usize) {
        if !self.expected.is_empty() {
            self.expected.retain(|(expected, _)| *expected != column);
        }
    }

    /// A row has such a key.
    pub(crate) fn take(&mut self, key: &str, line: impl FnOnce() -> Line) {
        if let Some((_, count)) = self.counts.iter_mut().find(|(known, _)| known == key) {
            *count += 1;
        } else if self.counts.len() < MOST {
            self.remarks.push(Finding::LateKey { line: line(), key: key.to_owned() }.remark());
            self.counts.push((key.to_owned(), 1));
        } else {
            if self.others == 0 {
                self.remarks.push(Finding::LateKeys(line()).remark());
            }
            self.others += 1;
        }
    }

    /// What a person was not told yet, one by one.
    pub(crate) fn take_remark(&mut self) -> Option<Remark> {
        (!self.remarks.is_empty()).then(|| self.remarks.remove(0))
    }

    /// Lines on what was left out.
    pub(crate) fn report(&self) -> Vec<String> {
        let rows = |count: u64| format!("{count} row{}", if count == 1 { "" } else { "s" });
        let keys = self.counts.iter();
        let lines = keys.map(|(key, count)| format!("key {key:?}: left out of {}, since it came late", rows(*count)));
        let others = format!("{} values of more keys were left out, since they came late", self.others);
        let absent = self.expected.iter().map(|(_, key)| format!("key {key:?}: was to be left out, and no row has it"));
        lines.chain((self.others > 0).then_some(others)).chain(absent).collect()
    }
}
