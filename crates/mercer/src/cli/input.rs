//! Examples one by one, from a file, a pipe, or a data set with a name, whatever a row has beside its features: numbers, a class, a weight.
//!
//! Every command that learns from examples reads them here.

use std::path::Path;

use mercer::Loss;
use mercer::data::{
    ColumnChoice, DataError, Dataset, Example, Format, Labels, ReadOptions, Registry, RowReader, Targets, permutation,
    read_all,
};

use super::failure::Failure;
use super::source::{Columns, Source};
use super::{CommonArguments, TaskChoice};

/// What a row has as its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// So many numbers; none where rows are features alone.
    Numbers(usize),
    /// A class. If the first rows hold two classes alone that are 0 and 1, or −1 and 1, these are their names, in order.
    Class(Option<[&'static str; 2]>),
}

impl Kind {
    pub(crate) fn is_class(self) -> bool {
        matches!(self, Self::Class(_))
    }

    /// Numbers in a target, or 1 for a class.
    pub(crate) fn outputs(self) -> usize {
        match self {
            Self::Numbers(outputs) => outputs,
            Self::Class(_) => 1,
        }
    }
}

/// What decides whether targets are classes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// What `--task` says.
    pub(crate) task: Option<TaskChoice>,
    /// Whether the learner can do nothing but classify.
    pub(crate) only_classes: bool,
}

impl Wanted {
    /// What the options say, before the data are seen: a loss for classes makes a learner of classes.
    pub(crate) fn of(common: &CommonArguments) -> Self {
        let loss = |pair: &str| {
            let (key, value) = pair.split_once('=')?;
            value.trim().parse::<Loss>().ok().filter(|_| key.trim() == "loss")
        };
        let classifies = |loss: Loss| loss.is_margin() || loss == Loss::SOFTMAX;
        Self { task: common.task, only_classes: common.set.iter().filter_map(|pair| loss(pair)).any(classifies) }
    }

    /// Whether the options alone decide.
    pub(crate) fn is_told(self) -> bool {
        self.task.is_some() || self.only_classes
    }

    /// How targets are to be read until they have been looked at.
    pub(crate) fn targets(self) -> Targets {
        if self.task == Some(TaskChoice::Regression) { Targets::Numbers } else { Targets::Auto }
    }

    /// Whether numbers are classes: all are 0 or 1, or all −1 or 1.
    fn takes(self, zero_one: bool) -> bool {
        match self.task {
            Some(TaskChoice::Class) => true,
            Some(TaskChoice::Regression) => false,
            None => zero_one || self.only_classes,
        }
    }
}

fn two(zero_one: bool, signs: bool) -> Option<[&'static str; 2]> {
    if zero_one { Some(["0", "1"]) } else { signs.then_some(["-1", "1"]) }
}

/// The examples.
pub(crate) struct Input {
    shown: String,
    body: Body,
    kind: Kind,
    columns: Columns,
    weighted: bool,
    given: usize,
}

enum Body {
    Table { table: Dataset, order: Option<Vec<usize>> },
    Stream(Box<RowReader>),
}

/// Where an example stands.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Line { line: u64, row: usize },
    Row { row: usize, round: usize },
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line { line, row } => write!(f, "line {line} (row {row})"),
            Self::Row { row, round } if row == round => write!(f, "row {row}"),
            Self::Row { row, round } => write!(f, "row {row} (row {round} of the permuted order)"),
        }
    }
}

impl Input {
    /// The file, or standard input.
    pub(crate) fn open(path: &Path, options: &ReadOptions, wanted: Wanted) -> Result<Self, Failure> {
        let shown = Source::of(path)?.to_string();
        Self::of_reader(shown, RowReader::open(path, options)?, wanted)
    }

    /// The rows that a reader has before it.
    pub(crate) fn of_reader(shown: String, mut reader: RowReader, wanted: Wanted) -> Result<Self, Failure> {
        let kind = settle(&mut reader, wanted)?;
        let columns = Columns::of_reader(&reader);
        let weighted = reader.is_weighted();
        Ok(Self { shown, body: Body::Stream(reader.into()), kind, columns, weighted, given: 0 })
    }

    /// The data set of that name.
    pub(crate) fn named(name: &str, wanted: Wanted) -> Result<Self, Failure> {
        Self::of_table(name.to_owned(), Registry::load()?.open(name)?, wanted)
    }

    /// A table in memory.
    pub(crate) fn of_table(shown: String, table: Dataset, wanted: Wanted) -> Result<Self, Failure> {
        let all = |holds: &dyn Fn(f64) -> bool| !table.is_empty() && table.targets().iter().all(|y| holds(*y));
        let zero_one = all(&|y| y == 0.0 || y == 1.0);
        let kind = if table.classes().is_some() {
            Kind::Class(None)
        } else if table.outputs() == 1 && wanted.takes(zero_one) {
            Kind::Class(two(zero_one, all(&|y| y.abs() == 1.0)))
        } else {
            Kind::Numbers(table.outputs())
        };
        let columns = Columns::new(table.dimension(), table.feature_names(), table.target_names());
        let weighted = table.weights().is_some();
        Ok(Self { shown, body: Body::Table { table, order: None }, kind, columns, weighted, given: 0 })
    }

    /// All that is left of a stream, in memory; a stream of more than `promised` rows is refused.
    pub(crate) fn gather(self, promised: Option<usize>) -> Result<Self, Failure> {
        let Self { shown, body, kind, columns, weighted, given } = self;
        let body = match body {
            Body::Stream(mut reader) => {
                let table = reader.read_rows(promised.unwrap_or(usize::MAX))?;
                if let Some(promised) = promised
                    && reader.next_example(&mut Example::default())?
                {
                    return Err(more_than_promised(&shown, promised));
                }
                Body::Table { table, order: None }
            }
            table @ Body::Table { .. } => table,
        };
        Ok(Self { shown, body, kind, columns, weighted, given })
    }

