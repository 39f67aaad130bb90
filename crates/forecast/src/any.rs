//! A forecaster named when the program runs.

use mercer_core::{Inconsistent, Validate};

use crate::Error;
use crate::{
    Discounted, Epoch, ForecastMixture, ForecastScratch, Forecaster, GuardedForecaster, KalmanPredictor, LastValue,
    LinearExtrapolation, Opf, ScaledForecaster, Seasons, Slip, SpectralFilter, WindowedSlip,
};

/// Declares the enum of all forecasters and passes every call on.
macro_rules! any_forecaster {
    ($($variant:ident($forecaster:ident $(<$inner:ident>)?),)*) => {
        /// One of the forecasters of this module, for programs that choose when they run: it clones
        /// and serialises.
        #[derive(Clone, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum AnyForecaster {
            $(
                #[doc = concat!("[`", stringify!($forecaster), "`](crate::", stringify!($forecaster), ")")]
                $variant(Box<$forecaster $(<$inner>)?>),
            )*
        }

        $(
            impl From<$forecaster $(<$inner>)?> for AnyForecaster {
                fn from(forecaster: $forecaster $(<$inner>)?) -> Self {
                    Self::$variant(Box::new(forecaster))
                }
            }
        )*

        impl AnyForecaster {
            /// The names of all forecasters, as the variants are called.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($variant)),*];

            /// The season mixtures, if it is made of them.
            #[must_use]
            pub fn seasons(&self) -> Option<&Seasons> {
                if let Self::Seasons(seasons) = self { Some(seasons) } else { None }
            }

            /// Values that were taken for wrong and counted as missing, by the forecasters that do
            /// so.
            #[must_use]
            pub fn held(&self) -> u64 {
                match self {
                    Self::Seasons(seasons) => seasons.held(),
                    Self::Guarded(guarded) => guarded.held(),
                    _ => 0,
                }
            }

            /// Times that an output left its level for another one, by the forecasters that follow.
            #[must_use]
            pub fn shifts(&self) -> u64 {
                if let Self::Seasons(seasons) = self { seasons.shifts() } else { 0 }
            }

            /// True if the output has had a value, as far as the forecaster knows.
            #[must_use]
            pub fn has_value(&self, output: usize) -> bool {
                match self {
                    Self::Seasons(seasons) => seasons.mixture(output).is_begun(),
                    Self::Guarded(guarded) => guarded.has_value(output),
                    _ => true,
                }
            }

            /// The name of this forecaster's variant.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => stringify!($variant),)* }
            }
        }

        impl Validate for AnyForecaster {
            fn validate(&self) -> Result<(), Inconsistent> {
                match self { $(Self::$variant(forecaster) => forecaster.validate(),)* }
            }
        }

        impl Forecaster for AnyForecaster {
            fn outputs(&self) -> usize {
                match self { $(Self::$variant(forecaster) => forecaster.outputs(),)* }
            }
            fn inputs(&self) -> usize {
                match self { $(Self::$variant(forecaster) => forecaster.inputs(),)* }
            }
            fn feed_through(&self) -> bool {
                match self { $(Self::$variant(forecaster) => forecaster.feed_through(),)* }
            }
            fn time(&self) -> usize {
                match self { $(Self::$variant(forecaster) => forecaster.time(),)* }
            }
            fn warmed_up(&self) -> bool {
                match self { $(Self::$variant(forecaster) => forecaster.warmed_up(),)* }
            }
            fn lags(&self) -> usize {
                match self { $(Self::$variant(forecaster) => forecaster.lags(),)* }
            }
            fn epochs(&self) -> &[Epoch] {
                match self { $(Self::$variant(forecaster) => forecaster.epochs(),)* }
            }
            fn predict_with(&self, input: &[f64], prediction: &mut [f64], scratch: &mut ForecastScratch) -> Result<(), Error> {
                match self { $(Self::$variant(forecaster) => forecaster.predict_with(input, prediction, scratch),)* }
            }
            fn predict_then_observe(
                &mut self,
                input: &[f64],
                output: &[f64],
                prediction: &mut [f64],
            ) -> Result<(), Error> {
                match self {
                    $(Self::$variant(forecaster) => forecaster.predict_then_observe(input, output, prediction),)*
                }
            }
            fn forecast(&self, steps: usize, inputs: &[f64]) -> Result<Vec<f64>, Error> {
                match self { $(Self::$variant(forecaster) => forecaster.forecast(steps, inputs),)* }
            }
            fn boxed(&self) -> Box<dyn Forecaster> {
                match self { $(Self::$variant(forecaster) => forecaster.boxed(),)* }
            }
        }
    };
}

any_forecaster! {
    Opf(Opf),
    Discounted(Discounted),
    Slip(Slip),
    WindowedSlip(WindowedSlip),
    SpectralFilter(SpectralFilter),
    KalmanPredictor(KalmanPredictor),
    LastValue(LastValue),
    LinearExtrapolation(LinearExtrapolation),
    // Saved forecasters and the command's results hold the names of the variants, which therefore
    // stay.
    Experts(ForecastMixture<AnyForecaster>),
    Scaled(ScaledForecaster<AnyForecaster>),
    Seasons(Seasons),
    Guarded(GuardedForecaster<AnyForecaster>),
}

impl From<ForecastMixture<Opf>> for AnyForecaster {
    fn from(mixture: ForecastMixture<Opf>) -> Self {
        mixture.map(Self::from).into()
    }
}
