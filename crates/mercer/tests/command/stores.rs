//! Objects of stores by their addresses, from a server of this test: the same model as from files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use mercer::model::Moments;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::support::Folder;

const FIT: &str = "--learner ridge --target y";

/// Objects by their paths, those below `/bucket/` for requests that are signed.
struct Store {
    address: SocketAddr,
    objects: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    sent: Arc<AtomicUsize>,
}

impl Store {
    fn of(objects: &[(&str, Vec<u8>)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let objects = objects.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.clone())).collect();
        let store = Self {
            address: listener.local_addr().unwrap(),
            objects: Arc::new(Mutex::new(objects)),
            sent: Arc::default(),
        };
        let (objects, sent) = (Arc::clone(&store.objects), Arc::clone(&store.sent));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (objects, sent) = (Arc::clone(&objects), Arc::clone(&sent));
                std::thread::spawn(move || answer(&stream.unwrap(), &objects, &sent));
            }
        });
        store
    }

    fn web(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What the command says, with the settings of this store.
    fn said(&self, folder: &Folder, arguments: &str) -> (bool, String) {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let done = folder
            .command(&words)
            .env("AWS_ENDPOINT_URL", self.web(""))
            .env("AWS_ALLOW_HTTP", "true")
            .envs([("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_REGION", "here")])
            .env("NO_PROXY", "127.0.0.1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        (done.status.success(), text)
    }

    fn done(&self, folder: &Folder, arguments: &str) -> String {
        let (done, text) = self.said(folder, arguments);
        assert!(done, "{arguments}: {text}");
        text
    }
}

/// Answers requests of one connection.
fn answer(stream: &TcpStream, objects: &Mutex<BTreeMap<String, Vec<u8>>>, sent: &AtomicUsize) {
    let mut lines = BufReader::new(stream).lines();
    while let Some(Ok(request)) = lines.next() {
        let head: Vec<String> = lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let header = |name: &str| {
            head.iter().find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name)))
        };
        let mut words = request.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let target = target.replace("%3D", "=").replace("%20", " ");
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let objects = objects.lock().unwrap();
        let unsigned =
            path.starts_with("/bucket") && header("authorization").is_none_or(|(_, by)| !by.contains("key/"));
        let (status, more, body) = match objects.get(path) {
            _ if unsigned => ("403 Forbidden", String::new(), Vec::new()),
            None if query.contains("list-type=2") => ("200 OK", String::new(), list(&objects, path, query)),
            None => ("404 Not Found", String::new(), Vec::new()),
            Some(bytes) => {
                let tag = format!("\"{:x}\"", crc32fast::hash(bytes));
                let changed = header("if-match").is_some_and(|(_, wanted)| wanted != tag);
                let range =
                    header("range").map(|(_, range)| range.trim_start_matches("bytes=").split_once('-').unwrap());
                let tagged = format!("ETag: {tag}\r\n");
                match range {
                    _ if changed => ("412 Precondition Failed", tagged, Vec::new()),
                    None => ("200 OK", tagged, bytes.clone()),
                    Some((from, to)) => {
                        let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
                        let told = format!("{tagged}Content-Range: bytes {from}-{to}/{}\r\n", bytes.len());
                        ("206 Partial Content", told, bytes[from..=to].to_vec())
                    }
                }
            }
        };
        let mut stream = stream;
        write!(stream, "HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\n\r\n", body.len()).unwrap();
        if method == "GET" {
            sent.fetch_add(body.len(), Ordering::Relaxed);
            stream.write_all(&body).unwrap();
        }
    }
}

/// The objects of a bucket, as S3 lists them.
fn list(objects: &BTreeMap<String, Vec<u8>>, bucket: &str, query: &str) -> Vec<u8> {
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or("").replace("%2F", "/");
    let bucket = bucket.trim_end_matches('/');
    let keys = objects.iter().filter_map(|(path, bytes)| {
        let key = path.strip_prefix(bucket)?.strip_prefix('/')?;
        key.starts_with(&prefix).then(|| {
            format!("<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><Size>{}</Size></Contents>", bytes.len())
        })
    });
    let keys: String = keys.collect();
    format!("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>{keys}</ListBucketResult>").into()
}

fn number(t: usize) -> f64 {
    (t * 7_919 % 10_007) as f64 / 10_007.0
}

fn csv(from: usize, rows: usize) -> Vec<u8> {
    let row = |t: usize| format!("{},{},{}\n", number(t), number(3 * t + 1), number(t) * number(3 * t + 1));
    std::iter::once("a,b,y\n".to_owned()).chain((from..from + rows).map(row)).collect::<String>().into()
}

