//! Exact Shapley values of sums of products.
//!
//! Let `f(S) = Σ_i α_i Π_{j∈S} a_ij Π_{j∉S} b_ij`, where `a_ij` is the factor of player `j` when it
//! is there and `b_ij` the one when it is not. Owen's integral of the multilinear extension gives,
//! with `F_ij(t) = t a_ij + (1 − t) b_ij`,
//!
//! ```text
//! φ_j = Σ_i α_i (a_ij − b_ij) ∫₀¹ Π_{l≠j} F_il(t) dt
//! ```
//!
//! The integrand has degree `d − 1` in `t`, so `⌈d/2⌉` Gauss–Legendre nodes are exact. Products
//! without one factor are prefix times suffix, without a division. Factors of kernels are positive,
//! so nothing cancels; elementary symmetric polynomials with division lose all digits at `d = 100`.
//! At most 32 nodes are taken at first: `Σ_j φ_j = f(all) − f(none)` tells if they are enough, and
//! they are doubled until they are. `O(J d ⌈d/2⌉)`, eight terms side by side.

use std::ops::{Add, Mul, Sub};

use mercer_simd::{Op, Simd, dispatch};

/// Nodes that are tried first, at most.
const NODES: usize = 32;
/// Error of the sum of the values that is rounding, in units of `Σ |α|`.
const ROUNDING: f64 = 1e-10;

/// A factor of a product: a number, or one of the complex plane.
pub trait ShapleyFactor: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// One.
    const ONE: Self;

    /// The same times a number.
    #[must_use]
    fn times(self, number: f64) -> Self;

    /// Its real part.
    fn real(self) -> f64;

    /// Its absolute value.
    fn size(self) -> f64;
}

impl ShapleyFactor for f64 {
    const ONE: Self = 1.0;

    fn times(self, number: f64) -> Self {
        self * number
    }

    fn real(self) -> f64 {
        self
    }

    fn size(self) -> f64 {
        self.abs()
    }
}

/// A complex number, a factor of random Fourier features.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

impl Complex {
    /// `e^{iφ}`
    #[must_use]
    pub fn turn(angle: f64) -> Self {
        Self { re: angle.cos(), im: angle.sin() }
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

impl ShapleyFactor for Complex {
    const ONE: Self = Self { re: 1.0, im: 0.0 };

    fn times(self, number: f64) -> Self {
        Self { re: self.re * number, im: self.im * number }
    }

    fn real(self) -> f64 {
        self.re
    }

    fn size(self) -> f64 {
        self.re.hypot(self.im)
    }
}

/// Shapley values of the real part of a sum of products, with the sum of none.
///
/// `present` and `absent` hold the factors player by player: those of player `j` are entries
/// `jJ .. (j + 1)J`, one for each of the `J` weights.
///
/// # Panics
/// If the factors are not `J` for each of `players`.
pub fn shapley_values<T: ShapleyFactor>(weights: &[T], present: &[T], absent: &[T], players: usize) -> (f64, Vec<f64>) {
    let terms = weights.len();
    assert!(present.len() == players * terms && absent.len() == players * terms, "a factor for each player and weight");
    let whole = |factors: &[T]| -> f64 {
        let product = |i: usize| (0..players).fold(weights[i], |product, j| product * factors[j * terms + i]);
        (0..terms).map(|i| product(i).real()).sum()
    };
    let (all, none) = (whole(present), whole(absent));
    let exact = players.div_ceil(2).max(1);
    let allowed = ROUNDING * weights.iter().map(|weight| weight.size()).sum::<f64>();
    let mut nodes = exact.min(NODES);
    loop {
        let values = dispatch(Quadrature { weights, present, absent, players, nodes: gauss_legendre(nodes) });
        let off = (values.iter().sum::<f64>() - (all - none)).abs();
        if nodes >= exact || off <= allowed {
            return (none, values);
        }
        nodes = (2 * nodes).min(exact);
    }
}

/// Terms that are worked on side by side.
const TERMS: usize = 8;

/// The values of all players by some nodes. Each block of terms is read once for all nodes.
struct Quadrature<'a, T> {
    weights: &'a [T],
    present: &'a [T],
    absent: &'a [T],
    players: usize,
    nodes: Vec<(f64, f64)>,
}

/// A player's factors of a block of terms.
#[derive(Clone, Copy)]
struct PlayerBlock<T> {
    present: [T; TERMS],
    absent: [T; TERMS],
    /// The product of the weights and the factors of the players before, and the own factor.
    before: [T; TERMS],
    factor: [T; TERMS],
}

impl<T: ShapleyFactor> Op for Quadrature<'_, T> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Vec<f64> {
        let Self { weights, present, absent, players, nodes } = self;
        let one = [T::ONE; TERMS];
        let mut block = vec![PlayerBlock { present: one, absent: one, before: one, factor: one }; players];
        let mut sums = vec![[0.0; TERMS]; players];
        for first in (0..weights.len()).step_by(TERMS) {
            let count = TERMS.min(weights.len() - first);
            // Terms behind the last have the weight 0.
            let mut own = [T::ONE.times(0.0); TERMS];
            own[..count].copy_from_slice(&weights[first..first + count]);
            for (j, player) in block.iter_mut().enumerate() {
                let from = j * weights.len() + first;
                player.present[..count].copy_from_slice(&present[from..from + count]);
                player.absent[..count].copy_from_slice(&absent[from..from + count]);
            }
            for (node, share) in &nodes {
                let mut before = own;
                for player in &mut block {
                    player.before = before;
                    for i in 0..TERMS {
                        player.factor[i] = player.present[i].times(*node) + player.absent[i].times(1.0 - node);
                        before[i] = before[i] * player.factor[i];
                    }
                }
                let mut behind = [T::ONE.times(*share); TERMS];
                for (player, sums) in block.iter().zip(&mut sums).rev() {
                    for i in 0..TERMS {
                        let rest = player.before[i] * behind[i];
                        sums[i] += ((player.present[i] - player.absent[i]) * rest).real();
                        behind[i] = behind[i] * player.factor[i];
                    }
                }
            }
        }
        sums.iter().map(|sums| sums.iter().sum()).collect()
    }
}

