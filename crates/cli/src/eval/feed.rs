//! The examples of an evaluation, in their order, a few hundred at a time.
//!
//! Data are streamed: memory does not grow with their length (65,536 rows at most are read ahead).

use std::collections::VecDeque;

use mercer_core::TokenRow;
use mercer_encoding::Encoding;
use mercer_learners::Inputs;
use mercer_readers::{Example, Format, Labels, Record};
use mercer_session::Row;

use crate::arguments::task::{Kind, TaskOptions};
use crate::data::bad_rows::BadRows;
use crate::data::encoded_rows::{EncodedRows, Looking, Oddities, RunningEncoding};
use crate::data::input::{ExamplePlace, Input, sorted_names};
use crate::data::pipe;
use crate::data::reading::Reading;
use crate::data::source::{Source, TableColumns};
use crate::data::stop::Stop;
use crate::eval::arguments::EvalArguments;
use crate::limits::first_rows;
use crate::model::learning::check_delay;
use crate::report::failure::{self, Failure};

pub(crate) struct ExampleFeed<'a> {
    input: Input,
    dimension: usize,
    /// Numbers in a target; 1 for a class.
    width: usize,
    limit: usize,
    given: usize,
    chunk: usize,
    block: usize,
    ahead: StreamHead,
    names: Names,
    /// The way to read DATA once more, if it is a file that is not in memory.
    again: Option<Reading<'a>>,
    /// Where rows are learnt in blocks, the encoding of their columns; and what was odd about them.
    running: Option<RunningEncoding>,
    odd: Oddities,
    sample: Row,
    bad: BadRows,
    stop: Stop,
}

/// The first rows of a stream that is learnt in blocks, read before the first is learnt: if it ends
/// among them, its length is known.
#[derive(Default)]
struct StreamHead {
    features: Vec<f64>,
    targets: Vec<f64>,
    rows: VecDeque<(f64, ExamplePlace)>,
    tokens: VecDeque<TokenRow>,
    /// Tokens of all rows.
    all_tokens: usize,
    /// Rows handed out.
    used: usize,
    ended: bool,
}

/// Rows read ahead at most: as many as a [`Trace`](crate::report::trace::Trace) records exactly.
const AHEAD: usize = 1 << 16;
/// Numbers read ahead at most (64 MiB).
const AHEAD_NUMBERS: usize = 1 << 23;
/// Tokens read ahead at most (64 MiB).
const AHEAD_TOKENS: usize = 1 << 22;

/// Some examples; the memory is used again for the next.
#[derive(Clone, Default)]
pub(crate) struct ExampleChunk {
    /// Row by row; none of records that are not encoded yet.
    pub(crate) features: Vec<f64>,
    /// One a row, where columns are to be encoded.
    pub(crate) records: Vec<Record>,
    /// Row by row: numbers, or the place of the label among [`ExampleFeed::texts`].
    pub(crate) targets: Vec<f64>,
    /// One a row; empty without a column of weights.
    pub(crate) weights: Vec<f64>,
    /// One a row; empty where the learner takes none.
    pub(crate) tokens: Vec<TokenRow>,
    /// One a row, by which its label comes; none where they come with their rows.
    ids: Vec<String>,
    places: Vec<ExamplePlace>,
}

impl ExampleChunk {
    /// The number of examples.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The inputs of rows `from..to`, of `dimension` numbers each.
    pub(crate) fn inputs(&self, from: usize, to: usize, dimension: usize) -> Inputs<'_> {
        Inputs { numbers: &self.features, tokens: &self.tokens }.range(from, to, dimension)
    }

    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }

    /// Encodes the records one after the other.
    pub(crate) fn encode(&mut self, running: &mut RunningEncoding, names: &Names) {
        self.features.clear();
        self.tokens.clear();
        for row in 0..self.records.len() {
            let mut example = Example::default();
            self.put_target(row, names, &mut example);
            // A record is as wide as the schema, so that nothing is refused.
            let _ = running.take(&self.records[row], &mut example, &mut self.features);
            self.tokens.extend(example.tokens);
        }
    }

    /// Puts the targets or the label of a row into `example`, and its weight.
    fn put_target(&self, row: usize, names: &Names, example: &mut Example) {
        let targets = self.targets_of(row);
        example.weight = self.weight(row);
        example.targets.clear();
        example.label.clear();
        match names.label(targets[0]) {
            Some(label) => example.label.push_str(label),
            None => example.targets.extend_from_slice(targets),
        }
    }

    /// Puts a row into `sample` as a session learns it.
    pub(crate) fn put_row(&self, row: usize, names: &Names, sample: &mut Row) {
        let Row { example, record, id } = sample;
        self.put_target(row, names, example);
        if let Some(known) = self.records.get(row) {
            record.clone_from(known);
            id.clear();
            id.push_str(self.ids.get(row).map_or("", String::as_str));
            return;
        }
        let d = self.features.len() / self.len();
        example.features.clear();
        example.features.extend_from_slice(&self.features[row * d..(row + 1) * d]);
        example.tokens = self.tokens.get(row).cloned();
    }

    /// The targets of a row.
    pub(crate) fn targets_of(&self, row: usize) -> &[f64] {
        let width = self.targets.len() / self.len();
        &self.targets[row * width..(row + 1) * width]
    }

    /// The place of a row.
    pub(crate) fn place_of(&self, row: usize) -> ExamplePlace {
        self.places[row]
    }
}

