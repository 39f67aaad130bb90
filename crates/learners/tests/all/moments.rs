//! Sums over shards give the learner of the whole stream.

use mercer_core::{ExampleError, Validate};
use mercer_kernels::{RandomFourier, TaylorFeatures};
use mercer_learners::update::{Awv, GrowingUpdate, LeastSquares, LinearUpdate, Ridge};
use mercer_learners::{
    Error, OnFeatures, ParameterError, PkawvTaylor, Regressor, RegressorExt, RidgeMoments, TaylorParams,
};

const LAMBDA: f64 = 0.5;

fn example(t: usize) -> ([f64; 3], f64) {
    let x = std::array::from_fn(|i| ((t * (i + 2)) as f64 * 0.37).sin());
    (x, (2.0 * x[0] - x[1] * x[2]).sin() + 0.1 * (t as f64).cos())
}

fn map() -> Result<TaylorFeatures, Error> {
    Ok(TaylorFeatures::new(1.2, 3, vec![0.0; 3], 1 << 20)?)
}

fn shard(rounds: std::ops::Range<usize>, rate: f64) -> Result<RidgeMoments<TaylorFeatures>, Error> {
    let mut moments = RidgeMoments::new(map()?, rate)?;
    for t in rounds {
        moments.advance_to(t as f64)?;
        let (x, y) = example(t);
        moments.add(&x, y)?;
    }
    Ok(moments)
}

/// Largest difference of two learners' predictions.
fn distance(a: &impl Regressor, b: &impl Regressor) -> Result<f64, Error> {
    (500..540).try_fold(0.0, |worst: f64, t| {
        let (x, _) = example(t);
        Ok(worst.max((a.predict(&x)? - b.predict(&x)?).abs()))
    })
}

#[test]
fn merged_shards_are_the_whole_stream_and_the_learner_goes_on() -> Result<(), Error> {
    let params = TaylorParams::default().sigma(1.2).degree(3).lambda(LAMBDA);
    let mut online = PkawvTaylor::new(3, params)?;
    for t in 0..300 {
        let (x, y) = example(t);
        online.update(&x, y)?;
    }
    let mut merged = shard(0..120, 0.0)?;
    merged.merge(&shard(120..300, 0.0)?)?;
    assert_eq!(merged.count(), 300.0);
    let mut fitted = merged.fit::<Awv>(LAMBDA)?;
    assert!(distance(&fitted, &online)? < 1e-11);
    for t in 300..350 {
        let (x, y) = example(t);
        let (a, b) = (fitted.predict_then_update(&x, y)?, online.predict_then_update(&x, y)?);
        assert!((a - b).abs() < 1e-11, "round {t}: {a} for {b}");
    }
    Ok(())
}

/// Ridge regression on 40 random Fourier features that has learnt these rounds.
fn fourier_ridge(rounds: std::ops::Range<usize>) -> Result<OnFeatures<RandomFourier, LeastSquares<Ridge>>, Error> {
    let map = RandomFourier::draw(3, 0.7, 20, 5)?;
    let mut update = LeastSquares::new(LAMBDA, 1.0)?;
    update.restart(map.dimension())?;
    let mut learner = OnFeatures::from_parts(map, update)?;
    for t in rounds {
        let (x, y) = example(t);
        learner.update(&x, y)?;
    }
    Ok(learner)
}

#[test]
fn learners_of_shards_merge_and_are_retracted() -> Result<(), Box<dyn std::error::Error>> {
    let (a, b, whole) = (fourier_ridge(0..120)?, fourier_ridge(120..300)?, fourier_ridge(0..300)?);
    let mut merged = a.moments(120.0)?;
    merged.merge(&b.moments(180.0)?)?;
    assert_eq!(merged.count(), 300.0);
    merged.validate()?;
    let mut fitted = merged.fit::<Ridge>(LAMBDA)?;
    assert!(distance(&fitted, &whole)? < 1e-11);
    merged.retract(&b.moments(180.0)?)?;
    assert!(distance(&merged.fit::<Ridge>(LAMBDA)?, &a)? < 1e-11);
    // The sums are those kept beside a learner.
    let mut beside = RidgeMoments::new(whole.feature_map().clone(), 0.0)?;
    for t in 0..300 {
        let (x, y) = example(t);
        beside.add(&x, y)?;
    }
    let own = whole.moments(300.0)?;
    for i in 0..40 {
        assert!((own.cross(0)[i] - beside.cross(0)[i]).abs() < 1e-11 * 300.0);
        assert!((0..=i).all(|j| (own.gram(i, j) - beside.gram(i, j)).abs() < 1e-11 * 300.0));
    }
    // And the learner made from them goes on as the one that saw everything.
    let mut whole = whole;
    for t in 300..350 {
        let (x, y) = example(t);
        let (a, b) = (fitted.predict_then_update(&x, y)?, whole.predict_then_update(&x, y)?);
        assert!((a - b).abs() < 1e-11, "round {t}: {a} for {b}");
    }
    Ok(())
}

