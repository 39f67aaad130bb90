//! Pairs of a state and its successor, in order of time.

use mercer_readers::permutation;

/// Pairs `(x, x⁺)` of `input_dimension` and `output_dimension` numbers, row-major.
///
/// The two dimensions differ where x carries an action beside the state.
///
/// *Invariant*: as many outputs as inputs, each of its dimension.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pairs {
    input_dimension: usize,
    output_dimension: usize,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl Pairs {
    /// No pair, of these dimensions.
    ///
    /// # Panics
    /// If a dimension is 0.
    #[must_use]
    pub fn new(input_dimension: usize, output_dimension: usize) -> Self {
        assert!(input_dimension > 0 && output_dimension > 0, "a state has at least one coordinate");
        Self { input_dimension, output_dimension, inputs: Vec::new(), outputs: Vec::new() }
    }

    /// Appends a pair.
    ///
    /// # Panics
    /// If a dimension is not that of the pairs before.
    pub fn push(&mut self, input: &[f64], output: &[f64]) {
        assert_eq!(
            (input.len(), output.len()),
            (self.input_dimension, self.output_dimension),
            "all pairs have the same dimensions"
        );
        self.inputs.extend_from_slice(input);
        self.outputs.extend_from_slice(output);
    }

    /// Appends the pairs of neighbours of a trajectory.
    ///
    /// # Panics
    /// As [`push`](Self::push).
    pub fn push_trajectory<const D: usize>(&mut self, states: &[[f64; D]]) {
        for pair in states.windows(2) {
            self.push(&pair[0], &pair[1]);
        }
    }

    /// Number of pairs, n.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inputs.len() / self.input_dimension
    }

    /// True if there is no pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Numbers an input.
    #[must_use]
    pub fn input_dimension(&self) -> usize {
        self.input_dimension
    }

    /// Numbers an output.
    #[must_use]
    pub fn output_dimension(&self) -> usize {
        self.output_dimension
    }

    /// All inputs, row by row.
    #[must_use]
    pub fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    /// All outputs, row by row.
    #[must_use]
    pub fn outputs(&self) -> &[f64] {
        &self.outputs
    }

    /// The pairs `(x, x⁺)` in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[f64], &[f64])> {
        self.inputs.chunks_exact(self.input_dimension).zip(self.outputs.chunks_exact(self.output_dimension))
    }

    /// Keeps the first `len` pairs.
    pub fn truncate(&mut self, len: usize) {
        self.inputs.truncate(len.saturating_mul(self.input_dimension));
        self.outputs.truncate(len.saturating_mul(self.output_dimension));
    }

    /// The same pairs in the random order of [`permutation`].
    #[must_use]
    pub fn permuted(&self, seed: u64) -> Self {
        self.in_order(permutation(self.len(), seed))
    }

    /// Trajectories of `length` pairs each, which follow one another, told in turns: the first pair
    /// of each, then the second of each, and so on. A last trajectory that is shorter runs out
    /// earlier.
    ///
    /// # Panics
    /// If `length` is 0.
    #[must_use]
    pub fn interleaved(&self, length: usize) -> Self {
        assert!(length > 0, "a trajectory has at least one pair");
        let n = self.len();
        self.in_order((0..length.min(n)).flat_map(|phase| (phase..n).step_by(length)))
    }

    fn in_order(&self, order: impl IntoIterator<Item = usize>) -> Self {
        let mut pairs = Self::new(self.input_dimension, self.output_dimension);
        for i in order {
            let row = |dimension: usize| i * dimension..(i + 1) * dimension;
            pairs.inputs.extend_from_slice(&self.inputs[row(self.input_dimension)]);
            pairs.outputs.extend_from_slice(&self.outputs[row(self.output_dimension)]);
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(n: usize) -> Pairs {
        let mut pairs = Pairs::new(2, 1);
        (0..n).for_each(|i| pairs.push(&[i as f64, -(i as f64)], &[i as f64 + 0.5]));
        pairs
    }

    fn first(pairs: &Pairs) -> Vec<f64> {
        // Whatever the order, a pair keeps its parts.
        assert!(pairs.iter().all(|(x, next)| (x[1], next[0]) == (-x[0], x[0] + 0.5)));
        pairs.iter().map(|(x, _)| x[0]).collect()
    }

    #[test]
    fn trajectories_are_told_in_turns() {
        assert_eq!(first(&numbered(8).interleaved(3)), [0.0, 3.0, 6.0, 1.0, 4.0, 7.0, 2.0, 5.0]);
        assert_eq!(first(&numbered(2).interleaved(5)), [0.0, 1.0]);
        assert!(numbered(0).interleaved(5).is_empty());
    }

    #[test]
    fn pairs_stay_together() {
        let mut pairs = numbered(50);
        let mut order = first(&pairs.permuted(4));
        assert_ne!(order, first(&pairs));
        order.sort_unstable_by(f64::total_cmp);
        assert_eq!(order, first(&pairs));
        pairs.truncate(3);
        assert_eq!((first(&pairs), pairs.len()), (vec![0.0, 1.0, 2.0], 3));
        let mut walk = Pairs::new(1, 1);
        walk.push_trajectory(&[[1.0], [2.0], [4.0]]);
        assert_eq!((walk.inputs(), walk.outputs()), (&[1.0, 2.0][..], &[2.0, 4.0][..]));
    }
}
