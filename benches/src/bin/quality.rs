//! `auto` beside its peers: squared error over the last half of a stream, as a share of that of the
//! running mean.
//!
//! The folder holds streams, `NAME.csv.gz` with the target last, and `peers.csv` with the columns
//! `stream,method,nmse_last_half,seconds`. Rows are learnt one by one in the order of the file,
//! from their second on; nothing is scaled or tuned beforehand. Methods named `b-…` are refitted at
//! doublings, all others of the file learn online; the file's scores of this project's own learners
//! are left out. Streams of classes are `class_NAME.csv.gz` with the label last, and
//! `peers-class.csv` has the columns `stream,method,accuracy_last_half,log_loss_last_half,seconds`;
//! methods named `c-…` know nothing but labels. Probabilities are clipped to `[1e-6, 1 − 1e-6]`, as
//! those of the peers were.
//!
//! `cargo run --release -p mercer-benches --bin quality -- FOLDER [BUDGET]`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use mercer_auto::{Auto, AutoParams};
use mercer_learners::{Classifier, RegressorExt};
use mercer_readers::{ReadOptions, read_all};

/// Scores in the file that are of this project, measured earlier.
const OURS: [&str; 6] = ["auto", "auto1e+07", "nons", "krls", "fogd", "taylor"];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().context("give the folder of the streams")?);
    let budget = arguments.next().map_or(Ok(AutoParams::default().budget), |budget| budget.parse())?;
    numbers(&folder, budget)?;
    classes(&folder, budget)
}

/// Methods and their scores.
type Scores<const N: usize> = Vec<(String, [f64; N])>;

/// The scores of all methods on each stream, as many as the file has; rows of this project's own
/// learners are left out.
fn peers<const N: usize>(path: &Path) -> Result<BTreeMap<String, Scores<N>>> {
    let mut peers = BTreeMap::<String, Scores<N>>::new();
    for row in csv::Reader::from_path(path)?.records() {
        let row = row?;
        if !OURS.contains(&&row[1]) {
            let mut scores = [0.0; N];
            for (score, cell) in scores.iter_mut().zip(row.iter().skip(2)) {
                *score = cell.parse()?;
            }
            peers.entry(row[0].to_owned()).or_default().push((row[1].to_owned(), scores));
        }
    }
    ensure!(!peers.is_empty(), "{} has no rows", path.display());
    Ok(peers)
}

fn numbers(folder: &Path, budget: usize) -> Result<()> {
    println!("{:<18} {:>8} {:>22} {:>22} {:>8}", "stream", "auto", "best online", "best refitted", "µs/row");
    let mut ratios = [Vec::new(), Vec::new()];
    for (stream, scores) in &peers::<1>(&folder.join("peers.csv"))? {
        let (score, micros) = score(&folder.join(format!("{stream}.csv.gz")), budget)?;
        let mut line = format!("{stream:<18} {score:>8.4}");
        for (refitted, ratios) in [false, true].into_iter().zip(&mut ratios) {
            let of_kind = scores.iter().filter(|(method, _)| method.starts_with("b-") == refitted);
            let best = of_kind.min_by(|a, b| a.1[0].total_cmp(&b.1[0]));
            line += &best.map_or(format!("{:>23}", ""), |(method, [best])| {
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

fn classes(folder: &Path, budget: usize) -> Result<()> {
    println!();
    println!("{:<10} {:>15} {:>24} {:>24} {:>8}", "classes", "auto", "best online", "best refitted", "µs/row");
    for (stream, scores) in &peers::<2>(&folder.join("peers-class.csv"))? {
        let ([accuracy, log_loss], micros) = score_of_classes(&folder.join(format!("class_{stream}.csv.gz")), budget)?;
        let mut line = format!("{stream:<10} {accuracy:>7.4} {log_loss:>7.4}");
        for refitted in [false, true] {
            let of_kind = || scores.iter().filter(|(method, _)| method.starts_with("b-") == refitted);
            let highest = of_kind().map(|(_, scores)| scores[0]).fold(0.0, f64::max);
            let lowest = of_kind().min_by(|a, b| a.1[1].total_cmp(&b.1[1]));
            line += &lowest
                .map_or(String::new(), |(method, scores)| format!(" {highest:>7.4} {:>7.4} {method:<8}", scores[1]));
        }
        println!("{line} {micros:>8.0}");
    }
    Ok(())
}

/// Accuracy and log loss over the last half, and microseconds a row. Classes are numbered as they
/// are met.
fn score_of_classes(path: &Path, budget: usize) -> Result<([f64; 2], f64)> {
    let table = read_all(path, &ReadOptions::default())?;
    let auto = Auto::new(table.dimension(), AutoParams::default().budget(budget))?;
    let mut classifier = Classifier::new(auto)?.calibrated();
    let (mut met, mut right, mut log_loss) = (Vec::new(), 0_usize, 0.0);
    let start = Instant::now();
    for (t, (x, label)) in table.iter().enumerate() {
        let class = met.iter().position(|other| *other == label).unwrap_or_else(|| {
            met.push(label);
            met.len() - 1
        });
        classifier.learn_rows(x, &[class], &[], |_, classifier, scores| {
            if 2 * t >= table.len() {
                let mut p = scores.to_vec();
                classifier.probabilities(&mut p);
                right += usize::from(classifier.choice(scores) == Some(class));
                log_loss -= p.get(class).copied().unwrap_or(0.0).clamp(1e-6, 1.0 - 1e-6).ln();
            }
        })?;
    }
    let rows = (table.len() - table.len().div_ceil(2)) as f64;
    let micros = start.elapsed().as_secs_f64() * 1e6 / table.len() as f64;
    Ok(([right as f64 / rows, log_loss / rows], micros))
}

/// The share over the last half, and microseconds a row.
fn score(path: &Path, budget: usize) -> Result<(f64, f64)> {
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
