//! Effects of columns whose cells become words: a column is its cells, whatever these become.

use mercer_core::{Cell, Cells};
use mercer_encoding::{Encoding, Use};
use mercer_readers::Record;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::permutations::sampled;
use super::{Absence, Aim, Explanation, PERMUTATIONS};
use crate::Session;
use crate::answer::{EncodedInput, StepError};

/// Explains the predictions of a model with a table by permutations of its columns: one that is
/// absent has the cell of a background record. `permutations · columns` predictions a row.
pub struct CellExplainer<'a> {
    session: &'a Session,
    encoding: &'a Encoding,
    /// The places of the columns that are learnt.
    places: Vec<usize>,
    aim: Aim,
    absence: Absence,
    background: &'a [Record],
    permutations: usize,
    seed: u64,
}

/// A record whose cells are those of several: the place of one of them for each column.
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
    /// For records of the table of a model; `None` where it has no table.
    ///
    /// # Panics
    /// If there is no background.
    #[must_use]
    pub fn new(session: &'a Session, aim: Aim, absence: Absence, background: &'a [Record]) -> Option<Self> {
        assert!(!background.is_empty(), "a background has rows");
        let encoding = session.encoding.as_ref()?;
        let columns = encoding.schema().columns().iter().enumerate();
        let learnt = columns.filter(|(_, column)| column.used.is_learnt() || column.used == Use::Late);
        let places = learnt.map(|(place, _)| place).collect();
        Some(Self { session, encoding, places, aim, absence, background, permutations: PERMUTATIONS, seed: 0 })
    }

    /// The same with so many permutations, two at least.
    #[must_use]
    pub fn permutations(self, permutations: usize, seed: u64) -> Self {
        Self { permutations: permutations.max(2), seed, ..self }
    }

    /// The names of the columns that have effects.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let columns = self.encoding.schema().columns();
        self.places.iter().map(|place| columns[*place].name.clone()).collect()
    }

    /// Explains the prediction of a record.
    ///
    /// # Errors
    /// That of a record whose cells are not those of the table, and the learner's.
    pub fn explain(&self, record: &Record) -> Result<Explanation, StepError> {
        let records: Vec<&Record> = std::iter::once(record).chain(self.background).collect();
        let width = record.len();
        // Of each column the place of the record that has its cell.
        let rows: Vec<Vec<usize>> = (0..records.len()).map(|row| vec![row; width]).collect();
        let mut memory = EncodedInput::default();
        let mut value = |of_columns: &Vec<usize>| {
            let input = memory.encode(self.encoding, &Mixed { records: &records, of_columns })?;
            Ok::<f64, StepError>(self.aim.of_input(&self.session.task, input)?)
        };
        let put = |z: &mut Vec<usize>, from: &Vec<usize>, player: usize| {
            let place = self.places[player];
            z[place] = from[place];
        };
        let prediction = value(&rows[0])?;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let draws = (self.permutations, &mut rng);
        sampled((&rows[0], prediction), self.places.len(), (&rows[1..], self.absence), draws, put, value)
    }
}
