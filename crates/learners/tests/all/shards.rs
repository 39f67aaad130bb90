//! Sums of shards against their definition: any map, several outputs, weights, blocks; and what is
//! told from the sums alone.

use mercer_core::{ExampleError, Validate};
use mercer_kernels::{AlignedVec, AnyKernel, Points, RandomFourier, TaylorFeatures};
use mercer_learners::basis::Identity;
use mercer_learners::update::{GrowingUpdate, LeastSquares, Ridge};
use mercer_learners::{
    Classifier, Error, FeatureMap, FixedMap, OnFeatures, ParameterError, Regressor, RegressorExt, RidgeMoments, Rows,
    Scratch, Target, Targets,
};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;

type Map = FixedMap<AnyKernel>;
type Failure = Box<dyn std::error::Error>;

const D: usize = 3;
const OUTPUTS: usize = 2;
const LAMBDA: f64 = 0.3;

fn maps() -> Result<Vec<Map>, Failure> {
    let mut points = Points::new(D);
    for t in 0..20 {
        points.push(&example(t * 7).0);
    }
    // A point twice: it spans nothing new.
    points.push(&example(7).0);
    Ok(vec![
        FixedMap::Identity(Identity::new(D, true)),
        FixedMap::Taylor(TaylorFeatures::new(1.2, 3, vec![0.1; D], 1 << 20)?),
        FixedMap::Fourier(RandomFourier::draw(D, 0.9, 12, 3)?),
        FixedMap::nystrom("laplace:1.5".parse::<AnyKernel>()?, &points)?,
    ])
}

fn example(t: usize) -> ([f64; D], [f64; OUTPUTS], f64) {
    let x: [f64; D] = std::array::from_fn(|i| ((t * (i + 2)) as f64 * 0.37).sin());
    let noise = 0.1 * (t as f64 * 1.7).cos();
    (x, [(2.0 * x[0] - x[1] * x[2]).sin() + noise, x[1] + 3.0 * noise], (t % 4) as f64 * 0.5)
}

/// Rows `from..to` as flat numbers.
fn rows(range: std::ops::Range<usize>) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut all = (Vec::new(), Vec::new(), Vec::new());
    for t in range {
        let (x, y, weight) = example(t);
        all.0.extend(x);
        all.1.extend(y);
        all.2.push(weight);
    }
    all
}

fn sums(map: &Map, range: std::ops::Range<usize>) -> Result<RidgeMoments<Map>, Failure> {
    let (x, y, weights) = rows(range);
    let mut moments = RidgeMoments::several(map.clone(), 0.0, OUTPUTS)?;
    moments.add_rows(Rows::new(&x, D, Targets::new(&y, &weights, OUTPUTS)?)?)?;
    Ok(moments)
}

/// `Z`, `Y` and the weights of rows `0..n`.
fn dense(map: &Map, n: usize) -> (DMatrix<f64>, DMatrix<f64>, DVector<f64>) {
    let r = map.coordinates();
    let (mut z, mut work) = (AlignedVec::new(), AlignedVec::new());
    let (mut zs, mut ys, mut weights) = (DMatrix::zeros(n, r), DMatrix::zeros(n, OUTPUTS), DVector::zeros(n));
    for t in 0..n {
        let (x, y, weight) = example(t);
        map.map(&x, &mut z, &mut work);
        (0..r).for_each(|j| zs[(t, j)] = z[j]);
        (0..OUTPUTS).for_each(|k| ys[(t, k)] = y[k]);
        weights[t] = weight;
    }
    (zs, ys, weights)
}

/// The matrix that a ridge multiplies: of inputs the variances, and nothing of their intercept.
fn penalty(map: &Map, z: &DMatrix<f64>, weights: &DVector<f64>) -> DMatrix<f64> {
    let r = map.coordinates();
    if !matches!(map, FixedMap::Identity(_)) {
        return DMatrix::identity(r, r);
    }
    let variance = |j: usize| {
        let mean = z.column(j).dot(weights) / weights.sum();
        (0..z.nrows()).map(|t| weights[t] * (z[(t, j)] - mean).powi(2)).sum::<f64>() / weights.sum()
    };
    DMatrix::from_diagonal(&DVector::from_fn(r, |j, _| variance(j)))
}

