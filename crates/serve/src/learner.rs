//! The thread that learns: one job after the other, in the order in which they were asked for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use mercer_core::OddCells;
use tokio::sync::{mpsc, oneshot};

use super::model::{Model, Reason, Row};
use super::{Journal, Keeping, Level, Replica, Save, Service, Snapshot};

/// Rows learnt at which the model is asked for remarks first; later at each doubling.
const FEWEST_REMARKED: u64 = 256;

/// When a journal that takes nothing may have been emptied, and a save that failed is tried again.
const RETRY: Duration = Duration::from_secs(10);

/// How often the same trouble is told.
const TOLD: Duration = Duration::from_secs(60);

/// Job for the thread.
pub(super) enum LearnerJob {
    /// Learn these rows; the answer may have nobody left who waits for it.
    Learn { rows: Vec<Row>, reply: oneshot::Sender<Learnt> },
    /// Write the model as it is now. It is done here, because the one thread that could change the
    /// model is then busy: predictions go on.
    Download { reply: oneshot::Sender<Result<Vec<u8>, Reason>> },
    /// Keep a copy of the model, or go back to it; the rows that the model has met are told.
    Copy { back: bool, reply: oneshot::Sender<Result<u64, Reason>> },
    /// Save, if it is time to.
    Save,
    /// Save what is to be saved, and end; go on if that fails.
    Close { reply: oneshot::Sender<Result<(), Reason>> },
    /// Serve the file as it is now, in a service that only reads it.
    Reload { reply: Option<oneshot::Sender<Result<u64, Reason>>> },
}

/// Outcome of rows.
#[derive(Default)]
pub(super) struct Learnt {
    /// The predictions before learning, each as JSON, with commas between.
    pub(super) answers: String,
    pub(super) rows: usize,
    /// Rows that the model has met in its life.
    pub(super) met: u64,
    pub(super) odd: OddCells,
    /// Why the rows behind them were not looked at.
    pub(super) stop: Option<Stop>,
}

/// Why some rows of a request are not learnt.
pub(super) enum Stop {
    /// The first of them was refused.
    Refused(Reason),
    /// They may be sent again after a while.
    Later(Reason, Duration),
}

pub(super) struct LearnerThread {
    service: Arc<Service>,
    save: Save,
    journal: Option<Box<dyn Journal>>,
    snapshot: Option<Box<dyn Snapshot>>,
    replica: Option<Box<dyn Replica>>,
    /// True if what is saved is behind the model.
    unsaved: bool,
    /// When it was last saved, or could not be.
    last: Instant,
    /// The bytes of rows that the journal did not take.
    untaken: Option<usize>,
    /// Troubles, and when they were last told.
    told: BTreeMap<String, Instant>,
}

impl LearnerThread {
    pub(super) fn new(service: Arc<Service>, keeping: Keeping) -> Self {
        let Keeping { save, journal, snapshot, replica, unsaved, .. } = keeping;
        service.metrics.unsaved.store(unsaved, Relaxed);
        let (last, told) = (Instant::now(), BTreeMap::new());
        Self { service, save, journal, snapshot, replica, unsaved, last, untaken: None, told }
    }

