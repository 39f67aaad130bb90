//! A cell of several values: the members of a list, or names with numbers.

use std::borrow::Cow;
use std::fmt;

/// A flat list of texts, or a flat object, as its JSON text.
///
/// | text | entries |
/// |---|---|
/// | `["red", "blue"]` | the names `red` and `blue` |
/// | `{"a": 1.5, "b": true, "c": "x"}` | `a` with the number 1.5, `b` with the text `true`, `c` with the text `x` |
///
/// `null` and a NaN stand for no value, in either. Texts may stand between single quotes, as
/// Python prints them. A list of numbers is refused: as a vector its places have a meaning, which a
/// list of names has not.
///
/// ```
/// use mercer_core::{Entry, List};
///
/// let list = List::read(r#"["red", "dark blue"]"#)?;
/// assert_eq!(list.entries().count(), 2);
/// let pairs = List::read(r#"{"size": 1.5}"#)?;
/// assert_eq!(pairs.entries().next(), Some(Entry::Number("size".into(), 1.5)));
/// assert!(List::read("[1, 2]").is_err() && List::read(r#"[["red"]]"#).is_err());
/// # Ok::<(), mercer_core::ListError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct List<'a>(&'a str);

/// An entry of a [`List`].
#[derive(Clone, Debug, PartialEq)]
pub enum Entry<'a> {
    /// A member of a list.
    Name(Cow<'a, str>),
    /// A number of an object, behind its name.
    Number(Cow<'a, str>, f64),
    /// A text or a truth value of an object, behind its name.
    Text(Cow<'a, str>, Cow<'a, str>),
}

/// Why a text is no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A value in it is a list or an object.
    #[error("holds lists in lists; give each of their parts a column of its own")]
    Nested,
    /// It has numbers without names.
    #[error(
        "holds a list of numbers, whose places would be lost; give each number a column of its own, or write names as texts"
    )]
    Numbers,
    /// A number in it is infinite.
    #[error("holds an infinite number")]
    Infinite,
    /// It is no JSON.
    #[error("holds no list of texts and no object")]
    Malformed,
}

impl<'a> List<'a> {
    /// Reads a JSON array or object, blanks around it aside.
    ///
    /// # Errors
    /// When it is nested, is a list of numbers, or is none.
    pub fn read(text: &'a str) -> Result<Self, ListError> {
        let list = Self(text.trim());
        Entries::new(list.0)?.try_for_each(|entry| entry.map(drop))?;
        Ok(list)
    }

    /// True if a text begins as a list or an object does.
    #[must_use]
    pub fn begins(text: &str) -> bool {
        matches!(text.trim_start().as_bytes().first(), Some(b'[' | b'{'))
    }

    /// A list that was read before, by its text.
    #[must_use]
    pub fn known(text: &'a str) -> Self {
        Self(text)
    }

    /// Its text.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.0
    }

    /// True if it is an object.
    #[must_use]
    pub fn has_pairs(self) -> bool {
        self.0.starts_with('{')
    }

    /// What it holds, in its order.
    pub fn entries(self) -> impl Iterator<Item = Entry<'a>> {
        Entries::new(self.0).into_iter().flatten().map_while(Result::ok).flatten()
    }
}

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A pass through a text; values that are none are entries of `None`.
struct Entries<'a> {
    rest: &'a str,
    pairs: bool,
    first: bool,
    over: bool,
}

enum Value<'a> {
    Missing,
    Number(f64),
    Text(Cow<'a, str>),
}

impl<'a> Entries<'a> {
    fn new(text: &'a str) -> Result<Self, ListError> {
        let pairs = text.starts_with('{');
        let rest = text.strip_prefix(['[', '{']).ok_or(ListError::Malformed)?;
        Ok(Self { rest, pairs, first: true, over: false })
    }

