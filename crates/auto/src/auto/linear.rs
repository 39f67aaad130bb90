//! The linear members.
//!
//! - **Ridge regressions** on features that are scaled and not bent, each solved in every round:
//!   `2(d + 1)²` multiply-adds.
//! - A **first-order learner**, whose weights have a variance each: the filter of Kalman with the
//!   diagonal of its covariance alone (AROW regression; Vaits and Crammer 2011). With terms `z`,
//!   the error `e = y − wᵀz`, its mean square of late `ν` and `v = ν + Σ σ_i z_i²`,
//!
//!   ```text
//!   w_i ← w_i + σ_i z_i e/v,   σ_i ← σ_i − (σ_i z_i)²/v.
//!   ```
//!
//!   Terms are the features and, where the budget has room, the products of every two of them, in
//!   at most 2¹⁴ places. They are measured from the value that most rows have, where there is one.
//!   So of a category one cell counts, and a row costs what is not 0. No `σ_i` falls below a
//!   hundredth of what it was at first, so that the learner follows changes.
//!
//! One ridge regression is on the features, and another on the terms with products.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::AlignedVec;
use mercer_learners::update::{Awv, Coefficients, GrowingUpdate, LeastSquares, LinearUpdate};
use mercer_learners::{Error, Scratch, Target, Targets};

use super::polynomial::Polynomial;
use super::scales::{ScaledRow, ScaledRows};
use crate::local::with_column;

/// The ridge, a feature: that of Bayesian linear regression where a linear function explains 95 %
/// of the variance, `d(1 − R²)/R²`.
const RIDGE: f64 = 0.05;
/// Ridge regressions at most.
const MOST_RIDGES: usize = 2;
/// Shares of the budget for a ridge regression on features, for it and one on products, and for
/// products of the first-order learner. A term of these costs as much as so many multiply-adds.
const SHARES: [f64; 3] = [0.3, 0.5, 0.35];
const COST_OF_TERM: f64 = 8.0;
/// The part of its first variance that a weight keeps, so that the learner follows changes.
const FOLLOWING: f64 = 0.01;
/// Features of ridge regressions go no farther.
const REACH: f64 = 100.0;
/// Places of products.
const PLACES: usize = 1 << 14;
/// Rounds over which errors are averaged.
const ROUNDS: f64 = 1000.0;
/// No noise is below this, in units of the targets' variance.
const LEAST_NOISE: f64 = 1e-4;

/// See the head of this file.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Linear {
    ridges: Vec<LeastSquares<Awv>>,
    first_order: FirstOrder,
    /// From where the terms of the features are measured.
    bases: Vec<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    work: LinearMemory,
}

/// Memory of a block.
#[derive(Clone, Debug, Default)]
struct LinearMemory {
    inputs: Vec<AlignedVec>,
    scores: Vec<f64>,
    terms: Terms,
}

impl Linear {
    /// Linear members that `budget` multiply-adds a round have room for, and their cost.
    pub(super) fn new((width, outputs): (usize, usize), rows: &ScaledRows, budget: f64) -> Result<(Self, f64), Error> {
        let cost = |terms: usize| 2.0 * (terms as f64).powi(2);
        let all = [width + 1, places(width, true)];
        let fits = cost(all[0]) <= SHARES[0] * budget;
        let both = fits && cost(all[0]) + cost(all[1]) <= SHARES[1] * budget;
        let ridges = &all[..usize::from(fits) + usize::from(both)];
        let ridge = |terms: &usize| -> Result<_, Error> {
            let mut update = LeastSquares::new(RIDGE * width.max(1) as f64, 1.0)?.with_outputs(outputs);
            update.restart(*terms)?;
            Ok(update)
        };
        let bases: Vec<f64> = (0..width).map(|j| base(rows.bent.iter().skip(j).step_by(width).copied())).collect();
        let zeros = rows.bent.chunks_exact(width.max(1)).flat_map(|row| row.iter().zip(&bases).filter(|(v, b)| v == b));
        let terms = width as f64 * (1.0 - zeros.count() as f64 / rows.bent.len().max(1) as f64);
        let cost_of_products = 0.25 * COST_OF_TERM * terms * terms * (1.0 + outputs as f64);
        let products = cost_of_products <= SHARES[2] * budget;
        let kind = if products { TermKind::Products } else { TermKind::Features };
        let cost: f64 = ridges.iter().map(|terms| cost(*terms)).sum();
        let linear = Self {
            ridges: ridges.iter().map(ridge).collect::<Result<_, _>>()?,
            first_order: FirstOrder::new(kind, (width, outputs), terms),
            bases,
            work: LinearMemory::default(),
        };
        Ok((linear, cost + if products { cost_of_products } else { 0.0 }))
    }

