//! The journal of a service: a file of the rows that were accepted since the model was saved.
//!
//! [`RowLog`] is the state machine, over a [`Medium`] that writes, shortens and syncs. A file is
//! one; a disk in memory is another, on which `enumeration` tries every crash of short histories.

mod command;
#[cfg(test)]
mod enumeration;
mod file;
mod frames;
mod row_log;

pub(crate) use command::{JournalCommand, run};
pub(super) use file::{JournalFile, JournalSync, number};

/// Where a model stands: the rows that it has met, and a checksum of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) met: u64,
    pub(super) fingerprint: u32,
}

impl Place {
    fn of(standing: mercer_serve::Standing) -> Self {
        Self { met: standing.met, fingerprint: standing.fingerprint }
    }
}
