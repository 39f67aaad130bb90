//! The contract of `mercer_testkit::conformance`, on every regression learner and several kernels.

use mercer_auto::{Auto, AutoParams, AutoWithTokens};
use mercer_experts::{Adwin, AnyDetector, PageHinkley, Rule, Share};
use mercer_kernels::AnyKernel;
use mercer_learners::update::Forgetting;
use mercer_learners::{
    AogdAld, AogdAldParams, Coin, CoinParams, ConKons, ConKonsParams, DiagonalKalman, DiagonalKalmanParams, Fogd,
    FogdParams, KernelAwv, KernelKrr, KernelRidgeParams, Kogd, KogdParams, Kons, KonsParams, Krls, KrlsParams, Loss,
    Mixture, Nogd, NogdParams, NonsAld, NonsAldParams, NystromParams, Pairs, PairsParams, PkawvFrozen, PkawvNystrom,
    PkawvTaylor, PkrrFrozen, PkrrNystrom, PkrrTaylor, ProsNKons, Restarting, Robust, RobustParams, SketchedKons,
    SketchedKonsParams, TaylorParams, Weights,
};
use mercer_registry::{entries, trial};
use mercer_testkit::alloc::CountingAllocator;
use mercer_testkit::conformance::{Memory, Subject, check_regressor};
use mercer_testkit::streams;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const NORMALISED: [&str; 3] = ["gaussian:0.9", "matern52:1.2", "mix:0.5*gaussian:0.5+0.5*laplace:2"];

/// Runs the suite for each kernel.
fn check(name: &str, memory: Memory, make: impl Fn(AnyKernel) -> Subject) {
    check_with(&["polynomial:2,0.5", "linear"], name, memory, &make);
    check_with(&NORMALISED, name, memory, &make);
}

/// Runs the suite for a kernel that is normalised and one that is not, without a bound on
/// predictions: other losses, several outputs.
fn check_loss(name: &str, memory: Memory, make: impl Fn(AnyKernel) -> Subject) {
    for spec in ["gaussian:0.9", "polynomial:2,0.5"] {
        let kernel: AnyKernel = spec.parse().expect("a kernel");
        check_regressor(&format!("{name} with {spec}"), memory, false, &|| make(kernel.clone()));
    }
}

/// Every loss, with the number of outputs to try it with.
fn losses() -> impl Iterator<Item = (Loss, usize)> {
    let losses = [
        ("squared", 3),
        ("absolute", 1),
        ("huber:0.3", 3),
        ("epsilon:0.1", 1),
        ("quantile:0.8", 3),
        ("poisson", 3),
        ("logistic", 1),
        ("hinge", 3),
        ("squared-hinge", 1),
        ("softmax", 3),
    ];
    losses.into_iter().map(|(name, outputs)| (name.parse().expect("a loss"), outputs))
}

fn check_with(kernels: &[&str], name: &str, memory: Memory, make: &impl Fn(AnyKernel) -> Subject) {
    for spec in kernels {
        let kernel: AnyKernel = spec.parse().expect("a kernel");
        let normalised = NORMALISED.contains(spec);
        check_regressor(&format!("{name} with {spec}"), memory, normalised, &|| make(kernel.clone()));
    }
}

#[test]
fn nons_ald() {
    let params = NonsAldParams::default().max_dictionary(Some(20));
    check("NONS-ALD", Memory::Bounded, |k| NonsAld::new(k, 3, params).expect("valid").into());
    for (loss, outputs) in losses().filter(|(loss, _)| loss.curvature(1.0, 1.0, 1).is_some() && *loss != Loss::SQUARED)
    {
        let params = params.loss(loss).outputs(outputs);
        check_loss(&format!("NONS-ALD, {loss}"), Memory::Bounded, |k| {
            NonsAld::new(k, 3, params).expect("valid").into()
        });
    }
}

#[test]
fn aogd_ald() {
    let params = AogdAldParams::default().alpha(0.02);
    check("AOGD-ALD", Memory::Bounded, |k| AogdAld::new(k, 3, params).expect("valid").into());
    for (loss, outputs) in losses() {
        let params = params.loss(loss).outputs(outputs);
        check_loss(&format!("AOGD-ALD, {loss}"), Memory::Bounded, |k| {
            AogdAld::new(k, 3, params).expect("valid").into()
        });
    }
    let params = params.growth_limit(Some(8));
    check("AOGD-ALD past B0", Memory::GrowsWithStream, |k| AogdAld::new(k, 3, params).expect("valid").into());
}

