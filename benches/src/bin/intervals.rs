//! Coverage and width of 90 % intervals on all data sets at hand, beside the split-conformal answer
//! of a batch.
//!
//! Each table is permuted and scaled, features to [−1, 1] and the target to [0, 1], and learnt by
//! KRLS with 200 points. Adaptive conformal inference goes along, with absolute errors and with
//! errors in standard deviations. Split conformal inference takes the same learner after the first
//! half of the rows, calibrates on the third quarter and is judged, as the others are, on the last.
//! `worst` is the largest gap between the coverage and its share over any 2,000 rows; `switched` is
//! the same where the target `y` becomes `1 − y` after half of the rows.
//!
//! `MERCER_DATA=DIR cargo run --release -p mercer-benches --bin intervals -- [LIMIT]`

use anyhow::Result;
use mercer_datasets::Registry;
use mercer_experts::IntervalParams;
use mercer_kernels::{Gaussian, median_width};
use mercer_learners::intervals::{IntervalScale, LearnerIntervals};
use mercer_learners::{Krls, KrlsParams, RegressorExt, Scratch, Target};
use mercer_readers::{Dataset, Ranges, Scaling, Scheme};

const COVERAGE: f64 = 0.9;
const POINTS: usize = 200;
const WINDOW: usize = 2000;
/// Rows of a table that are learnt at most, unless another limit is given.
const LIMIT: usize = 100_000;

/// A row with its interval: half its width, and whether it held the target.
#[derive(Clone, Copy)]
struct IntervalRow {
    radius: f64,
    held: bool,
}

/// Coverage and mean width.
#[derive(Clone, Copy)]
struct Coverage {
    coverage: f64,
    width: f64,
}

fn main() -> Result<()> {
    let limit = std::env::args().nth(1).map_or(Ok(LIMIT), |limit| limit.parse())?;
    let registry = Registry::load()?;
    println!(
        "{:<20} {:>6} {:>3} | {:^32} | {:^32} | {:^31}",
        "", "", "", "absolute errors", "in standard deviations", "split conformal: width (hold)"
    );
    println!(
        "{:<20} {:>6} {:>3} | {:>6} {:>6} {:>8} {:>9} | {:>6} {:>6} {:>8} {:>9} | {:>15} {:>15}",
        "data set",
        "rows",
        "d",
        "hold",
        "worst",
        "switched",
        "width",
        "hold",
        "worst",
        "switched",
        "width",
        "absolute",
        "deviations"
    );
    for entry in registry.entries() {
        let Ok(table) = registry.open(&entry.name) else { continue };
        let mut table = table.permuted(1);
        table.truncate(limit);
        Scaling::new(Ranges::from_table(&table), Scheme::PAPER01).apply(&mut table)?;
        let mut line = format!("{:<20} {:>6} {:>3} |", entry.name, table.len(), table.dimension());
        for scale in [IntervalScale::Error, IntervalScale::Deviation] {
            let (made, switched) = (online(&table, scale, false)?, online(&table, scale, true)?);
            let Coverage { coverage, .. } = share(&made);
            let Coverage { width, .. } = share(&made[3 * made.len() / 4..]);
            line += &format!(" {coverage:>6.4} {} {:>8} {width:>9.4} |", worst(&made), worst(&switched));
        }
        for scale in [IntervalScale::Error, IntervalScale::Deviation] {
            let Coverage { coverage, width } = split(&table, scale)?;
            line += &format!(" {width:>7.4} ({coverage:.3})");
        }
        println!("{line}");
    }
    Ok(())
}

fn learner(table: &Dataset) -> Result<Krls<Gaussian>> {
    let first = table.len().min(200) * table.dimension();
    let kernel = Gaussian::new(median_width(table.dimension(), &table.features()[..first]))?;
    let params = KrlsParams::default().lambda(0.1).max_dictionary(Some(POINTS));
    Ok(Krls::new(kernel, table.dimension(), params)?)
}

/// One pass; if `switches`, the target is another after half of the rows.
fn online(table: &Dataset, scale: IntervalScale, switches: bool) -> Result<Vec<IntervalRow>> {
    let mut learner = learner(table)?;
    let params = IntervalParams::default().coverage(COVERAGE);
    let mut intervals = LearnerIntervals::new(1, params, scale)?;
    let (mut scratch, mut score, mut reach) = (Scratch::default(), [0.0], [0.0; 2]);
    let mut made = Vec::with_capacity(table.len());
    for (t, (x, y)) in table.iter().enumerate() {
        let y = if switches && 2 * t >= table.len() { 1.0 - y } else { y };
        intervals.learn(&mut learner, x, Target::new(&[y]), &mut scratch, &mut score, &mut reach)?;
        made.push(IntervalRow { radius: reach[0], held: (y - score[0]).abs() <= reach[0] });
    }
    Ok(made)
}

/// Split conformal inference: half of the rows are learnt, a quarter calibrates, a quarter judges.
fn split(table: &Dataset, scale: IntervalScale) -> Result<Coverage> {
    let mut learner = learner(table)?;
    let n = table.len();
    let mut rows = table.iter();
    for (x, y) in rows.by_ref().take(n / 2) {
        learner.update(x, y)?;
    }
    let (mut scratch, mut score, mut variance) = (Scratch::default(), [0.0], [0.0]);
    let mut judge = |x: &[f64], y: f64| -> Result<(f64, f64)> {
        learner.predict_variance_into(x, &mut scratch, &mut score, &mut variance)?;
        let unit = if scale == IntervalScale::Deviation { variance[0].sqrt() } else { 1.0 };
        Ok(((y - score[0]).abs() / unit, unit))
    };
    let mut errors = Vec::new();
    for (x, y) in rows.by_ref().take(n / 4) {
        errors.push(judge(x, y)?.0);
    }
    errors.sort_by(f64::total_cmp);
    let rank = (COVERAGE * (errors.len() + 1) as f64).ceil() as usize;
    let reach = errors.get(rank.max(1) - 1).copied().unwrap_or(f64::INFINITY);
    let mut made = Vec::new();
    for (x, y) in rows {
        let (error, unit) = judge(x, y)?;
        made.push(IntervalRow { radius: reach * unit, held: error <= reach });
    }
    Ok(share(&made))
}

/// Over the rows that have an interval.
fn share(made: &[IntervalRow]) -> Coverage {
    let known = || made.iter().filter(|row| row.radius.is_finite());
    let count = known().count() as f64;
    Coverage {
        coverage: known().filter(|row| row.held).count() as f64 / count,
        width: known().map(|row| 2.0 * row.radius).sum::<f64>() / count,
    }
}

/// The largest gap over any window, if there is one.
fn worst(made: &[IntervalRow]) -> String {
    let gap =
        |rows: &[IntervalRow]| (rows.iter().filter(|row| row.held).count() as f64 / WINDOW as f64 - COVERAGE).abs();
    let worst = made.windows(WINDOW).map(gap).reduce(f64::max);
    worst.map_or_else(|| format!("{:>6}", "-"), |gap| format!("{gap:>6.4}"))
}
