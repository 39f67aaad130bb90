//! A stream of records under watch: new rows, changes of inputs and target, and risen errors, with
//! the columns to blame.

use mercer_core::{Cells, Inconsistent, ParameterError, Validate};
use mercer_encoding::{EncodingError, HeldRecord, Measures, Schema};
use mercer_watch::{Change, ChangeParams, Newness, Novelty, NoveltyParams, RiseParams, Rises, Slopes, TakenOut};

use crate::late::record_time;

/// First rows that tell how often words come, where there are texts; half of the burn-in at most.
const HELD: usize = 256;
/// Shares below this are not told.
const LEAST_SHARE: f64 = 0.05;

/// Kind of an alarm, by what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlarmKind {
    /// A row is new.
    Rows,
    /// The law of the inputs has changed.
    Inputs,
    /// Errors of predictions have risen.
    Errors,
    /// The law of the target has changed.
    Target,
}

mercer_core::names!(pub AlarmKind { Rows = "rows", Inputs = "inputs", Errors = "errors", Target = "target" });

/// An alarm with the columns to blame.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WatchAlarm {
    /// The row in which it came, from 1.
    pub row: u64,
    /// The time of the row in seconds since 1970, if the table tells it.
    pub time: Option<f64>,
    /// What it is about.
    pub kind: AlarmKind,
    /// The first row that speaks for it.
    pub since: u64,
    /// Columns with their shares, the largest first; of the target and of errors without a column
    /// to blame none.
    pub columns: Vec<(String, f64)>,
}

/// Choices of a [`Watcher`].
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WatchChoices {
    /// Rows to a false alarm in the mean, of all kinds together; by default 10,000.
    pub rows_to_a_false_alarm: f64,
    /// Rows that settle what is usual; by default 512.
    pub burn_in: usize,
    /// True if rows are known to be independent; by default not.
    pub independent: bool,
    /// The kinds of alarms that are wanted; by default rows and inputs.
    pub kinds: Vec<AlarmKind>,
    /// Columns that an alarm names at most; by default 3.
    pub columns: usize,
    /// Seed of draws.
    pub seed: u64,
}

impl Default for WatchChoices {
    fn default() -> Self {
        Self {
            rows_to_a_false_alarm: 10_000.0,
            burn_in: 512,
            independent: false,
            kinds: vec![AlarmKind::Rows, AlarmKind::Inputs],
            columns: 3,
            seed: 0,
        }
    }
}

/// Watches records of a table, and the errors of their predictions if there are some.
///
/// Each of `k` kinds of alarms gets `k N` rows to a false alarm, so that all together get `N`.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Watcher {
    choices: WatchChoices,
    schema: Schema,
    inputs: Measures,
    names: Vec<String>,
    target: Option<Measures>,
    rows: u64,
    /// The first rows where there are texts, until their words tell how often words come: then
    /// they are watched, before those behind them.
    held: Option<Vec<HeldRecord>>,
    novelty: Option<Novelty>,
    change: Option<Change>,
    target_change: Option<Change>,
    rises: Option<Rises>,
    slopes: Slopes,
    /// The last row that was new.
    last_new: u64,
    alarms: Vec<WatchAlarm>,
    /// Working memory.
    #[serde(skip)]
    numbers: Vec<f64>,
}

impl Watcher {
    /// For records of a schema, the target of which is at `target` if there is one and set aside.
    ///
    /// # Errors
    /// When a choice is outside its range, or no column is left to be watched.
    pub fn new(schema: &Schema, target: Option<usize>, choices: WatchChoices) -> Result<Self, ParameterError> {
        Self::of(schema, Measures::new(schema), target, choices)
    }

