//! Objects of stores, by their addresses: `s3://bucket/key`, `https://host/path`.
//!
//! They are read by ranges of bytes and copied to no disk: a text from its beginning, Parquet by
//! the columns of a row group. An object that is changed meanwhile is refused, where its store
//! tells tags. Settings of S3 are those of the environment (`AWS_ACCESS_KEY_ID`, `AWS_REGION`,
//! `AWS_ENDPOINT_URL`, …).

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::{Buf, Bytes};
use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::path::Path as Place;
use object_store::{ClientOptions, Error, GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::runtime::{Builder, Runtime};

/// Bytes of the first request of a reading, and of the longest: each asks for twice as many.
const FIRST: u64 = 1 << 16;
const MOST: u64 = 8 << 20;
/// How often a request that failed is sent again.
const AGAIN: usize = 4;

/// An object, and how far it is read.
#[derive(Clone, Debug)]
pub struct StoredObject {
    store: Arc<dyn ObjectStore>,
    about: Arc<ObjectMeta>,
    /// Bytes that were asked for, and are not yet given out.
    ready: Bytes,
    /// The first byte behind these.
    next: u64,
    /// Bytes to be asked for.
    step: u64,
}

impl StoredObject {
    /// True if a path is the address of an object.
    #[must_use]
    pub fn is_address(path: &Path) -> bool {
        path.to_str().is_some_and(|text| split(text).is_some())
    }

    /// Finds the object of an address.
    ///
    /// # Errors
    /// When there is none, or the store refuses to tell.
    pub fn open(address: &Path) -> io::Result<Self> {
        let (store, key) = store(&address.to_string_lossy())?;
        Self::find(store, &key)
    }

    fn find(store: Arc<dyn ObjectStore>, key: &Place) -> io::Result<Self> {
        let about = runtime()?.block_on(store.head(key)).map_err(|error| refused(&error))?;
        Ok(Self { store, about: Arc::new(about), ready: Bytes::new(), next: 0, step: FIRST })
    }

    /// The addresses that begin with another, in the order of names.
    ///
    /// # Errors
    /// Those of the store; one behind `http` must know WebDAV.
    pub fn list(address: &str) -> io::Result<Vec<PathBuf>> {
        let (store, key) = store(address)?;
        let keys = listed(&*store, &key)?;
        let root = address.find("://").and_then(|at| address[at + 3..].find('/').map(|end| at + 3 + end));
        let root = &address[..root.unwrap_or(address.len())];
        Ok(keys.into_iter().map(|key| format!("{root}/{key}").into()).collect())
    }

    /// What the store calls this version of the object.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.about.e_tag.as_deref()
    }

    /// Its bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.about.size
    }

    /// The same from another byte on.
    pub(crate) fn at(&self, start: u64) -> Self {
        Self { ready: Bytes::new(), next: start, step: FIRST, ..self.clone() }
    }

    /// Some of its bytes, by requests of any length.
    pub(crate) fn stretch(&self, start: u64, length: u64) -> io::Result<Bytes> {
        let (mut bytes, begun) = (Vec::new(), Self { step: MOST.min(length), ..self.at(start) });
        let read = begun.take(length).read_to_end(&mut bytes)?;
        if read as u64 == length { Ok(bytes.into()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Some of its bytes, by one request.
    pub(crate) fn range(&self, start: u64, length: u64) -> io::Result<Bytes> {
        let end = start.saturating_add(length);
        if end > self.length() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if length == 0 {
            return Ok(Bytes::new());
        }
        // Weak tags are equal to none.
        let tag = self.tag().filter(|tag| !tag.starts_with("W/")).map(str::to_owned);
        let options = GetOptions::new().with_range(Some(start..end)).with_if_match(tag);
        let got = async { self.store.get_opts(&self.about.location, options).await?.bytes().await };
        let bytes = runtime()?.block_on(got).map_err(|error| refused(&error))?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

impl Read for StoredObject {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.ready.is_empty() && !bytes.is_empty() {
            let length = self.step.min(self.length().saturating_sub(self.next));
            self.ready = self.range(self.next, length)?;
            (self.next, self.step) = (self.next + length, MOST.min(2 * self.step));
        }
        let count = bytes.len().min(self.ready.len());
        self.ready.copy_to_slice(&mut bytes[..count]);
        Ok(count)
    }
}

/// What an address is made of: the scheme, the host or bucket, and the key.
fn split(address: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = address.split_once("://")?;
    let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
    (["s3", "https", "http"].contains(&scheme) && !host.is_empty()).then_some((scheme, host, key))
}

/// The store of an address, the same for all that lie in it, and the key there.
fn store(address: &str) -> io::Result<(Arc<dyn ObjectStore>, Place)> {
    static STORES: Mutex<BTreeMap<String, Arc<dyn ObjectStore>>> = Mutex::new(BTreeMap::new());
    let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, why.to_owned());
    let (scheme, host, key) = split(address).ok_or_else(|| wrong("the address names no object"))?;
    if scheme != "s3" && key.contains(['?', '#']) {
        return Err(wrong("an address with a query is not read; give that of the file, or a pipe"));
    }
    let key = if scheme == "s3" { Place::parse(key).ok() } else { Place::from_url_path(key).ok() };
    let key = key.ok_or_else(|| wrong("its path has empty or relative parts"))?;
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let root = format!("{scheme}://{host}");
    if let Some(store) = stores.get(&root) {
        return Ok((Arc::clone(store), key));
    }
    // Another part of the program may have chosen who encrypts.
    drop(rustls::crypto::ring::default_provider().install_default());
    let retry = RetryConfig { max_retries: AGAIN, ..RetryConfig::default() };
    let store: Arc<dyn ObjectStore> = if scheme == "s3" {
        Arc::new(
            AmazonS3Builder::from_env()
                .with_bucket_name(host)
                .with_retry(retry)
                .build()
                .map_err(|error| refused(&error))?,
        )
    } else {
        let client = ClientOptions::new().with_allow_http(scheme == "http");
        let builder = HttpBuilder::new().with_url(&root).with_client_options(client).with_retry(retry);
        Arc::new(builder.build().map_err(|error| refused(&error))?)
    };
    stores.insert(root, Arc::clone(&store));
    Ok((store, key))
}

/// The keys below one, in the order of names.
fn listed(store: &dyn ObjectStore, key: &Place) -> io::Result<Vec<String>> {
    let mut found = store.list(Some(key));
    let mut keys: Vec<String> = Vec::new();
    let all = async {
        while let Some(object) = poll_fn(|context| found.as_mut().poll_next(context)).await {
            keys.push(object?.location.to_string());
        }
        Ok(())
    };
    runtime()?.block_on(all).map_err(|error| refused(&error))?;
    keys.sort_unstable();
    Ok(keys)
}

/// One thread that waits for answers, whoever asks.
fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<io::Result<Runtime>> = OnceLock::new();
    let begun = RUNTIME.get_or_init(|| Builder::new_multi_thread().worker_threads(1).enable_all().build());
    begun.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))
}

