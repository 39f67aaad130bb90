//! The ranges of the columns of `--scale-from`.

use std::path::Path;

use mercer_encoding::EncodingOptions;
use mercer_readers::{Ranges, ReadOptions, Scaling, Scheme};
use mercer_session::Row;

use crate::arguments::CommonArguments;
use crate::arguments::task::TaskOptions;
use crate::data::encoded_rows::{Looking, TableRanges};
use crate::data::input::Input;
use crate::data::reading::Reading;
use crate::data::source::{Source, TableColumns};
use crate::data::stop::Stop;
use crate::report::failure::Failure;

/// The ranges of the columns of another file than the data.
pub(crate) struct LearnedRanges {
    pub(crate) shown: String,
    pub(crate) columns: TableColumns,
    /// Ranges of columns that are numbers; nothing is known of columns that are encoded.
    pub(crate) ranges: Ranges,
    /// For a table the columns of which are encoded; `None` without --scale.
    pub(crate) table: Option<TableRanges>,
    /// Numbers in a target; 1 for a class.
    outputs: usize,
    /// Good rows.
    pub(crate) rows: usize,
}

impl LearnedRanges {
    /// The scaling of rows that are not encoded, by the ranges; refuses rows of other columns.
    pub(crate) fn scaling(&self, input: &Input, scheme: Option<Scheme>) -> Result<Option<Scaling>, Failure> {
        // Encoded columns are found by their names.
        let plain = !input.is_fixed();
        if plain {
            self.columns.check(&self.shown, input.columns(), input.shown())?;
        }
        let (ours, theirs) = (self.outputs, input.kind().outputs());
        if ours != theirs {
            return Err(Failure::because(format!(
                "{}: has {ours} targets and {} has {theirs}; take the ranges from data of the same columns",
                self.shown,
                input.shown()
            )));
        }
        Ok(scheme.filter(|_| plain).map(|scheme| Scaling::new(self.ranges.clone(), scheme)))
    }

    /// The ranges that `--scale-from` asks for; `skip_bad` leaves bad rows out.
    pub(crate) fn asked(told: &CommonArguments, skip_bad: bool) -> Result<Option<Self>, Failure> {
        let Some(path) = &told.scale_from else { return Ok(None) };
        if told.scale.scheme().is_none() {
            return Err(Failure::usage(
                "--scale-from tells the ranges but not where they go; add --scale paper01 or paper11",
            ));
        }
        Self::from(path, told, skip_bad).map(Some)
    }

    /// Reads the file of `--scale-from`, one row in memory at a time; `skip_bad` leaves bad rows
    /// out.
    pub(crate) fn from(path: &Path, told: &CommonArguments, skip_bad: bool) -> Result<Self, Failure> {
        let source = Source::resolve(path)?;
        let shown = source.to_string();
        let looking = match source {
            Source::Named(_) => Looking::default(),
            Source::StandardInput => {
                return Err(Failure::usage("--scale-from must be a file, since standard input can be read only once"));
            }
            Source::File(_) => {
                Looking { options: EncodingOptions::default(), skips: skip_bad, ..Looking::of(told, &source)? }
            }
        };
        let reading = Reading::from_options(told, path, TaskOptions::from_arguments(told), looking);
        let options = ReadOptions { libsvm_dimension: None, ..reading.options };
        let reading = Reading { options, given: None, aloud: false, ..reading };
        let mut input = reading.open(&Stop::never(), || ())?;
        let dimension = input.columns().dimension;
        let outputs = input.kind().outputs();
        let encoded = input.encoding().is_some();
        let mut ranges = Ranges::several(dimension, outputs);
        let mut table = told.scale.scheme().map(|scheme| match input.encoding() {
            Some(encoding) => TableRanges::of_schema(encoding.schema(), input.kind(), scheme),
            None => TableRanges::of_numbers(input.columns().features(), input.kind(), scheme),
        });
        let (mut sample, mut rows) = (Row::default(), 0);
        loop {
            let read = input.next_sample(&mut sample);
            let Row { example, .. } = &sample;
            match read {
                Ok(true) if encoded => {}
                Ok(true) => ranges.observe(&example.features, &example.targets)?,
                Ok(false) => {
                    return Ok(Self { shown, columns: input.columns().clone(), ranges, table, outputs, rows });
                }
                Err(error) if skip_bad && error.concerns_one_row() => continue,
                Err(error) => return Err(error.into()),
            }
            table.iter_mut().for_each(|table| table.observe(&sample));
            rows += 1;
        }
    }
}
