//! Losses as values: the cost of a prediction.
//!
//! A learner predicts a *score* `z` (or one for each output) and suffers `ℓ(z, y)`. A gradient step
//! needs the derivative in `z` alone; the online Newton step needs a curvature constant as well,
//! which exists where the loss is exp-concave or strongly convex on the scores that the learner can
//! predict.
//!
//! | name | `ℓ(z, y)` | targets | for |
//! |---|---|---|---|
//! | `squared` | `(z − y)²` | numbers | the mean |
//! | `absolute` | `|z − y|` | numbers | the median |
//! | `huber:δ` | `½e²` for `e = z − y` within `±δ`, else `δ(|e| − ½δ)` | numbers | the mean, with outliers |
//! | `epsilon:ε` | `max(|z − y| − ε, 0)` | numbers | regression with a tolerance |
//! | `quantile:τ` | `τ(y − z)` below the target, `(1 − τ)(z − y)` above | numbers | the quantile `τ` |
//! | `poisson` | `eᶻ − yz` | numbers ≥ 0 | counts; the prediction is `eᶻ` |
//! | `logistic` | `ln(1 + e^{−yz})` | ±1 | two classes, with probabilities |
//! | `hinge` | `max(1 − yz, 0)` | ±1 | two classes |
//! | `squared-hinge` | `max(1 − yz, 0)²` | ±1 | two classes |
//! | `softmax` | `ln Σ_k e^{z_k} − z_y` | a class `0, 1, …` | many classes, with probabilities |
//!
//! All but softmax act on each output by itself; with several outputs the loss is the sum.

use std::fmt;
use std::str::FromStr;

use mercer_core::{ExampleError, Inconsistent, Number, ParameterError, Validate};

use crate::Error;

/// A loss of one score and one target.
pub trait PointwiseLoss: Copy {
    /// The targets it takes, in words.
    const TARGETS: &'static str;

    /// `ℓ(z, y)`
    fn value(self, z: f64, y: f64) -> f64;

    /// `∂ℓ/∂z`, 0 where the loss has a kink.
    fn derivative(self, z: f64, y: f64) -> f64;

    /// Where `dz = −ℓ'(z, y) da` leads from `z`: the score after gradient steps of the length
    /// `amount ≥ 0` in all, each infinitely small.
    fn flow(self, z: f64, y: f64, amount: f64) -> f64;

    /// True if `y` is a target of this loss.
    fn takes(self, y: f64) -> bool {
        y.is_finite()
    }

    /// The prediction in the target's own units.
    fn prediction(self, z: f64) -> f64 {
        z
    }

    /// `η` with `ℓ(z', y) ≥ ℓ(z, y) + g(z' − z) + ½ηg²(z' − z)²`, `g = ∂ℓ/∂z`, for all scores
    /// within `±bound` and targets within `±label_bound`; `None` where there is no such constant.
    fn curvature(self, bound: f64, label_bound: f64) -> Option<f64> {
        let _ = (bound, label_bound);
        None
    }
}

/// Makes of the table the enum, its names, what reads and shows them, and `pointwise!`, which calls
/// `$call` on a loss of one score and `$softmax` for softmax. A row is the variant, the file, the
/// type and the name; with a parameter, its symbol and its field.
macro_rules! losses {
    (
        $d:tt
        $($variant:ident: $file:ident::$type:ident = $name:literal $(: $symbol:literal, $field:ident)?,)*
        ; $softmax_file:ident::$softmax_type:ident = $softmax_name:literal
    ) => {
        $(mod $file;)*
        mod $softmax_file;
        $(pub use $file::$type;)*
        pub use $softmax_file::$softmax_type;

        /// One of the losses.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Loss {
            $(
                #[doc = concat!("[`", stringify!($type), "`]")]
                $variant($type),
            )*
            /// [`Softmax`], the one loss whose scores belong together.
            Softmax($softmax_type),
        }

        impl Loss {
            /// The names, as [`FromStr`] reads them, with the symbol of the parameter where there
            /// is one.
            pub const NAMES: &'static [&'static str] = &[$(concat!($name $(, ":", $symbol)?),)* $softmax_name];

            /// The name without its parameter.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                    Self::Softmax(_) => $softmax_name,
                }
            }

            /// The parameter, of those that have one.
            fn parameter(self) -> Option<f64> {
                match self {
                    $($(Self::$variant(loss) => Some(loss.$field()),)?)*
                    _ => None,
                }
            }

            /// The loss of this name with this parameter, if it has one.
            fn named(name: &str, parameter: f64) -> Result<Self, ParameterError> {
                Ok(match name {
                    $($name => Self::$variant(losses!(@make $type parameter $($field)?)),)*
                    _ => Self::SOFTMAX,
                })
            }
        }

        macro_rules! pointwise {
            ($d loss:expr, $d name:ident => $d call:expr, $d softmax:expr) => {
                match $d loss {
                    $(Loss::$variant($d name) => $d call,)*
                    Loss::Softmax(_) => $d softmax,
                }
            };
        }
    };
    (@make $type:ident $parameter:ident) => { $type };
    (@make $type:ident $parameter:ident $field:ident) => { $type::new($parameter)? };
}

