//! `cargo xtask ci --browser`: the report of a small run in a real browser, in light and dark, on a
//! phone, a tablet and a desk, with and without scripts.
//!
//! On every page: no error on the console and no request except for the page itself, every picture
//! drawn, text in sufficient contrast, nothing wider than the screen, every link to a file that is
//! there, and the tab key passing everything in the order of the page, each stop with a visible
//! outline, words of pictures of 11 pixels and more. A series is turned off and on, a value read
//! and a picture zoomed by keys. Screenshots stay in `target/browser` for a person to look at.
//! Without a browser the step says so and passes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xshell::{Shell, cmd};

mod pipe;
pub(crate) mod site;

use pipe::Browser;

/// The environment variable that names the browser, and the names it is looked for by.
const VARIABLE: &str = "CHROMIUM";
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// Experiments of a few seconds that between them have every kind of content.
const EXPERIMENTS: &str = "table3,lemma31,bounds,langevin";

const CHECK: &str = include_str!("browser/check.js");

/// One way of looking at a page.
struct View {
    name: &'static str,
    dark: bool,
    width: u32,
    height: u32,
    phone: bool,
    scripts: bool,
}

const VIEWS: [View; 9] = [
    View { name: "light", dark: false, width: 1440, height: 900, phone: false, scripts: true },
    View { name: "dark", dark: true, width: 1440, height: 900, phone: false, scripts: true },
    View { name: "tablet", dark: false, width: 768, height: 1024, phone: false, scripts: true },
    View { name: "tablet-dark", dark: true, width: 768, height: 1024, phone: false, scripts: true },
    View { name: "phone", dark: false, width: 390, height: 844, phone: true, scripts: true },
    View { name: "phone-dark", dark: true, width: 390, height: 844, phone: true, scripts: true },
    View { name: "plain", dark: false, width: 1440, height: 900, phone: false, scripts: false },
    View { name: "plain-tablet", dark: true, width: 768, height: 1024, phone: false, scripts: false },
    View { name: "plain-phone", dark: false, width: 390, height: 844, phone: true, scripts: false },
];

/// Most bytes of a page.
const MOST_BYTES: u64 = 1_500_000;

/// Makes the report and looks at it.
///
/// # Errors
/// When the report cannot be made, the browser does not work, or a page has something wrong with
/// it.
pub(crate) fn run() -> Result<()> {
    let Some(program) = installed() else {
        println!("browser: skipped: no {} in PATH and ${VARIABLE} is not set", NAMES.join(", "));
        return Ok(());
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let folder = root.join("target/browser");
    // A profile of an earlier run would restore its pages.
    let _ = fs::remove_dir_all(folder.join("profile"));
    fs::create_dir_all(&folder)?;
    let out = folder.join("run");
    let shell = Shell::new()?;
    // With the tests, so that it is the program they were built with and nothing is built twice.
    cmd!(shell, "cargo build --quiet --workspace --bin reproduce --tests").quiet().run()?;
    let reproduce = std::env::current_exe()?.with_file_name("reproduce");
    let log = folder.join("run.log");
    let made = cmd!(shell, "{reproduce} --only {EXPERIMENTS} --seeds 1 --out {out}");
    let made = made.quiet().ignore_status().output()?;
    fs::write(&log, [made.stdout, made.stderr].concat())?;
    if !made.status.success() {
        bail!("the small run failed; see {}", log.display());
    }
    look(&program, &out.join("report"), &folder)
}

/// The browser named, or the first found in PATH.
fn installed() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    NAMES.iter().flat_map(|name| places.iter().map(move |place| place.join(name))).find(|file| file.is_file())
}

/// Every page of `report` in every view; screenshots go to `folder`.
fn look(program: &Path, report: &Path, folder: &Path) -> Result<()> {
    let mut pages: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(report).with_context(|| report.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "html") {
            pages.push(path);
        }
    }
    pages.sort();
    let mut browser = Browser::start(program, folder)?;
    let mut wrong = Vec::new();
    let (mut pictures, mut texts, mut least) = (0, 0, f64::INFINITY);
    for page in &pages {
        let bytes = fs::metadata(page)?.len();
        if bytes > MOST_BYTES {
            wrong.push(format!("{}: {bytes} bytes, more than {MOST_BYTES}", page.display()));
        }
        for view in &VIEWS {
            let name = format!("{}-{}", page.file_stem().unwrap_or_default().display(), view.name);
            let seen = visit(&mut browser, page, view).with_context(|| name.clone())?;
            fs::write(folder.join(format!("{name}.png")), seen.screenshot)?;
            wrong.extend(seen.problems.into_iter().map(|problem| format!("{name}: {problem}")));
            pictures += seen.pictures;
            texts += seen.texts;
            least = least.min(seen.least);
        }
    }
    wrong.iter().for_each(|problem| println!("{problem}"));
    if !wrong.is_empty() {
        bail!("{} thing(s) wrong with the report's pages; {}", wrong.len(), folder.display());
    }
    if pages.is_empty() || pictures == 0 {
        bail!("{}: {} pages with {pictures} pictures", report.display(), pages.len());
    }
    let views = VIEWS.len();
    println!(
        "browser: {} pages in {views} views; {pictures} pictures, {texts} pieces of text, least contrast {least:.1}",
        pages.len()
    );
    Ok(())
}

