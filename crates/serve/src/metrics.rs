//! Counters of the service, as Prometheus reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::Service;
use super::head::POSTED;
use super::log::Log;
use super::model::{ALARMS, Standing};
use super::pending::PendingRows;
use super::queue::Queue;
use super::reading::Budget;

/// The paths that are told apart.
pub(super) const PATHS: [&str; 24] = [
    "/",
    "/compare",
    "/curve",
    "/explain",
    "/functions",
    "/groups",
    "/health",
    "/health/live",
    "/health/ready",
    "/learn",
    "/metrics",
    "/model",
    "/modes",
    "/openapi.json",
    "/predict",
    "/reload",
    "/rollback",
    "/snapshot",
    "/v2",
    "/v2/health/live",
    "/v2/health/ready",
    "/v2/models/MODEL",
    "/v2/models/MODEL/infer",
    "/v2/models/MODEL/ready",
];

/// Upper ends of the buckets of latencies, in microseconds.
const BUCKETS: [u64; 14] =
    [50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000];

/// Names of columns that the model does not have which are told.
const MOST_UNKNOWN: usize = 32;

/// Counters; each is read and written alone, so a reading may be in the middle of a request.
pub(super) struct Metrics {
    /// One a path, and one for all others.
    requests: [Requests; PATHS.len() + 1],
    pub(super) predictions: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) in_flight: AtomicU64,
    /// Rows that the saved model has not learnt.
    pub(super) unsaved_rows: AtomicU64,
    /// Rows and bytes in the journal.
    pub(super) journal: [AtomicU64; 2],
    pub(super) refused_connections: AtomicU64,
    pub(super) checkpoints: AtomicU64,
    pub(super) failed_checkpoints: AtomicU64,
    pub(super) failed_journal: AtomicU64,
    closed_groups: AtomicU64,
    reloads: AtomicU64,
    failed_reloads: AtomicU64,
    /// True if the last attempt to write the model failed.
    pub(super) unsaved: AtomicBool,
    /// True if the journal did not take the last rows.
    pub(super) journal_stuck: AtomicBool,
    pub(super) learnt: AtomicU64,
    /// When the service began, and when the model was last saved, as bits.
    start: f64,
    last_save: AtomicU64,
    /// The mean loss of the last rows, as bits; the newest has a thousandth of its weight.
    recent: AtomicU64,
    /// State of the model: rows met, rows learnt, points, implausible targets, alarms by kind;
    /// weight and loss as bits.
    met: AtomicU64,
    rounds: AtomicU64,
    size: AtomicU64,
    implausible: AtomicU64,
    alarms: [AtomicU64; ALARMS.len()],
    weight: AtomicU64,
    loss: AtomicU64,
    /// Values of columns that the model does not have, and the first names of such columns.
    unknown: AtomicU64,
    unknown_names: Mutex<BTreeSet<String>>,
    /// Causes ever remarked on, each with true if it still holds.
    remarks: Mutex<BTreeMap<&'static str, bool>>,
}