losses! {
    $
    Squared: squared::Squared = "squared",
    Absolute: absolute::Absolute = "absolute",
    Huber: huber::Huber = "huber": "δ", delta,
    Epsilon: epsilon::EpsilonInsensitive = "epsilon": "ε", epsilon,
    Quantile: quantile::Quantile = "quantile": "τ", tau,
    Poisson: poisson::Poisson = "poisson",
    Logistic: logistic::Logistic = "logistic",
    Hinge: hinge::Hinge = "hinge",
    SquaredHinge: squared_hinge::SquaredHinge = "squared-hinge",
    ; softmax::Softmax = "softmax"
}

impl Default for Loss {
    fn default() -> Self {
        Self::SQUARED
    }
}

impl Loss {
    /// `(z − y)²`
    pub const SQUARED: Self = Self::Squared(Squared);
    /// `ln(1 + e^{−yz})`
    pub const LOGISTIC: Self = Self::Logistic(Logistic);
    /// `max(1 − yz, 0)`
    pub const HINGE: Self = Self::Hinge(Hinge);
    /// `ln Σ e^{z_k} − z_y`
    pub const SOFTMAX: Self = Self::Softmax(Softmax);

    /// Numbers in a target of a learner with so many outputs: one each, but one class for softmax.
    #[must_use]
    #[inline]
    pub fn target_width(self, outputs: usize) -> usize {
        if self.is_softmax() { 1 } else { outputs }
    }

    /// True if the scores of all outputs belong together, and the target is a class.
    #[must_use]
    #[inline]
    pub fn is_softmax(self) -> bool {
        matches!(self, Self::Softmax(_))
    }

    /// True if targets are `±1`, and the sign of a score tells the class.
    #[must_use]
    pub fn is_margin(self) -> bool {
        matches!(self, Self::Logistic(_) | Self::Hinge(_) | Self::SquaredHinge(_))
    }

    /// `ℓ(z, y)`, summed over the outputs.
    #[must_use]
    pub fn value(self, scores: &[f64], target: &[f64]) -> f64 {
        let mut pairs = scores.iter().zip(target);
        pointwise!(self, loss => pairs.map(|(z, y)| loss.value(*z, *y)).sum(),
            pairs.next().map_or(0.0, |(_, class)| Softmax.value(scores, *class as usize)))
    }

    /// The loss of [predictions](Self::predictions), which for counts are `eᶻ`.
    #[must_use]
    pub fn value_of_predictions(self, predictions: &[f64], target: &[f64]) -> f64 {
        let Self::Poisson(_) = self else { return self.value(predictions, target) };
        let mean_less = |(mean, y): (&f64, &f64)| mean - y * mean.max(f64::MIN_POSITIVE).ln();
        predictions.iter().zip(target).map(mean_less).sum()
    }

    /// `gradient ← ∂ℓ/∂z`
    #[inline(always)]
    pub fn gradient(self, scores: &[f64], target: &[f64], gradient: &mut [f64]) {
        match (scores, target, &mut *gradient) {
            // A class is a target of one number, too.
            ([z], [y], [g]) => *g = self.derivative(*z, *y),
            _ => self.gradient_of_several(scores, target, gradient),
        }
    }

    fn gradient_of_several(self, scores: &[f64], target: &[f64], gradient: &mut [f64]) {
        let places = scores.iter().zip(target).zip(&mut *gradient);
        pointwise!(self, loss => places.for_each(|((z, y), g)| *g = loss.derivative(*z, *y)),
        if let Some(class) = target.first() {
            Softmax.gradient(scores, *class as usize, gradient);
        });
    }

    /// `∂ℓ/∂z` of a learner with one output.
    #[inline(always)]
    #[must_use]
    pub fn derivative(self, z: f64, y: f64) -> f64 {
        // The one that small learners with fast steps have most often.
        if let Self::Squared(loss) = self { loss.derivative(z, y) } else { self.other_derivative(z, y) }
    }

    fn other_derivative(self, z: f64, y: f64) -> f64 {
        // The derivative of a softmax over one class is 0.
        pointwise!(self, loss => loss.derivative(z, y), 0.0)
    }

    /// `scores ← ` where infinitely many small gradient steps lead: [`PointwiseLoss::flow`] and
    /// [`Softmax::flow`].
    pub(crate) fn flow(self, scores: &mut [f64], target: &[f64], amount: f64) {
        pointwise!(self, loss => scores.iter_mut().zip(target).for_each(|(z, y)| *z = loss.flow(*z, *y, amount)),
        if let Some(class) = target.first() {
            Softmax.flow(scores, *class as usize, amount);
        });
    }

