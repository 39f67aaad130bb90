//! Stochastic operator gradient descent by Gram matrices (Hou et al., *Nonparametric sparse online
//! learning of the Koopman operator*, eqs. 28–32 and the appendix on implementation).
//!
//! The operator is its weight matrix: `U = Σ W_ij k_Y(x_i⁺, ·) ⊗ k_X(x_j, ·)` over the kept pairs,
//! rows for outputs. A round
//! - extends `W` to `W̃` by eq. 28, with a row and a column for the new pair;
//! - solves the least-squares problem of eq. 30 on the kept points, `Z⋆ = G_Y⁻¹ Ḡ_Yᵀ W̃ Ḡ_X G_X⁻¹`,
//!   where `Ḡ` are the columns of the extended Gram matrix `G̃` that belong to kept points;
//! - measures the error as what it is, `e² = Tr[Eᵀ G̃_Y E G̃_X]` for `E = Z⋆ − W̃` (with zeros
//!   where `Z⋆` has nothing).
//!
//! The appendix prints `ℓ(Z⋆) = Tr[W̃ᵀ(G̃_Y − Ḡ_Y G_Y⁻¹ Ḡ_Yᵀ) W̃ G̃_X]`, which leaves the input
//! side out: [`OperatorTest::OutputAld`]. For rectangular dictionaries the same projection is made
//! on each of the three candidate pairs of index sets.

use nalgebra::{Complex, DMatrix, DVector};

use super::KernelFn;
use super::dense::{ald, gram, kernel_vector};

/// A state and its successor.
pub type Pair = (Vec<f64>, Vec<f64>);

/// Form of the error that is compared with the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorTest {
    /// `e > ε`
    Norm,
    /// `e² > ε`
    Squared,
    /// `√ℓ(Z⋆) > ε` with the printed `ℓ`.
    OutputAld,
}

/// Parameters of [`sparse_sogd`].
#[derive(Clone, Copy)]
pub struct SogdParams<'a> {
    /// The step size `η_t` of round `t = 1, 2, …`.
    pub eta: &'a dyn Fn(u64) -> f64,
    /// The budget of a round with this step size.
    pub budget: &'a dyn Fn(f64) -> f64,
    /// The regulariser `λ`.
    pub lambda: f64,
    /// Form of the error that is compared with the budget.
    pub test: OperatorTest,
    /// True if each side is kept on its own account.
    pub rectangular: bool,
    /// `δ ≤ rank_guard · k(x, x)` is dependent.
    pub rank_guard: f64,
    /// Largest dictionary.
    pub max_dictionary: Option<usize>,
}

/// Trace of a pass.
#[derive(Clone, Debug)]
pub struct OperatorTrace {
    /// Rounds whose `x` is kept.
    pub inputs: Vec<usize>,
    /// Rounds whose `x⁺` is kept.
    pub outputs: Vec<usize>,
    /// `e²` of each round.
    pub squared_errors: Vec<f64>,
    /// Rounds in which the error exceeded the budget but the points were dependent.
    pub forced_rejections: u64,
    /// `W`, a row for each kept output.
    pub weights: DMatrix<f64>,
}

/// The sides of a round whose error exceeds the budget that are kept, by how far each is from
/// dependent.
fn admissions(
    round: &Round,
    residuals: (f64, f64),
    params: &SogdParams,
    exceeds: impl Fn(f64) -> bool,
) -> (bool, bool) {
    let guard = params.rank_guard.max(1e-13);
    let new = (residuals.0 > guard, residuals.1 > guard);
    if !params.rectangular {
        // A side that is there already does not keep the other out.
        return (new.0 && (new.1 || residuals.1 <= 1e-12), new.1 && (new.0 || residuals.0 <= 1e-12));
    }
    if !(new.0 && new.1) {
        return new;
    }
    let input_alone = round.squared_distance(&round.project(true, false), true, false);
    let output_alone = round.squared_distance(&round.project(false, true), false, true);
    match (exceeds(input_alone), exceeds(output_alone)) {
        (false, false) => (input_alone <= output_alone, input_alone > output_alone),
        (false, true) => (true, false),
        (true, false) => (false, true),
        (true, true) => (true, true),
    }
}

