//! Appendix H.2: the up- and downdates that the paper lists, on near duplicates, beside ours.
//!
//! The listing keeps the factor `RᵀR = KᵀK + λK_M` of the normal equations of the kernel columns
//! `K` of the kept points; a kept point updates it by `u = (c/(1+g), g)` and downdates it by
//! `v = (c/(1+g), −1)`, `g = √(1 + d)`. Two points a distance `h` apart leave this matrix an
//! eigenvalue of the order `λh²`, and the downdate subtracts numbers of the order of 1 to find it.
//! [`PkawvNystrom`] has orthonormal coordinates, in which no eigenvalue is below `λ`. Both follow
//! the same decisions of KORS, and are compared with a dense solution in each round.

use super::breaks;
use crate::stats::dot;
use mercer_kernels::{Gaussian, Kernel};
use mercer_learners::{NystromParams, PkawvNystrom, RegressorExt};
use mercer_linalg_incremental::SymmetricEigen;
use mercer_sparsify::{Admission, Ald, Kors, NewtonBasis, Probe};
use mercer_streams::Simulation;

const LAMBDA: f64 = 0.01;

/// The factor of a growing normal matrix as the listing has it: upper triangular, by rows,
/// `factor[i][j]` for `j ≥ i`.
#[derive(Clone, Debug, Default)]
struct Listing {
    factor: Vec<Vec<f64>>,
    /// `columns[j][s] = k(x_s, x̃_j)`
    columns: Vec<Vec<f64>>,
    kept: Vec<Vec<f64>>,
    past: Vec<Vec<f64>>,
    targets: Vec<f64>,
}

impl Listing {
    /// `RᵀR ← RᵀR ± xxᵀ`, row by row; a root of a negative number is left to be not a number.
    fn cholup(&mut self, mut x: Vec<f64>, sign: f64) {
        for k in 0..x.len() {
            let old = self.factor[k][k];
            let new = (old * old + sign * x[k] * x[k]).sqrt();
            let (c, s) = (new / old, x[k] / old);
            self.factor[k][k] = new;
            if old == 0.0 {
                // The new row begins as zeros: it takes what is left of the vector.
                for j in k + 1..x.len() {
                    self.factor[k][j] = sign * x[k] * x[j] / new;
                    x[j] = 0.0;
                }
                continue;
            }
            for j in k + 1..x.len() {
                self.factor[k][j] = (self.factor[k][j] + sign * s * x[j]) / c;
                x[j] = c * x[j] - s * self.factor[k][j];
            }
        }
    }

    /// `α = R⁻¹R⁻ᵀ Kᵀ(Y, 0)`
    fn coefficients(&self) -> Vec<f64> {
        let n = self.factor.len();
        let mut a: Vec<f64> = self.columns.iter().map(|column| dot(column, &self.targets)).collect();
        for i in 0..n {
            for j in 0..i {
                a[i] -= self.factor[j][i] * a[j];
            }
            a[i] /= self.factor[i][i];
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                a[i] -= self.factor[i][j] * a[j];
            }
            a[i] /= self.factor[i][i];
        }
        a
    }

    /// One round of Algorithm 2; `keep` is KORS's decision.
    fn round(&mut self, kernel: &impl Kernel, x: &[f64], y: f64, keep: bool) -> f64 {
        self.past.push(x.to_vec());
        let mut row: Vec<f64> = self.kept.iter().map(|z| kernel.evaluate(x, z)).collect();
        for (column, value) in self.columns.iter_mut().zip(&row) {
            column.push(*value);
        }
        self.cholup(row.clone(), 1.0);
        if keep {
            let a: Vec<f64> = self.past.iter().map(|z| kernel.evaluate(z, x)).collect();
            let c: Vec<f64> = self.columns.iter().zip(&row).map(|(column, b)| dot(column, &a) + LAMBDA * b).collect();
            let d = dot(&a, &a) + LAMBDA * kernel.self_value(x);
            let g = (1.0 + d).sqrt();
            let with = |last: f64| c.iter().map(|c| c / (1.0 + g)).chain([last]).collect::<Vec<f64>>();
            for line in &mut self.factor {
                line.push(0.0);
            }
            self.factor.push(vec![0.0; self.factor.len() + 1]);
            if self.factor.len() == 1 {
                // The listing's own first step.
                self.factor[0][0] = d.sqrt();
            } else {
                self.cholup(with(g), 1.0);
                self.cholup(with(-1.0), -1.0);
            }
            self.columns.push(a);
            self.kept.push(x.to_vec());
            row.push(kernel.self_value(x));
        }
        let prediction = dot(&row, &self.coefficients());
        self.targets.push(y);
        prediction
    }
}

