//! The options for reading DATA, and the one place where it is opened.

use std::path::Path;

use mercer_core::TokenUse;
use mercer_datasets::Registry;
use mercer_encoding::Scale;
use mercer_readers::{ColumnChoice, Format, ReadOptions, RowReader, TargetColumn};

use crate::arguments::CommonArguments;
use crate::arguments::common::whole;
use crate::arguments::dialect::{self, Dialect};
use crate::arguments::task::TaskOptions;
use crate::data::encoded_rows::{self, ColumnSource, EncodedRows, Looking};
use crate::data::input::{Input, not_scaled};
use crate::data::opening::Opening;
use crate::data::source::{Source, not_among};
use crate::data::stop::Stop;
use crate::report::failure::Failure;

/// The way to read DATA.
#[derive(Clone)]
pub(crate) struct Reading<'a> {
    pub(crate) data: &'a Path,
    /// The form of the file, and the roles of its columns.
    pub(crate) options: ReadOptions,
    /// The options that decide if targets are classes.
    pub(crate) wanted: TaskOptions,
    pub(crate) columns: Reads<'a>,
    /// An option that is not for data sets with names, if one is given.
    pub(crate) given: Option<&'static str>,
    /// True if a person is told what is found: not of a second reading.
    pub(crate) aloud: bool,
}

/// Treatment of columns that are not numbers.
#[derive(Clone)]
pub(crate) enum Reads<'a> {
    /// They are refused; this target must be there although it is not looked at.
    Numbers(Option<&'a TargetColumn>),
    /// The first rows tell.
    Looks(Looking),
    /// By a model that knows them.
    Knows(ColumnSource<'a>),
}

impl<'a> Reading<'a> {
    /// As the options have it for DATA, or for another file of the same columns.
    pub(crate) fn from_options(
        common: &CommonArguments,
        data: &'a Path,
        wanted: TaskOptions,
        looking: Looking,
    ) -> Self {
        let CommonArguments { dialect, target, ignore, weight, .. } = common;
        let options = ReadOptions {
            target: target.clone().unwrap_or_default(),
            ignore: whole(ignore),
            weight: weight.clone(),
            targets: wanted.targets(),
            libsvm_tokens: looking.options.tokens == TokenUse::WithTexts,
            libsvm_dimension: common.dimension.map(usize::from).or(looking.tokens_alone.then_some(0)),
            unlabelled: common.groups.labels.label_id.is_some(),
            permute: common.permute.filter(|_| data == common.data),
            ..ReadOptions::default()
        };
        let given = for_files(target.is_some(), dialect, ignore, weight.is_some()).or(common.groups.given());
        let dialect = if data == common.data { dialect.clone() } else { dialect.clone().beside(data) };
        let (options, columns) = (dialect.told(data, options), Reads::Looks(looking));
        Self { data, options, wanted, columns, given, aloud: true }
    }

    /// DATA as it is to be read; `idle` is called whenever a pipe has nothing to read.
    pub(crate) fn open(&self, stop: &Stop, idle: impl FnMut() + Send + 'static) -> Result<Input, Failure> {
        let input = self.opened(stop, idle)?;
        Ok(if self.aloud { input } else { input.silent() })
    }

    fn opened(&self, stop: &Stop, idle: impl FnMut() + Send + 'static) -> Result<Input, Failure> {
        let Self { data, options, wanted, .. } = self;
        let source = Source::resolve(data)?;
        let shown = source.to_string();
        if let Source::Named(name) = source {
            refuse_for_named(name, self.given)?;
            let table = Registry::load()?.open(name)?;
            let table = if let Some(seed) = options.permute { table.permuted(seed) } else { table };
            return match &self.columns {
                Reads::Looks(looking) if looking.options.scale != Scale::None => {
                    let scaled = EncodedRows::of_named(name, &table, looking, *wanted)?;
                    let encoded = scaled.ok_or_else(|| not_scaled(name, looking.options.scale))?;
                    Ok(Input::of_encoded(shown, encoded))
                }
                Reads::Knows(known) => {
                    let encoded = EncodedRows::known(&shown, RowReader::of_table(&table)?, known, self.aloud)?;
                    Ok(Input::of_encoded(shown, encoded))
                }
                Reads::Looks(_) | Reads::Numbers(_) => Input::of_table(shown, table, *wanted),
            };
        }
        let opening = Opening::new(data, stop, idle)?;
        match &self.columns {
            Reads::Numbers(target) => {
                target.map_or(Ok(()), |target| check_target(&opening, options, target))?;
                let reader = opening.rows(options)?;
                dialect::tell_doubt(reader.doubt().filter(|_| self.aloud));
                Input::of_reader(shown, reader, *wanted)
            }
            Reads::Looks(looking) => {
                let looking = Looking { at_once: looking.at_once && opening.is_pipe(), ..looking.clone() };
                Input::look(opening, options, &looking, *wanted, !self.aloud)
            }
            Reads::Knows(known) => {
                let schema = known.encoding.schema();
                let columns = schema.columns().iter().map(|column| column.name.clone());
                let known_names = if schema.is_named() { columns.collect() } else { Vec::new() };
                let options = ReadOptions { known: known_names, later_keys: true, ..options.clone() };
                let records = opening.last_records(&options)?;
                Ok(Input::of_encoded(shown.clone(), EncodedRows::known(&shown, records, known, self.aloud)?))
            }
        }
    }
}

/// Refuses a target that is not there.
fn check_target(opening: &Opening, options: &ReadOptions, target: &TargetColumn) -> Result<(), Failure> {
    let whole = ReadOptions { features: Vec::new(), ignore: Vec::new(), ..options.clone() };
    // What cannot be read tells why when it is.
    let Ok(records) = opening.records(&whole) else { return Ok(()) };
    if options.format == Some(Format::Libsvm)
        || encoded_rows::targets(target, records.columns().len(), records.feature_names()).is_some()
    {
        return Ok(());
    }
    let why = not_among(records.columns());
    Err(Failure::because(format!("{}: --target {target}: {why}", opening.shown())))
}

/// The option that only files need to be told, if one is given.
pub(crate) fn for_files(
    target: bool,
    dialect: &Dialect,
    ignore: &[ColumnChoice],
    weight: bool,
) -> Option<&'static str> {
    let given = [("--target", target), ("--ignore", !ignore.is_empty()), ("--weight", weight)];
    dialect.given().or(given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option))
}

/// Refuses such an option beside the name of a data set.
pub(crate) fn refuse_for_named(name: &str, given: Option<&str>) -> Result<(), Failure> {
    match given {
        None => Ok(()),
        Some(option) => Err(Failure::usage(format!(
            "{name}: {option} is for files; a data set's name settles it, so leave {option} out, or give the path of a file"
        ))),
    }
}
