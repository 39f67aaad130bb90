//! Scores of [`SeasonMixture`] on a folder of series beside kept scores of others.
//!
//! ```sh
//! cargo run --release -p mercer-forecast --example season_scores -- FOLDER [OPTION …]
//! ```
//!
//! The folder holds `NAME.csv.gz` (the first column is the series, and a cell that is no number a
//! missing row) and `manifest.json`: for each series `periods`, the horizon `h`, the `origins`
//! (numbers of known rows), and of each peer, which was refitted at each origin, `mase` and if
//! known `quantile_loss`. Options: `found` gives no periods; `light` and `full` take fewer experts;
//! `inputs` takes the further columns of series, where some are `known` in advance. Each series is
//! followed once, row by row. Its MASE is the mean error of the forecasts at the origins, divided
//! by the mean change over a season before the first of them; the quantile loss is that of the
//! quantiles of .05, .1, .5, .9 and .95, divided likewise. Ratios are geometric means, with those
//! of the short series, of at most 120 rows before the first origin, apart. Entries without
//! origins, such as groups of series, are passed over.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use flate2::read::GzDecoder;
use mercer_forecast::{Detail, Forecaster, Periods, SeasonMixture, SeasonParams, Seasons};
use serde_json::Value;

const PROBABILITIES: [f64; 5] = [0.05, 0.1, 0.5, 0.9, 0.95];

/// Rows before the first origin of a short series.
const SHORT: usize = 120;

/// Results on a series: sums over its forecasts, and then means.
#[derive(Default)]
struct Outcome {
    mase: f64,
    /// Share of the rows between the quantiles of 0.05 and 0.95.
    coverage: f64,
    quantile_loss: f64,
    one_step: f64,
    naive: f64,
    microseconds: f64,
    periods: Vec<usize>,
    is_short: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        println!(
            "usage: season_scores FOLDER [found] [full|light] [inputs]; the folder holds manifest.json and NAME.csv.gz"
        );
        return Ok(());
    };
    let options: Vec<String> = arguments.collect();
    let folder = Path::new(&folder);
    let manifest: BTreeMap<String, Value> = serde_json::from_reader(File::open(folder.join("manifest.json"))?)?;
    println!(
        "{:16}{:>8}{:>10}{:>9}{:>9}{:>9}{:>9}  periods",
        "", "MASE", "best peer", "loss", "90 %", "1-step", "µs/row"
    );
    let mut outcomes = Vec::new();
    for (name, facts) in manifest.iter().filter(|(_, facts)| facts["origins"].is_array()) {
        let (series, inputs) = series(&folder.join(format!("{name}.csv.gz")))?;
        let outcome = follow(&series, &inputs, facts, &options)?;
        let best = peers(facts, "mase").map(|(_, score)| score).fold(f64::INFINITY, f64::min);
        println!(
            "{name:16}{:8.3}{best:10.3}{:9.4}{:9.3}{:9.3}{:9.1}  {:?}",
            outcome.mase,
            outcome.quantile_loss,
            outcome.coverage,
            outcome.one_step / outcome.naive,
            outcome.microseconds,
            outcome.periods
        );
        outcomes.push((outcome, facts));
    }
    summarise(&outcomes);
    Ok(())
}

/// Ratios to the peers, and coverage.
fn summarise(outcomes: &[(Outcome, &Value)]) {
    for measure in ["mase", "quantile_loss"] {
        let mut ratios: BTreeMap<&str, Vec<(bool, f64)>> = BTreeMap::new();
        for (outcome, facts) in outcomes {
            let own = if measure == "mase" { outcome.mase } else { outcome.quantile_loss };
            for (peer, score) in peers(facts, measure).filter(|(_, score)| *score > 0.0) {
                ratios.entry(peer).or_default().push((outcome.is_short, own / score));
            }
        }
        for (peer, ratios) in ratios {
            let all = mean(ratios.iter().map(|(_, ratio)| ratio.ln())).exp();
            let short = mean(ratios.iter().filter(|(short, _)| *short).map(|(_, ratio)| ratio.ln())).exp();
            println!("{measure} / {peer:16}{all:8.4}  short {short:8.4}  of {}", ratios.len());
        }
    }
    let holds = |short| mean(outcomes.iter().filter(|(own, _)| own.is_short == short).map(|(own, _)| own.coverage));
    let one_step = mean(outcomes.iter().map(|(own, _)| (own.one_step / own.naive).ln())).exp();
    println!(
        "90 % bands hold {:.4}, those of short series {:.4}; one-step RMSE / last value {one_step:.4}",
        holds(false),
        holds(true)
    );
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    sum / count
}

/// The scores of the peers.
fn peers<'a>(facts: &'a Value, measure: &str) -> impl Iterator<Item = (&'a str, f64)> {
    let scores = facts[measure].as_object().into_iter().flatten();
    scores.filter_map(|(peer, score)| Some((peer.as_str(), score.as_f64()?)))
}

