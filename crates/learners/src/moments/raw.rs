//! Sums about 0, which anybody can add up: a database by `sum()`, a spreadsheet, another library.

use mercer_core::ParameterError;
use mercer_kernels::AlignedVec;

use super::sums::{MomentSums, symmetric, unknown};
use crate::Error;
use crate::engines::basis::{FeatureMap, Identity};

/// A product of two sums that may be above its bound by rounding alone.
const ROUNDING: f64 = 1e-9;

/// The sums of a ridge regression about 0, for `r` features `z` and `m` outputs `y`. Those of
/// disjoint rows add up number by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawSums {
    /// `Σ ωz_i z_j` for `j ≤ i`, row by row: `½r(r + 1)` numbers.
    pub gram: Vec<f64>,
    /// `Σ ωyz` of each output, `r` numbers.
    pub cross: Vec<Vec<f64>>,
    /// `Σ ωy` of each output.
    pub totals: Vec<f64>,
    /// `Σ ωy²` of each output.
    pub squares: Vec<f64>,
    /// `Σ ω`
    pub weight: f64,
    /// `n`
    pub count: f64,
}

impl RawSums {
    /// `Σ ωz_i z_j`
    fn product(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        self.gram[i * (i + 1) / 2 + j]
    }

    /// Refuses numbers that no rows have: those that are not finite, squares below 0, and products
    /// beyond those of Cauchy and Schwarz.
    fn check(&self, r: usize) -> Result<(), Error> {
        let m = self.totals.len();
        let sizes = self.gram.len() == r * (r + 1) / 2 && self.squares.len() == m && self.cross.len() == m;
        let sizes = sizes && m > 0 && self.cross.iter().all(|cross| cross.len() == r);
        ParameterError::require(sizes, "the sums", "one for each pair of features and outputs", m as f64)?;
        let vectors = [&self.gram, &self.totals, &self.squares].into_iter().chain(&self.cross);
        let numbers = vectors.flatten().chain([&self.weight, &self.count]);
        if let Some(number) = numbers.copied().find(|number| !number.is_finite()) {
            return Err(ParameterError { name: "the sums", requirement: "finite numbers", value: number }.into());
        }
        let within = |product: f64, a: f64, b: f64| {
            let holds = a >= 0.0 && b >= 0.0 && product * product <= a * b * (1.0 + ROUNDING);
            ParameterError::require(holds, "a sum of products", "no larger than its squares allow", product)
        };
        for i in 0..r {
            for j in 0..=i {
                within(self.product(i, j), self.product(i, i), self.product(j, j))?;
            }
            for (cross, square) in self.cross.iter().zip(&self.squares) {
                within(cross[i], self.product(i, i), *square)?;
            }
        }
        for (total, square) in self.totals.iter().zip(&self.squares) {
            within(*total, self.weight, *square)?;
        }
        Ok(())
    }
}