    /// The members' names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        let ridges = ["linear R²=0.95", "products"].into_iter().take(self.ridges.len());
        ridges.chain(["first-order"])
    }

    /// Members.
    pub(super) fn len(&self) -> usize {
        self.ridges.len() + 1
    }

    /// `made ←` what each predicts.
    pub(super) fn predict(&self, row: ScaledRow<'_>, scratch: &mut Scratch, made: &mut [f64]) {
        let outputs = made.len() / self.len();
        let mut terms: Box<Terms> = scratch.take_own();
        let input = &mut scratch.vectors[0];
        let (of_ridges, of_first) = made.split_at_mut(self.ridges.len() * outputs);
        for (k, (ridge, made)) in self.ridges.iter().zip(of_ridges.chunks_exact_mut(outputs)).enumerate() {
            self.fill(k, row, input);
            ridge.predict(input, made);
        }
        terms.find(row.bent, &self.bases, self.first_order.kind);
        self.first_order.predict(&terms, of_first);
        scratch.put_own(terms);
    }

    /// Learns rows in order. What each predicts goes into the rows of `made`, of so many numbers
    /// each, from place `first` on; NaN where one fails.
    pub(super) fn learn<'a>(
        &mut self,
        rows: impl Iterator<Item = ScaledRow<'a>> + Clone,
        targets: Targets<'_>,
        made: &mut [f64],
        (first, width): (usize, usize),
    ) {
        let LinearMemory { mut inputs, mut scores, mut terms } = std::mem::take(&mut self.work);
        let outputs = targets.get(0).y.len();
        inputs.resize(inputs.len().max(targets.len()), AlignedVec::new());
        for k in 0..self.ridges.len() {
            inputs.iter_mut().zip(rows.clone()).for_each(|(input, row)| self.fill(k, row, input));
            scores.clear();
            // After a round that is refused it says no more of this block.
            let _ = self.ridges[k].learn_block(&mut inputs[..targets.len()], targets, &mut scores);
            scores.resize(targets.len() * outputs, f64::NAN);
            for (made, scores) in made.chunks_exact_mut(width).zip(scores.chunks_exact(outputs)) {
                made[first + k * outputs..][..outputs].copy_from_slice(scores);
            }
        }
        let first = first + self.ridges.len() * outputs;
        for ((row, target), made) in rows.zip(targets.iter()).zip(made.chunks_exact_mut(width)) {
            terms.find(row.bent, &self.bases, self.first_order.kind);
            let made = &mut made[first..][..outputs];
            self.first_order.predict(&terms, made);
            self.first_order.learn(&terms, target, made);
        }
        self.work = LinearMemory { inputs, scores, terms };
    }

    /// Number of features whose products are terms of this ridge regression, if it is on products.
    /// These are the features that varied when it began, since all products of many features would
    /// cost too much.
    fn products_of(&self, ridge: usize) -> Option<usize> {
        // Of `n` features there are `1 + n(n + 3)/2` terms.
        let terms = self.ridges[ridge].coordinates().saturating_sub(1);
        (ridge > 0).then(|| ((8 * terms + 9).isqrt() - 3) / 2)
    }

    /// Fills the input of this ridge regression: `[1, x]`, so far as one row does not decide for
    /// thousands, or all terms.
    fn fill(&self, ridge: usize, row: ScaledRow<'_>, input: &mut AlignedVec) {
        let coordinates = self.ridges[ridge].coordinates();
        input.resize(coordinates);
        input[0] = 1.0;
        if let Some(features) = self.products_of(ridge) {
            let mut place = 1;
            for (j, x) in row.bent[..features].iter().enumerate() {
                input[place] = *x;
                input[place + 1..].iter_mut().zip(&row.bent[..=j]).for_each(|(term, other)| *term = 0.5 * x * other);
                place += j + 2;
            }
        } else {
            input[1..].iter_mut().zip(row.straight).for_each(|(input, x)| *input = within_reach(*x));
        }
    }

    /// Adds the members with these weights, as polynomials, to one of all outputs in these units.
    /// The ridge regressions are taken without their divisors.
    pub(super) fn add_to(&self, sum: &mut Polynomial, weights: &[f64], units: &[f64]) {
        let (of_ridges, of_first) = weights.split_at(self.ridges.len());
        for (k, (ridge, weight)) in self.ridges.iter().zip(of_ridges).enumerate() {
            let vectors = ridge.coefficients().into_iter().flat_map(Coefficients::vectors);
            for (w, unit) in vectors.zip(units).map(|(w, unit)| (w, weight * unit)) {
                sum.offset += unit * w[0];
                let Some(features) = self.products_of(k) else {
                    sum.straight.iter_mut().zip(&w[1..]).for_each(|(sum, w)| *sum += unit * w);
                    continue;
                };
                let mut place = 1;
                for j in 0..features {
                    sum.bent[j] += unit * w[place];
                    let products = sum.products_of(j).into_iter().flatten();
                    products.zip(&w[place + 1..]).for_each(|(sum, w)| *sum += 0.5 * unit * w);
                    place += j + 2;
                }
            }
        }
        let of_first = of_first.first().copied().unwrap_or(0.0);
        for (output, unit) in units.iter().enumerate() {
            self.first_order.add_to(sum, &self.bases, output, of_first * unit);
        }
    }

    /// Features join that were 0 so far.
    pub(super) fn grow(&mut self, added: usize) -> Result<(), Error> {
        let ridges = self.ridges.iter_mut().take(1);
        ridges.flat_map(|ridge| (0..added).map(|_| ridge.grow())).collect::<Result<(), _>>()?;
        self.bases.resize(self.bases.len() + added, 0.0);
        self.first_order.grow(self.bases.len());
        Ok(())
    }

    /// Gains an output, a copy of output `like` or zero.
    pub(super) fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        let mut ridges = self.ridges.clone();
        ridges.iter_mut().try_for_each(|ridge| ridge.add_output(like))?;
        self.ridges = ridges;
        let member = &mut self.first_order;
        member.weights = with_column(&member.weights, member.outputs(), like);
        Ok(())
    }

    /// True if it is of so many features and outputs.
    pub(super) fn fits(&self, width: usize, outputs: usize) -> bool {
        self.bases.len() == width
            && self.ridges.iter().enumerate().all(|(k, ridge)| {
                let terms = self.products_of(k).map_or(width + 1, |features| places(features.min(width), true));
                (ridge.coordinates(), ridge.outputs()) == (terms, outputs)
            })
            && self.first_order.variances.len() == places(width, self.first_order.kind.products())
            && self.first_order.outputs() == outputs
    }
}

