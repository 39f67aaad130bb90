//! The contract of `mercer_testkit::conformance`, on every regression learner and several kernels.

use mercer_kernels::AnyKernel;
use mercer_learners::experts::Rule;
use mercer_learners::{
    AogdAld, AogdAldParams, Auto, AutoParams, ConKons, Experts, Fogd, FogdParams, KernelAwv, KernelKrr,
    KernelRidgeParams, Kogd, KogdParams, Kons, KonsParams, Krls, KrlsParams, Nogd, NogdParams, NonsAld, NonsAldParams,
    NystromParams, PkawvFrozen, PkawvNystrom, PkawvTaylor, PkrrFrozen, PkrrNystrom, PkrrTaylor, ProsNKons,
    SampledKonsParams, SketchedKons, SketchedKonsParams, TaylorParams,
};
use mercer_testkit::alloc::CountingAllocator;
use mercer_testkit::conformance::{Memory, Subject, check_regressor};
use mercer_testkit::streams;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const NORMALISED: [&str; 3] = ["gaussian:0.9", "matern52:1.2", "mix:0.5*gaussian:0.5+0.5*laplace:2"];

/// Runs the suite for each kernel.
fn check(name: &str, memory: Memory, make: impl Fn(AnyKernel) -> Subject) {
    check_with(&["polynomial:2,0.5"], name, memory, &make);
    check_with(&NORMALISED, name, memory, &make);
}

fn check_with(kernels: &[&str], name: &str, memory: Memory, make: &impl Fn(AnyKernel) -> Subject) {
    for spec in kernels {
        let kernel: AnyKernel = spec.parse().expect("a kernel");
        let normalised = !spec.starts_with("polynomial");
        check_regressor(&format!("{name} with {spec}"), memory, normalised, &|| make(kernel.clone()));
    }
}

#[test]
fn nons_ald() {
    let params = NonsAldParams { max_dictionary: Some(20), ..NonsAldParams::default() };
    check("NONS-ALD", Memory::Bounded, |k| NonsAld::new(k, 3, params).expect("valid").into());
}

#[test]
fn aogd_ald() {
    let params = AogdAldParams { alpha: 0.02, ..AogdAldParams::default() };
    check("AOGD-ALD", Memory::Bounded, |k| AogdAld::new(k, 3, params).expect("valid").into());
    let params = AogdAldParams { growth_limit: Some(8), ..params };
    check("AOGD-ALD past B0", Memory::GrowsWithStream, |k| AogdAld::new(k, 3, params).expect("valid").into());
}

#[test]
fn krls() {
    for (lambda, forgetting) in [(0.0, 1.0), (0.1, 1.0), (0.1, 0.98), (0.0, 0.95)] {
        let params = KrlsParams { nu: 1e-3, lambda, forgetting, max_dictionary: Some(12) };
        check(&format!("KRLS {lambda} {forgetting}"), Memory::Bounded, |k| {
            Krls::new(k, 3, params).expect("valid").into()
        });
    }
}

#[test]
fn pros_n_kons_and_con_kons() {
    let params = SampledKonsParams { gamma: 0.5, max_dictionary: Some(15), ..SampledKonsParams::default() };
    check("PROS-N-KONS", Memory::Bounded, |k| ProsNKons::new(k, 3, params).expect("valid").into());
    check("CON-KONS", Memory::Bounded, |k| ConKons::new(k, 3, params).expect("valid").into());
}

#[test]
fn fogd() {
    let params = FogdParams { features: 29, ..FogdParams::default() };
    check("FOGD", Memory::Bounded, |_| Fogd::new(3, params).expect("valid").into());
    // Inputs divided by a width below 1 overflow before they are infinite themselves.
    let narrow = FogdParams { sigma: 0.5, ..params };
    check("narrow FOGD", Memory::Bounded, |_| Fogd::new(3, narrow).expect("valid").into());
}

#[test]
fn nogd() {
    let params = NogdParams { budget: 25, rank: 18, step: 0.05, radius: Some(3.0) };
    check("NOGD", Memory::Bounded, |k| Nogd::new(k, 3, params).expect("valid").into());
}

#[test]
fn kogd() {
    check("KOGD", Memory::GrowsWithStream, |k| Kogd::new(k, 3, KogdParams::default()).expect("valid").into());
}

