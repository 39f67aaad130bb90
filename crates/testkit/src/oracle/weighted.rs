//! Every loss, weights and several outputs, as the formulas say it: literal loops, functions in H,
//! an SVD basis, dense solves.
//!
//! An example of weight `ω` has the loss `ω ℓ(z, y)`. One of weight 0 is predicted and changes
//! nothing, not even the age of what is forgotten. With several outputs there is a function for
//! each; losses sum over them, and so do squared norms. Each oracle here is one prequential pass
//! and returns the predictions, row by row.

use nalgebra::{DMatrix, DVector};

use super::KernelFn;
use super::dense::{ald, gram, kernel_vector, solve};
use super::kogd::expansion;
use super::kons::{inverse_applied, subtract};
use super::nons_ald::project;
use super::svd_basis::{SvdBasis, carry, carry_weights};

/// An input, its target (a number for each output; one class for softmax) and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedExample {
    /// `x`
    pub x: Vec<f64>,
    /// `y`
    pub y: Vec<f64>,
    /// `ω`
    pub weight: f64,
}

/// `∂ℓ/∂z` of the loss of this name (with its parameter after a colon) at the scores `z`, 0 at a
/// kink.
///
/// # Panics
/// If there is no such loss.
pub fn loss_gradient(loss: &str, z: &[f64], y: &[f64]) -> Vec<f64> {
    let (name, parameter) = loss.split_once(':').unwrap_or((loss, "0"));
    let p: f64 = parameter.parse().expect("a number");
    if name == "softmax" {
        let sum: f64 = z.iter().map(|z| z.exp()).sum();
        return z.iter().enumerate().map(|(k, z)| z.exp() / sum - f64::from(u8::from(k as f64 == y[0]))).collect();
    }
    let sign = |e: f64| if e == 0.0 { 0.0 } else { e.signum() };
    let derivative = |z: f64, y: f64| {
        let e = z - y;
        match name {
            "squared" => 2.0 * e,
            "absolute" => sign(e),
            "huber" => {
                if e.abs() <= p {
                    e
                } else {
                    p * sign(e)
                }
            }
            "epsilon" => {
                if e.abs() <= p {
                    0.0
                } else {
                    sign(e)
                }
            }
            "quantile" => {
                if e < 0.0 {
                    -p
                } else if e > 0.0 {
                    1.0 - p
                } else {
                    0.0
                }
            }
            "poisson" => z.exp() - y,
            "logistic" => -y / (1.0 + (y * z).exp()),
            "hinge" => {
                if y * z < 1.0 {
                    -y
                } else {
                    0.0
                }
            }
            "squared-hinge" => {
                if y * z < 1.0 {
                    -2.0 * y * (1.0 - y * z)
                } else {
                    0.0
                }
            }
            _ => panic!("no loss {name}"),
        }
    };
    z.iter().zip(y).map(|(z, y)| derivative(*z, *y)).collect()
}

