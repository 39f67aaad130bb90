//! The file of a model that learns: written when the rows end, every so many rows before that, and
//! gone on from.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use clap::Args;
use mercer_session::model::{ModelError, RowDigest};

use crate::arguments::every;
use crate::data::stop::Stop;
use crate::model::lock::{self, ModelLock};
use crate::model::store;
use crate::model::store::SavedModel;
use crate::report::failure::Failure;
use crate::report::output::{is_read, same_file};

/// What `forecast` and `koopman` are told of model files.
#[derive(Args)]
pub(crate) struct SaveArguments {
    /// Go on with the model in this file, which --out has written: it knows what it was made with
    /// and which column is what
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Save the model in this file when the rows end, or SIGINT, SIGTERM or SIGHUP ends them
    #[arg(short, long, alias = "save", value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// With --out, write the model after every so many rows, too
    #[arg(long, value_name = "EVERY", value_parser = every, requires = "out")]
    checkpoint: Option<NonZeroU64>,
    /// Go on from the file of --out, if it is there: the rows and all options must be those of the
    /// run that wrote it
    #[arg(long, requires = "out")]
    resume: bool,
}

impl SaveArguments {
    /// Takes the lock of the file that will be written, which may be the one that is read.
    pub(crate) fn lock(&self) -> Result<Option<ModelLock>, Failure> {
        self.out.as_deref().map(|path| lock::take("--out", path)).transpose()
    }

    /// Refuses what cannot work, and listens for signals where there is something to be saved.
    pub(crate) fn prepare(&self, inputs: &[&Path]) -> Result<Stop, Failure> {
        let Some(save) = &self.out else { return Ok(Stop::never()) };
        refuse_same_file("--out", save, inputs)?;
        if self.resume && self.model.as_ref().is_some_and(|model| same_file(model, save)) {
            return Err(Failure::usage(
                "--resume needs the file of --model as it was at first; give --out a file of its own",
            ));
        }
        store::check_place("--out", save)?;
        Stop::listen()
    }

    /// The file to go on from in the midst of the rows, if there is one.
    pub(crate) fn resumed(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| self.resume && path.exists())
    }

    /// The file to write, when rows that `shown` names begin behind those of `start`.
    pub(crate) fn saving(&self, shown: &str, start: RowDigest, goal: RowDigest) -> Option<Saving> {
        let path = self.out.clone()?;
        Some(Saving::new("--out", path, self.checkpoint).resuming(shown, start, goal))
    }
}

/// The file and when it is written; and while a run is resumed, the rows that the model has learnt:
/// they are read again, and must be the same.
pub(crate) struct Saving {
    /// The option that names the file.
    option: &'static str,
    path: PathBuf,
    every: Option<NonZeroU64>,
    /// How the rows are called.
    rows: String,
    met: RowDigest,
    goal: RowDigest,
    /// Rows that the model did not know; the last of them may be the one that ended the run.
    offered: u64,
    /// The file as it was written last.
    saved: RefCell<Option<SavedModel>>,
}

impl Saving {
    pub(crate) fn new(option: &'static str, path: PathBuf, every: Option<NonZeroU64>) -> Self {
        let (rows, met, goal) = (String::new(), RowDigest::default(), RowDigest::default());
        Self { option, path, every, rows, met, goal, offered: 0, saved: RefCell::default() }
    }

    /// The same for a run whose rows begin behind `start`, and whose model has learnt those up to
    /// `goal`.
    pub(crate) fn resuming(self, shown: &str, start: RowDigest, goal: RowDigest) -> Self {
        Self { rows: shown.to_owned(), met: start, goal, ..self }
    }

    /// Whether the model has learnt the next row already; it is told in the parts of
    /// [`RowDigest::after`].
    ///
    /// # Errors
    /// When the rows turn out not to be those that it has learnt.
    #[inline]
    pub(crate) fn knows(&mut self, row: [&[f64]; 2]) -> Result<bool, Failure> {
        self.knows_after(|met| met.after(row))
    }

    /// The same for a row that is told by what was met after it.
    ///
    /// # Errors
    /// As [`knows`](Self::knows).
    #[inline]
    pub(crate) fn knows_after(&mut self, after: impl FnOnce(RowDigest) -> RowDigest) -> Result<bool, Failure> {
        if self.has_caught_up() {
            self.offered += 1;
            return Ok(false);
        }
        self.met = after(self.met);
        if self.has_caught_up() && self.met != self.goal { Err(self.other_rows()) } else { Ok(true) }
    }

