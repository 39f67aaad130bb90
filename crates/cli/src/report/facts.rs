//! Facts with names, in their order: as lines for people, or as one JSON object.

use std::fmt::Write as _;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::report::failure::Failure;
use crate::report::json;
use crate::report::output::{self, digits};
use crate::report::plain::Plain;

/// Facts with their names.
#[derive(Default)]
pub(crate) struct Facts(Vec<(&'static str, FactValue)>);

#[derive(Serialize)]
#[serde(untagged)]
enum FactValue {
    One(Value),
    Columns(Vec<ToldColumn>),
}

/// A column, with the keys of its object in their order. There may be a million.
#[derive(Serialize)]
pub(crate) struct ToldColumn {
    pub(crate) distinct: u64,
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) largest: Option<Value>,
    pub(crate) missing: u64,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) smallest: Option<Value>,
    pub(crate) treatment: String,
    #[serde(rename = "use")]
    pub(crate) used: String,
    pub(crate) why: String,
}

impl Facts {
    pub(crate) fn tell(&mut self, name: &'static str, fact: impl Into<Value>) {
        self.0.push((name, FactValue::One(fact.into())));
    }

    pub(crate) fn tell_columns(&mut self, columns: Vec<ToldColumn>) {
        self.0.push(("columns", FactValue::Columns(columns)));
    }

    /// Prints one JSON object, or behind the head a line for each fact.
    pub(crate) fn print(&self, as_json: bool, head: &str) -> Result<(), Failure> {
        if as_json {
            return output::print(&json::line(self)?);
        }
        let mut text = head.to_owned();
        for (name, fact) in &self.0 {
            // Writing to a string cannot fail.
            let fact = match fact {
                FactValue::One(fact) => words(fact),
                FactValue::Columns(columns) => words(&json!(columns)),
            };
            let _ = writeln!(text, "  {:<21}{fact}", name.replace('_', " "));
        }
        output::print(&text)
    }
}

impl Serialize for Facts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, fact)| (name, fact)))
    }
}

/// A fact without the marks of JSON, and with its control characters escaped.
fn words(fact: &Value) -> String {
    let mut text = String::new();
    write_words(&mut text, fact);
    text
}

/// Writes the same. Writing to a string cannot fail.
fn write_words(text: &mut String, fact: &Value) {
    match fact {
        Value::String(fact) => drop(write!(text, "{}", Plain(fact))),
        Value::Null => text.push_str("none"),
        Value::Bool(yes) => text.push_str(if *yes { "yes" } else { "no" }),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (place, thing) in list.iter().enumerate() {
                if place > 0 {
                    let _ = write!(text, "\n{:23}", "");
                }
                write_line(text, thing);
            }
        }
        Value::Array(list) if list.is_empty() => text.push_str("none"),
        Value::Array(list) => text.push_str(&list.iter().map(words).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, value)| format!("{}={}", Plain(key), words(value)));
            text.push_str(&pairs.collect::<Vec<_>>().join(" "));
        }
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(number) => text.push_str(&digits(number)),
            None => drop(write!(text, "{number}")),
        },
    }
}

/// Writes a thing with a name, and what is said of it.
fn write_line(text: &mut String, thing: &Value) {
    // What is done with a column says how it is used, and nothing is a poor reason.
    let shown = |(key, fact): &(&String, &Value)| !["name", "use"].contains(&&***key) && **fact != "";
    let facts = || thing.as_object().into_iter().flatten().filter(shown);
    write_words(text, &thing["name"]);
    let (kind, rest) = (facts().filter(|(key, _)| *key == "kind"), facts().filter(|(key, _)| *key != "kind"));
    for (place, (key, fact)) in kind.chain(rest).enumerate() {
        text.push_str(if place == 0 { ": " } else { ", " });
        text.extend(key.chars().map(|c| if c == '_' { ' ' } else { c }));
        text.push(' ');
        write_words(text, fact);
    }
}
