//! A learner named when the program runs, and the list of all learners.
//!
//! A new learner is its file, which ends with its entry for the [catalogue](crate::catalogue), and one line here: a tag, which files
//! hold and which therefore never changes, the name of the variant, the type, and the entry if there is one (or several, with `|` between, where a
//! type has several names).

use mercer_core::{Inconsistent, Validate};
use mercer_kernels::Kernel;

use crate::catalogue::Entry;
use crate::learner::{Rows, Target};
use crate::loss::Loss;
use crate::*;
use crate::{auto, coefficients, every_point, mixture, regression, restart};

/// Declares the enum of all regression learners and passes every call on.
macro_rules! learners {
    ($($tag:literal => $variant:ident($learner:ty) $(= $($entry:path)|+)?,)*) => {
        /// One of the regression learners of this crate, for programs that choose when they run: it clones and serialises, under a
        /// tag that stays the same whatever learners come or go.
        #[derive(Clone, Debug)]
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

            /// The number that stands for this learner's type in files.
            #[must_use]
            pub fn tag(&self) -> u32 {
                match self { $(Self::$variant(_) => $tag,)* }
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
            fn outputs(&self) -> usize {
                match self { $(Self::$variant(learner) => learner.outputs(),)* }
            }
            fn loss(&self) -> Loss {
                match self { $(Self::$variant(learner) => learner.loss(),)* }
            }
            fn predict_into(&self, x: &[f64], scratch: &mut Scratch, scores: &mut [f64]) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.predict_into(x, scratch, scores),)* }
            }
            fn has_variance(&self) -> bool {
                match self { $(Self::$variant(learner) => learner.has_variance(),)* }
            }
            fn noise(&self, output: usize) -> Option<f64> {
                match self { $(Self::$variant(learner) => learner.noise(output),)* }
            }
            fn predict_variance_into(
                &self,
                x: &[f64],
                scratch: &mut Scratch,
                scores: &mut [f64],
                variances: &mut [f64],
            ) -> Result<bool, Error> {
                match self { $(Self::$variant(learner) => learner.predict_variance_into(x, scratch, scores, variances),)* }
            }
            fn step(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.step(x, target, scores),)* }
            }
            fn learn(&mut self, x: &[f64], target: Target<'_>, scores: &mut [f64]) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.learn(x, target, scores),)* }
            }
            fn learn_rows(&mut self, rows: Rows<'_>, scores: &mut Vec<f64>) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.learn_rows(rows, scores),)* }
            }
            fn grow(&mut self, added: usize) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.grow(added),)* }
            }
            fn add_output(&mut self, like: Option<usize>) -> Result<(), Error> {
                match self { $(Self::$variant(learner) => learner.add_output(like),)* }
            }
            fn set_threads(&mut self, threads: usize) {
                match self { $(Self::$variant(learner) => learner.set_threads(threads),)* }
            }
        }

        /// Of those that can be made before the first row is read.
        pub(crate) static ENTRIES: &[Entry] = &[$($($($entry,)+)?)*];

        #[cfg(feature = "serde")]
        mod tagged {
            use std::fmt;
            use std::marker::PhantomData;

            use serde::de::{Deserialize, Deserializer, EnumAccess, Error, Unexpected, VariantAccess, Visitor};
            use serde::ser::{Serialize, Serializer};

            use super::*;

            const NAME: &str = "AnyRegressor";

            impl<K: Serialize> Serialize for AnyRegressor<K> {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self {
                        $(Self::$variant(learner) => {
                            serializer.serialize_newtype_variant(NAME, $tag, stringify!($variant), learner)
                        })*
                    }
                }
            }

            impl<'de, K: Deserialize<'de>> Deserialize<'de> for AnyRegressor<K> {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserializer.deserialize_enum(NAME, AnyRegressor::<K>::NAMES, Learner(PhantomData))
                }
            }

            /// Which variant comes.
            enum Tag {
                $($variant,)*
            }

            impl<'de> Deserialize<'de> for Tag {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserializer.deserialize_identifier(TagVisitor)
                }
            }

            struct TagVisitor;

            impl Visitor<'_> for TagVisitor {
                type Value = Tag;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("the tag or the name of a learner")
                }

                fn visit_u64<E: Error>(self, tag: u64) -> Result<Tag, E> {
                    match tag {
                        $($tag => Ok(Tag::$variant),)*
                        _ => Err(E::invalid_value(Unexpected::Unsigned(tag), &self)),
                    }
                }

                fn visit_str<E: Error>(self, name: &str) -> Result<Tag, E> {
                    match name {
                        $(stringify!($variant) => Ok(Tag::$variant),)*
                        _ => Err(E::unknown_variant(name, AnyRegressor::<()>::NAMES)),
                    }
                }
            }

            struct Learner<K>(PhantomData<K>);

            impl<'de, K: Deserialize<'de>> Visitor<'de> for Learner<K> {
                type Value = AnyRegressor<K>;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("a learner")
                }

                fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Self::Value, A::Error> {
                    let (tag, learner) = data.variant()?;
                    match tag {
                        $(Tag::$variant => learner.newtype_variant().map(AnyRegressor::$variant),)*
                    }
                }
            }
        }

        #[cfg(test)]
        mod tests {
            /// Names that files may hold, with their tags.
            #[test]
            fn tags_stay_what_they_were() {
                let tags = [$(($tag, stringify!($variant))),*];
                let before = [
                    (0, "Kogd"), (1, "AogdAld"), (2, "Kons"), (3, "SketchedKons"), (4, "NonsAld"), (5, "ProsNKons"),
                    (6, "ConKons"), (7, "Fogd"), (8, "Nogd"), (9, "Krls"), (10, "KernelAwv"), (11, "KernelKrr"),
                    (12, "PkawvTaylor"), (13, "PkrrTaylor"), (14, "PkawvNystrom"), (15, "PkrrNystrom"), (16, "Mixture"),
                    (17, "Auto"), (18, "PkawvFrozen"), (19, "PkrrFrozen"), (20, "Knlms"), (21, "Qklms"),
                    (22, "Klms"), (23, "Kap"), (24, "Norma"), (25, "FbKlms"), (26, "Lkapa"),
                    (27, "Nlkapa"), (28, "KlmsCsl1"), (29, "KlmsCsal1"), (30, "KapSm"), (31, "QklmsFb"),
                    (32, "Perceptron"), (33, "Rbp"), (34, "Forgetron"), (35, "Projectron"), (36, "ProjectronPlus"),
                    (37, "BpaS"), (38, "Pa"), (39, "Bogd"), (40, "Pegasos"), (41, "SwKrls"),
                    (42, "FbKrls"), (43, "KrlsT"), (44, "ExKrls"), (45, "MknlmsCs"), (46, "Mxklms"),
                    (47, "Restarting"), (48, "PkrrFixed"), (49, "PkawvFixed"),
                ];
                for old in before {
                    assert!(tags.contains(&old), "{old:?} is gone or has another tag");
                }
                for (i, (tag, name)) in tags.iter().enumerate() {
                    assert!(tags[..i].iter().all(|(other, _)| other != tag), "{name}: its tag is taken");
                }
            }
        }
    };
}

