//! Rows that were accepted, written down before they are learnt.

use super::model::{Reason, Row, Standing};

/// Keeps the rows of requests from before they are learnt until a model that has learnt them is
/// saved. After a crash they are learnt anew in their order. Of rows that were appended together
/// those behind one that the model refuses were not learnt, and must not be.
pub trait Journal: Send {
    /// Writes rows of a request, which the model as it stands is about to learn.
    ///
    /// # Errors
    /// If they cannot be written. Nothing of them may then be left, and they are not learnt.
    fn append(&mut self, rows: &[Row], standing: Standing) -> Result<(), Reason>;

    /// Notes that the model as it stands is about to be saved: a journal can so be told from that
    /// of another model.
    ///
    /// # Errors
    /// If that cannot be written. The model is saved all the same.
    fn mark(&mut self, standing: Standing) -> Result<(), Reason>;

    /// Brings to the disk what has waited for it so long as it may. It is asked at least once a
    /// second, and after every row.
    ///
    /// # Errors
    /// If the disk refuses.
    fn sync(&mut self) -> Result<(), Reason>;

    /// Forgets all rows: the saved model has learnt them.
    ///
    /// # Errors
    /// If the file cannot be shortened.
    fn clear(&mut self) -> Result<(), Reason>;
}
