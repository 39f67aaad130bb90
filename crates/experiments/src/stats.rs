//! The few statistics that experiments report.
//!
//! Samples are small (ten permutations) and finite; sums are two-pass, so that a spread far smaller
//! than the mean keeps its digits. Nothing here drops a sample: a NaN in is a NaN out, and callers
//! that can meet one (a learner that diverged) look before they summarise.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Why a statistic could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// Fewer samples than the statistic needs.
    #[error("{got} samples where at least {needed} are needed; run more permutations or rounds")]
    TooFew {
        /// Samples given.
        got: usize,
        /// Samples needed.
        needed: usize,
    },
    /// Two slices that go together differ in length.
    #[error("{xs} x values but {ys} y values; give as many of each")]
    Lengths {
        /// Length of the first slice.
        xs: usize,
        /// Length of the second slice.
        ys: usize,
    },
    /// A logarithm was asked of a value that has none.
    #[error("sample {index} is ({x}, {y}); logarithms need positive finite values, so leave it out")]
    NotPositive {
        /// Place of the sample, from 0.
        index: usize,
        /// Its x.
        x: f64,
        /// Its y.
        y: f64,
    },
    /// All x are the same, so that no slope exists.
    #[error("all x values are {x}; a slope needs at least two different ones")]
    NoSpread {
        /// The common value.
        x: f64,
    },
    /// A probability or a number of degrees of freedom out of its range.
    #[error(
        "no Student quantile at probability {probability} with {degrees} degrees of freedom; \
         give 0 < probability < 1 and degrees > 0"
    )]
    Quantile {
        /// Probability asked for.
        probability: f64,
        /// Degrees of freedom asked for.
        degrees: f64,
    },
}

/// Mean, sample standard deviation and number of some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n − 1 in the denominator); NaN for a single sample.
    pub std: f64,
    /// Number of samples.
    pub count: usize,
}

impl Summary {
    /// Summarises at least one sample.
    ///
    /// # Errors
    /// [`StatsError::TooFew`] without a sample.
    pub fn of(samples: &[f64]) -> Result<Self, StatsError> {
        if samples.is_empty() {
            return Err(StatsError::TooFew { got: 0, needed: 1 });
        }
        Ok(Self { mean: mean(samples), std: sample_std(samples), count: samples.len() })
    }

    /// Standard error of the mean, `std / √n`.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.std / (self.count as f64).sqrt()
    }

    /// Half the width of the two-sided confidence interval of the mean, by Student's t.
    ///
    /// # Errors
    /// [`StatsError::TooFew`] for a single sample, [`StatsError::Quantile`] for a `level` outside
    /// (0, 1).
    pub fn half_width(&self, level: f64) -> Result<f64, StatsError> {
        if self.count < 2 {
            return Err(StatsError::TooFew { got: self.count, needed: 2 });
        }
        let quantile = student_t_quantile(0.5 + level / 2.0, self.count as f64 - 1.0)?;
        Ok(quantile * self.standard_error())
    }
}

/// A number of each of some things.
pub fn all_of<T>(things: impl IntoIterator<Item = T>, number: impl Fn(T) -> f64) -> Vec<f64> {
    things.into_iter().map(number).collect()
}

/// The mean of a number of each of some things.
pub fn mean_of<T>(things: impl IntoIterator<Item = T>, number: impl Fn(T) -> f64) -> f64 {
    mean(&all_of(things, number))
}

/// Arithmetic mean; NaN without a sample.
#[must_use]
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Sample standard deviation, n − 1 in the denominator; NaN for fewer than two samples.
#[must_use]
pub fn sample_std(samples: &[f64]) -> f64 {
    if samples.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (samples.len() as f64 - 1.0)).sqrt()
}

/// Standard error of the mean, `std / √n`; NaN for fewer than two samples.
#[must_use]
pub fn standard_error(samples: &[f64]) -> f64 {
    sample_std(samples) / (samples.len() as f64).sqrt()
}