    /// Takes `mark`, and the blanks before it.
    fn take(&mut self, mark: char) -> bool {
        self.rest = self.rest.trim_start();
        let behind = self.rest.strip_prefix(mark);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    fn entry(&mut self) -> Result<Option<Entry<'a>>, ListError> {
        if !self.pairs {
            return match self.value()? {
                Value::Missing => Ok(None),
                Value::Text(name) => Ok(Some(Entry::Name(name))),
                Value::Number(_) => Err(ListError::Numbers),
            };
        }
        self.rest = self.rest.trim_start();
        let name = self.string()?;
        if !self.take(':') {
            return Err(ListError::Malformed);
        }
        Ok(match self.value()? {
            Value::Missing => None,
            Value::Number(number) => Some(Entry::Number(name, number)),
            Value::Text(text) => Some(Entry::Text(name, text)),
        })
    }

    fn value(&mut self) -> Result<Value<'a>, ListError> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(['"', '\'']) {
            return self.string().map(Value::Text);
        }
        if Self::opens(self.rest) {
            return Err(ListError::Nested);
        }
        let end = self.rest.find([',', ']', '}']).ok_or(ListError::Malformed)?;
        let word = self.rest[..end].trim_end();
        self.rest = &self.rest[end..];
        match word {
            "null" | "None" | "NaN" | "nan" => return Ok(Value::Missing),
            "true" | "True" if self.pairs => return Ok(Value::Text("true".into())),
            "false" | "False" if self.pairs => return Ok(Value::Text("false".into())),
            "true" | "True" | "false" | "False" => return Err(ListError::Numbers),
            _ => {}
        }
        let number: f64 = word.parse().map_err(|_| ListError::Malformed)?;
        if number.is_finite() { Ok(Value::Number(number)) } else { Err(ListError::Infinite) }
    }

    fn opens(rest: &str) -> bool {
        rest.starts_with(['[', '{'])
    }

    /// A text between quotes.
    fn string(&mut self) -> Result<Cow<'a, str>, ListError> {
        let quote = self.rest.chars().next().filter(|mark| matches!(mark, '"' | '\'')).ok_or(ListError::Malformed)?;
        let inner = &self.rest[1..];
        let mut escaped = false;
        let end = inner.find(|mark| {
            let is_end = mark == quote && !escaped;
            escaped = mark == '\\' && !escaped;
            is_end
        });
        let end = end.ok_or(ListError::Malformed)?;
        self.rest = &inner[end + 1..];
        let text = &inner[..end];
        if text.contains('\\') { decoded(text).map(Cow::Owned).ok_or(ListError::Malformed) } else { Ok(text.into()) }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Option<Entry<'a>>, ListError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let ended = self.take(if self.pairs { '}' } else { ']' });
        let begun = std::mem::replace(&mut self.first, false);
        if ended {
            self.over = true;
            return if self.rest.trim().is_empty() { None } else { Some(Err(ListError::Malformed)) };
        }
        if !begun && !self.take(',') {
            self.over = true;
            return Some(Err(ListError::Malformed));
        }
        let entry = self.entry();
        self.over = entry.is_err();
        Some(entry)
    }
}

/// A text without its escapes.
fn decoded(text: &str) -> Option<String> {
    let (mut made, mut marks) = (String::with_capacity(text.len()), text.chars());
    let mut units: Vec<u16> = Vec::new();
    let unit = |marks: &mut std::str::Chars<'_>| {
        let digits = marks.as_str().get(..4)?;
        *marks = marks.as_str()[4..].chars();
        u16::from_str_radix(digits, 16).ok()
    };
    while let Some(mark) = marks.next() {
        let escape = if mark == '\\' { Some(marks.next()?) } else { None };
        if escape == Some('u') {
            units.push(unit(&mut marks)?);
            continue;
        }
        made.push_str(&String::from_utf16(&std::mem::take(&mut units)).ok()?);
        made.push(match escape {
            None => mark,
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some(mark @ ('"' | '\'' | '\\' | '/')) => mark,
            Some(_) => return None,
        });
    }
    made.push_str(&String::from_utf16(&units).ok()?);
    Some(made)
}

/// The JSON text of a list, written value by value.
#[derive(Clone, Debug, Default)]
pub struct ListText {
    text: String,
    pairs: bool,
}