/// The names of rows in messages, and the labels that they have.
#[derive(Clone)]
pub(crate) struct Names {
    shown: String,
    texts: Labels,
    /// True if targets are classes.
    of_classes: bool,
}

impl Names {
    /// The label that a target is, if it is one; empty for one that is missing.
    pub(crate) fn label(&self, target: f64) -> Option<&str> {
        let text = Some(target).filter(|target| !target.is_nan()).and_then(|target| self.texts.get(target as usize));
        self.of_classes.then(|| text.unwrap_or_default())
    }

    /// Where example `index` of `chunk` comes from, for a message.
    pub(crate) fn place(&self, chunk: &ExampleChunk, index: usize) -> String {
        format!("{}, {}", self.shown, chunk.places[index])
    }
}

/// DATA, and how they can be read once more, if they are a file that is not in memory.
fn opened<'a>(arguments: &'a EvalArguments, stop: &Stop) -> Result<(Input, Option<Reading<'a>>), Failure> {
    let common = &arguments.common;
    let source = Source::resolve(&common.data)?;
    let looking = Looking { skips: arguments.on_error.skips()?, ..Looking::of(common, &source)? };
    let reading = Reading::from_options(common, &common.data, TaskOptions::from_arguments(common), looking);
    if let (Source::StandardInput, Some(Format::Libsvm), None) =
        (&source, reading.options.format, reading.options.libsvm_dimension)
    {
        if common.permute.is_none() {
            return Err(Failure::usage(
                "standard input: a libsvm stream tells its number of features only at its end; say it with --dimension N, or \
                 give a file",
            ));
        }
        return Ok((Input::widthless(&reading.options, reading.wanted)?, None));
    }
    let input = reading.open(stop, || ())?;
    // A pipe cannot be read again.
    let again = matches!(source, Source::File(path) if !pipe::is_one(path));
    let again = again.then_some(Reading { aloud: false, ..reading });
    Ok((input, again))
}

impl<'a> ExampleFeed<'a> {
    /// The encoding of columns that are yet to be encoded, as the first rows have it.
    pub(crate) fn encoding(&self) -> Option<&Encoding> {
        self.input.encoding().filter(|_| self.running.is_none())
    }

    /// The place in the schema of the column that names groups, if one does.
    pub(crate) fn group(&self) -> Option<usize> {
        self.input.encoded().and_then(EncodedRows::group)
    }

    /// The place in the schema of the target, if there is one alone.
    pub(crate) fn target(&self) -> Option<usize> {
        self.input.encoded().and_then(EncodedRows::target)
    }

    /// The columns that were encoded and how many cells were odd, as JSON; people are told, too.
    pub(crate) fn facts(&self) -> Option<(serde_json::Value, serde_json::Value)> {
        self.running.as_ref().map(|running| self.odd.facts(&running.encoding))
    }