impl Validate for Linear {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "linear members";
        self.ridges.iter().try_for_each(Validate::validate)?;
        self.bases.validate()?;
        Inconsistent::require(self.ridges.len() <= MOST_RIDGES, WHAT, "each has a name")?;
        self.first_order.validate()
    }
}

/// A straight feature as ridge regressions have it.
pub(super) fn within_reach(x: f64) -> f64 {
    x.clamp(-REACH, REACH)
}

/// The value of more than half of these, or 0.
fn base(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let of_middle = sorted.partition_point(|v| *v <= middle) - sorted.partition_point(|v| *v < middle);
    if 2 * of_middle > sorted.len() { middle } else { 0.0 }
}

/// Terms of so many features: a constant, then each feature, followed by its products with itself
/// and those before it where there are any.
fn places(width: usize, products: bool) -> usize {
    1 + if products { (width * (width + 3) / 2).min(PLACES) } else { width }
}

/// Terms that the first-order learner has weights of.
///
/// New variants come last, since files count them from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum TermKind {
    Features,
    Products,
}

impl TermKind {
    fn products(self) -> bool {
        self == Self::Products
    }
}

/// The places and values of the terms of a row that are not 0.
#[derive(Clone, Debug, Default)]
struct Terms {
    features: Vec<(usize, f64)>,
    terms: Vec<(usize, f64)>,
}

