//! The examples of an evaluation, in their order, scaled, a few hundred at a time.
//!
//! Data that nothing needs as a whole are streamed: memory does not grow with their length (65,536 rows at most are read ahead). Scaling by their own ranges,
//! permuting, and a formula in T whose value `--rows` does not give need them in memory.

use std::collections::VecDeque;
use std::fmt;

use mercer::data::{Dataset, Format, Ranges, ReadOptions, Registry, RowReader, Scaling, permutation, read_all};

use super::EvalArguments;
use super::failure::Failure;
use super::source::{Columns, Learned, Source};

/// Rows handed out at once, or the next multiple of the block: enough for the median heuristic (200), and for the clock to be
/// read seldom.
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
    chunk: usize,
    block: usize,
    ahead: Ahead,
}

/// The first rows of a stream that is learnt in blocks, read before the first is learnt: if it ends among them, its length is
/// known.
#[derive(Default)]
struct Ahead {
    features: Vec<f64>,
    rows: VecDeque<(f64, Place)>,
    /// Features handed out.
    used: usize,
    ended: bool,
}

/// Rows read ahead at most: as many as a [`Trace`](super::trace::Trace) records exactly.
const AHEAD: usize = 1 << 16;
/// Numbers read ahead at most (64 MiB).
const AHEAD_NUMBERS: usize = 1 << 23;

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
        let source = Source::of(&arguments.common.data)?;
        let scheme = arguments.common.scale.scheme();
        let learned = match (&arguments.common.scale_from, scheme) {
            (None, _) => None,
            (Some(_), None) => {
                return Err(Failure::usage(
                    "--scale-from tells the ranges but not where they go; add --scale paper01 or paper11",
                ));
            }
            (Some(path), Some(_)) => Some(Learned::from(path, &arguments.common, false)?),
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
            format: arguments.common.format,
            target: arguments.common.target.clone().unwrap_or_default(),
            ignore: arguments.common.ignore.clone(),
            libsvm_dimension: (learned.as_ref().map(|learned| learned.columns.dimension))
                .or(arguments.common.dimension.map(usize::from)),
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
            None => Body::Stream(RowReader::open(&arguments.common.data, &options)?.into()),
        };
        let columns = body.columns();
        arguments.common.check_dimension(&shown, columns.dimension)?;
        let scaling = match (scheme, learned, &body) {
            (Some(scheme), Some(learned), _) => {
                learned.columns.check(&learned.shown, &columns, &shown)?;
                Some(Scaling::new(learned.ranges, scheme))
            }
            (Some(scheme), None, Body::Table { table, .. }) => Some(Scaling::new(Ranges::of(table), scheme)),
            // A scheme without ranges of another file is a reason to read a table.
            (Some(_), None, Body::Stream(_)) | (None, _, _) => None,
        };
        let limit = arguments.common.limit.map_or(usize::MAX, usize::from);
        let dimension = columns.dimension;
        let block = arguments.block.rows(matches!(source, Source::StandardInput), arguments.threads, dimension);
        let chunk = CHUNK.next_multiple_of(block);
        let ahead = Ahead::default();
        let mut feed = Self { shown, dimension, body, scaling, promised, limit, given: 0, chunk, block, ahead };
        if block > 1 && matches!(feed.body, Body::Stream(_)) {
            feed.read_ahead()?;
        }
        Ok(feed)
    }

    fn read_ahead(&mut self) -> Result<(), Failure> {
        let most = AHEAD.min(AHEAD_NUMBERS / (self.dimension + 1));
        let mut row = Vec::new();
        while self.ahead.rows.len() < most {
            let Some(read) = self.read(&mut row)? else {
                self.ahead.ended = true;
                break;
            };
            self.ahead.features.extend_from_slice(&row);
            self.ahead.rows.push_back(read);
        }
        Ok(())
    }

    /// How many rows there are in all, if that is known, be it because they were read ahead.
    pub(crate) fn length(&self) -> Option<usize> {
        self.rounds().or(self.ahead.ended.then_some(self.given))
    }

    /// How many rows there are at least: those that were read ahead if their number is not known.
    pub(crate) fn at_least(&self) -> usize {
        self.length().unwrap_or(self.given)
    }

    /// Rows that are learnt together; a whole number of blocks makes a chunk.
    pub(crate) fn block(&self) -> usize {
        self.block
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

    /// The next example as it was read, if there is one.
    fn read(&mut self, row: &mut Vec<f64>) -> Result<Option<(f64, Place)>, Failure> {
        if self.given == self.limit {
            return Ok(None);
        }
        let read = match &mut self.body {
            Body::Table { table, .. } if self.given == table.len() => None,
            Body::Table { table, order } => {
                let i = order.as_ref().map_or(self.given, |order| order[self.given]);
                row.clear();
                row.extend_from_slice(table.row(i));
                Some((table.target(i), Place::Row { row: i + 1, round: self.given + 1 }))
            }
            Body::Stream(reader) => match reader.next_row(row)? {
                None => {
                    if let Some(promised) = self.promised.filter(|promised| *promised != self.given) {
                        return Err(wrong_promise(&self.shown, promised, self.given));
                    }
                    None
                }
                Some(_) if self.promised == Some(self.given) => {
                    return Err(more_than_promised(&self.shown, self.given));
                }
                Some(target) => Some((target, Place::Line { line: reader.line(), row: self.given + 1 })),
            },
        };
        self.given += usize::from(read.is_some());
        Ok(read)
    }

    /// The next example, read ahead or read now.
    fn next(&mut self, row: &mut Vec<f64>) -> Result<Option<(f64, Place)>, Failure> {
        match self.ahead.rows.pop_front() {
            Some(read) => {
                row.clear();
                row.extend_from_slice(&self.ahead.features[self.ahead.used..self.ahead.used + self.dimension]);
                self.ahead.used += self.dimension;
                Ok(Some(read))
            }
            None if self.ahead.ended => Ok(None),
            None => {
                // Memory that is not needed again.
                self.ahead.features = Vec::new();
                self.read(row)
            }
        }
    }

    /// Fills `chunk` with the next examples; with none at the end.
    pub(crate) fn fill(&mut self, chunk: &mut Chunk) -> Result<(), Failure> {
        let Chunk { features, targets, places, row } = chunk;
        features.clear();
        targets.clear();
        places.clear();
        while targets.len() < self.chunk {
            let Some((target, place)) = self.next(row)? else { break };
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
    let given = [
        ("--target", arguments.common.target.is_some()),
        ("--format", arguments.common.format.is_some()),
        ("--ignore", !arguments.common.ignore.is_empty()),
    ];
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
            "standard input: a libsvm stream tells its number of features only at its end; say it with --dimension N, or \
             --rows N, so that the stream may be kept in memory, or give a file",
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
