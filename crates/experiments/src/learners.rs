//! The learners that several experiments run, with what the papers fix of them: the printed steps,
//! `U = Y = 1` of NONS-ALD, `β = 1`, `ε = ½` and `C = 1` of the samplers, and no bound on a
//! dictionary.

use anyhow::Result;
use mercer_kernels::{AnyKernel, Kernel};
use mercer_learners::{
    AogdAld, AogdAldParams, Fogd, FogdParams, NewtonSteps, NonsAld, NonsAldParams, NystromParams, PkawvTaylor,
    ProsNKons, ProsNKonsParams, SketchedKons, SketchedKonsParams, TaylorParams,
};

/// With the growth limit of Theorem 3.2 for so many rounds.
pub(crate) fn aogd_ald<K: Kernel + Clone>(
    kernel: K,
    d: usize,
    radius: f64,
    alpha: f64,
    rounds: usize,
) -> Result<AogdAld<K>> {
    let growth_limit = Some(AogdAldParams::growth_limit_for(d, rounds));
    Ok(AogdAld::new(kernel, d, AogdAldParams::default().radius(radius).alpha(alpha).growth_limit(growth_limit))?)
}

pub(crate) fn nons_ald<K: Kernel>(kernel: K, d: usize, mu: f64, alpha: f64) -> Result<NonsAld<K>> {
    let params = NonsAldParams::default()
        .steps(NewtonSteps::Printed)
        .mu(mu)
        .alpha(alpha)
        .radius(1.0)
        .label_bound(1.0)
        .max_dictionary(None);
    Ok(NonsAld::new(kernel, d, params)?)
}

pub(crate) fn pros_n_kons<K: Kernel>(kernel: K, d: usize, alpha: f64, gamma: f64, seed: u64) -> Result<ProsNKons<K>> {
    let params = ProsNKonsParams::default()
        .steps(NewtonSteps::Printed)
        .alpha(alpha)
        .gamma(gamma)
        .beta(1.0)
        .epsilon(0.5)
        .clip(1.0);
    Ok(ProsNKons::new(kernel, d, params.max_dictionary(None).seed(seed))?)
}

/// With `η = 1/8` and `γ = 0.1`.
pub(crate) fn sketched_kons(kernel: AnyKernel, d: usize, mu: f64, seed: u64) -> Result<SketchedKons<AnyKernel>> {
    let params =
        SketchedKonsParams::default().steps(NewtonSteps::Printed).mu(mu).eta(0.125).gamma(0.1).beta(1.0).seed(seed);
    Ok(SketchedKons::new(kernel, d, params)?)
}

/// With the step `c/√T` for these rounds.
pub(crate) fn fogd(d: usize, sigma: f64, features: usize, c: f64, rounds: usize, seed: u64) -> Result<Fogd> {
    let step = c / (rounds as f64).sqrt();
    Ok(Fogd::new(d, FogdParams::default().sigma(sigma).features(features).step(step).seed(seed))?)
}

/// Taylor features whose matrix takes at most so many bytes.
pub(crate) fn taylor_params(sigma: f64, degree: usize, lambda: f64, max_bytes: u64) -> TaylorParams {
    TaylorParams::default().sigma(sigma).degree(degree).lambda(lambda).max_bytes(max_bytes)
}

/// PKAWV on them.
pub(crate) fn taylor(d: usize, sigma: f64, degree: usize, lambda: f64, max_bytes: u64) -> Result<PkawvTaylor> {
    Ok(PkawvTaylor::new(d, taylor_params(sigma, degree, lambda, max_bytes))?)
}

/// PKAWV on a dictionary that KORS samples.
pub(crate) fn nystrom(lambda: f64, mu: f64, seed: u64) -> NystromParams {
    NystromParams::default().lambda(lambda).mu(mu).beta(1.0).epsilon(0.5).seed(seed)
}