impl Terms {
    fn find(&mut self, x: &[f64], bases: &[f64], kind: TermKind) {
        self.features.clear();
        let all = x.iter().zip(bases).map(|(x, base)| x - base).enumerate();
        self.features.extend(all.filter(|(_, z)| *z != 0.0));
        self.terms.clear();
        self.terms.push((0, 1.0));
        if !kind.products() {
            return self.terms.extend(self.features.iter().map(|(j, z)| (1 + j, *z)));
        }
        for (place, (j, z)) in self.features.iter().enumerate() {
            let first = j * (j + 3) / 2;
            self.terms.push((1 + first % PLACES, *z));
            let others = self.features[..=place].iter();
            self.terms.extend(others.map(|(i, other)| (1 + (first + 1 + i) % PLACES, 0.5 * z * other)));
        }
    }
}

/// A first-order learner.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct FirstOrder {
    kind: TermKind,
    /// `σ_i` at first.
    prior: f64,
    /// One an output for each term.
    weights: Vec<f64>,
    variances: Vec<f64>,
    noise: f64,
    rounds: f64,
}

impl FirstOrder {
    /// For rows in which so many features are not 0.
    fn new(kind: TermKind, (width, outputs): (usize, usize), features: f64) -> Self {
        let prior = if kind.products() { 1.0 / features.max(1.0) } else { 1.0 };
        let terms = places(width, kind.products());
        let (weights, variances) = (vec![0.0; terms * outputs], vec![prior; terms]);
        Self { kind, prior, weights, variances, noise: 1.0, rounds: 0.0 }
    }

    fn outputs(&self) -> usize {
        self.weights.len() / self.variances.len()
    }

    fn predict(&self, terms: &Terms, made: &mut [f64]) {
        made.fill(0.0);
        for (place, z) in &terms.terms {
            let weights = &self.weights[place * made.len()..];
            made.iter_mut().zip(weights).for_each(|(made, weight)| *made += z * weight);
        }
    }

    /// Adds an output with this weight to a polynomial: its terms are measured from the bases.
    fn add_to(&self, sum: &mut Polynomial, bases: &[f64], output: usize, unit: f64) {
        let weight = |place: usize| unit * self.weights[place * self.outputs() + output];
        sum.offset += weight(0);
        for (j, base) in bases.iter().enumerate() {
            let first = if self.kind.products() { j * (j + 3) / 2 } else { j };
            let own = weight(1 + first % PLACES);
            sum.bent[j] += own;
            sum.offset -= own * base;
            if !self.kind.products() || sum.products_of(j).is_none() {
                continue;
            }
            for (i, other) in bases[..=j].iter().enumerate() {
                let w = 0.5 * weight(1 + (first + 1 + i) % PLACES);
                sum.products[j * (j + 1) / 2 + i] += w;
                sum.bent[j] -= w * other;
                sum.bent[i] -= w * base;
                sum.offset += w * base * other;
            }
        }
    }