#[test]
fn krls() {
    for (lambda, forgetting) in [(0.0, 1.0), (0.1, 1.0), (0.1, 0.98), (0.0, 0.95)] {
        let params = KrlsParams::default().nu(1e-3).lambda(lambda).forgetting(forgetting).max_dictionary(Some(12));
        check(&format!("KRLS {lambda} {forgetting}"), Memory::Bounded, |k| {
            Krls::new(k, 3, params).expect("valid").into()
        });
        check_loss(&format!("KRLS {lambda} {forgetting}, 3 outputs"), Memory::Bounded, |k| {
            Krls::new(k, 3, params.outputs(3)).expect("valid").into()
        });
    }
    for forgets in [Forgetting::Exponential, Forgetting::ToPrior] {
        let params = KrlsParams::default().lambda(0.1).forgetting(0.98).forgets(forgets).max_dictionary(Some(12));
        check_loss(&format!("KRLS {forgets:?}"), Memory::Bounded, |k| Krls::new(k, 3, params).expect("valid").into());
    }
}

#[test]
fn pros_n_kons_and_con_kons() {
    let params = ConKonsParams::default().gamma(0.5).max_dictionary(Some(15));
    check("PROS-N-KONS", Memory::Bounded, |k| ProsNKons::new(k, 3, params.into()).expect("valid").into());
    check("CON-KONS", Memory::Bounded, |k| ConKons::new(k, 3, params).expect("valid").into());
    let params = params.loss(Loss::SOFTMAX).outputs(3);
    check_loss("PROS-N-KONS, softmax", Memory::Bounded, |k| ProsNKons::new(k, 3, params.into()).expect("valid").into());
    check_loss("CON-KONS, softmax", Memory::Bounded, |k| ConKons::new(k, 3, params).expect("valid").into());
}

#[test]
fn fogd() {
    let params = FogdParams::default().features(29);
    check("FOGD", Memory::Bounded, |_| Fogd::new(3, params).expect("valid").into());
    for (loss, outputs) in losses() {
        let make = || Fogd::new(3, params.loss(loss).outputs(outputs)).expect("valid").into();
        check_regressor(&format!("FOGD, {loss}"), Memory::Bounded, false, &make);
    }
    // Inputs divided by a width below 1 overflow before they are infinite themselves.
    let narrow = params.sigma(0.5);
    check("narrow FOGD", Memory::Bounded, |_| Fogd::new(3, narrow).expect("valid").into());
}

#[test]
fn coin() {
    for (loss, outputs) in losses() {
        let params = CoinParams::default().loss(loss).outputs(outputs);
        let make = || Coin::new(3, params).expect("valid").into();
        check_regressor(&format!("COIN, {loss}"), Memory::Bounded, false, &make);
        let make = || Pairs::new(3, PairsParams::default().loss(loss).outputs(outputs)).expect("valid").into();
        check_regressor(&format!("PAIRS, {loss}"), Memory::Bounded, false, &make);
    }
    // Two keys of their own, and the others share places.
    let make = || Coin::new(3, CoinParams::default().places(2)).expect("valid").into();
    check_regressor("COIN with two places", Memory::Bounded, false, &make);
}

#[test]
fn diagonal_kalman() {
    for (loss, outputs) in [(Loss::SQUARED, 1), (Loss::SQUARED, 3), (Loss::LOGISTIC, 1), (Loss::LOGISTIC, 3)] {
        let params = DiagonalKalmanParams::default().loss(loss).outputs(outputs);
        let make = || DiagonalKalman::new(3, params).expect("valid").into();
        check_regressor(&format!("DIAGONAL KALMAN, {loss}"), Memory::Bounded, false, &make);
    }
}

#[test]
fn nogd() {
    let params = NogdParams::default().budget(25).rank(18).step(0.05).radius(Some(3.0));
    check("NOGD", Memory::Bounded, |k| Nogd::new(k, 3, params).expect("valid").into());
    let params = params.loss(Loss::SOFTMAX).outputs(3);
    check_loss("NOGD, softmax", Memory::Bounded, |k| Nogd::new(k, 3, params).expect("valid").into());
}