impl MomentSums {
    /// The same sums about 0. `½r²`. Where a mean `x̄` lies far from 0 against the deviation `s`,
    /// `x̄²/s²` of the digits' `10¹⁶` are lost: [`magnified`](Self::magnified).
    ///
    /// # Errors
    /// When `Σ ωy` or `Σ ωy²` is not known.
    pub fn raw(&self) -> Result<RawSums, Error> {
        if self.totals().is_empty() || !self.know_squares() {
            return Err(unknown());
        }
        let (gram, r) = (self.gram(), self.features());
        Ok(RawSums {
            gram: (0..r).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| gram.entry(i, j)).collect(),
            cross: self.cross().iter().map(|cross| cross.to_vec()).collect(),
            totals: self.totals().to_vec(),
            squares: self.squares().into_owned(),
            weight: self.weight(),
            count: self.count(),
        })
    }

    /// How many times its sum about the mean each input's `Σ ωx²` about 0 is; empty for features
    /// that have no means. A column that does not vary counts as 1.
    #[must_use]
    pub fn magnified(&self) -> Vec<f64> {
        let Some(means) = &self.means else { return Vec::new() };
        let one = |j: usize| {
            let (spread, mean) = (self.gram.entry(j, j), means.inputs[j]);
            if spread > 0.0 { 1.0 + self.weight() * mean * mean / spread } else { 1.0 }
        };
        (0..self.gram.dimension()).map(one).collect()
    }

    /// Sums of the features of `map` that were added up elsewhere. `r²` to check them.
    ///
    /// # Errors
    /// When there are not as many as features and outputs need, and when no rows have such sums.
    pub fn from_raw<F: FeatureMap + ?Sized>(map: &F, raw: &RawSums) -> Result<Self, Error> {
        let r = map.coordinates();
        raw.check(r)?;
        let sums = Self {
            gram: symmetric(r, |i, j| raw.product(i, j)),
            cross: raw.cross.iter().map(|cross| AlignedVec::from_slice(cross)).collect(),
            totals: raw.totals.clone(),
            squares: raw.squares.clone(),
            weight: raw.weight,
            count: raw.count,
            inputs: map.identity().is_some(),
            means: None,
        };
        Ok(if map.identity().is_some_and(Identity::has_intercept) { sums.about_the_mean() } else { sums })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RidgeMoments, Rows, Targets};

    fn moments(rows: &[([f64; 2], f64)], intercept: bool) -> Result<RidgeMoments<Identity>, Error> {
        let mut moments = RidgeMoments::new(Identity::new(2, intercept), 0.0)?;
        let (x, y): (Vec<[f64; 2]>, Vec<f64>) = rows.iter().copied().unzip();
        moments.add_rows(Rows::new(x.as_flattened(), 2, Targets::numbers(&y))?)?;
        Ok(moments)
    }

    #[test]
    fn sums_by_hand_are_those_of_the_rows() -> Result<(), Error> {
        let rows = [([1.0, 2.0], 3.0), ([2.0, 0.0], 1.0), ([-1.0, 5.0], 4.0)];
        let raw = moments(&rows, true)?.sums().raw()?;
        let by_hand = RawSums {
            // x₁², x₂x₁, x₂², and those with 1.
            gram: vec![6.0, -3.0, 29.0, 2.0, 7.0, 3.0],
            cross: vec![vec![1.0, 26.0, 8.0]],
            totals: vec![8.0],
            squares: vec![26.0],
            weight: 3.0,
            count: 3.0,
        };
        let mut pairs = raw.gram.iter().zip(&by_hand.gram).chain(raw.cross[0].iter().zip(&by_hand.cross[0]));
        assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-13) && (raw.squares[0] - 26.0).abs() < 1e-13, "{raw:?}");
        for intercept in [true, false] {
            let map = Identity::new(2, intercept);
            let expected = moments(&rows, intercept)?;
            let mut raw = by_hand.clone();
            if !intercept {
                (raw.gram, raw.cross) = (vec![6.0, -3.0, 29.0], vec![vec![1.0, 26.0]]);
            }
            let found = RidgeMoments::from_sums(map.clone(), MomentSums::from_raw(&map, &raw)?, 0.0)?;
            let (found, expected) = (found.coefficients(0.1)?, expected.coefficients(0.1)?);
            let mut pairs = found.vectors()[0].iter().zip(expected.vectors()[0].iter());
            assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-13));
        }
        Ok(())
    }

    #[test]
    fn sums_that_no_rows_have_are_refused() -> Result<(), Error> {
        let map = Identity::new(2, true);
        let raw = moments(&[([1.0, 2.0], 3.0), ([2.0, 0.0], 1.0)], true)?.sums().raw()?;
        assert!(MomentSums::from_raw(&map, &raw).is_ok());
        let changes: [fn(&mut RawSums); 5] = [
            |raw| raw.gram[1] = 1e3,
            |raw| raw.gram[2] = -1.0,
            |raw| raw.cross[0][0] = f64::NAN,
            |raw| raw.squares[0] = 0.0,
            |raw| raw.gram.truncate(raw.gram.len() - 1),
        ];
        for change in changes {
            let mut changed = raw.clone();
            change(&mut changed);
            assert!(MomentSums::from_raw(&map, &changed).is_err(), "{changed:?}");
        }
        Ok(())
    }

    #[test]
    fn a_mean_far_from_0_is_told() -> Result<(), Error> {
        let rows = [([1000.0, 1.0], 3.0), ([1002.0, -1.0], 1.0)];
        let magnified = moments(&rows, true)?.sums().magnified();
        // x̄ = 1001 with a spread of 2 over 2 rows; x̄ = 0.
        assert!((magnified[0] - (1.0 + 1001.0 * 1001.0)).abs() < 1e-6 && magnified[1] == 1.0, "{magnified:?}");
        assert!(moments(&rows, false)?.sums().magnified().is_empty());
        Ok(())
    }
}
