//! A look at the targets of the first rows.

use crate::number::ParsedCell;

/// Targets of the first rows, where the reader was to find out if the target is a label.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TargetHead {
    /// Number of rows with a target that were looked at.
    pub rows: usize,
    /// Number of targets among them that are text.
    pub texts: usize,
    /// True if there are rows, and all their targets are 0 or 1.
    pub zero_one: bool,
    /// True if there are rows, and all their targets are −1 or 1.
    pub signs: bool,
    /// True if the target of some row is another number than that of the row before.
    pub differ: bool,
    /// The last target that is a number.
    pub last: Option<f64>,
}

impl TargetHead {
    /// True if the target is a label: more than one of twenty is text.
    pub fn is_label(&self) -> bool {
        const TARGETS_A_TEXT: usize = 20;
        self.texts * TARGETS_A_TEXT > self.rows
    }

    /// Takes one more target into account. A mark of a gap, or a number that is not finite, says
    /// nothing.
    pub(crate) fn see(&mut self, target: ParsedCell) {
        let (zero_one, sign) = match target {
            ParsedCell::Empty | ParsedCell::Nan | ParsedCell::NotFinite => return,
            ParsedCell::Number(value) => {
                self.differ |= self.last.replace(value).is_some_and(|last| last != value);
                (value == 0.0 || value == 1.0, value.abs() == 1.0)
            }
            ParsedCell::Text => {
                self.texts += 1;
                (false, false)
            }
        };
        self.zero_one = zero_one && (self.zero_one || self.rows == 0);
        self.signs = sign && (self.signs || self.rows == 0);
        self.rows += 1;
    }
}
