//! The rows of many files in their order, with the same columns in all of them.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use mercer_encoding::Scale;
use mercer_readers::{
    ColumnChoice, DataError, Example, Format, Marks, ReadOptions, StoredObject, TargetColumn, Targets,
};
use mercer_session::model::{PartSource, digest_of};

use super::FitArguments;
use super::extra;
use super::frozen::{Frozen, check_classes, tell_zero_one};
use super::spool::Spool;
use super::stamps::Stamps;
use crate::arguments::common::whole;
use crate::arguments::dialect::Dialect;
use crate::arguments::task::TaskChoice;
use crate::arguments::task::TaskOptions;
use crate::data::input::{Input, not_scaled};
use crate::data::paths::expand;
use crate::data::reading::{Reading, Reads};
use crate::data::source::Source;
use crate::data::stop::Stop;
use crate::limits::FIRST_ROWS;
use crate::report::failure::Failure;
use crate::report::verbosity;

/// Files with the same columns.
pub(super) struct Files {
    paths: Vec<PathBuf>,
    /// The rows of the row groups of each, of Parquet.
    groups: Vec<Vec<u64>>,
    /// Pipes that were copied to files, which are in `paths` in their place.
    spools: Vec<Spool>,
    dialect: Dialect,
    /// For the first file.
    options: ReadOptions,
    /// The name by which the rows are known again, in place of the files' own.
    part: Option<String>,
    /// The encoding of the columns, if they are not numbers as they are.
    frozen: Option<Frozen>,
    /// True if there is a file that could have settled that.
    settled: bool,
    /// True if the target is a class.
    classes: bool,
    dimension: usize,
    /// 1 for a class.
    outputs: usize,
    features: Vec<String>,
    targets: Vec<String>,
}

/// Empty files that are named.
const MOST_EMPTY: usize = 5;

/// The rows of one file that are in a shard.
#[derive(Clone, Debug)]
pub(super) struct FilePart {
    pub(super) file: usize,
    /// Counted from 0; up to the end of the file for `u64::MAX`.
    pub(super) rows: Range<u64>,
}

