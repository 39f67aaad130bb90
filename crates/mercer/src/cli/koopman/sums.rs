//! `mercer koopman` by exact sums, the default: reads pairs or a trajectory, chooses delays, learns.

use std::time::Instant;

use mercer::koopman::{Error, OperatorModel, OperatorSums, OperatorSumsParams};
use mercer::readers::{Example, Missing};

use super::KoopmanArguments;
use super::pairs;
use super::queries::Queries;
use super::sums_report::{Forecast, Found, SumsReport};
use super::trajectory::Trajectory;
use crate::cli::failure::Failure;
use crate::cli::input::Input;
use crate::cli::output::{self, Predictions, number};
use crate::cli::stop::Stop;

/// Rows on which delays and the step of time are chosen.
const FIRST: usize = 5000;
/// Delays that are tried, and how much worse than the best a smaller one may be: by this factor and
/// this part of the variance.
const DELAYS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 16];
const WORSE: f64 = 1.02;
const EXACT: f64 = 1e-6;
/// Most numbers of a state for which delays are chosen.
const WIDEST: usize = 64;
/// A step of time that is longer than this many usual ones is a gap.
const GAP: f64 = 1.5;
/// Steps of a forecast from the end of the data, unless told.
const STEPS: usize = 10;
/// The part of the true states that intervals shall hold.
pub(super) const COVERAGE: f64 = 0.9;
/// Modes unless told.
const MODES: usize = 10;

/// The rows of a file, in the order of time.
struct Rows {
    input: Input,
    stop: Stop,
    example: Example,
}

/// A row, and its time if a column tells it.
type Row = (Vec<f64>, Option<f64>);

impl Rows {
    fn next(&mut self) -> Result<Option<Row>, Failure> {
        if self.stop.requested() || !self.input.next(&mut self.example)? {
            return Ok(None);
        }
        let row = std::mem::take(&mut self.example.features);
        Ok(Some((row, self.input.time())))
    }
}

/// How rows become pairs.
enum Cut {
    /// Numbers of `x` in a row.
    Pairs(usize),
    Trajectory {
        path: Trajectory,
        /// The usual step of time, and the time of the row before.
        step: Option<f64>,
        before: Option<f64>,
        cuts: u64,
    },
}

impl Cut {
    fn trajectory(columns: usize, delay: usize, step: Option<f64>) -> Self {
        Self::Trajectory { path: Trajectory::new(columns, delay), step, before: None, cuts: 0 }
    }

    /// The pair that a row completes.
    fn push<'a>(&'a mut self, (row, time): &'a Row) -> Option<(&'a [f64], &'a [f64])> {
        match self {
            Self::Pairs(dimension) => Some(row.split_at(*dimension)).filter(|_| row.iter().all(|x| x.is_finite())),
            Self::Trajectory { path, step, before, cuts } => {
                let passed = before.zip(*time).map(|(before, now)| now - before);
                *before = *time;
                let missing = row.iter().any(|x| !x.is_finite());
                if missing || passed.zip(*step).is_some_and(|(passed, step)| passed > GAP * step) {
                    *cuts += u64::from(!path.is_empty());
                    path.cut();
                }
                if missing { None } else { path.push(row) }
            }
        }
    }
}

