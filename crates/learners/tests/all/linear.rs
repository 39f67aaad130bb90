//! Ridge regression on inputs of any offset and unit, against a QR decomposition of centred rows.

use mercer_core::Validate;
use mercer_learners::basis::Identity;
use mercer_learners::update::Ridge;
use mercer_learners::{Error, OnFeatures, RegressorExt, RidgeMoments, Rows, Scratch, Targets};
use mercer_testkit::streams::normal;
use nalgebra::{DMatrix, DVector};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Offsets and spreads of columns. The last of them does not vary.
const COLUMNS: [(f64, f64); 6] = [(0.0, 1.0), (1013.0, 5.0), (1e9, 1.0), (-1e-9, 1e-11), (1.7e9, 4e7), (1e9, 0.0)];
const D: usize = COLUMNS.len();

struct Table {
    x: Vec<f64>,
    y: Vec<f64>,
    weights: Vec<f64>,
}

/// Rows in which every varying column tells as much of the target, which lies at `offset`.
fn table(rows: usize, offset: f64) -> Table {
    let mut draws = ChaCha8Rng::seed_from_u64(7);
    let (mut x, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for t in 0..rows {
        let z: [f64; D] = std::array::from_fn(|_| normal(&mut draws));
        x.extend(COLUMNS.iter().zip(z).map(|((centre, spread), z)| centre + spread * z));
        y.push(offset + z[..D - 1].iter().sum::<f64>() + 0.3 * normal(&mut draws));
        weights.push((t % 3) as f64);
    }
    Table { x, y, weights }
}

impl Table {
    fn sums(&self, range: std::ops::Range<usize>) -> Result<RidgeMoments<Identity>, Error> {
        let mut moments = RidgeMoments::new(Identity::new(D, true), 0.0)?;
        let targets = Targets::new(&self.y[range.clone()], &self.weights[range.clone()], 1)?;
        moments.add_rows(Rows::new(&self.x[D * range.start..D * range.end], D, targets)?)?;
        Ok(moments)
    }

    /// Predictions of ridge regression for its rows, and `RSS`: rows are centred and brought to unit
    /// variance one column at a time, and a QR decomposition solves them with `√λ I` below.
    fn direct(&self, lambda: f64) -> Option<(Vec<f64>, f64)> {
        let n = self.y.len();
        let all: f64 = self.weights.iter().sum();
        let mean = |column: &dyn Fn(usize) -> f64| {
            let first = column(0);
            first + (0..n).map(|t| self.weights[t] * (column(t) - first)).sum::<f64>() / all
        };
        let mut z = DMatrix::zeros(n, D);
        for j in 0..D {
            let column = |t: usize| self.x[D * t + j];
            let centre = mean(&column);
            let square: f64 = (0..n).map(|t| self.weights[t] * (column(t) - centre).powi(2)).sum();
            let unit = (square / all).sqrt();
            (0..n).for_each(|t| z[(t, j)] = if unit > 0.0 { (column(t) - centre) / unit } else { 0.0 });
        }
        let centre = mean(&|t| self.y[t]);
        let stacked = DMatrix::from_fn(n + D, D, |t, j| match t.checked_sub(n) {
            None => self.weights[t].sqrt() * z[(t, j)],
            Some(i) => {
                if i == j {
                    lambda.sqrt()
                } else {
                    0.0
                }
            }
        });
        let target = |t: usize| if t < n { self.weights[t].sqrt() * (self.y[t] - centre) } else { 0.0 };
        let qr = stacked.qr();
        let w = qr.r().solve_upper_triangular(&(qr.q().transpose() * DVector::from_fn(n + D, |t, _| target(t))))?;
        let fit: Vec<f64> = (z * w).iter().map(|f| centre + f).collect();
        let rss = (0..n).map(|t| self.weights[t] * (self.y[t] - fit[t]).powi(2)).sum();
        Some((fit, rss))
    }
}

#[test]
fn columns_of_any_offset_and_unit_are_fitted_as_by_qr_of_centred_rows() -> Result<(), Box<dyn std::error::Error>> {
    for offset in [0.0, -3e8] {
        let table = table(900, offset);
        let mut moments = table.sums(0..257)?;
        for range in [257..258, 258..600, 600..900] {
            moments.merge(&table.sums(range)?)?;
        }
        moments.validate()?;
        let path = moments.path()?;
        for lambda in [1e-8, 1.0, 300.0] {
            let (fit, rss) = table.direct(lambda).ok_or("singular")?;
            let learner = moments.fit::<Ridge>(lambda)?;
            for (t, fit) in fit.iter().enumerate() {
                let told = learner.predict(&table.x[D * t..D * (t + 1)])?;
                assert!((told - fit).abs() < 1e-6, "offset {offset}, ridge {lambda}, row {t}: {told} for {fit}");
            }
            let residuals = path.at(lambda)?.residuals[0];
            assert!((residuals - rss).abs() < 1e-6 * rss, "{residuals} for {rss}");
        }
        let chosen = path.choose()?;
        assert!(chosen.r2[0] > 0.98, "offset {offset}: {}", chosen.r2[0]);
    }
    Ok(())
}

#[test]
fn a_shard_is_taken_back_and_held_out() -> Result<(), Box<dyn std::error::Error>> {
    let table = table(600, 1e6);
    let (whole, shard) = (table.sums(0..600)?, table.sums(400..600)?);
    let rest = table.sums(0..400)?;
    let mut left = whole.clone();
    left.retract(&shard)?;
    for t in 0..600 {
        let x = &table.x[D * t..D * (t + 1)];
        let (ours, theirs) = (left.fit::<Ridge>(1.0)?.predict(x)?, rest.fit::<Ridge>(1.0)?.predict(x)?);
        assert!((ours - theirs).abs() < 1e-6, "row {t}: {ours} for {theirs}");
    }
    let learner = rest.fit::<Ridge>(1.0)?;
    let mut error = 0.0;
    for t in 400..600 {
        let away = table.y[t] - learner.predict(&table.x[D * t..D * (t + 1)])?;
        error += table.weights[t] * away * away / shard.weight();
    }
    let told = whole.held_out(&shard, 1.0)?[0];
    assert!((told - error).abs() < 1e-3 * error, "{told} for {error}");
    // All of it taken back leaves nothing, and a learner that predicts 0.
    left.retract(&rest)?;
    left.validate()?;
    assert_eq!(left.weight(), 0.0);
    assert_eq!(left.fit::<Ridge>(1.0)?.predict(&table.x[..D])?, 0.0);
    Ok(())
}

#[test]
fn the_learner_goes_on_and_knows_its_variance() -> Result<(), Box<dyn std::error::Error>> {
    let table = table(900, 1e6);
    let mut learner = table.sums(0..600)?.fit::<Ridge>(1e-6)?;
    let mut ratio = 0.0;
    for t in 600..900 {
        let x = &table.x[D * t..D * (t + 1)];
        let (mut told, mut variance) = ([0.0], [0.0]);
        assert!(learner.predict_variance_into(x, &mut Scratch::default(), &mut told, &mut variance)?);
        ratio += (told[0] - table.y[t]).powi(2) / variance[0] / 300.0;
        learner.update(x, table.y[t])?;
    }
    assert!((0.8..1.25).contains(&ratio), "squared error by variance: {ratio}");
    Ok(())
}

#[test]
fn an_online_learner_tells_sums_about_the_mean() -> Result<(), Error> {
    let mut update = mercer_learners::update::LeastSquares::<Ridge>::new(0.5, 1.0)?;
    mercer_learners::update::GrowingUpdate::restart(&mut update, 3)?;
    let mut online = OnFeatures::from_parts(Identity::new(2, true), update)?;
    let mut beside = RidgeMoments::new(Identity::new(2, true), 0.0)?;
    let mut draws = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..200 {
        let x = [3.0 + normal(&mut draws), normal(&mut draws)];
        let y = 5.0 + x[0] - x[1] + 0.1 * normal(&mut draws);
        online.update(&x, y)?;
        beside.add(&x, y)?;
    }
    let told = online.moments(200.0)?;
    for (i, j) in [(0, 0), (1, 0), (1, 1), (2, 0), (2, 2)] {
        assert!((told.gram(i, j) - beside.gram(i, j)).abs() < 1e-8, "{i} {j}");
    }
    let (a, b) = (told.path()?.at(1.0)?, beside.path()?.at(1.0)?);
    assert!((a.r2[0] - b.r2[0]).abs() < 1e-6 && (a.residuals[0] - b.residuals[0]).abs() < 1e-6, "{a:?} {b:?}");
    Ok(())
}