/// Standard error of the difference of two independent means, `√(s₁²/n₁ + s₂²/n₂)`.
#[must_use]
pub fn combined_standard_error(first: &Summary, second: &Summary) -> f64 {
    first.standard_error().hypot(second.standard_error())
}

/// The middle sample, or the mean of the two middle ones; NaN without a sample.
#[must_use]
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => sorted[middle - 1].midpoint(sorted[middle]),
    }
}

/// The value below which a Student t variable falls with `probability`.
///
/// # Errors
/// [`StatsError::Quantile`] for a probability outside (0, 1) or degrees of freedom that are not
/// positive and finite.
pub fn student_t_quantile(probability: f64, degrees: f64) -> Result<f64, StatsError> {
    let error = StatsError::Quantile { probability, degrees };
    if !(probability > 0.0 && probability < 1.0 && degrees.is_finite()) {
        return Err(error);
    }
    let t = StudentsT::new(0.0, 1.0, degrees).map_err(|_| error)?;
    Ok(t.inverse_cdf(probability))
}

/// A power law fitted to measurements: `y ≈ exp(intercept) · x^exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    /// Slope of the least-squares line through `(ln x, ln y)`.
    pub exponent: f64,
    /// Standard error of the slope, from the residuals with n − 2 degrees of freedom; NaN for two
    /// points.
    pub standard_error: f64,
    /// The line's value at `x = 1`.
    pub intercept: f64,
    /// Number of points.
    pub count: usize,
}

impl PowerLaw {
    /// Fits at least two points with positive coordinates.
    ///
    /// The standard error takes the residuals for independent; along one growing stream they are
    /// not, and it is then too small. Fit means over permutations, at well separated x.
    ///
    /// # Errors
    /// [`StatsError`] for slices of different length, fewer than two points, a value that is not
    /// positive and finite, or a single x.
    pub fn fit(xs: &[f64], ys: &[f64]) -> Result<Self, StatsError> {
        if xs.len() != ys.len() {
            return Err(StatsError::Lengths { xs: xs.len(), ys: ys.len() });
        }
        let count = xs.len();
        if count < 2 {
            return Err(StatsError::TooFew { got: count, needed: 2 });
        }
        let usable = |v: f64| v > 0.0 && v.is_finite();
        if let Some(index) = (0..count).find(|&i| !usable(xs[i]) || !usable(ys[i])) {
            return Err(StatsError::NotPositive { index, x: xs[index], y: ys[index] });
        }
        if xs.iter().all(|&x| x == xs[0]) {
            return Err(StatsError::NoSpread { x: xs[0] });
        }
        let us: Vec<f64> = xs.iter().map(|x| x.ln()).collect();
        let vs: Vec<f64> = ys.iter().map(|y| y.ln()).collect();
        let (u_mean, v_mean) = (mean(&us), mean(&vs));
        let pairs = || us.iter().zip(&vs).map(|(u, v)| (u - u_mean, v - v_mean));
        let spread: f64 = pairs().map(|(u, _)| u * u).sum();
        let exponent = pairs().map(|(u, v)| u * v).sum::<f64>() / spread;
        let residual: f64 = pairs().map(|(u, v)| (v - exponent * u).powi(2)).sum();
        let standard_error = if count > 2 { (residual / (count as f64 - 2.0) / spread).sqrt() } else { f64::NAN };
        Ok(Self { exponent, standard_error, intercept: v_mean - exponent * u_mean, count })
    }