/// Largest difference relative to the largest number.
fn apart(a: &RidgeMoments<Map>, b: &RidgeMoments<Map>) -> f64 {
    let numbers = |m: &RidgeMoments<Map>| {
        let r = m.sums().features();
        let mut all: Vec<f64> = (0..r).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| m.gram(i, j)).collect();
        (0..OUTPUTS).for_each(|k| all.extend(m.cross(k)));
        all.extend(m.sums().totals());
        all.extend(m.sums().squares().iter());
        all.extend([m.weight(), m.count()]);
        all
    };
    let (a, b) = (numbers(a), numbers(b));
    let scale = b.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
    a.iter().zip(&b).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) / scale
}

#[test]
fn sums_are_those_of_the_definition() -> Result<(), Failure> {
    for map in maps()? {
        let moments = sums(&map, 0..300)?;
        moments.validate()?;
        let (z, y, weights) = dense(&map, 300);
        let weighted = DMatrix::from_diagonal(&weights) * &z;
        let (gram, cross) = (z.transpose() * &weighted, weighted.transpose() * &y);
        let r = map.coordinates();
        for i in 0..r {
            assert!((0..r).all(|j| (moments.gram(i, j) - gram[(i, j)]).abs() < 1e-11 * gram.amax()), "{map}");
            assert!((0..OUTPUTS).all(|k| (moments.cross(k)[i] - cross[(i, k)]).abs() < 1e-11 * cross.amax()));
        }
        for k in 0..OUTPUTS {
            let total: f64 = (0..300).map(|t| weights[t] * y[(t, k)]).sum();
            let square: f64 = (0..300).map(|t| weights[t] * y[(t, k)].powi(2)).sum();
            assert!((moments.sums().totals()[k] - total).abs() < 1e-12 * square);
            assert!((moments.sums().squares()[k] - square).abs() < 1e-12 * square);
        }
        assert!((moments.weight() - weights.sum()).abs() < 1e-12 && moments.count() == 225.0);
        // Row by row it is the same to rounding.
        let mut single = RidgeMoments::several(map.clone(), 0.0, OUTPUTS)?;
        for t in 0..300 {
            let (x, y, weight) = example(t);
            single.add_target(&x, Target::weighted(&y, weight))?;
        }
        assert!(apart(&single, &moments) < 1e-13, "{map}");
    }
    Ok(())
}

#[test]
fn the_path_is_ridge_regression_of_every_ridge() -> Result<(), Failure> {
    for map in maps()? {
        let moments = sums(&map, 0..300)?;
        let (z, y, weights) = dense(&map, 300);
        let (n, r) = (weights.sum(), map.coordinates());
        let weighted = DMatrix::from_diagonal(&weights) * &z;
        let gram = z.transpose() * &weighted;
        let path = moments.path()?;
        for lambda in [1e-3, 0.3, 40.0] {
            let inverse = (&gram + penalty(&map, &z, &weights) * lambda).try_inverse().ok_or("singular")?;
            let w = &inverse * weighted.transpose() * &y;
            let error = &z * &w - &y;
            let point = path.at(lambda)?;
            let dimension = (&inverse * &gram).trace();
            assert!((point.effective_dimension - dimension).abs() < 1e-8, "{map}");
            let coefficients = moments.coefficients(lambda)?;
            let again = moments.squared_errors(&coefficients).ok_or("unknown")?;
            for k in 0..OUTPUTS {
                let rss: f64 = (0..300).map(|t| weights[t] * error[(t, k)].powi(2)).sum();
                let mean: f64 = (0..300).map(|t| weights[t] * y[(t, k)]).sum::<f64>() / n;
                let spread: f64 = (0..300).map(|t| weights[t] * (y[(t, k)] - mean).powi(2)).sum();
                assert!((point.residuals[k] - rss).abs() < 1e-9 * spread && (again[k] - rss).abs() < 1e-9 * spread);
                assert!((point.r2[k] - (1.0 - rss / spread)).abs() < 1e-9);
                let gcv = rss / n / (1.0 - dimension / n).powi(2);
                assert!((point.gcv[k] - gcv).abs() < 1e-8 * gcv.max(spread / n), "{map}: {} for {gcv}", point.gcv[k]);
                for j in 0..r {
                    assert!((path.coefficients(lambda)?[k][j] - w[(j, k)]).abs() < 1e-7 * w.amax(), "{map}");
                    assert!((coefficients.vectors()[k][j] - w[(j, k)]).abs() < 1e-7 * w.amax(), "{map}");
                }
            }
        }
        let grid = path.grid();
        let best = path.best(&grid)?;
        assert!(grid.contains(&best.lambda) && path.best(&[]).is_err());
    }
    Ok(())
}

