//! Forecasts by the operator of least squares.
//!
//! The mean of a stochastic system `k` steps ahead is linear in the features, `e_xᵀ(Mᵀ)ᵏφ(x)`.
//! A deterministic system is better iterated, `x ← e_xᵀMᵀφ(x)` with the features made anew at each
//! step: its powers leave the set on which features of states lie, while the mean of a stochastic
//! system is no state from which one could go on. A chaotic one is iterated for as many steps as
//! that is the better, and its mean is told behind them. With inputs every step has its own, and
//! forecasts iterate.

use mercer_linalg_incremental::Matrix;
use mercer_sparsify::Probe;

use super::blocks::Sums;
use super::choice::solve;
use super::features::Features;
use crate::Error;

/// A forecast by linear features goes no farther from the mean than this many deviations, nor this
/// many times the root mean square of the data.
const FARTHEST: f64 = 50.0;
/// Other features know nothing outside of the data: a forecast leaves their range by no more than
/// this part of it.
const BEYOND: f64 = 0.1;

/// Forecaster in scaled units.
#[derive(Clone, Debug)]
pub(crate) struct Forecaster {
    features: Features,
    operator: Matrix,
    state: usize,
    /// Steps that are iterated.
    iterates: usize,
    bounds: Vec<[f64; 2]>,
}

/// Memory of a forecast.
#[derive(Clone, Debug, Default)]
pub(crate) struct ForecastMemory {
    probe: Probe,
    features: Vec<f64>,
}

impl Forecaster {
    /// That of the pairs of `sums`, whose states lie in `range`.
    ///
    /// # Errors
    /// When the equations are singular to rounding.
    pub(crate) fn new(
        features: &Features,
        range: &[[f64; 2]],
        ridge: f64,
        iterates: usize,
        sums: &Sums,
    ) -> Result<Self, Error> {
        let outputs = sums.cross.columns();
        let state = range.len();
        let bound = |(j, [least, most]): (usize, &[f64; 2])| {
            let far = FARTHEST * (sums.squares[1 + j] / sums.weight).sqrt().max(1.0);
            let beyond = BEYOND * (most - least);
            if features.kernel().is_none() { [-far, far] } else { [least - beyond, most + beyond] }
        };
        Ok(Self {
            operator: solve(sums, features.leading(), ridge, 0..outputs)?,
            bounds: range.iter().enumerate().map(bound).collect(),
            iterates: if outputs < features.len() { usize::MAX } else { iterates },
            features: features.clone(),
            state,
        })
    }

    fn bounded(&self, state: &mut [f64]) {
        state.iter_mut().zip(&self.bounds).for_each(|(x, [least, most])| *x = x.clamp(*least, *most));
    }

    /// The states 1, 2, … steps after `x`, as many as there are rows of `states`; `inputs` are
    /// those of the second step and on. `O(p²)` a step.
    pub(crate) fn path(&self, x: &[f64], inputs: &[&[f64]], states: &mut [Vec<f64>], memory: &mut ForecastMemory) {
        let mut x = x.to_vec();
        let (mut powers, mut now) = (Vec::new(), Vec::new());
        let has_means = states.len() > self.iterates;
        if has_means {
            self.features.evaluate(&x, &mut memory.probe, &mut powers);
        }
        for (k, to) in states.iter_mut().enumerate() {
            if has_means {
                self.image(&powers, self.operator.columns(), &mut now);
                std::mem::swap(&mut powers, &mut now);
            }
            if k < self.iterates {
                self.features.evaluate(&x, &mut memory.probe, &mut memory.features);
                self.image(&memory.features, 1 + self.state, &mut now);
            } else {
                now.clone_from(&powers);
            }
            to.clear();
            to.extend_from_slice(&now[1..=self.state]);
            self.bounded(to);
            x.clear();
            x.extend_from_slice(to);
            x.extend_from_slice(inputs.get(k).copied().unwrap_or(&[]));
        }
    }

    /// `Mᵀφ` on the leading columns.
    fn image(&self, phi: &[f64], columns: usize, image: &mut Vec<f64>) {
        let one = |j: usize| self.operator.column(j).iter().zip(phi).map(|(m, f)| m * f).sum::<f64>();
        image.clear();
        image.extend((0..columns).map(one));
    }
}
