//! With what rows are compared: those that a model keeps, or others.

use mercer_encoding::{Encoding, Use};
use mercer_readers::Record;

use super::ExplainedColumns;
use super::sparse::is_linear;
use crate::answer::StepError;
use crate::model::Taught;
use crate::{Row, Session};

/// The columns that have effects, and rows that say what an absent one is.
#[derive(Clone, Debug)]
pub struct Ground {
    names: Vec<String>,
    pub(super) compared: Compared,
}

#[derive(Clone, Debug)]
pub(super) enum Compared {
    /// Inputs of a learner of numbers, one row at least.
    Inputs(ExplainedColumns, Vec<Vec<f64>>),
    /// Records of a table with words, one at least, and the places of the columns that are learnt.
    Cells(Vec<usize>, Vec<Record>),
    /// Zeros: rows are sparse.
    Zeros,
}

/// Why the rows of a model cannot be compared with others.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoGround {
    /// It keeps none.
    #[error("keeps no rows with which others could be compared")]
    Rows,
    /// It learns sparse rows, and is not linear in them.
    #[error(
        "learns sparse rows by {0}, which is no sum over their columns, so that they have no effects of their own; train coin or diagonal-kalman"
    )]
    Sparse(String),
}

impl Ground {
    /// The rows that a model keeps: a sample of those that it has learnt. Of sparse rows zeros.
    /// Inputs without a name in the model have that among `others`, else their number from 1.
    ///
    /// # Errors
    /// Every [`NoGround`].
    pub fn kept(session: &Session, others: &[String]) -> Result<Self, NoGround> {
        if let Some(encoding) = with_words(session) {
            let records: Vec<Record> = encoding.sample().map(|cells| cells.into_iter().collect()).collect();
            return if records.is_empty() { Err(NoGround::Rows) } else { Ok(Self::of_cells(encoding, records)) };
        }
        if session.has_sparse_rows() {
            let groups = session.groups.iter().flat_map(|groups| groups.models.values());
            let linear = std::iter::once(&session.task).chain(groups).all(|task| is_linear(task.learner()));
            let zeros = || Self { names: Vec::new(), compared: Compared::Zeros };
            return if linear { Ok(zeros()) } else { Err(NoGround::Sparse(session.description.learner.clone())) };
        }
        if session.background.is_empty() {
            return Err(NoGround::Rows);
        }
        Ok(Self::of_inputs(session, others, session.background.rows(session.dimension())))
    }

    /// These rows, one at least, of a model whose rows are not sparse.
    ///
    /// # Errors
    /// That of a row that is none of the model.
    ///
    /// # Panics
    /// If there is no row.
    pub fn of_rows(session: &Session, others: &[String], rows: &[Row]) -> Result<Self, StepError> {
        assert!(!rows.is_empty(), "a background has rows");
        let inputs = rows.iter().map(|row| session.inputs(row)).collect::<Result<Vec<_>, _>>()?;
        Ok(match with_words(session) {
            Some(encoding) => Self::of_cells(encoding, rows.iter().map(|row| row.record.clone()).collect()),
            None => Self::of_inputs(session, others, inputs),
        })
    }

    fn of_inputs(session: &Session, others: &[String], rows: Vec<Vec<f64>>) -> Self {
        let columns = ExplainedColumns::new(session, others);
        Self { names: columns.names().to_vec(), compared: Compared::Inputs(columns, rows) }
    }

    fn of_cells(encoding: &Encoding, records: Vec<Record>) -> Self {
        let columns = encoding.schema().columns().iter().enumerate();
        let learnt = columns.filter(|(_, column)| column.used.is_learnt() || column.used == Use::Late);
        let (places, names) = learnt.map(|(place, column)| (place, column.name.clone())).unzip();
        Self { names, compared: Compared::Cells(places, records) }
    }

    /// The names of the columns that have effects; none of sparse rows, of which each has its own.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// The encoding of a table whose rows have words.
fn with_words(session: &Session) -> Option<&Encoding> {
    session.encoding.as_ref().filter(|encoding| encoding.has_tokens())
}

impl Session {
    /// True if rows are pairs of columns and numbers, as LIBSVM has them.
    #[must_use]
    pub fn has_sparse_rows(&self) -> bool {
        self.encoding.is_none() && self.dimension() == 0
    }
}