#[test]
fn a_fit_is_the_learner_that_saw_every_row_with_its_variance() -> Result<(), Failure> {
    // Of inputs an online learner also draws the intercept to 0.
    for map in maps()?.into_iter().skip(1) {
        let mut update = LeastSquares::<Ridge>::new(LAMBDA, 1.0)?.with_outputs(OUTPUTS);
        update.restart(map.coordinates())?;
        let mut online = OnFeatures::from_parts(map.clone(), update)?;
        let mut made = [0.0; OUTPUTS];
        for t in 0..300 {
            let (x, y, weight) = example(t);
            online.learn(&x, Target::weighted(&y, weight), &mut made)?;
        }
        let moments = sums(&map, 0..300)?;
        let fitted = moments.fit::<Ridge>(LAMBDA)?;
        let back = online.moments(225.0)?;
        let (mut scratch, mut scores, mut variances) = (Scratch::default(), [[0.0; OUTPUTS]; 2], [[0.0; OUTPUTS]; 2]);
        for t in 500..530 {
            let x = example(t).0;
            assert!(online.predict_variance_into(&x, &mut scratch, &mut scores[0], &mut variances[0])?);
            assert!(fitted.predict_variance_into(&x, &mut scratch, &mut scores[1], &mut variances[1])?);
            for k in 0..OUTPUTS {
                assert!((scores[0][k] - scores[1][k]).abs() < 1e-10, "{map}");
                assert!((variances[0][k] - variances[1][k]).abs() < 1e-9 * variances[0][k], "{map}");
            }
        }
        for k in 0..OUTPUTS {
            let (ours, theirs) = (moments.sums().squares()[k], back.sums().squares()[k]);
            assert!((ours - theirs).abs() < 1e-9 * ours, "{map}");
        }
        assert!(back.sums().totals().is_empty() && back.path()?.at(1.0)?.r2.is_empty());
    }
    Ok(())
}

#[test]
fn a_shard_is_held_out_by_taking_it_back() -> Result<(), Failure> {
    let map = maps()?.remove(2);
    let (all, shard) = (sums(&map, 0..300)?, sums(&map, 200..300)?);
    let fit = sums(&map, 0..200)?.fit::<Ridge>(LAMBDA)?;
    let (mut errors, mut weight, mut made) = ([0.0; OUTPUTS], 0.0, [0.0; OUTPUTS]);
    for t in 200..300 {
        let (x, y, w) = example(t);
        fit.predict_into(&x, &mut Scratch::default(), &mut made)?;
        (0..OUTPUTS).for_each(|k| errors[k] += w * (y[k] - made[k]).powi(2));
        weight += w;
    }
    for (told, error) in all.held_out(&shard, LAMBDA)?.iter().zip(errors) {
        assert!((told - error / weight).abs() < 1e-9, "{told} for {}", error / weight);
    }
    Ok(())
}

#[test]
fn classes_are_told_by_least_squares() -> Result<(), Failure> {
    let mut moments = RidgeMoments::several(maps()?.remove(1), 0.0, 3)?;
    let class = |x: &[f64; D]| if x[0] > 0.3 { 2 } else { usize::from(x[1] > 0.0) };
    for t in 0..900 {
        let x = example(t).0;
        moments.add_class(&x, class(&x), 1.0)?;
    }
    let fit = moments.fit::<Ridge>(1e-3)?;
    let right = (900..1200).filter(|t| {
        let (x, mut scores) = (example(*t).0, [0.0; 3]);
        let told = fit.predict_into(&x, &mut Scratch::default(), &mut scores).is_ok();
        told && (0..3).max_by(|a, b| scores[*a].total_cmp(&scores[*b])) == Some(class(&x))
    });
    assert!(right.count() > 270);
    let refused = moments.add_class(&[0.0; D], 3, 1.0);
    assert!(matches!(refused, Err(Error::Parameter(ParameterError { name: "class", .. }))));
    Ok(())
}