/// What was seen of a page.
struct Seen {
    problems: Vec<String>,
    pictures: u64,
    texts: u64,
    least: f64,
    screenshot: Vec<u8>,
}

fn visit(browser: &mut Browser, page: &Path, view: &View) -> Result<Seen> {
    let scheme = if view.dark { "dark" } else { "light" };
    let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
    browser.call("Emulation.setEmulatedMedia", &media)?;
    let size = json!({ "width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": view.phone });
    browser.call("Emulation.setDeviceMetricsOverride", &size)?;
    // The checks are scripts too, but not the page's: they run with those of the page off.
    browser.call("Emulation.setScriptExecutionDisabled", &json!({ "value": !view.scripts }))?;
    browser.events();
    browser.call("Page.navigate", &json!({ "url": format!("file://{}", page.display()) }))?;
    let mut events = browser.wait_for("Page.loadEventFired")?;
    let found = browser.evaluate(CHECK)?;
    let mut problems: Vec<String> = told(&found["problems"]).map(str::to_owned).collect();
    if found["dark"] != view.dark || found["width"] != view.width {
        problems.push(format!("the browser shows another view: {}, {}", found["dark"], found["width"]));
    }
    for file in told(&found["files"]) {
        if !Path::new(file).is_file() {
            problems.push(format!("a link to a file that is not there: {file}"));
        }
    }
    let picture = browser.call("Page.captureScreenshot", &json!({ "format": "png", "captureBeyondViewport": true }))?;
    let screenshot = decoded(picture["data"].as_str().unwrap_or_default());
    problems.extend(tab_through(browser, found["stops"].as_u64().unwrap_or(0))?);
    if view.scripts {
        problems.extend(answer(browser)?);
    }
    events.extend(browser.events());
    problems.extend(events.iter().filter_map(trouble));
    Ok(Seen {
        problems,
        pictures: found["pictures"].as_u64().unwrap_or(0),
        texts: found["texts"].as_u64().unwrap_or(0),
        least: found["least"].as_f64().unwrap_or(f64::NAN),
        screenshot,
    })
}

/// The words of a list.
fn told(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// An error of the page, or a request for anything but a file or data within the page.
fn trouble(event: &Value) -> Option<String> {
    trouble_at(event, &["file:", "data:", "about:"])
}

/// An error of the page, or a request for what begins otherwise than its own.
fn trouble_at(event: &Value, own: &[&str]) -> Option<String> {
    let parameters = &event["params"];
    let words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(format!("error: {}", parameters["exceptionDetails"])),
        "Runtime.consoleAPICalled" => Some(format!("on the console: {}", parameters["args"])),
        "Log.entryAdded" => Some(format!("on the console: {}", words(&parameters["entry"]["text"]))),
        "Network.requestWillBeSent" => {
            let url = words(&parameters["request"]["url"]);
            let known = own.iter().any(|start| url.starts_with(start));
            (!known).then(|| format!("asks the network for {url}"))
        }
        _ => None,
    }
}

/// Presses the tab key through the page: every stop comes after the one before, has an outline, and
/// none is left out.
fn tab_through(browser: &mut Browser, stops: u64) -> Result<Vec<String>> {
    const STEP: &str = "(() => {
        const at = document.activeElement, before = window.lastStop;
        if (!at || at === document.body || at === document.documentElement) return { end: true };
        const style = getComputedStyle(at);
        const said = at.localName + ' ' + (at.textContent || '').trim().slice(0, 40);
        const order = !before || (before.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
        window.lastStop = at;
        return { said, order, outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
                 counted: at.matches('a[href], button, summary, [tabindex]') };
    })()";
    let (mut problems, mut passed) = (Vec::new(), 0);
    for _ in 0..=stops + 200 {
        browser.press("Tab", 9)?;
        let seen = browser.evaluate(STEP)?;
        if seen["end"] == true {
            break;
        }
        if seen["order"] != true {
            // From the last stop the key may go round to the first one.
            if passed >= stops {
                break;
            }
            problems.push(format!("the tab key goes back to {}", seen["said"]));
            break;
        }
        if seen["outline"] != true {
            problems.push(format!("focus without an outline: {}", seen["said"]));
        }
        passed += u64::from(seen["counted"] == true);
    }
    if passed != stops {
        problems.push(format!("the tab key passes {passed} of {stops} stops"));
    }
    Ok(problems)
}

