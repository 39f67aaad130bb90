//! [`WhenWrong`] for updates of kernel coefficients.

use mercer_kernels::{AlignedVec, Kernel};
use mercer_sparsify::{Answer, Basis};

use super::{CoefficientUpdate, Seen};
use crate::Error;
use crate::loss::Loss;
use crate::update::{Coefficients, WhenWrong};

impl<K: Kernel, U: CoefficientUpdate<K>> CoefficientUpdate<K> for WhenWrong<U> {
    fn loss(&self) -> Loss {
        self.inner.loss()
    }

    fn predict(&self, alpha: &Coefficients, row: &AlignedVec, scores: &mut [f64]) {
        self.inner.predict(alpha, row, scores);
    }

    fn step(&mut self, alpha: &mut Coefficients, seen: Seen<'_, K>, scores: &mut [f64]) -> Result<(), Error> {
        let mut seen = seen;
        if seen.answer.growth().is_some() && !seen.basis.is_empty() {
            self.inner.predict(alpha, seen.probe.row(), scores);
            if !self.keeps(seen.target, scores) {
                seen.answer = Answer::Skip;
            }
        }
        self.inner.step(alpha, seen, scores)
    }

    fn grow(&mut self, added: usize) {
        self.inner.grow(added);
    }

    fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
        self.inner.add_output(like)
    }

    fn fits(&self, points: usize) -> bool {
        self.inner.fits(points)
    }
}
