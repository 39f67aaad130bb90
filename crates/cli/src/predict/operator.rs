//! Answers of an operator by sums: the state that is expected to follow each row, with
//! eigenfunctions and sets there.

use std::num::NonZeroUsize;
use std::path::Path;

use clap::Args;
use mercer_koopman::{Error, OperatorModel, Trajectory};
use mercer_readers::{Example, Missing};
use mercer_session::model::Operator;

use super::PredictArguments;
use crate::arguments::count;
use crate::data::bad_rows::OnError;
use crate::data::input::Input;
use crate::data::pipe;
use crate::data::stop::Stop;
use crate::data::timed_series::SeriesOptions;
use crate::koopman::{MODES, ONE_STEP, PairLayout, SetArguments, SetColumns, open_rows};
#[cfg(feature = "arrow")]
use crate::model::cells::AnswerValue;
use crate::model::classes::quoted;
use crate::report::failure::Failure;
use crate::report::output::number;
use crate::report::replies::{LineStyle, Replies};

/// Options of a model that is an operator.
#[derive(Args)]
pub(super) struct OperatorArguments {
    /// Of an operator: forecast the state so many steps after each row [default: 1]
    #[arg(long, value_name = "N", value_parser = count)]
    steps: Option<NonZeroUsize>,
    /// Of an operator: add the values of its K leading eigenfunctions at each row, re1, im1, …
    #[arg(long, value_name = "K", value_parser = count)]
    eigen: Option<NonZeroUsize>,
    #[command(flatten)]
    sets: SetArguments,
}

impl OperatorArguments {
    /// Refuses them for a model that is none.
    pub(super) fn refuse(&self, model: &Path) -> Result<(), Failure> {
        let given =
            [("--steps", self.steps.is_some()), ("--eigen", self.eigen.is_some()), ("--sets", self.sets.are_given())];
        given.into_iter().find(|option| option.1).map_or(Ok(()), |(option, _)| {
            let model = model.display();
            Err(Failure::usage(format!(
                "{option} is for operators, and {model} is a learner from examples; leave it out"
            )))
        })
    }
}

/// The rows of DATA as states of the operator.
struct StateRows {
    input: Input,
    example: Example,
    /// Where each number of a row stands in the file.
    places: Vec<usize>,
    /// The last rows, where each is a state.
    trajectory: Option<Trajectory>,
}

impl StateRows {
    fn open(data: &Path, arguments: &PredictArguments, operator: &Operator, stop: &Stop) -> Result<Self, Failure> {
        let layout = PairLayout::of_model(operator);
        let trajectory = operator.trajectory.as_ref().map(Trajectory::begun);
        // Rows may be a grid, and one that misses a number has no answer.
        let series = SeriesOptions { counters: true, missing: Missing::Nan, ..SeriesOptions::default() };
        let input = open_rows(data, &arguments.dialect, stop, &series)?;
        let width = trajectory.as_ref().map_or(layout.input_dimension, Trajectory::columns);
        let names = layout.file_names();
        // A trajectory calls the newest row of x as its columns are called.
        let wanted = names.get(layout.input_dimension - width..layout.input_dimension).unwrap_or_default();
        let places = places(&input, wanted, width, &arguments.model)?;
        Ok(Self { input, example: Example::default(), places, trajectory })
    }

    /// The state of the next row, if it is known; `None` at the end.
    fn next(&mut self) -> Result<Option<Option<Vec<f64>>>, Failure> {
        if !self.input.next(&mut self.example)? {
            return Ok(None);
        }
        let row: Vec<f64> = self.places.iter().map(|place| self.example.features[*place]).collect();
        Ok(Some(match &mut self.trajectory {
            Some(trajectory) => {
                let pushed = trajectory.push(&row, None, None).map(drop);
                pushed.map_err(|error| failed(&self.input, &error))?;
                trajectory.state().map(<[f64]>::to_vec)
            }
            None => row.iter().all(|x| x.is_finite()).then_some(row),
        }))
    }
}