/// The forecast for the last input, densely: an orthonormal basis of the span of the kept points,
/// made anew in the order in which they are given, and the eigenvectors of the normal matrix in it.
fn dense<'a>(kernel: Gaussian, inputs: &[&[f64]], targets: &[f64], kept: impl Iterator<Item = &'a [f64]>) -> f64 {
    let (mut basis, mut probe) = (NewtonBasis::new(kernel, inputs[0].len()), Probe::default());
    let mut everything = Ald::new(0.0).unwrap();
    for x in kept {
        basis.probe(x, &mut probe);
        if let Some(new_coordinate) = everything.admits(&basis, x, &probe) {
            basis.append(x, probe.coordinates(), new_coordinate);
        }
    }
    let coordinates = |x: &&[f64]| -> Vec<f64> {
        basis.probe(x, &mut probe);
        probe.coordinates().to_vec()
    };
    let rows: Vec<Vec<f64>> = inputs.iter().map(coordinates).collect();
    let normal = SymmetricEigen::new(basis.len(), |i, j| rows.iter().map(|row| row[i] * row[j]).sum()).unwrap();
    let moments: Vec<f64> =
        (0..basis.len()).map(|i| rows.iter().zip(targets).map(|(row, y)| row[i] * y).sum()).collect();
    let along = |(v, value): (&Vec<f64>, &f64)| dot(v, &moments) * dot(v, &rows[rows.len() - 1]) / (value + LAMBDA);
    normal.vectors.iter().zip(&normal.values).map(along).sum()
}

/// The listing is written correctly: on points that are far apart it is the dense solution.
#[test]
fn the_listing_is_exact_on_distant_points() {
    let kernel = Gaussian::new(1.0).unwrap();
    let stream = Simulation { rows: 40, noise: 0.2, width: 1.0, seed: 4 }.normal(2, 3.0).unwrap().dataset;
    let mut listing = Listing::default();
    let (mut inputs, mut kept): (Vec<&[f64]>, Vec<&[f64]>) = (Vec::new(), Vec::new());
    for (t, (x, y)) in stream.iter().enumerate() {
        inputs.push(x);
        if t % 4 == 0 {
            kept.push(x);
        }
        let exact = dense(kernel, &inputs, &stream.targets()[..t], kept.iter().rev().copied());
        let prediction = listing.round(&kernel, x, y, t % 4 == 0);
        assert!((prediction - exact).abs() < 1e-9, "round {t}: {prediction} against {exact}");
    }
}

/// Every second point lies close to the one before it: the listing's factor becomes the root of a
/// negative number. Ours is the dense solution to 1e−8 where pairs are 1e−3 apart. It is worst at
/// 1e−4, where the square of the distance is just above the 1e−9 that count as zero: the kernel
/// values, rounded to 1e−16, leave the solution itself hardly more digits there.
#[test]
fn the_listing_breaks_down_where_ours_holds() {
    for (seed, gap, most) in [(1, 1e-3, 1e-8), (2, 1e-3, 1e-8), (3, 1e-3, 1e-8), (1, 1e-4, 1e-4)] {
        let (rounds, d) = (300, 3);
        let stream = Simulation { rows: rounds, noise: 0.2, width: 1.0, seed }.normal(d, 1.0).unwrap().dataset;
        let mut points = stream.features().to_vec();
        for pair in points.chunks_exact_mut(2 * d) {
            let (first, second) = pair.split_at_mut(d);
            let length = dot(second, second).sqrt();
            second.iter_mut().zip(first).for_each(|(value, first)| *value = *first + gap * *value / length);
        }
        let (kernel, mut listing, mut broken) = (Gaussian::new(1.0).unwrap(), Listing::default(), false);
        let params = NystromParams::default().lambda(LAMBDA).mu(1e-4).beta(1.0).epsilon(0.5).seed(seed);
        let mut learner = PkawvNystrom::new(kernel, d, params).unwrap();
        let mut rule = Kors::new(params.mu, params.beta, params.epsilon, params.seed).unwrap();
        let (mut basis, mut probe) = (NewtonBasis::new(kernel, d), Probe::default());
        let (mut inputs, mut kept): (Vec<&[f64]>, Vec<&[f64]>) = (Vec::new(), Vec::new());
        for (t, (x, y)) in points.chunks_exact(d).zip(stream.targets()).enumerate() {
            // A point may be kept in the span of the others, and then adds no coordinate.
            basis.probe(x, &mut probe);
            let before = rule.kept();
            let new_coordinate = rule.admits(&basis, x, &probe);
            inputs.push(x);
            if let Some(new_coordinate) = new_coordinate {
                basis.append(x, probe.coordinates(), new_coordinate);
                kept.push(x);
            }
            let prediction = learner.predict_then_update(x, *y).unwrap();
            // From the last point to the first: not the order of the learner.
            let exact = dense(kernel, &inputs, &stream.targets()[..t], kept.iter().rev().copied());
            assert!((prediction - exact).abs() <= most, "round {t}: {prediction} against {exact}");
            broken = broken || !listing.round(&kernel, x, *y, rule.kept() > before).is_finite();
        }
        breaks("the listing", !broken);
    }
}
