//! A copy of the model to go back to.

use super::model::{Model, Reason};

/// Keeps one copy of the model.
pub trait Snapshot: Send {
    /// Keeps the bytes of a model in place of those before.
    ///
    /// # Errors
    /// If they cannot be kept; those before must then still be there.
    fn keep(&mut self, bytes: Vec<u8>) -> Result<(), Reason>;

    /// The model that was kept last.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    fn model(&mut self) -> Result<Box<dyn Model>, Reason>;
}
