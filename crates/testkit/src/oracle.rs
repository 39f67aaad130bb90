//! The algorithms, written once more as the dense formulas of the papers, one file an algorithm.
//!
//! Every oracle has the shape `fn name(stream, kernel, parameters) -> Trace` and makes one
//! prequential pass: at round `t` it predicts `y_t` from `x_t`, records the prediction, and only
//! then learns from `(x_t, y_t)`. The loss is `(ŷ − y)²` except for the file of weights and losses,
//! with gradient weight `g = 2(ŷ − y)`. Nothing is kept between rounds but what the paper's
//! recursion itself carries; Gram matrices, bases, inverses and least-squares solutions are rebuilt
//! each time.
//!
//! Where the printed pseudo-code is incomplete or misprinted, the file of the oracle says what was
//! settled.
//!
//! An oracle with an SVD basis is defined only for a dictionary that is numerically independent; it
//! panics otherwise, and checks that the decomposition it was given does rebuild the matrix.

mod aggregation;
mod aogd_ald;
mod budgeted_ridge;
mod dense;
mod ex_krls;
mod fb_klms;
mod filter;
mod fogd;
mod gaussian_process;
mod kap;
mod kap_sm;
mod kernel_ridge;
mod klms;
mod klms_csl1;
mod knlms;
mod kogd;
mod kons;
mod kors;
mod krls_engel;
mod krls_qr;
mod krls_t;
mod krmc;
mod krr;
mod lag_regression;
mod lkapa;
mod margin;
mod nogd;
mod nons_ald;
mod norma;
mod projectron;
mod pros_con;
mod qklms;
mod qklms_fb;
mod several_kernels;
mod sketched_kons;
mod sogd;
mod svd_basis;
mod tokens;
mod watch;
mod weighted;

pub use aggregation::{ada_hedge, ada_hedge_with_gap, boa, boa_rate, ml_poly, scaled_regrets};
pub use aogd_ald::aogd_ald;
pub use budgeted_ridge::{fb_krls, sw_krls};
pub use dense::gram;
pub use ex_krls::{ExKrlsParams, ex_krls};
pub use fb_klms::fb_klms;
pub use fogd::{fogd, fourier_features};
pub use gaussian_process::{Belief, gaussian_process};
pub use kap::{KapParams, kap};
pub use kap_sm::{KapSmParams, kap_sm};
pub use kernel_ridge::{independent, kernel_ridge, projected_ridge};
pub use klms::klms;
pub use klms_csl1::{KlmsCsl1Params, klms_csl1};
pub use knlms::{KnlmsParams, knlms};
pub use kogd::kogd;
pub use kons::kons;
pub use kors::{KorsParams, KorsTrace, kors};
pub use krls_engel::krls_engel;
pub use krls_qr::krls_qr;
pub use krls_t::{KrlsTParams, KrlsTTrace, krls_t};
pub use krmc::{krmc, weighted_by_errors};
pub use krr::{BatchKrr, batch_krr, effective_dimension, leverage_scores};
pub use lag_regression::{
    Features, LagRegressionParams, forgetting, lag_regression, slip_filters, spectral_filters, spectral_gradient,
};
pub use lkapa::{LkapaParams, lkapa};
pub use margin::{MarginRule, margin_classifier};
pub use nogd::{NogdParams, nogd};
pub use nons_ald::{NonsAldParams, nons_ald_svd};
pub use norma::{NormaParams, norma};
pub use projectron::{ProjectronParams, projectron};
pub use pros_con::{ProsConParams, con_kons, pros_n_kons};
pub use qklms::qklms;
pub use qklms_fb::{QklmsFbParams, qklms_fb};
pub use several_kernels::{MknlmsCsParams, mknlms_cs, mxklms};
pub use sketched_kons::{SketchedKonsParams, sketched_kons};
pub use sogd::{DenseOperator, OperatorTest, OperatorTrace, Pair, SogdParams, dense_sogd, sparse_sogd};
pub use tokens::{TokenExample, coin, diagonal_kalman, products};
pub use watch::{RankOptions, bets_on_ranks, newness_parts, tail_share};
pub use weighted::{
    Forgets, FunctionGradient, Steps, WeightedExample, WeightedLeastSquares, WeightedNewton, feature_gradient,
    loss_gradient, newton_coordinates, weighted_kernel_ridge, weighted_kons,
};

/// An input and its target.
pub type Example = (Vec<f64>, f64);

/// A kernel as the oracles take it.
pub type KernelFn<'a> = &'a dyn Fn(&[f64], &[f64]) -> f64;

/// Trace of one prequential pass.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// `ŷ_t` for every round, made before `y_t` was learned from.
    pub predictions: Vec<f64>,
    /// Positions in the stream of the points kept at the end, in the order in which they were kept.
    pub dictionary: Vec<usize>,
}

/// The Gaussian kernel `exp(−‖x − z‖²/2σ²)`.
pub fn gaussian(sigma: f64) -> impl Fn(&[f64], &[f64]) -> f64 {
    move |x, z| {
        let square: f64 = x.iter().zip(z).map(|(a, b)| (a - b) * (a - b)).sum();
        (-square / (2.0 * sigma * sigma)).exp()
    }
}

/// The linear kernel `xᵀz`, for which most of the oracles have a primal form to be checked against.
pub fn linear() -> impl Fn(&[f64], &[f64]) -> f64 {
    |x, z| x.iter().zip(z).map(|(a, b)| a * b).sum()
}

/// `value` moved into `[-limit, limit]`.
fn clip_to(value: f64, limit: f64) -> f64 {
    value.clamp(-limit, limit)
}

#[cfg(test)]
mod agreement;
