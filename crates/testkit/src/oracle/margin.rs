//! Classifiers of two classes `±1` in kernel coefficients, over plain vectors.
//!
//! `f(x) = Σ α_i k(d_i, x)` over the kept points in the order in which they were kept; `m = y f(x)`
//! is computed before the example is learnt; a mistake is `m ≤ 0`, the hinge loss
//! `ℓ = max(1 − m, 0)`, `κ = k(x, x)` and `ω` the weight. An example of weight 0 is predicted
//! alone. "Keep (x, a)" appends the point with the coefficient `a`.
//!
//! - perceptron (Freund and Schapire 1999): a mistake keeps `(x, ωy)`.
//! - RBP (Cavallanti et al. 2007): the same, and beyond `B` points one of the `B` older ones
//!   leaves, which the caller draws.
//! - Forgetron (Dekel et al. 2008, self-tuned): a mistake counts `M += ω` and keeps `(x, ωy)`;
//!   beyond `B` points, with the oldest `r`, `s = |α_r|`, `μ = sign(α_r) f(d_r)`, `A = s² − 2sμ`,
//!   `b = 2s`, `c = Q − 15M/32 < 0`: `φ = 1` if `A + b + c ≤ 0`, otherwise the root of
//!   `Aφ² + bφ + c` in `(0, 1)`, which is the only one there; found by bisection, because
//!   `(−b + √(b² − 4Ac))/2A` cancels where `A` is small. `α *= φ`, `Q += (sφ)² + 2sφ(1 − φμ)`, and
//!   `r` leaves.
//! - BPA-S (Wang and Vucetic 2010): `ℓ > 0`: `τ = min(ωC, ℓ)`; below `B` points keep `(x, yτ)`,
//!   otherwise for each `r` `b_r = α_r k_r + yτ`, `Q_r = (α_r² + b_r² − 2 b_r α_r k_r)/2 + ωC
//!   max(0, 1 − y(f − α_r k_r + b_r))`, and the `r` of the least leaves for `(x, b_r)`.
//! - PA (Crammer et al. 2006): `ℓ > 0` keeps `(x, y min(ωC, ℓ/κ))`, or in the second variant
//!   `(x, yℓ/(κ + 1/2ωC))`.
//! - BOGD (Zhao et al. 2012): `α *= 1 − ηλ`; `ℓ > 0` keeps `(x, y W(η))`, where `W(r) = ωr`, and
//!   for `ω > 1` at most `max(r, ℓ/κ)`; beyond `B` points one of the
//!   `B` older ones leaves, which the caller draws, and the other older ones are multiplied by
//!   `B/(B − 1)`.
//! - Pegasos: in round `t`, `α *= 1 − 1/t`, and `ℓ > 0` of the `f` before keeps `(x, y W(1/(λt)))`;
//!   beyond `B` points the oldest leaves.

use super::{KernelFn, Trace, WeightedExample};

/// A classifier with its parameters; `budget` is `B`.
#[derive(Clone, Copy, Debug)]
pub enum MarginRule {
    /// The perceptron.
    Perceptron,
    /// RBP.
    Rbp {
        /// `B`
        budget: usize,
    },
    /// The self-tuned Forgetron.
    Forgetron {
        /// `B`
        budget: usize,
    },
    /// BPA-S.
    BpaS {
        /// `B`
        budget: usize,
        /// `C`
        c: f64,
    },
    /// PA-I.
    Pa1 {
        /// `C`
        c: f64,
    },
    /// PA-II.
    Pa2 {
        /// `C`
        c: f64,
    },
    /// BOGD.
    Bogd {
        /// `B`
        budget: usize,
        /// `η`
        eta: f64,
        /// `λ`
        lambda: f64,
    },
    /// Pegasos.
    Pegasos {
        /// `B`
        budget: usize,
        /// `λ`
        lambda: f64,
    },
}

/// The kept points, by their places in the stream, and their coefficients.
struct Expansion<'a> {
    stream: &'a [WeightedExample],
    kernel: KernelFn<'a>,
    points: Vec<usize>,
    alpha: Vec<f64>,
}

