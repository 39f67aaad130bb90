//! Every crash of short histories, tried on a disk in memory: a kill or a loss of power at each
//! write, each shortening and each rename, then another in the start that follows. The journal is
//! the real one; the model is the list of the rows that it has learnt.
//!
//! A kill keeps what was written. A loss of power keeps some first part of what was not yet brought
//! to the disk, of the journal and of the folder of the model independently.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use mercer_serve::{Row, Value};

use super::Place;
use super::frames::{self, Rest};
use super::row_log::{Medium, Misfit, Phase, Replayed, RowLog};

/// What a service is asked.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// To learn so many rows in one request.
    Learn(u8),
    Save,
}

const ACTS: [Act; 3] = [Act::Learn(1), Act::Learn(2), Act::Save];

/// What is done otherwise than it should, so that this check fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// A start takes its rows for saved, whether they are or not.
    StartsSaved,
    /// Marks are not brought to the disk.
    LazyMarks,
    /// Saves leave no mark.
    NoMarks,
    /// The journal is shortened before the model is in its place.
    ShortenedFirst,
    /// Rows are answered before the disk has them.
    LazyRows,
}

/// How the process is stopped at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Crash {
    Kill,
    /// So many of the changes that wait are on the disk, and whether the rename is.
    Power(usize, bool),
    /// The step fails, and the process goes on.
    Full,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Shorten(usize),
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(at, new) => {
            bytes.resize(bytes.len().max(at + new.len()), 0);
            bytes[*at..at + new.len()].copy_from_slice(new);
        }
        Change::Shorten(length) => bytes.resize(*length, 0),
    }
}

/// Both files, as they are and as the disk has them.
#[derive(Clone, Default)]
struct Disk {
    journal: Vec<u8>,
    kept: Vec<u8>,
    waiting: Vec<Change>,
    model: Vec<u8>,
    kept_model: Vec<u8>,
    /// Steps until the end.
    left: Option<(usize, Crash)>,
    /// Steps taken.
    steps: usize,
    dead: bool,
    fault: Option<Fault>,
}

impl Disk {
    /// A step; `part` is what a kill in its midst leaves of it.
    fn step(&mut self, change: Option<Change>) -> io::Result<()> {
        let stopped = || Err(io::ErrorKind::Other.into());
        if self.dead {
            return stopped();
        }
        self.steps += 1;
        match &mut self.left {
            Some((0, end)) => {
                let end = *end;
                self.left = None;
                if end != Crash::Full {
                    self.dead = true;
                }
                // A write is torn in the middle.
                if let Some(Change::Write(at, bytes)) = change {
                    let torn = Change::Write(at, bytes[..bytes.len() / 2].to_vec());
                    apply(&mut self.journal, &torn);
                    self.waiting.push(torn);
                }
                if let Crash::Power(kept, renamed) = end {
                    let mut bytes = self.kept.clone();
                    self.waiting.iter().take(kept).for_each(|change| apply(&mut bytes, change));
                    self.journal = bytes;
                    if !renamed {
                        self.model.clone_from(&self.kept_model);
                    }
                }
                return stopped();
            }
            Some((left, _)) => *left -= 1,
            None => {}
        }
        if let Some(change) = change {
            apply(&mut self.journal, &change);
            self.waiting.push(change);
        }
        Ok(())
    }

    fn restarted(&self, left: Option<(usize, Crash)>) -> Self {
        Self {
            journal: self.journal.clone(),
            kept: self.journal.clone(),
            model: self.model.clone(),
            kept_model: self.model.clone(),
            left,
            fault: self.fault,
            ..Self::default()
        }
    }
}

#[derive(Clone)]
struct Shared(Rc<RefCell<Disk>>);

impl Medium for Shared {
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mark = at > 0 && (at as usize) < frames::BEGINNING;
        if mark && self.0.borrow().fault == Some(Fault::NoMarks) {
            return Ok(());
        }
        self.0.borrow_mut().step(Some(Change::Write(at as usize, bytes.to_vec())))
    }

    fn shorten(&mut self, length: u64) -> io::Result<()> {
        self.0.borrow_mut().step(Some(Change::Shorten(length as usize)))
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut disk = self.0.borrow_mut();
        disk.step(None)?;
        if disk.fault != Some(Fault::LazyMarks) {
            disk.kept = disk.journal.clone();
            disk.waiting.clear();
        }
        Ok(())
    }
}

/// The rows that it has learnt.
#[derive(Clone)]
struct Ids(Vec<u8>);

impl Replayed for Ids {
    fn place(&self) -> Place {
        Place { met: self.0.len() as u64, fingerprint: crc32fast::hash(&self.0) }
    }

    fn learn(&mut self, row: &Row) -> Result<(), String> {
        self.0.push(row.values[0].number() as u8);
        Ok(())
    }
}

/// A service on a disk, and what it has told.
struct Trial {
    disk: Shared,
    model: Ids,
    log: RowLog<Shared>,
    answered: usize,
}

impl Trial {
    /// Starts as the service does; none if the process was stopped meanwhile.
    fn start(disk: &Shared) -> Result<Option<Self>, String> {
        let (bytes, mut model, fault) = {
            let disk = disk.0.borrow();
            (disk.journal.clone(), Ids(disk.model.clone()), disk.fault)
        };
        let contents = frames::read(&bytes).map_err(|why| format!("{why:?}"))?;
        if contents.rest == Rest::Damaged {
            return Err("damaged".to_owned());
        }
        let Ok(mut log) = RowLog::new(disk.clone(), contents) else { return Ok(None) };
        match log.replay(&mut model, &|| Ok(())) {
            Ok(_) => {}
            // A start that cannot write ends with that message, and the next one may have room.
            Err(Misfit::Medium(_)) => return Ok(None),
            Err(why) => return Err(format!("{why:?}")),
        }
        let answered = model.0.len();
        let mut trial = Self { disk: disk.clone(), model, log, answered };
        if fault == Some(Fault::StartsSaved) {
            trial.save_with(true);
        } else {
            trial.save();
        }
        Ok((!disk.0.borrow().dead).then_some(trial))
    }