pub(super) fn run(arguments: &KoopmanArguments) -> Result<(), Failure> {
    let Some(path) = &arguments.pairs else { return Err(Failure::usage("give PAIRS")) };
    output::refuse_same_places(&[
        ("--eigenfunctions", &arguments.eigenfunctions),
        ("--predictions", &arguments.predictions),
    ])?;
    let read: Vec<&std::path::Path> =
        [Some(path), arguments.predict.as_ref()].into_iter().flatten().map(|path| &**path).collect();
    if read.iter().filter(|path| **path == std::path::Path::new("-")).count() > 1 {
        return Err(Failure::usage(
            "--predict must be a file when PAIRS is standard input, which can be read only once",
        ));
    }
    let create = |option: &'static str, path: &Option<std::path::PathBuf>| {
        path.as_deref().map(|path| Predictions::create_for(option, path, &read, "")).transpose()
    };
    let eigenfunctions = create("--eigenfunctions", &arguments.eigenfunctions)?;
    let predictions = create("--predictions", &arguments.predictions)?;
    let stop = Stop::listen()?;
    let time = arguments.time.as_ref();
    let mut rows = Rows {
        input: pairs::open_with(path, &arguments.dialect, &stop, time, Missing::Nan)?,
        stop,
        example: Example::default(),
    };
    let shown = rows.input.shown().to_owned();
    let names = rows.input.columns().features().to_vec();
    let columns = rows.input.columns().dimension;
    let told = arguments.making.state_dim.is_some() || arguments.making.input_dim.is_some();
    let is_trajectory = arguments.trajectory || (columns == 1 && !told);
    let mut first = Vec::new();
    while first.len() < FIRST
        && let Some(row) = rows.next()?
    {
        first.push(row);
    }
    let step = usual_step(&first);
    let (mut cut, dimensions, delay) = if is_trajectory {
        let delay = match arguments.delay {
            Some(delay) => delay.into(),
            None => chosen_delay(&first, columns, step).map_err(|error| because(&shown, &error))?,
        };
        let state = pairs::state(&shown, columns, delay)?;
        (Cut::trajectory(columns, delay, step), (state, state), delay)
    } else {
        let (x, state) = arguments.making.dimensions(&shown, columns)?;
        (Cut::Pairs(x), (x, state), 1)
    };
    let (dimension, state) = dimensions;
    super::refuse_action(dimension != state, false, arguments)?;
    let steps = arguments.steps.map_or(if arguments.predict.is_some() { 1 } else { STEPS }, usize::from);
    if arguments.predict.is_none() && !is_trajectory && (arguments.steps.is_some() || predictions.is_some()) {
        return Err(Failure::usage(
            "--steps and --predictions need states to go on from: give them with --predict, or a --trajectory",
        ));
    }
    let width = dimension + (steps - 1) * (dimension - state);
    let queries = arguments.predict.as_deref().map(|path| Queries::read(path, arguments.dialect.clone(), width));
    let queries = queries.transpose()?;

    let start = Instant::now();
    let params = OperatorSumsParams::default().half_life(arguments.half_life);
    let mut learner = OperatorSums::new(state, dimension - state, params)
        .map_err(|error| Failure::usage(format!("{error}; see mercer koopman --help")))?;
    let mut last = Vec::new();
    let mut learn = |row: &Row| -> Result<(), Error> {
        if let Some((x, x_plus)) = cut.push(row) {
            learner.update(x, x_plus)?;
            last.clear();
            last.extend_from_slice(x_plus);
        }
        Ok(())
    };
    for row in first.drain(..) {
        learn(&row).map_err(|error| because(&shown, &error))?;
    }
    while let Some(row) = rows.next()? {
        learn(&row).map_err(|error| Failure::because(format!("{shown}, {}: {error}", rows.input.place())))?;
    }
    rows.stop.failure()?;
    let modes = arguments.eigen.unwrap_or(MODES);
    let read_off = |error: Error| because(&shown, &error);
    let model = learner.model(modes, steps).map_err(read_off)?;
    let forecast = forecast(&model, queries.as_ref(), is_trajectory.then_some(&last), (steps, columns));
    let report = SumsReport {
        found: Found {
            data: shown.clone(),
            names: names.clone(),
            delay: is_trajectory.then_some(delay),
            cuts: if let Cut::Trajectory { cuts, .. } = cut { cuts } else { 0 },
            tau: arguments.step_time.or(step).unwrap_or(1.0),
            timed: arguments.step_time.is_some() || step.is_some(),
            modes,
        },
        model: &model,
        forecast: forecast.map_err(|error| because(&shown, &error))?,
        dimensions,
        seconds: start.elapsed().as_secs_f64(),
    };
    if let Some(mut file) = predictions {
        file.write(&report.forecast_lines())?;
        file.finish()?;
    }
    if let Some(mut file) = eigenfunctions {
        write_eigenfunctions(&mut file, &model, dimension).map_err(|error| error.with(&shown))?;
        file.finish()?;
    }
    output::print(&if arguments.json {
        super::super::report::json(&report.object())?
    } else {
        report.text(arguments.predictions.is_none())
    })
}