/// What is counted elsewhere.
pub(super) struct Beside<'a> {
    pub(super) queue: &'a Queue,
    pub(super) kept: &'a PendingRows,
    pub(super) log: &'a Log,
    pub(super) budget: &'a Budget,
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
            in_flight: counter(),
            unsaved_rows: counter(),
            journal: [counter(), counter()],
            refused_connections: counter(),
            checkpoints: counter(),
            failed_checkpoints: counter(),
            failed_journal: counter(),
            closed_groups: counter(),
            reloads: counter(),
            failed_reloads: counter(),
            unsaved: AtomicBool::new(false),
            journal_stuck: AtomicBool::new(false),
            learnt: counter(),
            start: now(),
            last_save: AtomicU64::new(now().to_bits()),
            recent: AtomicU64::new(f64::NAN.to_bits()),
            met: counter(),
            rounds: counter(),
            size: counter(),
            implausible: counter(),
            alarms: Default::default(),
            weight: counter(),
            loss: counter(),
            unknown: counter(),
            unknown_names: Mutex::default(),
            remarks: Mutex::default(),
        };
        metrics.model(standing);
        metrics
    }

    /// A row was learnt, behind which the model stands so; the answer is how many they are.
    pub(super) fn learnt(&self, standing: Standing) -> u64 {
        let learnt = self.learnt.fetch_add(1, Relaxed) + 1;
        let [loss, weight] = [&self.loss, &self.weight].map(|before| f64::from_bits(before.load(Relaxed)));
        let loss = (standing.loss - loss) / (standing.weight - weight);
        let mean = f64::from_bits(self.recent.load(Relaxed));
        if loss.is_finite() {
            let mean = if mean.is_nan() { loss } else { mean + (loss - mean) / 1000.0 };
            self.recent.store(mean.to_bits(), Relaxed);
        }
        self.model(standing);
        learnt
    }

    /// Takes the remarks on the model now, and returns those that were not made before.
    pub(super) fn remark(&self, said: Vec<(&'static str, String)>) -> Vec<String> {
        let mut remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.values_mut().for_each(|holds| *holds = false);
        said.into_iter().filter_map(|(cause, text)| remarks.insert(cause, true).is_none().then_some(text)).collect()
    }

    /// A row has values of so many columns that the model does not have; returns the names among
    /// them that are to be told.
    pub(super) fn unknown<'a>(&self, names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
        let mut told = self.unknown_names.lock().unwrap_or_else(PoisonError::into_inner);
        let new = |name: &&String| {
            self.unknown.fetch_add(1, Relaxed);
            told.len() < MOST_UNKNOWN && told.insert((*name).clone())
        };
        names.filter(new).collect()
    }

    /// The model was saved.
    pub(super) fn saved(&self) {
        self.checkpoints.fetch_add(1, Relaxed);
        self.last_save.store(now().to_bits(), Relaxed);
    }

    /// A group was closed to make room for another.
    pub(super) fn group_closed(&self) {
        self.closed_groups.fetch_add(1, Relaxed);
    }

    /// The model was read anew, or could not be.
    pub(super) fn reloaded(&self, well: bool) {
        (if well { &self.reloads } else { &self.failed_reloads }).fetch_add(1, Relaxed);
    }

    /// Takes the state of the model.
    pub(super) fn model(&self, standing: Standing) {
        self.met.store(standing.met, Relaxed);
        self.rounds.store(standing.rounds, Relaxed);
        self.size.store(standing.size as u64, Relaxed);
        self.implausible.store(standing.implausible, Relaxed);
        for (counter, alarms) in self.alarms.iter().zip(standing.alarms) {
            counter.store(alarms, Relaxed);
        }
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

    /// Names, meanings and values of what is one number.
    fn numbers(&self, beside: &Beside<'_>) -> Vec<(&'static str, &'static str, f64)> {
        [&self.of_rows(beside)[..], &self.of_service(beside)].concat()
    }

    /// Those of the rows and the model.
    fn of_rows(&self, beside: &Beside<'_>) -> [(&'static str, &'static str, f64); 15] {
        let Beside { queue, kept, .. } = beside;
        let (waiting, expired) = kept.count();
        [
            ("mercer_predictions_total", "Rows predicted by /predict.", count(&self.predictions)),
            ("mercer_learnt_total", "Rows learnt since the service began.", count(&self.learnt)),
            ("mercer_rows", "Rows that the model has met in its life.", count(&self.met)),
            ("mercer_rounds", "Rows that the model has learnt in its life.", count(&self.rounds)),
            (
                "mercer_dictionary_size",
                "Points that the model keeps, or rows that a forecaster looks back.",
                count(&self.size),
            ),
            (
                "mercer_implausible_targets",
                "Rows whose targets were far beyond the others, in the life of the model.",
                count(&self.implausible),
            ),
            (
                "mercer_mean_loss",
                "Mean squared error, or error rate, of predictions before learning.",
                self.mean_loss(),
            ),
            ("mercer_recent_loss", "The same of some thousand rows learnt last.", bits(&self.recent)),
            ("mercer_queue_rows", "Rows that wait to be learnt.", queue.rows() as f64),
            ("mercer_queue_seconds", "How long they will take.", queue.wait().as_secs_f64()),
            ("mercer_kept_rows", "Predicted rows that wait for their labels.", waiting as f64),
            ("mercer_kept_expired_total", "Predicted rows whose labels did not come in time.", expired as f64),
            (
                "mercer_unknown_values_total",
                "Values left out since the model does not have their columns.",
                count(&self.unknown),
            ),
            ("mercer_unsaved_rows", "Rows that the model file does not have yet.", count(&self.unsaved_rows)),
            ("mercer_journal_rows", "Rows in the journal.", count(&self.journal[0])),
        ]
    }

    /// Those of the process and its files.
    fn of_service(&self, beside: &Beside<'_>) -> [(&'static str, &'static str, f64); 16] {
        let Beside { log, budget, .. } = beside;
        [
            ("process_start_time_seconds", "When the service began, as a Unix time.", self.start),
            ("process_resident_memory_bytes", "Memory of the process; NaN where the system tells none.", memory()),
            ("process_open_fds", "Open files and sockets; NaN where the system tells none.", open_files()),
            ("mercer_requests_in_flight", "Requests that are being answered.", count(&self.in_flight)),
            ("mercer_journal_bytes", "Bytes in the journal.", count(&self.journal[1])),
            ("mercer_connections", "Open connections.", count(&self.connections)),
            (
                "mercer_connections_refused_total",
                "Connections refused since there were too many.",
                count(&self.refused_connections),
            ),
            ("mercer_checkpoints_total", "Times the model file was written.", count(&self.checkpoints)),
            (
                "mercer_last_save_time_seconds",
                "When the model file was last written or read, as a Unix time.",
                bits(&self.last_save),
            ),
            (
                "mercer_checkpoints_failed_total",
                "Times the model file could not be written.",
                count(&self.failed_checkpoints),
            ),
            ("mercer_journal_failed_total", "Times the journal could not be kept.", count(&self.failed_journal)),
            (
                "mercer_request_memory_free_bytes",
                "What is left for the bodies and rows of large requests.",
                budget.free() as f64,
            ),
            ("mercer_groups_closed_total", "Groups closed to make room for others.", count(&self.closed_groups)),
            ("mercer_reloads_total", "Times the model was read anew.", count(&self.reloads)),
            ("mercer_reloads_failed_total", "Times a new model file could not be served.", count(&self.failed_reloads)),
            ("mercer_log_lost_total", "Lines that the access log did not take.", log.lost() as f64),
        ]
    }

    /// The text format of Prometheus, version 0.0.4. Names of counters end with `_total`.
    /// Of each of `groups` the rows and losses are told beside.
    pub(super) fn text(&self, beside: &Beside<'_>, groups: &[(String, Arc<Service>)]) -> String {
        let mut text = format!(
            "# HELP mercer_build_info The version of the service.\n# TYPE mercer_build_info gauge\nmercer_build_info{{version=\"{}\"}} 1\n",
            env!("CARGO_PKG_VERSION")
        );
        for (name, help, value) in self.numbers(beside) {
            let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
            // Writing to a string cannot fail.
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n");
        }
        text.push_str("# HELP mercer_remark Whether a cause of bad predictions holds.\n# TYPE mercer_remark gauge\n");
        for (cause, holds) in &*self.remarks.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(text, "mercer_remark{{cause=\"{cause}\"}} {}", u8::from(*holds));
        }
        let name = "mercer_watch_alarms_total";
        let _ =
            write!(text, "# HELP {name} Alarms of what is watched since the service began.\n# TYPE {name} counter\n");
        for (kind, alarms) in ALARMS.iter().zip(&self.alarms) {
            let _ = writeln!(text, "{name}{{kind=\"{kind}\"}} {}", alarms.load(Relaxed));
        }
        groups_text(&mut text, groups);
        self.requests_text(&mut text);
        text
    }

    fn requests_text(&self, text: &mut String) {
        let paths = || PATHS.into_iter().chain(["other"]).zip(&self.requests);
        text.push_str("# HELP mercer_requests_total Requests answered.\n# TYPE mercer_requests_total counter\n");
        for (path, requests) in paths() {
            let about = about(path);
            for (class, counter) in requests.by_class.iter().enumerate() {
                let count = counter.load(Relaxed);
                if count > 0 {
                    let _ = writeln!(text, "mercer_requests_total{{{about},status=\"{class}xx\"}} {count}");
                }
            }
        }
        let name = "mercer_request_duration_seconds";
        let _ = write!(text, "# HELP {name} From the head of a request to its answer.\n# TYPE {name} histogram\n");
        for (path, requests) in paths() {
            let about = about(path);
            let all: u64 = requests.by_class.iter().map(|counter| counter.load(Relaxed)).sum();
            if all == 0 {
                continue;
            }
            let mut below = 0;
            for (end, counter) in BUCKETS.iter().zip(&requests.buckets) {
                below += counter.load(Relaxed);
                let end = *end as f64 / 1e6;
                let _ = writeln!(text, "{name}_bucket{{{about},le=\"{end:?}\"}} {}", below.min(all));
            }
            let _ = writeln!(text, "{name}_bucket{{{about},le=\"+Inf\"}} {all}");
            let seconds = requests.microseconds.load(Relaxed) as f64 / 1e6;
            let _ = write!(text, "{name}_sum{{{about}}} {seconds:?}\n{name}_count{{{about}}} {all}\n");
        }
    }
}