#[test]
fn kogd() {
    let params = KogdParams::default();
    check("KOGD", Memory::GrowsWithStream, |k| Kogd::new(k, 3, params).expect("valid").into());
    for (loss, outputs) in losses() {
        let params = params.loss(loss).outputs(outputs);
        check_loss(&format!("KOGD, {loss}"), Memory::GrowsWithStream, |k| {
            Kogd::new(k, 3, params).expect("valid").into()
        });
    }
}

#[test]
fn kons() {
    for clip in [None, Some(0.5)] {
        let params = KonsParams::default().clip(clip);
        check("KONS", Memory::GrowsWithStream, |k| Kons::new(k, 3, params).expect("valid").into());
        let params = params.loss(Loss::LOGISTIC);
        check_loss("KONS, logistic", Memory::GrowsWithStream, |k| Kons::new(k, 3, params).expect("valid").into());
    }
}

#[test]
fn sketched_kons() {
    let params = SketchedKonsParams::default();
    check("Sketched-KONS", Memory::GrowsWithStream, |k| SketchedKons::new(k, 3, params).expect("valid").into());
}

#[test]
fn kernel_awv_and_krr() {
    let params = KernelRidgeParams::default().lambda(0.5);
    check("Kernel-AWV", Memory::GrowsWithStream, |k| KernelAwv::new(k, 3, params).expect("valid").into());
    check("Kernel-KRR", Memory::GrowsWithStream, |k| KernelKrr::new(k, 3, params).expect("valid").into());
    let params = params.outputs(3);
    check_loss("Kernel-AWV, 3 outputs", Memory::GrowsWithStream, |k| {
        KernelAwv::new(k, 3, params).expect("valid").into()
    });
}

#[test]
fn pkawv_and_pkrr_taylor() {
    let params = || TaylorParams::default().degree(3);
    check("PKAWV-Taylor", Memory::Bounded, |_| PkawvTaylor::new(3, params()).expect("valid").into());
    check("PKRR-Taylor", Memory::Bounded, |_| PkrrTaylor::new(3, params()).expect("valid").into());
    let three = || PkawvTaylor::new(3, params().outputs(3)).expect("valid").into();
    check_regressor("PKAWV-Taylor, 3 outputs", Memory::Bounded, false, &three);
    let narrow = || params().sigma(0.5);
    check("narrow PKAWV-Taylor", Memory::Bounded, |_| PkawvTaylor::new(3, narrow()).expect("valid").into());
    check("narrow PKRR-Taylor", Memory::Bounded, |_| PkrrTaylor::new(3, narrow()).expect("valid").into());
}

#[test]
fn pkawv_and_pkrr_nystrom() {
    let params = NystromParams::default().mu(0.3);
    let memory = Memory::GrowsWithStream;
    check("PKAWV-Nyström", memory, |k| PkawvNystrom::new(k, 3, params).expect("valid").into());
    check("PKRR-Nyström", memory, |k| PkrrNystrom::new(k, 3, params).expect("valid").into());
}

#[test]
fn pkawv_and_pkrr_on_a_frozen_dictionary() {
    let inputs: Vec<f64> = streams::smooth_noisy(20, 160, 3, 0.1).into_iter().flat_map(|(x, _)| x).collect();
    let params = NystromParams::default().mu(0.3);
    check("PKAWV, frozen", Memory::Bounded, |k| PkawvFrozen::new(k, 3, &inputs, params).expect("valid").into());
    check("PKRR, frozen", Memory::Bounded, |k| PkrrFrozen::new(k, 3, &inputs, params).expect("valid").into());
}

#[test]
fn experts() {
    let make = |k: AnyKernel| {
        let params = NonsAldParams::default().max_dictionary(Some(20));
        let ridge = KrlsParams::default().lambda(0.1).max_dictionary(Some(20));
        let members: [(&str, Subject); 4] = [
            ("NONS-ALD, μ = 1", NonsAld::new(k.clone(), 3, params).expect("valid").into()),
            ("NONS-ALD, μ = 5", NonsAld::new(k.clone(), 3, params.mu(5.0)).expect("valid").into()),
            ("KRLS", Krls::new(k, 3, ridge).expect("valid").into()),
            ("PKAWV", PkawvTaylor::new(3, TaylorParams::default()).expect("valid").into()),
        ];
        let members = members.map(|(name, member)| (name.to_owned(), member));
        Mixture::new(members, Rule::MlPoly).expect("members").into()
    };
    check("a mixture", Memory::Bounded, make);
}

