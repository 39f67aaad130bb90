//! The ranges of the columns of `--scale-from`.

use std::path::Path;

use mercer::encoding::EncodingOptions;
use mercer::readers::Ranges;

use super::CommonArguments;
use super::encoded::{Looking, Sample, TableRanges};
use super::failure::Failure;
use super::input::{Input, read_options};
use super::opening::Opening;
use super::source::{Columns, Source};
use super::stop::Stop;
use super::task::{Kind, Wanted};

/// The ranges of the columns of another file than the data.
pub(crate) struct Learned {
    pub(crate) shown: String,
    pub(crate) columns: Columns,
    /// Of numbers; nothing is known of columns that are encoded.
    pub(crate) ranges: Ranges,
    /// For a table the columns of which are encoded; `None` without --scale.
    pub(crate) table: Option<TableRanges>,
    /// Numbers in a target; 1 for a class.
    outputs: usize,
    /// Good rows.
    pub(crate) rows: usize,
}

impl Learned {
    /// Refuses ranges that are not those of the targets of data of this kind.
    pub(crate) fn check_outputs(&self, kind: Kind, shown: &str) -> Result<(), Failure> {
        let (ours, theirs) = (self.outputs, kind.outputs());
        if ours == theirs {
            return Ok(());
        }
        Err(Failure::because(format!(
            "{}: has {ours} targets and {shown} has {theirs}; take the ranges from data of the same columns",
            self.shown
        )))
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

    /// Reads the file of `--scale-from`, one row in memory at a time; `skip_bad` leaves bad rows out.
    pub(crate) fn from(path: &Path, told: &CommonArguments, skip_bad: bool) -> Result<Self, Failure> {
        let source = Source::of(path)?;
        let shown = source.to_string();
        let wanted = Wanted::of(told);
        let mut input = match source {
            Source::Named(name) => Input::named(name, &Looking::default(), wanted)?,
            Source::StandardInput => {
                return Err(Failure::usage("--scale-from must be a file, since standard input can be read only once"));
            }
            Source::File(_) => {
                let looking =
                    Looking { options: EncodingOptions::default(), skips: skip_bad, ..Looking::of(told, &source)? };
                let opening = Opening::of(path, &Stop::never(), || ())?;
                Input::look(opening, &read_options(told, path, wanted), &looking, wanted, true)?
            }
        };
        let dimension = input.columns().dimension;
        let outputs = input.kind().outputs();
        let encoded = input.encoding().is_some();
        let mut ranges = Ranges::several(dimension, outputs);
        let mut table = told.scale.scheme().map(|scheme| match input.encoding() {
            Some(encoding) => TableRanges::of_schema(encoding.schema(), input.kind(), scheme),
            None => TableRanges::of_numbers(input.columns().features(), input.kind(), scheme),
        });
        let (mut sample, mut rows) = (Sample::default(), 0);
        loop {
            let read = input.next_sample(&mut sample);
            let Sample { example, .. } = &sample;
            match read {
                Ok(true) if encoded => {}
                Ok(true) if input.kind().is_class() => ranges.observe_features(&example.features)?,
                Ok(true) => ranges.observe_targets(&example.features, &example.targets)?,
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