/// The rows of the first column, and the others.
#[allow(clippy::type_complexity, reason = "an example")]
fn series(path: &Path) -> Result<(Vec<Option<f64>>, Vec<Vec<f64>>), Box<dyn Error>> {
    let (mut series, mut inputs) = (Vec::new(), Vec::new());
    for line in BufReader::new(GzDecoder::new(File::open(path)?)).lines().skip(1) {
        let line = line?;
        let cells: Vec<Option<f64>> = line.split(',').map(|cell| cell.trim().parse().ok()).collect();
        series.push(cells.first().copied().flatten().filter(|y| y.is_finite()));
        inputs.push(cells.into_iter().skip(1).map(|cell| cell.unwrap_or(0.0)).collect());
    }
    Ok((series, inputs))
}

/// A series that is followed, with inputs or without.
enum Follower {
    Alone(Box<SeasonMixture>),
    WithInputs(Box<Seasons>),
}

impl Follower {
    fn path(&self, inputs: &[Vec<f64>]) -> Result<Vec<f64>, Box<dyn Error>> {
        Ok(match self {
            Self::Alone(mixture) => mixture.path(inputs.len()),
            Self::WithInputs(seasons) => seasons.forecast(inputs.len(), &inputs.concat())?,
        })
    }

    fn quantile(&self, p: f64, step: usize, forecast: f64) -> f64 {
        match self {
            Self::Alone(mixture) => mixture.quantile(p, step, forecast),
            Self::WithInputs(seasons) => seasons.quantile(0, p, step, forecast),
        }
    }

    fn learn(&mut self, y: Option<f64>, input: &[f64]) -> Result<f64, Box<dyn Error>> {
        Ok(match self {
            Self::Alone(mixture) => mixture.learn(y)?,
            Self::WithInputs(seasons) => {
                let mut prediction = [0.0];
                seasons.predict_then_observe(input, &[y.unwrap_or(f64::NAN)], &mut prediction)?;
                prediction[0]
            }
        })
    }

    fn periods(&self) -> &[usize] {
        match self {
            Self::Alone(mixture) => mixture.periods(),
            Self::WithInputs(seasons) => seasons.mixture(0).periods(),
        }
    }
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().into_iter().flatten().filter_map(|number| Some(number.as_u64()? as usize)).collect()
}

fn follow(
    series: &[Option<f64>],
    inputs: &[Vec<f64>],
    facts: &Value,
    options: &[String],
) -> Result<Outcome, Box<dyn Error>> {
    let has = |option: &str| options.iter().any(|own| own == option);
    let (given, origins) = (numbers(&facts["periods"]), numbers(&facts["origins"]));
    let horizon = facts["h"].as_u64().unwrap_or(1) as usize;
    let first = origins.first().copied().unwrap_or(0);
    let season = given.first().copied().unwrap_or(1);
    let known = &series[..first];
    let scale = mean(known.iter().zip(&known[season.min(first)..]).filter_map(|(a, b)| Some(((*b)? - (*a)?).abs())));
    let params = SeasonParams::default()
        .periods(if has("found") { Periods::Found } else { Periods::Given(given) })
        .detail(match (has("light"), has("full")) {
            (true, _) => Detail::Light,
            (false, true) => Detail::Full,
            _ => Detail::default(),
        })
        .horizons(horizon);
    let known = facts["known"].as_array().map_or(0, Vec::len);
    let mut mixture = if has("inputs") && known > 0 {
        Follower::WithInputs(Box::new(Seasons::new(1, known, &params)?))
    } else {
        Follower::Alone(Box::new(SeasonMixture::new(params)?))
    };
    let (mut outcome, mut steps) = (Outcome { is_short: first <= SHORT, ..Outcome::default() }, 0.0);
    let begun = Instant::now();
    for (t, y) in series.iter().enumerate() {
        if origins.contains(&t) {
            let path = mixture.path(&inputs[t..(t + horizon).min(inputs.len())])?;
            for (h, (forecast, truth)) in (1..).zip(path.iter().zip(&series[t..])) {
                let Some(truth) = truth else { continue };
                let quantiles = PROBABILITIES.map(|p| mixture.quantile(p, h, *forecast));
                outcome.mase += (forecast - truth).abs() / scale;
                outcome.coverage += f64::from(u8::from((quantiles[0]..=quantiles[4]).contains(truth)));
                let losses = PROBABILITIES.iter().zip(quantiles).map(|(p, quantile)| {
                    let beyond = truth - quantile;
                    (p * beyond).max((p - 1.0) * beyond)
                });
                outcome.quantile_loss += 2.0 * mean(losses) / scale;
                steps += 1.0;
            }
        }
        let prediction = mixture.learn(*y, &inputs[t])?;
        if let (true, Some(y), Some(before)) = (t >= first.max(1), y, series[t.saturating_sub(1)]) {
            outcome.one_step += (prediction - y).powi(2);
            outcome.naive += (before - y).powi(2);
        }
    }
    outcome.microseconds = begun.elapsed().as_secs_f64() * 1e6 / series.len() as f64;
    outcome.periods = mixture.periods().to_vec();
    for sum in [&mut outcome.mase, &mut outcome.coverage, &mut outcome.quantile_loss] {
        *sum /= steps;
    }
    (outcome.one_step, outcome.naive) = (outcome.one_step.sqrt(), outcome.naive.sqrt());
    Ok(outcome)
}
