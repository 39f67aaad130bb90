//! The rows of PAIRS, cut into x and x⁺.

use std::path::Path;

use mercer::model::Operator;
use mercer::readers::{ColumnChoice, DataError, Example, Missing};

use super::KoopmanArguments;
use super::trajectory::Trajectory;
use crate::cli::dialect::Dialect;
use crate::cli::failure::Failure;
use crate::cli::input::{Input, Place};
use crate::cli::pipe;
use crate::cli::source::Source;
use crate::cli::stop::Stop;

/// Rows handed out at once: enough for the median heuristic (200), and for the clock to be read seldom.
const CHUNK: usize = 256;

/// Which numbers of a row are x and which x⁺.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// Numbers of x.
    pub(super) input_dimension: usize,
    /// Numbers of x⁺.
    pub(super) state_dimension: usize,
    /// Names of all columns; empty if the file has none.
    names: Vec<String>,
}

impl Layout {
    pub(super) fn of_model(model: &Operator) -> Self {
        let operator = model.learner.inner().operator();
        let (input_dimension, state_dimension) = (operator.input_dimension(), operator.output_dimension());
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

    /// Whether x carries an action.
    pub(super) fn acts(&self) -> bool {
        self.input_dimension != self.state_dimension
    }

    /// The file's own names of all columns; none if it has none.
    pub(super) fn file_names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Names of all columns: the file's own, or x1, x2, … and next1, next2, ….
    pub(super) fn names(&self) -> Vec<String> {
        if !self.names.is_empty() {
            return self.names.clone();
        }
        let inputs = (1..=self.input_dimension).map(|i| format!("x{i}"));
        inputs.chain((1..=self.state_dimension).map(|i| format!("next{i}"))).collect()
    }
}

/// A stream of pairs; memory does not grow with its length.
pub(super) struct Pairs {
    input: Input,
    stop: Stop,
    /// Whether rows may come slowly, so that none is kept waiting for others.
    slow: bool,
    /// The last rows, where each is a state.
    trajectory: Option<Trajectory>,
    layout: Layout,
    example: Example,
    /// Why there is no row behind those given.
    failed: Option<DataError>,
}

/// Some pairs; the memory is used again for the next.
#[derive(Default)]
pub(super) struct Chunk {
    /// Row by row.
    pub(super) inputs: Vec<f64>,
    /// Row by row.
    pub(super) outputs: Vec<f64>,
    places: Vec<Place>,
}

impl Chunk {
    pub(super) fn rows(&self) -> usize {
        self.places.len()
    }

    pub(super) fn iter(&self, layout: &Layout) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.inputs.chunks_exact(layout.input_dimension).zip(self.outputs.chunks_exact(layout.state_dimension))
    }
}

impl Pairs {
    /// `known` is the layout of a model, with its file.
    pub(super) fn open(
        path: &Path,
        arguments: &KoopmanArguments,
        known: Option<&(&Path, Layout)>,
        stop: Stop,
    ) -> Result<Self, Failure> {
        let input = open(path, &arguments.dialect, &stop, arguments.time.as_ref())?;
        let (shown, columns, names) = (input.shown(), input.columns().dimension, input.columns().features());
        let delay = arguments.delay.map_or(1, usize::from);
        let (width, columns) = match arguments.trajectory {
            false => (columns, columns),
            true => (columns, 2 * state(shown, columns, delay)?),
        };
        let trajectory = arguments.trajectory.then(|| Trajectory::new(width, delay));
        let of_window = |names: &[String]| trajectory.as_ref().map(|trajectory| trajectory.names(names));
        let names = Some(names).filter(|names| !names.is_empty());
        let windows = names.and_then(of_window);
        let names = windows.as_deref().or(names);
        let layout = match known {
            Some((model, layout)) => layout.check(model, shown, columns, names)?,
            None => {
                let (input_dimension, state_dimension) = arguments.making.dimensions(shown, columns)?;
                Layout { input_dimension, state_dimension, names: names.unwrap_or_default().to_vec() }
            }
        };
        let slow = pipe::is_one(path);
        Ok(Self { input, stop, slow, trajectory, layout, example: Example::default(), failed: None })
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Fills `chunk` with the next pairs; with none at the end, and when a signal has come: what it cut off is no row. If `many`,
    /// they are waited for even where they come slowly.
    ///
    /// # Errors
    /// When a row cannot be read; those before it were given by the call before.
    pub(super) fn fill(&mut self, chunk: &mut Chunk, many: bool) -> Result<(), Failure> {
        chunk.inputs.clear();
        chunk.outputs.clear();
        chunk.places.clear();
        let most = if self.slow && !many { 1 } else { CHUNK };
        while chunk.places.len() < most && self.failed.is_none() {
            match self.input.next(&mut self.example) {
                _ if self.stop.requested() => break,
                Ok(false) => break,
                Ok(true) => {}
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
            let row = &self.example.features;
            let pair = match &mut self.trajectory {
                None => Some(row.split_at(self.layout.input_dimension)),
                Some(trajectory) => trajectory.push(row),
            };
            let Some((x, x_plus)) = pair else { continue };
            chunk.inputs.extend_from_slice(x);
            chunk.outputs.extend_from_slice(x_plus);
            chunk.places.push(self.input.place());
        }
        match self.failed.take_if(|_| chunk.places.is_empty()) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Where pair `index` of `chunk` comes from, for a message.
    pub(super) fn place(&self, chunk: &Chunk, index: usize) -> String {
        format!("{}, {}", self.input.shown(), chunk.places[index])
    }
}

/// A table without a target, complete.
pub(super) fn open(path: &Path, dialect: &Dialect, stop: &Stop, time: Option<&ColumnChoice>) -> Result<Input, Failure> {
    open_with(path, dialect, stop, time, Missing::default())
}

/// A table without a target, which may have gaps.
pub(super) fn open_with(
    path: &Path,
    dialect: &Dialect,
    stop: &Stop,
    time: Option<&ColumnChoice>,
    missing: Missing,
) -> Result<Input, Failure> {
    let source = Source::of(path)?;
    if let Source::Named(name) = source {
        return Err(Failure::usage(format!("{name} is a data set of examples with targets; give a file of pairs")));
    }
    Input::plain(path, dialect, missing, stop, (time, &[]))
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
            // N may count the state and the action, or the action alone; the number of columns tells.
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
