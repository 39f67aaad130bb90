//! Memory of predictions.

use std::any::Any;
use std::fmt;

use mercer_kernels::AlignedVec;
use mercer_sparsify::Probe;

/// Memory of a prediction, reused from call to call so that predicting allocates nothing. What a
/// learner leaves in it means nothing to another.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// For learners on a dictionary.
    pub probe: Probe,
    /// For kernel rows, features and solutions.
    pub vectors: [AlignedVec; 3],
    /// For inputs that are changed before they are learnt.
    pub numbers: Vec<f64>,
    /// For the scores of learners within learners.
    spare: Vec<Vec<f64>>,
    own: TypedMemory,
    pub(crate) inputs_ahead: usize,
}

/// Memory of types that only the learners know that asked for it; a copy has none.
#[derive(Default)]
struct TypedMemory(Vec<Box<dyn Any + Send + Sync>>);

impl Clone for TypedMemory {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for TypedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Own").field(&self.0.len()).finish()
    }
}

impl Scratch {
    /// Memory for predictions at some `inputs` inputs before the learner changes: learners prepare
    /// what is worth it for so many. Predictions are the same to rounding.
    #[must_use]
    pub fn for_inputs(inputs: usize) -> Self {
        Self { inputs_ahead: inputs, ..Self::default() }
    }

    /// Number of inputs it [is for](Self::for_inputs), 0 where nobody said.
    pub(crate) fn inputs_ahead(&self) -> usize {
        self.inputs_ahead
    }

    /// Memory of `count` numbers, until it is [taken back](Self::take_back). Who predicts with it
    /// may lend more.
    pub fn lend(&mut self, count: usize) -> Vec<f64> {
        let mut numbers = self.spare.pop().unwrap_or_default();
        numbers.resize(count, 0.0);
        numbers
    }

    /// Keeps memory for the next who asks.
    pub fn take_back(&mut self, numbers: Vec<f64>) {
        self.spare.push(numbers);
    }

    /// Takes out the memory of this type, which is empty at first. Who takes it
    /// [puts it back](Self::put_own).
    #[must_use]
    pub fn take_own<T: Default + Send + Sync + 'static>(&mut self) -> Box<T> {
        let place = self.own.0.iter().position(|own| (**own).is::<T>());
        let own = place.and_then(|place| self.own.0.swap_remove(place).downcast().ok());
        own.unwrap_or_default()
    }

    /// Keeps memory for the next who [asks](Self::take_own) for this type.
    pub fn put_own<T: Send + Sync + 'static>(&mut self, own: Box<T>) {
        self.own.0.push(own);
    }
}
