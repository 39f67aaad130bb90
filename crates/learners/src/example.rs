//! Examples that a learner learns: inputs with their targets, and the problem that says which of
//! them it takes.

use mercer_core::{ExampleError, ParameterError, TokenRow, check_input};

use crate::Error;
use crate::input::Input;
use crate::loss::Loss;

/// Numbers in an input and in a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Input dimension `d`.
    pub inputs: usize,
    /// Numbers in a prediction, `m`.
    pub outputs: usize,
}

/// Which examples a learner takes, and what it minimises on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// Numbers in an input and in a prediction.
    pub shape: Shape,
    /// The loss that is minimised; it says what a target is.
    pub loss: Loss,
}

impl Problem {
    /// Functions of `inputs` numbers with `outputs` values, under the squared loss.
    #[must_use]
    pub const fn squared(inputs: usize, outputs: usize) -> Self {
        Self { shape: Shape { inputs, outputs }, loss: Loss::SQUARED }
    }

    /// Refuses an example that no learner of this problem can learn: an input of another dimension
    /// or that is not finite, a target of another width or that the loss does not take, a weight
    /// that is negative or not finite.
    ///
    /// # Errors
    /// What is wrong with it.
    #[inline(always)]
    pub fn check(&self, x: &[f64], target: Target<'_>) -> Result<(), Error> {
        check_input(x, self.shape.inputs)?;
        self.check_target(target)
    }

    /// The part of [`check`](Self::check) that concerns the target.
    #[inline(always)]
    pub(crate) fn check_target(&self, target: Target<'_>) -> Result<(), Error> {
        // A number under the squared loss is by far the commonest, and small learners learn it in a
        // tenth of a microsecond.
        let is_squared = self.shape.outputs == 1 && matches!(self.loss, Loss::Squared(_));
        match target.y {
            [y] if is_squared && y.is_finite() && target.weight == 1.0 => Ok(()),
            _ => self.check_any_target(target),
        }
    }

    fn check_any_target(&self, target: Target<'_>) -> Result<(), Error> {
        let expected = self.loss.target_width(self.shape.outputs);
        if target.y.len() != expected {
            return Err(ExampleError::Outputs { expected, got: target.y.len() }.into());
        }
        if !(target.weight >= 0.0 && target.weight.is_finite()) {
            let requirement = "a number of at least 0";
            return Err(ParameterError { name: "the weight of an example", requirement, value: target.weight }.into());
        }
        self.loss.check(target.y, self.shape.outputs)
    }

    /// Refuses the methods for one output where there are several.
    #[inline]
    pub(crate) fn check_single(&self) -> Result<(), Error> {
        let expected = self.shape.outputs;
        if expected == 1 { Ok(()) } else { Err(ExampleError::Outputs { expected, got: 1 }.into()) }
    }
}

/// The target that is learnt at one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target<'a> {
    /// One number for each output of the learner; one class `0, 1, …` for the softmax loss.
    pub y: &'a [f64],
    /// The weight of the example, a finite number ≥ 0, which multiplies its loss. An example of
    /// weight 0 is only predicted: nothing is learnt, nothing is kept, no coin is tossed.
    pub weight: f64,
}

impl<'a> Target<'a> {
    /// A target of weight 1.
    #[must_use]
    pub fn new(y: &'a [f64]) -> Self {
        Self { y, weight: 1.0 }
    }

    /// A target that counts `weight` times.
    #[must_use]
    pub fn weighted(y: &'a [f64], weight: f64) -> Self {
        Self { y, weight }
    }
}

/// Targets in order.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    ys: &'a [f64],
    weights: &'a [f64],
    width: usize,
}

impl<'a> Targets<'a> {
    /// Targets of `width ≥ 1` numbers each, row by row, and a weight for each; no weights at all
    /// mean 1 for every target.
    ///
    /// # Errors
    /// [`Error::Targets`] when the numbers are no whole targets, or the weights are not as many.
    pub fn new(ys: &'a [f64], weights: &'a [f64], width: usize) -> Result<Self, Error> {
        let rows = ys.len() / width.max(1);
        if width == 0 || !ys.len().is_multiple_of(width) || !(weights.is_empty() || weights.len() == rows) {
            return Err(Error::Targets { numbers: ys.len(), width, weights: weights.len() });
        }
        Ok(Self { ys, weights, width })
    }

