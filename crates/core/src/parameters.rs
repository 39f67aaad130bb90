//! Declarations of the parameters of learners.

/// Declares a struct of parameters: its fields with their defaults, and for each a method of the
/// same name that sets it.
///
/// The struct is `#[non_exhaustive]`, so that a parameter can be added without breaking anyone:
/// others begin with `default()` and set what they want. The crate that declares it has a feature
/// `serde`, under which the struct can be saved.
///
/// ```
/// mercer_core::parameters! {
///     /// Parameters of a step.
///     pub struct StepParams {
///         /// `η > 0`
///         rate: f64 = 0.1,
///     }
/// }
///
/// assert_eq!(StepParams::default().rate(0.5).rate, 0.5);
/// ```
#[macro_export]
macro_rules! parameters {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $(
                $(#[$field_about:meta])*
                $field:ident: $type:ty = $default:expr,
            )*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub struct $name {
            $(
                $(#[$field_about])*
                #[doc = concat!("\n\nBy default `", stringify!($default), "`.")]
                pub $field: $type,
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl $name {
            $(
                #[doc = concat!("The same with another [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(self, $field: $type) -> Self {
                    Self { $field, ..self }
                }
            )*
        }
    };
}