/// Sparse SOGD (Algorithm 1).
///
/// # Panics
/// If a Gram matrix of kept points is exactly singular.
pub fn sparse_sogd(
    pairs: &[Pair],
    input_kernel: KernelFn,
    output_kernel: KernelFn,
    params: SogdParams,
) -> OperatorTrace {
    let mut trace = OperatorTrace {
        inputs: Vec::new(),
        outputs: Vec::new(),
        squared_errors: Vec::new(),
        forced_rejections: 0,
        weights: DMatrix::zeros(0, 0),
    };
    for (t, (x, x_plus)) in pairs.iter().enumerate() {
        let eta = (params.eta)(t as u64 + 1);
        let epsilon = (params.budget)(eta);
        let (inputs, outputs) = (points(pairs, &trace.inputs, false), points(pairs, &trace.outputs, true));
        let round = Round::new(
            &trace.weights,
            &inputs,
            &outputs,
            (x, x_plus),
            (input_kernel, output_kernel),
            eta,
            params.lambda,
        );
        let exceeds = |squared: f64| match params.test {
            OperatorTest::Squared => squared > epsilon,
            _ => squared.max(0.0).sqrt() > epsilon,
        };
        // [neither, x alone, x⁺ alone]
        let neither = round.project(false, false);
        let squared_error = round.squared_distance(&neither, false, false);
        trace.squared_errors.push(squared_error);
        let tested = if params.test == OperatorTest::OutputAld { round.printed_error() } else { squared_error };
        let relative =
            |kept: &[Vec<f64>], point: &[f64], kernel: KernelFn| ald(kept, point, kernel).0 / kernel(point, point);
        let mut admitted = (false, false);
        if exceeds(tested) {
            let residuals = (relative(&inputs, x, input_kernel), relative(&outputs, x_plus, output_kernel));
            admitted = admissions(&round, residuals, &params, exceeds);
            if admitted == (false, false) {
                trace.forced_rejections += 1;
            }
            let room = |size: usize| params.max_dictionary.is_none_or(|most| size < most);
            let room = (room(inputs.len()), room(outputs.len()));
            let fitting = (admitted.0 && room.0, admitted.1 && room.1);
            admitted = if params.rectangular || fitting == admitted { fitting } else { (false, false) };
        }
        trace.weights = if admitted == (false, false) { neither } else { round.project(admitted.0, admitted.1) };
        if admitted.0 {
            trace.inputs.push(t);
        }
        if admitted.1 {
            trace.outputs.push(t);
        }
    }
    trace
}

/// SOGD on all pairs, by eq. 28 alone: `W`.
pub fn dense_sogd(pairs: &[Pair], input_kernel: KernelFn, eta: &dyn Fn(u64) -> f64, lambda: f64) -> DMatrix<f64> {
    let mut weights = DMatrix::zeros(0, 0);
    for (t, (x, _)) in pairs.iter().enumerate() {
        let earlier: Vec<Vec<f64>> = pairs[..t].iter().map(|pair| pair.0.clone()).collect();
        weights = extended(&weights, &kernel_vector(&earlier, x, input_kernel), eta(t as u64 + 1), lambda);
    }
    weights
}

/// Eq. 28: `[[(1 − λη)W, −ηWk], [0, η]]`.
fn extended(weights: &DMatrix<f64>, k: &DVector<f64>, eta: f64, lambda: f64) -> DMatrix<f64> {
    let (rows, columns) = weights.shape();
    let column = weights * k;
    DMatrix::from_fn(rows + 1, columns + 1, |i, j| match (i < rows, j < columns) {
        (true, true) => (1.0 - lambda * eta) * weights[(i, j)],
        (true, false) => -eta * column[i],
        (false, true) => 0.0,
        (false, false) => eta,
    })
}

/// A round: the extended weights and Gram matrices, the new pair last.
struct Round {
    weights: DMatrix<f64>,
    input_gram: DMatrix<f64>,
    output_gram: DMatrix<f64>,
}

impl Round {
    fn new(
        weights: &DMatrix<f64>,
        inputs: &[Vec<f64>],
        outputs: &[Vec<f64>],
        pair: (&[f64], &[f64]),
        kernels: (KernelFn, KernelFn),
        eta: f64,
        lambda: f64,
    ) -> Self {
        let with = |kept: &[Vec<f64>], point: &[f64]| [kept, &[point.to_vec()]].concat();
        Self {
            weights: extended(weights, &kernel_vector(inputs, pair.0, kernels.0), eta, lambda),
            input_gram: gram(&with(inputs, pair.0), kernels.0),
            output_gram: gram(&with(outputs, pair.1), kernels.1),
        }
    }

    /// `Z⋆` on the kept points, with the new ones that are said to join.
    fn project(&self, input: bool, output: bool) -> DMatrix<f64> {
        let rows = self.weights.nrows() - usize::from(!output);
        let columns = self.weights.ncols() - usize::from(!input);
        let left = coefficients(&self.output_gram, rows);
        let right = coefficients(&self.input_gram, columns);
        left * &self.weights * right.transpose()
    }

    /// `Tr[Eᵀ G̃_Y E G̃_X]` for `E = Z − W̃`.
    fn squared_distance(&self, z: &DMatrix<f64>, input: bool, output: bool) -> f64 {
        let mut error = -self.weights.clone();
        let (rows, columns) = (error.nrows() - usize::from(!output), error.ncols() - usize::from(!input));
        let mut kept = error.view_mut((0, 0), (rows, columns));
        kept += z;
        (error.transpose() * &self.output_gram * &error * &self.input_gram).trace()
    }

    /// The `ℓ(Z⋆)` that the appendix prints.
    fn printed_error(&self) -> f64 {
        let m = self.output_gram.nrows() - 1;
        let bar = self.output_gram.columns(0, m).clone_owned();
        let projected = &bar * coefficients(&self.output_gram, m);
        (self.weights.transpose() * (&self.output_gram - projected) * &self.weights * &self.input_gram).trace()
    }
}

