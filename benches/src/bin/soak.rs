//! The matrix of `mercer_benches::soak`: every learner of bounded memory and its settings of change
//! on every kind of stream, as a table in Markdown. `cargo xtask soak --matrix` runs it.

use std::sync::Mutex;
use std::thread;

use anyhow::Result;
use clap::Parser;
use mercer_benches::soak::{MEAN, OFFERED, REFERENCE, STREAMS, error, subjects};

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

fn main() -> Result<()> {
    let Arguments { rows, learner, threads } = Arguments::parse();
    let of = |subject: &str| STREAMS.map(|stream| error(subject, stream, rows).unwrap_or(f64::INFINITY));
    let (reference, mean) = (of(REFERENCE), of(MEAN));
    println!("| learner | {} |\n|---|{}", STREAMS.join(" | "), "---:|".repeat(STREAMS.len()));
    let cells = |errors: [f64; STREAMS.len()]| errors.map(|error| format!("{error:.3}")).join(" | ");
    println!("| error of `{REFERENCE}` | {} |", cells(reference));
    let waiting =
        Mutex::new(subjects().into_iter().filter(|subject| subject.starts_with(&learner)).rev().collect::<Vec<_>>());
    let work = || {
        loop {
            let Some(subject) = waiting.lock().ok().and_then(|mut waiting| waiting.pop()) else { return };
            let offered =
                OFFERED.iter().find(|(offered, _)| *offered == subject).map_or(&[][..], |(_, streams)| streams);
            let errors = of(&subject);
            let cells = STREAMS.iter().enumerate().map(|(place, stream)| {
                let worse = if errors[place] > 1.1 * mean[place] && subject != MEAN { "\\*" } else { "" };
                let bold = if offered.contains(stream) { "**" } else { "" };
                format!("{bold}{:.2}{bold}{worse}", errors[place] / reference[place])
            });
            println!("| `{subject}` | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
    };
    thread::scope(|scope| (0..threads.max(1)).for_each(|_| drop(scope.spawn(work))));
    Ok(())
}