    /// Learns a target, having predicted `made`.
    fn learn(&mut self, terms: &Terms, Target { y, weight }: Target<'_>, made: &[f64]) {
        let spread = terms.terms.iter().fold(0.0, |spread, (place, z)| spread + self.variances[*place] * z * z);
        let noise = self.noise.max(LEAST_NOISE) / weight;
        let gain = 1.0 / (noise + spread);
        let squared = y.iter().zip(made).map(|(y, made)| (y - made).powi(2)).sum::<f64>() / y.len() as f64;
        if !(gain.is_normal() && squared.is_finite()) {
            return;
        }
        let least = FOLLOWING * self.prior;
        for (place, z) in &terms.terms {
            let along = self.variances[*place] * z;
            let weights = &mut self.weights[place * y.len()..];
            for (weight, (y, made)) in weights.iter_mut().zip(y.iter().zip(made)) {
                *weight += gain * along * (y - made);
            }
            self.variances[*place] = (self.variances[*place] - gain * along * along).max(least);
        }
        self.rounds = (self.rounds + 1.0).min(ROUNDS);
        self.noise += (squared - self.noise) / self.rounds;
    }

    /// Goes over to so many features, of which the last are new.
    fn grow(&mut self, width: usize) {
        let (outputs, terms) = (self.outputs(), places(width, self.kind.products()));
        self.weights.resize(terms * outputs, 0.0);
        self.variances.resize(terms, self.prior);
    }
}

