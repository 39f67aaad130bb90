//! The rows of PAIRS, cut into x and x⁺.

use std::collections::VecDeque;
use std::path::Path;

use mercer_koopman::{Error, OperatorSums, OperatorSumsParams, Trajectory};
use mercer_readers::{CellPlace, DataError, Example, Missing};
use mercer_session::model::Operator;

use super::row_doubts::RowDoubts;
use super::{KoopmanArguments, KoopmanMethod};
use crate::arguments::common::whole;
use crate::arguments::dialect::Dialect;
use crate::data::encoded_rows::overrides;
use crate::data::input::{ExamplePlace, Input};
use crate::data::pipe;
use crate::data::source::Source;
use crate::data::stop::Stop;
use crate::data::timed_series::SeriesOptions;
use crate::report::failure::Failure;

/// Rows handed out at once: enough for the median heuristic (200), and for the clock to be read
/// seldom.
const CHUNK: usize = 256;
/// Rows on which delays and the step of time are chosen.
const FIRST: usize = 5000;
/// Delays that are tried, and how much worse than the best a smaller one may be: by this factor,
/// and this part of the variance at each of some steps ahead.
const DELAYS: [usize; 8] = [1, 2, 3, 4, 6, 8, 12, 16];
const WORSE: f64 = 1.02;
const EXACT: f64 = 1e-6;
const AHEAD: [usize; 3] = [1, 5, 20];
/// Most numbers of a state for which delays are chosen.
const WIDEST: usize = 64;

/// Which numbers of a row are x and which x⁺.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PairLayout {
    /// Numbers of x.
    pub(crate) input_dimension: usize,
    /// Numbers of x⁺.
    pub(crate) state_dimension: usize,
    /// Names of all columns; empty if the file has none.
    names: Vec<String>,
}

impl PairLayout {
    pub(crate) fn of_model(model: &Operator) -> Self {
        let [input_dimension, state_dimension] = model.learner.dimensions();
        Self { input_dimension, state_dimension, names: model.columns.clone() }
    }

    /// That of a file, which must be this of the model at `path`.
    fn check(&self, path: &Path, shown: &str, columns: usize, names: Option<&[String]>) -> Result<Self, Failure> {
        let refused = |what: String| {
            let path = path.display();
            Err(Failure::because(format!("{path}: {what}; give data with the columns that the model has learnt")))
        };
        let width = self.input_dimension + self.state_dimension;
        if columns != width {
            return refused(format!("has {width} columns and {shown} has {columns}"));
        }
        let names = names.unwrap_or(&self.names);
        match self.names.iter().zip(names).find(|(ours, theirs)| ours != theirs) {
            Some((ours, theirs)) => refused(format!("has a column {ours:?} where {shown} has {theirs:?}")),
            None => Ok(Self { names: names.to_vec(), ..*self }),
        }
    }

    /// True if x carries an action.
    pub(crate) fn acts(&self) -> bool {
        self.input_dimension != self.state_dimension
    }

    /// The file's own names of all columns; none if it has none.
    pub(crate) fn file_names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Names of all columns: the file's own, or x1, x2, … and next1, next2, ….
    pub(crate) fn names(&self) -> Vec<String> {
        if !self.names.is_empty() {
            return self.names.clone();
        }
        let inputs = (1..=self.input_dimension).map(|i| format!("x{i}"));
        inputs.chain((1..=self.state_dimension).map(|i| format!("next{i}"))).collect()
    }
}

/// A row of the file.
pub(super) struct TrajectoryRow {
    numbers: Vec<f64>,
    time: Option<f64>,
    /// The trajectory that it belongs to, if a column tells.
    group: Option<String>,
    place: ExamplePlace,
}

impl TrajectoryRow {
    /// The pair that this row completes.
    pub(super) fn complete<'a>(&self, trajectory: &'a mut Trajectory) -> Result<Option<Pair<'a>>, Error> {
        trajectory.push(&self.numbers, self.time, self.group.as_deref())
    }
}

type Pair<'a> = (&'a [f64], &'a [f64]);

