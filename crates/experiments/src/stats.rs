//! The few statistics that experiments report.
//!
//! Samples are small (ten permutations) and finite; sums are two-pass, so that a spread far smaller
//! than the mean keeps its digits. Nothing here drops a sample: a NaN in is a NaN out, and callers
//! that can meet one (a learner that diverged) look before they summarise.

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
    /// Summary of at least one sample.
    pub fn from_samples(samples: &[f64]) -> Option<Self> {
        let own = || Self { mean: mean(samples), std: sample_std(samples), count: samples.len() };
        (!samples.is_empty()).then(own)
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
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Sample standard deviation, n − 1 in the denominator; NaN for fewer than two samples.
pub fn sample_std(samples: &[f64]) -> f64 {
    if samples.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (samples.len() as f64 - 1.0)).sqrt()
}

/// Standard error of the mean, `std / √n`; NaN for fewer than two samples.
pub fn standard_error(samples: &[f64]) -> f64 {
    sample_std(samples) / (samples.len() as f64).sqrt()
}

/// The middle sample, or the mean of the two middle ones; NaN without a sample.
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

/// `Σ a_i b_i`
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// About `count` whole numbers from `first` to `last`, equally far apart in the logarithm.
pub fn log_spaced(first: usize, last: usize, count: usize) -> Vec<usize> {
    let ratio = last as f64 / first as f64;
    let at = |i: usize| (first as f64 * ratio.powf(i as f64 / (count - 1) as f64)).round() as usize;
    let mut all: Vec<usize> = (0..count).map(at).collect();
    all.dedup();
    all
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
    /// `None` for fewer than two points, a value that is not positive and finite, or a single x.
    pub fn fit(xs: &[f64], ys: &[f64]) -> Option<Self> {
        let count = xs.len();
        let usable = xs.iter().chain(ys).all(|v| *v > 0.0 && v.is_finite());
        if count < 2 || ys.len() != count || !usable || xs.iter().all(|&x| x == xs[0]) {
            return None;
        }
        let us: Vec<f64> = xs.iter().map(|x| x.ln()).collect();
        let vs: Vec<f64> = ys.iter().map(|y| y.ln()).collect();
        let (u_mean, v_mean) = (mean(&us), mean(&vs));
        let pairs = || us.iter().zip(&vs).map(|(u, v)| (u - u_mean, v - v_mean));
        let spread: f64 = pairs().map(|(u, _)| u * u).sum();
        let exponent = pairs().map(|(u, v)| u * v).sum::<f64>() / spread;
        let residual: f64 = pairs().map(|(u, v)| (v - exponent * u).powi(2)).sum();
        let standard_error = if count > 2 { (residual / (count as f64 - 2.0) / spread).sqrt() } else { f64::NAN };
        Some(Self { exponent, standard_error, intercept: v_mean - exponent * u_mean, count })
    }

    /// The fitted value at `x > 0`.
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
        let summary = Summary::from_samples(&samples).unwrap();
        assert_eq!(summary.mean, 5.0);
        assert!(close(summary.std, (32.0f64 / 7.0).sqrt()));
        assert!(close(standard_error(&samples), (4.0f64 / 7.0).sqrt()));
    }

    #[test]
    fn a_small_spread_on_a_large_mean_keeps_its_digits() {
        let samples = [1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0];
        assert!(close(sample_std(&samples), 1.0));
    }

    #[test]
    fn too_few_samples() {
        assert_eq!(Summary::from_samples(&[]), None);
        let single = Summary::from_samples(&[3.0]).unwrap();
        assert!(single.mean == 3.0 && single.std.is_nan());
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn spaced_numbers_rise_from_the_first_to_the_last() {
        for (first, last, count) in [(1, 1, 120), (1, 2, 120), (1, 50, 60), (1, 8192, 120), (61, 7680, 40)] {
            let all = log_spaced(first, last, count);
            assert!(all.is_sorted_by(|a, b| a < b));
            assert_eq!((all[0], all.last()), (first, Some(&last)));
        }
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&[f64::MAX, f64::MAX]), f64::MAX);
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
        for (xs, ys) in [(&[1.0][..], &[1.0][..]), (&[1.0, 2.0], &[1.0]), (&[1.0, 2.0], &[1.0, 0.0])] {
            assert_eq!(PowerLaw::fit(xs, ys), None);
        }
        assert_eq!(PowerLaw::fit(&[2.0, 2.0], &[1.0, 3.0]), None);
        let two = PowerLaw::fit(&[1.0, 10.0], &[1.0, 100.0]).unwrap();
        assert!(close(two.exponent, 2.0) && two.standard_error.is_nan());
    }
}