/// The labels of a path: each takes one method, and GET stands for HEAD.
fn about(path: &str) -> String {
    let method = match path {
        "other" => "other",
        path if POSTED.contains(&path) => "POST",
        _ => "GET",
    };
    format!("method=\"{method}\",path=\"{path}\"")
}

/// A line for each group.
fn groups_text(text: &mut String, groups: &[(String, Arc<Service>)]) {
    type Tell = fn(&Metrics) -> f64;
    let tells: [(&str, &str, &str, Tell); 4] = [
        ("mercer_group_rows", "gauge", "Rows that the model of an open group has met in its life.", |group| {
            group.met() as f64
        }),
        ("mercer_group_learnt_total", "counter", "Rows that it has learnt since it was opened.", |group| {
            group.learnt.load(Relaxed) as f64
        }),
        ("mercer_group_mean_loss", "gauge", "Its mean loss of predictions before learning.", Metrics::mean_loss),
        ("mercer_group_unsaved", "gauge", "Whether its model could not be saved.", |group| {
            f64::from(u8::from(group.unsaved.load(Relaxed)))
        }),
    ];
    for (name, kind, help, tell) in tells.iter().filter(|_| !groups.is_empty()) {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (group, part) in groups {
            let _ = writeln!(text, "{name}{{group=\"{group}\"}} {}", tell(&part.metrics));
        }
    }
}

