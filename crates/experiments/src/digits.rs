//! Numbers as a reader wants them.

/// Three digits that count.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || (0.01..1e5).contains(&value.abs()) {
        let decimals = (2.0 - value.abs().max(1e-300).log10().floor()).clamp(0.0, 4.0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2e}")
    }
}

/// With its sign (a true minus), except for what rounds to zero.
pub(crate) fn signed(v: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", v.abs());
    let zero = text.chars().all(|c| matches!(c, '0' | '.'));
    match (zero, v < 0.0) {
        (true, _) => text,
        (false, true) => format!("−{text}"),
        (false, false) => format!("+{text}"),
    }
}
