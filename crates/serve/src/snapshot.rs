//! Other states of the model: a copy to go back to, and the file of a service that only reads it.

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

/// A model file that others write.
pub trait Replica: Send {
    /// True if another file is there than the one read last. It is asked once a second.
    fn has_changed(&mut self) -> bool;

    /// The model in the file as it is now.
    ///
    /// # Errors
    /// If it cannot be read; it is not asked for again then until it has changed.
    fn model(&mut self) -> Result<Box<dyn Model>, Reason>;
}
