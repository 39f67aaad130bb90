//! What the service counts, as Prometheus reads it.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::model::Standing;

/// The paths that are told apart.
pub(super) const PATHS: [&str; 10] = [
    "/",
    "/curve",
    "/health",
    "/health/live",
    "/health/ready",
    "/learn",
    "/metrics",
    "/model",
    "/openapi.json",
    "/predict",
];

/// Upper ends of the buckets of latencies, in microseconds.
const BUCKETS: [u64; 14] =
    [50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000];

/// Counters; each is read and written alone, so a reading may be in the middle of a request.
pub(super) struct Metrics {
    /// One a path, and one for all others.
    requests: [Requests; PATHS.len() + 1],
    pub(super) predictions: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) refused_connections: AtomicU64,
    pub(super) checkpoints: AtomicU64,
    pub(super) failed_checkpoints: AtomicU64,
    pub(super) failed_journal: AtomicU64,
    /// Whether the last attempt to write the model failed.
    pub(super) unsaved: AtomicBool,
    pub(super) learnt: AtomicU64,
    /// How the model stands: rows met, rows learnt, points, implausible targets; weight and loss as
    /// bits.
    met: AtomicU64,
    rounds: AtomicU64,
    size: AtomicU64,
    implausible: AtomicU64,
    weight: AtomicU64,
    loss: AtomicU64,
}

#[derive(Default)]
struct Requests {
    /// By the first digit of the status.
    by_class: [AtomicU64; 6],
    buckets: [AtomicU64; BUCKETS.len()],
    microseconds: AtomicU64,
}

impl Metrics {
    pub(super) fn new(standing: Standing) -> Self {
        let counter = || AtomicU64::new(0);
        let metrics = Self {
            requests: Default::default(),
            predictions: counter(),
            connections: counter(),
            refused_connections: counter(),
            checkpoints: counter(),
            failed_checkpoints: counter(),
            failed_journal: counter(),
            unsaved: AtomicBool::new(false),
            learnt: counter(),
            met: counter(),
            rounds: counter(),
            size: counter(),
            implausible: counter(),
            weight: counter(),
            loss: counter(),
        };
        metrics.model(standing);
        metrics
    }

    /// How the model stands.
    pub(super) fn model(&self, standing: Standing) {
        self.met.store(standing.met, Relaxed);
        self.rounds.store(standing.rounds, Relaxed);
        self.size.store(standing.size as u64, Relaxed);
        self.implausible.store(standing.implausible, Relaxed);
        self.weight.store(standing.weight.to_bits(), Relaxed);
        self.loss.store(standing.loss.to_bits(), Relaxed);
    }

    /// Rows that the model has met.
    pub(super) fn met(&self) -> u64 {
        self.met.load(Relaxed)
    }

    pub(super) fn dictionary_size(&self) -> u64 {
        self.size.load(Relaxed)
    }

    /// The mean loss of all rows learnt; not a number before the first.
    pub(super) fn mean_loss(&self) -> f64 {
        f64::from_bits(self.loss.load(Relaxed)) / f64::from_bits(self.weight.load(Relaxed))
    }

    /// A request was answered.
    pub(super) fn request(&self, path: &str, status: u16, took: Duration) {
        let at = PATHS.iter().position(|known| *known == path).unwrap_or(PATHS.len());
        let requests = &self.requests[at];
        requests.by_class[usize::from(status / 100).min(5)].fetch_add(1, Relaxed);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if let Some(bucket) = BUCKETS.iter().position(|end| microseconds <= *end) {
            requests.buckets[bucket].fetch_add(1, Relaxed);
        }
        requests.microseconds.fetch_add(microseconds, Relaxed);
    }

    /// The text format of Prometheus, version 0.0.4.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let mut tell = |name: &str, kind: &str, help: &str, value: &str| {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
        };
        let count = |counter: &AtomicU64| counter.load(Relaxed).to_string();
        let mean = format!("{:?}", self.mean_loss());
        tell("mercer_predictions_total", "counter", "Rows predicted by /predict.", &count(&self.predictions));
        tell("mercer_learnt_total", "counter", "Rows learnt since the service began.", &count(&self.learnt));
        tell("mercer_rows", "gauge", "Rows that the model has met in its life.", &count(&self.met));
        tell("mercer_rounds", "gauge", "Rows that the model has learnt in its life.", &count(&self.rounds));
        tell(
            "mercer_dictionary_size",
            "gauge",
            "Points that the model keeps, or rows that a forecaster looks back.",
            &count(&self.size),
        );
        tell(
            "mercer_implausible_targets",
            "gauge",
            "Rows whose targets were far beyond the others, in the life of the model.",
            &count(&self.implausible),
        );
        tell("mercer_mean_loss", "gauge", "Mean squared error, or error rate, of predictions before learning.", &mean);
        tell("mercer_connections", "gauge", "Open connections.", &count(&self.connections));
        let refused = count(&self.refused_connections);
        tell("mercer_connections_refused_total", "counter", "Connections refused since there were too many.", &refused);
        tell("mercer_checkpoints_total", "counter", "Times the model file was written.", &count(&self.checkpoints));
        let failed = count(&self.failed_checkpoints);
        tell("mercer_checkpoints_failed_total", "counter", "Times the model file could not be written.", &failed);
        let failed = count(&self.failed_journal);
        tell("mercer_journal_failed_total", "counter", "Times the journal could not be kept.", &failed);
        self.requests_text(&mut text);
        text
    }

    fn requests_text(&self, text: &mut String) {
        let paths = || PATHS.into_iter().chain(["other"]).zip(&self.requests);
        text.push_str("# HELP mercer_requests_total Requests answered.\n# TYPE mercer_requests_total counter\n");
        for (path, requests) in paths() {
            for (class, counter) in requests.by_class.iter().enumerate() {
                let count = counter.load(Relaxed);
                if count > 0 {
                    let _ = writeln!(text, "mercer_requests_total{{path=\"{path}\",status=\"{class}xx\"}} {count}");
                }
            }
        }
        let name = "mercer_request_seconds";
        let _ = write!(text, "# HELP {name} From the head of a request to its answer.\n# TYPE {name} histogram\n");
        for (path, requests) in paths() {
            let all: u64 = requests.by_class.iter().map(|counter| counter.load(Relaxed)).sum();
            if all == 0 {
                continue;
            }
            let mut below = 0;
            for (end, counter) in BUCKETS.iter().zip(&requests.buckets) {
                below += counter.load(Relaxed);
                let end = *end as f64 / 1e6;
                let _ = writeln!(text, "{name}_bucket{{path=\"{path}\",le=\"{end:?}\"}} {}", below.min(all));
            }
            let _ = writeln!(text, "{name}_bucket{{path=\"{path}\",le=\"+Inf\"}} {all}");
            let seconds = requests.microseconds.load(Relaxed) as f64 / 1e6;
            let _ = write!(text, "{name}_sum{{path=\"{path}\"}} {seconds:?}\n{name}_count{{path=\"{path}\"}} {all}\n");
        }
    }
}