/// Shards that met different classes, in any order, and classes that came in another order: the
/// classifier is dense least squares on targets of 1 and −1.
#[test]
fn a_classifier_of_sums_is_least_squares_on_signs() -> Result<(), Failure> {
    const CLASSES: usize = 4;
    // The last class is met in the last rows only.
    let class = |t: usize, x: &[f64; D]| {
        if t >= 250 && x[1] > 0.0 { 3 } else { usize::from(x[0] > 0.3) + usize::from(x[2] > 0.0) }
    };
    for map in maps()? {
        let (z, _, weights) = dense(&map, 300);
        let weighted = DMatrix::from_diagonal(&weights) * &z;
        let normal = z.transpose() * &weighted + penalty(&map, &z, &weights) * LAMBDA;
        for classes in [2, CLASSES] {
            let class = |t: usize, x: &[f64; D]| class(t, x).min(classes - 1);
            let signs = DMatrix::from_fn(300, classes, |t, k| if class(t, &example(t).0) == k { 1.0 } else { -1.0 });
            let coefficients = normal.clone().lu().solve(&(weighted.transpose() * signs)).ok_or("singular")?;
            // Each shard has the classes that it met, in the order in which it met them.
            let shard = |range: std::ops::Range<usize>| -> Result<(RidgeMoments<Map>, Vec<usize>), Failure> {
                let (mut moments, mut met) = (RidgeMoments::several(map.clone(), 0.0, 1)?, Vec::new());
                for t in range {
                    let (x, _, weight) = example(t);
                    let class = class(t, &x);
                    if !met.contains(&class) {
                        met.push(class);
                        let places: Vec<_> = (0..met.len()).map(|k| Some(k).filter(|k| k + 1 < met.len())).collect();
                        moments.arrange(&places)?;
                    }
                    moments.add_class(&x, met.iter().position(|one| *one == class).ok_or("met")?, weight)?;
                }
                let places: Vec<_> = (0..classes).map(|k| met.iter().position(|one| *one == k)).collect();
                moments.arrange(&places)?;
                Ok((moments, met))
            };
            let (mut all, _) = shard(140..300)?;
            let (first, met) = shard(0..60)?;
            assert!(met.len() < CLASSES, "a class is missing in a shard");
            all.merge(&first)?;
            all.merge(&shard(60..140)?.0)?;
            let classifier = if classes == 2 {
                all.sign();
                all.arrange(&[Some(1)])?;
                Classifier::learnt(all.fit::<Ridge>(LAMBDA)?, 2)?
            } else {
                all.arrange(&[None, Some(0), Some(1), Some(2), Some(3)])?;
                all.sign();
                Classifier::learnt(all.fit::<Ridge>(LAMBDA)?, classes)?
            };
            classifier.validate()?;
            assert_eq!((classifier.classes(), classifier.is_open()), (classes, classes > 2));
            let (mut scratch, mut scores) = (Scratch::default(), Vec::new());
            for t in 0..300 {
                classifier.scores_with(&example(t).0, &mut scratch, &mut scores)?;
                for (k, score) in scores.iter().enumerate() {
                    let expected = z.row(t).dot(&coefficients.column(k).transpose());
                    assert!((score - expected).abs() < 1e-9, "{map}, class {k}: {score} for {expected}");
                }
            }
            // The squares are those of signs, so that errors are told.
            if classes == 2 {
                let (error, fit) = (&z * coefficients.column(1), DVector::from_fn(300, |t, _| class(t, &example(t).0)));
                let error: f64 = (0..300).map(|t| weights[t] * (2.0 * fit[t] as f64 - 1.0 - error[t]).powi(2)).sum();
                let told = all.squared_errors(&all.coefficients(LAMBDA)?).ok_or("known")?[0];
                assert!((told - error).abs() < 1e-9 * all.weight(), "{told} for {error}");
            }
        }
    }
    let mut moments = RidgeMoments::several(maps()?.remove(0), 0.0, 2)?;
    assert!(moments.arrange(&[]).is_err() && moments.arrange(&[Some(2)]).is_err());
    let learner = moments.fit::<Ridge>(LAMBDA)?;
    assert!(matches!(
        Classifier::learnt(learner, 2),
        Err(Error::Example(ExampleError::Outputs { expected: 3, got: 2 }))
    ));
    Ok(())
}

