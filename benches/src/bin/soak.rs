//! The matrix of `mercer_benches::soak`: every learner of bounded memory and its settings of change
//! on every kind of stream, as a table in Markdown, and what one wrong target leaves behind.
//! `cargo xtask soak --matrix` runs it. It fails where a learner that the guide offers is far from
//! a window, where nothing is said of an error above the mean's, and where a mixture does not
//! recover.

use std::sync::Mutex;
use std::thread;

use anyhow::{Result, ensure};
use clap::Parser;
use mercer::notes::Cause;
use mercer_benches::soak::{
    MEAN, OFFERED, PLACES, RECOVERING, REFERENCE, STREAMS, SoakOutcome, WRONG, after, outcome, subjects,
};

/// Errors as multiples of those of a window.
#[derive(Parser)]
struct Arguments {
    /// Rows of each stream
    #[arg(long, default_value_t = 100_000)]
    rows: usize,
    /// Only learners whose name begins so
    #[arg(long, default_value = "")]
    learner: String,
    /// Learners at a time
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// The letter of a cause.
fn letter(cause: Cause) -> char {
    match cause {
        Cause::UnitOfTargets => 't',
        Cause::UnitOfInputs => 'i',
        Cause::Forgetting => 'g',
        Cause::FullDictionary => 'f',
        Cause::LargeDictionary => 'l',
        Cause::OneRow => 'o',
        Cause::ImplausibleTarget => 'w',
        Cause::NoBetterThanConstant => 'n',
        Cause::OrderOfRows => 's',
        Cause::AlikeClasses => 'c',
        Cause::AlikeGroups => 'a',
    }
}

/// The line of a subject, and what is wrong with it.
fn line(subject: &str, reference: &[f64], mean: &[f64], rows: usize) -> (String, Vec<String>) {
    let offered = OFFERED.iter().find(|(offered, _)| *offered == subject).map_or(&[][..], |(_, streams)| streams);
    let (mut cells, mut wrong) = (Vec::new(), Vec::new());
    for (place, stream) in STREAMS.iter().enumerate() {
        let diverged = |_| SoakOutcome { error: f64::INFINITY, causes: Vec::new() };
        let SoakOutcome { error, causes } = outcome(subject, stream, rows).unwrap_or_else(diverged);
        let (share, worse) = (error / reference[place], error > 1.1 * mean[place] && subject != MEAN);
        if worse && causes.is_empty() {
            wrong
                .push(format!("{subject}, {stream}: {:.2} times the mean's error, and no remark", error / mean[place]));
        }
        let bold = if offered.contains(stream) { "**" } else { "" };
        if offered.contains(stream) && share > 3.0 {
            wrong.push(format!("{subject}, {stream}: {share:.2} times the window's error, and it is offered"));
        }
        let star = if worse { "\\*" } else { "" };
        let causes: String = causes.into_iter().filter(|_| worse).map(letter).collect();
        cells.push(format!("{bold}{share:.2}{bold}{star}{causes}"));
    }
    (format!("| `{subject}` | {} |", cells.join(" | ")), wrong)
}

/// Ratios of the errors of a subject after one wrong target to those without it.
fn recovery(subject: &str, rows: usize) -> Result<(String, Vec<String>)> {
    let (mut cells, mut wrong) = (Vec::new(), Vec::new());
    for place in PLACES.into_iter().filter(|place| place + 2500 < rows) {
        let undisturbed = after(subject, place, None)?;
        for size in WRONG {
            let ratio = after(subject, place, Some(size))? / undisturbed;
            if ratio > 1.2 {
                wrong.push(format!("{subject}, {size:e} in row {}: {ratio:.2} times the undisturbed error", place + 1));
            }
            cells.push(format!("{ratio:.3}"));
        }
    }
    Ok((format!("| `{subject}` | {} |", cells.join(" | ")), wrong))
}

fn main() -> Result<()> {
    let Arguments { rows, learner, threads } = Arguments::parse();
    let of = |subject: &str| -> Result<Vec<f64>> {
        STREAMS.iter().map(|stream| Ok(outcome(subject, stream, rows)?.error)).collect()
    };
    let (reference, mean) = (of(REFERENCE)?, of(MEAN)?);
    println!("| learner | {} |\n|---|{}", STREAMS.join(" | "), "---:|".repeat(STREAMS.len()));
    let cells: Vec<String> = reference.iter().map(|error| format!("{error:.3}")).collect();
    println!("| error of `{REFERENCE}` | {} |", cells.join(" | "));
    let mine: Vec<String> = subjects().into_iter().filter(|subject| subject.starts_with(&learner)).rev().collect();
    let (waiting, wrong) = (Mutex::new(mine), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some(subject) = waiting.lock().ok().and_then(|mut waiting| waiting.pop()) else { return };
            let (line, found) = line(&subject, &reference, &mean, rows);
            println!("{line}");
            wrong.lock().into_iter().for_each(|mut wrong| wrong.extend(found.clone()));
        }
    };
    thread::scope(|scope| (0..threads.max(1)).for_each(|_| drop(scope.spawn(work))));
    let places = PLACES.iter().filter(|place| **place + 2500 < rows);
    let head = |place: &usize| WRONG.map(|size| format!("{size:e} in row {}", place + 1));
    let heads: Vec<String> = places.flat_map(head).collect();
    println!("\n| learner | {} |\n|---|{}", heads.join(" | "), "---:|".repeat(heads.len()));
    let mut wrong = wrong.into_inner().unwrap_or_default();
    for subject in RECOVERING.iter().filter(|subject| subject.starts_with(&learner)) {
        let (line, found) = recovery(subject, rows)?;
        println!("{line}");
        wrong.extend(found);
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}