    /// The same of a schema of which the target is a column like others.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn without(schema: &Schema, target: usize, choices: WatchChoices) -> Result<Self, ParameterError> {
        let inputs = Measures::new(schema).places().filter(|place| *place != target).collect::<Vec<_>>();
        Self::of(schema, Measures::of_columns(schema, inputs), Some(target), choices)
    }

    fn of(
        schema: &Schema,
        inputs: Measures,
        target: Option<usize>,
        choices: WatchChoices,
    ) -> Result<Self, ParameterError> {
        let names = inputs.places().map(|place| schema.columns()[place].name.clone()).collect();
        let has = |kind| choices.kinds.contains(&kind);
        let rate = choices.rows_to_a_false_alarm * choices.kinds.len().max(1) as f64;
        let base = ChangeParams::default().rows_to_a_false_alarm(rate).burn_in(choices.burn_in);
        let params = base.independent(choices.independent).seed(choices.seed);
        let rising = RiseParams::default().rows_to_a_false_alarm(rate).independent(choices.independent);
        let target = target.map(|place| Measures::of_columns(schema, [place]));
        let watched = |kind, columns| has(kind).then(|| Change::new(columns, params)).transpose();
        Ok(Self {
            schema: schema.clone(),
            novelty: has(AlarmKind::Rows)
                .then(|| Novelty::new(inputs.len(), NoveltyParams::default().seed(choices.seed)))
                .transpose()?,
            change: watched(AlarmKind::Inputs, inputs.len())?,
            target_change: watched(AlarmKind::Target, 1)?,
            rises: has(AlarmKind::Errors).then(|| Rises::new(rising)).transpose()?,
            slopes: Slopes::new(inputs.len()),
            held: inputs.has_words().then(Vec::new),
            names,
            target,
            inputs,
            rows: 0,
            last_new: 0,
            alarms: Vec::new(),
            numbers: Vec::new(),
            choices,
        })
    }

    /// Learns a row of a clean reference, by which rows are new or not; none of the stream is
    /// learnt for that.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]
    pub fn learn_reference(&mut self, record: &(impl Cells + ?Sized)) -> Result<(), EncodingError> {
        if self.hold(record, false)? {
            return Ok(());
        }
        self.inputs.take(record, &mut self.numbers)?;
        if let Some(novelty) = &mut self.novelty {
            // As many numbers as it has columns.
            drop(novelty.learn(&self.numbers));
        }
        Ok(())
    }

    /// Ends the reference.
    pub fn freeze_reference(&mut self) {
        self.watch_held(false);
        self.novelty.iter_mut().for_each(Novelty::freeze);
    }

    /// Takes a record, with the signed error of its prediction (NaN if it has none), and tells how
    /// new it is once there are rows enough.
    ///
    /// # Errors
    /// [`EncodingError::Cells`]; the record is then not taken.
    pub fn learn(&mut self, record: &(impl Cells + ?Sized), error: f64) -> Result<Option<Newness>, EncodingError> {
        let is_held = self.hold(record, true)?;
        let mut numbers = std::mem::take(&mut self.numbers);
        let taken = if is_held { Ok(()) } else { self.inputs.take(record, &mut numbers) };
        if taken.is_err() {
            self.numbers = numbers;
            return taken.map(|()| None);
        }
        self.rows += 1;
        let time = record_time(&self.schema, record);
        let mut new = None;
        if !is_held {
            new = self.learn_inputs(time, &numbers);
            if let Some(shares) = self.slopes.learn(&numbers, error) {
                self.blame(&shares);
            }
        }
        if let Some(rise) = self.rises.as_mut().and_then(|rises| rises.learn(error.abs())) {
            self.tell(AlarmKind::Errors, time, rise.since, &[]);
            self.slopes.rise();
        }
        self.learn_target(record, time, &mut numbers)?;
        self.numbers = numbers;
        Ok(new)
    }

    /// Holds a record while words are counted; once they are enough, all that are held are watched.
    /// False if none is held any more. A row of the reference is none of the `stream`.
    fn hold(&mut self, record: &(impl Cells + ?Sized), stream: bool) -> Result<bool, EncodingError> {
        let Some(held) = &mut self.held else { return Ok(false) };
        held.push(self.inputs.hold(record)?);
        if held.len() >= HELD.min(self.choices.burn_in / 2) {
            self.watch_held(stream);
        }
        Ok(true)
    }

    /// Watches the rows that are held, which are fewer than newness or a change needs.
    fn watch_held(&mut self, stream: bool) {
        let mut numbers = Vec::new();
        for held in self.held.take().into_iter().flatten() {
            self.inputs.take_held(&held, &mut numbers);
            // The widths are those of the measures.
            self.novelty.iter_mut().for_each(|novelty| drop(novelty.learn(&numbers)));
            if stream {
                self.change.iter_mut().for_each(|change| drop(change.learn(&numbers)));
            }
        }
    }

    /// Takes the numbers of a row; the widths are those of the measures.
    fn learn_inputs(&mut self, time: Option<f64>, numbers: &[f64]) -> Option<Newness> {
        let new = self.novelty.as_mut().and_then(|novelty| novelty.learn(numbers).ok().flatten());
        if let Some(new) = new.as_ref().filter(|new| new.p * self.rate() <= 1.0) {
            // Rows that follow one another are one alarm.
            if self.last_new + 1 < self.rows {
                self.tell(AlarmKind::Rows, time, self.rows, &new.shares);
            }
            self.last_new = self.rows;
        }
        if let Some(alarm) = self.change.as_mut().and_then(|change| change.learn(numbers).ok().flatten()) {
            self.tell(AlarmKind::Inputs, time, alarm.since, &alarm.shares);
        }
        new
    }

    fn learn_target(
        &mut self,
        record: &(impl Cells + ?Sized),
        time: Option<f64>,
        numbers: &mut Vec<f64>,
    ) -> Result<(), EncodingError> {
        let Some((target, change)) = self.target.as_ref().zip(self.target_change.as_mut()) else { return Ok(()) };
        target.take(record, numbers)?;
        if let Ok(Some(alarm)) = change.learn(numbers) {
            self.tell(AlarmKind::Target, time, alarm.since, &[]);
        }
        Ok(())
    }

    /// Rows to a false alarm of one kind.
    fn rate(&self) -> f64 {
        self.choices.rows_to_a_false_alarm * self.choices.kinds.len().max(1) as f64
    }

    fn tell(&mut self, kind: AlarmKind, time: Option<f64>, since: u64, shares: &[f64]) {
        let columns = self.named(shares);
        self.alarms.push(WatchAlarm { row: self.rows, time, kind, since, columns });
    }

    /// Names of the columns with the largest shares.
    fn named(&self, shares: &[f64]) -> Vec<(String, f64)> {
        let mut columns: Vec<(String, f64)> = self.names.iter().cloned().zip(shares.iter().copied()).collect();
        columns.sort_by(|a, b| b.1.total_cmp(&a.1));
        columns.truncate(self.choices.columns);
        columns.retain(|(_, share)| *share >= LEAST_SHARE);
        columns
    }

    /// Gives the last rise of errors its columns.
    fn blame(&mut self, shares: &[f64]) {
        let columns = self.named(shares);
        if let Some(alarm) = self.alarms.iter_mut().rev().find(|alarm| alarm.kind == AlarmKind::Errors) {
            alarm.columns = columns;
        }
    }

    /// The columns that are watched.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Rows so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Hands out the alarms so far; at the end of a stream, an error's columns are those that the
    /// rows after it tell.
    pub fn take_alarms(&mut self) -> Vec<WatchAlarm> {
        if self.slopes.is_explaining() {
            let shares = self.slopes.shares();
            self.blame(&shares);
        }
        std::mem::take(&mut self.alarms)
    }

    /// The serial dependence of the inputs that is taken out.
    #[must_use]
    pub fn taken_out(&self) -> &[TakenOut] {
        self.change.as_ref().map_or(&[], Change::taken_out)
    }

    /// The evidence for a change of the inputs; an alarm comes when it is as large as the rows to a
    /// false alarm of its kind.
    #[must_use]
    pub fn evidence(&self) -> f64 {
        self.change.as_ref().map_or(0.0, Change::evidence)
    }

    /// True once the inputs are watched: before, the first rows settle what is usual.
    #[must_use]
    pub fn is_watching(&self) -> bool {
        self.change.as_ref().is_none_or(Change::is_watching)
    }
}

impl Validate for Watcher {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "watcher of records";
        self.inputs.validate()?;
        self.target.validate()?;
        self.novelty.validate()?;
        self.change.validate()?;
        self.target_change.validate()?;
        self.rises.validate()?;
        self.slopes.validate()?;
        let width = self.inputs.len();
        let fits = self.names.len() == width
            && self.novelty.as_ref().is_none_or(|novelty| novelty.columns() == width)
            && self.change.as_ref().is_none_or(|change| change.columns() == width)
            && self.target_change.as_ref().is_none_or(|change| change.columns() == 1);
        Inconsistent::require(fits, WHAT, "its parts have the columns that are watched")
    }
}