/// A stream of pairs; memory does not grow with its length.
pub(super) struct PairStream {
    rows: TrajectoryRows,
    /// Rows that were read to choose delays and the step of time.
    first: VecDeque<TrajectoryRow>,
    /// The usual step of time.
    step: Option<f64>,
    /// True if pairs come one by one, and none is kept waiting for others.
    single: bool,
    /// The last rows, where each is a state.
    trajectory: Option<Trajectory>,
    layout: PairLayout,
    /// Pairs that miss a number.
    left_out: u64,
    /// What rows look like otherwise than they are taken.
    doubts: RowDoubts,
    /// Why there is no row behind those given.
    failed: Option<Failure>,
}

/// The rows of a file.
struct TrajectoryRows {
    input: Input,
    stop: Stop,
    grouped: bool,
    example: Example,
}

impl TrajectoryRows {
    /// `None` at the end, and when a signal has come: what it cut off is no row.
    fn next(&mut self) -> Result<Option<TrajectoryRow>, DataError> {
        let read = self.input.next(&mut self.example);
        if self.stop.requested() || !read? {
            return Ok(None);
        }
        let numbers = std::mem::take(&mut self.example.features);
        let group = self.grouped.then(|| self.example.label.clone());
        Ok(Some(TrajectoryRow { numbers, time: self.input.time(), group, place: self.input.place() }))
    }

    /// The next rows, `wanted` of them at most, and why there are no more if one cannot be read.
    fn first(&mut self, wanted: usize) -> (VecDeque<TrajectoryRow>, Option<Failure>) {
        let mut first = VecDeque::new();
        while first.len() < wanted {
            match self.next() {
                Ok(Some(row)) => first.push_back(row),
                Ok(None) => break,
                Err(error) => return (first, Some(unread(error))),
            }
        }
        (first, None)
    }
}

/// Why a row cannot be read, with what takes a text, or rows in another order.
fn unread(error: DataError) -> Failure {
    let remedy = match &error {
        DataError::NotANumber { .. } => "--ignore does, and --group takes one that names trajectories".to_owned(),
        DataError::Earlier { cell: CellPlace { column, .. }, .. } => {
            let name = column.name.clone().unwrap_or_else(|| column.number.to_string());
            format!(
                "--ignore {name:?} takes the rows as they come; --group NAME reads several trajectories, which the column NAME tells \
                 apart"
            )
        }
        _ => return error.into(),
    };
    Failure::from(error).with(&remedy)
}

/// Some pairs; the memory is used again for the next.
#[derive(Default)]
pub(super) struct PairChunk {
    /// Row by row.
    pub(super) inputs: Vec<f64>,
    /// Row by row.
    pub(super) outputs: Vec<f64>,
    places: Vec<ExamplePlace>,
}

impl PairChunk {
    pub(super) fn rows(&self) -> usize {
        self.places.len()
    }

    pub(super) fn iter(&self, layout: &PairLayout) -> impl Iterator<Item = Pair<'_>> {
        self.inputs.chunks_exact(layout.input_dimension).zip(self.outputs.chunks_exact(layout.state_dimension))
    }
}

impl KoopmanArguments {
    /// Refuses a delay of rows that are pairs.
    fn check_delay(&self, shown: &str, is_trajectory: bool) -> Result<(), Failure> {
        if self.delay.is_none() || is_trajectory {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--delay: a row of {shown} is a pair unless --trajectory is given; add it, or leave --delay out"
        )))
    }
}

