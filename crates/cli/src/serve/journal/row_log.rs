//! A journal as a state machine: rows are accepted, the model is saved, the file is shortened. A
//! good save alone shortens it.
//!
//! | state | its file | what may follow |
//! |---|---|---|
//! | [`Phase::Found`] | rows of a killed service | they are replayed |
//! | [`Phase::Empty`] | no rows | rows are accepted |
//! | [`Phase::Unsaved`] | rows that the saved model may lack | rows are accepted, the model is saved |
//! | [`Phase::Saved`] | rows that it has | the file is shortened |
//!
//! A save first marks where the model stands, and brings the mark and all rows to the disk; then it
//! puts the model in its place. So a model that is found stands at a mark or before a frame,
//! whichever crash came in between. The model is saved between two requests, or slices of one, and
//! never in the midst of a frame. Hence a mark that is overwritten is no loss: the frame behind it
//! tells the same place.

use std::io;

use mercer_serve::{Reason, Row};

use super::Place;
use super::frames::{self, BEGINNING, Contents, RowFrame};

/// What a journal is written on.
pub(super) trait Medium {
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
    fn shorten(&mut self, length: u64) -> io::Result<()>;
    fn sync(&mut self) -> io::Result<()>;
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    Found,
    Empty,
    Unsaved,
    Saved,
}

/// Why the rows of a journal are not those behind a model.
#[derive(Debug)]
pub(super) enum Misfit {
    /// The model lacks rows before the first of the journal.
    Behind { first: u64 },
    /// It has met more rows than the journal knows of.
    Beyond { last: u64 },
    /// It has met other rows.
    Other,
    /// A row of the journal cannot be a row of the model, or is refused where it was accepted.
    Row { at: u64, why: String },
    /// The file could not be brought in order.
    Medium(io::Error),
}

/// What a model does with rows that are replayed.
pub(super) trait Replayed {
    fn place(&self) -> Place;
    fn learn(&mut self, row: &Row) -> Result<(), String>;
}

pub(super) struct RowLog<M> {
    pub(super) medium: M,
    phase: Phase,
    frames: Vec<RowFrame>,
    marks: [Option<Place>; 2],
    /// The slot that the next mark takes.
    slot: usize,
    /// Where the next frame begins.
    end: u64,
    /// The rows before that.
    rows: u64,
    /// True if bytes may stand behind that, of a frame that could not be written.
    torn: bool,
}