/// Scores as predictions: counts for Poisson.
fn in_units(loss: &str, z: &[f64]) -> Vec<f64> {
    z.iter().map(|z| if loss == "poisson" { z.exp() } else { *z }).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Gradient descent on explicit features: `w_k ← w_k − η ω g_k φ(x)`.
pub fn feature_gradient(
    stream: &[WeightedExample],
    features: &dyn Fn(&[f64]) -> Vec<f64>,
    outputs: usize,
    loss: &str,
    step: f64,
) -> Vec<f64> {
    let mut w: Vec<Vec<f64>> = vec![Vec::new(); outputs];
    let mut predictions = Vec::new();
    for WeightedExample { x, y, weight } in stream {
        let phi = features(x);
        w.iter_mut().for_each(|w| w.resize(phi.len(), 0.0));
        let z: Vec<f64> = w.iter().map(|w| dot(w, &phi)).collect();
        predictions.extend(in_units(loss, &z));
        for (w, g) in w.iter_mut().zip(loss_gradient(loss, &z, y)) {
            for (w, phi) in w.iter_mut().zip(&phi) {
                *w -= step * weight * g * phi;
            }
        }
    }
    predictions
}

/// Lengths of the steps of [`FunctionGradient`].
#[derive(Clone, Copy, Debug)]
pub enum Steps {
    /// The same in every round.
    Constant(f64),
    /// `U/√(1 + Σ ω²‖g‖²‖∇‖²)`, the round itself included.
    Adaptive,
}

/// Gradient descent on functions in H, a coefficient for each point and output: KOGD, or AOGD-ALD
/// with a threshold.
#[derive(Clone, Debug)]
pub struct FunctionGradient {
    /// Name of the loss.
    pub loss: &'static str,
    /// Its steps.
    pub steps: Steps,
    /// `U`, the bound on the norm of all outputs together.
    pub radius: f64,
    /// The ALD threshold, if steps are projected on a dictionary.
    pub alpha: Option<f64>,
    points: Vec<Vec<f64>>,
    coefficients: Vec<Vec<f64>>,
    squares: f64,
}

impl FunctionGradient {
    /// All outputs 0.
    pub fn new(outputs: usize, loss: &'static str, steps: Steps, radius: f64, alpha: Option<f64>) -> Self {
        Self { loss, steps, radius, alpha, points: Vec::new(), coefficients: vec![Vec::new(); outputs], squares: 0.0 }
    }

    /// One more output, a copy of output `k`.
    pub fn copy_output(&mut self, k: usize) {
        self.coefficients.push(self.coefficients[k].clone());
    }

    /// One prequential round; the prediction.
    pub fn learn(&mut self, example: &WeightedExample, kernel: KernelFn) -> Vec<f64> {
        let WeightedExample { x, y, weight } = example;
        let z: Vec<f64> = self.coefficients.iter().map(|c| expansion(&self.points, c, x, kernel)).collect();
        let g = loss_gradient(self.loss, &z, y);
        if *weight > 0.0 {
            let projected = self.alpha.map(|alpha| (alpha, ald(&self.points, x, kernel)));
            let inside = projected.filter(|(alpha, (residual, _))| residual <= alpha).map(|(_, (_, beta))| beta);
            let squared_gradient: f64 = g.iter().map(|g| (weight * g).powi(2)).sum();
            let norm = match &inside {
                Some(beta) if beta.is_empty() => 0.0,
                Some(beta) => beta.dot(&(gram(&self.points, kernel) * beta)),
                None => kernel(x, x),
            };
            self.squares += squared_gradient * norm;
            let eta = match self.steps {
                Steps::Constant(eta) => eta,
                Steps::Adaptive => self.radius / (1.0_f64 + self.squares).sqrt(),
            };
            if inside.is_none() {
                self.points.push(x.clone());
            }
            for (c, g) in self.coefficients.iter_mut().zip(&g) {
                match &inside {
                    Some(beta) => c.iter_mut().zip(beta.iter()).for_each(|(c, b)| *c -= eta * weight * g * b),
                    None => c.push(-eta * weight * g),
                }
            }
            let k = gram(&self.points, kernel);
            let squared: f64 = self
                .coefficients
                .iter()
                .filter(|c| !c.is_empty())
                .map(|c| DVector::from_column_slice(c).dot(&(&k * DVector::from_column_slice(c))))
                .sum();
            if squared > self.radius * self.radius {
                let shrink = self.radius / squared.sqrt();
                self.coefficients.iter_mut().flatten().for_each(|c| *c *= shrink);
            }
        }
        in_units(self.loss, &z)
    }
}

/// The online Newton step on an ALD dictionary in the SVD basis.
#[derive(Clone, Copy, Debug)]
pub struct WeightedNewton {
    /// Name of the loss: squared, logistic or softmax.
    pub loss: &'static str,
    /// Outputs: the classes of softmax, or 1.
    pub outputs: usize,
    /// Regulariser `μ`.
    pub mu: f64,
    /// ALD threshold.
    pub alpha: f64,
    /// `U`
    pub radius: f64,
    /// `η`, or `κ` for softmax.
    pub curvature: f64,
    /// The most points to keep.
    pub max_dictionary: usize,
}

impl WeightedNewton {
    /// `A ← A + ω h φφᵀ` with `h = ηg²` (`κ` for softmax), `w_k ← w_k − ω A⁻¹ g_k φ`, each output
    /// projected on `|w_kᵀφ| ≤ U` first.
    pub fn run(&self, stream: &[WeightedExample], kernel: KernelFn) -> Vec<f64> {
        let mut predictions = Vec::new();
        let mut basis = SvdBasis::new(kernel, Vec::new());
        let mut a = DMatrix::<f64>::zeros(0, 0);
        let mut w = vec![DVector::<f64>::zeros(0); self.outputs];
        for WeightedExample { x, y, weight } in stream {
            let phi = basis.coordinates(x);
            let z: Vec<f64> = w.iter().map(|w| w.dot(&phi).clamp(-self.radius, self.radius)).collect();
            predictions.extend(&z);
            if *weight == 0.0 {
                continue;
            }
            w.iter_mut().for_each(|w| project(w, &a, &phi, self.radius));
            let g = loss_gradient(self.loss, &z, y);
            if basis.len() < self.max_dictionary && basis.residual(x) > self.alpha {
                let larger = basis.enlarged(x);
                let q = larger.change_from(&basis);
                a = carry(&a, &q, self.mu);
                w = w.iter().map(|w| carry_weights(w, &q)).collect();
                basis = larger;
            }
            let phi = basis.coordinates(x);
            let h = if self.loss == "softmax" { self.curvature } else { self.curvature * g[0] * g[0] };
            let before = phi.dot(&solve(&a, &phi));
            a += &phi * phi.transpose() * (weight * h);
            let direction = solve(&a, &phi) * short_of_target(self.loss, self.mu, *weight, h, before);
            w.iter_mut().zip(&g).for_each(|(w, g)| *w -= &direction * (weight * g));
        }
        predictions
    }
}

/// Share of a Newton step `ωg A⁻¹φ` that is made: all of it, but no more than `1/(ℓ″ s)` times the
/// gradient, with `s = φᵀA⁻¹φ` of before and the largest second derivative `ℓ″`, for weights above
/// 1 and `μ` below 1.
fn short_of_target(loss: &str, mu: f64, weight: f64, h: f64, before: f64) -> f64 {
    if weight <= 1.0 && mu >= 1.0 {
        return 1.0;
    }
    let steepest = match loss {
        "squared" => 2.0,
        "softmax" => 0.5,
        _ => 0.25,
    };
    ((1.0 + weight * h * before) / (weight * steepest * before)).min(1.0)
}

/// KONS with a loss and weights: `A ← A + η ω g² k_x k_xᵀ`, `f ← f − ω g A⁻¹k_x`, with a dense
/// inverse each round.
pub fn weighted_kons(
    stream: &[WeightedExample],
    kernel: KernelFn,
    loss: &str,
    [mu, eta]: [f64; 2],
    clip: Option<f64>,
) -> Vec<f64> {
    let (mut points, mut coefficients, mut h) = (Vec::new(), Vec::new(), Vec::new());
    let mut predictions = Vec::new();
    for WeightedExample { x, y, weight } in stream {
        let z = expansion(&points, &coefficients, x, kernel);
        let prediction = clip.map_or(z, |limit| z.clamp(-limit, limit));
        predictions.push(prediction);
        if *weight == 0.0 {
            continue;
        }
        let t = points.len();
        points.push(x.clone());
        coefficients.push(0.0);
        h.push(0.0);
        if z != prediction {
            let direction = inverse_applied(&points, &h, t, kernel, mu);
            let curvature = expansion(&points, &direction, x, kernel);
            subtract(&mut coefficients, &direction, (z - prediction) / curvature);
        }
        let g = loss_gradient(loss, &[prediction], y)[0];
        let direction = inverse_applied(&points, &h, t, kernel, mu);
        let before = expansion(&points, &direction, x, kernel);
        h[t] = (eta * weight).sqrt() * g;
        let direction = inverse_applied(&points, &h, t, kernel, mu);
        let share = short_of_target(loss, mu, *weight, eta * g * g, before);
        subtract(&mut coefficients, &direction, weight * g * share);
    }
    predictions
}

/// Rule by which [`WeightedLeastSquares`] forgets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Forgets {
    /// Rows and ridge count `γ` times as much with every round after them.
    Exponential(f64),
    /// `P ← γP + (1−γ)I/λ`, `W ← √γ W` after each round.
    ToPrior(f64),
}