    /// DATA from their first row on.
    pub(crate) fn open(arguments: &'a EvalArguments, stop: &Stop) -> Result<Self, Failure> {
        let common = &arguments.common;
        let (mut input, again) = opened(arguments, stop)?;
        input.watch_order();
        if let Some(delay) = common.label_delay {
            check_delay(delay, input.encoding().map(Encoding::schema))?;
        }
        let dimension = input.columns().dimension;
        common.check_dimension(input.shown(), dimension)?;
        let by_rows = arguments.is_single() || arguments.columns.iter().any(|column| column == "size");
        let standard_input = matches!(Source::resolve(&common.data)?, Source::StandardInput);
        let encoding = input.encoding().filter(|_| !arguments.is_single()).cloned();
        let running = encoding.map(|encoding| RunningEncoding::new(encoding, input.kind()));
        let block = if by_rows { 1 } else { arguments.block.rows(standard_input, arguments.threads, dimension) };
        let streamed = input.table().is_none();
        let of_classes = input.kind().is_class();
        let names = Names { shown: input.shown().to_owned(), texts: Labels::new(), of_classes };
        let mut feed = Self {
            dimension,
            width: input.kind().outputs(),
            input,
            limit: common.limit.map_or(usize::MAX, usize::from),
            given: 0,
            // Enough for the median heuristic (200), and for the clock to be read seldom.
            chunk: first_rows(dimension).next_multiple_of(block),
            block,
            ahead: StreamHead::default(),
            names,
            again,
            running,
            odd: Oddities::default(),
            sample: Row::default(),
            bad: BadRows::new(&arguments.on_error)?,
            stop: stop.clone(),
        };
        if block > 1 && streamed {
            feed.read_ahead()?;
        }
        Ok(feed)
    }

    fn read_ahead(&mut self) -> Result<(), Failure> {
        let most = AHEAD.min(AHEAD_NUMBERS / (self.dimension + self.width));
        while self.ahead.rows.len() < most && self.ahead.all_tokens < AHEAD_TOKENS && !self.stop.requested() {
            let Some(place) = self.read()? else {
                self.ahead.ended = true;
                break;
            };
            let example = &mut self.sample.example;
            self.ahead.features.extend_from_slice(&example.features);
            self.ahead.targets.extend_from_slice(&example.targets);
            if let Some(tokens) = example.tokens.take() {
                self.ahead.all_tokens += tokens.tokens().count() + tokens.factors().len();
                self.ahead.tokens.push_back(tokens);
            }
            self.ahead.rows.push_back((example.weight, place));
        }
        Ok(())
    }

    /// The number of rows in all, if it is known, be it because they were read ahead.
    pub(crate) fn length(&self) -> Option<usize> {
        self.rounds().or(self.ahead.ended.then_some(self.given))
    }

    /// The least number of rows: those that were read ahead if their number is not known.
    pub(crate) fn at_least(&self) -> usize {
        self.length().unwrap_or(self.given)
    }

    /// The same where more than `enough` are too many: a file that may have so many is read once
    /// more, until they are counted.
    pub(crate) fn counted(&self, enough: Option<usize>) -> usize {
        let known = self.at_least();
        let (Some(enough), Some(again)) = (enough, &self.again) else { return known };
        let (path, options) = (again.data, &again.options);
        let size = std::fs::metadata(path).map_or(u64::MAX, |found| found.len());
        let is_text = matches!(options.format, Some(Format::Csv | Format::Tsv | Format::Ndjson));
        let plain = is_text && path.extension().is_some_and(|ending| ending != "gz" && ending != "zst");
        // A cell takes two bytes, with what separates it; encoding makes several numbers of one.
        let few = plain && self.input.encoding().is_none() && size / (2 * self.dimension as u64) <= enough as u64;
        if self.length().is_some() || known > enough || self.limit <= enough || few {
            return known;
        }
        let Ok(mut input) = again.open(&Stop::never(), || ()) else { return known };
        // What a row that cannot be read comes to is told when it is met.
        let (mut rows, mut sample, mut bad) = (0, Row::default(), self.bad.afresh());
        while rows <= enough.saturating_add(enough / 50)
            && matches!(next_good(&mut input, &mut sample, &mut bad), Ok(true))
        {
            rows += 1;
        }
        known.max(rows.min(self.limit))
    }

    /// Rows that are learnt together; a whole number of blocks makes a chunk.
    pub(crate) fn block(&self) -> usize {
        self.block
    }

