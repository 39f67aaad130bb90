//! The verdict on a mode, and its reason.

/// What is known about a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reliability {
    /// It can be trusted.
    Reliable,
    /// It is no mode of the system, or its eigenvalue is wrong.
    Unreliable,
    /// The data do not tell.
    Unknown,
}

/// Why a mode has its [`Reliability`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Its correlation at two lags is that of the eigenvalue, on pairs that it was not fitted to,
    /// both halves have its eigenvalue, and the residual held out is small.
    LagsAgree,
    /// Its modulus is several spreads; the pairs form no path on which lags could be tested.
    SpreadAlone,
    /// It is the constant.
    Constant,
    /// The residual of its function is large, and the system is deterministic.
    Residual,
    /// The residual of its function is small, and the system is deterministic.
    SmallResidual,
    /// Its modulus is within three spreads of 0.
    WithinSpread,
    /// Its modulus is above 1 by more than two spreads.
    AboveOne,
    /// Held-out pairs have no correlation at a lag beyond the copies of a window.
    NoCorrelation,
    /// The correlation at two lags falls otherwise than powers of the eigenvalue.
    OtherDecay,
    /// Both halves of the pairs have eigenvalues near it that differ.
    HalvesDiffer,
    /// On held-out pairs its function is not that of a single eigenvalue.
    HeldOutResidual,
    /// Half of the points of a full dictionary have another eigenvalue.
    Unresolved,
    /// It decays faster than so few pairs can measure.
    TooFast,
    /// Windows of several rows, and no path on which lags could be tested.
    NoLags,
    /// The record wanders or has a trend; its time scales are those of the record.
    NotStationary,
    /// The state tells the inputs, so that what the state does alone is not to be told from what
    /// they do.
    InputsFollow,
}

impl Reason {
    /// The reason in a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::LagsAgree => "held-out lags agree",
            Self::SpreadAlone => "by its spread; no lags to test",
            Self::Constant => "the constant",
            Self::Residual => "large residual",
            Self::SmallResidual => "small residual",
            Self::WithinSpread => "within three spreads of 0",
            Self::AboveOne => "above 1",
            Self::NoCorrelation => "no correlation beyond the copies",
            Self::OtherDecay => "lags fall otherwise",
            Self::HalvesDiffer => "halves of the pairs differ",
            Self::HeldOutResidual => "large residual held out",
            Self::Unresolved => "half of the points differ",
            Self::TooFast => "too fast for so few pairs",
            Self::NoLags => "no lags to test",
            Self::NotStationary => "not stationary",
            Self::InputsFollow => "the state tells the inputs",
        }
    }
}