impl ListText {
    /// An empty list.
    #[must_use]
    pub fn list() -> Self {
        Self { text: "[".to_owned(), pairs: false }
    }

    /// An empty object.
    #[must_use]
    pub fn object() -> Self {
        Self { text: "{".to_owned(), pairs: true }
    }

    /// Writes a name: a member of a list, or what stands before the value of an object.
    pub fn name(&mut self, name: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.quoted(name);
        if self.pairs {
            self.text.push(':');
        }
    }

    /// Writes the number of the name before.
    pub fn number(&mut self, number: f64) {
        self.text.push_str(&number.to_string());
    }

    /// Writes the text of the name before.
    pub fn quoted(&mut self, text: &str) {
        self.text.push('"');
        for mark in text.chars() {
            match mark {
                '"' | '\\' => self.text.extend(['\\', mark]),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\0'..='\x1f' => self.text.push_str(&format!("\\u{:04x}", u32::from(mark))),
                _ => self.text.push(mark),
            }
        }
        self.text.push('"');
    }

    /// The text.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.text.push(if self.pairs { '}' } else { ']' });
        self.text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> Result<String, ListError> {
        let entry = |entry| match entry {
            Entry::Name(name) => name.into_owned(),
            Entry::Number(name, number) => format!("{name}={number}"),
            Entry::Text(name, text) => format!("{name}={text}"),
        };
        List::read(text).map(|list| list.entries().map(entry).collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn lists_by_hand() {
        for (text, expected) in [
            ("[]", ""),
            (" [ ] ", ""),
            ("{}", ""),
            (r#"["a", "b c" ,"a"]"#, "a|b c|a"),
            ("['a', \"it's\"]", "a|it's"),
            (r#"["a", null]"#, "a"),
            (r#"{"a": 1.5, "b" :-2e3,"c":true,"d":"x","e":null,"f":NaN}"#, "a=1.5|b=-2000|c=true|d=x"),
            (r#"["\"\\\/\n","\u00e9\ud83d\ude00!"]"#, "\"\\/\n|é😀!"),
            ("['größe', '日本']", "größe|日本"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for (text, error) in [
            ("[1, 2]", ListError::Numbers),
            (r#"["a", 2]"#, ListError::Numbers),
            ("[true]", ListError::Numbers),
            (r#"[["a"]]"#, ListError::Nested),
            (r#"{"a": {"b": 1}}"#, ListError::Nested),
            (r#"{"a": 1e999}"#, ListError::Infinite),
        ] {
            assert_eq!(List::read(text), Err(error), "{text}");
        }
        for text in ["", "a", "[", "[a]", "[\"a\"", "[\"a\"] b", "[\"a\" \"b\"]", "{\"a\"}", "[,]", "[\"\\x\"]"] {
            assert_eq!(List::read(text), Err(ListError::Malformed), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(names in proptest::collection::vec("\\PC{0,8}|[\\x00-\\x7f]{0,4}", 0..6), number: i32) {
            let (mut list, mut object) = (ListText::list(), ListText::object());
            for name in &names {
                list.name(name);
                object.name(name);
                object.number(f64::from(number));
            }
            let (list, object) = (list.finish(), object.finish());
            let members: Vec<Entry<'_>> = List::read(&list).unwrap().entries().collect();
            let expected: Vec<Entry<'_>> = names.iter().map(|name| Entry::Name(name.into())).collect();
            prop_assert_eq!(members, expected);
            let pairs: Vec<Entry<'_>> = List::read(&object).unwrap().entries().collect();
            let expected: Vec<Entry<'_>> =
                names.iter().map(|name| Entry::Number(name.into(), f64::from(number))).collect();
            prop_assert_eq!(pairs, expected);
        }

        #[test]
        fn no_text_panics(text in "[\\[\\]{}\",:'a1\\\\u ]{0,24}") {
            if let Ok(list) = List::read(&text) {
                prop_assert!(list.entries().count() <= text.len());
            }
        }
    }
}
