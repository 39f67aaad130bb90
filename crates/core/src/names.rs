//! Names of the values of a type.

/// Names the values of an enum: gives it `ALL` in the order of the list, the `name` of each, and
/// the one that is `named` so.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// pub enum Side {
///     Left,
///     Right,
/// }
///
/// mercer_core::names!(pub Side { Left = "left", Right = "right" });
///
/// assert_eq!(Side::named("right"), Some(Side::Right));
/// assert_eq!(Side::ALL.map(Side::name), ["left", "right"]);
/// ```
#[macro_export]
macro_rules! names {
    ($visibility:vis $type:ident { $($value:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// All, in their order.
            $visibility const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// The name of this one.
            #[must_use]
            $visibility fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }

            /// The one of this name.
            #[must_use]
            $visibility fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}
