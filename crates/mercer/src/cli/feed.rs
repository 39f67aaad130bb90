//! The examples of an evaluation, in their order, scaled, a few hundred at a time.
//!
//! Data that nothing needs as a whole are streamed: memory does not grow with their length. Scaling by their own ranges,
//! permuting, and a formula in T whose value `--rows` does not give need them in memory.

use std::fmt;

use mercer::data::{Dataset, Format, Ranges, ReadOptions, Registry, RowReader, Scaling, permutation, read_all};

use super::EvalArguments;
use super::failure::Failure;
use super::source::{Columns, Learned, Source};

/// Rows handed out at once: enough for the median heuristic (200), and for the clock to be read seldom.
const CHUNK: usize = 256;

pub(crate) struct Feed {
    shown: String,
    dimension: usize,
    body: Body,
    scaling: Option<Scaling>,
    /// Rows that `--rows` promises.
    promised: Option<usize>,
    limit: usize,
    given: usize,
}

enum Body {
    Table { table: Dataset, order: Option<Vec<usize>> },
    Stream(Box<RowReader>),
}

/// Some examples; the memory is used again for the next.
#[derive(Default)]
pub(crate) struct Chunk {
    /// Row by row.
    pub(crate) features: Vec<f64>,
    pub(crate) targets: Vec<f64>,
    places: Vec<Place>,
    row: Vec<f64>,
}

/// Where an example stands.
#[derive(Clone, Copy)]
enum Place {
    Line { line: u64, row: usize },
    Row { row: usize, round: usize },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, row } => write!(f, "line {line} (row {row})"),
            Self::Row { row, round } if row == round => write!(f, "row {row}"),
            Self::Row { row, round } => write!(f, "row {row} (row {round} of the permuted order)"),
        }
    }
}

impl Feed {
    /// `formula` is the first key whose value depends on T.
    pub(crate) fn open(arguments: &EvalArguments, formula: Option<&str>) -> Result<Self, Failure> {
        let source = Source::of(&arguments.data)?;
        let scheme = arguments.scale.scheme();
        let learned = match (&arguments.scale_from, scheme) {
            (None, _) => None,
            (Some(_), None) => {
                return Err(Failure::usage(
                    "--scale-from tells the ranges but not where they go; add --scale paper01 or paper11",
                ));
            }
            (Some(path), Some(_)) => Some(Learned::from(path, arguments)?),
        };
        let promised = arguments.rows.map(usize::from);
        let reason = if scheme.is_some() && learned.is_none() {
            Some("--scale without --scale-from".to_owned())
        } else if arguments.permute.is_some() {
            Some("--permute".to_owned())
        } else {
            formula.filter(|_| promised.is_none()).map(|key| format!("T in the value of {key}"))
        };
        let options = ReadOptions {
            format: arguments.format,
            target: arguments.target.clone().unwrap_or_default(),
            libsvm_dimension: learned.as_ref().map(|learned| learned.columns.dimension),
            ..ReadOptions::default()
        };
        let shown = source.to_string();
        let table = match source {
            Source::Named(name) => Some(open_named(name, arguments)?),
            Source::File(path) if reason.is_some() => Some(read_all(path, &options)?),
            Source::StandardInput => from_standard_input(reason.as_deref(), promised, &options)?,
            Source::File(_) => None,
        };
        let body = match table {
            Some(table) => {
                if let Some(promised) = promised.filter(|promised| *promised != table.len()) {
                    return Err(wrong_promise(&shown, promised, table.len()));
                }
                let order = arguments.permute.map(|seed| permutation(table.len(), seed));
                Body::Table { table, order }
            }
            None => Body::Stream(RowReader::open(&arguments.data, &options)?.into()),
        };
        let columns = body.columns();
        let scaling = match (scheme, learned, &body) {
            (Some(scheme), Some(learned), _) => {
                learned.columns.check(&learned.shown, &columns, &shown)?;
                Some(Scaling::new(learned.ranges, scheme))
            }
            (Some(scheme), None, Body::Table { table, .. }) => Some(Scaling::new(Ranges::of(table), scheme)),
            // A scheme without ranges of another file is a reason to read a table.
            (Some(_), None, Body::Stream(_)) | (None, _, _) => None,
        };
        let limit = arguments.limit.map_or(usize::MAX, usize::from);
        Ok(Self { shown, dimension: columns.dimension, body, scaling, promised, limit, given: 0 })
    }

