//! Messages on stderr beside failures: their amount and their colours.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::builder::StyledStr;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::report::failure::Failure;
use crate::report::plain::Plain;

/// The amount of messages: set once, before the first.
static LEVEL: AtomicU8 = AtomicU8::new(Verbosity::Usual as u8);

/// The amount of messages on stderr.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verbosity {
    /// Failures, and rows that were left out.
    Quiet,
    Usual,
    /// Also what was found and chosen.
    Verbose,
}

/// From now on so much is said.
pub(crate) fn set(level: Verbosity) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// True if nothing but failures is to be said.
pub(crate) fn is_quiet() -> bool {
    LEVEL.load(Ordering::Relaxed) == Verbosity::Quiet as u8
}

/// Paths that people do not know, and what they are called instead.
static CALLED: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// From now on messages call a path by this name: that of a pipe, for the file it was copied to.
pub(crate) fn call(path: &str, name: &str) {
    CALLED.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), name.to_owned()));
}

/// A line on stderr. One that cannot be written is lost, and harms nothing else.
pub(crate) fn line(text: impl Display) {
    let mut text = format!("{text}\n");
    for (path, name) in CALLED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        text = text.replace(path, name);
    }
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Says something even if there are to be no remarks.
pub(crate) fn say(text: impl Display) {
    line(format_args!("mercer: {}", Plain(&text.to_string())));
}

/// A remark, unless there are to be none.
pub(crate) fn remark(text: impl Display) {
    if !is_quiet() {
        say(text);
    }
}

/// A remark, unless it was made before.
pub(crate) fn once(text: String) {
    if !is_quiet() {
        say_once(text);
    }
}

/// Says something even if there are to be no remarks, unless it was said before.
pub(crate) fn say_once(text: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.contains(&text) {
        say(&text);
        said.insert(text);
    }
}

/// A remark for those who asked for more.
pub(crate) fn more(text: impl FnOnce() -> String) {
    if LEVEL.load(Ordering::Relaxed) == Verbosity::Verbose as u8 {
        say(text());
    }
}

/// Lines for people, as they are.
pub(crate) fn show(text: &str) {
    line(format_args!("{}", text.trim_end()));
}

/// Why the command ended.
pub(crate) fn complain(failure: &Failure) {
    let [begin, end] = if coloured(io::stderr().is_terminal()) { ["\u{1b}[1;31m", "\u{1b}[0m"] } else { ["", ""] };
    line(format_args!("{begin}mercer:{end} {failure}"));
}

/// A text with styles for stdout, which keeps them on a terminal alone.
pub(crate) fn styled(text: &StyledStr) -> String {
    if coloured(io::stdout().is_terminal()) { text.ansi().to_string() } else { text.to_string() }
}

fn coloured(terminal: bool) -> bool {
    let said = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    terminal && may_colour(said("NO_COLOR").is_some(), said("TERM").is_some_and(|term| term == "dumb"))
}

/// <https://no-color.org>: any value but the empty one says no.
fn may_colour(no_color: bool, dumb: bool) -> bool {
    !(no_color || dumb)
}

/// A bar for a person who waits at a terminal, of this length if it is known.
pub(crate) fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    if is_quiet() || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    // A run that fails takes its bar away before it says why.
    let bar = bar.with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A bar of rows that are learnt, with the size of the dictionary as its message.
pub(crate) fn rows_bar(rounds: Option<usize>) -> ProgressBar {
    const LEFT: &str = "{bar:40} {human_pos}/{human_len} rows, {per_sec}, {eta} left, dictionary {msg}";
    const SO_FAR: &str = "{spinner} {human_pos} rows, {per_sec}, dictionary {msg}";
    bar(rounds.map(|rounds| rounds as u64), if rounds.is_some() { LEFT } else { SO_FAR })
}