    fn save(&mut self) {
        self.save_with(false);
    }

    /// `pretended` saves come to nothing.
    fn save_with(&mut self, pretended: bool) {
        let (disk, ids) = (self.disk.clone(), self.model.0.clone());
        let mut put = || {
            if pretended {
                return Ok(());
            }
            let mut disk = disk.0.borrow_mut();
            // The new file beside it, its name, and the folder.
            disk.step(None)?;
            disk.step(None)?;
            disk.model.clone_from(&ids);
            disk.step(None)?;
            disk.kept_model.clone_from(&ids);
            Ok(())
        };
        let place = self.model.place();
        if self.disk.0.borrow().fault == Some(Fault::ShortenedFirst) {
            drop(self.log.save(place, &mut || Ok(())));
            drop(self.log.forget());
            drop(put());
            return;
        }
        drop(self.log.save(place, &mut put));
        drop(self.log.forget());
    }

    fn act(&mut self, act: Act) {
        let Act::Learn(count) = act else { return self.save() };
        let first = self.model.0.len() as u8;
        let row =
            |id: u8| Row { values: vec![Value::Number(f64::from(id))], targets: Vec::new(), weight: f64::from(id) };
        let rows: Vec<Row> = (first..first + count).map(row).collect();
        let durably = self.disk.0.borrow().fault != Some(Fault::LazyRows);
        if self.log.accept(&rows, self.model.place(), durably).is_err() {
            return;
        }
        rows.iter().for_each(|row| drop(self.model.learn(row)));
        if !self.disk.0.borrow().dead {
            self.answered = self.model.0.len();
        }
    }
}

/// What an undisturbed start makes of a disk must have all answered rows, once and in order.
fn check(disk: &Disk, answered: usize) -> Result<(), String> {
    let shared = Shared(Rc::new(RefCell::new(disk.restarted(None))));
    let trial = Trial::start(&shared)?.ok_or("an undisturbed start ends")?;
    let ids = &trial.model.0;
    let expected: Vec<u8> = (0..ids.len() as u8).collect();
    if ids.len() < answered || *ids != expected {
        return Err(format!("{answered} rows were answered, and {ids:?} are found"));
    }
    if trial.log.phase() != Phase::Empty || shared.0.borrow().model != *ids {
        return Err("an undisturbed start leaves rows unsaved".to_owned());
    }
    Ok(())
}

/// The ends of a process at a step.
fn ends(waiting: usize) -> impl Iterator<Item = Crash> {
    let power = (0..=waiting).flat_map(|kept| [Crash::Power(kept, false), Crash::Power(kept, true)]);
    [Crash::Kill, Crash::Full].into_iter().chain(power)
}

/// Changes that may wait at most in the histories here.
const WAITING: usize = 4;

/// Tries all histories of so many acts; how many crashes were tried.
fn enumerate(length: usize, fault: Fault) -> Result<u64, String> {
    let mut tried = 0;
    for number in 0..ACTS.len().pow(length as u32) {
        let script: Vec<Act> = (0..length).map(|at| ACTS[number / ACTS.len().pow(at as u32) % ACTS.len()]).collect();
        for end in ends(WAITING) {
            for at in 0.. {
                let first = Disk { left: Some((at, end)), fault: Some(fault), ..Disk::default() };
                let disk = Shared(Rc::new(RefCell::new(first)));
                let mut answered = 0;
                if let Some(mut trial) = Trial::start(&disk)? {
                    script.iter().for_each(|act| trial.act(*act));
                    answered = trial.answered;
                }
                let after = disk.0.borrow().clone();
                let told = |why| format!("{script:?}, {end:?} at step {at}: {why}");
                tried += restart(&after, answered).map_err(told)?;
                if after.left.is_some() {
                    break;
                }
            }
        }
    }
    Ok(tried)
}

/// Starts on a disk, and stops the start at each of its steps; how many were tried.
fn restart(after: &Disk, answered: usize) -> Result<u64, String> {
    check(after, answered)?;
    let mut tried = 1;
    for end in ends(2) {
        for at in 0.. {
            let disk = Shared(Rc::new(RefCell::new(after.restarted(Some((at, end))))));
            Trial::start(&disk).map_err(|why| format!("then {end:?} at step {at} of the start: {why}"))?;
            let after = disk.0.borrow().clone();
            check(&after, answered).map_err(|why| format!("then {end:?} at step {at} of the start: {why}"))?;
            tried += 1;
            if after.left.is_some() {
                break;
            }
        }
    }
    Ok(tried)
}

#[test]
fn no_crash_loses_an_answered_row_or_locks_out() {
    let tried: u64 = (0..=4).map(|length| enumerate(length, Fault::None).unwrap()).sum();
    assert!(tried > 100_000, "{tried}");
}

/// The check can fail: each of these is how a journal loses rows, or is not started again.
#[test]
fn each_fault_of_a_journal_is_found() {
    for fault in [Fault::StartsSaved, Fault::LazyMarks, Fault::NoMarks, Fault::ShortenedFirst, Fault::LazyRows] {
        let found = (0..=3).find_map(|length| enumerate(length, fault).err());
        assert!(found.is_some(), "{fault:?} is not found");
    }
}