#[test]
fn other_maps_are_refused_and_a_refused_row_stops_there() -> Result<(), Failure> {
    let maps = maps()?;
    for (i, one) in maps.iter().enumerate() {
        for (j, other) in maps.iter().enumerate() {
            let merged = sums(one, 0..10)?.merge(&sums(other, 10..20)?);
            match merged {
                Ok(()) => assert_eq!(i, j),
                Err(error) => {
                    assert!(i != j && matches!(error, Error::Parameter(ParameterError { name: "features", .. })));
                }
            }
        }
    }
    // The same points in another order are other coordinates; other frequencies are others.
    let mut reversed = Points::new(D);
    (0..20).rev().for_each(|t| reversed.push(&example(t * 7).0));
    assert_ne!(maps[3], FixedMap::nystrom("laplace:1.5".parse::<AnyKernel>()?, &reversed)?);
    assert_ne!(maps[2], FixedMap::Fourier(RandomFourier::draw(D, 0.9, 12, 4)?));
    assert!(FixedMap::nystrom("linear".parse::<AnyKernel>()?, &Points::from_rows(2, &[0.0, 0.0])).is_err());
    assert!(FixedMap::nystrom("linear".parse::<AnyKernel>()?, &Points::from_rows(1, &[f64::NAN])).is_err());
    // Row 70 of 100 is refused: 70 rows are in, and nothing of it.
    let (x, mut y, weights) = rows(0..100);
    y[2 * 70 + 1] = f64::INFINITY;
    let mut moments = RidgeMoments::several(maps[1].clone(), 0.0, OUTPUTS)?;
    let refused = moments.add_rows(Rows::new(&x, D, Targets::new(&y, &weights, OUTPUTS)?)?);
    assert!(matches!(refused, Err(Error::Example(ExampleError::NonFiniteTarget(_)))), "{refused:?}");
    assert!(apart(&moments, &sums(&maps[1], 0..70)?) < 1e-15);
    assert!(moments.add_target(&[1e200; D], Target::new(&[0.0, 1e300])).is_err());
    assert!(apart(&moments, &sums(&maps[1], 0..70)?) < 1e-15);
    Ok(())
}

#[test]
fn time_stamps_may_come_in_any_order() -> Result<(), Failure> {
    let map = maps()?.remove(0);
    let (mut sorted, mut shuffled) =
        (RidgeMoments::several(map.clone(), 0.05, OUTPUTS)?, RidgeMoments::several(map, 0.05, OUTPUTS)?);
    for t in 0..60 {
        let ((x, y, weight), s) = (example(t), t * 17 % 60);
        sorted.add_at(&x, Target::weighted(&y, weight), t as f64)?;
        let (x, y, weight) = example(s);
        shuffled.add_at(&x, Target::weighted(&y, weight), s as f64)?;
    }
    assert_eq!((sorted.time(), shuffled.time()), (59.0, 59.0));
    // Counts are discounted by different steps, so they agree like all else.
    let (a, b) = (sorted.coefficients(0.1)?, shuffled.coefficients(0.1)?);
    assert!(a.vectors().iter().zip(b.vectors()).all(|(a, b)| a.iter().zip(&**b).all(|(a, b)| (a - b).abs() < 1e-11)));
    assert!((sorted.weight() - shuffled.weight()).abs() < 1e-11);
    assert!(sorted.add_at(&[f64::NAN; D], Target::new(&[0.0; 2]), 90.0).is_err() && sorted.time() == 59.0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Merging shards is one pass, in any order and for any cuts; retracting undoes it.
    #[test]
    fn merging_is_one_pass(
        which in 0usize..4,
        shards in prop::sample::select(vec![1usize, 2, 7, 64]),
        n in 1usize..400,
        order in any::<u64>(),
    ) {
        let check = || -> Result<(f64, f64), Failure> {
            let map = maps()?.swap_remove(which);
            let whole = sums(&map, 0..n)?;
            let cut = |i: usize| n * i / shards;
            let mut parts = (0..shards).map(|i| sums(&map, cut(i)..cut(i + 1))).collect::<Result<Vec<_>, _>>()?;
            let mut state = order | 1;
            for i in (1..parts.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                parts.swap(i, (state >> 33) as usize % (i + 1));
            }
            let mut merged = RidgeMoments::several(map, 0.0, OUTPUTS)?;
            parts.iter().try_for_each(|part| merged.merge(part))?;
            let one_pass = if whole.weight() > 0.0 { apart(&merged, &whole) } else { 0.0 };
            let mut undone = whole.clone();
            parts.iter().try_for_each(|part| undone.merge(part))?;
            parts.iter().rev().try_for_each(|part| undone.retract(part))?;
            Ok((one_pass, if whole.weight() > 0.0 { apart(&undone, &whole) } else { 0.0 }))
        };
        let (one_pass, undone) = check().map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(one_pass < 1e-9 && undone < 1e-9, "{one_pass} {undone}");
    }
}