    /// Plain numbers of weight 1.
    #[must_use]
    pub fn numbers(ys: &'a [f64]) -> Self {
        Self { ys, weights: &[], width: 1 }
    }

    /// Number of targets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ys.len() / self.width
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ys.is_empty()
    }

    /// Target `row`.
    ///
    /// # Panics
    /// If there is no such target.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize) -> Target<'a> {
        let weight = if self.weights.is_empty() { 1.0 } else { self.weights[row] };
        Target { y: &self.ys[row * self.width..(row + 1) * self.width], weight }
    }

    /// Targets `from..to`.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn range(&self, from: usize, to: usize) -> Self {
        let weights = if self.weights.is_empty() { &[] } else { &self.weights[from..to] };
        Self { ys: &self.ys[from * self.width..to * self.width], weights, width: self.width }
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = Target<'a>> + use<'a> {
        let all = *self;
        (0..all.len()).map(move |row| all.get(row))
    }
}

/// Inputs with their targets, in order.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    inputs: &'a [f64],
    dimension: usize,
    targets: Targets<'a>,
    tokens: &'a [TokenRow],
}

impl<'a> Rows<'a> {
    /// Row-major `inputs` of `dimension` numbers, one for each target.
    ///
    /// # Errors
    /// [`ExampleError::Block`] when they do not fit together.
    pub fn new(inputs: &'a [f64], dimension: usize, targets: Targets<'a>) -> Result<Self, Error> {
        if inputs.len() == targets.len() * dimension {
            Ok(Self { inputs, dimension, targets, tokens: &[] })
        } else {
            Err(ExampleError::Block { inputs: inputs.len(), rows: targets.len(), dimension }.into())
        }
    }

    /// The same rows with their tokens, for learners that take some.
    ///
    /// # Errors
    /// [`ExampleError::Block`] when there are not as many.
    pub fn with_tokens(self, tokens: &'a [TokenRow]) -> Result<Self, Error> {
        if tokens.is_empty() || tokens.len() == self.len() {
            Ok(Self { tokens, ..self })
        } else {
            let (inputs, rows) = (tokens.len(), self.len());
            Err(ExampleError::Block { inputs, rows, dimension: 1 }.into())
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// All inputs, row by row.
    #[must_use]
    pub fn inputs(&self) -> &'a [f64] {
        self.inputs
    }

    /// All targets.
    #[must_use]
    pub fn targets(&self) -> Targets<'a> {
        self.targets
    }

    /// The input of row `row`.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    #[inline]
    pub fn input(&self, row: usize) -> &'a [f64] {
        &self.inputs[row * self.dimension..(row + 1) * self.dimension]
    }

    /// The tokens of all rows; none where the rows are numbers alone.
    #[must_use]
    pub fn tokens(&self) -> &'a [TokenRow] {
        self.tokens
    }

    /// The input of row `row` with its tokens.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn whole_input(&self, row: usize) -> Input<'a> {
        Input { numbers: self.input(row), tokens: self.tokens.get(row) }
    }

    /// The target of row `row`.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    #[inline]
    pub fn target(&self, row: usize) -> Target<'a> {
        self.targets.get(row)
    }

    /// Rows `from..to`.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn range(&self, from: usize, to: usize) -> Self {
        let inputs = &self.inputs[from * self.dimension..to * self.dimension];
        let tokens = if self.tokens.is_empty() { &[] } else { &self.tokens[from..to] };
        Self { inputs, dimension: self.dimension, targets: self.targets.range(from, to), tokens }
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [f64], Target<'a>)> + use<'a> {
        let all = *self;
        (0..all.len()).map(move |row| (all.input(row), all.target(row)))
    }
}
