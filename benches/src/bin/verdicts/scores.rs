//! Errors of eigenvalues and forecasts, ours and those of other libraries on the same samples.
//!
//! **Eigenvalues:** of the leading twelve each of the true leading ones takes the nearest that is
//! left; the mean distance. **Forecasts:** the root mean square of the distance to the row that
//! came on further paths, so that noise is part of it, over the deviation of the rows. Both are of
//! one sample. The peers' are kept in `benches/peers/operators.csv`, of each method and setting;
//! the least of them is shown, which the truth alone can tell.

use std::error::Error;
use std::fs;
use std::path::Path;

use mercer_koopman::OperatorModel;

use super::systems::Sample;

const KEPT: &str = include_str!("../../../peers/operators.csv");
/// Eigenvalues among which true ones are looked for, as for the peers.
const LOOKED_AT: usize = 12;
/// States that forecasts are asked for.
const ASKED: usize = 1000;

/// The errors of the eigenvalues and at the three horizons; not a number where there are none.
pub(crate) type Errors = [f64; 4];

/// The three horizons: long where there is no noise, short of chaos.
pub(crate) fn steps(system: &str) -> [usize; 3] {
    match system {
        "stuart-landau" | "osc10" => [1, 10, 50],
        "tent" | "logistic" => [1, 3, 8],
        _ => [1, 5, 20],
    }
}

/// A state with the rows that came after it, one for each horizon.
struct Query {
    state: Vec<f64>,
    rows: [Vec<f64>; 3],
}

/// States of further paths.
fn queries(further: &Sample, steps: [usize; 3]) -> Vec<Query> {
    let mut all = Vec::new();
    for rows in &further.paths {
        for t in further.delay..=rows.len().saturating_sub(steps[2]) {
            let state = rows[t - further.delay..t].concat();
            all.push(Query { state, rows: steps.map(|step| rows[t - 1 + step].clone()) });
        }
    }
    let stride = all.len().div_ceil(ASKED).max(1);
    all.into_iter().step_by(stride).collect()
}

/// The errors of a model on its sample, and on states of further paths of the same system.
///
/// # Errors
/// When a forecast is refused.
pub(crate) fn errors(
    model: &OperatorModel,
    sample: &Sample,
    further: &Sample,
    steps: [usize; 3],
) -> Result<Errors, Box<dyn Error>> {
    let mut found: Vec<[f64; 2]> =
        model.modes().iter().take(LOOKED_AT).map(|mode| [mode.value.re, mode.value.im]).collect();
    let mut errors = [0.0; 4];
    for truth in &sample.truth[..sample.leading] {
        let away = |value: &[f64; 2]| (value[0] - truth[0]).hypot(value[1] - truth[1]);
        let nearest = (0..found.len()).min_by(|a, b| away(&found[*a]).total_cmp(&away(&found[*b])));
        errors[0] += nearest.map_or(truth[0].hypot(truth[1]), |i| away(&found.swap_remove(i)));
    }
    errors[0] /= sample.leading as f64;
    let queries = queries(further, steps);
    let mut squares = [0.0; 3];
    for query in &queries {
        let path = model.forecast(&query.state, &[], steps[2])?;
        for ((square, step), row) in squares.iter_mut().zip(steps).zip(&query.rows) {
            let state = &path[step - 1];
            let newest = &state[state.len() - row.len()..];
            *square += newest.iter().zip(row).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        }
    }
    let columns = further.paths[0][0].len();
    let newest = |query: &Query, j: usize| query.state[query.state.len() - columns + j];
    let count = queries.len() as f64;
    let variance = |j: usize| {
        let mean = queries.iter().map(|query| newest(query, j)).sum::<f64>() / count;
        queries.iter().map(|query| (newest(query, j) - mean).powi(2)).sum::<f64>()
    };
    let total: f64 = (0..columns).map(variance).sum();
    errors[1..].iter_mut().zip(squares).for_each(|(error, square)| *error = (square / total).sqrt());
    Ok(errors)
}

/// The errors of the peers on the samples of a system, each with its method and settings.
pub(crate) fn peers(system: &str, pairs: usize, k: usize) -> impl Iterator<Item = (&'static str, f64)> {
    let score = move |line: &'static str| {
        let cells: Vec<&str> = line.split(',').collect();
        let of_this = cells.first() == Some(&system) && cells.get(1)?.parse() == Ok(pairs);
        let score = cells.get(3 + k)?.parse().ok().filter(|score: &f64| of_this && score.is_finite())?;
        Some((*cells.get(2)?, score))
    };
    KEPT.lines().filter_map(score)
}

/// The least of them.
pub(crate) fn best_peer(system: &str, pairs: usize, k: usize) -> Option<(&'static str, f64)> {
    peers(system, pairs, k).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Writes a sample as `crates/experiments/operators/peers.py` reads it, in files that begin with
/// `name`: pairs, states with the rows that came, horizons, and the leading true eigenvalues.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(
    folder: &Path,
    name: &str,
    (sample, further): (&Sample, &Sample),
    steps: [usize; 3],
) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let write =
        |what: &str, lines: Vec<String>| fs::write(folder.join(format!("{name}-{what}.csv")), lines.join("\n") + "\n");
    let line = |numbers: &[f64]| numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let mut pairs = Vec::new();
    for rows in &sample.paths {
        let states: Vec<Vec<f64>> = rows.windows(sample.delay).map(<[_]>::concat).collect();
        pairs.extend(states.windows(2).map(|two| line(&two.concat())));
    }
    write("pairs", pairs)?;
    let asked = queries(further, steps);
    write("queries", asked.iter().map(|query| line(&[query.state.clone(), query.rows.concat()].concat())).collect())?;
    write("steps", vec![line(&steps.map(|step| step as f64))])?;
    write("truth", sample.truth[..sample.leading].iter().map(|value| line(value)).collect())?;
    Ok(())
}