impl<M: Medium> RowLog<M> {
    /// Goes on with what a file holds.
    ///
    /// # Errors
    /// If a file without a head cannot be given one.
    pub(super) fn new(mut medium: M, contents: Contents) -> io::Result<Self> {
        let Contents { marks, frames, end, .. } = contents;
        if end < BEGINNING {
            medium.shorten(0)?;
            medium.write(0, &frames::beginning())?;
        }
        let phase = if frames.is_empty() { Phase::Empty } else { Phase::Found };
        let end = end.max(BEGINNING) as u64;
        let rows = frames.iter().map(|frame| frame.rows.len() as u64).sum();
        Ok(Self { medium, phase, frames, marks, slot: 0, end, rows, torn: false })
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Its rows and bytes.
    pub(super) fn size(&self) -> [u64; 2] {
        [self.rows, self.end]
    }

    /// Has the model learn the rows that it has not met yet; how many they were, and how many it
    /// refused. Then `keep` is to copy what is torn, and it is cut off.
    pub(super) fn replay(
        &mut self,
        model: &mut impl Replayed,
        keep: &dyn Fn() -> io::Result<()>,
    ) -> Result<(u64, u64), Misfit> {
        let before = model.place();
        let known = self.frames.iter().map(|frame| frame.place).chain(self.marks.into_iter().flatten());
        if !self.frames.is_empty() && !known.into_iter().any(|place| place == before) {
            return Err(self.misfit(before));
        }
        let frames = std::mem::take(&mut self.frames);
        let (mut learnt, mut refused) = (0, 0);
        for (frame, next) in frames.iter().zip(frames.iter().skip(1).map(Some).chain([None])) {
            // Rows behind one that was refused were not looked at.
            let end = next.map_or(u64::MAX, |next| next.place.met);
            for (row, at) in frame.rows.iter().zip(frame.place.met..end) {
                let met = model.place().met;
                if at < met {
                    continue;
                }
                if at > met {
                    return Err(Misfit::Behind { first: at });
                }
                match model.learn(row) {
                    Ok(()) => learnt += 1,
                    Err(_) if next.is_none() => {
                        refused += 1;
                        break;
                    }
                    Err(why) => return Err(Misfit::Row { at: at + 1, why }),
                }
            }
        }
        keep().and_then(|()| self.medium.shorten(self.end)).map_err(Misfit::Medium)?;
        self.phase = if frames.is_empty() { Phase::Empty } else { Phase::Unsaved };
        // A mark that the model stands at is the last to be overwritten.
        self.slot = usize::from(self.marks[0] == Some(before));
        Ok((learnt, refused))
    }

    fn misfit(&self, model: Place) -> Misfit {
        let (Some(first), Some(last)) = (self.frames.first(), self.frames.last()) else { return Misfit::Other };
        let end = last.place.met + last.rows.len() as u64;
        match model.met {
            met if met < first.place.met => Misfit::Behind { first: first.place.met },
            met if met > end => Misfit::Beyond { last: end },
            _ => Misfit::Other,
        }
    }

    /// Writes rows which the model as it stands is about to learn; `durably` brings them to the
    /// disk.
    ///
    /// # Errors
    /// If they cannot be written: nothing of them is then left, and they must not be learnt.
    pub(super) fn accept(&mut self, rows: &[Row], place: Place, durably: bool) -> Result<(), Reason> {
        if self.phase == Phase::Found {
            return Err("its rows were not learnt yet".into());
        }
        self.forget()?;
        let whole = frames::frame(place, rows)?;
        if let Err(error) = self.put(&whole, durably) {
            self.torn = self.medium.shorten(self.end).is_err();
            return Err(error.into());
        }
        self.end += whole.len() as u64;
        self.rows += rows.len() as u64;
        self.phase = Phase::Unsaved;
        Ok(())
    }

    fn put(&mut self, whole: &[u8], durably: bool) -> io::Result<()> {
        if self.torn {
            self.medium.shorten(self.end)?;
            self.torn = false;
        }
        self.medium.write(self.end, whole)?;
        if durably { self.medium.sync() } else { Ok(()) }
    }

    /// Saves the model, which stands there, between a mark and the shortening of the file.
    ///
    /// # Errors
    /// If the model could not be saved; the file then keeps its rows.
    pub(super) fn save(&mut self, place: Place, save: &mut dyn FnMut() -> Result<(), Reason>) -> Result<(), Reason> {
        if self.phase == Phase::Found {
            return Err("its rows were not learnt yet".into());
        }
        if self.phase != Phase::Empty {
            let (at, bytes) = frames::mark(self.slot, place);
            self.medium.write(at, &bytes)?;
            self.medium.sync()?;
            self.marks[self.slot] = Some(place);
            self.slot = 1 - self.slot;
        }
        save()?;
        if self.phase == Phase::Unsaved {
            self.phase = Phase::Saved;
        }
        Ok(())
    }

    /// Forgets the rows that the saved model has; if the file cannot be shortened, that is tried
    /// again before the next ones are accepted.
    ///
    /// # Errors
    /// If the file cannot be shortened: its rows do no harm.
    pub(super) fn forget(&mut self) -> Result<(), Reason> {
        if self.phase == Phase::Saved {
            self.medium.shorten(BEGINNING as u64)?;
            (self.end, self.rows) = (BEGINNING as u64, 0);
            (self.torn, self.phase) = (false, Phase::Empty);
        }
        Ok(())
    }

    /// True if so many bytes can be written, which are taken back at once.
    pub(super) fn has_room(&mut self, bytes: usize) -> bool {
        let written = self.medium.write(self.end, &vec![0; bytes]).is_ok();
        self.torn = self.medium.shorten(self.end).is_err();
        written && !self.torn
    }
}
