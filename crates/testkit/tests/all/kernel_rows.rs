//! Kernel rows allocate nothing once they have been computed, however kernels are nested.

use mercer_kernels::{AlignedVec, Gaussian, Kernel, KernelError, KernelMixture, Laplace, Linear, Points, Product};
use mercer_testkit::alloc::allocations_during;

/// A user's kernel, with no row of its own.
struct Plain;

impl Kernel for Plain {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        Linear.evaluate(x, z)
    }
    fn self_value(&self, x: &[f64]) -> f64 {
        Linear.self_value(x)
    }
}

#[test]
fn rows_and_blocks_allocate_nothing_the_second_time() -> Result<(), KernelError> {
    let points = Points::from_rows(5, &(0..5 * 90).map(|i| f64::from(i).sin()).collect::<Vec<f64>>());
    let queries = Points::from_rows(5, &points.point(7).repeat(3));
    let gaussians = || KernelMixture::new(vec![(0.3, Gaussian::new(0.5)?), (0.7, Gaussian::new(2.0)?)]);
    let of_mixtures = KernelMixture::new(vec![(1.0, gaussians()?), (2.0, gaussians()?), (3.0, gaussians()?)])?;
    let of_products =
        Product::new(Laplace::new(1.0)?, Product::new(of_mixtures.clone(), Product::new(Plain, Linear, 1), 1), 2);
    let plain_mixture = KernelMixture::new(vec![(0.5, Plain), (0.5, Plain)])?;
    let kernels: [&dyn Kernel; 5] = [&Plain, &plain_mixture, &of_mixtures, &of_products, &Linear];
    for (which, kernel) in kernels.into_iter().enumerate() {
        let (mut row, mut rows) = (AlignedVec::new(), Vec::new());
        let mut both = || {
            kernel.row(&points, &queries.point(0), &mut row);
            kernel.block(&points, &queries, &mut rows);
        };
        both();
        // The copy of a query is the one allocation.
        assert_eq!(allocations_during(both), 1, "kernel {which}");
        assert_eq!(rows[2], row, "kernel {which}");
    }
    Ok(())
}
