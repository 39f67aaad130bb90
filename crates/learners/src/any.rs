//! A learner named when the program runs, and the list of all learners.
//!
//! A new learner is its file, which ends with its entry for the [catalogue](crate::catalogue), and one line at the end of the list
//! here: the name of the variant, the type, and the entry if there is one (or several, with `|` between, where a
//! type has several names). Files hold the place in the list, so that it grows at its end alone.

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Kernel;

use crate::catalogue::Entry;
use crate::*;
use crate::{auto, filters, gradient, least_squares, margin, multikernel, newton, wrappers};

/// Declares the enum of all regression learners and passes every call on.
macro_rules! learners {
    ($($variant:ident($learner:ty) $(= $($entry:path)|+)?,)*) => {
        /// One of the regression learners of this crate, for programs that choose when they run: it clones and serialises, under its
        /// place in the list, which stays the same whatever learners come.
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
            fn problem(&self) -> Problem {
                match self { $(Self::$variant(learner) => learner.problem(),)* }
            }
            fn dictionary_size(&self) -> usize {
                match self { $(Self::$variant(learner) => learner.dictionary_size(),)* }
            }
            fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.predict_into(x, scratch, scores),)* }
            }
            fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.step(x, target, scores),)* }
            }
            fn variance(&self) -> Option<&dyn Variance> {
                match self { $(Self::$variant(learner) => learner.variance(),)* }
            }
            fn blocks(&mut self) -> Option<&mut dyn Blocks> {
                match self { $(Self::$variant(learner) => learner.blocks(),)* }
            }
            fn reshape(&mut self, growth: Growth) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.reshape(growth),)* }
            }
        }

        /// Of those that can be made before the first row is read.
        pub(crate) static ENTRIES: &[Entry] = &[$($($($entry,)+)?)*];
    };
}

learners! {
    Kogd(Kogd<K>) = gradient::kogd::KOGD,
    AogdAld(AogdAld<K>) = gradient::aogd_ald::AOGD_ALD,
    Kons(Kons<K>) = newton::kons::KONS,
    SketchedKons(SketchedKons<K>) = newton::sketched_kons::SKETCHED_KONS,
    NonsAld(NonsAld<K>) = newton::nons_ald::NONS_ALD,
    ProsNKons(ProsNKons<K>) = newton::pros_n_kons::PROS_N_KONS,
    ConKons(ConKons<K>) = newton::pros_n_kons::CON_KONS,
    Fogd(Fogd) = gradient::fogd::FOGD,
    Nogd(Nogd<K>) = gradient::nogd::NOGD,
    Krls(Krls<K>) = least_squares::krls::KRLS | least_squares::krls::ALD_KRLS,
    KernelAwv(KernelAwv<K>) = least_squares::kernel_ridge::KERNEL_AWV,
    KernelKrr(KernelKrr<K>) = least_squares::kernel_ridge::KERNEL_KRR,
    PkawvTaylor(PkawvTaylor) = least_squares::pkawv_taylor::PKAWV_TAYLOR,
    PkrrTaylor(PkrrTaylor) = least_squares::pkawv_taylor::PKRR_TAYLOR,
    PkawvNystrom(PkawvNystrom<K>) = least_squares::projected_ridge::PKAWV_NYSTROM,
    PkrrNystrom(PkrrNystrom<K>) = least_squares::projected_ridge::PKRR_NYSTROM,
    Mixture(Mixture<AnyRegressor<K>>) = wrappers::mixture::EXPERTS,
    Auto(Auto) = auto::AUTO,
    PkawvFrozen(PkawvFrozen<K>),
    PkrrFrozen(PkrrFrozen<K>),
    Knlms(Knlms<K>) = filters::knlms::KNLMS,
    Qklms(Qklms<K>) = filters::qklms::QKLMS,
    Klms(Klms<K>) = filters::klms::KLMS,
    Kap(Kap<K>) = filters::kap::KAP,
    Norma(Norma<K>) = filters::norma::NORMA,
    FbKlms(FbKlms<K>) = filters::fb_klms::FB_KLMS,
    Lkapa(Lkapa<K>) = filters::lkapa::LKAPA,
    Nlkapa(Nlkapa<K>) = filters::lkapa::NLKAPA,
    KlmsCsl1(KlmsCsl1<K>) = filters::klms_csl1::KLMS_CSL1,
    KlmsCsal1(KlmsCsal1<K>) = filters::klms_csl1::KLMS_CSAL1,
    KapSm(KapSm<K>) = filters::kap_sm::KAP_SM,
    QklmsFb(QklmsFb<K>) = filters::qklms_fb::QKLMS_FB,
    Perceptron(Perceptron<K>) = margin::perceptron::PERCEPTRON,
    Rbp(Rbp<K>) = margin::rbp::RBP,
    Forgetron(Forgetron<K>) = margin::forgetron::FORGETRON,
    Projectron(Projectron<K>) = margin::projectron::PROJECTRON,
    ProjectronPlus(ProjectronPlus<K>) = margin::projectron::PROJECTRON_PLUS,
    BpaS(BpaS<K>) = margin::bpa_s::BPA_S,
    Pa(Pa<K>) = margin::pa::PA,
    Bogd(Bogd<K>) = margin::bogd::BOGD,
    Pegasos(Pegasos<K>) = margin::pegasos::PEGASOS,
    SwKrls(SwKrls<K>) = least_squares::sw_krls::SW_KRLS,
    FbKrls(FbKrls<K>) = least_squares::fb_krls::FB_KRLS,
    KrlsT(KrlsT<K>) = least_squares::krls_t::KRLS_T,
    ExKrls(ExKrls<K>) = least_squares::ex_krls::EX_KRLS,
    MknlmsCs(MknlmsCs<K>) = multikernel::mknlms_cs::MKNLMS_CS,
    Mxklms(Mxklms<K>) = multikernel::mxklms::MXKLMS,
    Restarting(Restarting<AnyRegressor<K>>) = wrappers::restart::RESTART,
    PkrrFixed(PkrrFixed<K>),
    PkawvFixed(PkawvFixed<K>),
}

#[cfg(test)]
mod tests {
    /// Files hold the places: new names come at the end.
    #[test]
    fn names_stay_where_they_were() {
        let before = [
            "Kogd",
            "AogdAld",
            "Kons",
            "SketchedKons",
            "NonsAld",
            "ProsNKons",
            "ConKons",
            "Fogd",
            "Nogd",
            "Krls",
            "KernelAwv",
            "KernelKrr",
            "PkawvTaylor",
            "PkrrTaylor",
            "PkawvNystrom",
            "PkrrNystrom",
            "Mixture",
            "Auto",
            "PkawvFrozen",
            "PkrrFrozen",
            "Knlms",
            "Qklms",
            "Klms",
            "Kap",
            "Norma",
            "FbKlms",
            "Lkapa",
            "Nlkapa",
            "KlmsCsl1",
            "KlmsCsal1",
            "KapSm",
            "QklmsFb",
            "Perceptron",
            "Rbp",
            "Forgetron",
            "Projectron",
            "ProjectronPlus",
            "BpaS",
            "Pa",
            "Bogd",
            "Pegasos",
            "SwKrls",
            "FbKrls",
            "KrlsT",
            "ExKrls",
            "MknlmsCs",
            "Mxklms",
            "Restarting",
            "PkrrFixed",
            "PkawvFixed",
        ];
        assert_eq!(super::AnyRegressor::<()>::NAMES[..before.len()], before);
    }
}
