//! Vectorised rows against the scalar definition of each kernel.

use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points, Product};
use proptest::prelude::*;

/// A kernel of each kind, and two further ones.
fn specs() -> impl Iterator<Item = &'static str> {
    let further = ["polynomial:1,0", "mix:0.4*gaussian:0.4+0.6*matern32:0.7+0.1*linear"];
    AnyKernel::EXAMPLES.iter().copied().chain(further)
}

/// A user's kernel, with no vectorised row.
struct Plain<'a>(&'a AnyKernel);

impl Kernel for Plain<'_> {
    fn evaluate(&self, x: &[f64], z: &[f64]) -> f64 {
        self.0.evaluate(x, z)
    }
    fn self_value(&self, x: &[f64]) -> f64 {
        self.0.self_value(x)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_equal_the_definition(d in 1usize..12, j in 0usize..70, values in prop::collection::vec(-2.0..2.0, 70 * 12 + 12)) {
        let points = Points::from_rows(d, &values[..j * d]);
        let x = &values[70 * 12..70 * 12 + d];
        for spec in specs() {
            let kernel: AnyKernel = spec.parse().map_err(|e| TestCaseError::fail(format!("{e}")))?;
            let (mut row, mut plain) = (AlignedVec::new(), AlignedVec::new());
            kernel.row(&points, x, &mut row);
            Plain(&kernel).row(&points, x, &mut plain);
            for (fast, slow) in row.iter().zip(plain.iter()) {
                prop_assert!((fast - slow).abs() <= 1e-14 * slow.abs().max(1.0), "{spec}: {fast} against {slow}");
            }
            prop_assert!(row.lanes().iter().flat_map(|lane| lane.0).skip(j).all(|padding| padding == 0.0));
            prop_assert!((kernel.self_value(x) - kernel.evaluate(x, x)).abs() <= 1e-14 * kernel.self_value(x).abs());
            let mut rows = Vec::new();
            kernel.block(&points, &Points::from_rows(d, x), &mut rows);
            prop_assert_eq!(&*rows[0], &*row);
        }
    }
}

#[test]
fn huge_coordinates_give_a_kernel_value_of_zero_not_nan() {
    let points = Points::from_rows(1, &[1e308, -1e308, 0.0]);
    for spec in ["gaussian:1", "laplace:1", "matern32:1", "matern52:1"] {
        let kernel: AnyKernel = spec.parse().unwrap_or(AnyKernel::Linear(mercer_kernels::Linear));
        let mut row = AlignedVec::new();
        kernel.row(&points, &[0.0], &mut row);
        assert_eq!(*row, [0.0, 0.0, 1.0], "{spec}");
        assert_eq!(kernel.evaluate(&[1e308], &[-1e308]), 0.0, "{spec}");
    }
}

/// The bits of all kernel values between the points, by rows and by single values.
fn gram(kernel: &dyn Kernel, points: &Points) -> Vec<(u64, u64)> {
    let mut rows = Vec::new();
    kernel.block(points, points, &mut rows);
    let value = |i: usize, j: usize| kernel.evaluate(&points.point(i), &points.point(j));
    let entries = (0..points.len()).flat_map(|i| (0..points.len()).map(move |j| (i, j)));
    // The empty sum is −0 for some, and a zero that compares equal to 0 is the same value.
    entries.map(|(i, j)| ((rows[i][j] + 0.0).to_bits(), (value(i, j) + 0.0).to_bits())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn further_coordinates_of_value_zero_change_no_bit(d in 0usize..9, j in 1usize..30, added in 0usize..10, values in prop::collection::vec(-2.0..2.0, 30 * 9)) {
        let mut points = Points::new(d);
        (0..j).for_each(|i| points.push(&values[i * d..(i + 1) * d]));
        let mut grown = points.clone();
        grown.grow(added);
        for spec in specs() {
            let kernel: AnyKernel = spec.parse().map_err(|e| TestCaseError::fail(format!("{e}")))?;
            prop_assert_eq!(gram(&kernel, &points), gram(&kernel, &grown), "{}", spec);
            prop_assert_eq!(gram(&Plain(&kernel), &points), gram(&Plain(&kernel), &grown), "{}", spec);
            // The coordinates come to the second part.
            let product = Product::new(kernel.clone(), kernel, d / 2);
            prop_assert_eq!(gram(&product, &points), gram(&product, &grown), "product of {}", spec);
            for i in 0..j {
                let (before, after) = (product.self_value(&points.point(i)), product.self_value(&grown.point(i)));
                prop_assert_eq!((before + 0.0).to_bits(), (after + 0.0).to_bits(), "product of {}", spec);
            }
        }
    }
}