#[test]
fn kons() {
    for clip in [None, Some(0.5)] {
        let params = KonsParams { clip, ..KonsParams::default() };
        check("KONS", Memory::GrowsWithStream, |k| Kons::new(k, 3, params).expect("valid").into());
    }
}

#[test]
fn sketched_kons() {
    let params = SketchedKonsParams::default();
    check("Sketched-KONS", Memory::GrowsWithStream, |k| SketchedKons::new(k, 3, params).expect("valid").into());
}

#[test]
fn kernel_awv_and_krr() {
    let params = KernelRidgeParams { lambda: 0.5 };
    check("Kernel-AWV", Memory::GrowsWithStream, |k| KernelAwv::new(k, 3, params).expect("valid").into());
    check("Kernel-KRR", Memory::GrowsWithStream, |k| KernelKrr::new(k, 3, params).expect("valid").into());
}

#[test]
fn pkawv_and_pkrr_taylor() {
    let params = || TaylorParams { degree: 3, ..TaylorParams::default() };
    check("PKAWV-Taylor", Memory::Bounded, |_| PkawvTaylor::new(3, params()).expect("valid").into());
    check("PKRR-Taylor", Memory::Bounded, |_| PkrrTaylor::new(3, params()).expect("valid").into());
    let narrow = || TaylorParams { sigma: 0.5, ..params() };
    check("narrow PKAWV-Taylor", Memory::Bounded, |_| PkawvTaylor::new(3, narrow()).expect("valid").into());
    check("narrow PKRR-Taylor", Memory::Bounded, |_| PkrrTaylor::new(3, narrow()).expect("valid").into());
}

#[test]
fn pkawv_and_pkrr_nystrom() {
    let params = NystromParams { mu: 0.3, ..NystromParams::default() };
    let memory = Memory::GrowsWithStream;
    check("PKAWV-Nyström", memory, |k| PkawvNystrom::new(k, 3, params).expect("valid").into());
    check("PKRR-Nyström", memory, |k| PkrrNystrom::new(k, 3, params).expect("valid").into());
}

#[test]
fn pkawv_and_pkrr_on_a_frozen_dictionary() {
    let inputs: Vec<f64> = streams::smooth_noisy(20, 160, 3, 0.1).into_iter().flat_map(|(x, _)| x).collect();
    let params = NystromParams { mu: 0.3, ..NystromParams::default() };
    check("PKAWV, frozen", Memory::Bounded, |k| PkawvFrozen::new(k, 3, &inputs, params).expect("valid").into());
    check("PKRR, frozen", Memory::Bounded, |k| PkrrFrozen::new(k, 3, &inputs, params).expect("valid").into());
}

#[test]
fn experts() {
    let make = |k: AnyKernel| {
        let params = NonsAldParams { max_dictionary: Some(20), ..NonsAldParams::default() };
        let ridge = KrlsParams { lambda: 0.1, max_dictionary: Some(20), ..KrlsParams::default() };
        let members: [(&str, Subject); 4] = [
            ("NONS-ALD, μ = 1", NonsAld::new(k.clone(), 3, params).expect("valid").into()),
            ("NONS-ALD, μ = 5", NonsAld::new(k.clone(), 3, NonsAldParams { mu: 5.0, ..params }).expect("valid").into()),
            ("KRLS", Krls::new(k, 3, ridge).expect("valid").into()),
            ("PKAWV", PkawvTaylor::new(3, TaylorParams::default()).expect("valid").into()),
        ];
        let members = members.map(|(name, member)| (name.to_owned(), member));
        Experts::new(members, Rule::MlPoly).expect("members").into()
    };
    check("a mixture", Memory::Bounded, make);
}

#[test]
fn auto() {
    let params = |rule| AutoParams { rule, budget: 20_000 };
    for rule in Rule::ALL {
        check(&format!("auto by {rule}"), Memory::Bounded, |_| Auto::new(3, params(rule)).expect("valid").into());
    }
}

#[test]
fn every_learner_is_checked() {
    let source = include_str!("conformance.rs");
    for name in Subject::NAMES {
        let made =
            ["k, 3", "3, params", "members"].iter().any(|start| source.contains(&format!("{name}::new({start}")));
        assert!(made, "{name} has no conformance test");
    }
}