#[test]
fn restarting() {
    let detectors: [AnyDetector; 3] = [
        Adwin::default().into(),
        PageHinkley::default().into(),
        // One that alarms now and then.
        PageHinkley::new(0.1, 5.0).expect("positive").into(),
    ];
    for (detector, memory) in detectors.into_iter().zip([Memory::Bounded, Memory::Bounded, Memory::GrowsWithStream]) {
        let watched = |learner: Subject| -> Subject { Restarting::new(learner, detector.clone()).into() };
        let params = KrlsParams::default().nu(1e-3).lambda(0.1).max_dictionary(Some(12)).outputs(3);
        check_loss("a restarting KRLS, 3 outputs", memory, |k| watched(Krls::new(k, 3, params).expect("valid").into()));
        let params = FogdParams::default().features(29).loss(Loss::SOFTMAX).outputs(3);
        let make = || watched(Fogd::new(3, params).expect("valid").into());
        check_regressor("a restarting FOGD, softmax", memory, false, &make);
    }
}

#[test]
fn robust() {
    for weights in [Weights::Huber, Weights::Correntropy] {
        let params = KrlsParams::default().nu(1e-3).lambda(0.1).max_dictionary(Some(12)).outputs(3);
        check_loss("a robust KRLS, 3 outputs", Memory::Bounded, |k| {
            let krls: Subject = Krls::new(k, 3, params).expect("valid").into();
            Robust::around(krls, RobustParams::default().weights(weights)).expect("squared").into()
        });
    }
}

#[test]
fn sharing_experts() {
    let make = |k: AnyKernel| {
        let params = KrlsParams::default().lambda(0.1).max_dictionary(Some(20));
        let krls = |k, params| Subject::from(Krls::new(k, 3, params).expect("valid"));
        let members: [(&str, Subject); 3] = [
            ("KRLS", krls(k.clone(), params)),
            ("KRLS that forgets", krls(k.clone(), params.forgetting(0.99))),
            ("KRLS that starts anew", Restarting::new(krls(k, params), AnyDetector::default()).into()),
        ];
        let members = members.map(|(name, member)| (name.to_owned(), member));
        Mixture::new(members, Rule::Ewa).and_then(|new| Ok(new.sharing(Share::Decreasing)?)).expect("members").into()
    };
    check("a mixture that shares", Memory::Bounded, make);
}

#[test]
fn auto_with_tokens() {
    let params = AutoParams::default().budget(20_000);
    let make = || AutoWithTokens::new(3, params).expect("valid").into();
    check_regressor("auto with tokens", Memory::Bounded, false, &make);
    let make = || AutoWithTokens::of_classes(3, params).expect("valid").into();
    check_regressor("auto with tokens, of classes", Memory::Bounded, false, &make);
    // Of several outputs `auto` makes room once more where its window fills up.
    let make = || AutoWithTokens::new(3, params.outputs(3)).expect("valid").into();
    check_regressor("auto with tokens, three outputs", Memory::GrowsWithStream, false, &make);
}

#[test]
fn auto() {
    let params = |rule| AutoParams::default().rule(rule).budget(20_000);
    for rule in Rule::ALL {
        check(&format!("auto by {rule}"), Memory::Bounded, |_| Auto::new(3, params(rule)).expect("valid").into());
    }
    // A window of some eighty examples, of which eight make a prediction.
    let params = AutoParams::default().budget(26_800);
    check("auto with a window", Memory::Bounded, |_| Auto::new(3, params).expect("valid").into());
}

/// Whatever is registered, as its entry makes it for trials: a new learner is checked as soon as it
/// is in the list.
#[test]
fn every_entry() {
    for entry in entries() {
        // Rules that toss coins still keep points when a stream comes again; with a bound they are
        // checked above.
        let tosses = entry.key("epsilon").is_some() && entry.key("beta").is_some();
        let memory = if entry.growth.is_some() || tosses { Memory::GrowsWithStream } else { Memory::Bounded };
        let make = || trial(entry, "gaussian:0.9".parse().expect("a kernel"), 3).expect("a trial");
        // Learners of tokens are linear in the numbers, so far from all rows they are large.
        let bounded = entry.key("places").is_none();
        check_regressor(entry.name, memory, bounded, &make);
    }
}
