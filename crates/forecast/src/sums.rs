//! Forecasts of series and of their total that add up.
//!
//! Forecasts `ŷ = (ŷ_0, ŷ_1 … ŷ_n)` of a total and its parts, made each by itself, miss the sum by
//! `d = ŷ_0 − Σ ŷ_i`. With the covariance `W` of their errors, the forecasts that add up and have
//! the least trace of the errors' covariance are
//!
//! ```text
//! ỹ = ŷ − W a d/(aᵀ W a),   a = (1, −1 … −1)
//! ```
//!
//! (MinT: Wickramasuriya, Athanasopoulos and Hyndman 2019, *JASA* 114, Theorem 1, in the form that
//! has one constraint and needs no inverse). `W` is that of errors of one step, shrunk towards its
//! diagonal: off the diagonal it has `1 − λ` of the mean products, with
//!
//! ```text
//! λ = Σ_{i≠j} V_ij/Σ_{i≠j} r_ij²,   V_ij = Σ_t (x_ti x_tj − r_ij)²/(T(T − 1)),   0 ≤ λ ≤ 1
//! ```
//!
//! of errors `x` in units of their roots of mean squares and their correlations `r` (Schäfer and
//! Strimmer 2005, *SAGMB* 4). The total takes the smaller part of `d` the better it is forecast by
//! itself. Cost: `n²T` multiply-adds. Forecasts that were not negative may become so.

use std::str::FromStr;

/// Rows of errors below which errors are taken to be unrelated.
const FEWEST: usize = 10;

/// How forecasts of parts and of their total come to add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TotalMethod {
    /// The total is the sum of the forecasts of its parts.
    BottomUp,
    /// The total is forecast by itself, and what it misses of the sum is shared by the covariance
    /// of the errors of one step.
    Mint,
}

impl TotalMethod {
    /// The names of all methods.
    pub const NAMES: [&'static str; 2] = ["bottom-up", "mint"];
}

impl FromStr for TotalMethod {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "bottom-up" => Ok(Self::BottomUp),
            "mint" => Ok(Self::Mint),
            _ => Err("give bottom-up or mint"),
        }
    }
}

/// Shares of the miss of a total that it and its parts take.
#[derive(Clone, Debug, PartialEq)]
pub struct TotalShares {
    /// `W a/(aᵀ W a)`
    shares: Vec<f64>,
    shrinkage: f64,
}

impl TotalShares {
    /// Rows whose errors tell how they go together, the last ones.
    pub const ERRORS: usize = 400;

    /// The shares by a method, of which MinT takes the last [`ERRORS`](Self::ERRORS) rows of
    /// errors: see [`from_errors`](Self::from_errors).
    ///
    /// # Panics
    /// As [`from_errors`](Self::from_errors).
    #[must_use]
    pub fn new(method: TotalMethod, parts: usize, errors: &[Vec<f64>]) -> Self {
        match method {
            TotalMethod::BottomUp => Self::bottom_up(parts),
            TotalMethod::Mint => Self::from_errors(parts, &errors[errors.len().saturating_sub(Self::ERRORS)..]),
        }
    }

    /// The shares of a total and `parts` parts, by rows of their errors of one step, the total's
    /// first; rows with a number that is not finite do not count. Below ten rows errors are taken
    /// to be unrelated; without any, variances are taken to be equal, that of the total the parts'
    /// sum.
    ///
    /// # Panics
    /// When a row has not `parts + 1` numbers.
    #[must_use]
    pub fn from_errors(parts: usize, errors: &[Vec<f64>]) -> Self {
        let n = parts + 1;
        assert!(errors.iter().all(|row| row.len() == n), "a row of errors has the total and all parts");
        let rows: Vec<&Vec<f64>> = errors.iter().filter(|row| row.iter().all(|error| error.is_finite())).collect();
        let mean = |of: &dyn Fn(&Vec<f64>) -> f64| rows.iter().map(|row| of(row)).sum::<f64>() / rows.len() as f64;
        let mut variances: Vec<f64> = (0..n).map(|i| mean(&|row| row[i] * row[i])).collect();
        if rows.is_empty() || variances.iter().sum::<f64>() == 0.0 {
            variances = std::iter::once(parts as f64).chain(std::iter::repeat_n(1.0, parts)).collect();
        }
        let shrinkage = if rows.len() < FEWEST { 1.0 } else { shrinkage(&rows, &variances) };
        let sign = |i: usize| if i == 0 { 1.0 } else { -1.0 };
        let difference = |row: &Vec<f64>| row[0] - row[1..].iter().sum::<f64>();
        // W a: the diagonal, and of the mean products what is left of them.
        let whole = |i: usize| if rows.is_empty() { 0.0 } else { mean(&|row| row[i] * difference(row)) };
        let of = |i: usize| shrinkage * variances[i] * sign(i) + (1.0 - shrinkage) * whole(i);
        let products: Vec<f64> = (0..n).map(of).collect();
        let sum: f64 = products.iter().enumerate().map(|(i, product)| sign(i) * product).sum();
        Self { shares: products.into_iter().map(|product| product / sum).collect(), shrinkage }
    }

    /// All of the miss is the total's: it becomes the sum of its parts.
    #[must_use]
    pub fn bottom_up(parts: usize) -> Self {
        let shares = std::iter::once(1.0).chain(std::iter::repeat_n(0.0, parts)).collect();
        Self { shares, shrinkage: 1.0 }
    }

    /// `λ`
    #[must_use]
    pub fn shrinkage(&self) -> f64 {
        self.shrinkage
    }

    /// Makes the forecast of a total and those of its parts add up.
    ///
    /// # Panics
    /// When there are not as many parts.
    pub fn reconcile(&self, total: &mut f64, parts: &mut [f64]) {
        assert_eq!(self.shares.len(), parts.len() + 1, "there is a forecast for each part");
        let miss = *total - parts.iter().sum::<f64>();
        for (part, share) in parts.iter_mut().zip(&self.shares[1..]) {
            *part -= share * miss;
        }
        *total = parts.iter().sum();
    }
}

/// `λ` of rows of errors with these mean squares.
fn shrinkage(rows: &[&Vec<f64>], variances: &[f64]) -> f64 {
    let count = rows.len() as f64;
    let unit = |i: usize| if variances[i] > 0.0 { variances[i].sqrt() } else { 1.0 };
    let units: Vec<f64> = (0..variances.len()).map(unit).collect();
    let (mut doubt, mut size) = (0.0, 0.0);
    for i in 0..units.len() {
        for j in 0..i {
            let products = || rows.iter().map(|row| row[i] * row[j] / (units[i] * units[j]));
            let r = products().sum::<f64>() / count;
            doubt += products().map(|product| (product - r).powi(2)).sum::<f64>() / (count * (count - 1.0));
            size += r * r;
        }
    }
    if size > 0.0 { (doubt / size).min(1.0) } else { 1.0 }
}
