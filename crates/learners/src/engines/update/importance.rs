//! Large weights of examples.
//!
//! `ω` times a gradient goes far past the target where `ω` is large. So a weight multiplies the
//! gradient up to 10, and what is above acts as infinitely many small steps on the same example
//! would (Karampatziakis and Langford 2011), which end at the target: a weight of any size moves a
//! prediction hardly farther than one of 10. The step size is that of weight 10 at most, so one
//! heavy example does not shorten the steps after it either. Where functions stay in a ball, these
//! small steps end where they reach it: the projection of a longer step would take from all that
//! was learnt before.
//!
//! A Newton step has `(A + ωhφφᵀ)⁻¹` before its gradient, which is `1/μ` in a direction that is
//! new: [`NewtonSteps::Short`] keeps it short of its target.

use crate::Error;
use crate::engines::update::finite;
use crate::entry::choices;
use crate::example::Target;
use crate::loss::Loss;

/// Up to here a weight multiplies the gradient.
pub(crate) const LARGE: f64 = 10.0;

/// Steps `−ηg` along a direction of squared length `squared` at these scores: adds what is left of
/// a large weight, as far as the `ball` lets it. `after` is memory.
pub(crate) fn add_rest(
    loss: Loss,
    (eta, ball): (f64, Option<Ball>),
    squared: f64,
    Target { y, weight }: Target<'_>,
    (steps, scores): (&mut [f64], &[f64]),
    after: &mut Vec<f64>,
) -> Result<(), Error> {
    if weight <= LARGE || squared == 0.0 {
        return Ok(());
    }
    after.clear();
    after.extend(scores.iter().zip(&*steps).map(|(z, s)| z + s * squared));
    loss.flow(after, y, eta * squared * (weight - LARGE));
    for (after, z) in after.iter_mut().zip(scores) {
        *after = finite((*after - z) / squared)?;
    }
    let share = ball.map_or(1.0, |ball| ball.share(squared, (&*steps, &*after), scores));
    for (step, after) in steps.iter_mut().zip(&*after) {
        *step = if share < 1.0 { *step + share * (after - *step) } else { *after };
    }
    Ok(())
}

/// The ball that a function stays in.
#[derive(Clone, Copy)]
pub(crate) struct Ball {
    pub(crate) radius: f64,
    /// `‖f‖²` before the step.
    pub(crate) squared_norm: f64,
}

impl Ball {
    /// The largest share of the way from steps `first` to `last`, along a direction of squared
    /// length `squared`, that ends in the ball; 0 if the way begins outside.
    fn share(self, squared: f64, (first, last): (&[f64], &[f64]), scores: &[f64]) -> f64 {
        // `‖f + (s + c m)k_x‖² − U² = constant + 2 linear c + quadratic c²`, `m` the way.
        let (mut constant, mut linear, mut quadratic) = (self.squared_norm - self.radius * self.radius, 0.0, 0.0);
        for ((s, last), z) in first.iter().zip(last).zip(scores) {
            let way = last - s;
            constant += 2.0 * s * z + s * s * squared;
            linear += way * (z + s * squared);
            quadratic += way * way * squared;
        }
        if constant >= 0.0 {
            return 0.0;
        }
        // The positive root, in the form that does not cancel.
        let root = (linear * linear - quadratic * constant).sqrt();
        let share = if linear > 0.0 { -constant / (linear + root) } else { (root - linear) / quadratic };
        if share < 1.0 { share } else { 1.0 }
    }
}

/// The largest second derivative of a loss that has Newton steps.
pub(crate) fn steepest(loss: Loss) -> f64 {
    match loss {
        Loss::Squared(_) => 2.0,
        _ if loss.is_softmax() => 0.5,
        _ => 0.25, // logistic
    }
}

/// Length of online Newton steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum NewtonSteps {
    /// Where the weight is above 1 or the regulariser below 1, no step passes the least loss of its
    /// own example: `w ← w − cg/(hs)` at most, with `s = φᵀA⁻¹φ` of before and the largest second
    /// derivative `h` of the loss.
    #[default]
    Short,
    /// As printed in the papers, which have neither.
    Printed,
}

choices!(NewtonSteps { "short" = Short, "printed" = Printed });

impl NewtonSteps {
    /// Divisor of `ωg` in a step along `A⁻¹φ`: `1 + ωηg²s`, or what keeps it short.
    pub(crate) fn divisor(self, loss: Loss, (prior, weight): (f64, f64), curvature: f64, s: f64) -> f64 {
        let divisor = 1.0 + weight * curvature * s;
        let short = self == Self::Short && (weight > 1.0 || prior < 1.0);
        if short { divisor.max(weight * steepest(loss) * s) } else { divisor }
    }
}

/// Step along a direction, for each unit of error, under half the squared loss: `ηω` for weights
/// that are not large. Along that direction the score moves `moves` times as far. A weight above 1
/// draws the score to its target at most, or as far as weight 1 does.
pub(crate) fn squared_rate(eta: f64, moves: f64, weight: f64) -> f64 {
    let (mut first, rest) = (eta * weight.min(LARGE), weight - LARGE);
    if weight > 1.0 && first * moves > 1.0 {
        first = eta.max(1.0 / moves);
    }
    if rest <= 0.0 || first * moves >= 1.0 {
        return first;
    }
    let length = if moves == 0.0 { eta * rest } else { -(-eta * moves * rest).exp_m1() / moves };
    first + (1.0 - first * moves) * length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A heavy example moves a function in a ball to its surface at most, and a function on the
    /// surface not at all beyond the step of weight 10.
    #[test]
    fn the_rest_of_a_weight_stays_in_the_ball() {
        let rest = |squared_norm: f64, score: f64, first: f64| {
            let (mut steps, target) = ([first], Target::weighted(&[1.0], 1e6));
            let ball = Some(Ball { radius: 2.0, squared_norm });
            add_rest(Loss::LOGISTIC, (0.5, ball), 1.0, target, (&mut steps, &[score]), &mut Vec::new()).unwrap();
            (steps[0], squared_norm + 2.0 * steps[0] * score + steps[0] * steps[0])
        };
        let (step, squared) = rest(1.0, 0.2, 0.3);
        assert!(step > 0.3 && (squared - 4.0).abs() < 1e-12, "{step} {squared}");
        assert_eq!(rest(4.0, 0.5, 0.3).0, 0.3);
        // Without a ball it goes on.
        let (mut steps, target) = ([0.3], Target::weighted(&[1.0], 1e6));
        add_rest(Loss::LOGISTIC, (0.5, None), 1.0, target, (&mut steps, &[0.2]), &mut Vec::new()).unwrap();
        assert!(steps[0] > 5.0);
    }
}