impl Expansion<'_> {
    fn kernels(&self, x: &[f64]) -> Vec<f64> {
        self.points.iter().map(|i| (self.kernel)(&self.stream[*i].x, x)).collect()
    }

    fn value(&self, x: &[f64]) -> f64 {
        self.kernels(x).iter().zip(&self.alpha).map(|(k, a)| a * k).sum()
    }

    fn keep(&mut self, t: usize, a: f64) {
        self.points.push(t);
        self.alpha.push(a);
    }

    fn remove(&mut self, r: usize) {
        self.points.remove(r);
        self.alpha.remove(r);
    }

    fn scale(&mut self, factor: f64) {
        self.alpha.iter_mut().for_each(|a| *a *= factor);
    }

    /// Shrinks all so that the damage of removing the oldest stays within its bound, `−left` more
    /// than now; that damage.
    fn shrink_oldest(&mut self, left: f64) -> f64 {
        let (s, sign) = (self.alpha[0].abs(), self.alpha[0].signum());
        let mu = sign * self.value(&self.stream[self.points[0]].x);
        let (a, b) = (s * s - 2.0 * s * mu, 2.0 * s);
        let phi = if a + b + left <= 0.0 { 1.0 } else { bisect(|phi| a * phi * phi + b * phi + left) };
        self.scale(phi);
        (s * phi).powi(2) + 2.0 * s * phi * (1.0 - phi * mu)
    }

    /// The point whose replacement by `x`, with the coefficient behind it, costs least.
    fn least_projection(&self, x: &[f64], (y, score): (f64, f64), tau: f64, c: f64) -> (usize, f64) {
        let mut least = (0, 0.0, f64::INFINITY);
        for (r, (a, k)) in self.alpha.iter().zip(self.kernels(x)).enumerate() {
            let b = a * k + tau * y;
            let hinge = (1.0 - y * (score - a * k + b)).max(0.0);
            let q = (a * a + b * b - 2.0 * b * a * k) / 2.0 + c * hinge;
            if q < least.2 {
                least = (r, b, q);
            }
        }
        (least.0, least.1)
    }

    /// A step `tau` of BPA-S, where a full dictionary gives up the point of the least loss.
    fn bpa_s(&mut self, t: usize, (y, score): (f64, f64), tau: f64, (budget, c): (usize, f64)) {
        if self.points.len() < budget {
            return self.keep(t, y * tau);
        }
        let (removed, kept) = self.least_projection(&self.stream[t].x, (y, score), tau, c);
        self.remove(removed);
        self.keep(t, kept);
    }

    /// Removes a point where there are more than so many.
    fn remove_beyond(&mut self, budget: usize, which: impl FnOnce() -> usize) {
        if self.points.len() > budget {
            self.remove(which());
        }
    }
}

/// Where `f` goes from negative to positive between 0 and 1.
fn bisect(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if f(middle) <= 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// A step of a weighted example, which brings the margin to 1 at most, or as far as weight 1 does.
fn weighted(rate: f64, weight: f64, to_margin: f64) -> f64 {
    if weight <= 1.0 { weight * rate } else { (weight * rate).min(f64::max(rate, to_margin)) }
}

/// One pass of a classifier by its definition. `draw(n)` is asked for one of `n` points where the
/// rule removes one at random.
pub fn margin_classifier(
    stream: &[WeightedExample],
    kernel: KernelFn,
    rule: MarginRule,
    mut draw: impl FnMut(usize) -> usize,
) -> Trace {
    let mut predictions = Vec::new();
    let mut f = Expansion { stream, kernel, points: Vec::new(), alpha: Vec::new() };
    let (mut mistakes, mut damage, mut rounds) = (0.0, 0.0, 0.0);
    for (t, WeightedExample { x, y, weight }) in stream.iter().enumerate() {
        let (y, score) = (y[0], f.value(x));
        predictions.push(score);
        if *weight == 0.0 {
            continue;
        }
        let (mistake, loss, own) = (y * score <= 0.0, (1.0 - y * score).max(0.0), kernel(x, x));
        match rule {
            MarginRule::Perceptron if mistake => f.keep(t, weight * y),
            MarginRule::Rbp { budget } if mistake => {
                f.keep(t, weight * y);
                f.remove_beyond(budget, || draw(budget));
            }
            MarginRule::Forgetron { budget } if mistake => {
                mistakes += weight;
                f.keep(t, weight * y);
                if f.points.len() > budget {
                    damage += f.shrink_oldest(damage - 15.0 * mistakes / 32.0);
                    f.remove(0);
                }
            }
            MarginRule::BpaS { budget, c } if loss > 0.0 => {
                f.bpa_s(t, (y, score), (weight * c).min(loss), (budget, weight * c));
            }
            MarginRule::Pa1 { c } if loss > 0.0 => f.keep(t, y * (weight * c).min(loss / own)),
            MarginRule::Pa2 { c } if loss > 0.0 => f.keep(t, y * loss / (own + 1.0 / (2.0 * weight * c))),
            MarginRule::Bogd { budget, eta, lambda } => {
                f.scale(1.0 - eta * lambda);
                if loss > 0.0 {
                    if f.points.len() == budget {
                        f.remove(draw(budget));
                        f.scale(budget as f64 / (budget as f64 - 1.0));
                    }
                    f.keep(t, y * weighted(eta, *weight, loss / own));
                }
            }
            MarginRule::Pegasos { budget, lambda } => {
                rounds += 1.0;
                f.scale(1.0 - 1.0 / rounds);
                if loss > 0.0 {
                    f.keep(t, y * weighted(1.0 / (lambda * rounds), *weight, loss / own));
                    f.remove_beyond(budget, || 0);
                }
            }
            _ => {}
        }
    }
    Trace { predictions, dictionary: f.points }
}
