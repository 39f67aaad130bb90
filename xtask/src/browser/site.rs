//! `cargo xtask ci --site URL`: the pages of a site in a real browser, followed from link to link
//! from its first page.
//!
//! On every page, on a desk and on a phone: no error on the console, no request to elsewhere, every
//! picture drawn, one title, nothing wider than the screen, every link to a page, a file or a place
//! in a page that is there. The search finds what it is asked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::pipe::Browser;
use super::{decoded, installed, told, trouble_at};

const CHECK: &str = include_str!("site.js");

/// Names of the views with their width and height, and whether it is a phone.
const VIEWS: [(&str, u32, u32, bool); 2] = [("desk", 1280, 900, false), ("phone", 390, 844, true)];

/// What the search is asked for, which the reference of every learner names.
const SOUGHT: &str = "regressor";
const PATIENCE: Duration = Duration::from_secs(20);

/// Visits the site whose first page is at `url`, a folder.
///
/// # Errors
/// When the browser does not work or a page has something wrong with it.
pub(crate) fn run(url: &str) -> Result<()> {
    let Some(program) = installed() else {
        println!("site: skipped: there is no browser");
        return Ok(());
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/browser-site");
    let _ = fs::remove_dir_all(folder.join("profile"));
    fs::create_dir_all(&folder)?;
    let mut browser = Browser::start(&program, &folder)?;
    let mut site = Site::new(url);
    while let Some(page) = site.next() {
        for view in VIEWS {
            let picture = site.visit(&mut browser, &page, view).with_context(|| format!("{page}, {}", view.0))?;
            if site.pages.len() == 1 {
                fs::write(folder.join(format!("{}.png", view.0)), picture)?;
            }
        }
    }
    site.follow_files(&mut browser)?;
    site.follow_places();
    site.search(&mut browser)?;
    site.problems.iter().for_each(|problem| println!("{problem}"));
    if !site.problems.is_empty() {
        bail!("{} thing(s) wrong with the pages of {url}", site.problems.len());
    }
    let Site { pages, files, pictures, .. } = &site;
    if pages.len() < 2 || *pictures == 0 {
        bail!("{url}: {} pages with {pictures} pictures", pages.len());
    }
    println!("site: {} pages in {} views, {} files, {pictures} pictures", pages.len(), VIEWS.len(), files.len());
    Ok(())
}

/// What is known of a site so far.
struct Site {
    url: String,
    waiting: VecDeque<String>,
    /// Pages that were met, with the places in them once they have been visited.
    pages: BTreeMap<String, BTreeSet<String>>,
    /// Files that are no pages.
    files: BTreeSet<String>,
    /// Links into pages: from where, to which page, to which place in it.
    places: BTreeSet<(String, String, String)>,
    pictures: u64,
    problems: Vec<String>,
}

impl Site {
    fn new(url: &str) -> Self {
        let url = format!("{}/", url.trim_end_matches('/'));
        let first = format!("{url}index.html");
        Self {
            url,
            waiting: [first].into(),
            pages: BTreeMap::new(),
            files: BTreeSet::new(),
            places: BTreeSet::new(),
            pictures: 0,
            problems: Vec::new(),
        }
    }

    /// A page that has not been visited.
    fn next(&mut self) -> Option<String> {
        let page = self.waiting.pop_front()?;
        self.pages.insert(page.clone(), BTreeSet::new());
        Some(page)
    }

    /// Notes a link of `page`; those to elsewhere are none of this site's business.
    fn meet(&mut self, page: &str, link: &str) {
        if !link.starts_with(&self.url) {
            return;
        }
        let (target, place) = link.split_once('#').unwrap_or((link, ""));
        let target = if target.ends_with('/') { format!("{target}index.html") } else { target.to_owned() };
        if !target.ends_with(".html") {
            self.files.insert(target);
            return;
        }
        if !place.is_empty() {
            self.places.insert((page.to_owned(), target.clone(), place.to_owned()));
        }
        if !self.pages.contains_key(&target) && !self.waiting.contains(&target) {
            self.waiting.push_back(target);
        }
    }

    /// Looks at a page and gives a picture of it.
    fn visit(&mut self, browser: &mut Browser, page: &str, view: (&str, u32, u32, bool)) -> Result<Vec<u8>> {
        let (name, width, height, phone) = view;
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone });
        browser.call("Emulation.setDeviceMetricsOverride", &size)?;
        let mut events = open(browser, page)?;
        let found = browser.evaluate(CHECK)?;
        for link in told(&found["links"]) {
            self.meet(page, link);
        }
        self.pages.insert(page.to_owned(), told(&found["places"]).map(str::to_owned).collect());
        self.pictures += found["pictures"].as_u64().unwrap_or(0);
        events.extend(browser.events());
        let own = [self.url.as_str(), "data:", "blob:", "about:"];
        // The search tells the console how it is getting on.
        let seen = events.iter().filter(|event| event["params"]["entry"]["level"] != "info");
        let seen = seen.filter_map(|event| trouble_at(event, &own));
        let problems = told(&found["problems"]).map(str::to_owned).chain(seen);
        self.problems.extend(problems.map(|problem| format!("{page}, {name}: {problem}")));
        let picture = browser.call("Page.captureScreenshot", &json!({ "format": "png" }))?;
        Ok(decoded(picture["data"].as_str().unwrap_or_default()))
    }

    /// Asks for every file, from a page of the site.
    fn follow_files(&mut self, browser: &mut Browser) -> Result<()> {
        open(browser, &format!("{}index.html", self.url))?;
        for file in &self.files {
            let answer = browser.evaluate(&format!("fetch({}).then((answer) => answer.status)", json!(file)))?;
            if answer != 200 {
                self.problems.push(format!("a link to a file that is not there: {file} ({answer})"));
            }
        }
        Ok(())
    }

    fn follow_places(&mut self) {
        for (page, target, place) in &self.places {
            if !self.pages.get(target).is_some_and(|places| places.contains(place)) {
                self.problems.push(format!("{page}: a link to a place that is not there: {target}#{place}"));
            }
        }
    }

    /// What the search gives, which a script of the site finds some time after the page is there.
    fn search(&mut self, browser: &mut Browser) -> Result<()> {
        const RESULTS: &str = "document.querySelectorAll('#mkdocs-search-results a[href]').length";
        open(browser, &format!("{}search.html?q={SOUGHT}", self.url))?;
        let begun = Instant::now();
        while browser.evaluate(RESULTS)? == 0 {
            if begun.elapsed() > PATIENCE {
                self.problems.push(format!("the search finds nothing for '{SOUGHT}'"));
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }
}

/// Opens a page; the events until it is there.
fn open(browser: &mut Browser, page: &str) -> Result<Vec<Value>> {
    browser.events();
    browser.call("Page.navigate", &json!({ "url": page }))?;
    browser.wait_for("Page.loadEventFired")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_pages_files_and_places() {
        let mut site = Site::new("http://127.0.0.1:1");
        let page = site.next().unwrap();
        assert_eq!(page, "http://127.0.0.1:1/index.html");
        for link in ["", "a.html#x", "a.html", "b/", "c.ipynb", "index.html#y"] {
            site.meet(&page, &format!("http://127.0.0.1:1/{link}"));
        }
        site.meet(&page, "https://elsewhere.org/d.html");
        assert_eq!(site.waiting, ["http://127.0.0.1:1/a.html", "http://127.0.0.1:1/b/index.html"]);
        assert_eq!(site.files.len(), 1);
        site.pages.insert("http://127.0.0.1:1/a.html".into(), ["x".to_owned()].into());
        site.follow_places();
        assert_eq!(site.problems.len(), 1);
        assert!(site.problems[0].ends_with("index.html#y"), "{:?}", site.problems);
    }
}
