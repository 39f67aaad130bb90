//! Scores of [`SeasonMixture`] on a folder of series with the scores of others.
//!
//! ```sh
//! cargo run --release -p mercer-forecast --example season_scores -- FOLDER [found] [full|light]
//! ```
//!
//! The folder holds `manifest.json`, in it for each series its `periods`, the horizon `h`, the
//! `origins` (numbers of known rows) and the `mase` of each peer, and `NAME.csv.gz` with one
//! column. `found` gives no periods; `light` takes fewer experts. Each series is followed once, row
//! by row. Its MASE is the mean error of the forecasts at the origins, divided by the mean change
//! over a season before the first of them.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use flate2::read::GzDecoder;
use mercer_forecast::{Detail, Periods, SeasonMixture, SeasonParams};
use serde_json::Value;

/// Results on a series.
#[derive(Default)]
struct Outcome {
    mase: f64,
    /// Share of the rows between the quantiles of 0.05 and 0.95.
    coverage: f64,
    /// Mean pinball loss of the quantiles of .05, .1, .9 and .95, divided as the MASE is.
    pinball: f64,
    one_step: f64,
    naive: f64,
    microseconds: f64,
    periods: Vec<usize>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        println!("usage: season_scores FOLDER [found] [full|light]; the folder holds manifest.json and NAME.csv.gz");
        return Ok(());
    };
    let options: Vec<String> = arguments.collect();
    let folder = Path::new(&folder);
    let manifest: Value = serde_json::from_reader(File::open(folder.join("manifest.json"))?)?;
    println!(
        "{:16}{:>8}{:>8}{:>10}{:>9}{:>9}{:>9}{:>9}  periods",
        "", "MASE", "SNaive", "best peer", "cover", "pinball", "1-step", "µs/row"
    );
    let (mut ratios, mut ones, mut covers, mut pinballs, mut wins) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), 0);
    for (name, facts) in manifest.as_object().into_iter().flatten() {
        let outcome = follow(&series(&folder.join(format!("{name}.csv.gz")))?, facts, &options)?;
        let peers = facts["mase"].as_object().into_iter().flatten();
        let peers: Vec<(&str, f64)> = peers.filter_map(|(peer, m)| Some((peer.as_str(), m.as_f64()?))).collect();
        let naive = peers.iter().find(|(peer, _)| *peer == "SNaive").map_or(f64::NAN, |(_, m)| *m);
        let best = peers.iter().map(|(_, m)| *m).fold(f64::INFINITY, f64::min);
        wins += usize::from(outcome.mase < best);
        let one = outcome.one_step / outcome.naive;
        println!(
            "{name:16}{:8.3}{naive:8.3}{best:10.3}{:9.3}{:9.4}{one:9.3}{:9.1}  {:?}",
            outcome.mase, outcome.coverage, outcome.pinball, outcome.microseconds, outcome.periods
        );
        ratios.push(outcome.mase / naive);
        ones.push(one);
        covers.push(outcome.coverage);
        pinballs.push(outcome.pinball);
    }
    let geometric = |x: &[f64]| (x.iter().map(|x| x.ln()).sum::<f64>() / x.len() as f64).exp();
    println!(
        "MASE / SNaive {:.4}, one-step RMSE / last value {:.4}, coverage {:.4}, pinball {:.4}, ahead of every peer on {wins} of {}",
        geometric(&ratios),
        geometric(&ones),
        covers.iter().sum::<f64>() / covers.len() as f64,
        geometric(&pinballs),
        ratios.len()
    );
    Ok(())
}

/// The numbers of the first column.
fn series(path: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
    let lines = BufReader::new(GzDecoder::new(File::open(path)?)).lines().skip(1);
    lines.map(|line| Ok(line?.trim().parse()?)).collect()
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().into_iter().flatten().filter_map(|number| Some(number.as_u64()? as usize)).collect()
}

fn follow(series: &[f64], facts: &Value, options: &[String]) -> Result<Outcome, Box<dyn Error>> {
    let has = |option: &str| options.iter().any(|own| own == option);
    let (given, origins) = (numbers(&facts["periods"]), numbers(&facts["origins"]));
    let horizon = facts["h"].as_u64().unwrap_or(1) as usize;
    let first = origins.first().copied().unwrap_or(0);
    let season = given.first().copied().unwrap_or(1);
    let changes: Vec<f64> = (season..first).map(|t| (series[t] - series[t - season]).abs()).collect();
    let scale = changes.iter().sum::<f64>() / changes.len() as f64;
    let params = SeasonParams::default()
        .periods(if has("found") { Periods::Found } else { Periods::Given(given) })
        .detail(match (has("light"), has("full")) {
            (true, _) => Detail::Light,
            (false, true) => Detail::Full,
            _ => Detail::default(),
        })
        .horizons(horizon);
    let mut mixture = SeasonMixture::new(params)?;
    let (mut outcome, mut steps) = (Outcome::default(), 0.0);
    let begun = Instant::now();
    for (t, y) in series.iter().enumerate() {
        if origins.contains(&t) {
            let path = mixture.path(horizon);
            for (h, (forecast, truth)) in (1..).zip(path.iter().zip(&series[t..])) {
                outcome.mase += (forecast - truth).abs() / scale;
                let interval = mixture.quantile(0.05, h, *forecast)..=mixture.quantile(0.95, h, *forecast);
                outcome.coverage += f64::from(u8::from(interval.contains(truth)));
                for p in [0.05, 0.1, 0.9, 0.95] {
                    let beyond = truth - mixture.quantile(p, h, *forecast);
                    outcome.pinball += (p * beyond).max((p - 1.0) * beyond) / (4.0 * scale);
                }
                steps += 1.0;
            }
        }
        let prediction = mixture.learn(Some(*y))?;
        if t >= first.max(1) {
            outcome.one_step += (prediction - y).powi(2);
            outcome.naive += (series[t - 1] - y).powi(2);
        }
    }
    outcome.microseconds = begun.elapsed().as_secs_f64() * 1e6 / series.len() as f64;
    outcome.periods = mixture.periods().to_vec();
    (outcome.mase, outcome.coverage) = (outcome.mase / steps, outcome.coverage / steps);
    outcome.pinball /= steps;
    (outcome.one_step, outcome.naive) = (outcome.one_step.sqrt(), outcome.naive.sqrt());
    Ok(outcome)
}
