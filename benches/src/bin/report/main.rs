//! Measures the whole catalogue beside the machine's roofs, and a few learners beside other
//! libraries, and writes `<date>-<cpu>.csv` and `.md`.
//!
//! Everything is measured on the thread that runs this, one operation after the other, in several
//! rounds some ten seconds apart; of times and of roofs the best round counts.

mod machine;
mod peers;
mod table;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use mercer_benches::{Roofs, SIZES, catalogue, timing};

use crate::peers::Peers;
use crate::table::{BenchReport, Measurement};

/// Measures every operation as a share of the machine's roofs.
#[derive(Debug, Parser)]
struct Arguments {
    /// Date of the report, as 2026-11-21 [default: today, UTC]
    #[arg(long)]
    date: Option<String>,
    /// Directory of the results
    #[arg(long, default_value = "benches/results")]
    out: PathBuf,
    /// Rounds over everything
    #[arg(long, default_value_t = 8)]
    rounds: usize,
    /// Milliseconds for each measurement in a round
    #[arg(long, default_value_t = 20)]
    milliseconds: u64,
    /// A program of another library, as NAME=PROGRAM; once for each
    #[arg(long, value_name = "NAME=PROGRAM")]
    peer: Vec<String>,
    /// Turns of each program
    #[arg(long, default_value_t = 2)]
    turns: usize,
    /// Sizes up to this one only, to try whether the programs work
    #[arg(long)]
    largest: Option<usize>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let budget = Duration::from_millis(arguments.milliseconds);
    eprintln!("setting up");
    let largest = arguments.largest.unwrap_or(usize::MAX);
    let sizes: Vec<usize> = SIZES.into_iter().filter(|size| *size <= largest).collect();
    let mut topics = catalogue::everything(&sizes)?;
    let mut roofs = Roofs::new(budget / 2);
    let mut measured: Vec<Measurement> = Vec::new();
    for round in 0..arguments.rounds.max(1) {
        eprintln!("round {}", round + 1);
        if round > 0 {
            roofs.measure_again();
        }
        let mut rows = measured.iter_mut();
        let mut new = Vec::new();
        for (topic, operations) in &mut topics {
            for operation in operations {
                let seconds = timing::fastest(operation, budget);
                match rows.next() {
                    Some(row) => row.seconds = row.seconds.min(seconds),
                    None => {
                        roofs.at(operation.work.working_set());
                        let (name, size, work) = (operation.name.clone(), operation.size, operation.work);
                        new.push(Measurement { topic, name, size, work, seconds });
                    }
                }
            }
        }
        measured.append(&mut new);
    }
    eprintln!("peers");
    let folder = std::env::temp_dir().join(format!("mercer-peers-{}", std::process::id()));
    let peers = Peers::measure(&arguments.peer, &folder, arguments.turns.max(1), arguments.largest)?;
    let machine = machine::Machine::this();
    let date = arguments.date.unwrap_or_else(machine::today);
    let report = BenchReport::new(date, machine, &mut roofs, measured, peers);
    print!("{}", report.markdown());
    std::fs::create_dir_all(&arguments.out).with_context(|| format!("creating {}", arguments.out.display()))?;
    for path in report.write(&arguments.out)? {
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}
