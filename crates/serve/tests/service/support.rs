//! A small model with what it is kept in, and a service of it that runs in a thread.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mercer_serve::{
    Column, Forecast, ForecastRows, Groups, Journal, Keeping, Model, Oddity, OpenedGroup, Options, Order, Prediction,
    Reason, Row, Schema, ServeError, Snapshot, Standing, Takes, Value,
};
use serde_json::Value as Json;

/// Time that a forecast takes.
pub(crate) const FORECAST: Duration = Duration::from_millis(300);

/// Predicts the mean of its targets, or of a series; a target of 13 is refused.
#[derive(Clone, Default)]
pub(crate) struct Mean {
    pub(crate) series: bool,
    pub(crate) rows: u64,
    pub(crate) sum: f64,
    /// True if its predictions have intervals, which end 1 below and above.
    pub(crate) intervals: bool,
    /// Bytes of its file beside those that tell the rows.
    pub(crate) more: usize,
}

impl Mean {
    fn told(&self) -> Prediction {
        let mean = if self.rows == 0 { f64::NAN } else { self.sum / self.rows as f64 };
        let end = |away: f64| if self.intervals { vec![mean + away] } else { Vec::new() };
        let (lower, upper) = (end(-1.0), end(1.0));
        Prediction::Numbers { values: vec![mean], lower, upper, variance: vec![0.5], anomaly: vec![] }
    }
}

impl Model for Mean {
    fn schema(&self) -> Schema {
        let column = |name: &str, takes, needed| {
            let (about, categories) = (String::new(), Vec::new());
            Column { name: name.to_owned(), takes, about, needed, categories }
        };
        let names = vec!["y".to_owned()];
        if self.series {
            let columns = vec![column("y", Takes::NumberOrNull, true)];
            return Schema { series: Some(5), columns, outputs: names, ..Schema::default() };
        }
        Schema {
            learner: "mean".to_owned(),
            loss: "mean squared error".to_owned(),
            columns: vec![column("a", Takes::Number, true), column("kind", Takes::Any("category".to_owned()), false)],
            named: true,
            targets: names.clone(),
            outputs: names,
            weight: Some("w".to_owned()),
            has_variance: true,
            interval_share: self.intervals.then_some(0.9),
            ..Schema::default()
        }
    }

    fn standing(&self) -> Standing {
        Standing {
            met: self.rows,
            rounds: self.rows,
            weight: self.rows as f64,
            loss: 0.0,
            size: 1,
            ..Standing::default()
        }
    }

    fn predict(&self, row: &Row, _: bool) -> Result<Prediction, Reason> {
        if row.values[0].number() == 13.0 {
            return Err("13 brings bad luck".into());
        }
        Ok(self.told())
    }

    fn odd(&self, row: &Row) -> Vec<(usize, Oddity)> {
        let new = row.values.get(1) == Some(&Value::Text("new".to_owned()));
        new.then_some((1, Oddity::NewCategory)).into_iter().collect()
    }

    fn remarks(&self) -> Vec<(&'static str, String)> {
        let many = self.rows >= 512;
        many.then(|| ("many_rows", format!("{} rows have been learnt", self.rows))).into_iter().collect()
    }

    fn learn(&mut self, row: &Row) -> Result<Prediction, Reason> {
        let y = row.targets.first().unwrap_or(&row.values[0]).number();
        if y == 13.0 {
            return Err("13 brings bad luck".into());
        }
        if y == 500.0 {
            thread::sleep(Duration::from_millis(500));
        }
        if y == 666.0 {
            panic!("as a broken model would");
        }
        let before = self.told();
        self.rows += 1;
        self.sum += y * row.weight;
        Ok(before)
    }

    fn forecast(&self) -> Forecast {
        let copy = self.clone();
        Box::new(move |asked| {
            thread::sleep(FORECAST);
            let rows = (0..asked.steps).map(|_| copy.told()).collect();
            Ok(ForecastRows { rows, times: None, parts: None }.into())
        })
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Reason> {
        Ok((self.rows.to_string() + &"x".repeat(self.more)).into_bytes())
    }
}

/// A journal in memory: what was asked of it, of so many rows as the model had met.
pub(crate) struct Notes {
    pub(crate) told: Arc<Mutex<Vec<String>>>,
    /// True if rows are refused.
    pub(crate) full: Arc<AtomicBool>,
}

impl Journal for Notes {
    fn append(&mut self, rows: &[Row], standing: Standing) -> Result<(), Reason> {
        if self.full.load(Ordering::Relaxed) {
            return Err("the journal is full".into());
        }
        let rows = (standing.met..).zip(rows).map(|(at, _)| format!("row {at}"));
        self.told.lock().unwrap().extend(rows);
        Ok(())
    }