fn refused(error: &Error) -> io::Error {
    let kind = match error {
        Error::NotFound { .. } => io::ErrorKind::NotFound,
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => io::ErrorKind::PermissionDenied,
        Error::NotSupported { .. } => {
            return io::Error::other("the server sends no ranges of bytes; copy it to a file, or read it by a pipe");
        }
        Error::Precondition { .. } => return io::Error::other("it was changed while it was read"),
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    fn put(store: &Arc<dyn ObjectStore>, key: &str, bytes: Vec<u8>) {
        runtime().unwrap().block_on(store.put(&Place::from(key), bytes.into())).unwrap();
    }

    #[test]
    fn an_object_is_read_in_order_and_by_ranges() {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let bytes: Vec<u8> = (0..300_001_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        put(&store, "a/b.csv", bytes.clone());
        let mut object = StoredObject::find(Arc::clone(&store), &Place::from("a/b.csv")).unwrap();
        assert_eq!(object.length(), 300_001);
        let mut read = Vec::new();
        object.read_to_end(&mut read).unwrap();
        assert!(read == bytes);
        assert_eq!(object.range(70_000, 5).unwrap(), bytes[70_000..70_005]);
        assert!(object.range(300_000, 2).is_err());
        assert_eq!(object.stretch(1, 200_000).unwrap(), bytes[1..200_001]);
        assert!(object.stretch(300_000, 2).is_err());
        let mut rest = Vec::new();
        object.at(299_999).read_to_end(&mut rest).unwrap();
        assert_eq!(rest, bytes[299_999..]);
        assert_eq!(StoredObject::find(store, &Place::from("a/c.csv")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_was_changed_is_told() {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        put(&store, "a.csv", b"1,2\n".to_vec());
        let mut object = StoredObject::find(Arc::clone(&store), &Place::from("a.csv")).unwrap();
        put(&store, "a.csv", b"3,4\n".to_vec());
        let error = object.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("changed"), "{error}");
    }

    #[test]
    fn keys_are_listed_in_order() {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        ["a/2.csv", "a/1/0.csv", "b/3.csv"].iter().for_each(|key| put(&store, key, vec![]));
        assert_eq!(listed(&*store, &Place::from("a")).unwrap(), ["a/1/0.csv", "a/2.csv"]);
    }

    #[test]
    fn addresses_are_those_of_stores() {
        for (address, is_one) in [
            ("s3://bucket/a.csv", true),
            ("https://host:8080/a/b.parquet", true),
            ("gs://bucket/a.csv", false),
            ("s3:///a.csv", false),
            ("a.csv", false),
        ] {
            assert_eq!(StoredObject::is_address(Path::new(address)), is_one, "{address}");
        }
        let refused = |address: &str| StoredObject::open(Path::new(address)).unwrap_err().to_string();
        assert!(refused("https://host/a.csv?token=1").contains("query"));
        assert!(refused("s3://bucket/a//b.csv").contains("empty"));
    }
}
