//! Columns to blame for risen errors: those on which the error now depends.

use mercer_core::{Inconsistent, Validate};

/// Rows after a rise that tell.
const ROWS: u64 = 64;

/// Products `e z_j` of the error of a prediction with each standardised input: before a rise and in
/// the 64 rows after it. A slope that has changed moves the mean of one.
///
/// ```text
/// t_j = (m_j − m⁰_j)/√(s²_j/64 + s⁰²_j/n),   share_j = t_j²/Σ t²
/// ```
///
/// `O(d)` a row.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Slopes {
    inputs: Vec<Running>,
    before: Vec<Running>,
    after: Vec<Running>,
    /// Rows since a rise that is being explained.
    since: Option<u64>,
}

/// Count, mean, and sum of squared deviations.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Running {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Running {
    fn learn(&mut self, value: f64) {
        self.count += 1.0;
        let off = value - self.mean;
        self.mean += off / self.count;
        self.squares += off * (value - self.mean);
    }

    fn variance(&self) -> f64 {
        self.squares / self.count.max(1.0)
    }
}

impl Slopes {
    /// For so many inputs.
    #[must_use]
    pub fn new(inputs: usize) -> Self {
        let none = vec![Running::default(); inputs];
        Self { inputs: none.clone(), before: none.clone(), after: none, since: None }
    }

    /// Errors have risen: the rows from now on are compared with those before.
    pub fn rise(&mut self) {
        self.since = Some(0);
        self.after.fill(Running::default());
    }

    /// Takes a row with the signed error of its prediction. After a rise the 64th row tells the
    /// share of each input; a gap (NaN) says nothing of its input.
    ///
    /// # Panics
    /// If `row` has not as many values as there are inputs.
    pub fn learn(&mut self, row: &[f64], error: f64) -> Option<Vec<f64>> {
        assert_eq!(row.len(), self.inputs.len(), "a row has one value for each input");
        let side = if self.since.is_some() { &mut self.after } else { &mut self.before };
        for ((value, input), product) in row.iter().zip(&mut self.inputs).zip(side) {
            if value.is_nan() || !error.is_finite() {
                continue;
            }
            let value = value.clamp(-1e100, 1e100);
            let deviation = input.variance().sqrt();
            if deviation > 0.0 {
                product.learn(error * ((value - input.mean) / deviation).clamp(-10.0, 10.0));
            }
            input.learn(value);
        }
        let rows = self.since.as_mut()?;
        *rows += 1;
        if *rows < ROWS {
            return None;
        }
        self.since = None;
        let shares = self.shares();
        // What is so from now on is the ground of the next.
        std::mem::swap(&mut self.before, &mut self.after);
        Some(shares)
    }

    /// The shares by the rows after a rise, as far as they have come.
    #[must_use]
    pub fn shares(&self) -> Vec<f64> {
        let t = |(before, after): (&Running, &Running)| {
            let noise = after.variance() / after.count.max(1.0) + before.variance() / before.count.max(1.0);
            if noise > 0.0 { (after.mean - before.mean).powi(2) / noise } else { 0.0 }
        };
        let squares: Vec<f64> = self.before.iter().zip(&self.after).map(t).collect();
        let sum: f64 = squares.iter().sum();
        squares.into_iter().map(|square| if sum > 0.0 { square / sum } else { 0.0 }).collect()
    }

    /// True while the rows after a rise are being looked at.
    #[must_use]
    pub fn is_explaining(&self) -> bool {
        self.since.is_some()
    }
}

impl Validate for Slopes {
    fn validate(&self) -> Result<(), Inconsistent> {
        let sides = self.before.len() == self.inputs.len() && self.after.len() == self.inputs.len();
        let finite = |side: &[Running]| side.iter().all(|one| one.mean.is_finite() && one.squares >= 0.0);
        let holds = sides && finite(&self.inputs) && finite(&self.before) && finite(&self.after);
        Inconsistent::require(holds, "slopes of errors", "they have one mean for each input")
    }
}