/// Where the columns that a model has learnt stand in a file: by their names, or else in order.
fn places(input: &Input, wanted: &[String], width: usize, model: &Path) -> Result<Vec<usize>, Failure> {
    let (shown, model, names) = (input.shown(), model.display(), input.columns().features());
    if !wanted.is_empty() && !names.is_empty() {
        let place = |name: &String| {
            names.iter().position(|other| other == name).ok_or_else(|| {
                Failure::because(format!("{shown}: has no column {name:?}, which {model} has learnt; add it"))
            })
        };
        return wanted.iter().map(place).collect();
    }
    let got = input.columns().dimension;
    if got == width {
        return Ok((0..width).collect());
    }
    let plural = if got == 1 { "column" } else { "columns" };
    Err(Failure::because(format!("{shown}: has {got} {plural}, and a state of {model} has {width}; give those alone")))
}

fn failed(input: &Input, error: &Error) -> Failure {
    Failure::because(format!("{}, {}: {error}", input.shown(), input.place()))
}

/// What is told of each state.
struct StateAnswers {
    model: OperatorModel,
    steps: usize,
    /// Eigenfunctions that are told.
    functions: usize,
    sets: SetColumns,
    /// Numbers of the newest row of a state.
    width: usize,
    /// Half of each interval, if they are asked for.
    half_widths: Option<Vec<Option<f64>>>,
    names: Vec<String>,
}

impl StateAnswers {
    fn new(arguments: &PredictArguments, operator: &Operator) -> Result<Self, Failure> {
        let path = arguments.model.display().to_string();
        let OperatorArguments { steps, eigen, sets } = &arguments.operator;
        let sums = operator.learner.sums().ok_or_else(|| {
            Failure::because(format!(
                "{path}: was learnt by gradient descent; mercer koopman --predict forecasts with it"
            ))
        })?;
        let layout = PairLayout::of_model(operator);
        let (steps, functions) = (steps.map_or(1, NonZeroUsize::get), eigen.map_or(0, NonZeroUsize::get));
        if layout.acts() && steps > 1 {
            return Err(Failure::usage(ONE_STEP));
        }
        let model = sums.model(functions.max(MODES), steps);
        let model = model.map_err(|error| Failure::because(format!("{path}: {error}")))?;
        let sets = sets.read(&path, &model)?;
        let functions = functions.min(model.modes().len());
        let trajectory = operator.trajectory.as_ref();
        let width = trajectory.map_or(layout.state_dimension, Trajectory::columns);
        let half_widths = arguments.intervals.map(|share| {
            let mut all = model.half_widths(steps, share);
            all.split_off(layout.state_dimension - width)
        });
        let all = layout.names();
        let end = if trajectory.is_some() { layout.input_dimension } else { all.len() };
        let each = |what: &str, j: usize| match width {
            1 => what.to_owned(),
            _ => format!("{what}_{}", all[end - width + j]),
        };
        let mut names: Vec<String> = (0..width).map(|j| each("prediction", j)).collect();
        if half_widths.is_some() {
            names.extend((0..width).flat_map(|j| [each("lower", j), each("upper", j)]));
        }
        names.extend(sets.names(functions));
        Ok(Self { model, steps, functions, sets, width, half_widths, names })
    }

    /// The values of the columns at a state; none for an interval that too few data tell.
    fn values(&self, x: &[f64]) -> Result<Vec<Option<f64>>, Error> {
        let state = self.model.forecast(x, &[], self.steps)?.pop().unwrap_or_default();
        let newest = &state[state.len() - self.width..];
        let mut values: Vec<Option<f64>> = newest.iter().copied().map(Some).collect();
        for (at, half) in newest.iter().zip(self.half_widths.iter().flatten()) {
            values.extend([-1.0, 1.0].map(|sign| half.map(|half| at + sign * half)));
        }
        values.extend(self.sets.values(&self.model, x, self.functions)?.into_iter().map(Some));
        Ok(values)
    }

