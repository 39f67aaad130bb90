//! `cargo xtask datasets list | fetch | verify`: what data there are, how to get them, whether they
//! are what they should be.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use mercer_datasets::{Entry, Registry};
use xshell::{Shell, cmd};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A folder to look in before all others.
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print every data set: rows, features, licence, and where it is found or published.
    List,
    /// Download data sets into datasets/cache, or say how to get them.
    Fetch {
        /// The data sets' names, as `list` prints them.
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Check sha256, rows and features of everything found, or of the data sets named.
    Verify {
        /// The data sets' names; all that are found when left out.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut registry = Registry::load()?.with_folder(cache());
    if let Some(folder) = &arguments.data {
        registry = registry.with_folder(folder);
    }
    match &arguments.action {
        Action::List => {
            print!("{}", table(&registry));
            Ok(())
        }
        Action::Fetch { names } => fetch(&registry, names),
        Action::Verify { names } => verify(&registry, names),
    }
}

/// One line a data set, columns aligned.
fn table(registry: &Registry) -> String {
    let mut rows = vec![["name", "n", "d", "licence", "where"].map(str::to_owned)];
    for entry in registry.entries() {
        let place = match registry.locate(&entry.name) {
            Some(path) => shown(&path),
            None if registry.is_available(&entry.name) => "in this program".to_owned(),
            None => format!("missing: {}", entry.page),
        };
        rows.push([entry.name.clone(), entry.n.to_string(), entry.d.to_string(), entry.licence.clone(), place]);
    }
    let widths = [0, 1, 2, 3].map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for [name, n, d, licence, place] in rows {
        let [w_name, w_n, w_d, w_licence] = widths;
        text += &format!("{name:w_name$}  {n:>w_n$}  {d:>w_d$}  {licence:w_licence$}  {place}\n");
    }
    text
}

fn verify(registry: &Registry, names: &[String]) -> Result<()> {
    let wanted: Vec<&str> = if names.is_empty() {
        registry.entries().iter().map(|entry| entry.name.as_str()).collect()
    } else {
        names.iter().map(String::as_str).collect()
    };
    let (mut checked, mut wrong, mut absent) = (0, 0, Vec::new());
    for name in wanted {
        if names.is_empty() && !registry.is_available(name) {
            absent.push(name);
            continue;
        }
        checked += 1;
        match registry.verify(name).map(|()| registry.find(name)) {
            Ok(entry) => {
                let digest = entry.is_some_and(|entry| entry.sha256.is_some());
                let digest = if digest { "sha256 as it should be" } else { "no sha256 is known" };
                let (n, d) = entry.map_or((0, 0), |entry| (entry.n, entry.d));
                println!("ok     {name}: {n} rows of {d} features, {digest}");
            }
            Err(error) => {
                wrong += 1;
                println!("WRONG  {error}");
            }
        }
    }
    if !absent.is_empty() {
        println!("absent {}", absent.join(", "));
    }
    if wrong > 0 {
        bail!("{wrong} of {checked} data sets are absent or not what the manifest says");
    }
    println!("{checked} checked, {} absent", absent.len());
    Ok(())
}

fn fetch(registry: &Registry, names: &[String]) -> Result<()> {
    let mut failed = 0;
    for name in names {
        let Some(entry) = registry.find(name) else {
            bail!("no data set is named {name:?}; `cargo xtask datasets list` prints the names");
        };
        if registry.is_available(name) {
            let place = registry.locate(name).map_or_else(|| "in this program".to_owned(), |path| shown(&path));
            println!("{name}: here already, {place}");
        } else if let Err(error) = fetch_one(entry) {
            println!("{name}: not fetched: {error:#}");
            println!("{}", advice(entry));
            failed += 1;
        }
    }
    if failed > 0 { bail!("{failed} of {} data sets were not fetched", names.len()) } else { Ok(()) }
}

/// Advice on how to get a data set by hand.
fn advice(entry: &Entry) -> String {
    let file = entry.download.as_ref().map_or(String::new(), |download| format!("  file:    {}\n", download.url));
    format!(
        "  page:    {}\n{file}  prepare: {}\n  put it:  {}",
        entry.page,
        entry.prepare,
        shown(&cache().join(&entry.file))
    )
}

fn fetch_one(entry: &Entry) -> Result<()> {
    let Some(download) = &entry.download else { bail!("no single file of its page holds it") };
    println!("{}: downloading {}", entry.name, download.url);
    let (shell, aside, url) = (Shell::new()?, aside(entry, &cache()), &download.url);
    let curl = cmd!(shell, "curl --fail --silent --show-error --location --create-dirs --proto =https").args([
        "--output".as_ref(),
        aside.as_os_str(),
        url.as_ref(),
    ]);
    curl.quiet().run().with_context(|| format!("curl could not download {url}"))?;
    println!("{}", store(entry, &cache(), &aside)?.report(entry));
    Ok(())
}

/// Where a download waits to be checked.
fn aside(entry: &Entry, cache: &Path) -> PathBuf {
    cache.join("raw").join(format!("{}.tmp", entry.name))
}

/// Outcome of a download.
#[derive(Debug, PartialEq)]
enum Download {
    /// It is the data set's file, in its place.
    Ready(PathBuf),
    /// It is what the data set's file is made of.
    Raw(PathBuf),
}

impl Download {
    fn report(&self, entry: &Entry) -> String {
        match self {
            Self::Ready(path) => format!("{}: ready, {}", entry.name, shown(path)),
            Self::Raw(path) => format!(
                "{}: the raw file is {}; it must be converted first:\n{}",
                entry.name,
                shown(path),
                advice(entry)
            ),
        }
    }
}

/// Checks a download and gives it its name: the data set's own if it is that file bit for bit (or,
/// when no digest is known, by its name), else `raw/` and the name it has at its origin. One that
/// is refused is removed.
fn store(entry: &Entry, cache: &Path, aside: &Path) -> Result<Download> {
    let download = entry.download.as_ref().context("the manifest gives no file to download")?;
    let digest = mercer_datasets::sha256_file(aside)?;
    let expected = download.sha256.as_ref().unwrap_or(&digest);
    let empty = std::fs::metadata(aside).with_context(|| shown(aside))?.len() == 0;
    if empty || !expected.eq_ignore_ascii_case(&digest) {
        std::fs::remove_file(aside).with_context(|| shown(aside))?;
        let wrong = format!("the download has sha256 {digest}, the manifest says {expected}");
        bail!("{}", if empty { "the download is empty" } else { &wrong });
    }
    let origin = download.url.rsplit('/').next().unwrap_or(&entry.file);
    let ready = match &entry.sha256 {
        Some(expected) => expected.eq_ignore_ascii_case(&digest),
        None => origin == entry.file,
    };
    let kept =
        if ready { Download::Ready(cache.join(&entry.file)) } else { Download::Raw(aside.with_file_name(origin)) };
    let (Download::Ready(path) | Download::Raw(path)) = &kept;
    std::fs::rename(aside, path).with_context(|| shown(path))?;
    Ok(kept)
}

fn repository() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

fn cache() -> PathBuf {
    repository().join("datasets/cache")
}

/// A path as short as it can be shown: from the repository if it is within it.
fn shown(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real.strip_prefix(repository()).unwrap_or(&real).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> Entry {
        Registry::load().unwrap().find(name).unwrap().clone()
    }

    /// The data sets every copy of the program carries.
    const BUNDLED: [&str; 2] = ["diamonds", "earth_orientation"];

    /// The sha256 of nothing but the letters abc, from the standard's own examples.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_list_names_every_data_set() {
        let registry = Registry::load_from(Vec::new()).unwrap();
        let text = table(&registry);
        assert_eq!(text.lines().count(), registry.entries().len() + 1);
        for (entry, line) in registry.entries().iter().zip(text.lines().skip(1)) {
            assert!(line.starts_with(&entry.name) && line.contains(&entry.licence), "{line}");
            assert!(line.contains(&entry.n.to_string()), "{line}");
            let expected = if BUNDLED.contains(&entry.name.as_str()) { "in this program" } else { &entry.page };
            assert!(line.ends_with(expected), "{line}");
        }
    }

    #[test]
    fn advice_says_page_file_and_place() {
        let text = advice(&entry("toms_hardware"));
        assert!(text.contains("https://archive.ics.uci.edu/dataset/248/"), "{text}");
        assert!(text.contains("gzip < regression/TomsHardware/TomsHardware.data > toms_hardware.csv.gz"), "{text}");
        assert!(text.ends_with("datasets/cache/toms_hardware.csv.gz"), "{text}");
    }

    #[test]
    fn downloads_find_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path();
        std::fs::create_dir(cache.join("raw")).unwrap();
        let store = |entry: &Entry, bytes: &[u8]| {
            let aside = aside(entry, cache);
            std::fs::write(&aside, bytes).unwrap();
            store(entry, cache, &aside)
        };

        // Another file than the data set's own: raw.
        let year = entry("year");
        let raw = store(&year, b"abc").unwrap();
        assert_eq!(raw, Download::Raw(cache.join("raw/yearpredictionmsd.zip")));
        assert_eq!(std::fs::read(cache.join("raw/yearpredictionmsd.zip")).unwrap(), b"abc");
        assert!(raw.report(&year).contains("it must be converted first"), "{}", raw.report(&year));

        // The same name and no digest: the file itself.
        assert_eq!(store(&entry("susy"), b"abc").unwrap(), Download::Ready(cache.join("SUSY.csv.gz")));

        // The digest of the data set: the file itself, whatever its name.
        let exact = Entry { sha256: Some(ABC.to_uppercase()), ..entry("cpusmall") };
        assert_eq!(store(&exact, b"abc").unwrap(), Download::Ready(cache.join("cpusmall.csv.gz")));

        // Nothing is left of what is refused.
        let mut spoilt = year;
        spoilt.download.as_mut().unwrap().sha256 = Some(ABC.to_owned());
        let error = store(&spoilt, b"abd").unwrap_err().to_string();
        assert!(error.starts_with("the download has sha256 a52d159f"), "{error}");
        assert!(store(&spoilt, b"").is_err());
        assert!(!cache.join("raw/year.tmp").exists());
        assert_eq!(std::fs::read(cache.join("raw/yearpredictionmsd.zip")).unwrap(), b"abc");
    }

    #[test]
    fn verification_fails_on_a_spoilt_file() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::load_from(vec![folder.path().to_owned()]).unwrap();
        verify(&registry, &[]).unwrap();
        assert!(verify(&registry, &["year".to_owned()]).is_err(), "asked for by name, an absent file is a failure");
        std::fs::write(folder.path().join("diamonds.csv.gz"), "not gzip").unwrap();
        let error = verify(&registry, &[]).unwrap_err().to_string();
        assert_eq!(error, "1 of 2 data sets are absent or not what the manifest says");
    }
}
