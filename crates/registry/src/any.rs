//! A learner named when the program runs, and the list of all learners.
//!
//! A new learner is its file, which ends with its entry, and one line at the end of the list here:
//! the next number, the name of the variant, the type, and the entry if there is one (or several,
//! with `|` between, where a type has several names). Files hold the number, so that no other
//! learner ever has it. This file knows all learners; none knows it.

use mercer_auto::{AUTO, Auto, AutoWithTokens};
use mercer_kernels::AnyKernel;
use mercer_learners::catalogue::{BuildError, Context, Entry, Learner, NEEDS_GAUSSIAN, Value, Values};
use mercer_learners::families::*;
use mercer_learners::{Mixture, PkawvFixed, PkrrFixed, Restarting, Robust, mixture, one_of, restart, robust};

/// Declares the enum of all regression learners, their entries and what makes them.
macro_rules! learners {
    ($($tag:literal $variant:ident($learner:ty) $(via $share:ident)? $(= $($entry:path)|+)?,)*) => {
        one_of! {
            /// One of all regression learners, for programs that choose when they run: it clones
            /// and serialises, under its number in the list, which stays the same whatever learners
            /// come.
            #[non_exhaustive]
            pub enum AnyRegressor<K> {
                $($tag $variant($learner) $(via $share)?,)*
            }
        }

        impl<K> AnyRegressor<K> {
            /// The name of this learner's type.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => stringify!($variant),)* }
            }
        }

        static ENTRIES: &[Entry] = &[$($($($entry.entry,)+)?)*];

        /// The functions that make the learners of the entries, in their order.
        static MAKES: &[Make] = &[$($($(|kernel, context, values, members| {
            $entry.made(kernel, context, values, members).map(Into::into)
        },)+)?)*];
    };
}

type Members<'a> = &'a [(String, AnyRegressor<AnyKernel>)];