    /// d.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(crate) fn kind(&self) -> Kind {
        self.input.kind()
    }

    pub(crate) fn columns(&self) -> &TableColumns {
        self.input.columns()
    }

    /// A remark on the order of the rows, if there is one.
    pub(crate) fn order_note(&self) -> Option<String> {
        self.input.order_note()
    }

    /// A remark on the rows that were left out, if there are any.
    pub(crate) fn left_out(&self) -> Option<String> {
        self.bad.report()
    }

    /// The names of the rows so far.
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// T, if it is known: how many rows will be given.
    pub(crate) fn rounds(&self) -> Option<usize> {
        self.input.length().map(|rows| rows.min(self.limit))
    }

    /// The names of all classes in sorted order: for a file, it is read once more; for standard
    /// input they are those met so far.
    pub(crate) fn survey(&self) -> Result<Vec<String>, Failure> {
        if let Some(classes) = self.input.classes() {
            return Ok(classes);
        }
        let Some(again) = &self.again else { return Ok(sorted_names(&self.names.texts)) };
        let mut labels = Labels::new();
        let mut sample = Row::default();
        let mut input = again.open(&Stop::never(), || ())?;
        let (mut left, mut bad) = (self.limit, self.bad.afresh());
        while left > 0 && next_good(&mut input, &mut sample, &mut bad)? {
            labels.insert(&sample.example.label);
            left -= 1;
        }
        Ok(sorted_names(&labels))
    }

    /// Reads the next example as it stands in the data, if there is one; a label is its place among
    /// the texts.
    fn read(&mut self) -> Result<Option<ExamplePlace>, Failure> {
        if self.given == self.limit {
            self.input.report_left_out();
            return Ok(None);
        }
        let read = next_good(&mut self.input, &mut self.sample, &mut self.bad)?;
        if !read {
            return Ok(None);
        }
        self.given += 1;
        let place = self.input.place();
        if let Some(running) = &mut self.running {
            let Row { example, record, .. } = &mut self.sample;
            let mut features = std::mem::take(&mut example.features);
            features.clear();
            // A record is as wide as the schema, so that nothing is refused.
            let _ = running.take(record, example, &mut features);
            example.features = features;
            tell_odd(&mut self.odd, &running.encoding, record, &self.names, place);
            record.clear();
        }
        if self.kind().is_class() {
            let Example { label, targets, .. } = &mut self.sample.example;
            targets.clear();
            targets.push(if label.is_empty() { f64::NAN } else { self.names.texts.insert(label) as f64 });
        }
        Ok(Some(place))
    }

    /// The next example, read ahead or read now.
    fn next(&mut self) -> Result<Option<ExamplePlace>, Failure> {
        let (d, m) = (self.dimension, self.width);
        match self.ahead.rows.pop_front() {
            Some((weight, place)) => {
                let (ahead, Example { features, targets, weight: w, tokens, .. }) =
                    (&mut self.ahead, &mut self.sample.example);
                *tokens = ahead.tokens.pop_front();
                let row = ahead.used;
                features.clear();
                features.extend_from_slice(&ahead.features[row * d..(row + 1) * d]);
                targets.clear();
                targets.extend_from_slice(&ahead.targets[row * m..(row + 1) * m]);
                *w = weight;
                ahead.used += 1;
                Ok(Some(place))
            }
            None if self.ahead.ended => Ok(None),
            None => {
                // Memory that is not needed again.
                (self.ahead.features, self.ahead.targets) = (Vec::new(), Vec::new());
                self.read()
            }
        }
    }

    /// Fills `chunk` with the next examples; with none at the end.
    pub(crate) fn fill(&mut self, chunk: &mut ExampleChunk) -> Result<(), Failure> {
        chunk.features.clear();
        chunk.tokens.clear();
        chunk.targets.clear();
        chunk.weights.clear();
        chunk.places.clear();
        chunk.records.clear();
        chunk.ids.clear();
        while chunk.len() < self.chunk && !self.stop.requested() {
            let Some(place) = self.next()? else { break };
            let Row { example: Example { features, targets, weight, tokens, .. }, record, id } = &mut self.sample;
            chunk.ids.push(std::mem::take(id));
            chunk.tokens.extend(tokens.take());
            chunk.features.extend_from_slice(features);
            chunk.targets.extend_from_slice(targets);
            if !record.is_empty() {
                chunk.records.push(std::mem::take(record));
            }
            if self.input.is_weighted() {
                chunk.weights.push(*weight);
            }
            chunk.places.push(place);
        }
        Ok(())
    }
}

/// The next row that can be read; those before it that cannot are taken note of, or end the run.
fn next_good(input: &mut Input, sample: &mut Row, bad: &mut BadRows) -> Result<bool, Failure> {
    loop {
        match input.next_sample(sample) {
            Err(error) if error.concerns_one_row() => {
                let (remedy, why) = (failure::remedy(&error), Failure::from(error));
                bad.leave_out(remedy.into_iter().fold(why, |why, remedy| why.with(&remedy)))?;
            }
            read => return Ok(read?),
        }
    }
}

/// Tells what is odd about a record behind which the encoding is.
pub(super) fn tell_odd(odd: &mut Oddities, encoding: &Encoding, record: &Record, names: &Names, place: ExamplePlace) {
    odd.tell(encoding, record, || format!("{}, {}", names.shown, place.line()));
}
