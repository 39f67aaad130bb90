//! The thread that learns: one job after the other, in the order in which they were asked for.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::Value as Json;
use tokio::sync::{mpsc, oneshot};

use super::model::{Reason, Row};
use super::{Save, Service};

/// What is asked of the thread.
pub(super) enum Job {
    /// Learn these rows; the answer may have nobody left who waits for it.
    Learn { rows: Vec<Row>, reply: oneshot::Sender<Learnt> },
    /// Write the model as it is now. It is done here, because the one thread that could change the model is then busy: predictions go on.
    Download { reply: oneshot::Sender<Result<Vec<u8>, Reason>> },
}

/// What became of rows.
#[derive(Default)]
pub(super) struct Learnt {
    /// What was predicted before learning, one for each row learnt.
    pub(super) predictions: Vec<Json>,
    /// Rows that the model has met in its life.
    pub(super) met: u64,
    /// Why the row after them was refused; those behind it were not looked at.
    pub(super) refused: Option<Reason>,
}

pub(super) struct Learner {
    service: Arc<Service>,
    save: Save,
    /// Whether what is saved is behind the model.
    unsaved: bool,
}

impl Learner {
    pub(super) fn new(service: Arc<Service>, save: Save) -> Self {
        Self { service, save, unsaved: false }
    }

    /// Works until nobody is left who could ask for more; then saves.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) -> Result<(), Reason> {
        while let Some(job) = jobs.blocking_recv() {
            match job {
                Job::Learn { rows, reply } => drop(reply.send(self.learn(&rows))),
                Job::Download { reply } => drop(reply.send(self.service.model.blocking_read().to_bytes())),
            }
        }
        if self.unsaved { self.save() } else { Ok(()) }
    }

    fn learn(&mut self, rows: &[Row]) -> Learnt {
        let mut learnt = Learnt::default();
        for row in rows {
            match self.learn_row(row) {
                Ok(prediction) => learnt.predictions.push(prediction),
                Err(why) => {
                    learnt.refused = Some(why);
                    break;
                }
            }
        }
        learnt.met = self.service.metrics.met();
        learnt
    }

    /// What is refused leaves the model as it was, and does not count as met.
    fn learn_row(&mut self, row: &Row) -> Result<Json, Reason> {
        let service = &*self.service;
        let (prediction, standing) = {
            let mut model = service.model.blocking_write();
            (model.learn(row)?, model.standing())
        };
        self.unsaved = true;
        service.metrics.learnt.fetch_add(1, Relaxed);
        service.metrics.model(standing);
        service.curve.record(standing);
        let told = prediction.json(&service.schema, false);
        if service.options.checkpoint.is_some_and(|every| standing.met.is_multiple_of(every.get())) {
            self.checkpoint();
        }
        Ok(told)
    }

    fn save(&mut self) -> Result<(), Reason> {
        let bytes = self.service.model.blocking_read().to_bytes()?;
        (self.save)(bytes)
    }

    /// A full disk does not end the service: the next checkpoint, or the end, may find room.
    fn checkpoint(&mut self) {
        let saved = self.save();
        let metrics = &self.service.metrics;
        metrics.unsaved.store(saved.is_err(), Relaxed);
        match saved {
            Ok(()) => {
                self.unsaved = false;
                metrics.checkpoints.fetch_add(1, Relaxed);
            }
            Err(why) => {
                metrics.failed_checkpoints.fetch_add(1, Relaxed);
                (self.service.options.log)(&format!("{why}; the service goes on"));
            }
        }
    }
}
