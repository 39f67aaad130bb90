//! Text from elsewhere, such as the name of a column, as a terminal may be shown it.

use std::fmt;

/// A text with its control characters escaped (`\u{1b}` for the one that begins a terminal's
/// commands), so that it stays on its line and changes nothing but that line.
pub(crate) struct Plain<'a>(pub(crate) &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
        }
        Ok(())
    }
}