/// Nodes and weights of Gauss and Legendre on `[0, 1]`, by Newton's method.
fn gauss_legendre(nodes: usize) -> Vec<(f64, f64)> {
    let n = nodes as f64;
    let node = |k: usize| {
        let mut x = (std::f64::consts::PI * (k as f64 + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..100 {
            let (mut last, mut value) = (1.0, x);
            for degree in 2..=nodes {
                let m = degree as f64;
                (last, value) = (value, ((2.0 * m - 1.0) * x * value - (m - 1.0) * last) / m);
            }
            slope = if nodes == 1 { 1.0 } else { n * (x * value - last) / (x * x - 1.0) };
            let step = value / slope;
            x -= step;
            if step.abs() < 1e-16 {
                break;
            }
        }
        ((1.0 - x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..nodes).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_integrate_polynomials_exactly() {
        for nodes in [1, 2, 5, 16, 32, 50] {
            let rule = gauss_legendre(nodes);
            for degree in [0, 1, nodes, 2 * nodes - 1] {
                let sum: f64 = rule.iter().map(|(node, weight)| weight * node.powi(degree as i32)).sum();
                let exact = 1.0 / (degree as f64 + 1.0);
                assert!((sum / exact - 1.0).abs() < 1e-13, "{nodes} nodes, degree {degree}: {sum}");
            }
        }
    }

    /// `Σ_S |S|! (d − 1 − |S|)!/d! (f(S + j) − f(S))`.
    fn brute_force<T: ShapleyFactor>(weights: &[T], present: &[T], absent: &[T], players: usize) -> Vec<f64> {
        let terms = weights.len();
        let value = |set: u32| -> f64 {
            let factor =
                |j: usize, i: usize| if set >> j & 1 == 1 { present[j * terms + i] } else { absent[j * terms + i] };
            (0..terms).map(|i| (0..players).fold(weights[i], |product, j| product * factor(j, i)).real()).sum()
        };
        let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
        let d = players as u32;
        let share = |n: u32| factorial(n) * factorial(d - 1 - n) / factorial(d);
        let of_player = |j: usize| {
            let sets = (0..1_u32 << players).filter(|set| set >> j & 1 == 0);
            sets.map(|set| share(set.count_ones()) * (value(set | 1 << j) - value(set))).sum()
        };
        (0..players).map(of_player).collect()
    }

    fn uniforms(seed: u64, count: usize) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn they_are_those_of_all_subsets() {
        for players in [1, 2, 3, 8, 10] {
            let weights: Vec<f64> = uniforms(1, 20).iter().map(|u| 2.0 * u - 1.0).collect();
            let (present, absent) = (uniforms(2, 20 * players), uniforms(3, 20 * players));
            let (_, values) = shapley_values(&weights, &present, &absent, players);
            for (value, exact) in values.iter().zip(brute_force(&weights, &present, &absent, players)) {
                assert!((value - exact).abs() < 1e-12, "{players}: {value} and {exact}");
            }
            let turn = |angles: Vec<f64>| angles.iter().map(|angle| Complex::turn(6.0 * angle)).collect::<Vec<_>>();
            let (weights, present, absent) = (turn(weights), turn(present), turn(absent));
            let (_, values) = shapley_values(&weights, &present, &absent, players);
            for (value, exact) in values.iter().zip(brute_force(&weights, &present, &absent, players)) {
                assert!((value - exact).abs() < 1e-12, "complex, {players}: {value} and {exact}");
            }
        }
    }

    #[test]
    fn they_add_up_with_300_players() {
        let (players, terms) = (300, 50);
        let weights: Vec<f64> = uniforms(4, terms).iter().map(|u| u - 0.5).collect();
        // Factors near 1, as those of kernels in many dimensions are, and a few at 0.
        let near = |seed| {
            uniforms(seed, terms * players)
                .iter()
                .map(|u| if *u < 1e-4 { 0.0 } else { 1.0 - 0.05 * u })
                .collect::<Vec<_>>()
        };
        let (present, absent) = (near(5), near(6));
        let (none, values) = shapley_values(&weights, &present, &absent, players);
        let product = |i: usize| (0..players).map(|j| present[j * terms + i]).product::<f64>();
        let all: f64 = (0..terms).map(|i| weights[i] * product(i)).sum();
        let size: f64 = weights.iter().map(|weight| weight.abs()).sum();
        assert!((none + values.iter().sum::<f64>() - all).abs() < 1e-9 * size);
    }
}
