//! A dictionary of points with the kernel values as coordinates.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::{AlignedVec, Kernel, Points};

use crate::basis::Basis;
use crate::probe::Probe;

/// Kept points and their kernel; the coordinates of `x` are `k_S(x)`.
///
/// A probe costs `Jd` multiply-adds, memory is `Jd + J` numbers. Nothing is solved, so points may
/// repeat and depend on each other.
///
/// # Invariants
/// `self_values` holds `k(d_i, d_i)` for each point.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelBasis<K> {
    kernel: K,
    points: Points,
    self_values: Vec<f64>,
}

impl<K: Kernel> KernelBasis<K> {
    /// The empty dictionary for inputs of dimension `dimension`.
    pub fn new(kernel: K, dimension: usize) -> Self {
        Self { kernel, points: Points::new(dimension), self_values: Vec::new() }
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }
}

impl<K: Validate> Validate for KernelBasis<K> {
    fn validate(&self) -> Result<(), Inconsistent> {
        self.kernel.validate()?;
        self.points.validate()?;
        self.self_values.iter().try_for_each(|value| Inconsistent::non_negative(*value, "kernel value"))?;
        let fits = self.self_values.len() == self.points.len();
        Inconsistent::require(fits, "dictionary", "it has a kernel value for each point")
    }
}

impl<K: Kernel> Basis for KernelBasis<K> {
    /// The coordinate of the point goes, the others stay.
    type Change = ();

    fn len(&self) -> usize {
        self.points.len()
    }

    fn points(&self) -> &Points {
        &self.points
    }

    fn self_value(&self, index: usize) -> f64 {
        self.self_values[index]
    }

    fn probe(&self, x: &[f64], probe: &mut Probe) {
        self.kernel.row(&self.points, x, &mut probe.row);
        probe.coordinates.assign(&probe.row);
        probe.self_value = self.kernel.self_value(x);
        probe.residual = probe.self_value;
    }

    /// Always 1: no value depends on it.
    fn new_coordinate(&self, _: &Probe) -> Option<f64> {
        Some(1.0)
    }

    fn append(&mut self, x: &[f64], _: &AlignedVec, _: f64) {
        self.points.push(x);
        self.self_values.push(self.kernel.self_value(x));
    }

    fn remove(&mut self, index: usize, (): &mut ()) {
        self.points.remove(index);
        self.self_values.remove(index);
    }

    fn grow(&mut self, added: usize) {
        self.points.grow(added);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer_kernels::Polynomial;

    #[test]
    fn coordinates_are_kernel_values_whatever_joins_and_leaves() -> Result<(), Box<dyn std::error::Error>> {
        let kernel = Polynomial::new(2, 0.5)?;
        let mut basis = KernelBasis::new(kernel, 2);
        let mut kept: Vec<[f64; 2]> = Vec::new();
        let mut probe = Probe::default();
        for t in 0..60 {
            let x = [f64::from(t * 7 % 11) * 0.2, f64::from(t % 5) * 0.3];
            basis.probe(&x, &mut probe);
            assert_eq!(probe.coordinates().len(), kept.len());
            for (value, z) in probe.coordinates().iter().zip(&kept) {
                assert!((value - kernel.evaluate(&x, z)).abs() < 1e-12);
            }
            assert!((0..kept.len()).all(|i| basis.self_value(i) == kernel.self_value(&kept[i])));
            if t % 3 == 2 {
                basis.remove(t as usize % kept.len(), &mut ());
                kept.remove(t as usize % kept.len());
            } else {
                basis.append(&x, probe.coordinates(), 1.0);
                kept.push(x);
            }
            assert_eq!(basis.validate(), Ok(()));
        }
        Ok(())
    }
}