    /// The fitted value at `x > 0`.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        (self.intercept + self.exponent * x.ln()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs().max(1.0)
    }

    #[test]
    fn mean_and_spread_by_hand() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squared deviations sum to 32.
        let samples = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        let summary = Summary::of(&samples).unwrap();
        assert_eq!(summary.mean, 5.0);
        assert!(close(summary.std, (32.0f64 / 7.0).sqrt()));
        assert!(close(summary.standard_error(), (4.0f64 / 7.0).sqrt()));
        assert!(close(standard_error(&samples), (4.0f64 / 7.0).sqrt()));
    }

    #[test]
    fn a_small_spread_on_a_large_mean_keeps_its_digits() {
        let samples = [1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0];
        assert!(close(sample_std(&samples), 1.0));
    }

    #[test]
    fn too_few_samples() {
        assert_eq!(Summary::of(&[]), Err(StatsError::TooFew { got: 0, needed: 1 }));
        let single = Summary::of(&[3.0]).unwrap();
        assert!(single.mean == 3.0 && single.std.is_nan());
        assert!(single.half_width(0.95).is_err());
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn combined_error_by_hand() {
        let first = Summary { mean: 1.0, std: 3.0, count: 9 };
        let second = Summary { mean: 2.0, std: 4.0, count: 4 };
        assert!(close(combined_standard_error(&first, &second), 5.0f64.sqrt()));
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[f64::MAX, f64::MAX]), f64::MAX);
    }

    #[test]
    fn student_quantiles_from_the_usual_table() {
        for (probability, degrees, expected) in
            [(0.975, 1.0, 12.706_204_736), (0.975, 9.0, 2.262_157_163), (0.95, 4.0, 2.131_846_786), (0.5, 7.0, 0.0)]
        {
            let quantile = student_t_quantile(probability, degrees).unwrap();
            assert!((quantile - expected).abs() < 1e-8, "{quantile} {expected}");
        }
        for (probability, degrees) in [(0.0, 3.0), (1.0, 3.0), (0.5, 0.0), (0.5, f64::NAN)] {
            assert!(student_t_quantile(probability, degrees).is_err());
        }
        let ten = Summary { mean: 0.0, std: 10f64.sqrt(), count: 10 };
        assert!((ten.half_width(0.95).unwrap() - 2.262_157_163).abs() < 1e-8);
        assert!(ten.half_width(1.0).is_err());
    }

    #[test]
    fn an_exact_power_law_has_its_exponent_and_no_error() {
        let xs = [1.0, 2.0, 4.0, 8.0, 100.0];
        let ys = xs.map(|x: f64| 3.0 * x.powf(0.75));
        let law = PowerLaw::fit(&xs, &ys).unwrap();
        assert!(close(law.exponent, 0.75) && close(law.intercept, 3.0f64.ln()));
        assert!(law.standard_error < 1e-12);
        assert!(close(law.at(16.0), 24.0));
    }

    #[test]
    fn a_slope_and_its_error_by_hand() {
        // ln x = 0, 1, 2, 3 and ln y = 0, 1, 1, 2: slope 3/5, intercept 1/10, residuals
        // −.1, .3, −.3, .1, so their squares sum to 0.2 and the error is √(0.2 / 2 / 5).
        let e = std::f64::consts::E;
        let xs = [1.0, e, e * e, e * e * e];
        let ys = [1.0, e, e, e * e];
        let law = PowerLaw::fit(&xs, &ys).unwrap();
        assert!(close(law.exponent, 0.6) && close(law.intercept, 0.1));
        assert!(close(law.standard_error, 0.02f64.sqrt()));
    }

    #[test]
    fn what_has_no_slope_is_refused() {
        let few = PowerLaw::fit(&[1.0], &[1.0]);
        assert_eq!(few, Err(StatsError::TooFew { got: 1, needed: 2 }));
        let lengths = PowerLaw::fit(&[1.0, 2.0], &[1.0]);
        assert_eq!(lengths, Err(StatsError::Lengths { xs: 2, ys: 1 }));
        let zero = PowerLaw::fit(&[1.0, 2.0], &[1.0, 0.0]);
        assert!(matches!(zero, Err(StatsError::NotPositive { index: 1, .. })));
        let same = PowerLaw::fit(&[2.0, 2.0], &[1.0, 3.0]);
        assert_eq!(same, Err(StatsError::NoSpread { x: 2.0 }));
        let two = PowerLaw::fit(&[1.0, 10.0], &[1.0, 100.0]).unwrap();
        assert!(close(two.exponent, 2.0) && two.standard_error.is_nan());
    }
}