    /// d.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// T, if it is known: how many rows will be given.
    pub(crate) fn rounds(&self) -> Option<usize> {
        let rows = match &self.body {
            Body::Table { table, .. } => Some(table.len()),
            Body::Stream(_) => self.promised,
        };
        rows.map(|rows| rows.min(self.limit))
    }

    /// Fills `chunk` with the next examples; with none at the end.
    pub(crate) fn fill(&mut self, chunk: &mut Chunk) -> Result<(), Failure> {
        let Chunk { features, targets, places, row } = chunk;
        features.clear();
        targets.clear();
        places.clear();
        while targets.len() < CHUNK && self.given < self.limit {
            let (target, place) = match &mut self.body {
                Body::Table { table, order } => {
                    if self.given == table.len() {
                        break;
                    }
                    let i = order.as_ref().map_or(self.given, |order| order[self.given]);
                    row.clear();
                    row.extend_from_slice(table.row(i));
                    (table.target(i), Place::Row { row: i + 1, round: self.given + 1 })
                }
                Body::Stream(reader) => match reader.next_row(row)? {
                    None => {
                        if let Some(promised) = self.promised.filter(|promised| *promised != self.given) {
                            return Err(wrong_promise(&self.shown, promised, self.given));
                        }
                        break;
                    }
                    Some(_) if self.promised == Some(self.given) => {
                        return Err(more_than_promised(&self.shown, self.given));
                    }
                    Some(target) => (target, Place::Line { line: reader.line(), row: self.given + 1 }),
                },
            };
            let target = match &self.scaling {
                None => target,
                Some(scaling) => scaling
                    .row(row)
                    .and_then(|()| scaling.target(target))
                    .map_err(|error| Failure::because(format!("{}, {place}: {error}", self.shown)))?,
            };
            features.extend_from_slice(row);
            targets.push(target);
            places.push(place);
            self.given += 1;
        }
        Ok(())
    }

    /// Where example `index` of `chunk` comes from, for a message.
    pub(crate) fn place(&self, chunk: &Chunk, index: usize) -> String {
        format!("{}, {}", self.shown, chunk.places[index])
    }
}

impl Body {
    fn columns(&self) -> Columns {
        match self {
            Self::Table { table, .. } => Columns::new(table.dimension(), table.feature_names(), table.target_name()),
            Self::Stream(reader) => Columns::new(reader.dimension(), reader.feature_names(), reader.target_name()),
        }
    }
}

fn open_named(name: &str, arguments: &EvalArguments) -> Result<Dataset, Failure> {
    let given = [("--target", arguments.target.is_some()), ("--format", arguments.format.is_some())];
    if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::usage(format!(
            "{name}: {option} is for files; a data set's name settles it, so leave {option} out, or give the path of a file"
        )));
    }
    Ok(Registry::load()?.open(name)?)
}

/// Standard input as a table, if something needs it whole.
fn from_standard_input(
    reason: Option<&str>,
    promised: Option<usize>,
    options: &ReadOptions,
) -> Result<Option<Dataset>, Failure> {
    let widthless = options.format == Some(Format::Libsvm) && options.libsvm_dimension.is_none();
    match (reason, promised) {
        (Some(reason), None) => Err(Failure::usage(format!(
            "standard input: {reason} needs to know how many rows there are; say it with --rows N, or give a file"
        ))),
        (None, None) if widthless => Err(Failure::usage(
            "standard input: a libsvm stream tells its number of features only at its end; say --rows N, so that it may be \
             kept in memory, or give a file",
        )),
        (_, Some(_)) if widthless => Ok(Some(read_all("-", options)?)),
        (Some(_), Some(promised)) => {
            let mut reader = RowReader::open("-", options)?;
            let table = reader.read_rows(promised)?;
            match reader.next_row(&mut Vec::new())? {
                Some(_) => Err(more_than_promised("standard input", promised)),
                None => Ok(Some(table)),
            }
        }
        (None, _) => Ok(None),
    }
}

fn wrong_promise(shown: &str, promised: usize, got: usize) -> Failure {
    Failure::because(format!("{shown}: has {}, but --rows says {promised}; correct --rows", rows(got)))
}

fn more_than_promised(shown: &str, promised: usize) -> Failure {
    Failure::because(format!("{shown}: has more than the {} that --rows says; correct --rows", rows(promised)))
}

fn rows(count: usize) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}
