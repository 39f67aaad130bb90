//! Forecasts over several steps. (interface)

use crate::Error;
use crate::operator::KernelOperator;
use mercer_kernels::Kernel;

impl<K: Kernel, L: Kernel> KernelOperator<K, L> {
    /// The coefficients on the input dictionary of `Kg, K²g, …, Kⁿg` for an observable with the values `g` at the output points
    /// ([`observe`](Self::observe)): `(Kⁿg)(x)` is the forecast of `g` from `x`, `n` steps ahead. Centring `g` helps. `O(nm²)`.
    ///
    /// # Errors
    /// When `g` has not one value for each output point, or `steps > 1` and inputs and outputs differ in dimension.
    pub fn powers(&self, g: &[f64], steps: usize) -> Result<Vec<Vec<f64>>, Error> {
        let _ = (g, steps);
        todo!()
    }
}