learners! {
    0 => Kogd(Kogd<K>) = regression::kogd::KOGD,
    1 => AogdAld(AogdAld<K>) = regression::aogd_ald::AOGD_ALD,
    2 => Kons(Kons<K>) = regression::kons::KONS,
    3 => SketchedKons(SketchedKons<K>) = regression::sketched_kons::SKETCHED_KONS,
    4 => NonsAld(NonsAld<K>) = regression::nons_ald::NONS_ALD,
    5 => ProsNKons(ProsNKons<K>) = regression::pros_n_kons::PROS_N_KONS,
    6 => ConKons(ConKons<K>) = regression::pros_n_kons::CON_KONS,
    7 => Fogd(Fogd) = regression::fogd::FOGD,
    8 => Nogd(Nogd<K>) = regression::nogd::NOGD,
    9 => Krls(Krls<K>) = regression::krls::KRLS | regression::krls::ALD_KRLS,
    10 => KernelAwv(KernelAwv<K>) = every_point::kernel_ridge::KERNEL_AWV,
    11 => KernelKrr(KernelKrr<K>) = every_point::kernel_ridge::KERNEL_KRR,
    12 => PkawvTaylor(PkawvTaylor) = regression::pkawv_taylor::PKAWV_TAYLOR,
    13 => PkrrTaylor(PkrrTaylor) = regression::pkawv_taylor::PKRR_TAYLOR,
    14 => PkawvNystrom(PkawvNystrom<K>) = every_point::projected_ridge::PKAWV_NYSTROM,
    15 => PkrrNystrom(PkrrNystrom<K>) = every_point::projected_ridge::PKRR_NYSTROM,
    16 => Mixture(Mixture<AnyRegressor<K>>) = mixture::EXPERTS,
    17 => Auto(Auto) = auto::AUTO,
    18 => PkawvFrozen(PkawvFrozen<K>),
    19 => PkrrFrozen(PkrrFrozen<K>),
    20 => Knlms(Knlms<K>) = coefficients::knlms::KNLMS,
    21 => Qklms(Qklms<K>) = coefficients::qklms::QKLMS,
    22 => Klms(Klms<K>) = coefficients::klms::KLMS,
    23 => Kap(Kap<K>) = coefficients::kap::KAP,
    24 => Norma(Norma<K>) = coefficients::norma::NORMA,
    25 => FbKlms(FbKlms<K>) = coefficients::fb_klms::FB_KLMS,
    26 => Lkapa(Lkapa<K>) = coefficients::lkapa::LKAPA,
    27 => Nlkapa(Nlkapa<K>) = coefficients::lkapa::NLKAPA,
    28 => KlmsCsl1(KlmsCsl1<K>) = coefficients::klms_csl1::KLMS_CSL1,
    29 => KlmsCsal1(KlmsCsal1<K>) = coefficients::klms_csl1::KLMS_CSAL1,
    30 => KapSm(KapSm<K>) = coefficients::kap_sm::KAP_SM,
    31 => QklmsFb(QklmsFb<K>) = coefficients::qklms_fb::QKLMS_FB,
    32 => Perceptron(Perceptron<K>) = coefficients::margin::perceptron::PERCEPTRON,
    33 => Rbp(Rbp<K>) = coefficients::margin::rbp::RBP,
    34 => Forgetron(Forgetron<K>) = coefficients::margin::forgetron::FORGETRON,
    35 => Projectron(Projectron<K>) = regression::projectron::PROJECTRON,
    36 => ProjectronPlus(ProjectronPlus<K>) = regression::projectron::PROJECTRON_PLUS,
    37 => BpaS(BpaS<K>) = coefficients::margin::bpa_s::BPA_S,
    38 => Pa(Pa<K>) = coefficients::margin::pa::PA,
    39 => Bogd(Bogd<K>) = coefficients::margin::bogd::BOGD,
    40 => Pegasos(Pegasos<K>) = coefficients::margin::pegasos::PEGASOS,
    41 => SwKrls(SwKrls<K>) = regression::sw_krls::SW_KRLS,
    42 => FbKrls(FbKrls<K>) = regression::fb_krls::FB_KRLS,
    43 => KrlsT(KrlsT<K>) = regression::krls_t::KRLS_T,
    44 => ExKrls(ExKrls<K>) = coefficients::ex_krls::EX_KRLS,
    45 => MknlmsCs(MknlmsCs<K>) = coefficients::several_kernels::mknlms_cs::MKNLMS_CS,
    46 => Mxklms(Mxklms<K>) = coefficients::several_kernels::mxklms::MXKLMS,
    47 => Restarting(Restarting<AnyRegressor<K>>) = restart::RESTART,
    48 => PkrrFixed(PkrrFixed<K>),
    49 => PkawvFixed(PkawvFixed<K>),
}