    /// True if all rows that the model has learnt were met again.
    pub(crate) fn has_caught_up(&self) -> bool {
        self.met.rows >= self.goal.rows
    }

    fn other_rows(&self) -> Failure {
        let (rows, path) = (&self.rows, self.path.display());
        let count = self.goal.rows;
        Failure::because(format!(
            "{rows}: its first {count} rows are not those that {path} has learnt; give the same data from the beginning, or leave \
             --resume out"
        ))
    }

    /// Writes the model if it is time to: it has met so many rows.
    #[inline]
    pub(crate) fn checkpoint(
        &self,
        rows: u64,
        model: impl FnOnce() -> Result<Vec<u8>, ModelError>,
    ) -> Result<(), Failure> {
        if self.is_due(rows) { self.save(model()) } else { Ok(()) }
    }

    /// Whether a model that has met so many rows is to be written.
    #[inline]
    pub(crate) fn is_due(&self, rows: u64) -> bool {
        self.every.is_some_and(|every| rows.is_multiple_of(every.get()))
    }

    /// Writes the model as it is now.
    pub(crate) fn save(&self, model: Result<Vec<u8>, ModelError>) -> Result<(), Failure> {
        let saved = store::save(self.option, &self.path, model)?;
        self.saved.replace(Some(saved));
        Ok(())
    }

    /// Whether the model is to be written when the rows have ended so.
    pub(crate) fn saves(&self, ended: &Result<(), Failure>) -> bool {
        match ended {
            // Of two rows at least one was learnt. A run that fails at once leaves the file as it
            // was.
            Err(_) => self.offered > 1,
            Ok(()) => self.has_caught_up(),
        }
    }

    /// Writes the model when the rows have ended, if the file is to be another than it is: also
    /// when a failure ended them, since a stream cannot be read again.
    ///
    /// # Errors
    /// Those that ended the rows, that the file cannot be written, and that the rows ended before
    /// they had reached what the model has learnt.
    pub(crate) fn end(
        &self,
        ended: Result<(), Failure>,
        stop: &Stop,
        model: impl FnOnce() -> Result<Vec<u8>, ModelError>,
    ) -> Result<(), Failure> {
        let saves = self.saves(&ended);
        match ended {
            Err(failure) if saves => Err(match self.save(model()) {
                Ok(()) => failure.with(&format!("what was learnt before that is saved in {}", self.path.display())),
                Err(unsaved) => failure.with(&unsaved.to_string()),
            }),
            Err(failure) => Err(failure),
            Ok(()) if saves => self.save(model()),
            // Ended by a signal before it had caught up: the file is as it was.
            Ok(()) if stop.requested() => Ok(()),
            Ok(()) => Err(self.other_rows()),
        }
    }
}

/// The model must not be written over what is read.
pub(crate) fn refuse_same_file(option: &str, path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    match is_read(path, inputs) {
        true => Err(Failure::usage(format!("{}: is read, so give another {option}", path.display()))),
        false => Ok(()),
    }
}

/// What a saved model says of itself, and what is said of the run that would begin now.
pub(crate) struct Fact<'a> {
    pub(crate) name: &'a str,
    pub(crate) saved: &'a str,
    pub(crate) now: &'a str,
}

/// Facts about the keys that both sides have. A model that an earlier program wrote lacks the keys
/// that have come since, and was made as their defaults have it.
pub(crate) fn parameter_facts<'a>(
    saved: &'a [(String, String)],
    now: &'a [(String, String)],
) -> impl Iterator<Item = Fact<'a>> {
    saved.iter().filter_map(|(name, saved)| {
        let (_, now) = now.iter().find(|(key, _)| key == name)?;
        Some(Fact { name, saved, now })
    })
}

/// Refuses to resume with a model that is not one of the run that would begin now: `facts` differ,
/// or `otherwise` names another difference.
pub(crate) fn check_same<'a>(
    path: &Path,
    facts: impl IntoIterator<Item = Fact<'a>>,
    otherwise: Option<&str>,
) -> Result<(), Failure> {
    let difference = facts.into_iter().find(|fact| fact.saved != fact.now);
    let difference = difference.map(|Fact { name, saved, now }| format!("its {name} is {saved}, not {now}"));
    match difference.or_else(|| otherwise.map(str::to_owned)) {
        None => Ok(()),
        Some(difference) => Err(Failure::because(format!(
            "{}: cannot be resumed with these options, since {difference}; give those of the run that wrote it, or leave \
             --resume out",
            path.display()
        ))),
    }
}
