//! The rows of PAIRS, cut into x and x⁺.

use std::path::Path;

use mercer::data::{Format, ReadOptions, RowReader, TargetColumn};

use super::KoopmanArguments;
use crate::cli::failure::Failure;
use crate::cli::source::Source;

/// Rows handed out at once: enough for the median heuristic (200), and for the clock to be read seldom.
const CHUNK: usize = 256;

/// A stream of pairs; memory does not grow with its length.
pub(super) struct Pairs {
    shown: String,
    reader: RowReader,
    input_dimension: usize,
    state_dimension: usize,
    row: Vec<f64>,
    given: usize,
}

/// Some pairs; the memory is used again for the next.
#[derive(Default)]
pub(super) struct Chunk {
    /// Row by row.
    pub(super) inputs: Vec<f64>,
    /// Row by row.
    pub(super) outputs: Vec<f64>,
    /// Line and number (from 1) of each row.
    places: Vec<(u64, usize)>,
}

impl Chunk {
    pub(super) fn rows(&self) -> usize {
        self.places.len()
    }

    pub(super) fn iter(&self, pairs: &Pairs) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.inputs.chunks_exact(pairs.input_dimension).zip(self.outputs.chunks_exact(pairs.state_dimension))
    }
}

impl Pairs {
    pub(super) fn open(arguments: &KoopmanArguments) -> Result<Self, Failure> {
        let (shown, reader) = open(&arguments.pairs, arguments.format)?;
        let (state_dim, input_dim) = (arguments.state_dim.map(usize::from), arguments.input_dim.map(usize::from));
        let (input_dimension, state_dimension) = dimensions(&shown, reader.dimension(), state_dim, input_dim)?;
        Ok(Self { shown, reader, input_dimension, state_dimension, row: Vec::new(), given: 0 })
    }

    /// Numbers of x.
    pub(super) fn input_dimension(&self) -> usize {
        self.input_dimension
    }

    /// Numbers of x⁺.
    pub(super) fn state_dimension(&self) -> usize {
        self.state_dimension
    }

    /// Names of all columns: the file's own, or x1, x2, … and next1, next2, ….
    pub(super) fn names(&self) -> Vec<String> {
        let own = self.reader.feature_names().map(<[String]>::to_vec);
        own.unwrap_or_else(|| {
            let inputs = (1..=self.input_dimension).map(|i| format!("x{i}"));
            inputs.chain((1..=self.state_dimension).map(|i| format!("next{i}"))).collect()
        })
    }

    /// Fills `chunk` with the next pairs; with none at the end.
    pub(super) fn fill(&mut self, chunk: &mut Chunk) -> Result<(), Failure> {
        chunk.inputs.clear();
        chunk.outputs.clear();
        chunk.places.clear();
        while chunk.places.len() < CHUNK && self.reader.next_features(&mut self.row)? {
            self.given += 1;
            let (x, x_plus) = self.row.split_at(self.input_dimension);
            chunk.inputs.extend_from_slice(x);
            chunk.outputs.extend_from_slice(x_plus);
            chunk.places.push((self.reader.line(), self.given));
        }
        Ok(())
    }

    /// Where pair `index` of `chunk` comes from, for a message.
    pub(super) fn place(&self, chunk: &Chunk, index: usize) -> String {
        let (line, row) = chunk.places[index];
        format!("{}, line {line} (row {row})", self.shown)
    }
}

/// A table without a target, and how it is called in messages.
pub(super) fn open(path: &Path, format: Option<Format>) -> Result<(String, RowReader), Failure> {
    let source = Source::of(path)?;
    let shown = source.to_string();
    if let Source::Named(name) = source {
        return Err(Failure::usage(format!("{name} is a data set of examples with targets; give a file of pairs")));
    }
    if format.or_else(|| Format::from_path(path)) == Some(Format::Libsvm) {
        return Err(Failure::usage(format!(
            "{shown}: a libsvm row has a target; write the numbers as csv, tsv or ndjson"
        )));
    }
    let options = ReadOptions { format, target: TargetColumn::None, ..ReadOptions::default() };
    Ok((shown, RowReader::open(path, &options)?))
}

/// Numbers of x and of x⁺ in rows of `columns` numbers.
fn dimensions(
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
            "which are not two halves x and x⁺; say with --state-dim and --input-dim how many numbers each has"
                .to_owned(),
        ),
        (None, Some(state)) if columns == 2 * state => Ok((state, state)),
        (None, Some(state)) => refused(format!(
            "but a pair of states of --state-dim {state} has {}; correct it, or add --input-dim if x carries an action",
            2 * state
        )),
        (Some(input), Some(state)) => {
            // N may count the state and the action, or the action alone; the number of columns tells.
            let acting = [input, state + input].into_iter().find(|x| *x >= state && x + state == columns);
            match acting {
                Some(x) => Ok((x, state)),
                None => refused(format!(
                    "but --input-dim {input} and --state-dim {state} make {}, or {} if the action alone has {input}; correct them",
                    input + state,
                    input + 2 * state
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
