//! A NOGD that forgets at its switch: what the printed NOGD row is.
//!
//! NOGD keeps its first `B` examples in a plain kernel expansion and then goes on in their Nyström
//! features. This library's carries the learnt function over, as the algorithm has it. The printed
//! errors are a few percent above those, on every data set, and agree with a learner that starts
//! its features from zero instead: the loss of relearning is paid once, after round `B`. It lives
//! here, not among the learners, because nobody would want it for anything but this comparison.

use mercer_kernels::{Gaussian, Points};
use mercer_learners::update::{GradientStep, StepSize};
use mercer_learners::{
    Blocks, Error, FrozenNystrom, Growth, Loss, Nogd, NogdParams, OnFeatures, Problem, Regressor, Scratch, Target,
    Tokens, Variance,
};

/// NOGD that starts its Nyström features from zero.
#[derive(Clone, Debug)]
pub(crate) struct RestartedNogd {
    kernel: Gaussian,
    budget: usize,
    step: f64,
    points: Points,
    collecting: Nogd<Gaussian>,
    frozen: Option<OnFeatures<FrozenNystrom<Gaussian>, GradientStep>>,
}

impl RestartedNogd {
    /// A learner of `budget` points and as many features at most.
    pub(crate) fn new(kernel: Gaussian, dimension: usize, budget: usize, step: f64) -> Result<Self, Error> {
        // Its own switch, one round later, is never reached.
        let params = NogdParams::default().budget(budget + 1).rank(budget).step(step).radius(None);
        let collecting = Nogd::new(kernel, dimension, params)?;
        Ok(Self { kernel, budget, step, points: Points::new(dimension), collecting, frozen: None })
    }
}

impl Regressor for RestartedNogd {
    fn problem(&self) -> Problem {
        Problem::squared(self.points.dimension(), 1)
    }

    fn dictionary_size(&self) -> usize {
        self.points.len()
    }

    fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
        match &self.frozen {
            Some(frozen) => frozen.predict_into(x, scratch, scores),
            None => self.collecting.predict_into(x, scratch, scores),
        }
    }

    fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
        if let Some(frozen) = &mut self.frozen {
            return frozen.step(x, target, scores);
        }
        self.collecting.step(x, target, scores)?;
        self.points.push(x);
        if self.points.len() == self.budget {
            let map = FrozenNystrom::new(self.kernel, self.points.clone(), self.budget)?;
            let update = GradientStep::new(map.rank(), 1, Loss::SQUARED, StepSize::Constant(self.step), None);
            self.frozen = Some(OnFeatures::from_parts(map, update)?);
        }
        Ok(())
    }

    fn variance(&self) -> Option<&dyn Variance> {
        None
    }

    fn blocks(&mut self) -> Option<&mut dyn Blocks> {
        None
    }

    fn tokens(&self) -> Option<&dyn Tokens> {
        None
    }

    fn tokens_mut(&mut self) -> Option<&mut dyn Tokens> {
        None
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        Err(growth.refused())
    }
}

#[cfg(test)]
mod tests {
    use mercer_learners::RegressorExt;

    use super::*;

    #[test]
    fn it_is_nogd_until_the_switch_and_zero_right_after() {
        let kernel = Gaussian::new(1.0).unwrap();
        let params = NogdParams::default().budget(10).rank(10).step(0.3).radius(None);
        let mut whole = Nogd::new(kernel, 1, params).unwrap();
        let mut restarted = RestartedNogd::new(kernel, 1, 10, 0.3).unwrap();
        for i in 0..10 {
            let x = [f64::from(i) * 0.4];
            let (a, b) = (whole.predict_then_update(&x, 1.0), restarted.predict_then_update(&x, 1.0));
            assert_eq!(a, b);
        }
        assert_eq!(restarted.predict(&[0.5]), Ok(0.0));
        assert!(whole.predict(&[0.5]).unwrap() > 0.5);
        restarted.predict_then_update(&[0.5], 1.0).unwrap();
        assert!(restarted.predict(&[0.5]).unwrap() > 0.1);
        assert_eq!((restarted.dictionary_size(), restarted.dimension()), (10, 1));
    }
}
