//! Results as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::failure::Failure;

/// One object on one line, with the control characters escaped that JSON leaves as they are.
pub(crate) fn line(object: &impl Serialize) -> Result<String, Failure> {
    match serde_json::to_string(object) {
        Ok(mut text) if !text.bytes().any(may_be_control) => {
            text.push('\n');
            Ok(text)
        }
        Ok(text) => {
            let mut line = String::with_capacity(text.len() + 1);
            for c in text.chars() {
                // Such a character can only be part of a string. Writing to a string cannot fail.
                let _ = if c.is_control() { write!(line, "\\u{:04x}", c as u32) } else { line.write_char(c) };
            }
            line.push('\n');
            Ok(line)
        }
        Err(error) => {
            Err(Failure::because(format!("the result cannot be written as JSON ({error}); leave --json out")))
        }
    }
}

/// True for DEL, and for the first byte of characters from U+0080 to U+00BF.
fn may_be_control(byte: u8) -> bool {
    matches!(byte, 0x7f | 0xc2)
}