    /// A libsvm stream, in memory: only its end tells how many features there are.
    pub(crate) fn widthless(options: &ReadOptions, wanted: Wanted) -> Result<Self, Failure> {
        let options = ReadOptions { targets: Targets::Numbers, ..options.clone() };
        Self::of_table("standard input".to_owned(), read_all("-", &options)?, wanted)
    }

    /// The rows of a table in the order that a seed gives.
    pub(crate) fn permute(&mut self, seed: u64) {
        if let Body::Table { table, order } = &mut self.body {
            *order = Some(permutation(table.len(), seed));
        }
    }

    /// The name for messages.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Whether rows have weights.
    pub(crate) fn is_weighted(&self) -> bool {
        self.weighted
    }

    /// The table, if the data are in memory.
    pub(crate) fn table(&self) -> Option<&Dataset> {
        match &self.body {
            Body::Table { table, .. } => Some(table),
            Body::Stream(_) => None,
        }
    }

    /// The names of all classes in sorted order, where that is known without reading on.
    pub(crate) fn classes(&self) -> Option<Vec<String>> {
        let table = match (&self.body, self.kind) {
            (_, Kind::Class(Some(two))) => return Some(two.map(str::to_owned).to_vec()),
            (Body::Table { table, .. }, Kind::Class(None)) => table,
            _ => return None,
        };
        if let Some(classes) = table.classes() {
            return Some(classes.to_vec());
        }
        let (mut labels, mut name) = (Labels::new(), String::new());
        for target in table.targets() {
            Labels::canonical_number(*target, &mut name);
            labels.insert(&name);
        }
        Some(sorted_names(&labels))
    }

    /// Puts the next row into `example`; false at the end.
    ///
    /// # Errors
    /// As [`RowReader::next_example`].
    pub(crate) fn next(&mut self, example: &mut Example) -> Result<bool, DataError> {
        let read = match &mut self.body {
            Body::Table { table, .. } if self.given == table.len() => Ok(false),
            Body::Table { table, order } => {
                let i = order.as_ref().map_or(self.given, |order| order[self.given]);
                let Example { features, targets, label, weight } = example;
                features.clear();
                features.extend_from_slice(table.row(i));
                targets.clear();
                label.clear();
                match (self.kind, table.label(i)) {
                    (Kind::Numbers(_), _) => targets.extend_from_slice(table.targets_of(i)),
                    (Kind::Class(_), Some(name)) => label.push_str(name),
                    (Kind::Class(_), None) => Labels::canonical_number(table.target(i), label),
                }
                *weight = table.weight(i);
                Ok(true)
            }
            Body::Stream(reader) => reader.next_example(example),
        };
        match &read {
            Ok(false) => {}
            Err(error) if !error.concerns_one_row() => {}
            Ok(true) | Err(_) => self.given += 1,
        }
        read
    }

    /// Where the row last read stands.
    pub(crate) fn place(&self) -> Place {
        match &self.body {
            Body::Table { order, .. } => {
                let last = self.given.saturating_sub(1);
                Place::Row { row: 1 + order.as_ref().map_or(last, |order| order[last]), round: self.given }
            }
            Body::Stream(reader) => Place::Line { line: reader.line(), row: self.given },
        }
    }

    /// The text of the row last read, as it stands in the file. What is in a table is good, and has none.
    pub(crate) fn record(&self) -> &[u8] {
        match &self.body {
            Body::Table { .. } => &[],
            Body::Stream(reader) => reader.record(),
        }
    }
}

/// What rows have as their target, and has them read so.
fn settle(reader: &mut RowReader, wanted: Wanted) -> Result<Kind, Failure> {
    let head = reader.target_head();
    let (zero_one, signs) = head.map_or((false, false), |head| (head.zero_one, head.signs));
    let several = reader.outputs() > 1;
    if reader.is_label() {
        return Ok(Kind::Class(two(zero_one, signs)));
    }
    if reader.outputs() == 0 || !wanted.takes(zero_one && !several) {
        return Ok(Kind::Numbers(reader.outputs()));
    }
    reader.read_labels()?;
    Ok(Kind::Class(two(zero_one, signs)))
}

/// The names of classes in sorted order.
pub(crate) fn sorted_names(labels: &Labels) -> Vec<String> {
    labels.sorted().into_iter().map(|class| labels.names()[class].clone()).collect()
}

/// How a user's options say that the data are to be read.
pub(crate) fn read_options(common: &CommonArguments, path: &Path, wanted: Wanted) -> ReadOptions {
    ReadOptions {
        format: if path == common.data { common.format } else { Format::from_path(path).or(common.format) },
        target: common.target.clone().unwrap_or_default(),
        ignore: common.ignore.clone(),
        weight: common.weight.clone(),
        targets: wanted.targets(),
        ..ReadOptions::default()
    }
}

/// Refuses what only files need to be told, beside the name of a data set.
pub(crate) fn refuse_for_named(
    name: &str,
    target: bool,
    format: bool,
    ignore: &[ColumnChoice],
    weight: bool,
) -> Result<(), Failure> {
    let given = [("--target", target), ("--format", format), ("--ignore", !ignore.is_empty()), ("--weight", weight)];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!(
            "{name}: {option} is for files; a data set's name settles it, so leave {option} out, or give the path of a file"
        ))),
    }
}

pub(crate) fn more_than_promised(shown: &str, promised: usize) -> Failure {
    Failure::because(format!("{shown}: has more than the {} that --rows says; correct --rows", rows(promised)))
}

pub(crate) fn rows(count: usize) -> String {
    format!("{count} row{}", if count == 1 { "" } else { "s" })
}
