//! Forecasts over several steps: powers of the Koopman operator.
//!
//! `(Kg)(x) = g(Y)ᵀ W k_X(x)`, and over `n` steps `(Kⁿg)(x) = g(Y)ᵀ W (G_XY W)ⁿ⁻¹ k_X(x)` with
//! `(G_XY)_ij = k_X(x_i, y_j)`. Read from the left: `Kg` has the coefficients `c = Wᵀ g(Y)`, its
//! values at the output points are `G_YX c`, and these are the next observable.

use mercer_kernels::{AlignedVec, Kernel, Points};
use mercer_simd::dot;

use crate::Error;
use crate::KernelOperator;
use crate::kernel_operator::{check_dimension, check_values};

impl<K: Kernel, L: Kernel> KernelOperator<K, L> {
    /// The coefficients on the input dictionary of `Kg, K²g, …, Kⁿg` for an observable with the
    /// values `g` at the output points ([`observe`](Self::observe)): `(Kⁿg)(x)` is the forecast of
    /// `g` from `x`, `n` steps ahead. Centring `g` helps, for the constant function is outside most
    /// of these spaces. `O(nm²)`, with the kernel block `O(m²d)` made anew at each step.
    ///
    /// # Errors
    /// When `g` has not one value for each output point, or `steps > 1` and inputs and outputs
    /// differ in dimension.
    pub fn powers(&self, g: &[f64], steps: usize) -> Result<Vec<Vec<f64>>, Error> {
        check_values(g, self.outputs().len())?;
        if steps > 1 {
            check_dimension(self.output_dimension(), self.input_dimension())?;
        }
        let mut powers: Vec<Vec<f64>> = Vec::with_capacity(steps);
        let (mut row, mut point) = (AlignedVec::new(), vec![0.0; self.output_dimension()]);
        for n in 0..steps {
            let coefficients = match powers.last() {
                None => self.pull_back(g)?,
                Some(last) => {
                    let last = AlignedVec::from_slice(last);
                    let values: Vec<f64> = (0..self.outputs().len())
                        .map(|i| {
                            self.outputs().copy_point(i, &mut point);
                            self.input_kernel().row(self.inputs(), &point, &mut row);
                            dot(row.lanes(), last.lanes())
                        })
                        .collect();
                    self.pull_back(&values)?
                }
            };
            debug_assert_eq!(powers.len(), n);
            powers.push(coefficients);
        }
        Ok(powers)
    }

    /// The expected values of an observable 1, …, `steps` steps after each of many points,
    /// `values[step][point]`; `g` as in [`powers`](Self::powers). The observable is centred by its
    /// mean over the dictionary, so that far from all data the forecast is that mean and not 0; but
    /// not where all functions of the space vanish at the origin, as for a linear kernel, since a
    /// constant is far from all of them.
    ///
    /// # Errors
    /// As [`powers`](Self::powers), and when the points have another dimension than the inputs.
    pub fn forecasts(&self, g: &[f64], points: &Points, steps: usize) -> Result<Vec<Vec<f64>>, Error> {
        let has_constants = self.input_kernel().self_value(&vec![0.0; self.input_dimension()]) > 0.0;
        let mean = if has_constants { g.iter().sum::<f64>() / g.len().max(1) as f64 } else { 0.0 };
        let centred: Vec<f64> = g.iter().map(|value| value - mean).collect();
        let powers = self.powers(&centred, steps)?;
        let functions: Vec<&[f64]> = powers.iter().map(Vec::as_slice).collect();
        let mut values = self.evaluate_all(&functions, points)?;
        values.iter_mut().flatten().for_each(|value| *value += mean);
        Ok(values)
    }
}