/// Least squares on the coordinates that are given for each round, solved anew for every
/// prediction; coordinates that come later are 0 in the rows before.
#[derive(Clone, Debug)]
pub struct WeightedLeastSquares {
    lambda: f64,
    vovk: bool,
    forgets: Forgets,
    outputs: usize,
    rows: Vec<(Vec<f64>, Vec<f64>, f64)>,
    ridges: Vec<f64>,
    /// `P` and `W` of the recursion that goes back to the prior.
    p: DMatrix<f64>,
    w: DMatrix<f64>,
}

impl WeightedLeastSquares {
    /// Minimises `Σ ω_s ‖y_s − Wᵀφ_s‖² + λ‖W‖²`; with `vovk` forecasts reckon with their own input
    /// at target 0.
    pub fn new(outputs: usize, lambda: f64, vovk: bool, forgets: Forgets) -> Self {
        let (p, w) = (DMatrix::zeros(0, 0), DMatrix::zeros(0, outputs));
        Self { lambda, vovk, forgets, outputs, rows: Vec::new(), ridges: Vec::new(), p, w }
    }

    /// The prediction at `phi`, which has as many coordinates as the longest row so far.
    ///
    /// # Panics
    /// If the least-squares problem is singular.
    pub fn predict(&self, phi: &[f64]) -> Vec<f64> {
        let n = phi.len();
        if n == 0 {
            return vec![0.0; self.outputs];
        }
        let at = DVector::from_column_slice(phi);
        if let Forgets::ToPrior(_) = self.forgets {
            return (self.w.clone().resize_vertically(n, 0.0).transpose() * at).iter().copied().collect();
        }
        let own = usize::from(self.vovk);
        let rows = self.rows.len() + n + own;
        let ridge = |j: usize| self.ridges.get(j).copied().unwrap_or(self.lambda).sqrt();
        let matrix = DMatrix::from_fn(rows, n, |i, j| match self.rows.get(i) {
            Some((row, _, weight)) => weight.sqrt() * row.get(j).copied().unwrap_or(0.0),
            None if i == rows - own => phi[j],
            None if i - self.rows.len() == j => ridge(j),
            None => 0.0,
        });
        let mut targets = DMatrix::from_fn(rows, self.outputs, |i, k| {
            self.rows.get(i).map_or(0.0, |(_, y, weight)| weight.sqrt() * y[k])
        });
        let qr = matrix.qr();
        qr.q_tr_mul(&mut targets);
        let w = qr.r().solve_upper_triangular(&targets.rows(0, n)).expect("the columns are independent");
        (w.transpose() * at).iter().copied().collect()
    }