impl PairStream {
    /// `known` is the model that is gone on with, `saved` that of the run that is resumed, each
    /// with its file.
    pub(super) fn open(
        path: &Path,
        arguments: &KoopmanArguments,
        method: KoopmanMethod,
        known: Option<&(&Path, Operator)>,
        saved: Option<&(&Path, Operator)>,
        stop: Stop,
    ) -> Result<Self, Failure> {
        let (time, group) = (arguments.time.as_ref(), arguments.group.as_ref());
        let given = arguments.trajectory || group.is_some();
        let of = |model: &(&Path, Operator)| model.1.trajectory.clone();
        let known_trajectory = known.and_then(of);
        let sums = method == KoopmanMethod::Sums;
        let missing = if sums || given { Missing::Nan } else { Missing::default() };
        let overrides = overrides(&arguments.kinds, arguments.zone.zone.as_ref(), &Source::resolve(path)?)?;
        let states = known.map_or(&[][..], |(_, model)| &model.columns);
        let ignore = whole(&arguments.ignore);
        let alone = sums && known.is_none() && !arguments.making.has_dimensions();
        let in_order = if given || known_trajectory.is_some() { usize::MAX } else { usize::from(alone) };
        let wanted = SeriesOptions { time, group, missing, ignore, overrides, states, counters: false, in_order };
        let input = open(path, &arguments.dialect, &stop, &wanted)?;
        let (shown, columns) = (input.shown().to_owned(), input.columns().dimension);
        let names = input.columns().features().to_vec();
        let is_trajectory = given || alone && columns == 1 || known_trajectory.is_some();
        arguments.check_delay(&shown, is_trajectory)?;
        let mut rows = TrajectoryRows { input, stop, grouped: group.is_some(), example: Example::default() };
        let chooses = sums && arguments.delay.is_none() && known.or(saved).is_none();
        let wanted = match (is_trajectory && chooses, time.is_some() && known.is_none()) {
            (true, _) => FIRST,
            (false, true) => CHUNK,
            (false, false) => 0,
        };
        let (first, failed) = rows.first(wanted);
        let times: Vec<f64> = first.iter().filter_map(|row| row.time).collect();
        let step = Trajectory::usual_step(&times);
        let trajectory = match known_trajectory {
            Some(trajectory) => Some(going_on(trajectory, arguments, path, columns)?),
            None if is_trajectory => {
                let because = |error: Error| Failure::because(format!("{shown}: {error}"));
                let saved = saved.and_then(of);
                let chosen = || if chooses { chosen_delay(&first, columns, step).map_err(because) } else { Ok(1) };
                let known = arguments.delay.map(usize::from).or(saved.as_ref().map(Trajectory::delay));
                let delay = known.map_or_else(chosen, Ok)?;
                state(&shown, columns, delay)?;
                let step = saved.map_or(step, |saved| saved.step());
                Some(Trajectory::new(columns, delay, step).map_err(because)?)
            }
            None => None,
        };
        let layout = layout(arguments, known, trajectory.as_ref(), (&shown, columns), names)?;
        // A file that is written on the way has the rows of its last pair, not those of pairs to
        // come.
        let single = pipe::is_one(path) || (trajectory.is_some() && arguments.model.out.is_some());
        let doubts = match (is_trajectory, alone) {
            (true, _) if group.is_none() => RowDoubts::of_states(columns),
            (false, true) => RowDoubts::of_pairs(),
            _ => RowDoubts::None,
        };
        Ok(Self { rows, first, step, single, trajectory, layout, left_out: 0, doubts, failed })
    }

    pub(super) fn layout(&self) -> &PairLayout {
        &self.layout
    }

    pub(super) fn trajectory(&self) -> Option<&Trajectory> {
        self.trajectory.as_ref()
    }

    /// The usual step of time, if a column tells it.
    pub(super) fn step(&self) -> Option<f64> {
        self.step
    }

    /// True if that is in seconds, because the column holds times and not just numbers.
    pub(super) fn is_in_seconds(&self) -> bool {
        self.step.is_some() && self.rows.input.tells_instants()
    }

    /// What rows look like that they were not taken for, with what takes them so.
    pub(super) fn doubt(&self) -> Option<String> {
        self.doubts.told(self.rows.input.columns().features())
    }

