//! [`WhenWrong`] for updates of kernel coefficients.

use mercer_kernels::Kernel;
use mercer_sparsify::{Answer, Basis};

use super::{CoefficientUpdate, SampleView, predict};
use crate::engines::update::{Coefficients, WhenWrong};
use crate::loss::Loss;
use crate::{Error, Growth};

impl<K: Kernel, U: CoefficientUpdate<K>> CoefficientUpdate<K> for WhenWrong<U> {
    fn loss(&self) -> Loss {
        self.inner.loss()
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: SampleView<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let mut seen = seen;
        if seen.answer.growth().is_some() && !seen.basis.is_empty() {
            predict(self.inner.loss(), alpha, seen.probe.row(), scores);
            if !self.keeps(seen.target, scores) {
                seen.answer = Answer::Skip;
            }
        }
        self.inner.step(alpha, seen, scores)
    }

    fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
        self.inner.reshape(growth)
    }

    fn fits(&self, points: usize, inputs: usize) -> bool {
        self.inner.fits(points, inputs)
    }
}