/// Turns a series off and on, reads a value and zooms by keys, and sorts a table, on a page that
/// has them.
fn answer(browser: &mut Browser) -> Result<Vec<String>> {
    const ACT: &str = "(() => {
        const faults = [], check = (good, what) => { if (!good) faults.push(what); };
        const key = (at, key) => at.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
        const toggle = document.querySelector('button[data-toggle]');
        if (toggle) {
            const own = () => [...toggle.closest('figure').querySelectorAll(`[data-series=\"${toggle.dataset.toggle}\"]`)];
            toggle.click();
            check(own().length > 0 && own().every((g) => g.style.display === 'none'), 'a series is not turned off');
            toggle.click();
            check(own().every((g) => g.style.display === ''), 'a series is not turned on again');
        }
        const picture = [...document.querySelectorAll('.picture')].find((p) => p.querySelector('path.line, path.dots'));
        if (picture) {
            const tip = document.querySelector('output.tip');
            key(picture, 'ArrowRight');
            check(!tip.hidden && / at /.test(tip.textContent), 'no value is read: ' + tip.textContent);
            key(picture, '+');
            check(picture.querySelector('.ticks text') !== null, 'a zoom has no ticks');
            key(picture, '0');
            check(picture.querySelector('.ticks') === null && tip.hidden, 'a zoom is not undone');
        }
        const sort = document.querySelector('button[data-sort]');
        if (sort) {
            sort.click();
            check(sort.closest('th').getAttribute('aria-sort') === 'ascending', 'a table is not sorted');
        }
        return faults;
    })()";
    let found = browser.evaluate(ACT)?;
    Ok(told(&found).map(str::to_owned).collect())
}

/// Base 64, as the browser writes it: padded, without line ends.
fn decoded(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(text.len() / 4 * 3), 0u32, 0);
    for six in text.bytes().filter_map(value) {
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64() {
        assert_eq!(decoded("TWVyY2Vy"), b"Mercer");
        assert_eq!(decoded("+/8="), [0xfb, 0xff]);
        assert!(decoded("").is_empty());
    }

    #[test]
    fn only_trouble_is_trouble() {
        let request =
            |url: &str| json!({ "method": "Network.requestWillBeSent", "params": { "request": { "url": url } } });
        assert!(trouble(&request("file:///a.html")).is_none() && trouble(&request("data:,")).is_none());
        assert_eq!(trouble(&request("https://a.org/")).unwrap(), "asks the network for https://a.org/");
        let entry = json!({ "method": "Log.entryAdded", "params": { "entry": { "text": "not found" } } });
        assert_eq!(trouble(&entry).unwrap(), "on the console: not found");
        assert!(trouble(&json!({ "method": "Page.loadEventFired" })).is_none());
    }

    /// A page with faults, where there is a browser: each is found.
    #[test]
    fn faults_are_found() -> Result<()> {
        let Some(program) = installed() else {
            println!("skipped: there is no browser");
            return Ok(());
        };
        let folder = tempfile::tempdir()?;
        let page = folder.path().join("faulty.html");
        let faults = "<!DOCTYPE html><html lang=en><body style='margin:0'><main><h1>A</h1><h3 id=x>B</h3><p id=x style='color:#999'>pale</p>\
                      <img src=none.png alt=''><svg width=50 height=50><g clip-path='url(#no)'/></svg><a href=gone.csv tabindex=2>c</a>\
                      <button style='outline:none'></button><div style='width:5000px'>wide</div></main><script>nothing()</script>";
        fs::write(&page, faults)?;
        let mut browser = Browser::start(&program, folder.path())?;
        let seen = visit(&mut browser, &page, &VIEWS[0])?;
        let all = seen.problems.join("\n");
        for fault in [
            "contrast 2.8",
            "image not loaded",
            "nothing drawn",
            "picture without a name",
            "picture without words",
            "identifier twice: x",
            "reference to nothing: #no",
            "a heading of level 3 after 1",
            "pixels wider",
            "a place of its own",
            "nothing to call it by",
            "not there: ",
            "error: ",
            "focus without an outline",
        ] {
            assert!(all.contains(fault), "{fault} is not among\n{all}");
        }
        assert_eq!(&seen.screenshot[1..4], b"PNG");
        Ok(())
    }
}