    /// Learns a row, which may have coordinates more than those before.
    pub fn learn(&mut self, phi: &[f64], y: &[f64], weight: f64) {
        if weight == 0.0 {
            return;
        }
        self.ridges.resize(phi.len(), self.lambda);
        if let Forgets::ToPrior(gamma) = self.forgets {
            let (n, old) = (phi.len(), self.p.nrows());
            let prior = DMatrix::identity(n, n) / self.lambda;
            let mut p = prior.clone();
            p.view_mut((0, 0), (old, old)).copy_from(&self.p);
            let w = self.w.clone().resize_vertically(n, 0.0);
            let at = DVector::from_column_slice(phi);
            let information = p.try_inverse().expect("P is positive definite");
            let right = &information * w + &at * DVector::from_column_slice(y).transpose() * weight;
            let p = (information + &at * at.transpose() * weight).try_inverse().expect("A is positive definite");
            self.w = &p * right * gamma.sqrt();
            self.p = p * gamma + prior * (1.0 - gamma);
            return;
        }
        self.rows.push((phi.to_vec(), y.to_vec(), weight));
        if let Forgets::Exponential(gamma) = self.forgets {
            self.rows.iter_mut().for_each(|(_, _, weight)| *weight *= gamma);
            self.ridges.iter_mut().for_each(|ridge| *ridge *= gamma);
        }
    }
}

/// Coordinates of `x` on independent points, by the Cholesky factor of their Gram matrix, and the
/// residual of `k(x, ·)`.
///
/// # Panics
/// If the points are dependent.
pub fn newton_coordinates(points: &[Vec<f64>], x: &[f64], kernel: KernelFn) -> (Vec<f64>, f64) {
    newton_coordinates_by(&lower_factor(points, kernel), points, x, kernel)
}

/// The Cholesky factor `L` of the points' Gram matrix.
pub(super) fn lower_factor(points: &[Vec<f64>], kernel: KernelFn) -> DMatrix<f64> {
    gram(points, kernel).cholesky().expect("the points are independent").unpack()
}

/// [`newton_coordinates`] with the factor of the points.
pub(super) fn newton_coordinates_by(
    lower: &DMatrix<f64>,
    points: &[Vec<f64>],
    x: &[f64],
    kernel: KernelFn,
) -> (Vec<f64>, f64) {
    let phi = lower.solve_lower_triangular(&kernel_vector(points, x, kernel)).expect("a positive diagonal");
    let residual = (kernel(x, x) - phi.norm_squared()).max(0.0);
    (phi.iter().copied().collect(), residual)
}