fn count(counter: &AtomicU64) -> f64 {
    counter.load(Relaxed) as f64
}

fn bits(number: &AtomicU64) -> f64 {
    f64::from_bits(number.load(Relaxed))
}

/// The time as a Unix time.
fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// The files and sockets that the process has open, where the system tells them as Linux does.
fn open_files() -> f64 {
    std::fs::read_dir("/proc/self/fd").map_or(f64::NAN, |open| open.count() as f64)
}

/// The bytes of memory that the process has, where the system tells them as Linux does.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let told = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
    told.map_or(f64::NAN, |kibibytes: f64| kibibytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dashboard_asks_for_what_is_told() {
        let metrics = Metrics::new(Standing::default());
        metrics.request("/", 200, Duration::ZERO);
        metrics.learnt(Standing { rounds: 1, weight: 2.0, loss: 3.0, ..Standing::default() });
        let (queue, kept, log) = <(Queue, PendingRows, Log)>::default();
        let budget = Budget::new(1 << 20, Duration::ZERO);
        let beside = Beside { queue: &queue, kept: &kept, log: &log, budget: &budget };
        let text = metrics.text(&beside, &[]);
        assert!(text.contains("mercer_recent_loss 1.5\n") && !text.contains("memory_bytes 0\n"), "{text}");
        let said = || vec![("full_dictionary", "rows are far from all points".to_owned())];
        assert_eq!(metrics.remark(said()).len(), 1);
        assert!(metrics.remark(said()).is_empty(), "each is said once");
        let told = || metrics.text(&beside, &[]);
        assert!(told().contains("mercer_remark{cause=\"full_dictionary\"} 1\n"), "{}", told());
        assert!(metrics.remark(Vec::new()).is_empty());
        assert!(told().contains("mercer_remark{cause=\"full_dictionary\"} 0\n"), "{}", told());
        let dashboard = include_str!("../../../docs/serving/grafana.json");
        let words = dashboard.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let asked: Vec<&str> = words.filter(|word| word.starts_with("mercer_") || word.ends_with("_bytes")).collect();
        assert!(asked.len() > 15);
        for name in asked {
            assert!(text.contains(&format!("\n{name}")), "{name}");
        }
    }
}
