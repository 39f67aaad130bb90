//! Rows that were accepted, written down before they are learnt.

use super::model::{Reason, Row, Standing};

/// Keeps the rows of requests from before they are learnt until a model that has learnt them is
/// saved. After a crash they are learnt anew in their order. Of rows that were appended together
/// those behind one that the model refuses were not learnt, and must not be.
pub trait Journal: Send {
    /// Writes rows of a request, which the model as it stands is about to learn. They were
    /// [screened](super::Model::screen) before.
    ///
    /// # Errors
    /// If they cannot be written. Nothing of them may then be left, and they are not learnt.
    fn append(&mut self, rows: &[Row], standing: Standing) -> Result<(), Reason>;

    /// Has the model saved as it stands by calling `save` once. If that is well, the rows may be
    /// forgotten, and in no other case.
    ///
    /// # Errors
    /// That of `save`, or if the journal cannot note that a save begins; the rows are then kept.
    fn save(&mut self, standing: Standing, save: &mut dyn FnMut() -> Result<(), Reason>) -> Result<(), Reason>;

    /// Forgets rows that the saved model has, and brings to the disk what has waited for it so long
    /// as it may. It is asked at least once a second, and after every slice of rows.
    ///
    /// # Errors
    /// If the disk refuses.
    fn sync(&mut self) -> Result<(), Reason>;

    /// The rows and the bytes that it has now.
    fn size(&self) -> [u64; 2];

    /// True if rows of so many bytes would be taken now. It is asked once a second after some were
    /// not.
    fn takes_rows(&mut self, bytes: usize) -> bool;
}