    /// Turns scores into predictions in the targets' own units; for classes they stay scores.
    #[inline]
    pub fn predictions(self, scores: &mut [f64]) {
        if let Self::Poisson(loss) = self {
            scores.iter_mut().for_each(|z| *z = loss.prediction(*z));
        }
    }

    /// Refuses what is no target of this loss, for a learner with so many outputs.
    ///
    /// # Errors
    /// [`ExampleError::NonFiniteTarget`] or [`Error::Target`].
    #[inline]
    pub fn check(self, target: &[f64], outputs: usize) -> Result<(), Error> {
        if let Some(y) = target.iter().find(|y| !y.is_finite()) {
            return Err(ExampleError::NonFiniteTarget(*y).into());
        }
        let is_class = |y: f64| y.fract() == 0.0 && (0.0..outputs as f64).contains(&y);
        let refused = pointwise!(self, loss => target.iter().find(|y| !loss.takes(**y)),
            target.iter().find(|y| !is_class(**y)));
        match refused {
            None => Ok(()),
            Some(y) => Err(self.refusal(*y)),
        }
    }

    #[cold]
    fn refusal(self, got: f64) -> Error {
        let takes = pointwise!(self, loss => targets_of(loss), "one of its classes 0, 1, …");
        Error::Target { loss: self.name(), takes, got }
    }

    /// The constant of an online Newton step for scores within `±bound`, targets within
    /// `±label_bound` and so many outputs: see [`PointwiseLoss::curvature`] and
    /// [`Softmax::curvature`].
    #[must_use]
    pub fn curvature(self, bound: f64, label_bound: f64, outputs: usize) -> Option<f64> {
        pointwise!(self, loss => loss.curvature(bound, label_bound), Some(Softmax.curvature(bound, outputs)))
    }
}

/// `z` moved to `end`, by no more than `most`.
fn towards(z: f64, end: f64, most: f64) -> f64 {
    z + (end - z).clamp(-most, most)
}

fn targets_of<L: PointwiseLoss>(_: L) -> &'static str {
    L::TARGETS
}

impl Validate for Loss {
    fn validate(&self) -> Result<(), Inconsistent> {
        // Built anew, it meets the checks of its constructor.
        let sound = self.parameter().is_none_or(|parameter| Self::named(self.name(), parameter).is_ok());
        Inconsistent::require(sound, "loss", "its parameter is in range")
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parameter() {
            Some(parameter) => write!(f, "{}:{}", self.name(), Number(parameter)),
            None => f.pad(self.name()),
        }
    }
}

