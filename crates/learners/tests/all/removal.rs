//! Points that leave a dictionary, against dense projections in coordinates that never change.

use crate::common::{TestResult, kernel, same_kernel};
use mercer_core::Validate;
use mercer_kernels::Gaussian;
use mercer_learners::update::{Forgetting, GradientStep, GrowingUpdate, LeastSquares, NewtonStep, StepSize};
use mercer_learners::{
    ConKons, ConKonsParams, GrowThenStep, Krls, KrlsParams, Loss, NewtonSteps, NonsAld, NonsAldParams, OnDictionary,
    ProsNKons, Regressor, RegressorExt,
};
use mercer_linalg_incremental::{Removal, Rotations};
use mercer_simd::dot;
use mercer_sparsify::{Ald, NewtonBasis, Probe};
use mercer_testkit::oracle::{Example, newton_coordinates};
use mercer_testkit::streams;
use nalgebra::{DMatrix, DVector};

const NU: f64 = 1e-2;

#[derive(Clone, Copy, PartialEq)]
enum Update {
    Gradient { eta: f64 },
    Newton { prior: f64, bound: f64, curvature: f64 },
    LeastSquares { ridge: f64 },
}

/// A learner as vectors and matrices in coordinates of all points that were ever kept; the
/// dictionary spans a part of them.
struct Dense {
    update: Update,
    all: Vec<Vec<f64>>,
    /// Coordinates of the kept points, as long as they were when they came.
    kept: Vec<DVector<f64>>,
    p: DMatrix<f64>,
    w: DVector<f64>,
}

impl Dense {
    fn new(update: Update) -> Self {
        Self { update, all: Vec::new(), kept: Vec::new(), p: DMatrix::zeros(0, 0), w: DVector::zeros(0) }
    }

    fn ambient(&self, x: &[f64]) -> DVector<f64> {
        DVector::from_vec(newton_coordinates(&self.all, x, &same_kernel).0)
    }

    /// An orthonormal basis of the span of the kept points.
    fn span(&self) -> DMatrix<f64> {
        let n = self.all.len();
        let columns: Vec<DVector<f64>> = self.kept.iter().map(|x| x.clone().resize_vertically(n, 0.0)).collect();
        if columns.is_empty() { DMatrix::zeros(self.all.len(), 0) } else { DMatrix::from_columns(&columns).qr().q() }
    }

    fn project(&self, x: &[f64]) -> DVector<f64> {
        let span = self.span();
        &span * (span.transpose() * self.ambient(x))
    }

    fn prior(&self) -> f64 {
        match self.update {
            Update::Gradient { .. } => 1.0,
            Update::Newton { prior, .. } => prior,
            Update::LeastSquares { ridge } => ridge,
        }
    }

    fn predict(&self, x: &[f64]) -> f64 {
        let z = self.w.dot(&self.project(x));
        if let Update::Newton { bound, .. } = self.update { z.clamp(-bound, bound) } else { z }
    }

    fn learn(&mut self, x: &[f64], y: f64) {
        let phi = self.project(x);
        let prediction = self.predict(x);
        if let Update::Newton { bound, .. } = self.update {
            let z = self.w.dot(&phi);
            if z.abs() > bound {
                let c = &self.p * &phi;
                self.w -= &c * ((z - prediction) / phi.dot(&c));
            }
        }
        let before = self.span();
        let mut a = &before * inverse(&(before.transpose() * &self.p * &before)) * before.transpose();
        if same_kernel(x, x) - phi.norm_squared() > NU {
            if newton_coordinates(&self.all, x, &same_kernel).1 > 1e-9 {
                self.all.push(x.to_vec());
                let n = self.all.len();
                a = a.resize(n, n, 0.0);
                self.w = self.w.clone().resize_vertically(n, 0.0);
            }
            self.kept.push(self.ambient(x));
            let mut new = self.ambient(x) - phi.resize_vertically(self.all.len(), 0.0);
            new.normalize_mut();
            a += &new * new.transpose() * self.prior();
        }
        let phi = self.project(x);
        let span = self.span();
        let solved = |a: &DMatrix<f64>| &span * inverse(&(span.transpose() * a * &span)) * span.transpose();
        let g = 2.0 * (prediction - y);
        match self.update {
            Update::Gradient { eta } => {
                self.w -= &phi * (eta * g);
                self.p = solved(&a);
            }
            Update::Newton { curvature, .. } => {
                self.p = solved(&(a + &phi * phi.transpose() * (curvature * g * g)));
                self.w -= &self.p * &phi * g;
            }
            Update::LeastSquares { .. } => {
                let right = &a * &self.w + &phi * y;
                self.p = solved(&(a + &phi * phi.transpose()));
                self.w = &self.p * right;
            }
        }
    }

