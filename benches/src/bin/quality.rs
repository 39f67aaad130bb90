//! `auto` beside its peers: squared error over the last half of a stream, as a share of that of the running mean.
//!
//! The folder holds streams, `NAME.csv.gz` with the target last, and `peers.csv` with the columns `stream,method,nmse_last_half,seconds`. Rows are
//! learnt one by one in the order of the file, from their second on; nothing is scaled or tuned beforehand. Methods named `b-…` are refitted at doublings, all others
//! of the file learn online; the file's scores of this project's own learners are left out.
//!
//! `cargo run --release -p mercer-benches --bin quality -- FOLDER [BUDGET]`

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use mercer_data::{ReadOptions, read_all};
use mercer_learners::{Auto, AutoParams, Regressor};

/// Scores in the file that are of this project, measured earlier.
const OURS: [&str; 6] = ["auto", "auto1e+07", "nons", "krls", "fogd", "taylor"];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().context("give the folder of the streams")?);
    let budget = arguments.next().map_or(Ok(AutoParams::default().budget), |budget| budget.parse())?;
    let mut peers: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
    for row in csv::Reader::from_path(folder.join("peers.csv"))?.records() {
        let row = row?;
        let method = row[1].to_owned();
        if !OURS.contains(&method.as_str()) {
            peers.entry(row[0].to_owned()).or_default().push((method, row[2].parse()?));
        }
    }
    ensure!(!peers.is_empty(), "peers.csv has no rows");
    println!("{:<18} {:>8} {:>22} {:>22} {:>8}", "stream", "auto", "best online", "best refitted", "µs/row");
    let mut ratios = [Vec::new(), Vec::new()];
    for (stream, scores) in &peers {
        let (score, micros) = score(&folder.join(format!("{stream}.csv.gz")), budget)?;
        let mut line = format!("{stream:<18} {score:>8.4}");
        for (refitted, ratios) in [false, true].into_iter().zip(&mut ratios) {
            let of_kind = scores.iter().filter(|(method, _)| method.starts_with("b-") == refitted);
            let best = of_kind.min_by(|a, b| a.1.total_cmp(&b.1));
            line += &best.map_or(format!("{:>23}", ""), |(method, best)| {
                ratios.push(score / best);
                format!(" {best:>8.4} {method:<8} {:>4.2}", score / best)
            });
        }
        println!("{line} {micros:>8.0}");
    }
    for (name, ratios) in ["online", "refitted"].into_iter().zip(ratios) {
        let (mean, ahead) = (ratios.iter().sum::<f64>() / ratios.len() as f64, ratios.iter().filter(|r| **r < 1.0));
        println!("{name}: ratio to the best {mean:.3} on average, ahead on {} of {}", ahead.count(), ratios.len());
    }
    Ok(())
}

/// The share over the last half, and microseconds a row.
fn score(path: &std::path::Path, budget: usize) -> Result<(f64, f64)> {
    let table = read_all(path, &ReadOptions::default())?;
    let mut auto = Auto::new(table.dimension(), AutoParams::default().budget(budget))?;
    let (mut loss, mut of_mean, mut sum) = (0.0, 0.0, 0.0);
    let start = Instant::now();
    for (t, (x, y)) in table.iter().enumerate() {
        let prediction = auto.predict_then_update(x, y)?;
        if 2 * t >= table.len() {
            loss += (prediction - y).powi(2);
            of_mean += (sum / t as f64 - y).powi(2);
        }
        sum += y;
    }
    Ok((loss / of_mean, start.elapsed().as_secs_f64() * 1e6 / table.len() as f64))
}
