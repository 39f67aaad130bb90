//! A learner named when the program runs.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Kernel;

use crate::{
    AogdAld, Auto, ConKons, Error, Experts, Fogd, KernelAwv, KernelKrr, Kogd, Kons, Krls, Nogd, NonsAld, PkawvFrozen,
    PkawvNystrom, PkawvTaylor, PkrrFrozen, PkrrNystrom, PkrrTaylor, ProsNKons, Regressor, Scratch, SketchedKons,
};

/// Declares the enum of all regression learners and passes every call on.
macro_rules! any_regressor {
    ($($variant:ident($learner:ty),)*) => {
        /// One of the regression learners of this crate, for programs that choose when they run: it clones and serialises.
        #[derive(Clone, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum AnyRegressor<K> {
            $(
                #[doc = concat!("[`", stringify!($variant), "`](crate::", stringify!($variant), ")")]
                $variant(Box<$learner>),
            )*
        }

        $(
            impl<K> From<$learner> for AnyRegressor<K> {
                fn from(learner: $learner) -> Self {
                    Self::$variant(Box::new(learner))
                }
            }
        )*

        impl<K> AnyRegressor<K> {
            /// The names of all learners, as the types are called.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($variant)),*];

            /// The name of this learner's type.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => stringify!($variant),)* }
            }
        }

        impl<K: Kernel + Clone + Send + Validate> Validate for AnyRegressor<K> {
            fn validate(&self) -> Result<(), Inconsistent> {
                match self { $(Self::$variant(learner) => learner.validate(),)* }
            }
        }

        impl<K: Kernel + Clone + Send> Regressor for AnyRegressor<K> {
            fn dimension(&self) -> usize {
                match self { $(Self::$variant(learner) => learner.dimension(),)* }
            }
            fn dictionary_size(&self) -> usize {
                match self { $(Self::$variant(learner) => learner.dictionary_size(),)* }
            }
            fn predict_with(&self, x: &[f64], scratch: &mut Scratch) -> Result<f64, Error> {
                match self { $(Self::$variant(learner) => learner.predict_with(x, scratch),)* }
            }
            fn predict_then_update(&mut self, x: &[f64], y: f64) -> Result<f64, Error> {
                match self { $(Self::$variant(learner) => learner.predict_then_update(x, y),)* }
            }
            fn learn_block(&mut self, xs: &[f64], ys: &[f64], predictions: &mut Vec<f64>) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.learn_block(xs, ys, predictions),)* }
            }
            fn set_threads(&mut self, threads: usize) {
                match self { $(Self::$variant(learner) => learner.set_threads(threads),)* }
            }
        }
    };
}

any_regressor! {
    Kogd(Kogd<K>),
    AogdAld(AogdAld<K>),
    Kons(Kons<K>),
    SketchedKons(SketchedKons<K>),
    NonsAld(NonsAld<K>),
    ProsNKons(ProsNKons<K>),
    ConKons(ConKons<K>),
    Fogd(Fogd),
    Nogd(Nogd<K>),
    Krls(Krls<K>),
    KernelAwv(KernelAwv<K>),
    KernelKrr(KernelKrr<K>),
    PkawvTaylor(PkawvTaylor),
    PkrrTaylor(PkrrTaylor),
    PkawvNystrom(PkawvNystrom<K>),
    PkrrNystrom(PkrrNystrom<K>),
    Experts(Experts<K>),
    Auto(Auto),
    PkawvFrozen(PkawvFrozen<K>),
    PkrrFrozen(PkrrFrozen<K>),
}