    /// Works until nobody is left who could ask for more; then saves.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<LearnerJob>) -> Result<(), Reason> {
        while let Some(job) = jobs.blocking_recv() {
            match job {
                // Nobody is left who waits.
                LearnerJob::Learn { .. } if self.service.ended.load(Relaxed) => {}
                LearnerJob::Learn { rows, reply } => drop(reply.send(self.learn_request(&rows))),
                LearnerJob::Download { reply } => drop(reply.send(self.service.model.blocking_read().to_bytes())),
                LearnerJob::Copy { back: false, reply } => drop(reply.send(self.keep_copy())),
                LearnerJob::Copy { back: true, reply } => drop(reply.send(self.go_back())),
                LearnerJob::Save => {
                    self.save_in_time();
                    self.look_for_newer();
                }
                LearnerJob::Close { reply } => match self.save_at_once() {
                    Ok(()) => {
                        drop(reply.send(Ok(())));
                        break;
                    }
                    failed => drop(reply.send(failed)),
                },
                LearnerJob::Reload { reply } => self.reload(reply),
            }
        }
        self.save_at_once()
    }

    fn save_at_once(&mut self) -> Result<(), Reason> {
        if self.unsaved {
            self.save()?;
        }
        self.sync_journal();
        Ok(())
    }

    /// A file that was put in the place of the one that is served is served from then on.
    fn look_for_newer(&mut self) {
        if self.replica.as_mut().is_some_and(|replica| replica.has_changed()) {
            self.reload(None);
        }
    }

    /// Serves the file as it is now; what was served goes on if that is none.
    fn reload(&mut self, reply: Option<oneshot::Sender<Result<u64, Reason>>>) {
        let loaded = match &mut self.replica {
            Some(replica) => replica.model(),
            None => Err("this service learns, and its model is the newest".into()),
        };
        let served = loaded.and_then(|model| self.replace(model));
        self.service.metrics.reloaded(served.is_ok());
        match &served {
            Ok(rows) => {
                let text = format!("the model was read anew, and has met {rows} rows");
                (self.service.options.log)(Level::Info, &text);
            }
            Err(why) => self.tell(format!("{why}; the model from before is served on")),
        }
        if let Some(reply) = reply {
            drop(reply.send(served));
        }
    }

    /// Puts another model in the place of this one, if requests may go on as they are.
    fn replace(&mut self, model: Box<dyn Model>) -> Result<u64, Reason> {
        let service = Arc::clone(&self.service);
        let named = model.schema();
        if !named.names().eq(service.schema.names())
            || named.classes.is_some() != service.schema.classes.is_some()
            || named.series != service.schema.series
        {
            return Err("the other model has other columns than this one".into());
        }
        let standing = model.standing();
        service.set_openapi(&named);
        *service.model.blocking_write() = model;
        service.metrics.model(standing);
        service.metrics.saved();
        service.curve.restart(standing);
        Ok(standing.met)
    }

    fn copies(&mut self) -> Result<&mut dyn Snapshot, Reason> {
        match &mut self.snapshot {
            Some(snapshot) => Ok(&mut **snapshot),
            None => Err("this service has no place for snapshots".into()),
        }
    }

    fn keep_copy(&mut self) -> Result<u64, Reason> {
        let bytes = self.service.model.blocking_read().to_bytes()?;
        self.copies()?.keep(bytes)?;
        Ok(self.service.metrics.met())
    }

    /// Puts the copy in the place of the model, once the file holds it. What was learnt is saved
    /// before, so that the journal is empty, and a crash in between leaves one of the two models.
    fn go_back(&mut self) -> Result<u64, Reason> {
        let model = self.copies()?.model()?;
        if !model.schema().names().eq(self.service.schema.names()) {
            return Err("the snapshot has other columns than the model".into());
        }
        if self.unsaved {
            self.checkpoint();
        }
        if self.unsaved {
            return Err("what was learnt could not be saved before; see the messages of the service".into());
        }
        // The journal has no rows of the model from before when the file holds another.
        self.journal.as_mut().map_or(Ok(()), |journal| journal.sync())?;
        (self.save)(model.to_bytes()?)?;
        self.replace(model)
    }

    /// Learns the rows of a request for as long as they may be learnt.
    fn learn_request(&mut self, rows: &[Row]) -> Learnt {
        let service = Arc::clone(&self.service);
        let (begun, most) = (Instant::now(), service.options.limits.learning);
        let mut learnt = Learnt::default();
        let mut left = rows;
        while !left.is_empty() && learnt.stop.is_none() {
            if learnt.rows > 0 && begun.elapsed() > most {
                let why = format!("the rows of a request are learnt for {} s at most", most.as_secs());
                learnt.stop = Some(Stop::Later(why.into(), Duration::ZERO));
                break;
            }
            // A save is made behind a slice, and so is a checkpoint.
            let due = service.options.checkpoint.map(|every| every.get() - service.metrics.met() % every);
            let due = due.map_or(usize::MAX, |due| usize::try_from(due).unwrap_or(usize::MAX));
            let (slice, rest) = left.split_at(service.queue.slice().min(due).min(left.len()));
            let before = learnt.rows;
            self.learn_slice(slice, rows.len(), &mut learnt);
            if learnt.rows - before == due {
                self.checkpoint();
            }
            self.save_in_time();
            left = rest;
        }
        service.queue.leave(rows.len() - learnt.rows);
        learnt.met = service.metrics.met();
        learnt
    }

    /// Learns some of so many rows once the journal has them.
    fn learn_slice(&mut self, rows: &[Row], of: usize, learnt: &mut Learnt) {
        let (begun, before) = (Instant::now(), learnt.rows);
        let (rows, refused) = {
            let model = self.service.model.blocking_read();
            match model.screen(rows) {
                Ok(()) => (rows, None),
                Err((first, why)) => (&rows[..first], Some(why)),
            }
        };
        if let Err(why) = self.write_down(rows) {
            learnt.stop = Some(Stop::Later(why, RETRY));
            return;
        }
        for row in rows {
            if learnt.rows > 0 {
                learnt.answers.push(',');
            }
            if let Err(why) = self.learn_row(row, of, learnt) {
                learnt.stop = Some(Stop::Refused(why));
                break;
            }
            learnt.rows += 1;
            self.service.queue.leave(1);
        }
        self.service.queue.pace(learnt.rows - before, begun.elapsed());
        if learnt.stop.is_none() {
            learnt.stop = refused.map(Stop::Refused);
        }
    }

    /// Has the journal take rows, if there is one.
    fn write_down(&mut self, rows: &[Row]) -> Result<(), Reason> {
        let Some(journal) = self.journal.as_mut().filter(|_| !rows.is_empty()) else { return Ok(()) };
        let standing = self.service.model.blocking_read().standing();
        let written = journal.append(rows, standing);
        let metrics = &self.service.metrics;
        metrics.journal_stuck.store(written.is_err(), Relaxed);
        self.untaken = None;
        if let Err(why) = &written {
            metrics.failed_journal.fetch_add(1, Relaxed);
            self.untaken = Some(rows.iter().map(Row::bytes).sum());
            // A journal that is emptied may have room again.
            self.service.save_now.fetch_or(self.unsaved, Relaxed);
            let why = format!("{why}; no row is learnt until it can be");
            self.tell(why);
        }
        written
    }

    /// Learns a row. A row that is refused leaves the model as it was, and does not count as met.
    fn learn_row(&mut self, row: &Row, of: usize, learnt: &mut Learnt) -> Result<(), Reason> {
        let Learnt { answers, odd, rows, .. } = learnt;
        let service = &*self.service;
        if service.ended.load(Relaxed) {
            return Err("the service has ended".into());
        }
        check_length(answers.len(), *rows, of)?;
        let (prediction, standing) = {
            let mut model = service.model.blocking_write();
            let prediction = model.learn(row)?;
            model.odd(row).into_iter().for_each(|(column, oddity)| _ = odd.take(column, oddity));
            (prediction, model.standing())
        };
        self.unsaved = true;
        service.metrics.unsaved_rows.fetch_add(1, Relaxed);
        let learnt = service.metrics.learnt(standing);
        if learnt >= FEWEST_REMARKED && learnt.is_power_of_two() {
            let said = service.model.blocking_read().remarks();
            service.metrics.remark(said).into_iter().for_each(|text| (service.options.log)(Level::Warning, &text));
        }
        service.curve.record(standing);
        answers.push_str(&prediction.json(&service.schema, false).to_string());
        Ok(())
    }

    /// Saves what has waited for it so long as it may, or what is to be saved at once. What could
    /// not be saved is tried again before long.
    fn save_in_time(&mut self) {
        let failed = self.service.metrics.unsaved.load(Relaxed);
        let time = self.service.options.checkpoint_time.map(|time| if failed { time.min(RETRY) } else { time });
        let due = time.is_some_and(|time| self.last.elapsed() >= time);
        if (self.service.save_now.swap(false, Relaxed) || due) && self.unsaved {
            self.checkpoint();
        }
        self.sync_journal();
        if let (Some(bytes), Some(journal)) = (self.untaken, &mut self.journal)
            && journal.takes_rows(bytes)
        {
            self.untaken = None;
            self.service.metrics.journal_stuck.store(false, Relaxed);
        }
    }

    /// A journal that fails is told, and ends nothing.
    fn sync_journal(&mut self) {
        let Some(journal) = &mut self.journal else { return };
        let synced = journal.sync();
        for (told, size) in self.service.metrics.journal.iter().zip(journal.size()) {
            told.store(size, Relaxed);
        }
        if let Err(why) = synced {
            self.service.metrics.failed_journal.fetch_add(1, Relaxed);
            self.tell(format!("{why}; the service goes on"));
        }
    }

    /// Tells a trouble, unless it was told lately.
    fn tell(&mut self, text: String) {
        self.told.retain(|_, since| since.elapsed() < TOLD);
        if !self.told.contains_key(&text) {
            let group = self.service.group.as_ref().map_or_else(String::new, |name| format!("group {name}: "));
            (self.service.options.log)(Level::Error, &format!("{group}{text}"));
            self.told.insert(text, Instant::now());
        }
    }

    fn save(&mut self) -> Result<(), Reason> {
        let (standing, bytes) = {
            let model = self.service.model.blocking_read();
            (model.standing(), model.to_bytes()?)
        };
        let (mut bytes, save) = (Some(bytes), &mut self.save);
        let mut once = || save(bytes.take().unwrap_or_default());
        match &mut self.journal {
            Some(journal) => journal.save(standing, &mut once)?,
            None => once()?,
        }
        self.unsaved = false;
        self.service.metrics.unsaved_rows.store(0, Relaxed);
        Ok(())
    }

    /// A full disk does not end the service: the next checkpoint, or the end, may find room.
    fn checkpoint(&mut self) {
        let saved = self.save();
        self.last = Instant::now();
        let metrics = &self.service.metrics;
        metrics.unsaved.store(saved.is_err(), Relaxed);
        match saved {
            Ok(()) => metrics.saved(),
            Err(why) => {
                metrics.failed_checkpoints.fetch_add(1, Relaxed);
                self.tell(format!("{why}; the service goes on"));
            }
        }
    }
}

/// Most bytes in the predictions of an answer.
const MOST_ANSWER: usize = 1 << 26;

/// Refuses predictions that would become too long, as those of the first rows tell: of many classes
/// they may be far longer than the rows that ask for them.
pub(super) fn check_length(bytes: usize, rows: usize, of: usize) -> Result<(), Reason> {
    if bytes / rows.max(1) * of <= MOST_ANSWER {
        return Ok(());
    }
    Err(format!("the predictions would have more than {MOST_ANSWER} bytes; send fewer rows in a request").into())
}
