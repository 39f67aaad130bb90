//! Season mixtures beside kept scores of their peers: absolute error, quantile loss and coverage.
//!
//! The folder holds series, `NAME.csv.gz` with a column `y` (an empty cell is a missing row), and
//! `manifest.json`: for each name `periods`, the horizon `h`, `origins` (rows known), and `mase`,
//! `quantile_loss`, `cover90` of each peer, which was refitted at each origin. A series is learnt
//! row by row, once with the periods told and once with none told, and forecast at each origin.
//! `mase` is the mean absolute error over that of the value a season (or a row) ago, of the rows
//! before the first origin; the quantile loss is that of .05, .1, .5, .9 and .95, on the same
//! scale. Groups of series, and series without scores, are passed over. Ratios are geometric means,
//! with the series of at most 120 rows before the first origin apart.
//!
//! `cargo run --release -p mercer-benches --bin forecasts -- FOLDER...`

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;
use mercer_forecast::{Periods, SeasonMixture, SeasonParams};
use serde_json::Value;

/// Probabilities of the quantiles that are scored, the middle among them.
const PROBABILITIES: [f64; 5] = [0.05, 0.1, 0.5, 0.9, 0.95];

/// Rows before the first origin of a series that counts as short.
const SHORT: usize = 120;

/// A series and how it is scored.
struct Series {
    rows: Vec<Option<f64>>,
    periods: Vec<usize>,
    horizon: usize,
    origins: Vec<usize>,
}

/// SeriesScores of a forecaster on a series.
#[derive(Clone, Copy, Debug, Default)]
struct SeriesScores {
    mase: f64,
    quantile_loss: f64,
    cover90: f64,
    /// Rows of which the forecast lies outside of its own interval of 90 %.
    outside: usize,
    seconds: f64,
}

fn main() -> Result<()> {
    let folders: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    ensure!(!folders.is_empty(), "give the folders of the series");
    folders.iter().try_for_each(|folder| score_folder(folder))
}

fn score_folder(folder: &Path) -> Result<()> {
    let manifest: BTreeMap<String, Value> = serde_json::from_reader(File::open(folder.join("manifest.json"))?)?;
    println!("{}\n{:14} {:>26} {:>26}", folder.display(), "", "told", "found");
    println!(
        "{:14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "series", "mase", "loss", "90 %", "mase", "loss", "90 %", "seconds"
    );
    let mut scored = Vec::new();
    for (name, entry) in manifest.iter().filter(|(_, entry)| entry["origins"].is_array()) {
        let series = Series::read(&folder.join(format!("{name}.csv.gz")), entry).with_context(|| name.clone())?;
        let told = series.score(Periods::Given(series.periods.clone()))?;
        let found = series.score(Periods::Found)?;
        print!("{name:14}");
        for SeriesScores { mase, quantile_loss, cover90, .. } in [told, found] {
            print!(" {mase:8.4} {quantile_loss:8.4} {cover90:8.3}");
        }
        println!(" {:8.2}", told.seconds + found.seconds);
        scored.push((series.origins[0] <= SHORT, [told, found], entry));
    }
    for (which, words) in ["told", "found"].iter().enumerate() {
        summarise(words, &scored.iter().map(|(short, ours, entry)| (*short, ours[which], *entry)).collect::<Vec<_>>());
    }
    Ok(())
}