#[test]
fn a_learner_without_sums_says_so() -> Result<(), Error> {
    let learner = fourier_ridge(0..10)?;
    assert!(matches!(learner.moments(-1.0), Err(Error::Parameter(ParameterError { name: "count", .. }))));
    let mut update = LeastSquares::<Ridge>::new(LAMBDA, 0.99)?;
    update.restart(learner.linear().coordinates())?;
    let forgetful = OnFeatures::from_parts(learner.feature_map().clone(), update)?;
    assert!(matches!(forgetful.moments(10.0), Err(Error::Parameter(ParameterError { name: "forgetting", .. }))));
    Ok(())
}

#[test]
fn a_retracted_shard_leaves_what_the_others_have_seen() -> Result<(), Error> {
    let mut moments = shard(0..200, 0.0)?;
    moments.merge(&shard(200..300, 0.0)?)?;
    moments.retract(&shard(0..200, 0.0)?)?;
    let rest = shard(200..300, 0.0)?;
    assert_eq!(moments.count(), 100.0);
    assert!(distance(&moments.fit::<Awv>(LAMBDA)?, &rest.fit::<Awv>(LAMBDA)?)? < 1e-11);
    // More than there is cannot be taken back.
    moments.retract(&shard(200..300, 0.0)?)?;
    let more = moments.retract(&shard(200..300, 0.0)?);
    assert!(matches!(more, Err(Error::Parameter(ParameterError { name: "weight taken back", .. }))), "{more:?}");
    assert_eq!(moments.count(), 0.0);
    Ok(())
}

#[test]
fn forgetting_weighs_by_age_whatever_the_order_of_merging() -> Result<(), Error> {
    let rate = 0.02;
    let whole = shard(0..200, rate)?;
    // By definition: Σ e^{−ρ(t−s)} z zᵀ.
    let (map, mut z) = (map()?, mercer_kernels::AlignedVec::new());
    let (mut gram, mut cross, mut count) = (0.0, 0.0, 0.0);
    for s in 0..200 {
        let (x, y) = example(s);
        let weight = (-rate * (199 - s) as f64).exp();
        map.map(&x, &mut z);
        gram += weight * z[2] * z[5];
        cross += weight * y * z[3];
        count += weight;
    }
    assert!((whole.gram(2, 5) - gram).abs() < 1e-12 && (whole.cross(0)[3] - cross).abs() < 1e-12);
    assert!((whole.count() - count).abs() < 1e-11 && whole.time() == 199.0);
    let (early, late) = (shard(0..80, rate)?, shard(80..200, rate)?);
    for (first, second) in [(&early, &late), (&late, &early)] {
        let mut merged = first.clone();
        merged.merge(second)?;
        assert!(distance(&merged.fit::<Awv>(LAMBDA)?, &whole.fit::<Awv>(LAMBDA)?)? < 1e-12);
    }
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused_unchanged() -> Result<(), Error> {
    let mut moments = shard(0..10, 0.0)?;
    let before = moments.cross(0).to_vec();
    let other = RidgeMoments::new(TaylorFeatures::new(1.3, 3, vec![0.0; 3], 1 << 20)?, 0.0)?;
    assert!(matches!(moments.merge(&other), Err(Error::Parameter(ParameterError { name: "features", .. }))));
    assert!(matches!(moments.merge(&shard(0..3, 0.1)?), Err(Error::Parameter(ParameterError { name: "rate", .. }))));
    assert!(matches!(moments.add(&[0.0; 2], 1.0), Err(Error::Example(ExampleError::Dimension { .. }))));
    assert!(matches!(moments.add(&[0.0; 3], f64::NAN), Err(Error::Example(ExampleError::NonFiniteTarget(_)))));
    assert!(moments.advance_to(3.0).is_err());
    assert!(moments.fit::<Awv>(0.0).is_err());
    assert_eq!((moments.cross(0), moments.count()), (before, 10.0));
    Ok(())
}
