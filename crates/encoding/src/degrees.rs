//! Angles in degrees: `48°12'30"N`, `16° 22.5' W`, `S 33.9°`.

/// Signs behind degrees, minutes and seconds.
const SIGNS: [&[&str]; 3] = [&["°", "º"], &["'", "′", "’"], &["\"", "″", "”", "''"]];

/// The degrees of a text, below zero in the south and the west. `None` for what has no sign of
/// degrees with a hemisphere or minutes, for more than 60 minutes or seconds (programs round to
/// 60), and beyond 360 degrees.
pub(crate) fn read(text: &str) -> Option<f64> {
    let text = text.trim();
    let (hemisphere, rest) = hemisphere(text);
    let (negative, mut rest) = match rest.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (mut degrees, mut parts, mut share) = (0.0, 0, 1.0);
    for (signs, most) in SIGNS.into_iter().zip([360.0, 60.0, 60.0]) {
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')))?;
        let number: f64 = rest[..end].replace(',', ".").parse().ok()?;
        let behind = rest[end..].trim_start();
        // Two primes are a sign of seconds, and none of minutes.
        rest = signs.iter().find_map(|sign| behind.strip_prefix(sign))?;
        if number > most {
            return None;
        }
        (degrees, share, parts) = (degrees + number / share, 60.0 * share, parts + 1);
    }
    let is_angle = parts > 1 || parts == 1 && hemisphere.is_some();
    let sign = if negative != (hemisphere == Some(true)) { -1.0 } else { 1.0 };
    (is_angle && rest.trim().is_empty()).then_some(sign * degrees)
}

/// True for the south and the west, and the text without their letter.
fn hemisphere(text: &str) -> (Option<bool>, &str) {
    let of = |letter: char| match letter {
        'N' | 'E' => Some(false),
        'S' | 'W' => Some(true),
        _ => None,
    };
    if let Some(half) = text.chars().next_back().and_then(of) {
        return (Some(half), text[..text.len() - 1].trim_end());
    }
    match text.chars().next().and_then(of) {
        Some(half) => (Some(half), text[1..].trim_start()),
        None => (None, text),
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn angles_are_degrees_and_other_texts_none() {
        let near = |text, degrees: f64| {
            let got = read(text).unwrap();
            assert!((got - degrees).abs() < 1e-9, "{text}: {got}");
        };
        near("48°12'30\"N", 48.0 + 12.0 / 60.0 + 30.0 / 3600.0);
        near("16° 22.5' W", -16.375);
        near("S 33.9°", -33.9);
        near("-33°54′00″", -33.9);
        near("11º06'00,0''E", 11.1);
        for text in ["20°C", "20°", "5'11\"", "48.2 N", "N", "48°61'N", "400°N", "48°12'30\"N x", "", "°N", "48°12\"N"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
