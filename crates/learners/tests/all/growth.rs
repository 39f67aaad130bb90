//! Features and outputs that come late: a learner that grew is one that had them from the start and
//! saw zeros.

use crate::common::{TestResult, agree, kernel, learn, pass, same_kernel, weighted};
use mercer_auto::{Auto, AutoParams};
use mercer_core::Validate;
use mercer_experts::Rule;
use mercer_kernels::AnyKernel;
use mercer_learners::{
    AogdAld, AogdAldParams, ConKons, ConKonsParams, Error, Fogd, FogdParams, KernelAwv, KernelKrr, KernelRidgeParams,
    Kogd, KogdParams, Kons, KonsParams, Krls, KrlsParams, Loss, Mixture, Nogd, NogdParams, NonsAld, NonsAldParams,
    NystromParams, PkawvFrozen, PkawvNystrom, PkawvTaylor, PkrrNystrom, PkrrTaylor, ProsNKons, ProsNKonsParams,
    Regressor, RegressorExt, SketchedKons, SketchedKonsParams, Target, TaylorParams,
};
use mercer_registry::AnyRegressor;
use mercer_testkit::oracle::{self, FunctionGradient, Steps, WeightedExample};
use mercer_testkit::streams;

type Subject = AnyRegressor<AnyKernel>;
type Make = fn(AnyKernel, usize) -> Result<Subject, Error>;

/// Every learner that takes further features, but FOGD, whose rule is another.
const GROWING: [(&str, Make); 16] = [
    ("NONS-ALD", |k, d| Ok(NonsAld::new(k, d, NonsAldParams::default())?.into())),
    ("KRLS", |k, d| Ok(Krls::new(k, d, KrlsParams::default().lambda(0.1))?.into())),
    ("AOGD-ALD", |k, d| Ok(AogdAld::new(k, d, AogdAldParams::default())?.into())),
    ("AOGD-ALD past B0", |k, d| Ok(AogdAld::new(k, d, AogdAldParams::default().growth_limit(Some(8)))?.into())),
    ("PROS-N-KONS", |k, d| Ok(ProsNKons::new(k, d, ProsNKonsParams::default().gamma(0.3))?.into())),
    ("CON-KONS", |k, d| Ok(ConKons::new(k, d, ConKonsParams::default().gamma(0.3))?.into())),
    ("KOGD", |k, d| Ok(Kogd::new(k, d, KogdParams::default().outputs(1))?.into())),
    ("NOGD before its switch", |k, d| Ok(Nogd::new(k, d, NogdParams::default())?.into())),
    ("NOGD after its switch", |k, d| Ok(Nogd::new(k, d, NogdParams::default().budget(20).rank(9))?.into())),
    ("KONS", |k, d| Ok(Kons::new(k, d, KonsParams::default())?.into())),
    ("Sketched-KONS", |k, d| Ok(SketchedKons::new(k, d, SketchedKonsParams::default())?.into())),
    ("Kernel-AWV", |k, d| Ok(KernelAwv::new(k, d, KernelRidgeParams::default())?.into())),
    ("Kernel-KRR", |k, d| Ok(KernelKrr::new(k, d, KernelRidgeParams::default())?.into())),
    ("PKAWV-Nyström", |k, d| Ok(PkawvNystrom::new(k, d, NystromParams::default().mu(0.3))?.into())),
    ("PKRR-Nyström", |k, d| Ok(PkrrNystrom::new(k, d, NystromParams::default().mu(0.3))?.into())),
    ("a mixture", |k, d| {
        let members: [(&str, Subject); 3] = [
            ("KRLS", Krls::new(k.clone(), d, KrlsParams::default().lambda(0.1))?.into()),
            ("NONS-ALD", NonsAld::new(k.clone(), d, NonsAldParams::default())?.into()),
            ("Kernel-AWV", KernelAwv::new(k, d, KernelRidgeParams::default())?.into()),
        ];
        Ok(Mixture::new(members.map(|(name, member)| (name.to_owned(), member)), Rule::MlPoly)?.into())
    }),
];

/// Rows of dimension 5 whose last two features are 0 before row 60.
fn late_features() -> Vec<(Vec<f64>, f64)> {
    let mut stream = streams::smooth_noisy(41, 130, 5, 0.1);
    stream[..60].iter_mut().for_each(|(x, _)| x[3..].fill(0.0));
    stream
}