/// `G⁻¹ Ḡᵀ` for the first `kept` points: the coefficients on them of the projection of every point.
fn coefficients(gram: &DMatrix<f64>, kept: usize) -> DMatrix<f64> {
    if kept == 0 {
        return DMatrix::zeros(0, gram.ncols());
    }
    let square = gram.view((0, 0), (kept, kept)).clone_owned();
    square.lu().solve(&gram.rows(0, kept).clone_owned()).expect("the Gram matrix of kept points is regular")
}

fn points(pairs: &[Pair], kept: &[usize], outputs: bool) -> Vec<Vec<f64>> {
    kept.iter().map(|&t| if outputs { pairs[t].1.clone() } else { pairs[t].0.clone() }).collect()
}

/// An operator in weights, with its points: what the read-outs below need.
pub struct DenseOperator<'a> {
    /// `x_j`
    pub inputs: Vec<Vec<f64>>,
    /// `x_i⁺`
    pub outputs: Vec<Vec<f64>>,
    /// `W`
    pub weights: DMatrix<f64>,
    /// `k_X`
    pub input_kernel: KernelFn<'a>,
    /// `k_Y`
    pub output_kernel: KernelFn<'a>,
}

impl<'a> DenseOperator<'a> {
    /// The operator at the end of a pass.
    pub fn from_trace(
        trace: &OperatorTrace,
        pairs: &[Pair],
        input_kernel: KernelFn<'a>,
        output_kernel: KernelFn<'a>,
    ) -> Self {
        Self {
            inputs: points(pairs, &trace.inputs, false),
            outputs: points(pairs, &trace.outputs, true),
            weights: trace.weights.clone(),
            input_kernel,
            output_kernel,
        }
    }

    /// `⟨U, U'⟩ = Σ W ∘ (G_YY' W' G_X'X)`
    pub fn hs_inner(&self, other: &Self) -> f64 {
        let cross = |kernel: KernelFn, a: &[Vec<f64>], b: &[Vec<f64>]| {
            DMatrix::from_fn(a.len(), b.len(), |i, j| kernel(&a[i], &b[j]))
        };
        let outputs = cross(self.output_kernel, &self.outputs, &other.outputs);
        let inputs = cross(self.input_kernel, &other.inputs, &self.inputs);
        self.weights.component_mul(&(outputs * &other.weights * inputs)).sum()
    }

    /// The eigenvalues of `Wᵀ G_YX`, by decreasing modulus.
    pub fn eigenvalues(&self) -> Vec<Complex<f64>> {
        let cross = DMatrix::from_fn(self.outputs.len(), self.inputs.len(), |i, j| {
            (self.input_kernel)(&self.outputs[i], &self.inputs[j])
        });
        let mut values: Vec<_> = (self.weights.transpose() * cross).complex_eigenvalues().iter().copied().collect();
        values.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
        values
    }

    /// `g(X⁺)ᵀ W (G_XY W)ⁿ⁻¹ k_X(x)`
    pub fn forecast(&self, g: &dyn Fn(&[f64]) -> f64, steps: usize, x: &[f64]) -> f64 {
        let cross = DMatrix::from_fn(self.inputs.len(), self.outputs.len(), |i, j| {
            (self.input_kernel)(&self.inputs[i], &self.outputs[j])
        });
        let values = DVector::from_iterator(self.outputs.len(), self.outputs.iter().map(|y| g(y)));
        let mut at_outputs = &self.weights * kernel_vector(&self.inputs, x, self.input_kernel);
        for _ in 1..steps {
            at_outputs = &self.weights * (&cross * at_outputs);
        }
        values.dot(&at_outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    /// Two pairs with every number by hand: κ = k(0, 1), W̃ = [[η, −η²κ], [0, η]] (λ = 0).
    #[test]
    fn two_rounds_by_hand() {
        let (kernel, kappa, eta) = (gaussian(1.0), (-0.5_f64).exp(), 0.5);
        let pairs = [(vec![0.0], vec![1.0]), (vec![1.0], vec![0.0])];
        let params = SogdParams {
            eta: &|_| 0.5,
            budget: &|_| 0.0,
            lambda: 0.0,
            test: OperatorTest::Norm,
            rectangular: false,
            rank_guard: 0.0,
            max_dictionary: None,
        };
        let trace = sparse_sogd(&pairs, &kernel, &kernel, params);
        let expected = DMatrix::from_row_slice(2, 2, &[eta, -eta * eta * kappa, 0.0, eta]);
        assert!((&trace.weights - &expected).norm() < 1e-15);
        assert!((dense_sogd(&pairs, &kernel, &|_| 0.5, 0.0) - expected).norm() < 1e-15);
        // e² = p δ_X + η² δ_Y k with r = η(κ − ηκ), δ_X = δ_Y = 1 − κ².
        let (r, delta) = (eta * (kappa - eta * kappa), 1.0 - kappa * kappa);
        assert!((trace.squared_errors[1] - (r * r * delta + eta * eta * delta)).abs() < 1e-15);
        assert!((trace.squared_errors[0] - eta * eta).abs() < 1e-15);
    }
}