/// Geometric means of the ratios to each peer, and coverage.
fn summarise(words: &str, scored: &[(bool, SeriesScores, &Value)]) {
    for measure in ["mase", "quantile_loss"] {
        let own = |scores: &SeriesScores| if measure == "mase" { scores.mase } else { scores.quantile_loss };
        let mut ratios: BTreeMap<&str, Vec<(bool, f64)>> = BTreeMap::new();
        for (short, scores, entry) in scored {
            for (peer, score) in entry[measure].as_object().into_iter().flatten() {
                let Some(score) = score.as_f64().filter(|score| *score > 0.0) else { continue };
                ratios.entry(peer).or_default().push((*short, own(scores) / score));
            }
        }
        print!("{words}, {measure}:");
        for (peer, ratios) in &ratios {
            let mean = |kept: &dyn Fn(bool) -> bool| geometric(ratios.iter().filter(|(s, _)| kept(*s)).map(|r| r.1));
            print!("  {peer} {:.3} ({}; short {:.3})", mean(&|_| true), ratios.len(), mean(&|short| short));
        }
        println!();
        let all = geometric(scored.iter().map(|(_, scores, _)| own(scores)));
        println!("{words}, {measure}: geometric mean {all:.4}");
    }
    let cover = |kept: bool| mean(scored.iter().filter(|(short, ..)| *short == kept).map(|(_, s, _)| s.cover90));
    let outside: usize = scored.iter().map(|(_, scores, _)| scores.outside).sum();
    println!(
        "{words}: 90 % hold {:.3} (short {:.3}); {outside} forecasts outside their interval",
        cover(false),
        cover(true)
    );
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

fn geometric(values: impl Iterator<Item = f64>) -> f64 {
    mean(values.map(|value| value.max(1e-9).ln())).exp()
}

impl Series {
    fn read(path: &Path, entry: &Value) -> Result<Self> {
        let mut reader = csv::Reader::from_reader(MultiGzDecoder::new(File::open(path)?));
        let column = reader.headers()?.iter().position(|name| name == "y").context("there is no column y")?;
        let rows = reader.records().map(|record| {
            let record = record?;
            let cell = record[column].trim();
            Ok((!cell.is_empty() && !cell.eq_ignore_ascii_case("nan")).then(|| cell.parse()).transpose()?)
        });
        let counts = |name: &str| -> Result<Vec<usize>> { Ok(serde_json::from_value(entry[name].clone())?) };
        Ok(Self {
            rows: rows.collect::<Result<_>>()?,
            periods: counts("periods")?,
            horizon: serde_json::from_value(entry["h"].clone())?,
            origins: counts("origins")?,
        })
    }

    /// The mean absolute change over a season before the first origin, or over a row.
    fn scale(&self) -> f64 {
        let known = &self.rows[..self.origins[0]];
        let lag = self.periods.first().copied().filter(|period| *period < known.len()).unwrap_or(1);
        mean(known.iter().zip(&known[lag..]).filter_map(|(a, b)| Some(((*b)? - (*a)?).abs())))
    }

    fn score(&self, periods: Periods) -> Result<SeriesScores> {
        let begun = Instant::now();
        let mut mixture = SeasonMixture::new(SeasonParams::default().periods(periods).horizons(self.horizon))?;
        let (scale, mut rows) = (self.scale(), 0);
        let (mut errors, mut losses, mut held, mut outside) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for &origin in &self.origins {
            self.rows[rows..origin].iter().try_for_each(|row| mixture.learn(*row).map(drop))?;
            rows = origin;
            for (h, (forecast, y)) in mixture.path(self.horizon).into_iter().zip(&self.rows[origin..]).enumerate() {
                let Some(y) = y else { continue };
                errors.push((y - forecast).abs() / scale);
                let quantiles = PROBABILITIES.map(|p| mixture.quantile(p, h + 1, forecast));
                for (p, quantile) in PROBABILITIES.iter().zip(quantiles) {
                    losses.push(2.0 * (p * (y - quantile)).max((p - 1.0) * (y - quantile)) / scale);
                }
                let interval = quantiles[0] - 1e-9..=quantiles[4] + 1e-9;
                held.push(f64::from(u8::from(interval.contains(y))));
                outside += usize::from(!interval.contains(&forecast));
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        Ok(SeriesScores {
            mase: mean(errors.into_iter()),
            quantile_loss: mean(losses.into_iter()),
            cover90: mean(held.into_iter()),
            outside,
            seconds,
        })
    }
}