    /// Answers a row, of which nothing is told where its state is not known; false when nobody
    /// reads the answers.
    fn answer(&self, replies: &Replies, style: LineStyle, values: Option<&[Option<f64>]>) -> bool {
        #[cfg(feature = "arrow")]
        if let LineStyle::Columnar(_) = style {
            let cell = |j: usize| values.and_then(|values| values[j]).map(AnswerValue::Number);
            return replies.answer_values(&(0..self.names.len()).map(cell).collect::<Vec<_>>());
        }
        let told = |value: &Option<f64>, nothing: &str| value.map_or(nothing.to_owned(), number);
        let line = match (style, values) {
            (LineStyle::Csv, None) => ",".repeat(self.names.len() - 1),
            (LineStyle::Csv, Some(values)) => values.iter().map(|value| told(value, "")).collect::<Vec<_>>().join(","),
            (_, values) => {
                let fact = |(j, name): (usize, &String)| {
                    let value = values.map_or("null".to_owned(), |values| told(&values[j], "null"));
                    format!("{}:{value}", serde_json::Value::from(name.as_str()))
                };
                format!("{{{}}}", self.names.iter().enumerate().map(fact).collect::<Vec<_>>().join(","))
            }
        };
        replies.answer_line(&line)
    }
}

/// Refuses options that say nothing of an operator.
fn refuse_others(arguments: &PredictArguments) -> Result<(), Failure> {
    let given = [
        ("--learn", arguments.learn),
        ("--explain", arguments.explain.is_some()),
        ("--target", arguments.target.is_some()),
        ("--weight", arguments.weight.is_some()),
        ("--ignore", !arguments.ignore.is_empty()),
        ("--on-error", arguments.on_error != OnError::Stop),
        ("--zone", arguments.zone.zone.is_some()),
    ];
    given.into_iter().find(|option| option.1).map_or(Ok(()), |(option, _)| {
        let model = arguments.model.display();
        Err(Failure::usage(format!("{option} is for learners from examples, and {model} is an operator; leave it out")))
    })
}

/// Answers the rows of DATA, in `predictions` or on stdout.
pub(super) fn run(
    arguments: &PredictArguments,
    predictions: Option<&Path>,
    operator: &Operator,
) -> Result<(), Failure> {
    refuse_others(arguments)?;
    let answers = StateAnswers::new(arguments, operator)?;
    let stop = Stop::listen()?;
    let replies = Replies::create(predictions, &[&arguments.data, &arguments.model])?;
    let opened = StateRows::open(&arguments.data, arguments, operator, &stop);
    stop.failure()?;
    let mut rows = opened?;
    let style = LineStyle::of_file(predictions, rows.input.are_objects())?;
    let headed = answers.names.len() > 1 || !rows.input.columns().features().is_empty();
    let header = || answers.names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
    replies.begin(style, headed.then(header).as_deref());
    #[cfg(feature = "arrow")]
    if let LineStyle::Columnar(format) = style {
        let columns: Vec<(String, bool)> = answers.names.iter().map(|name| (name.clone(), false)).collect();
        replies.begin_columns(format, &columns)?;
    }
    let waits = pipe::is_one(&arguments.data);
    let ended = loop {
        let state = match rows.next() {
            Ok(Some(state)) => state,
            Ok(None) => break stop.failure(),
            Err(failure) => break Err(failure),
        };
        let values = state.map(|x| answers.values(&x)).transpose();
        let goes_on = match values {
            Ok(values) => answers.answer(&replies, style, values.as_deref()),
            Err(error) => break Err(failed(&rows.input, &error)),
        };
        if !goes_on {
            break Ok(());
        }
        if waits {
            replies.flush();
        }
    };
    super::finish(&replies, ended)
}