/// Kernel ridge regression with weights, `(K + λΩ⁻¹)α = Y` over the past rounds of positive weight;
/// with `vovk` the row `(x_t, 0)` of weight 1 is one of them. `inner[t][s]` is the inner product of
/// rounds `t` and `s` as round `t` knows it.
///
/// # Panics
/// If `lambda` is not positive.
pub fn weighted_kernel_ridge(
    stream: &[WeightedExample],
    lambda: f64,
    vovk: bool,
    inner: &dyn Fn(usize, usize, usize) -> f64,
) -> Vec<f64> {
    let mut predictions = Vec::new();
    for (t, example) in stream.iter().enumerate() {
        let mut rows: Vec<usize> = (0..t).filter(|s| stream[*s].weight > 0.0).collect();
        rows.extend(vovk.then_some(t));
        let n = rows.len();
        let weight = |i: usize| if rows[i] == t { 1.0 } else { stream[rows[i]].weight };
        let system =
            DMatrix::from_fn(n, n, |i, j| inner(t, rows[i], rows[j]) + if i == j { lambda / weight(i) } else { 0.0 });
        for k in 0..example.y.len() {
            let y = DVector::from_fn(n, |i, _| if rows[i] == t { 0.0 } else { stream[rows[i]].y[k] });
            let alpha = solve(&system, &y);
            predictions.push((0..n).map(|i| alpha[i] * inner(t, rows[i], t)).sum());
        }
    }
    predictions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::gaussian;

    fn example(x: f64, y: f64, weight: f64) -> WeightedExample {
        WeightedExample { x: vec![x], y: vec![y], weight }
    }

    /// One coordinate that is always 1: the weighted mean with `λ` in the denominator, then
    /// everything halved.
    #[test]
    fn least_squares_by_hand() {
        let mut fit = WeightedLeastSquares::new(1, 0.5, false, Forgets::Exponential(0.5));
        fit.learn(&[1.0], &[2.0], 3.0);
        fit.learn(&[1.0], &[-1.0], 1.0);
        // (¼·3·2 − ½·1)/(¼·3 + ½ + ¼·½)
        assert!((fit.predict(&[1.0])[0] - 1.0 / 1.375).abs() < 1e-15);
        let mut back = WeightedLeastSquares::new(1, 0.5, false, Forgets::ToPrior(0.25));
        back.learn(&[1.0], &[2.0], 3.0);
        // w = 6/3.5, then times ½.
        assert!((back.predict(&[1.0])[0] - 3.0 / 3.5).abs() < 1e-15);
    }

    /// Two examples at one point: `ω₁y₁κ/(ω₁ + λ)` whatever the form.
    #[test]
    fn kernel_ridge_by_hand() {
        let kernel = gaussian(1.0);
        let stream = [example(0.0, 2.0, 3.0), example(5.0, 9.0, 0.0), example(1.0, 0.0, 1.0)];
        let inner = |_: usize, i: usize, j: usize| kernel(&stream[i].x, &stream[j].x);
        let got = weighted_kernel_ridge(&stream, 0.5, false, &inner);
        assert!(got[0] == 0.0 && (got[2] - 6.0 * (-0.5f64).exp() / 3.5).abs() < 1e-15);
    }

    /// Derivatives at points where they are known.
    #[test]
    fn gradients_by_hand() {
        for (loss, z, y, expected) in [
            ("squared", 1.0, 3.0, -4.0),
            ("huber:0.5", 1.0, 3.0, -0.5),
            ("epsilon:0.5", 3.2, 3.0, 0.0),
            ("quantile:0.9", 1.0, 3.0, -0.9),
            ("poisson", 0.0, 3.0, -2.0),
            ("logistic", 0.0, 1.0, -0.5),
            ("hinge", 0.0, -1.0, 1.0),
            ("squared-hinge", 0.5, 1.0, -1.0),
        ] {
            assert_eq!(loss_gradient(loss, &[z], &[y]), [expected], "{loss}");
        }
        let softmax = loss_gradient("softmax", &[0.0, 0.0], &[1.0]);
        assert_eq!(softmax, [0.5, -0.5]);
    }
}