/// The same rows in groups of 1000, with a column that a fit leaves out.
fn parquet(from: usize, rows: usize) -> Vec<u8> {
    let column = |value: &dyn Fn(usize) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values((from..from + rows).map(value)))
    };
    let columns = [
        ("a", column(&number)),
        ("b", column(&|t| number(3 * t + 1))),
        ("unread", column(&|t| number(5 * t + 2))),
        ("y", column(&|t| number(t) * number(3 * t + 1))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let groups = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(groups)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// The sums of a fit from addresses and of one from files are the same to the bit.
fn check_same(folder: &Folder, stored: &str, near: &str) {
    let sums = |name: &str| Moments::from_bytes(&fs::read(folder.path(name)).unwrap()).unwrap();
    let (stored, near) = (sums(stored), sums(near));
    assert_eq!(stored.rows(), near.rows());
    let bytes = |moments: &Moments| postcard::to_allocvec(moments.sums.sums()).unwrap();
    assert!(bytes(&stored) == bytes(&near));
}

#[test]
fn a_fit_from_the_web_is_that_of_the_files() {
    let (text, table) = (csv(0, 4000), parquet(4000, 5000));
    let folder = Folder::new().with("a.csv", &text).with("b.parquet", &table);
    let store = Store::of(&[("/data/a.csv", text), ("/data/b b.parquet", table.clone())]);
    let (a, b) = (store.web("/data/a.csv"), store.web("/data/b%20b.parquet"));
    let more = "--ignore unread --threads 2";
    folder.done(&format!("fit a.csv {FIT} --out a.mercer"));
    folder.done(&format!("fit b.parquet {FIT} {more} --out b.mercer"));
    store.done(&folder, &format!("fit {a} {FIT} --out far-a.mercer"));
    let before = store.sent.load(Ordering::Relaxed);
    store.done(&folder, &format!("fit {b} {FIT} {more} --out far-b.mercer"));
    check_same(&folder, "far-a.mercer", "a.mercer");
    check_same(&folder, "far-b.mercer", "b.mercer");
    // A column that is not wanted is not sent: the rows go over once, and what is told of them and
    // the first group a few times.
    let sent = store.sent.load(Ordering::Relaxed) - before;
    assert!(sent < 2 * table.len(), "{sent} of {}", table.len());
    // Other commands read them, too.
    for command in ["inspect --json", "predict --model a.mercer"] {
        let stored = store.done(&folder, &format!("{command} {a}"));
        let near = store.done(&folder, &format!("{command} a.csv"));
        assert_eq!(stored.replace(&a, "a.csv"), near);
    }
    // The same object counts once.
    let (done, said) = store.said(&folder, "merge far-a.mercer far-a.mercer --out twice.mercer");
    assert!(!done && said.contains("given twice"), "{said}");
    fs::copy(folder.path("far-a.mercer"), folder.path("copy.mercer")).unwrap();
    let (done, said) = store.said(&folder, "merge far-a.mercer copy.mercer --out twice.mercer");
    assert!(!done && said.contains(&a), "{said}");
    for (path, word) in [("/data/none.csv", "cannot be read"), ("/data/a.csv?token=1 --format csv", "query")] {
        let (done, said) = store.said(&folder, &format!("fit {} {FIT} --out none.mercer", store.web(path)));
        assert!(!done && said.contains(word), "{said}");
    }
}

#[test]
fn a_bucket_is_listed_by_patterns_and_as_a_folder() {
    let folder = Folder::new().with("0.csv", csv(0, 300)).with("1.csv", csv(300, 300));
    let store = Store::of(&[
        ("/bucket/day=1/part-0.csv", csv(0, 300)),
        ("/bucket/day=2/part-1.csv", csv(300, 300)),
        ("/bucket/day=2/_SUCCESS", Vec::new()),
        ("/bucket/other.csv", csv(600, 300)),
    ]);
    folder.done(&format!("fit 0.csv 1.csv {FIT} --out near.mercer"));
    for pattern in
        ["s3://bucket/day=*/part-*.csv", "s3://bucket/day=1/ s3://bucket/day=2/", "s3://bucket/**/part-?.csv"]
    {
        store.done(&folder, &format!("fit {pattern} {FIT} --out far.mercer"));
        check_same(&folder, "far.mercer", "near.mercer");
    }
    for (address, words) in [
        ("s3://bucket/none-*.csv", "no file is named so"),
        ("s3://bucket/none/", "is a folder without a file to read"),
        ("s3://bucket/none.csv", "cannot be read"),
    ] {
        let (done, said) = store.said(&folder, &format!("fit {address} {FIT} --out none.mercer"));
        assert!(!done && said.contains(words), "{said}");
    }
}

#[test]
fn a_killed_run_goes_on_with_objects_that_are_as_they_were() {
    let store = Store::of(&[("/a.csv", csv(0, 300)), ("/b.csv", csv(300, 300))]);
    let folder = Folder::new();
    let (a, b) = (store.web("/a.csv"), store.web("/b.csv"));
    let fit = format!("fit {a} {b} {FIT} --checkpoint 0 --resume --out m.mercer");
    store.done(&folder, &fit);
    assert!(store.done(&folder, &fit).contains("already"));
    // Another version of an object is another object.
    store.objects.lock().unwrap().insert("/b.csv".to_owned(), csv(300, 200));
    assert!(!store.done(&folder, &fit).contains("already"));
    let rows = Moments::from_bytes(&fs::read(folder.path("m.mercer")).unwrap()).unwrap().rows();
    assert_eq!(rows, 500);
}