/// A text that names no [`Loss`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UnknownLoss {
    /// The name is none.
    #[error("there is no loss {name:?}; the losses are {}", Loss::NAMES.join(", "))]
    Name {
        /// The text that was written.
        name: String,
    },
    /// A parameter is missing, is no number, or is not wanted.
    #[error("the loss {0:?} needs the form {1}")]
    Form(String, &'static str),
    /// The parameter is out of its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

impl FromStr for Loss {
    type Err = UnknownLoss;

    fn from_str(text: &str) -> Result<Self, UnknownLoss> {
        let (name, parameter) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest.trim())));
        let known = Self::NAMES.iter().find(|known| known.split(':').next() == Some(name));
        let form = *known.ok_or_else(|| UnknownLoss::Name { name: text.to_owned() })?;
        let refused = || UnknownLoss::Form(text.to_owned(), form);
        if form.contains(':') != parameter.is_some() {
            return Err(refused());
        }
        let number = parameter.map_or(Ok(0.0), |text| text.parse().map_err(|_| refused()))?;
        Ok(Self::named(name, number)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every loss as it is written, a parameter being 0.7.
    fn written() -> impl Iterator<Item = String> {
        let text = |name: &&str| name.split_once(':').map_or((*name).to_owned(), |(name, _)| format!("{name}:0.7"));
        Loss::NAMES.iter().map(text)
    }

    fn losses() -> impl Iterator<Item = Loss> {
        written().map(|text| text.parse().expect("a loss"))
    }

    #[test]
    fn names_come_back() {
        for (loss, text) in losses().zip(written()) {
            assert_eq!(loss.to_string(), text);
            assert_eq!(loss.validate(), Ok(()));
        }
        for wrong in ["", "square", "huber", "huber:x", "huber:-1", "quantile:1", "squared:1", "epsilon:-0.1"] {
            assert!(wrong.parse::<Loss>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn derivatives_are_those_of_the_values() {
        let h = 1e-6;
        for loss in losses().filter(|loss| *loss != Loss::SOFTMAX) {
            let targets: &[f64] = if loss.is_margin() { &[-1.0, 1.0] } else { &[0.3, 2.0] };
            for y in targets {
                for z in [-2.3, -0.41, 0.07, 0.55, 1.83, 3.1] {
                    let difference = (loss.value(&[z + h], &[*y]) - loss.value(&[z - h], &[*y])) / (2.0 * h);
                    let derivative = loss.derivative(z, *y);
                    assert!((difference - derivative).abs() < 1e-7, "{loss} at {z}, {y}: {difference} {derivative}");
                }
            }
        }
        let (scores, h) = ([0.3, -1.2, 2.0], 1e-6);
        let mut gradient = [0.0; 3];
        for class in [0.0, 1.0, 2.0] {
            Loss::SOFTMAX.gradient(&scores, &[class], &mut gradient);
            for k in 0..3 {
                let at = |step: f64| {
                    let mut moved = scores;
                    moved[k] += step;
                    Loss::SOFTMAX.value(&moved, &[class])
                };
                assert!(((at(h) - at(-h)) / (2.0 * h) - gradient[k]).abs() < 1e-8);
            }
            assert!(gradient.iter().sum::<f64>().abs() < 1e-15);
        }
    }

    /// The inequality that defines the constant, on a grid of scores.
    #[test]
    fn curvatures_hold() {
        for bound in [0.5, 1.0, 3.0] {
            let grid: Vec<f64> = (-20..=20).map(|i| f64::from(i) / 20.0 * bound).collect();
            for (loss, targets) in [(Loss::SQUARED, [-0.8, 0.5]), (Loss::LOGISTIC, [-1.0, 1.0])] {
                let eta = loss.curvature(bound, 0.8, 1).expect("exp-concave");
                for y in targets {
                    for (z, to) in grid.iter().flat_map(|z| grid.iter().map(move |to| (*z, *to))) {
                        let g = loss.derivative(z, y);
                        let below = loss.value(&[z], &[y]) + g * (to - z) + 0.5 * eta * (g * (to - z)).powi(2);
                        assert!(loss.value(&[to], &[y]) >= below - 1e-12, "{loss} with {bound}: {z} to {to}");
                    }
                }
            }
            // Softmax: strong convexity in scores that sum to zero.
            let kappa = Loss::SOFTMAX.curvature(bound, 1.0, 3).expect("a constant");
            let coarse = grid.iter().step_by(5);
            let pairs: Vec<[f64; 3]> = coarse
                .clone()
                .flat_map(|a| coarse.clone().map(move |b| [*a, *b, -a - b]))
                .filter(|z| z[2].abs() <= bound)
                .collect();
            for (from, to) in pairs.iter().flat_map(|from| pairs.iter().map(move |to| (from, to))) {
                let mut g = [0.0; 3];
                Loss::SOFTMAX.gradient(from, &[1.0], &mut g);
                let difference: Vec<f64> = to.iter().zip(from).map(|(a, b)| a - b).collect();
                let linear: f64 = g.iter().zip(&difference).map(|(g, d)| g * d).sum();
                let squared: f64 = difference.iter().map(|d| d * d).sum();
                let below = Loss::SOFTMAX.value(from, &[1.0]) + linear + 0.5 * kappa * squared;
                assert!(Loss::SOFTMAX.value(to, &[1.0]) >= below - 1e-12);
            }
        }
        let rest = losses().filter(|loss| !matches!(loss, Loss::Squared(_) | Loss::Logistic(_) | Loss::Softmax(_)));
        rest.for_each(|loss| assert_eq!(loss.curvature(1.0, 1.0, 1), None, "{loss}"));
    }

    #[test]
    fn targets_are_checked() {
        assert!(Loss::LOGISTIC.check(&[1.0], 1).is_ok() && Loss::LOGISTIC.check(&[0.0], 1).is_err());
        assert!(Loss::SOFTMAX.check(&[2.0], 3).is_ok() && Loss::SOFTMAX.check(&[3.0], 3).is_err());
        let poisson = Loss::Poisson(Poisson);
        assert!(poisson.check(&[0.0], 1).is_ok() && poisson.check(&[-1.0], 1).is_err());
        assert!(Loss::SQUARED.check(&[f64::NAN], 1).is_err());
    }

    #[test]
    fn nothing_overflows_at_large_scores() {
        for loss in losses().filter(|loss| !matches!(loss, Loss::Poisson(_) | Loss::Softmax(_))) {
            for (z, y) in [(1e6, 1.0), (-1e6, 1.0), (1e6, -1.0), (-1e6, -1.0)] {
                assert!(loss.value(&[z], &[y]).is_finite() && loss.derivative(z, y).is_finite(), "{loss}");
            }
        }
        assert!((Loss::SOFTMAX.value(&[1e6, -1e6], &[1.0]) - 2e6).abs() < 1e-9);
    }
}
