//! Enums of learners: one of several, chosen when a program runs, that saves as a number and
//! itself.

/// Declares an enum of learners over a kernel `K`: each line is the number under which files hold
/// it, its name and its type.
///
/// ```text
/// /// What it is.
/// pub enum Name<K> {
///     9 Krls(Krls<K>) via on_dictionary,
/// }
/// ```
///
/// The enum is a learner, made of each of its types by `From`, and a [`Member`](crate::Member) of
/// mixtures: those with `via` may share a [dictionary](crate::Sharer). Numbers are for ever. They
/// need not follow each other, so that an enum of some learners reads files of one of more.
#[macro_export]
macro_rules! one_of {
    (
        $(#[$about:meta])*
        $visibility:vis enum $name:ident<$K:ident> {
            $($tag:literal $variant:ident($learner:ty) $(via $share:ident)?,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        $visibility enum $name<$K> {
            $(
                #[doc = concat!("[`", stringify!($variant), "`]")]
                $variant(Box<$learner>),
            )*
        }

        $(
            impl<$K> From<$learner> for $name<$K> {
                fn from(learner: $learner) -> Self {
                    Self::$variant(Box::new(learner))
                }
            }
        )*

        impl<$K: mercer_kernels::Kernel + Clone + Send + mercer_core::Validate> mercer_core::Validate for $name<$K> {
            fn validate(&self) -> Result<(), mercer_core::Inconsistent> {
                match self { $(Self::$variant(learner) => learner.validate(),)* }
            }
        }

        impl<$K: mercer_kernels::Kernel + Clone + Send> $crate::Regressor for $name<$K> {
            fn problem(&self) -> $crate::Problem {
                match self { $(Self::$variant(learner) => learner.problem(),)* }
            }
            fn dictionary_size(&self) -> usize {
                match self { $(Self::$variant(learner) => learner.dictionary_size(),)* }
            }
            fn predict_into(
                &self,
                x: &[f64],
                scratch: &mut $crate::Scratch,
                scores: &mut [f64],
            ) -> Result<(), $crate::Error> {
                match self { $(Self::$variant(learner) => learner.predict_into(x, scratch, scores),)* }
            }
            fn step(
                &mut self,
                x: &[f64],
                target: $crate::Target<'_>,
                scores: &mut [f64],
            ) -> Result<(), $crate::Error> {
                match self { $(Self::$variant(learner) => learner.step(x, target, scores),)* }
            }
            fn variance(&self) -> Option<&dyn $crate::Variance> {
                match self { $(Self::$variant(learner) => learner.variance(),)* }
            }
            fn blocks(&mut self) -> Option<&mut dyn $crate::Blocks> {
                match self { $(Self::$variant(learner) => learner.blocks(),)* }
            }
            fn tokens(&self) -> Option<&dyn $crate::Tokens> {
                match self { $(Self::$variant(learner) => learner.tokens(),)* }
            }
            fn tokens_mut(&mut self) -> Option<&mut dyn $crate::Tokens> {
                match self { $(Self::$variant(learner) => learner.tokens_mut(),)* }
            }
            fn reshape(&mut self, growth: $crate::Growth) -> Result<(), $crate::Error> {
                match self { $(Self::$variant(learner) => learner.reshape(growth),)* }
            }
        }

        impl<$K> $crate::Member for $name<$K> {
            type Group = $crate::Sharing<Self, $K>;
        }

        impl<$K: mercer_kernels::Kernel + Clone + Send> $crate::Sharer for $name<$K> {
            type Kernel = $K;

            fn on_dictionary(self) -> Result<$crate::OnOneDictionary<$K>, Self> {
                match self {
                    $($(Self::$variant(learner) => learner.$share().map_err(Into::into),)?)*
                    other => Err(other),
                }
            }
        }

        #[cfg(feature = "serde")]
        impl<$K: serde::Serialize> serde::Serialize for $name<$K> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(learner) => serializer.serialize_newtype_variant(
                        stringify!($name), $tag, stringify!($variant), learner,
                    ),)*
                }
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, $K: serde::Deserialize<'de>> serde::Deserialize<'de> for $name<$K> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                const NAMES: &[&str] = &[$(stringify!($variant)),*];
                struct Content<$K>(std::marker::PhantomData<$K>);

                impl<'de, $K: serde::Deserialize<'de>> serde::de::Visitor<'de> for Content<$K> {
                    type Value = $name<$K>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("a learner")
                    }

                    fn visit_enum<A: serde::de::EnumAccess<'de>>(self, data: A) -> Result<Self::Value, A::Error> {
                        use serde::de::{Error, VariantAccess};
                        let tags = $crate::Tags { names: NAMES, numbers: &[$($tag),*] };
                        let (tag, content) = data.variant_seed(tags)?;
                        match tag {
                            $($tag => content.newtype_variant().map($name::$variant),)*
                            _ => Err(A::Error::custom("no learner has this number")),
                        }
                    }
                }

                deserializer.deserialize_enum(stringify!($name), NAMES, Content(std::marker::PhantomData))
            }
        }
    };
}

/// Reads which learner of an [enum](one_of) follows, by its name or its number.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Tags {
    /// The names.
    pub names: &'static [&'static str],
    /// Their numbers, in the same order.
    pub numbers: &'static [u32],
}

#[cfg(feature = "serde")]
impl<'de> serde::de::DeserializeSeed<'de> for Tags {
    type Value = u32;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

#[cfg(feature = "serde")]
impl serde::de::Visitor<'_> for Tags {
    type Value = u32;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the name of a learner, or its number")
    }

    fn visit_u64<E: serde::de::Error>(self, tag: u64) -> Result<u32, E> {
        u32::try_from(tag).map_err(|_| E::custom("no learner has this number"))
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<u32, E> {
        let place = self.names.iter().position(|known| *known == name);
        let number = place.and_then(|place| self.numbers.get(place)).copied();
        number.ok_or_else(|| E::unknown_variant(name, self.names))
    }
}