type Make = fn(AnyKernel, &Context<'_>, &Values<'_>, Members<'_>) -> Result<AnyRegressor<AnyKernel>, BuildError>;

/// A maker of the learner of an entry, alone or around others.
trait Makes<L> {
    fn made(
        &self,
        kernel: AnyKernel,
        context: &Context<'_>,
        values: &Values<'_>,
        members: Members<'_>,
    ) -> Result<L, BuildError>;
}

impl<L> Makes<L> for Learner<L> {
    fn made(
        &self,
        kernel: AnyKernel,
        context: &Context<'_>,
        values: &Values<'_>,
        _: Members<'_>,
    ) -> Result<L, BuildError> {
        (self.make)(kernel, context, values)
    }
}

/// A learner around others.
struct Wrapper<L> {
    entry: Entry,
    make: fn(&Context<'_>, &Values<'_>, Members<'_>) -> Result<L, BuildError>,
}

impl<L> Makes<L> for Wrapper<L> {
    fn made(
        &self,
        _: AnyKernel,
        context: &Context<'_>,
        values: &Values<'_>,
        members: Members<'_>,
    ) -> Result<L, BuildError> {
        (self.make)(context, values, members)
    }
}

/// `auto`, with members for the tokens of rows that have some.
struct AutoMaker {
    entry: Entry,
}

impl Makes<AnyRegressor<AnyKernel>> for AutoMaker {
    fn made(
        &self,
        kernel: AnyKernel,
        context: &Context<'_>,
        values: &Values<'_>,
        _: Members<'_>,
    ) -> Result<AnyRegressor<AnyKernel>, BuildError> {
        if context.tokens {
            let make = if context.classes { AutoWithTokens::of_classes } else { AutoWithTokens::new };
            return Ok(make(context.dimension, values.parameters(context)?)?.into());
        }
        (AUTO.make)(kernel, context, values).map(Into::into)
    }
}

const AUTO_MAKER: AutoMaker = AutoMaker { entry: AUTO.entry };

const EXPERTS: Wrapper<Mixture<AnyRegressor<AnyKernel>>> = Wrapper { entry: mixture::EXPERTS, make: mixture::mixture };

const RESTART: Wrapper<Restarting<AnyRegressor<AnyKernel>>> =
    Wrapper { entry: restart::RESTART, make: restart::restarting };

const ROBUST: Wrapper<Robust<AnyRegressor<AnyKernel>>> = Wrapper { entry: robust::ROBUST, make: robust::robust };

/// All learners that can be made before the first row is read, in the order of their tags in
/// [`AnyRegressor`]; those on a frozen dictionary cannot.
#[must_use]
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

/// The learner of an entry, untrained, for values of all its keys; around `members`, untrained,
/// with their names, where it is a learner of learners.
///
/// # Errors
/// When a value is out of its range, or the learner cannot use the kernel or learn such targets.
pub fn build(
    entry: &Entry,
    kernel: AnyKernel,
    context: &Context<'_>,
    values: &Values<'_>,
    members: &[(String, AnyRegressor<AnyKernel>)],
) -> Result<AnyRegressor<AnyKernel>, BuildError> {
    entry.check_targets(context)?;
    if entry.gaussian && !matches!(kernel, AnyKernel::Gaussian(_)) {
        return Err(BuildError::Kernel(NEEDS_GAUSSIAN));
    }
    let place = ENTRIES.iter().position(|listed| listed.name == entry.name);
    let make = place.and_then(|place| MAKES.get(place)).ok_or(BuildError::NoSuchKey("name"))?;
    make(kernel, context, values, members)
}

/// A learner made of settings, and what they came to.
#[derive(Clone, Debug)]
pub struct Built {
    /// The learner.
    pub learner: AnyRegressor<AnyKernel>,
    /// Every key with its value, in the entry's order.
    pub parameters: Vec<(&'static str, Value)>,
}

learners! {
    0 Kogd(Kogd<K>) = KOGD,
    1 AogdAld(AogdAld<K>) via on_dictionary = AOGD_ALD,
    2 Kons(Kons<K>) = KONS,
    3 SketchedKons(SketchedKons<K>) = SKETCHED_KONS,
    4 NonsAld(NonsAld<K>) via on_dictionary = NONS_ALD,
    5 ProsNKons(ProsNKons<K>) = PROS_N_KONS,
    6 ConKons(ConKons<K>) = CON_KONS,
    7 Fogd(Fogd) = FOGD,
    8 Nogd(Nogd<K>) = NOGD,
    9 Krls(Krls<K>) via on_dictionary = KRLS | ALD_KRLS,
    10 KernelAwv(KernelAwv<K>) = KERNEL_AWV,
    11 KernelKrr(KernelKrr<K>) = KERNEL_KRR,
    12 PkawvTaylor(PkawvTaylor) = PKAWV_TAYLOR,
    13 PkrrTaylor(PkrrTaylor) = PKRR_TAYLOR,
    14 PkawvNystrom(PkawvNystrom<K>) = PKAWV_NYSTROM,
    15 PkrrNystrom(PkrrNystrom<K>) = PKRR_NYSTROM,
    16 Mixture(Mixture<AnyRegressor<K>>) = EXPERTS,
    17 Auto(Auto) = AUTO_MAKER,
    18 PkawvFrozen(PkawvFrozen<K>),
    19 PkrrFrozen(PkrrFrozen<K>),
    20 Knlms(Knlms<K>) = KNLMS,
    21 Qklms(Qklms<K>) = QKLMS,
    22 Klms(Klms<K>) = KLMS,
    23 Kap(Kap<K>) = KAP,
    24 Norma(Norma<K>) = NORMA,
    25 FbKlms(FbKlms<K>) = FB_KLMS,
    26 Lkapa(Lkapa<K>) = LKAPA,
    27 Nlkapa(Nlkapa<K>) = NLKAPA,
    28 KlmsCsl1(KlmsCsl1<K>) = KLMS_CSL1,
    29 KlmsCsal1(KlmsCsal1<K>) = KLMS_CSAL1,
    30 KapSm(KapSm<K>) = KAP_SM,
    31 QklmsFb(QklmsFb<K>) = QKLMS_FB,
    32 Perceptron(Perceptron<K>) = PERCEPTRON,
    33 Rbp(Rbp<K>) = RBP,
    34 Forgetron(Forgetron<K>) = FORGETRON,
    35 Projectron(Projectron<K>) = PROJECTRON,
    36 ProjectronPlus(ProjectronPlus<K>) = PROJECTRON_PLUS,
    37 BpaS(BpaS<K>) = BPA_S,
    38 Pa(Pa<K>) = PA,
    39 Bogd(Bogd<K>) = BOGD,
    40 Pegasos(Pegasos<K>) = PEGASOS,
    41 SwKrls(SwKrls<K>) = SW_KRLS,
    42 FbKrls(FbKrls<K>) = FB_KRLS,
    43 KrlsT(KrlsT<K>) = KRLS_T,
    44 ExKrls(ExKrls<K>) = EX_KRLS,
    45 MknlmsCs(MknlmsCs<K>) = MKNLMS_CS,
    46 Mxklms(Mxklms<K>) = MXKLMS,
    47 Restarting(Restarting<AnyRegressor<K>>) = RESTART,
    48 PkrrFixed(PkrrFixed<K>),
    49 PkawvFixed(PkawvFixed<K>),
    50 Krmc(Krmc<K>) = KRMC,
    51 Robust(Robust<AnyRegressor<K>>) = ROBUST,
    52 Coin(Coin) = COIN,
    53 DiagonalKalman(DiagonalKalman) = DIAGONAL_KALMAN,
    54 Pairs(Pairs) = PAIRS,
    55 AutoWithTokens(AutoWithTokens),
}

#[cfg(test)]
mod tests {
    use mercer_learners::RegressorExt;

    use super::*;
    use crate::trial;

    #[test]
    fn entries_are_whole() {
        for entry in entries() {
            for text in [entry.name, entry.summary, entry.source, entry.advice, entry.start] {
                assert!(!text.is_empty(), "{}", entry.name);
            }
            let named = |key: Option<&str>| key.is_none_or(|name| entry.key(name).is_some());
            assert!(named(entry.bound), "{}: the key that bounds predictions is a key", entry.name);
            assert!(!entry.memory.grows() || entry.growth.is_some(), "{}: growth has a reason", entry.name);
            assert_eq!(entry.takes.losses[0], if entry.takes.numbers() { "squared" } else { "hinge" });
            assert_eq!(entry.takes.losses.len() > 1, entry.key("loss").is_some(), "{}", entry.name);
        }
    }

    #[test]
    fn least_numbers_by_hand() {
        let least = |name: &str| entries().iter().find(|entry| entry.name == name).unwrap().least_numbers(100, 3);
        assert_eq!((least("kogd"), least("kons"), least("sketched-kons")), (300.0, 5300.0, 300.0));
        assert_eq!((least("pkawv-nystrom"), least("fogd"), least("experts")), (300.0, 0.0, 0.0));
    }

    /// Targets that an entry says it takes make a learner with as many outputs.
    #[test]
    fn targets_are_taken_as_told() {
        for entry in entries() {
            for (classes, outputs) in [(false, 1), (false, 3), (true, 1), (true, 3)] {
                let kernel = AnyKernel::Gaussian(mercer_kernels::Gaussian::new(0.7).unwrap());
                let context = Context { dimension: 2, outputs, classes, ..Context::default() };
                let several = if classes { entry.takes.many_classes } else { entry.takes.vectors };
                match trial::built(entry, kernel, &context) {
                    Ok(learner) => {
                        assert_eq!(learner.outputs(), outputs, "{}", entry.name);
                        assert!(entry.takes.loss(learner.loss()), "{}", entry.name);
                        assert!(outputs == 1 || several, "{}", entry.name);
                    }
                    Err(error) => {
                        let refused = matches!(error, BuildError::Outputs { outputs: 3, .. });
                        assert!(refused && outputs > 1 && !several, "{}: {error}", entry.name);
                    }
                }
            }
        }
    }
}
