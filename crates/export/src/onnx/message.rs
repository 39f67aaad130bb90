//! Messages of Protocol Buffers: the two kinds of fields that a graph needs.
//!
//! A field is its number and its kind in one whole number, and then its value: a whole number (kind
//! 0), or a length and so many bytes (kind 2), which are a text, numbers or a message. Whole
//! numbers are written seven bits a byte, the lowest first. Source: *Encoding*, protobuf.dev.

/// A message, written field by field.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn whole(mut self, field: u64, number: i64) -> Self {
        self.write(field << 3);
        // A number below 0 is that of its 64 bits.
        self.write(number.cast_unsigned());
        self
    }

    pub(super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.write(field << 3 | 2);
        self.write(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// A field that is there several times.
    pub(super) fn messages(self, field: u64, messages: &[Self]) -> Self {
        messages.iter().fold(self, |whole, message| whole.message(field, message))
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn write(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the source.
    #[test]
    fn fields_by_hand() {
        assert_eq!(Message::default().whole(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").into_bytes(), b"\x12\x07testing");
        let inner = Message::default().whole(1, 150);
        assert_eq!(Message::default().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let minus_two = [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Message::default().whole(1, -2).into_bytes(), minus_two);
    }
}
