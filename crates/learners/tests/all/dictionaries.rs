//! Dictionaries over shards: joined points with exact sums, sums moved onto them, leverage scores,
//! and the sums of operators.

use mercer_core::Validate;
use mercer_kernels::{AlignedVec, AnyKernel, Kernel, Points};
use mercer_learners::update::Ridge;
use mercer_learners::{
    Error, FeatureMap, FixedMap, OperatorMoments, ParameterError, RegressorExt, RidgeMoments, Rows, Targets,
    leverage_sample, leverage_scores,
};
use nalgebra::DMatrix;

type Map = FixedMap<AnyKernel>;
type Failure = Box<dyn std::error::Error>;

fn example(t: usize) -> ([f64; 2], f64) {
    let x = [(t as f64 * 0.37).sin(), (t as f64 * 0.711).cos()];
    (x, (2.0 * x[0] - x[1]).sin() + 0.1 * (t as f64 * 1.7).cos())
}

fn kernel() -> Result<AnyKernel, Failure> {
    Ok("gaussian:0.8".parse()?)
}

fn points(rounds: impl Iterator<Item = usize>) -> Points {
    let mut points = Points::new(2);
    rounds.for_each(|t| points.push(&example(t).0));
    points
}

fn sums(map: &Map, rounds: std::ops::Range<usize>) -> Result<RidgeMoments<Map>, Error> {
    let (x, y): (Vec<[f64; 2]>, Vec<f64>) = rounds.map(example).unzip();
    let mut moments = RidgeMoments::new(map.clone(), 0.0)?;
    moments.add_rows(Rows::new(x.as_flattened(), 2, Targets::numbers(&y))?)?;
    Ok(moments)
}

/// Mean squared error on rounds that nobody has seen.
fn loss(moments: &RidgeMoments<Map>) -> Result<f64, Error> {
    let fit = moments.fit::<Ridge>(0.01)?;
    let squared = (2000..2400).map(|t| {
        let (x, y) = example(t);
        Ok((fit.predict(&x)? - y).powi(2))
    });
    Ok(squared.sum::<Result<f64, Error>>()? / 400.0)
}

/// Shards whose points are thinned apart, and all of their points together.
fn shards(alpha: f64) -> Result<(Vec<Map>, Map), Failure> {
    let all: Vec<Points> = (0..4).map(|shard| points(shard * 300..(shard + 1) * 300)).collect();
    let apart = all.iter().map(|points| FixedMap::joined(kernel()?, &[points], alpha).map_err(Failure::from));
    let apart = apart.collect::<Result<Vec<_>, _>>()?;
    let kept: Vec<&Points> = apart
        .iter()
        .filter_map(|map| match map {
            FixedMap::Nystrom(basis) => Some(basis.points()),
            _ => None,
        })
        .collect();
    let joint = FixedMap::joined(kernel()?, &kept, alpha)?;
    Ok((apart, joint))
}

#[test]
fn two_passes_are_exact_and_one_pass_is_near() -> Result<(), Failure> {
    for alpha in [1e-2, 1e-4, 1e-6] {
        let (apart, joint) = shards(alpha)?;
        let mut exact = RidgeMoments::new(joint.clone(), 0.0)?;
        let mut moved = exact.clone();
        let mut farthest = 0.0f64;
        for (shard, map) in apart.iter().enumerate() {
            let rounds = shard * 300..(shard + 1) * 300;
            exact.merge(&sums(&joint, rounds.clone())?)?;
            let (onto, projection) = sums(map, rounds)?.projected(&joint)?;
            onto.validate()?;
            assert!(projection.farthest <= alpha * (1.0 + 1e-6) && projection.lost <= alpha, "{projection:?}");
            farthest = farthest.max(projection.farthest);
            moved.merge(&onto)?;
        }
        // The second pass is one pass on the joint points.
        let whole = sums(&joint, 0..1200)?;
        assert!((loss(&exact)? - loss(&whole)?).abs() < 1e-9);
        // What is lost of a row is at most alpha twice: outside its shard's points, and outside the
        // joint ones.
        let trace = |moments: &RidgeMoments<Map>| moments.sums().gram().trace();
        assert!((trace(&exact) - trace(&moved)).abs() <= 2.0 * alpha * 1200.0, "{} {}", trace(&exact), trace(&moved));
        let (two, one) = (loss(&exact)?, loss(&moved)?);
        assert!(one < two * (1.0 + 200.0 * alpha.sqrt()), "alpha {alpha}: {one} for {two}");
        if alpha <= 1e-4 {
            assert!((one / two - 1.0).abs() < 0.02, "alpha {alpha}: {one} for {two}");
        }
    }
    Ok(())
}

/// Moving onto points that hold the old ones only turns the coordinates.
#[test]
fn moving_into_a_larger_span_loses_nothing() -> Result<(), Failure> {
    let small = FixedMap::nystrom(kernel()?, &points((0..90).step_by(9)))?;
    let large = FixedMap::nystrom(kernel()?, &points((0..90).rev().step_by(3)))?;
    let state = sums(&small, 0..200)?;
    let (moved, projection) = state.projected(&large)?;
    let exact = large.size() >= small.size();
    assert!(exact && projection.farthest < 1e-2);
    let same = FixedMap::nystrom(kernel()?, &points((0..90).step_by(9).rev()))?;
    let (turned, projection) = state.projected(&same)?;
    assert!(projection.lost < 1e-9 && projection.farthest < 1e-9, "{projection:?}");
    let (a, b) = (state.fit::<Ridge>(0.1)?, turned.fit::<Ridge>(0.1)?);
    for t in 500..540 {
        let x = example(t).0;
        assert!((a.predict(&x)? - b.predict(&x)?).abs() < 1e-9);
    }
    assert!(moved.weight() == 200.0);
    let laplace = FixedMap::nystrom("laplace:1".parse::<AnyKernel>()?, &points(0..5))?;
    let refused = state.projected(&laplace);
    assert!(matches!(refused, Err(Error::Parameter(ParameterError { name: "features", .. }))));
    assert!(FixedMap::joined(kernel()?, &[&points(0..5)], -1.0).is_err());
    Ok(())
}