fn because(shown: &str, error: &Error) -> Failure {
    Failure::because(format!("{shown}: {error}"))
}

/// The median difference of the times of successive rows, if a column tells them.
fn usual_step(rows: &[Row]) -> Option<f64> {
    let times: Vec<f64> = rows.iter().filter_map(|row| row.1).collect();
    let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().filter(|step| *step > 0.0)
}

/// The fewest rows that forecast the newest one on held-out rows about as well as any number does.
fn chosen_delay(rows: &[Row], columns: usize, step: Option<f64>) -> Result<usize, Error> {
    let mut scores = Vec::new();
    // As few points as tell delays apart.
    let params = OperatorSumsParams::default().max_dictionary(30);
    for delay in
        DELAYS.into_iter().filter(|delay| *delay == 1 || (delay * columns <= WIDEST && delay * 20 < rows.len()))
    {
        let mut learner = OperatorSums::new(delay * columns, 0, params)?;
        let mut cut = Cut::trajectory(columns, delay, step);
        for row in rows {
            if let Some((x, x_plus)) = cut.push(row) {
                learner.update(x, x_plus)?;
            }
        }
        match learner.held_out_error(columns) {
            Ok(error) => scores.push((delay, error)),
            // Too short for so many delays; that of one is told when it is learnt.
            Err(_) => break,
        }
    }
    let least = scores.iter().map(|score| score.1).fold(f64::INFINITY, f64::min);
    Ok(scores.iter().find(|score| score.1 <= WORSE * least + EXACT).map_or(1, |score| score.0))
}

/// The states after each query, or those after the last state with their intervals.
fn forecast(
    model: &OperatorModel,
    queries: Option<&Queries>,
    last: Option<&Vec<f64>>,
    (steps, columns): (usize, usize),
) -> Result<Option<Forecast>, Error> {
    let dimension = model.units().len();
    if let Some(queries) = queries {
        let mut rows = Vec::new();
        for query in queries.rows() {
            let (x, inputs) = query.split_at(dimension);
            rows.extend(model.forecast(x, inputs, steps)?.pop());
        }
        return Ok(Some(Forecast { rows, half_widths: vec![model.half_widths(steps, COVERAGE)], from_end: false }));
    }
    let Some(last) = last.filter(|last| !last.is_empty()) else { return Ok(None) };
    let newest = dimension - columns;
    let rows = model.forecast(last, &[], steps)?.into_iter().map(|mut state| state.split_off(newest)).collect();
    let half_widths = (1..=steps).map(|step| model.half_widths(step, COVERAGE).split_off(newest)).collect();
    Ok(Some(Forecast { rows, half_widths, from_end: true }))
}

/// The eigenfunctions at the points of the dictionary: x…, then real and imaginary part of each.
fn write_eigenfunctions(file: &mut Predictions, model: &OperatorModel, dimension: usize) -> Result<(), Failure> {
    let names = (1..=dimension).map(|i| format!("x{i}"));
    let parts = (1..=model.modes().len()).flat_map(|i| [format!("re{i}"), format!("im{i}")]);
    file.write(&(names.chain(parts).collect::<Vec<_>>().join(",") + "\n"))?;
    for point in model.dictionary() {
        let values = model.eigenfunctions(&point.point).map_err(|error| Failure::because(error.to_string()))?;
        let cells = point.point.iter().chain(values.iter().flatten()).map(|value| number(*value));
        file.write(&(cells.collect::<Vec<_>>().join(",") + "\n"))?;
    }
    Ok(())
}