impl Validate for FirstOrder {
    fn validate(&self) -> Result<(), Inconsistent> {
        const WHAT: &str = "first-order learner";
        self.weights.validate()?;
        self.variances.iter().try_for_each(|variance| Inconsistent::non_negative(*variance, WHAT))?;
        let whole = !self.variances.is_empty() && self.weights.len().is_multiple_of(self.variances.len());
        Inconsistent::require(whole, WHAT, "each term has a weight for each output")?;
        Inconsistent::positive(self.prior, "variance of a weight")?;
        Inconsistent::non_negative(self.noise, "noise")?;
        Inconsistent::non_negative(self.rounds, "rounds")
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{SMatrix, SVector};

    use super::*;

    /// The first-order learner and the ridge regression on products against their formulas over
    /// dense terms, and they learn a product.
    #[test]
    fn members_on_products_are_their_formulas() -> Result<(), Error> {
        let x = |t: usize| [(1.3 * t as f64 + (t * t % 31) as f64).sin(), if t.is_multiple_of(3) { 1.5 } else { 0.0 }];
        let straight: Vec<f64> = (0..400).flat_map(x).collect();
        let targets: Vec<f64> = straight.chunks_exact(2).map(|x| 0.2 + x[0] - 0.7 * x[0] * x[1]).collect();
        let rows = ScaledRows { bent: straight.clone(), straight };
        let (mut linear, _) = Linear::new((2, 1), &rows, 1e5)?;
        assert!(linear.len() == 3 && linear.first_order.kind == TermKind::Products);
        let mut made = vec![0.0; 3 * targets.len()];
        linear.learn((0..400).map(|t| rows.row(t, 2)), Targets::new(&targets, &[], 1)?, &mut made, (0, 3));
        let prior = linear.first_order.prior;
        let least = prior / 100.0;
        let (mut w, mut variances, mut noise, mut late) = ([0.0; 6], [prior; 6], 1.0_f64, 0.0);
        let (mut squares, mut sums) = (SMatrix::<f64, 6, 6>::identity() * 2.0 * RIDGE, SVector::zeros());
        for (t, y) in targets.iter().enumerate() {
            let [a, b] = x(t);
            let z = [1.0, a, 0.5 * a * a, b, 0.5 * b * a, 0.5 * b * b];
            let error = y - w.iter().zip(&z).map(|(w, z)| w * z).sum::<f64>();
            assert!((made[3 * t + 2] - (y - error)).abs() < 1e-12);
            late += if t >= 300 { error * error } else { 0.0 };
            let v = noise.max(LEAST_NOISE) + variances.iter().zip(&z).map(|(s, z)| s * z * z).sum::<f64>();
            for ((w, s), z) in w.iter_mut().zip(&mut variances).zip(&z) {
                *w += *s * z * error / v;
                *s = (*s - (*s * z).powi(2) / v).max(least);
            }
            noise += (error * error - noise) / (t + 1) as f64;
            let z = SVector::from(z);
            squares += z * z.transpose();
            let forecast = squares.cholesky().map(|factor| factor.solve(&sums).dot(&z));
            assert!(forecast.is_some_and(|forecast| (made[3 * t + 1] - forecast).abs() < 1e-9));
            sums += z * *y;
        }
        assert!(late / 100.0 < 0.02, "{late}");
        linear.grow(1)?;
        assert!(linear.fits(3, 1) && linear.validate().is_ok());
        linear.add_output(Some(0))?;
        assert!(linear.fits(3, 2) && linear.validate().is_ok());
        Ok(())
    }

    /// The members as polynomials against their predictions, the ridge regressions without their
    /// divisors; two outputs, and a feature whose base is not 0.
    #[test]
    fn members_are_polynomials() -> Result<(), Error> {
        let x = |t: usize| [(1.3 * t as f64 + (t * t % 31) as f64).sin(), if t.is_multiple_of(3) { 0.4 } else { 1.5 }];
        let straight: Vec<f64> = (0..300).flat_map(x).collect();
        let targets: Vec<f64> = straight.chunks_exact(2).flat_map(|x| [x[0] - x[0] * x[1], 0.3 + x[1]]).collect();
        let rows = ScaledRows { bent: straight.clone(), straight };
        for budget in [1e5, 20.0] {
            let (mut linear, _) = Linear::new((2, 2), &rows, budget)?;
            assert_eq!(linear.bases[1], 1.5);
            let (members, width) = (linear.len(), 2 * linear.len());
            let mut made = vec![0.0; 300 * width];
            linear.learn((0..300).map(|t| rows.row(t, 2)), Targets::new(&targets, &[], 2)?, &mut made, (0, width));
            let (weights, units): (Vec<f64>, _) = ((0..members).map(|k| 0.2 + k as f64).collect(), [2.0, -0.7]);
            let mut sum = Polynomial::new(2);
            linear.add_to(&mut sum, &weights, &units);
            let (mut scratch, mut input, mut expected) = (Scratch::default(), AlignedVec::new(), 0.0);
            let row = ScaledRow { straight: &[0.3, -2.0], bent: &[0.31, -1.9] };
            let mut scores = vec![0.0; width];
            linear.predict(row, &mut scratch, &mut scores);
            for (k, weight) in weights.iter().enumerate() {
                let own = &mut scores[2 * k..2 * k + 2];
                if let Some(ridge) = linear.ridges.get(k) {
                    linear.fill(k, row, &mut input);
                    ridge.coefficients().into_iter().for_each(|w| w.values(&input, own));
                }
                expected += own.iter().zip(units).map(|(own, unit)| weight * unit * own).sum::<f64>();
            }
            let [z, y] = [row.bent[0], row.bent[1]];
            let products = if sum.products.is_empty() { vec![0.0; 3] } else { sum.products.clone() };
            let told = sum.offset
                + sum.straight.iter().zip(row.straight).map(|(w, x)| w * x).sum::<f64>()
                + sum.bent.iter().zip(row.bent).map(|(w, x)| w * x).sum::<f64>()
                + products.iter().zip([z * z, z * y, y * y]).map(|(w, x)| w * x).sum::<f64>();
            assert!((told - expected).abs() < 1e-12, "{budget}: {told} and {expected}");
            assert_eq!(sum.products.is_empty(), budget < 1e3);
        }
        Ok(())
    }
}
