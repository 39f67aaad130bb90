//! Durations: `1:11:44`, `55:12`, `5'03"`, `1 day 02:30:00`, `2h 30m`, `PT90S`.

use jiff::{Span, SpanRelativeTo, Unit};

/// Seconds of a text; of two numbers with a colon the second counts seconds. `None` for what is no
/// duration, or has months or years, whose lengths differ.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let (negative, text) = match text.trim().strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, text.trim()),
    };
    let length = by_colons(text).or_else(|| by_primes(text)).or_else(|| spelled(text))?;
    Some(if negative { -length } else { length })
}

/// `75:30`, `1:11:44`, `1:11:44.5`
fn by_colons(text: &str) -> Option<f64> {
    let is_whole = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = text.split(':');
    let first = parts.next().filter(|part| is_whole(part) && part.len() <= 6)?;
    let (mut length, mut behind) = (first.parse::<f64>().ok()?, 0);
    while let Some(part) = parts.next() {
        let (whole, fraction) = part.split_once(['.', ',']).unwrap_or((part, "0"));
        let is_last = parts.clone().next().is_none();
        let fits = is_whole(whole) && whole.len() == 2 && whole < "60" && is_whole(fraction);
        if !fits || !(is_last || part.len() == 2) {
            return None;
        }
        length = 60.0 * length + format!("{whole}.{fraction}").parse::<f64>().ok()?;
        behind += 1;
    }
    (1..=2).contains(&behind).then_some(length)
}

/// `5'03"`, minutes and seconds.
fn by_primes(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.trim_end_matches(['"', '″']).split_once(['\'', '′'])?;
    by_colons(&format!("{minutes}:{seconds}"))
}

/// With units, as ISO 8601 or people write them; a day has 24 hours.
fn spelled(text: &str) -> Option<f64> {
    let has_units = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let span: Span = if has_units && text.len() <= 64 { text.parse().ok()? } else { return None };
    span.total((Unit::Second, SpanRelativeTo::days_are_24_hours())).ok()
}

/// True if a duration can be nothing else: `25:23` may be a result, and `11m` a height.
pub(crate) fn is_certain(text: &str) -> bool {
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    text.matches(':').count() == 2 || text.contains(|c: char| c.is_ascii_alphabetic()) && numbers >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_by_hand() {
        for (text, read) in [
            ("1:11:44", Some(4304.0)),
            ("55:12", Some(3312.0)),
            ("-0:30", Some(-30.0)),
            ("5'03\"", Some(303.0)),
            ("5′03″", Some(303.0)),
            ("1'234", None),
            ("123:45:06.5", Some(445_506.5)),
            ("2h 30m", Some(9000.0)),
            ("2h30m", Some(9000.0)),
            ("1 day 02:30:00", Some(95_400.0)),
            ("0 days 00:00:05", Some(5.0)),
            ("PT1M30S", Some(90.0)),
            ("1 month", None),
            ("2:1", None),
            ("102:98", None),
            ("1:2:3", None),
            ("1:05:", None),
            ("5", None),
            ("", None),
        ] {
            assert_eq!(seconds(text), read, "{text}");
        }
        let certain = ["1:11:44", "2h 30m", "PT1M30S", "25:23", "11m", "90 min"].map(is_certain);
        assert_eq!(certain, [true, true, true, false, false, false]);
    }
}
