//! Numbers in JSON that read back bit for bit, those that JSON does not have included.
//!
//! JSON knows no NaN and no infinity, which a diverged run has; they become the words `"NaN"`,
//! `"inf"` and `"-inf"`. For `#[serde(with = "mercer_plots::exact")]` on a field that is an `f64`,
//! or vectors, pairs or options of them.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number as it stands in JSON.
#[derive(Clone, Copy, Debug)]
pub struct Exact(f64);

/// Values made of numbers alone.
pub trait Numbers: Sized {
    /// The same with each number as [`Exact`].
    type Written: Serialize + for<'de> Deserialize<'de>;
    /// As it is written.
    fn written(&self) -> Self::Written;
    /// As it was before it was written.
    fn read(written: Self::Written) -> Self;
}

impl Numbers for f64 {
    type Written = Exact;
    /// As it is written.
    fn written(&self) -> Exact {
        Exact(*self)
    }
    fn read(written: Exact) -> Self {
        written.0
    }
}

impl<N: Numbers> Numbers for Vec<N> {
    type Written = Vec<N::Written>;
    /// As it is written.
    fn written(&self) -> Self::Written {
        self.iter().map(N::written).collect()
    }
    fn read(written: Self::Written) -> Self {
        written.into_iter().map(N::read).collect()
    }
}

impl<N: Numbers> Numbers for Option<N> {
    type Written = Option<N::Written>;
    /// As it is written.
    fn written(&self) -> Self::Written {
        self.as_ref().map(N::written)
    }
    fn read(written: Self::Written) -> Self {
        written.map(N::read)
    }
}

impl<A: Numbers, B: Numbers> Numbers for (A, B) {
    type Written = (A::Written, B::Written);
    /// As it is written.
    fn written(&self) -> Self::Written {
        (self.0.written(), self.1.written())
    }
    fn read(written: Self::Written) -> Self {
        (A::read(written.0), B::read(written.1))
    }
}

/// Writes the numbers.
///
/// # Errors
/// Those of the serialiser.
pub fn serialize<N: Numbers, S: Serializer>(numbers: &N, serializer: S) -> Result<S::Ok, S::Error> {
    numbers.written().serialize(serializer)
}

/// Reads them back.
///
/// # Errors
/// Those of the deserialiser, and a word that is no number.
pub fn deserialize<'de, N: Numbers, D: Deserializer<'de>>(deserializer: D) -> Result<N, D::Error> {
    N::Written::deserialize(deserializer).map(N::read)
}

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { serializer.serialize_f64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Exact;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, \"NaN\", \"inf\" or \"-inf\"")
            }
            fn visit_f64<E: Error>(self, v: f64) -> Result<Exact, E> {
                Ok(Exact(v))
            }
            fn visit_i64<E: Error>(self, v: i64) -> Result<Exact, E> {
                Ok(Exact(v as f64))
            }
            fn visit_u64<E: Error>(self, v: u64) -> Result<Exact, E> {
                Ok(Exact(v as f64))
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Exact, E> {
                match v {
                    "NaN" => Ok(Exact(f64::NAN)),
                    "inf" => Ok(Exact(f64::INFINITY)),
                    "-inf" => Ok(Exact(f64::NEG_INFINITY)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(v), &self)),
                }
            }
        }
        deserializer.deserialize_any(Number)
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Serialize, Deserialize)]
    struct Sample {
        #[serde(with = "super")]
        series: Vec<f64>,
        #[serde(with = "super")]
        band: Option<(Vec<f64>, Vec<f64>)>,
    }

    #[test]
    fn every_number_comes_back() {
        let series =
            vec![0.1 + 0.2, -0.0, 5e-324, f64::MAX, 3.0, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -7.0];
        let sample = Sample { band: Some((series.clone(), vec![])), series };
        let text = serde_json::to_string(&sample).unwrap();
        let back: Sample = serde_json::from_str(&text).unwrap();
        let bits = |numbers: &[f64]| numbers.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back.series), bits(&sample.series), "{text}");
        assert_eq!(bits(&back.band.unwrap().0), bits(&sample.series));
        assert!(text.contains("\"NaN\",\"inf\",\"-inf\""), "{text}");
    }

    #[test]
    fn other_words_are_refused() {
        let error = serde_json::from_str::<Sample>(r#"{"series":["many"],"band":null}"#).unwrap_err();
        assert!(error.to_string().contains("a number, \"NaN\""), "{error}");
    }
}
