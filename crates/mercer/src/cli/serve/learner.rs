//! The thread that learns: one job after the other, in the order in which they were asked for.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use tokio::sync::{mpsc, oneshot};

use super::Service;
use crate::cli::encoded::Sample;
use crate::cli::failure::Failure;
use crate::cli::notes::Watch;
use crate::cli::saving::Saving;
use crate::cli::trained::Answer;

/// What is asked of the thread.
pub(super) enum Job {
    /// Learn these rows; the answer may have nobody left who waits for it.
    Learn { samples: Vec<Sample>, reply: oneshot::Sender<Learnt> },
    /// Write the model as it is now. It is done here, because the one thread that could change the model is then busy: predictions go on.
    Download { reply: oneshot::Sender<Result<Vec<u8>, String>> },
}

/// What became of rows.
#[derive(Default)]
pub(super) struct Learnt {
    /// The predictions before learning, each as JSON, with commas between.
    pub(super) answers: String,
    pub(super) rows: usize,
    /// Rows that the model has met in its life.
    pub(super) met: u64,
    /// Why the row after them was refused; those behind it were not looked at.
    pub(super) refused: Option<String>,
}

pub(super) struct Learner {
    service: Arc<Service>,
    saving: Saving,
    watch: Watch,
    answer: Answer,
    /// Whether the file is behind the model.
    unsaved: bool,
}

impl Learner {
    pub(super) fn new(service: Arc<Service>, saving: Saving) -> Self {
        Self { service, saving, watch: Watch::default(), answer: Answer::default(), unsaved: false }
    }

    /// Works until nobody is left who could ask for more; then saves.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) -> Result<(), Failure> {
        while let Some(job) = jobs.blocking_recv() {
            match job {
                Job::Learn { samples, reply } => drop(reply.send(self.learn(samples))),
                Job::Download { reply } => {
                    let bytes = self.service.model.blocking_read().to_bytes();
                    drop(reply.send(bytes.map_err(|error| error.to_string())));
                }
            }
        }
        if !self.unsaved {
            return Ok(());
        }
        let bytes = self.service.model.blocking_read().to_bytes();
        self.saving.save(bytes)
    }

    fn learn(&mut self, samples: Vec<Sample>) -> Learnt {
        let mut learnt = Learnt::default();
        for mut sample in samples {
            if learnt.rows > 0 {
                learnt.answers.push(',');
            }
            match self.learn_row(&mut sample, &mut learnt.answers) {
                Ok(()) => learnt.rows += 1,
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
    fn learn_row(&mut self, sample: &mut Sample, answers: &mut String) -> Result<(), String> {
        let service = &*self.service;
        let weighted = service.schema.weight.is_some();
        let (met, standing, size) = {
            let mut model = service.model.blocking_write();
            model.learn(sample, weighted, &mut self.watch, &mut self.answer, answers)?;
            (model.met(), model.standing(), model.size())
        };
        self.unsaved = true;
        service.metrics.learnt.fetch_add(1, Relaxed);
        service.metrics.model(met, standing, size);
        service.curve.record(standing);
        let mut written = false;
        let saved = self.saving.checkpoint(met, || {
            written = true;
            service.model.blocking_read().to_bytes()
        });
        if written {
            self.note(saved);
        }
        Ok(())
    }

    /// A full disk does not end the service: the next checkpoint, or the end, may find room.
    fn note(&mut self, saved: Result<(), Failure>) {
        let metrics = &self.service.metrics;
        metrics.unsaved.store(saved.is_err(), Relaxed);
        match saved {
            Ok(()) => {
                self.unsaved = false;
                metrics.checkpoints.fetch_add(1, Relaxed);
            }
            Err(failure) => {
                metrics.failed_checkpoints.fetch_add(1, Relaxed);
                eprintln!("mercer: {failure}; the service goes on");
            }
        }
    }
}
