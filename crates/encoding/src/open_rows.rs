//! The first rows of a stream, kept until the scales of its targets are fixed, or they are judged.

use mercer_learners::{Error, Regressor, RegressorExt, TokenRow};

/// Rows after which the scale is found anew.
pub(crate) const STAGES: [usize; 3] = [16, 64, 256];

/// State that is kept until the scales are fixed, or the first rows judged.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Open<R> {
    pub(crate) fresh: R,
    /// True if scales are to be found.
    pub(crate) finds: bool,
    pub(crate) inputs: Vec<f64>,
    /// The tokens of the rows, where they have some.
    pub(crate) tokens: Vec<TokenRow>,
    pub(crate) targets: Vec<f64>,
    pub(crate) weights: Vec<f64>,
    /// The number of each row among those of positive weight, 0 where its target was implausible by
    /// the rows before it.
    pub(crate) places: Vec<u64>,
}

impl<R> Open<R> {
    pub(crate) fn new(fresh: R, finds: bool) -> Self {
        let (inputs, targets, weights, places) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { fresh, finds, inputs, tokens: Vec::new(), targets, weights, places }
    }

    /// Rows after which there is something to do.
    pub(crate) fn stages(&self) -> &'static [usize] {
        if self.finds { &STAGES } else { &STAGES[..1] }
    }

    pub(crate) fn rows(&self) -> usize {
        self.weights.len()
    }

    /// Inputs of the rows get further numbers, 0.
    pub(crate) fn grow(&mut self, before: usize, added: usize) -> Result<(), Error>
    where
        R: Regressor,
    {
        self.fresh.grow(added)?;
        let wide = |x: &[f64]| x.iter().copied().chain((0..added).map(|_| 0.0)).collect::<Vec<_>>();
        self.inputs = if before == 0 {
            vec![0.0; added * self.rows()]
        } else {
            self.inputs.chunks_exact(before).flat_map(wide).collect()
        };
        Ok(())
    }

    /// The mean of the targets of one output.
    pub(crate) fn mean(&self, output: usize, outputs: usize) -> f64 {
        let total: f64 = self.weights.iter().sum();
        let shares = self.weights.iter().map(|weight| weight / total);
        shares.zip(self.targets.chunks_exact(outputs)).map(|(share, y)| share * y[output]).sum()
    }
}
