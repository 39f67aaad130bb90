//! The sums so far of a run that may be killed, in a file beside that of the whole.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mercer_session::model::{Model, Moments, PartSource};

use super::FitArguments;
use super::files::FilePart;
use super::parts::Joined;
use crate::model::store;
use crate::report::failure::Failure;
use crate::report::verbosity;

/// Where the sums so far are kept, and how often.
pub(super) struct FitCheckpoint {
    path: PathBuf,
    /// `None` if they are not kept.
    every: Option<Duration>,
    last: Instant,
    shard: (u64, u64),
}

impl FitCheckpoint {
    /// The file beside that of the whole.
    pub(super) fn new(arguments: &FitArguments, shard: (u64, u64)) -> Result<Self, Failure> {
        let mut name = OsString::from(&arguments.out);
        name.push(".checkpoint");
        let (path, every) = (PathBuf::from(name), arguments.checkpoint.map(Duration::from_secs));
        if every.is_some() {
            store::check_place("--checkpoint", &path)?;
        }
        Ok(Self { path, every, last: Instant::now(), shard })
    }

    /// What a killed run of the same fit has left, to go on from: the first of these `pieces`.
    pub(super) fn found(
        &self,
        fresh: &Moments,
        pieces: &[FilePart],
        sources: &[(usize, PartSource)],
    ) -> Option<Joined> {
        if !store::is_model(&self.path) {
            return None;
        }
        let shown = self.path.display();
        let done = match store::load(&self.path).map(|loaded| loaded.model) {
            Ok(Model::Moments(state)) => self.done(&state, fresh, pieces, sources).map(|done| Joined::of(&state, done)),
            Ok(_) | Err(_) => None,
        };
        match &done {
            Some(joined) => verbosity::remark(format!(
                "{shown}: {} of {} parts are done, {} rows; going on",
                joined.parts,
                pieces.len(),
                joined.rows
            )),
            None => verbosity::remark(format!(
                "{shown}: is of other options, or of files that have changed since; beginning again"
            )),
        }
        done
    }

    /// How many pieces a state holds; `None` if it is of another fit.
    fn done(
        &self,
        state: &Moments,
        fresh: &Moments,
        pieces: &[FilePart],
        planned: &[(usize, PartSource)],
    ) -> Option<usize> {
        let [part] = &state.parts[..] else { return None };
        if (part.shard, part.of) != self.shard || state.check_same(fresh).is_err() || state.lambda != fresh.lambda {
            return None;
        }
        let sources = &part.sources;
        let about = |source: &PartSource| (source.name.clone(), source.digest, source.first);
        let planned_about = planned.iter().map(|(_, source)| about(source));
        if sources.len() > planned.len() || !sources.iter().map(about).eq(planned_about.take(sources.len())) {
            return None;
        }
        // Pieces are in the order of their files.
        let (mut done, mut of_files) = (0, pieces.chunk_by(|one, next| one.file == next.file));
        for source in sources {
            let of_file = of_files.next()?;
            // A file of one piece is done if it is there; others up to a cut.
            let whole = |piece: &&FilePart| of_file.len() == 1 || piece.rows.end <= source.end;
            let there = of_file.iter().filter(whole).count();
            let end = of_file.get(there.checked_sub(1)?)?.rows.end;
            if of_file.len() > 1 && end != source.end {
                return None;
            }
            done += there;
        }
        Some(done)
    }

    /// Keeps what was joined, if it is time.
    pub(super) fn keep(&mut self, joined: &Joined, fresh: &Moments) -> Result<(), Failure> {
        if self.every.is_none_or(|every| self.last.elapsed() < every) {
            return Ok(());
        }
        drop(store::save("--checkpoint", &self.path, joined.state(fresh, self.shard)?.to_bytes())?);
        self.last = Instant::now();
        verbosity::more(|| format!("{}: {} parts are done, {} rows", self.path.display(), joined.parts, joined.rows));
        Ok(())
    }

    /// Takes the file away, when the whole is in its place.
    pub(super) fn remove(&self) {
        // One that stays is of files that are in the whole: it is never gone on from.
        if store::is_model(&self.path) {
            drop(fs::remove_file(&self.path));
        }
    }
}
