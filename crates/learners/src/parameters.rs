//! How the parameters of a learner are declared: each once, with all that is said of it.

/// Declares the parameters of a learner, each so:
///
/// ```text
/// /// what it does
/// name: Type = default => "symbol" RANGE.modifier(…),
/// ```
///
/// This gives the field with its documentation, the default, a setter, the [`Key`](crate::entry::Key) by which users set it, how
/// its value is read, and the check of its range. `RANGE` is one of [`words`], or a literal, where the constructor checks. A
/// modifier is a method of `Key`. `=> context outputs` and `=> context seed` are taken from the
/// [`Context`](crate::entry::Context), and a parameter without `=>` is none of the user's.
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
                    $(#[doc = concat!("\n\n`", $symbol, "`, ", $crate::parameters::words!($range), ".")])?
                    $field: $type = $default,
                )*
            }
        }

        impl $crate::entry::Parameters for $name {
            const FIELDS: &'static [$crate::entry::Field<Self>] = &[$(
                $crate::parameters::field!(
                    $name, $field: $type = [$($meaning)+] $(=> $symbol $range $(.$modifier($($argument),*))*)? $(=> context $source)?
                ),
            )*];
            const KEYS: &'static [$crate::entry::Key] =
                &$crate::entry::keys_of::<Self, { $crate::entry::count(Self::FIELDS) }>();
        }
    };
}

/// How one field is set, by the three forms of [`parameters`].
macro_rules! field {
    (
        $name:ident, $field:ident: $type:ty = [$($meaning:literal)+]
            => $symbol:literal $range:tt $(.$modifier:ident($($argument:expr),*))*
    ) => {{
        const RANGE: $crate::entry::Range = $crate::parameters::range!($range);
        const KEY: $crate::entry::Key =
            $crate::entry::Key::of::<$type>([stringify!($field), $symbol, concat!($($meaning),+)], RANGE, || {
                $crate::entry::ParameterType::to_value(&<$name as Default>::default().$field)
            })
            $(.$modifier($($argument),*))*;
        $crate::entry::Field {
            key: Some(KEY),
            read: |params, values, context| values.read(KEY.name, context).map(|value| params.$field = value),
            check: |params| $crate::entry::ParameterType::check(&params.$field, KEY.name, &RANGE),
        }
    }};
    ($name:ident, $field:ident: $type:ty = [$($meaning:literal)+] => context $source:ident) => {
        $crate::entry::Field {
            key: None,
            read: |params, _, context| {
                params.$field = context.$source;
                Ok(())
            },
            check: |params| $crate::parameters::check_context!($source, params.$field),
        }
    };
    ($name:ident, $field:ident: $type:ty = [$($meaning:literal)+]) => {
        $crate::entry::Field { key: None, read: |_, _, _| Ok(()), check: |_| Ok(()) }
    };
}

/// Checks what is taken from the context.
macro_rules! check_context {
    (outputs, $outputs:expr) => {
        mercer_core::ParameterError::at_least_one("outputs", $outputs).map(drop)
    };
    (seed, $seed:expr) => {{
        let _: u64 = $seed;
        Ok(())
    }};
}

/// What a range is called.
macro_rules! words {
    (POSITIVE) => {
        "a number > 0"
    };
    (NOT_NEGATIVE) => {
        "a number ≥ 0"
    };
    (UNIT_INTERVAL) => {
        "a number from 0 to 1"
    };
    (FRACTION) => {
        "a number above 0, at most 1"
    };
    (COUNT) => {
        "a whole number ≥ 1"
    };
    (WHOLE) => {
        "a whole number ≥ 0"
    };
    ($words:literal) => {
        $words
    };
}

/// The [`Range`](crate::entry::Range) of this name, or one of these words that the constructor checks.
macro_rules! range {
    (@ POSITIVE) => { |value| value > 0.0 && value.is_finite() };
    (@ NOT_NEGATIVE) => { |value| value >= 0.0 && value.is_finite() };
    (@ UNIT_INTERVAL) => { |value| (0.0..=1.0).contains(&value) };
    (@ FRACTION) => { |value| value > 0.0 && value <= 1.0 };
    (@ COUNT) => { |value| value >= 1.0 };
    (@ $other:tt) => { |_| true };
    ($range:tt) => {
        $crate::entry::Range {
            words: $crate::parameters::words!($range),
            words_with_none: concat!($crate::parameters::words!($range), ", or none"),
            holds: $crate::parameters::range!(@ $range),
        }
    };
}

pub(crate) use {check_context, field, parameters, range, words};