#[test]
fn grown_learners_had_zeros_from_the_start() -> TestResult {
    for spec in ["gaussian:1.1", "polynomial:2,0.5", "laplace:1.5", "mix:0.5*gaussian:0.5+0.5*matern32:2"] {
        let kernel: AnyKernel = spec.parse()?;
        for (name, make) in GROWING {
            let (mut grown, mut wide) = (make(kernel.clone(), 3)?, make(kernel.clone(), 5)?);
            for (t, (x, y)) in late_features().iter().enumerate() {
                match t {
                    40 => grown.grow(1)?,
                    60 => grown.grow(1)?,
                    _ => {}
                }
                let d = grown.dimension();
                let (a, b) = (grown.predict_then_update(&x[..d], *y)?, wide.predict_then_update(x, *y)?);
                assert_eq!(a.to_bits(), b.to_bits(), "{name} with {spec}: {a} for {b} at row {t}");
            }
            assert_eq!((grown.dimension(), grown.validate()), (5, Ok(())), "{name}");
        }
    }
    Ok(())
}

/// Inputs that do not vary yet cost nothing, so it is the same learner whether they are there or
/// join later, before or after the scaling is fixed.
#[test]
fn auto_takes_features_at_any_time() -> TestResult {
    for budget in [2000, 20_000, 40_000] {
        let make = |d| Auto::new(d, AutoParams::default().budget(budget));
        let (mut grown, mut wide) = (make(3)?, make(6)?);
        for (t, (x, y)) in late_features().iter().cycle().take(1200).enumerate() {
            if [0, 60, 1100].contains(&t) {
                grown.grow(1)?;
            }
            let begins = [0, 0, 0, 60, 60, 1100];
            let x = x.iter().chain([&x[0]]).zip(begins).map(|(v, begins)| if t < begins { 0.0 } else { *v });
            let x: Vec<f64> = x.collect();
            let (target, d) = ([*y], grown.dimension());
            let target = Target::weighted(&target, if t % 7 == 0 { 2.0 } else { 1.0 });
            let (mut a, mut b) = ([0.0], [0.0]);
            grown.learn(&x[..d], target, &mut a)?;
            wide.learn(&x, target, &mut b)?;
            assert_eq!(a[0].to_bits(), b[0].to_bits(), "budget {budget}: {a:?} for {b:?} at row {t}");
        }
        assert_eq!((grown.dimension(), grown.validate(), wide.validate()), (6, Ok(()), Ok(())));
    }
    Ok(())
}

#[test]
fn a_frozen_dictionary_grows_with_its_inputs() -> TestResult {
    let stream = late_features();
    let params = NystromParams::default().mu(0.3);
    let narrow: Vec<f64> = stream[..60].iter().flat_map(|(x, _)| x[..3].to_vec()).collect();
    let wide: Vec<f64> = stream[..60].iter().flat_map(|(x, _)| x.clone()).collect();
    let mut grown = PkawvFrozen::new(kernel(), 3, &narrow, params)?;
    let mut whole = PkawvFrozen::new(kernel(), 5, &wide, params)?;
    for (t, (x, y)) in stream.iter().enumerate() {
        if t == 60 {
            grown.grow(2)?;
        }
        let (a, b) = (grown.predict_then_update(&x[..grown.dimension()], *y)?, whole.predict_then_update(x, *y)?);
        assert_eq!(a.to_bits(), b.to_bits(), "row {t}");
    }
    Ok(())
}

/// The frequencies of the columns that were there stay; a new column has its own, and 0 there
/// changes nothing.
#[test]
fn random_features_grow_by_columns_of_frequencies() -> TestResult {
    let mut learner = Fogd::new(3, FogdParams::default().features(17).seed(5))?;
    let frequencies = |learner: &Fogd| -> Vec<Vec<f64>> {
        let map = learner.feature_map();
        (0..map.frequencies()).map(|i| map.frequency(i)).collect()
    };
    let narrow = frequencies(&learner);
    let mut made = Vec::new();
    let stream = late_features();
    for (t, (x, y)) in stream.iter().enumerate() {
        if t == 60 {
            learner.grow(2)?;
        }
        made.push(learner.predict_then_update(&x[..learner.dimension()], *y)?);
    }
    let wide = frequencies(&learner);
    for (before, after) in narrow.iter().zip(&wide) {
        assert!(after[..3] == before[..] && after[3..].iter().all(|w| *w != 0.0));
    }
    let examples: Vec<WeightedExample> =
        stream.iter().map(|(x, y)| WeightedExample { x: x.clone(), y: vec![*y], weight: 1.0 }).collect();
    let features = |x: &[f64]| oracle::fourier_features(&wide, x);
    agree("FOGD", &made, &oracle::feature_gradient(&examples, &features, 1, "squared", 0.1), 1e-10);
    Ok(())
}