    fn save(&mut self, standing: Standing, save: &mut dyn FnMut() -> Result<(), Reason>) -> Result<(), Reason> {
        self.told.lock().unwrap().push(format!("save at {}", standing.met));
        save()?;
        self.told.lock().unwrap().push("clear".to_owned());
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Reason> {
        Ok(())
    }

    fn size(&self) -> [u64; 2] {
        [0, 0]
    }

    fn takes_rows(&mut self, _: usize) -> bool {
        !self.full.load(Ordering::Relaxed)
    }
}

/// A copy in memory.
pub(crate) struct Copies(pub(crate) Option<u64>);

impl Snapshot for Copies {
    fn keep(&mut self, bytes: Vec<u8>) -> Result<(), Reason> {
        self.0 = Some(String::from_utf8(bytes)?.parse()?);
        Ok(())
    }

    fn model(&mut self) -> Result<Box<dyn Model>, Reason> {
        let rows = self.0.ok_or("there is no snapshot")?;
        Ok(Box::new(Mean { rows, sum: 10.0 * rows as f64, ..Mean::default() }))
    }
}

/// Groups in memory, whose saves are told.
#[derive(Default)]
pub(crate) struct Each {
    pub(crate) saved: Arc<Mutex<Vec<String>>>,
    /// Those that have begun.
    begun: Mutex<Vec<String>>,
}

impl Each {
    fn opened(&self, name: &str, rows: u64) -> OpenedGroup {
        let (name, saved) = (name.to_owned(), Arc::clone(&self.saved));
        let save = move |bytes| {
            saved.lock().unwrap().push(format!("{name} {}", String::from_utf8(bytes)?));
            Ok(())
        };
        let keeping = Keeping {
            save: Box::new(save),
            journal: None,
            unsaved: false,
            snapshot: None,
            replica: None,
            groups: None,
            access_log: None,
        };
        (Box::new(Mean { rows, ..Mean::default() }), keeping)
    }
}

impl Groups for Each {
    fn open(&self, name: &str) -> Result<Option<OpenedGroup>, Reason> {
        if name == "bad" {
            return Err("its file is damaged".into());
        }
        let begun = self.begun.lock().unwrap().iter().any(|begun| begun == name);
        let saved = self.saved.lock().unwrap();
        let last = saved.iter().rev().find_map(|saved| saved.strip_prefix(name)?.trim().parse().ok());
        Ok(begun.then(|| self.opened(name, last.unwrap_or(0))))
    }

    fn begin(&self, name: &str, bytes: Vec<u8>) -> Result<OpenedGroup, Reason> {
        self.begun.lock().unwrap().push(name.to_owned());
        Ok(self.opened(name, String::from_utf8(bytes)?.parse()?))
    }

    fn model(&self, _: &[u8]) -> Result<Box<dyn Model>, Reason> {
        Ok(Box::new(Mean::default()))
    }
}

/// A service that runs until it is ended.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) saved: Arc<Mutex<Vec<String>>>,
    /// Number of saves that are refused from now on.
    pub(crate) full: Arc<AtomicUsize>,
    pub(crate) thread: JoinHandle<Result<(), ServeError>>,
}

impl Service {
    pub(crate) fn start(model: Mean, options: Options) -> Self {
        Self::start_with(model, options, None)
    }

    pub(crate) fn start_with(model: Mean, options: Options, journal: Option<Box<dyn Journal>>) -> Self {
        Self::start_groups(model, options, journal, None)
    }

    pub(crate) fn start_groups(
        model: Mean,
        options: Options,
        journal: Option<Box<dyn Journal>>,
        groups: Option<Box<dyn Groups>>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, full) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let saved: Arc<Mutex<Vec<String>>> = Arc::default();
        let (stopped, into, refusals) = (Arc::clone(&stop), Arc::clone(&saved), Arc::clone(&full));
        let save = move |bytes: Vec<u8>| {
            if refusals.load(Ordering::Relaxed) > 0 {
                refusals.fetch_sub(1, Ordering::Relaxed);
                return Err("the disk is full".into());
            }
            into.lock().unwrap().push(String::from_utf8(bytes).unwrap());
            Ok(())
        };
        let run = move || {
            let stop = || if stopped.load(Ordering::Relaxed) { Order::End } else { Order::GoOn };
            let keeping = Keeping {
                save: Box::new(save),
                journal,
                unsaved: false,
                snapshot: Some(Box::new(Copies(None))),
                replica: None,
                groups,
                access_log: None,
            };
            mercer_serve::run(listener, Box::new(model), options, keeping, &stop)
        };
        Self { address, stop, saved, full, thread: thread::spawn(run) }
    }

    pub(crate) fn raw(&self, bytes: &[u8]) -> (u16, String, Json) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), serde_json::from_str(body).unwrap_or_else(|_| body.into()))
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String, Json) {
        self.raw(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> (u16, Json) {
        let (status, _, body) = self.raw(&post(path, body, ""));
        (status, body)
    }

    pub(crate) fn end(self) -> (Result<(), ServeError>, Vec<String>) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.join().unwrap();
        let saved = std::mem::take(&mut *self.saved.lock().unwrap());
        (ended, saved)
    }
}

pub(crate) fn post(path: &str, body: &str, headers: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n{headers}\r\n{body}"
    )
    .into_bytes()
}
