//! Effects of columns whose cells become words: a column is its cells, whatever these become.

use mercer_core::{Cell, Cells};
use mercer_encoding::Encoding;
use mercer_readers::Record;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::permutations::{below, sampled};
use super::{Absence, Aim, Explanation, PERMUTATIONS, ROUNDING};
use crate::answer::{EncodedInput, StepError};
use crate::model::Task;

/// Rows with cells of several others at which a sum must be the prediction.
const MIXED_ROWS: usize = 32;

/// Explains predictions by the cells of records: a column that is absent has the cell of a
/// background record.
///
/// Where the prediction is a sum over columns, `f(x) = f(r) + Σ_j (f(r with x_j) − f(r))` at a
/// record `r`, effects are exact: `f(r with x_j)` less its mean over the background, whatever the
/// law of absent columns; one prediction a column. Any other is sampled, by
/// `permutations · columns` predictions a row.
pub(super) struct CellExplainer<'a> {
    task: &'a Task,
    encoding: &'a Encoding,
    /// The places of the columns that are learnt.
    places: &'a [usize],
    aim: Aim,
    absence: Absence,
    background: &'a [Record],
    sum: Option<ColumnSum>,
    permutations: usize,
    seed: u64,
}

/// A prediction as a sum over columns.
struct ColumnSum {
    /// `f(r)`, of the first record of the background.
    first: f64,
    /// The means over the background of `f(r with b_j) − f(r)`.
    means: Vec<f64>,
}

/// A record whose cells are those of several: the place of one of them for each column.
#[derive(Clone, Copy)]
struct Mixed<'a> {
    records: &'a [&'a Record],
    of_columns: &'a [usize],
}

impl Cells for Mixed<'_> {
    fn width(&self) -> usize {
        self.of_columns.len()
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.records[self.of_columns[column]].cell(column)
    }
}

impl<'a> CellExplainer<'a> {
    /// For records of a table.
    pub(super) fn new(
        (task, encoding): (&'a Task, &'a Encoding),
        places: &'a [usize],
        aim: Aim,
        absence: Absence,
        background: &'a [Record],
    ) -> Self {
        let (sum, permutations, seed) = (None, PERMUTATIONS, 0);
        let mut made = Self { task, encoding, places, aim, absence, background, sum, permutations, seed };
        // A learner that refuses a record of the background has no such sum.
        made.sum = made.column_sum().ok().flatten();
        made
    }

    /// The same with so many permutations, two at least.
    pub(super) fn permutations(self, permutations: usize, seed: u64) -> Self {
        Self { permutations: permutations.max(2), seed, ..self }
    }

    /// True if the effects are exact.
    pub(super) fn is_exact(&self) -> bool {
        self.sum.is_some()
    }

    /// The prediction for a mixed record.
    fn value(&self, mixed: Mixed<'_>, memory: &mut EncodedInput) -> Result<f64, StepError> {
        Ok(self.aim.of_input(self.task, memory.encode(self.encoding, &mixed)?)?)
    }

    /// The prediction as a sum over columns, if it is one: at each record of the background, and at
    /// mixed ones. A single record tells nothing.
    fn column_sum(&self) -> Result<Option<ColumnSum>, StepError> {
        let records: Vec<&Record> = self.background.iter().collect();
        let [first, _, ..] = &records[..] else { return Ok(None) };
        let (width, mut memory) = (first.width(), EncodedInput::default());
        let mut of_columns = vec![0; width];
        let first = self.value(Mixed { records: &records, of_columns: &of_columns }, &mut memory)?;
        let mut steps: Vec<Vec<f64>> = Vec::with_capacity(records.len());
        let mut fits = |steps: &[Vec<f64>], chosen: &[usize], memory: &mut EncodedInput| {
            of_columns.fill(0);
            self.places.iter().zip(chosen).for_each(|(place, row)| of_columns[*place] = *row);
            let made = self.value(Mixed { records: &records, of_columns: &of_columns }, memory)?;
            let each = || chosen.iter().enumerate().map(|(player, row)| steps[*row][player]);
            let (told, size) = (first + each().sum::<f64>(), first.abs() + each().map(f64::abs).sum::<f64>());
            Ok::<_, StepError>((told - made).abs() <= ROUNDING * size.max(made.abs()))
        };
        for row in 0..records.len() {
            steps.push(self.steps(&records, row, first, &mut memory)?);
            if !fits(&steps, &vec![row; self.places.len()], &mut memory)? {
                return Ok(None);
            }
        }
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        for _ in 0..MIXED_ROWS {
            let chosen: Vec<usize> = self.places.iter().map(|_| below(&mut rng, records.len())).collect();
            if !fits(&steps, &chosen, &mut memory)? {
                return Ok(None);
            }
        }
        let mean = |player: usize| steps.iter().map(|steps| steps[player]).sum::<f64>() / steps.len() as f64;
        Ok(Some(ColumnSum { first, means: (0..self.places.len()).map(mean).collect() }))
    }

    /// `f(r with x_j) − f(r)` for each column, `r` being the first record and `x` that with this
    /// place.
    fn steps(
        &self,
        records: &[&Record],
        row: usize,
        first: f64,
        memory: &mut EncodedInput,
    ) -> Result<Vec<f64>, StepError> {
        let mut of_columns = vec![0; records[0].width()];
        let step = |place: &usize| {
            of_columns[*place] = row;
            let made = self.value(Mixed { records, of_columns: &of_columns }, memory);
            of_columns[*place] = 0;
            Ok(made? - first)
        };
        self.places.iter().map(step).collect()
    }

    /// Explains the prediction of a record.
    ///
    /// # Errors
    /// That of a record whose cells are not those of the table, and the learner's.
    pub(super) fn explain(&self, record: &Record) -> Result<Explanation, StepError> {
        let mut memory = EncodedInput::default();
        let prediction = self.aim.of_input(self.task, memory.encode(self.encoding, record)?)?;
        if let Some(exact) = self.exactly(record, prediction, &mut memory)? {
            return Ok(exact);
        }
        let records: Vec<&Record> = std::iter::once(record).chain(self.background).collect();
        // Of each column the place of the record that has its cell.
        let rows: Vec<Vec<usize>> = (0..records.len()).map(|row| vec![row; record.len()]).collect();
        let value = |of_columns: &Vec<usize>| self.value(Mixed { records: &records, of_columns }, &mut memory);
        let put = |z: &mut Vec<usize>, from: &Vec<usize>, player: usize| {
            let place = self.places[player];
            z[place] = from[place];
        };
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let draws = (self.permutations, &mut rng);
        sampled((&rows[0], prediction), self.places.len(), (&rows[1..], self.absence), draws, put, value)
    }

    /// The effects by the sum over columns; none where it is not the prediction.
    fn exactly(
        &self,
        record: &Record,
        prediction: f64,
        memory: &mut EncodedInput,
    ) -> Result<Option<Explanation>, StepError> {
        let (Some(ColumnSum { first, means }), Some(start)) = (&self.sum, self.background.first()) else {
            return Ok(None);
        };
        let steps = self.steps(&[start, record], 1, *first, memory)?;
        let base = first + means.iter().sum::<f64>();
        let effects: Vec<f64> = steps.iter().zip(means).map(|(step, mean)| step - mean).collect();
        let told = base + effects.iter().sum::<f64>();
        let size = base.abs() + effects.iter().map(|effect| effect.abs()).sum::<f64>();
        let fits = (told - prediction).abs() <= ROUNDING * size.max(prediction.abs());
        Ok(fits.then(|| Explanation { prediction, base, effects, standard_errors: Vec::new(), names: Vec::new() }))
    }
}
