//! The report of a small run, a site (`cargo xtask site URL`), or the page of the service, in a
//! real browser.
//!
//! The checks are programs for Playwright and axe in `xtask/browser`. On every page: no error on
//! the console and no request to elsewhere, every picture drawn, axe content (contrast, names,
//! order of headings, language), nothing wider than the screen, every link to what is there.
//! Screenshots stay in `target/browser`. Without a browser, Node or npm the step says so and
//! passes.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use xshell::{Shell, cmd};

use crate::{root, tools};

/// The environment variable that names the browser, and the names it is looked for by.
const VARIABLE: &str = "CHROMIUM";
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// Packages of the checks.
const PACKAGES: [&str; 2] = ["playwright-core@1.65.1", "axe-core@4.14.1"];

/// Experiments of a few seconds that between them have every kind of content.
const EXPERIMENTS: &str = "table3,lemma31,bounds,langevin";

/// Makes the report of a small run and looks at it.
///
/// # Errors
/// When the report cannot be made, the browser does not work, or a page has something wrong with
/// it.
pub(crate) fn report() -> Result<()> {
    let shell = Shell::new()?;
    let Some(browser) = Browser::find(&shell)? else { return Ok(()) };
    let out = browser.folder.join("run");
    // With the tests, so that it is the program they were built with and nothing is built twice.
    cmd!(shell, "cargo build --quiet --workspace --bin reproduce --tests").quiet().run()?;
    let reproduce = std::env::current_exe()?.with_file_name("reproduce");
    let made = cmd!(shell, "{reproduce} --only {EXPERIMENTS} --seeds 1 --out {out}");
    let made = made.quiet().ignore_status().output()?;
    let log = browser.folder.join("run.log");
    fs::write(&log, [made.stdout, made.stderr].concat())?;
    if !made.status.success() {
        bail!("the small run failed; see {}", log.display());
    }
    browser.check(&shell, "report", &out.join("report").display().to_string())
}

/// Looks at the site whose first page is at `url`, a folder.
///
/// # Errors
/// When the browser does not work or a page has something wrong with it.
pub(crate) fn site(url: &str) -> Result<()> {
    let shell = Shell::new()?;
    Browser::find(&shell)?.map_or(Ok(()), |browser| browser.check(&shell, "site", url))
}

/// Uses the pages of running services, of rows and of a series.
///
/// # Errors
/// When the browser does not work, or a page does not tell what its service answers.
pub(crate) fn service(addresses: &[SocketAddr; 3]) -> Result<()> {
    let shell = Shell::new()?;
    let urls = addresses.map(|address| format!("http://{address}")).join(",");
    Browser::find(&shell)?.map_or(Ok(()), |browser| browser.check(&shell, "service", &urls))
}

/// Uses the page in `folder`, and compares its answers with those of `program`, the command.
///
/// # Errors
/// When the browser does not work, the page has something wrong with it, or an answer differs.
pub(crate) fn page(folder: &Path, program: &Path) -> Result<()> {
    let shell = Shell::new()?;
    let Some(browser) = Browser::find(&shell)? else { return Ok(()) };
    let _command = shell.push_env("MERCER", program);
    browser.check(&shell, "web", &folder.canonicalize()?.display().to_string())
}

/// Programs and folders that a check needs.
struct Browser {
    program: PathBuf,
    packages: PathBuf,
    folder: PathBuf,
}

impl Browser {
    /// The browser named or the first in PATH, and the packages; `None` when one is not to be had.
    fn find(shell: &Shell) -> Result<Option<Self>> {
        let named = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()).map(PathBuf::from);
        let Some(program) = named.or_else(|| NAMES.iter().find_map(|name| tools::on_path(name))) else {
            println!("browser: skipped: no {} in PATH and ${VARIABLE} is not set", NAMES.join(", "));
            return Ok(None);
        };
        let Some(packages) = tools::from_npm(shell, "browser", &PACKAGES) else {
            tools::skipped("browser", &PACKAGES.join(", "))?;
            return Ok(None);
        };
        let folder = root().canonicalize()?.join("target/browser");
        fs::create_dir_all(&folder)?;
        Ok(Some(Self { program, packages, folder }))
    }

    fn check(&self, shell: &Shell, name: &str, what: &str) -> Result<()> {
        let Self { program, packages, folder } = self;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("browser/{name}.mjs"));
        Ok(cmd!(shell, "node {script} {packages} {program} {folder} {what}").quiet().run()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page with faults, where there is a browser: each is found.
    #[test]
    fn faults_are_found() -> Result<()> {
        let shell = Shell::new()?;
        let Some(browser) = Browser::find(&shell)? else { return Ok(()) };
        let pages = tempfile::tempdir()?;
        let faults = "<!DOCTYPE html><html lang=en><body style='margin:0'><main><h1>A</h1><h3 id=x>B</h3>\
            <p id=x style='color:#999'>pale</p><img src=none.png alt=''><svg width=50 height=50><g clip-path='url(#no)'/></svg>\
            <a href=gone.csv tabindex=2>c</a><button style='outline:none'></button><a href='#gone'>d</a>\
            <div style='width:5000px'>wide</div></main><script>nothing()</script>";
        fs::write(pages.path().join("faulty.html"), faults)?;
        let Browser { program, packages, .. } = &browser;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/report.mjs");
        let (out, what) = (pages.path().join("pictures"), pages.path());
        let said = cmd!(shell, "node {script} {packages} {program} {out} {what}").quiet().ignore_status().read()?;
        for fault in [
            "color-contrast",
            "a picture without a drawing: <img",
            "a picture without a drawing: <svg",
            "a reference to nothing: #no",
            "a link to nothing: #gone",
            "heading-order",
            "pixels wider",
            "tabindex",
            "button-name",
            "not there: ",
            "error: ",
            "focus without an outline",
        ] {
            assert!(said.contains(fault), "{fault} is not among\n{said}");
        }
        Ok(())
    }
}
