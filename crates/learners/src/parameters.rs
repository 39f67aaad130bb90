//! Declarations of the parameters of a learner: each once, with all that is said of it.

/// Declares the parameters of a learner, each so:
///
/// ```text
/// /// what it does
/// name: Type = default => "symbol" RANGE.modifier(…),
/// ```
///
/// This gives the field with its documentation, the default, a setter, the
/// [`Key`](crate::entry::Key) by which users set it, how its value is read, and the check of its
/// range. `RANGE` is one of those named below, or a literal, where the constructor checks. A
/// modifier is a method of `Key`. `=> context outputs` and `=> context seed` are taken from the
/// [`Context`](crate::entry::Context), and a parameter without `=>` is none of the user's.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $meaning:literal])+
                $field:ident: $type:ty = $default:expr
                    $(=> $symbol:literal $range:tt $(.$modifier:ident($($argument:expr),* $(,)?))*)?
                    $(=> context $source:ident)?,
            )*
        }
    ) => {
        mercer_core::parameters! {
            $(#[$about])*
            pub struct $name {
                $(
                    $(#[doc = $meaning])+
                    $(#[doc = concat!("\n\n`", $symbol, "`, ", $crate::__parameter!(@words $range), ".")])?
                    $field: $type = $default,
                )*
            }
        }

        impl $crate::catalogue::Parameters for $name {
            const FIELDS: &'static [$crate::catalogue::Field<Self>] = &[$(
                $crate::__parameter!(
                    @field $name, $field: $type = [$($meaning)+] $(=> $symbol $range $(.$modifier($($argument),*))*)? $(=> context $source)?
                ),
            )*];
            const KEYS: &'static [$crate::catalogue::Key] =
                &$crate::catalogue::keys_of::<Self, { $crate::catalogue::count(Self::FIELDS) }>();
        }
    };
}

/// The parts of [`parameters`].
#[doc(hidden)]
#[macro_export]
macro_rules! __parameter {
    // How one field is set, by the three forms.
    (
        @field $name:ident, $field:ident: $type:ty = [$($meaning:literal)+]
            => $symbol:literal $range:tt $(.$modifier:ident($($argument:expr),*))*
    ) => {{
        const RANGE: $crate::catalogue::Range = $crate::__parameter!(@range $range);
        const KEY: $crate::catalogue::Key =
            $crate::catalogue::Key::for_parameter::<$type>(
                [stringify!($field), $symbol, concat!($($meaning),+)],
                RANGE,
                || $crate::catalogue::ParameterType::to_value(&<$name as Default>::default().$field),
            )
            $(.$modifier($($argument),*))*;
        $crate::catalogue::Field {
            key: Some(KEY),
            read: |params, values, context| values.read(KEY.name, context).map(|value| params.$field = value),
            check: |params| $crate::catalogue::ParameterType::check(&params.$field, KEY.name, &RANGE),
        }
    }};
    (@field $name:ident, $field:ident: $type:ty = [$($meaning:literal)+] => context $source:ident) => {
        $crate::catalogue::Field {
            key: None,
            read: |params, _, context| {
                params.$field = context.$source;
                Ok(())
            },
            check: |params| $crate::__parameter!(@context $source, params.$field),
        }
    };
    (@field $name:ident, $field:ident: $type:ty = [$($meaning:literal)+]) => {
        $crate::catalogue::Field { key: None, read: |_, _, _| Ok(()), check: |_| Ok(()) }
    };
    // Checks what is taken from the context.
    (@context outputs, $outputs:expr) => {
        mercer_core::ParameterError::at_least_one("outputs", $outputs).map(drop)
    };
    (@context seed, $seed:expr) => {{
        let _: u64 = $seed;
        Ok(())
    }};
    // What a range is called.
    (@words POSITIVE) => { "a number > 0" };
    (@words NOT_NEGATIVE) => { "a number ≥ 0" };
    (@words UNIT_INTERVAL) => { "a number from 0 to 1" };
    (@words FRACTION) => { "a number above 0, at most 1" };
    (@words COUNT) => { "a whole number ≥ 1" };
    (@words WHOLE) => { "a whole number ≥ 0" };
    (@words $words:literal) => { $words };
    (@holds POSITIVE) => { |value| value > 0.0 && value.is_finite() };
    (@holds NOT_NEGATIVE) => { |value| value >= 0.0 && value.is_finite() };
    (@holds UNIT_INTERVAL) => { |value| (0.0..=1.0).contains(&value) };
    (@holds FRACTION) => { |value| value > 0.0 && value <= 1.0 };
    (@holds COUNT) => { |value| value >= 1.0 };
    (@holds $other:tt) => { |_| true };
    // The range of this name, or one of these words that the constructor checks.
    (@range $range:tt) => {
        $crate::catalogue::Range {
            words: $crate::__parameter!(@words $range),
            words_with_none: concat!($crate::__parameter!(@words $range), ", or none"),
            holds: $crate::__parameter!(@holds $range),
        }
    };
}

pub(crate) use parameters;
