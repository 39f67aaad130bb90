//! Time zones: instants of the times that clocks of a place show.
//!
//! Local times are seconds since 1970-01-01T00:00 as clocks show them, instants are seconds since
//! then in UTC. The rules of the zones are those of the IANA data base that is compiled in.

use jiff::civil::{DateTime, date};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// A time zone of the IANA data base, such as `Europe/Vienna`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Zone {
    name: String,
    rules: TimeZone,
}

impl Zone {
    /// The zone of that name; `None` if there is none.
    ///
    /// ```
    /// use mercer_encoding::Zone;
    /// use mercer_core::parse_instant;
    ///
    /// let vienna = Zone::named("Europe/Vienna").unwrap();
    /// let seconds = |text| parse_instant(text).unwrap();
    /// assert_eq!(vienna.instant(seconds("2024-07-01T12:00"), None), Some(seconds("2024-07-01T10:00Z")));
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let rules = TimeZone::get(name.trim()).ok()?;
        Some(Self { name: rules.iana_name()?.to_owned(), rules })
    }

    /// The zone's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The instant of a local time. One that comes twice, where clocks are set back, is the first
    /// unless that is not behind `before`. `None` for one that clocks never show, because they are
    /// set forward.
    #[must_use]
    pub fn instant(&self, local: f64, before: Option<f64>) -> Option<f64> {
        let instant = |offset: Offset| local - f64::from(offset.seconds());
        let Some(shown) = civil(local) else { return Some(local) };
        match self.rules.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => Some(instant(offset)),
            AmbiguousOffset::Gap { .. } => None,
            AmbiguousOffset::Fold { before: first, after: second } => {
                let is_behind = before.is_none_or(|before| instant(first) > before);
                Some(instant(if is_behind { first } else { second }))
            }
        }
    }

    /// Seconds that clocks of the zone are ahead of UTC at an instant.
    #[must_use]
    pub fn offset(&self, instant: f64) -> f64 {
        let at = Timestamp::from_second(instant.floor() as i64);
        at.map_or(0.0, |at| f64::from(self.rules.to_offset(at).seconds()))
    }
}

/// True if a time has its zone with it: `Z`, an offset, a name such as `CET` or `[Europe/Berlin]`.
#[must_use]
pub fn tells_zone(text: &str) -> bool {
    let text = text.trim();
    let word = text.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    let is_name = (3..=4).contains(&word.len()) && word.chars().all(|c| c.is_ascii_uppercase());
    // As .NET writes what has passed since 1970.
    let is_epoch = text.starts_with("/Date(");
    is_name || is_epoch || matches!(word, "Z" | "z") || text.ends_with(']') || text.split(' ').any(tells_offset)
}

/// True for a time that tells another offset from UTC than 0.
pub(crate) fn is_shifted(text: &str) -> bool {
    let text = text.trim();
    // Most times of day tell nothing behind them.
    let behind = text.split_once(':').map_or("", |(_, behind)| behind);
    if behind.ends_with(|last: char| last.is_ascii_digit()) && !behind.contains(['+', '-']) {
        return false;
    }
    let is_level = ["Z", "z", "UTC", "GMT"].iter().any(|name| text.ends_with(name)) || text.starts_with("/Date(");
    let is_zero = |word: &str| offset(word).is_some_and(|digits| digits.chars().all(|c| matches!(c, '0' | ':')));
    tells_zone(text) && !is_level && !text.split(' ').any(is_zero)
}

/// True for `+02:00`, and for a time with an offset behind it.
fn tells_offset(word: &str) -> bool {
    offset(word).is_some()
}

/// The digits of an offset.
fn offset(word: &str) -> Option<&str> {
    let of_day = word.split_once(':').filter(|(_, rest)| rest.contains(['+', '-']));
    let behind = match of_day {
        Some((_, rest)) if !word.starts_with(['+', '-']) => rest.rsplit(['+', '-']).next().unwrap_or(""),
        _ => word.strip_prefix(['+', '-']).unwrap_or(""),
    };
    let digits = behind.chars().filter(char::is_ascii_digit).count();
    let is_offset = matches!(digits, 2 | 4) && behind.chars().all(|c| c.is_ascii_digit() || c == ':');
    is_offset.then_some(behind)
}

impl TryFrom<String> for Zone {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("{name:?} is no time zone"))
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.name
    }
}

/// The whole second of a local time; `None` outside of the calendar.
fn civil(local: f64) -> Option<DateTime> {
    let since = SignedDuration::from_secs(local.floor() as i64);
    date(1970, 1, 1).at(0, 0, 0, 0).checked_add(since).ok()
}

#[cfg(test)]
mod tests {
    use mercer_core::parse_instant;

    use super::*;

    fn seconds(text: &str) -> f64 {
        parse_instant(text).unwrap()
    }

    #[test]
    fn texts_tell_their_zone_or_not() {
        for told in [
            "2024-05-31T08:30Z",
            "2024-05-31 08:30:00+02:00",
            "2024-05-31T08:30:00.25-0700",
            "01/Jan/2022:03:00:00 -0700",
            "Sat Jan 1 03:00:00 2022 -0700",
            "2022-01-01 03:00:00.0000000 +01:00",
            "2022-01-01T03:00:00+01:00[Europe/Berlin]",
            "Saturday, 01-Jan-22 03:00:00 GMT",
            "27.10.2024 02:00 CEST",
            "/Date(1641006000000)/",
        ] {
            assert!(tells_zone(told), "{told}");
        }
        for local in [
            "2024-05-31",
            "2024-05-31T08:30",
            "Wednesday, 12-Jan-22 03:00:00",
            "03:00 12-Jan-22",
            "8:29 PM",
            "Jan 8, 2023 8:29 PM",
            "31.5.2024 3.00",
        ] {
            assert!(!tells_zone(local), "{local}");
        }
    }

    #[test]
    fn the_hour_that_comes_twice_and_the_one_that_never_comes() {
        let vienna = Zone::named("Europe/Vienna").unwrap();
        let mut before = None;
        for (local, instant) in [
            ("2024-10-27T01:45", "2024-10-26T23:45Z"),
            ("2024-10-27T02:00", "2024-10-27T00:00Z"),
            ("2024-10-27T02:30", "2024-10-27T00:30Z"),
            ("2024-10-27T02:00", "2024-10-27T01:00Z"),
            ("2024-10-27T02:30", "2024-10-27T01:30Z"),
            ("2024-10-27T03:00", "2024-10-27T02:00Z"),
            ("2025-03-30T01:59:59.5", "2025-03-30T00:59:59.5Z"),
            ("2025-03-30T03:00", "2025-03-30T01:00Z"),
        ] {
            let found = vienna.instant(seconds(local), before);
            assert_eq!(found, Some(seconds(instant)), "{local}");
            assert_eq!(found.map(|found| found + vienna.offset(found)), Some(seconds(local)));
            before = found;
        }
        assert_eq!(vienna.instant(seconds("2025-03-30T02:30"), before), None);
        let new_york = Zone::named("America/New_York").unwrap();
        assert_eq!(new_york.instant(seconds("2024-11-03T01:30"), None), Some(seconds("2024-11-03T05:30Z")));
        assert_eq!(Zone::named("Asia/Kolkata").unwrap().offset(0.0), 19_800.0);
        assert_eq!((Zone::named("Mars/Olympus"), vienna.name()), (None, "Europe/Vienna"));
    }
}