    /// Pairs so far that were left out because they miss a number.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Fills `chunk` with the next pairs; with none at the end, and when a signal has come. If
    /// `many`, they are waited for even where they come slowly.
    ///
    /// # Errors
    /// When a row cannot be read; those before it were given by the call before.
    pub(super) fn fill(&mut self, chunk: &mut PairChunk, many: bool) -> Result<(), Failure> {
        chunk.inputs.clear();
        chunk.outputs.clear();
        chunk.places.clear();
        let most = if self.single && !many { 1 } else { CHUNK };
        while chunk.places.len() < most {
            let row = match self.first.pop_front() {
                Some(row) => row,
                None if self.failed.is_some() => break,
                None => match self.rows.next() {
                    Ok(Some(row)) => row,
                    Ok(None) => break,
                    Err(error) => {
                        self.failed = Some(unread(error));
                        break;
                    }
                },
            };
            self.doubts.push_row(&row.numbers);
            let pair = match &mut self.trajectory {
                Some(trajectory) => row.complete(trajectory).map_err(|error| {
                    Failure::because(format!("{}, {}: {error}", self.rows.input.shown(), row.place))
                })?,
                None if row.numbers.iter().all(|x| x.is_finite()) => {
                    Some(row.numbers.split_at(self.layout.input_dimension))
                }
                None => {
                    self.left_out += 1;
                    None
                }
            };
            let Some((x, x_plus)) = pair else { continue };
            self.doubts.push_pair(x, x_plus);
            chunk.inputs.extend_from_slice(x);
            chunk.outputs.extend_from_slice(x_plus);
            chunk.places.push(row.place);
        }
        match self.failed.take_if(|_| chunk.places.is_empty()) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Where pair `index` of `chunk` comes from, for a message.
    pub(super) fn place(&self, chunk: &PairChunk, index: usize) -> String {
        format!("{}, {}", self.rows.input.shown(), chunk.places[index])
    }
}

/// The layout of rows of `columns` numbers in the file `shown`, which must be that of the model.
fn layout(
    arguments: &KoopmanArguments,
    known: Option<&(&Path, Operator)>,
    trajectory: Option<&Trajectory>,
    (shown, columns): (&str, usize),
    names: Vec<String>,
) -> Result<PairLayout, Failure> {
    let windows = trajectory.filter(|_| !names.is_empty()).map(|trajectory| trajectory.names(&names));
    let names = windows.unwrap_or(names);
    let state = trajectory.map(Trajectory::state_dimension);
    if let Some((model, of)) = known {
        let columns = state.map_or(columns, |state| 2 * state);
        let names = Some(&names[..]).filter(|names| !names.is_empty());
        return PairLayout::of_model(of).check(model, shown, columns, names);
    }
    let told = || arguments.making.dimensions(shown, columns);
    let (input_dimension, state_dimension) = state.map_or_else(told, |state| Ok((state, state)))?;
    Ok(PairLayout { input_dimension, state_dimension, names })
}

/// The trajectory of a model, with which the rows of a file of `columns` columns go on.
fn going_on(
    trajectory: Trajectory,
    arguments: &KoopmanArguments,
    path: &Path,
    columns: usize,
) -> Result<Trajectory, Failure> {
    let delay = trajectory.delay();
    if let Some(told) = arguments.delay.filter(|told| usize::from(*told) != delay) {
        return Err(Failure::usage(format!("--delay {told}: the model has states of {delay} rows; leave --delay out")));
    }
    if columns != trajectory.columns() {
        return Err(Failure::because(format!(
            "{}: has {columns} columns, and the model has learnt a trajectory of {}; give rows of the same columns",
            path.display(),
            trajectory.columns()
        )));
    }
    Ok(trajectory)
}

/// The fewest rows that forecast the newest one on held-out rows about as well as any number does,
/// by the geometric mean of the errors at several steps.
fn chosen_delay(rows: &VecDeque<TrajectoryRow>, columns: usize, step: Option<f64>) -> Result<usize, Error> {
    let mut scores = Vec::new();
    for delay in
        DELAYS.into_iter().filter(|delay| *delay == 1 || (delay * columns <= WIDEST && delay * 20 < rows.len()))
    {
        // As few points as tell delays apart.
        let params = OperatorSumsParams::default().max_dictionary(30).delay(delay);
        let mut learner = OperatorSums::new(delay * columns, 0, params)?;
        let mut trajectory = Trajectory::new(columns, delay, step)?;
        for row in rows {
            if let Some((x, x_plus)) = row.complete(&mut trajectory)? {
                learner.update(x, x_plus)?;
            }
        }
        match learner.held_out_errors(&AHEAD) {
            Ok(errors) => {
                let logs = errors.iter().map(|error| (error + EXACT).ln()).sum::<f64>();
                scores.push((delay, logs / errors.len() as f64));
            }
            // Too short for so many delays; that of one is told when it is learnt.
            Err(_) => break,
        }
    }
    let least = scores.iter().map(|score| score.1).fold(f64::INFINITY, f64::min);
    // Means of so many squares have this relative error.
    let worse = WORSE.ln() + (2.0 / rows.len() as f64).sqrt();
    Ok(scores.iter().find(|score| score.1 <= least + worse).map_or(1, |score| score.0))
}

/// A table without a target.
pub(crate) fn open(path: &Path, dialect: &Dialect, stop: &Stop, wanted: &SeriesOptions<'_>) -> Result<Input, Failure> {
    let source = Source::resolve(path)?;
    if let Source::Named(name) = source {
        return Err(Failure::usage(format!("{name} is a data set of examples with targets; give a file of pairs")));
    }
    Input::plain(path, dialect, stop, wanted)
}

/// Numbers of a state of `delay` rows.
pub(super) fn state(shown: &str, columns: usize, delay: usize) -> Result<usize, Failure> {
    const MOST: usize = 1 << 20;
    columns.checked_mul(delay).filter(|state| *state <= MOST).ok_or_else(|| {
        Failure::usage(format!(
            "{shown}: --delay {delay} of {columns} columns makes states of more than {MOST} numbers; take a smaller one"
        ))
    })
}

/// Numbers of x and of x⁺ in rows of `columns` numbers.
pub(super) fn dimensions(
    shown: &str,
    columns: usize,
    state_dim: Option<usize>,
    input_dim: Option<usize>,
) -> Result<(usize, usize), Failure> {
    let plural = if columns == 1 { "column" } else { "columns" };
    let refused = |why: String| Err(Failure::because(format!("{shown}: has {columns} {plural}, {why}")));
    match (input_dim, state_dim) {
        (None, None) if columns.is_multiple_of(2) => Ok((columns / 2, columns / 2)),
        (None, None) => refused(
            "which are not two halves x and x⁺; say with --state-dim and --input-dim how many numbers each has, or with \
             --trajectory that a row is a state"
                .to_owned(),
        ),
        (None, Some(state)) if Some(columns) == state.checked_mul(2) => Ok((state, state)),
        (None, Some(state)) => refused(format!(
            "but a pair of states of --state-dim {state} has {}; correct it, or add --input-dim if x carries an action",
            2 * state as u128
        )),
        (Some(input), Some(state)) => {
            // N may count the state and the action, or the action alone; the number of columns
            // tells.
            let whole = [Some(input), state.checked_add(input)].into_iter().flatten();
            let acting = whole.into_iter().find(|x| *x >= state && x.checked_add(state) == Some(columns));
            match acting {
                Some(x) => Ok((x, state)),
                None => refused(format!(
                    "but --input-dim {input} and --state-dim {state} make {}, or {} if the action alone has {input}; correct them",
                    input as u128 + state as u128,
                    input as u128 + 2 * state as u128
                )),
            }
        }
        (Some(input), None) => {
            let whole =
                columns.checked_sub(input).filter(|state| (1..input).contains(state)).map(|state| (input, state));
            let rest = columns.saturating_sub(input);
            let action = (rest > 0 && rest.is_multiple_of(2)).then_some((input + rest / 2, rest / 2));
            match (whole, action) {
                (Some(dimensions), None) | (None, Some(dimensions)) => Ok(dimensions),
                _ => refused(format!("which --input-dim {input} alone does not settle; say --state-dim as well")),
            }
        }
    }
}