/// Refuses what has no row. Whatever else is wrong with a row is said when it is summed up.
fn has_rows(mut input: Input) -> Result<(), Failure> {
    match input.next(&mut Example::default()) {
        Err(error @ (DataError::Empty { .. } | DataError::HeaderOnly { .. })) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Rows of a piece at least, and pieces of a file at most: each piece is opened anew.
const PIECE: u64 = 1 << 16;
const PIECES: u64 = 64;

/// Where pieces of row groups end, so that none is small.
fn cuts(groups: &[u64]) -> Vec<u64> {
    let all: u64 = groups.iter().sum();
    let least = PIECE.max(all / PIECES);
    let (mut ends, mut end) = (vec![0], 0);
    for rows in groups {
        end += rows;
        let begin = ends.last().copied().unwrap_or(0);
        if end - begin >= least {
            ends.push(end);
        }
    }
    if let Some(last) = ends.last_mut().filter(|last| **last < all) {
        *last = all;
    }
    ends.into_iter().filter(|end| *end > 0).collect()
}

impl Files {
    pub(super) fn open(arguments: &FitArguments) -> Result<Self, Failure> {
        let mut files = Self::named(arguments)?;
        if let Some(path) = &arguments.scale_from
            && let Some(frozen) = Frozen::learn(path, arguments, &files.told(path, &files.options))?
        {
            files.classes = frozen.kind().is_class();
            (files.dimension, files.outputs) = (frozen.encoding().dimension(), frozen.kind().outputs());
            files.targets = frozen.targets().to_vec();
            files.frozen = Some(frozen);
            files.tell_extra(path);
            files.check(None)?;
            return Ok(files);
        }
        if let (true, Some(path)) = (arguments.scale != Scale::None, &arguments.scale_from) {
            return Err(not_scaled(&path.display().to_string(), arguments.scale));
        }
        files.follow_leader(arguments)?;
        Ok(files)
    }

    /// The files that the arguments name, of which nothing is known yet.
    fn named(arguments: &FitArguments) -> Result<Self, Failure> {
        let options = ReadOptions {
            target: arguments.target.clone().unwrap_or_default(),
            ignore: whole(&arguments.ignore),
            weight: arguments.weight.clone(),
            targets: match arguments.task {
                Some(TaskChoice::Class) => Targets::Labels,
                Some(TaskChoice::Regression) => Targets::Numbers,
                None => Targets::Auto,
            },
            ..ReadOptions::default()
        };
        let mut files = Self {
            paths: expand(&arguments.data, |path| Format::from_path(path).is_some())?,
            groups: Vec::new(),
            spools: Vec::new(),
            dialect: arguments.dialect.clone(),
            options,
            part: arguments.part.clone(),
            frozen: None,
            settled: arguments.scale_from.is_some(),
            classes: false,
            dimension: 0,
            outputs: 0,
            features: Vec::new(),
            targets: Vec::new(),
        };
        files.spool()?;
        Ok(files)
    }

    /// Has the first file with rows settle for all what their columns and targets are.
    fn follow_leader(&mut self, arguments: &FitArguments) -> Result<(), Failure> {
        let (leader, input) = self.leader()?;
        let columns = input.columns();
        (self.dimension, self.outputs) = (columns.dimension, input.kind().outputs());
        (self.features, self.targets) = (columns.features().to_vec(), columns.targets().to_vec());
        // The order of columns is that of their names, so that shards merge whatever theirs was.
        self.features.sort_unstable();
        self.classes = input.kind().is_class();
        if self.classes && arguments.task.is_none() {
            let path = &self.paths[leader];
            check_classes(path, &self.told(path, &self.options))?;
        }
        if input.is_zero_one() && arguments.task.is_none() {
            tell_zero_one(input.shown());
        }
        self.options.targets = if self.classes { Targets::Labels } else { Targets::Numbers };
        if self.outputs == 0 {
            return Err(Failure::usage(format!("{}: has no target", self.shown(leader))));
        }
        self.tell_extra(&self.paths[leader]);
        self.check(Some(leader))
    }

    /// Tells which columns are left out because the file that settles what they are lacks them.
    fn tell_extra(&self, settles: &Path) {
        if self.spools.is_empty() {
            extra::tell(settles, &self.paths, |path| self.told(path, &self.options));
        }
    }

    /// Copies pipes to files, because a pipe can be read only once.
    fn spool(&mut self) -> Result<(), Failure> {
        for path in &mut self.paths {
            if let Some(spool) = Spool::of(path)? {
                verbosity::call(&spool.path().display().to_string(), spool.shown());
                *path = spool.path().to_owned();
                self.spools.push(spool);
            }
        }
        Ok(())
    }

    /// The first file that has rows, which says for all what the columns are.
    fn leader(&self) -> Result<(usize, Input), Failure> {
        let mut empty = None;
        for (file, path) in self.paths.iter().enumerate() {
            let opened = self.raw(path, &self.options, true);
            match opened.and_then(|input| self.raw(path, &self.options, false).and_then(has_rows).map(|()| input)) {
                Err(failure) if failure.is_of_no_rows() => empty = empty.or(Some(failure)),
                opened => return Ok((file, opened?)),
            }
        }
        Err(empty.unwrap_or_else(|| Failure::usage("give at least one file")))
    }

    /// Opens every file, so that what differs is said before the first row is summed up, and passes
    /// over those without rows, which engines write where a part is empty.
    fn check(&mut self, leader: Option<usize>) -> Result<(), Failure> {
        let (mut filled, mut empty, mut why) = (Vec::new(), Vec::new(), None);
        for (file, path) in self.paths.iter().enumerate() {
            let opened = self.rows(file).and_then(|input| {
                let groups = input.row_groups().to_vec();
                has_rows(input).map(|()| groups)
            });
            match opened {
                Ok(groups) => filled.push((path.clone(), groups)),
                // Whatever is wrong with a row is said when it is summed up.
                Err(_) if leader == Some(file) => filled.push((path.clone(), Vec::new())),
                Err(failure) if failure.is_of_no_rows() => {
                    empty.push(self.shown(file));
                    why = why.or(Some(failure));
                }
                Err(failure) => return Err(failure),
            }
        }
        let none = filled.is_empty();
        if !none {
            (self.paths, self.groups) = filled.into_iter().unzip();
        }
        let Some(why) = why else { return Ok(()) };
        if none {
            return Err(why);
        }
        let more = empty.len().saturating_sub(MOST_EMPTY);
        let listed = empty[..empty.len().min(MOST_EMPTY)].join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        verbosity::remark(format!("{listed}{more}: no row, passed over"));
        Ok(())
    }

    /// d.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Numbers in a target; 1 for a class.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// True if the target is a class.
    pub(super) fn are_classes(&self) -> bool {
        self.classes
    }

    /// The encoding of the columns, if they are not numbers as they are.
    pub(super) fn frozen(&self) -> Option<&Frozen> {
        self.frozen.as_ref()
    }

    /// The features' names in their order, if there are names.
    pub(super) fn features(&self) -> &[String] {
        &self.features
    }

    /// The names of the targets, if there are names.
    pub(super) fn targets(&self) -> &[String] {
        &self.targets
    }

    pub(super) fn shown(&self, file: usize) -> String {
        self.shown_path(&self.paths[file])
    }

    fn shown_path(&self, path: &Path) -> String {
        let spool = self.spools.iter().find(|spool| spool.path() == path);
        spool.map_or_else(|| path.display().to_string(), |spool| spool.shown().to_owned())
    }

    /// What tells later whether the files have stayed as they are.
    pub(super) fn stamps(&self) -> Stamps {
        Stamps::of(self.paths.iter().map(PathBuf::as_path))
    }

    /// Where a file's rows come from, for whoever merges.
    pub(super) fn source(&self, file: usize, rows: Range<u64>) -> Result<PartSource, Failure> {
        let path = &self.paths[file];
        let unread = |error| Failure::because(format!("{}: cannot be read ({error})", self.shown(file)));
        match Source::resolve(path)? {
            Source::Named(name) => Ok(PartSource::new(self.part.as_deref().unwrap_or(name), 0, rows)),
            _ if StoredObject::is_address(path) => {
                let object = StoredObject::open(path).map_err(unread)?;
                let name = self.part.clone().unwrap_or_else(|| self.shown(file));
                // By the store's name of this version, which says as much as its contents.
                let digest = match object.tag().map(|tag| format!("{tag} {}", object.length())) {
                    Some(tag) => digest_of(tag.as_bytes()),
                    None => digest_of(object),
                };
                Ok(PartSource::new(name, digest.map_err(unread)?, rows))
            }
            _ => {
                let digest = digest_of(File::open(path).map_err(unread)?).map_err(unread)?;
                let name = match (&self.part, self.spools.iter().find(|spool| spool.path() == path)) {
                    (Some(name), _) => name.clone(),
                    (None, Some(spool)) => spool.shown().to_owned(),
                    (None, None) => path.canonicalize().map_err(unread)?.display().to_string(),
                };
                Ok(PartSource::new(name, digest, rows))
            }
        }
    }

    /// The options with what is told of how the file is written.
    fn told(&self, path: &Path, options: &ReadOptions) -> ReadOptions {
        let of_first = self.paths.first().is_some_and(|first| first == path);
        let dialect = if of_first { self.dialect.clone() } else { self.dialect.clone().beside(path) };
        dialect.told(path, options.clone())
    }

    fn raw(&self, path: &Path, options: &ReadOptions, aloud: bool) -> Result<Input, Failure> {
        let shown = self.shown_path(path);
        // Numbers are numbers, also 0 and 1, unless the user says otherwise.
        let task = if options.targets == Targets::Labels { TaskChoice::Class } else { TaskChoice::Regression };
        let wanted = TaskOptions { task: Some(task), ..TaskOptions::default() };
        let (options, targets) = (self.told(path, options), options.targets);
        let reading = Reading { data: path, options, wanted, columns: Reads::Numbers(None), given: None, aloud };
        let input = reading.open(&Stop::never(), || ())?;
        let other = match (targets, input.kind().is_class()) {
            (Targets::Labels, false) => "several numbers and no class",
            (Targets::Numbers, true) => "a class and no number",
            _ => return Ok(input),
        };
        Err(Failure::because(format!(
            "{shown}: its target is {other}; give data with targets of one kind, or say with --task what they are"
        )))
    }

    /// Another file with the columns of the first: by their names, in any order, where both have
    /// names.
    fn like(&self, path: &Path) -> Result<Input, Failure> {
        if let Some(frozen) = &self.frozen {
            return frozen.open(path, &self.told(path, &self.options));
        }
        let mut options = self.options.clone();
        if !self.features.is_empty() {
            options.features = self.features.clone();
            options.known = self.features.clone();
            let choice = |name: &String| ColumnChoice::Name(name.clone());
            options.target = match &self.targets[..] {
                [] => options.target,
                [name] => TargetColumn::Name(name.clone()),
                names => TargetColumn::Several(names.iter().map(choice).collect()),
            };
        }
        if options.libsvm_dimension.is_none() {
            options.libsvm_dimension = Some(self.dimension);
        }
        let input = self.raw(path, &options, false)?;
        let (d, outputs) = (input.columns().dimension, input.kind().outputs());
        if (d, outputs) != (self.dimension, self.outputs) {
            return Err(Failure::because(format!(
                "{}: has {d} features and {outputs} targets, and {} has {} and {}; give files with the same columns",
                input.shown(),
                self.shown(0),
                self.dimension,
                self.outputs
            )));
        }
        Ok(input)
    }

    /// The rows of a file.
    fn rows(&self, file: usize) -> Result<Input, Failure> {
        self.like(&self.paths[file])
    }

    /// The marks in the numbers of the first rows.
    pub(super) fn marks(&self) -> Result<Marks, Failure> {
        let (mut rows, mut example) = (self.rows(0)?, Example::default());
        // What cannot be read is told when it is summed up.
        for _ in 0..FIRST_ROWS {
            if !matches!(rows.next(&mut example), Ok(true)) {
                break;
            }
        }
        Ok(rows.marks())
    }

    /// Why a row cannot be read, and what to do where a column is not numbers.
    pub(super) fn unreadable(&self, error: DataError) -> Failure {
        let cell = match &error {
            DataError::NotANumber { cell, .. } | DataError::EmptyCell { cell, .. } => cell,
            _ => return error.into(),
        };
        if self.frozen.is_some() || cell.column.name.as_ref().is_none_or(|name| self.targets.contains(name)) {
            return error.into();
        }
        let why = if self.settled {
            "the file of --scale-from holds complete rows of numbers, so nothing is encoded"
        } else {
            "--scale-from FILE encodes columns of text and missing cells, in all shards alike"
        };
        Failure::because(format!("{error}; {why}"))
    }

    /// The rows of a part from its beginning; empty where the file ends before.
    pub(super) fn part(&self, part: &FilePart) -> Result<Input, Failure> {
        let mut rows = self.rows(part.file)?;
        rows.skip(part.rows.start)?;
        Ok(match &self.frozen {
            Some(frozen) => frozen.counted(rows),
            None => rows,
        })
    }

    /// Tells what was left out of a part whose rows tell nothing at their end.
    pub(super) fn tell_left_out(&self, part: &FilePart, rows: &Input) {
        if self.frozen.is_some() {
            let shown = self.shown(part.file);
            rows.left_out().iter().for_each(|line| verbosity::say_once(format!("{shown}: {line}")));
        }
    }

    /// The same parts, cut where row groups of Parquet end, so that several threads read a file.
    /// The cuts do not depend on the threads.
    pub(super) fn pieces(&self, parts: &[FilePart]) -> Vec<FilePart> {
        let mut pieces = Vec::new();
        for part in parts {
            let ends = cuts(&self.groups[part.file]);
            if ends.len() < 2 {
                pieces.push(part.clone());
                continue;
            }
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let rows = starts.zip(&ends).map(|(start, end)| part.rows.start.max(start)..part.rows.end.min(*end));
            let whole = rows.filter(|rows| rows.start < rows.end);
            pieces.extend(whole.map(|rows| FilePart { file: part.file, rows }));
        }
        pieces
    }

    /// The parts of shard `index` of `of`. More shards than one are cut by counting all rows first.
    pub(super) fn shard(&self, index: u64, of: u64) -> Result<Vec<FilePart>, Failure> {
        if of == 1 {
            return Ok((0..self.paths.len()).map(|file| FilePart { file, rows: 0..u64::MAX }).collect());
        }
        let counts: Vec<u64> =
            (0..self.paths.len()).map(|file| Ok(self.rows(file)?.skip(u64::MAX)?)).collect::<Result<_, Failure>>()?;
        let total: u128 = counts.iter().map(|count| u128::from(*count)).sum();
        let cut = |index: u64| (total * u128::from(index) / u128::from(of)) as u64;
        let (from, to) = (cut(index), cut(index + 1));
        let (mut parts, mut before) = (Vec::new(), 0);
        for (file, count) in counts.into_iter().enumerate() {
            let (start, end) = (from.max(before), to.min(before + count));
            if start < end {
                parts.push(FilePart { file, rows: start - before..end - before });
            }
            before += count;
        }
        Ok(parts)
    }

    /// The features of the first rows of another file, `most` of them.
    pub(super) fn first_rows(&self, path: &Path, most: usize) -> Result<Vec<f64>, Failure> {
        let (mut rows, mut example) = (self.like(path)?, Example::default());
        let mut first = Vec::new();
        while first.len() / self.dimension.max(1) < most && rows.next(&mut example)? {
            first.extend_from_slice(&example.features);
        }
        Ok(first)
    }
}
