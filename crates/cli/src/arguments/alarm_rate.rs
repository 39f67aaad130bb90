//! How often a false alarm may come.

use std::str::FromStr;

/// A rate of false alarms, as the rows to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AlarmRate {
    pub(crate) rows: f64,
}

impl FromStr for AlarmRate {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const REFUSED: &str = "give 1/ROWS such as 1/10000, or a share of the rows such as 0.0001";
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| REFUSED);
        let rows = match text.split_once('/') {
            Some((alarms, rows)) => number(rows)? / number(alarms)?,
            None => 1.0 / number(text)?,
        };
        if rows.is_finite() && rows >= 1.0 { Ok(Self { rows }) } else { Err(REFUSED) }
    }
}