    fn remove(&mut self, index: usize, how: Removal) {
        let before = self.span();
        self.kept.remove(index);
        let after = self.span();
        let projection = &after * after.transpose();
        // The direction that is lost: of the old span, and orthogonal to the new one.
        let lost = &before * before.transpose() - &projection;
        let eigen = lost.symmetric_eigen();
        let u = eigen.eigenvectors.column(eigen.eigenvalues.imax()).into_owned();
        if how == Removal::Condition && !matches!(self.update, Update::Gradient { .. }) {
            let c = &self.p * &u;
            let variance = u.dot(&c);
            self.w -= &c * (u.dot(&self.w) / variance);
            self.p -= &c * c.transpose() / variance;
        }
        self.w = &projection * &self.w;
        self.p = &projection * &self.p * &projection;
    }
}

fn inverse(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    if matrix.is_empty() { matrix.clone() } else { matrix.clone().try_inverse().expect("positive definite") }
}

/// Removes points between the rounds of a stream, and compares every prediction, on the stream and
/// at fixed places.
fn compare<U: GrowingUpdate + Validate>(what: &str, linear: &U, update: Update, how: Removal) -> TestResult {
    let rule = Ald::new(NU)?;
    let mut learner = OnDictionary::<_, _, _, GrowThenStep>::from_parts(kernel(), 2, rule, linear.clone(), None)?;
    let mut dense = Dense::new(update);
    let probes = streams::smooth_noisy(30, 6, 2, 0.0);
    for (t, (x, y)) in streams::smooth_noisy(31, 90, 2, 0.1).iter().enumerate() {
        let expected = dense.predict(x);
        dense.learn(x, *y);
        let got = learner.predict_then_update(x, *y)?;
        assert!((got - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {got} for {expected} in round {t}");
        assert_eq!(learner.dictionary_size(), dense.kept.len(), "{what}: round {t}");
        if t > 10 && t % 4 == 0 {
            // The first, the last, one between.
            let index = [0, dense.kept.len() - 1, t % dense.kept.len()][t / 4 % 3];
            dense.remove(index, how);
            learner.remove(index, how);
            assert_eq!(learner.validate(), Ok(()), "{what}: after a removal");
            for (x, _) in &probes {
                let (got, expected) = (learner.predict(x)?, dense.predict(x));
                let gap = (got - expected).abs();
                assert!(gap <= 1e-9 * expected.abs().max(1.0), "{what}: {got} for {expected} after removal {index}");
            }
        }
    }
    Ok(())
}

#[test]
fn removals_equal_dense_projections() -> TestResult {
    for how in [Removal::Marginalise, Removal::Condition] {
        let gradient = GradientStep::new(0, 1, Loss::SQUARED, StepSize::Constant(0.2), None);
        compare("gradient", &gradient, Update::Gradient { eta: 0.2 }, how)?;
        for bound in [0.3, 1.0] {
            let newton =
                NewtonStep::with_curvature(0.7, 0.2, bound, Loss::SQUARED, 1)?.with_steps(NewtonSteps::Printed);
            compare("Newton", &newton, Update::Newton { prior: 0.7, bound, curvature: 0.2 }, how)?;
        }
        for ridge in [0.2, 0.0] {
            let least_squares = LeastSquares::<mercer_learners::update::Ridge>::new(ridge, 1.0)?;
            compare(&format!("least squares, λ = {ridge}"), &least_squares, Update::LeastSquares { ridge }, how)?;
        }
    }
    Ok(())
}

/// Conditioning is the fit with no weight on the lost direction: that of the examples projected on
/// the span that is left.
#[test]
fn conditioning_is_the_fit_of_the_projected_examples() -> TestResult {
    let (ridge, stream) = (0.3, streams::smooth_noisy(32, 80, 2, 0.1));
    for index in [0, 3, 8] {
        let params = KrlsParams::default().nu(NU).lambda(ridge).max_dictionary(Some(9));
        let mut learner = Krls::new(kernel(), 2, params)?;
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut kept: Vec<Vec<f64>> = Vec::new();
        for (x, y) in &stream {
            let mut row = newton_coordinates(&kept, x, &same_kernel).0;
            learner.update(x, *y)?;
            if learner.dictionary_size() > kept.len() {
                row.push(newton_coordinates(&kept, x, &same_kernel).1.sqrt());
                kept.push(x.clone());
            }
            rows.push(row);
        }
        learner.remove(index, Removal::Condition);
        let n = kept.len();
        let coordinates = |x: &[f64]| DVector::from_vec(newton_coordinates(&kept, x, &same_kernel).0);
        let left: Vec<DVector<f64>> =
            kept.iter().enumerate().filter(|(j, _)| *j != index).map(|(_, x)| coordinates(x)).collect();
        let span = DMatrix::from_columns(&left).qr().q();
        let past = DMatrix::from_fn(rows.len(), n, |s, j| rows[s].get(j).copied().unwrap_or(0.0)) * &span;
        let targets = DVector::from_iterator(rows.len(), stream.iter().map(|(_, y)| *y));
        let a = past.transpose() * &past + DMatrix::identity(n - 1, n - 1) * ridge;
        let w = a.lu().solve(&past.tr_mul(&targets)).ok_or("singular")?;
        for (x, _) in streams::smooth_noisy(33, 10, 2, 0.0) {
            let (got, expected) = (learner.predict(&x)?, w.dot(&(span.transpose() * coordinates(&x))));
            assert!((got - expected).abs() < 1e-9, "without point {index}: {got} for {expected}");
        }
    }
    Ok(())
}

/// A point that leaves a basis and comes back spans what it spanned.
#[test]
fn removed_and_added_again_the_span_is_the_same() -> TestResult {
    let points: Vec<Example> = streams::smooth_noisy(34, 12, 2, 0.0);
    let mut basis = NewtonBasis::new(kernel(), 2);
    let (mut probe, mut rotations) = (Probe::default(), Rotations::new());
    let append = |basis: &mut NewtonBasis<Gaussian>, x: &[f64], probe: &mut Probe| {
        basis.probe(x, probe);
        basis.append(x, probe.coordinates(), probe.residual().sqrt());
    };
    points.iter().for_each(|(x, _)| append(&mut basis, x, &mut probe));
    let places = streams::smooth_noisy(35, 8, 2, 0.0);
    let products = |basis: &NewtonBasis<Gaussian>| -> Vec<f64> {
        let probes = places.iter().map(|(x, _)| {
            let mut probe = Probe::default();
            basis.probe(x, &mut probe);
            probe
        });
        let probes: Vec<Probe> = probes.collect();
        let residuals = probes.iter().map(Probe::residual);
        let pairs = probes.iter().flat_map(|a| probes.iter().map(move |b| (a, b)));
        let inner = pairs.map(|(a, b)| dot(a.coordinates().lanes(), b.coordinates().lanes()));
        residuals.chain(inner).collect()
    };
    let before = products(&basis);
    for (index, count) in [(0, 1), (5, 1), (11, 1), (3, 4)] {
        let taken: Vec<Vec<f64>> = (0..count)
            .map(|_| {
                let x = basis.points().point(index);
                basis.remove(index, &mut rotations);
                x
            })
            .collect();
        taken.iter().for_each(|x| append(&mut basis, x, &mut probe));
        assert_eq!(basis.validate(), Ok(()));
        for (a, b) in products(&basis).iter().zip(&before) {
            assert!((a - b).abs() < 1e-9, "{a} for {b} after {count} from {index} on");
        }
    }
    Ok(())
}

/// Points come and go for long: everything stays valid and finite, and the learners go on learning.
#[test]
fn long_chains_of_removals_stay_valid() -> TestResult {
    fn chain<L: Regressor + Validate>(
        what: &str,
        mut learner: L,
        remove: impl Fn(&mut L, usize, Removal),
    ) -> TestResult {
        let (mut late, mut removals) = (0.0, 0);
        for (t, (x, y)) in streams::near_duplicates(36, 900, 2).into_iter().enumerate() {
            let prediction = learner.predict_then_update(&x, y)?;
            assert!(prediction.is_finite(), "{what}: predicts {prediction}");
            late += if t >= 800 { (prediction - y).powi(2) / 100.0 } else { 0.0 };
            let size = learner.dictionary_size();
            if size > 6 && t % 2 == 0 {
                let how = if t % 3 == 0 { Removal::Marginalise } else { Removal::Condition };
                remove(&mut learner, (t * 7) % size, how);
                assert_eq!(learner.dictionary_size(), size - 1, "{what}: size");
                removals += 1;
            }
            assert!(t % 10 != 0 || learner.validate() == Ok(()), "{what}: row {t}: {:?}", learner.validate());
        }
        assert!(removals > 100, "{what}: only {removals} removals");
        assert!(late < 1.0, "{what}: a mean square error of {late} at the end");
        Ok(())
    }
    let narrow = Gaussian::new(0.4)?;
    for forgets in [Forgetting::Directional, Forgetting::Exponential, Forgetting::ToPrior] {
        let params = KrlsParams::default().nu(1e-3).lambda(0.1).forgetting(0.98).forgets(forgets).outputs(1);
        chain(&format!("KRLS {forgets:?}"), Krls::new(narrow, 2, params)?, OnDictionary::remove)?;
    }
    chain("KRLS", Krls::new(narrow, 2, KrlsParams::default().nu(1e-2).lambda(0.0))?, OnDictionary::remove)?;
    chain("NONS-ALD", NonsAld::new(narrow, 2, NonsAldParams::default())?, OnDictionary::remove)?;
    let sampled = ConKonsParams::default().gamma(0.1);
    chain("PROS-N-KONS", ProsNKons::new(narrow, 2, sampled.into())?, OnDictionary::remove)?;
    chain("CON-KONS", ConKons::new(narrow, 2, sampled)?, OnDictionary::remove)?;
    Ok(())
}

/// Down to no point at all, and up again.
#[test]
fn the_last_point_may_leave() -> TestResult {
    let mut learner = Krls::new(kernel(), 2, KrlsParams::default().nu(NU).lambda(0.1))?;
    let stream = streams::smooth_noisy(37, 60, 2, 0.1);
    for (x, y) in &stream {
        learner.update(x, *y)?;
    }
    while learner.dictionary_size() > 0 {
        learner.remove(learner.dictionary_size() / 2, Removal::Condition);
        assert_eq!(learner.validate(), Ok(()));
    }
    assert_eq!(learner.predict(&[0.1, 0.2])?, 0.0);
    // Nothing is left of the past: it goes on as a new one would.
    let mut fresh = Krls::new(kernel(), 2, KrlsParams::default().nu(NU).lambda(0.1))?;
    for (x, y) in &stream {
        let (a, b) = (learner.predict_then_update(x, *y)?, fresh.predict_then_update(x, *y)?);
        assert!((a - b).abs() < 1e-12, "{a} for {b}");
    }
    Ok(())
}