#[test]
fn leverage_scores_are_those_of_the_definition() -> Result<(), Failure> {
    let (all, kernel, n) = (points(0..60), kernel()?, 60);
    for lambda in [1e-4, 1e-2] {
        let scores = leverage_scores(&kernel, &all, (&all, &vec![1.0; n]), (lambda, n as f64))?;
        let gram = DMatrix::from_fn(n, n, |i, j| kernel.evaluate(&all.point(i), &all.point(j)));
        let inverse = (&gram + DMatrix::identity(n, n) * (lambda * n as f64)).try_inverse().ok_or("singular")?;
        let hat = &gram * inverse;
        for (i, score) in scores.iter().enumerate() {
            assert!((score - hat[(i, i)]).abs() < 1e-8, "{score} for {}", hat[(i, i)]);
        }
        // A sample of a few times the effective dimension predicts nearly as well as all rows.
        let rows = points(0..800);
        let sample = leverage_sample(&kernel, &rows, 1e-4, 3.0, 5)?;
        assert!(sample.len() < 300, "{}", sample.len());
        let sampled = loss(&sums(&FixedMap::nystrom(kernel.clone(), &sample)?, 0..800)?)?;
        let whole = loss(&sums(&FixedMap::nystrom(kernel.clone(), &rows)?, 0..800)?)?;
        assert!(sampled < 1.05 * whole, "{sampled} for {whole}");
        assert_eq!(sample, leverage_sample(&kernel, &rows, 1e-4, 3.0, 5)?);
    }
    assert!(leverage_sample(&kernel, &Points::new(2), 0.1, 3.0, 1).is_err());
    Ok(())
}

#[test]
fn operators_of_shards_add_up() -> Result<(), Failure> {
    // Two rotating coordinates: the operator of the inputs themselves is the rotation, which has
    // eigenvalues 0.9 e^{±0.3i}.
    let step =
        |[a, b]: [f64; 2]| [0.9 * (a * 0.3f64.cos() - b * 0.3f64.sin()), 0.9 * (a * 0.3f64.sin() + b * 0.3f64.cos())];
    let states: Vec<[f64; 2]> = (0..300).map(|t| example(t).0).collect();
    let next: Vec<[f64; 2]> = states.iter().map(|state| step(*state)).collect();
    let pairs = |map: &Map, from: usize, to: usize| -> Result<OperatorMoments<Map>, Error> {
        let mut moments = OperatorMoments::new(map.clone());
        moments.add_pairs(states[from..to].as_flattened(), next[from..to].as_flattened())?;
        Ok(moments)
    };
    let linear = FixedMap::Identity(mercer_learners::basis::Identity::new(2, false));
    let values = pairs(&linear, 0, 300)?.eigenvalues(1e-9)?;
    let expected = [0.9 * 0.3f64.cos(), 0.9 * 0.3f64.sin()];
    assert!((values[0].re - expected[0]).abs() < 1e-9 && (values[0].im.abs() - expected[1]).abs() < 1e-9);
    let map = FixedMap::nystrom(kernel()?, &points((0..300).step_by(12)))?;
    let whole = pairs(&map, 0, 300)?;
    let mut merged = OperatorMoments::new(map.clone());
    for (from, to) in [(170, 300), (0, 64), (64, 170)] {
        merged.merge(&pairs(&map, from, to)?)?;
    }
    merged.validate()?;
    // By definition.
    let r = map.coordinates();
    let features = |states: &[[f64; 2]]| {
        let (mut z, mut work) = (AlignedVec::new(), AlignedVec::new());
        let mut all = DMatrix::zeros(states.len(), r);
        for (t, state) in states.iter().enumerate() {
            map.map(state, &mut z, &mut work);
            (0..r).for_each(|j| all[(t, j)] = z[j]);
        }
        all
    };
    let (now, after) = (features(&states), features(&next));
    let system = now.transpose() * &now + DMatrix::identity(r, r) * 1e-3;
    let operator = system.try_inverse().ok_or("singular")? * now.transpose() * &after;
    let error = (&after - &now * &operator).norm_squared();
    for moments in [&whole, &merged] {
        let ours = moments.operator(1e-3)?;
        assert!(
            (0..r * r).all(|i| (ours.entry(i / r, i % r) - operator[(i / r, i % r)]).abs() < 1e-6 * operator.amax())
        );
        assert!((moments.squared_error(&ours) - error).abs() < 1e-6 * error.max(1.0));
    }
    merged.retract(&pairs(&map, 0, 64)?)?;
    assert_eq!(merged.weight(), 236.0);
    assert!(merged.merge(&OperatorMoments::new(linear)).is_err());
    assert!(merged.add_pairs(&[0.0; 4], &[0.0; 2]).is_err() && merged.add_pairs(&[f64::NAN; 2], &[0.0; 2]).is_err());
    assert_eq!(merged.weight(), 236.0);
    Ok(())
}
