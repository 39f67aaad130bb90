//! Large weights of examples.
//!
//! `ω` times a gradient goes far past the target where `ω` is large. So a weight multiplies the
//! gradient up to 10, and what is above acts as infinitely many small steps on the same example
//! would (Karampatziakis and Langford 2011), which end at the target: a weight of any size moves a
//! prediction hardly farther than one of 10. The step size is that of weight 10 at most, so one
//! heavy example does not shorten the steps after it either.

use crate::Error;
use crate::engines::update::finite;
use crate::example::Target;
use crate::loss::Loss;

/// Up to here a weight multiplies the gradient.
pub(crate) const LARGE: f64 = 10.0;

/// Steps `−ηg` along a direction of squared length `squared` at these scores: adds what is left of
/// a large weight. `after` is memory.
pub(crate) fn add_rest(
    loss: Loss,
    eta: f64,
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
    for (step, (z, after)) in steps.iter_mut().zip(scores.iter().zip(&*after)) {
        *step = finite((after - z) / squared)?;
    }
    Ok(())
}

/// Step along a direction, for each unit of error, under half the squared loss: `ηω` for weights
/// that are not large. Along that direction the score moves `moves` times as far.
pub(crate) fn squared_rate(eta: f64, moves: f64, weight: f64) -> f64 {
    let (first, rest) = (eta * weight.min(LARGE), weight - LARGE);
    if rest <= 0.0 {
        return first;
    }
    let length = if moves == 0.0 { eta * rest } else { -(-eta * moves * rest).exp_m1() / moves };
    first + (1.0 - first * moves) * length
}