#[test]
fn learners_of_fixed_inputs_refuse_and_go_on() -> TestResult {
    let learners: [Box<dyn Regressor>; 2] = [
        Box::new(PkawvTaylor::new(3, TaylorParams::default())?),
        Box::new(PkrrTaylor::new(3, TaylorParams::default())?),
    ];
    for mut learner in learners {
        for (t, (x, y)) in streams::smooth_noisy(42, 80, 3, 0.1).iter().enumerate() {
            let before = learner.predict(x)?;
            if t % 20 == 0 {
                assert_eq!(learner.grow(1), Err(Error::FixedInputs));
            }
            assert_eq!((learner.dimension(), learner.predict(x)?.to_bits()), (3, before.to_bits()));
            learner.update(x, *y)?;
        }
    }
    Ok(())
}

/// A mixture with one member that cannot grow refuses, and none of the others has grown.
#[test]
fn a_mixture_grows_whole_or_not_at_all() -> TestResult {
    let members: [(&str, AnyRegressor<mercer_kernels::Gaussian>); 2] = [
        ("KRLS", Krls::new(kernel(), 3, KrlsParams::default().lambda(0.1))?.into()),
        ("PKAWV", PkawvTaylor::new(3, TaylorParams::default())?.into()),
    ];
    let mut mixture = Mixture::new(members.map(|(name, member)| (name.to_owned(), member)), Rule::MlPoly)?;
    for (x, y) in streams::smooth_noisy(43, 60, 3, 0.1) {
        assert_eq!(mixture.grow(1), Err(Error::FixedInputs));
        mixture.update(&x, y)?;
    }
    assert_eq!((mixture.dimension(), mixture.validate()), (3, Ok(())));
    Ok(())
}

type MakeOutputs = fn(usize) -> Result<Box<dyn Regressor>, Error>;

/// Learners whose outputs do not act on each other.
const SEPARATE: [(&str, MakeOutputs); 8] = [
    ("KRLS", |m| Ok(Box::new(Krls::new(kernel(), 2, KrlsParams::default().lambda(0.1).outputs(m))?))),
    ("KRLS without a ridge", |m| {
        Ok(Box::new(Krls::new(kernel(), 2, KrlsParams::default().nu(1e-2).lambda(0.0).outputs(m))?))
    }),
    ("KRLS that forgets", |m| {
        let params = KrlsParams::default().lambda(0.1).forgetting(0.98).outputs(m);
        Ok(Box::new(Krls::new(kernel(), 2, params)?))
    }),
    ("Kernel-AWV", |m| Ok(Box::new(KernelAwv::new(kernel(), 2, KernelRidgeParams::default().outputs(m))?))),
    ("PKAWV-Taylor", |m| Ok(Box::new(PkawvTaylor::new(2, TaylorParams::default().outputs(m))?))),
    ("FOGD", |m| Ok(Box::new(Fogd::new(2, FogdParams::default().features(20).outputs(m))?))),
    ("NOGD before its switch", |m| Ok(Box::new(Nogd::new(kernel(), 2, NogdParams::default().outputs(m))?))),
    ("NOGD after its switch", |m| {
        Ok(Box::new(Nogd::new(kernel(), 2, NogdParams::default().budget(15).rank(9).outputs(m))?))
    }),
];

/// The targets of output 0 and 1, which are `like` of each other before row 50.
fn two_targets(copied: bool) -> Vec<WeightedExample> {
    let mut examples = weighted(&streams::smooth_noisy(44, 110, 2, 0.1), "squared", 2);
    examples[..50].iter_mut().for_each(|example| example.y[1] = if copied { example.y[0] } else { 0.0 });
    examples
}

