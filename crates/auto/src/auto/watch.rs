//! Which metrics rest: puts them to rest and calls them back, by their [standing](super::standing).

use mercer_core::{Inconsistent, Validate};

use super::metrics::Metric;
use super::standing::{LATE, NOW, Standing};

/// Rounds before the first rest.
const START: u64 = 4096;
/// Something has changed when the short average of the losses is so many times the long one.
const SURPRISE: f64 = 2.0;

/// The losses of late, and how long ago a metric was put to rest or called back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Watch {
    late: f64,
    now: f64,
    rounds: f64,
    since: f64,
}

impl Watch {
    /// Notes the loss of a round, and puts metrics to rest or calls them back.
    pub(super) fn learn(&mut self, loss: f64, round: u64, metrics: &mut [Metric]) {
        self.rounds = (self.rounds + 1.0).min(LATE);
        self.since = (self.since + 1.0).min(LATE);
        self.late += (loss - self.late) / self.rounds;
        self.now += (loss - self.now) / self.rounds.min(NOW);
        if round < START {
            return;
        }
        let all: f64 = metrics.iter().map(Metric::cost).sum();
        for metric in &mut *metrics {
            metric.standing.price = metric.cost() / all;
        }
        let surprised = self.now > SURPRISE * self.late;
        for Metric { standing, .. } in metrics.iter_mut().filter(|metric| metric.standing.resting) {
            if surprised || standing.ratio(self.late) > 2.0 {
                *standing = Standing::new(standing.price);
                self.since = 0.0;
            }
        }
        if self.since < LATE {
            return;
        }
        let awake = metrics.iter_mut().map(|metric| &mut metric.standing).filter(|standing| !standing.resting);
        let least = awake.min_by(|a, b| a.ratio(self.late).total_cmp(&b.ratio(self.late)));
        if let Some(standing) = least.filter(|standing| standing.ratio(self.late) < 1.0) {
            standing.resting = true;
            self.since = 0.0;
        }
    }
}

impl Validate for Watch {
    fn validate(&self) -> Result<(), Inconsistent> {
        [self.late, self.now, self.rounds, self.since].iter().try_for_each(Validate::validate)
    }
}