#[test]
fn late_outputs_were_there_from_the_start() -> TestResult {
    for (name, make) in SEPARATE {
        for copied in [true, false] {
            let (mut one, mut two) = (make(1)?, make(2)?);
            for (t, example) in two_targets(copied).iter().enumerate() {
                if t == 50 {
                    one.add_output(copied.then_some(0))?;
                }
                let own = WeightedExample { y: example.y[..one.outputs()].to_vec(), ..example.clone() };
                let (a, b) = (learn(&mut one, &own)?, learn(&mut two, example)?);
                for (a, b) in a.iter().zip(&b) {
                    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{name}, copied {copied}: {a} for {b} at {t}");
                }
            }
        }
    }
    Ok(())
}

/// The norm that a radius bounds is that of all outputs, the copy among them.
#[test]
fn a_copied_output_counts_in_the_norm() -> TestResult {
    for radius in [0.4, 0.8, 3.0] {
        let constant = NogdParams::default().step(0.2).radius(Some(radius));
        let kogd = KogdParams::default().radius(radius);
        let aogd = AogdAldParams::default().radius(radius).alpha(5e-3);
        let learners: [(Box<dyn Regressor>, Steps, Option<f64>); 3] = [
            (Box::new(Nogd::new(kernel(), 2, constant)?), Steps::Constant(0.2), None),
            (Box::new(Kogd::new(kernel(), 2, kogd)?), Steps::Adaptive, None),
            (Box::new(AogdAld::new(kernel(), 2, aogd)?), Steps::Adaptive, Some(5e-3)),
        ];
        for (mut learner, steps, alpha) in learners {
            let mut functions = FunctionGradient::new(1, "squared", steps, radius, alpha);
            let (mut made, mut expected) = (Vec::new(), Vec::new());
            for (t, example) in two_targets(true).iter().enumerate() {
                if t == 50 {
                    learner.add_output(Some(0))?;
                    functions.copy_output(0);
                }
                let own = WeightedExample { y: example.y[..learner.outputs()].to_vec(), ..example.clone() };
                made.extend(learn(&mut learner, &own)?);
                expected.extend(functions.learn(&own, &same_kernel));
            }
            agree(&format!("radius {radius}, {steps:?}, {alpha:?}"), &made, &expected, 1e-10);
        }
    }
    Ok(())
}

/// A class that comes late starts with the scores of the one it is like, and is learnt.
#[test]
fn a_class_may_come_late() -> TestResult {
    let newton = NonsAldParams::default().loss(Loss::SOFTMAX).outputs(2);
    let sampled = ConKonsParams::default().loss(Loss::SOFTMAX).outputs(2).gamma(0.3);
    let gradient = AogdAldParams::default().loss(Loss::SOFTMAX).outputs(2);
    let learners: [Box<dyn Regressor>; 4] = [
        Box::new(NonsAld::new(kernel(), 2, newton)?),
        Box::new(ConKons::new(kernel(), 2, sampled)?),
        Box::new(ProsNKons::new(kernel(), 2, sampled.into())?),
        Box::new(AogdAld::new(kernel(), 2, gradient)?),
    ];
    for mut learner in learners {
        let stream = streams::smooth_noisy(45, 260, 2, 0.05);
        let (head, tail) = stream.split_at(60);
        pass(&mut learner, &weighted(head, "softmax", 2))?;
        learner.add_output(Some(1))?;
        let mut scores = [0.0; 3];
        learner.predict_into(&[0.3, 0.1], &mut mercer_learners::Scratch::default(), &mut scores)?;
        assert_eq!((learner.outputs(), scores[1].to_bits()), (3, scores[2].to_bits()));
        pass(&mut learner, &weighted(tail, "softmax", 3))?;
    }
    Ok(())
}

#[test]
fn learners_of_fixed_outputs_refuse() -> TestResult {
    let learners: [Box<dyn Regressor>; 4] = [
        Box::new(NonsAld::new(kernel(), 2, NonsAldParams::default())?),
        Box::new(Kons::new(kernel(), 2, KonsParams::default())?),
        Box::new(SketchedKons::new(kernel(), 2, SketchedKonsParams::default())?),
        Box::new(PkawvNystrom::new(kernel(), 2, NystromParams::default())?),
    ];
    for mut learner in learners {
        for (x, y) in streams::smooth_noisy(46, 30, 2, 0.1) {
            assert_eq!(learner.add_output(Some(0)), Err(Error::FixedOutputs));
            learner.update(&x, y)?;
        }
        assert_eq!(learner.outputs(), 1);
    }
    Ok(())
}
