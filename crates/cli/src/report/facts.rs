//! Facts with names, in their order: as lines for people, or as one JSON object.

use std::fmt::Write as _;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::report::failure::Failure;
use crate::report::json;
use crate::report::output::{self, digits};
use crate::report::plain::Plain;

/// Facts with their names.
#[derive(Default)]
pub(crate) struct Facts(Vec<(&'static str, Value)>);

impl Facts {
    pub(crate) fn tell(&mut self, name: &'static str, fact: impl Into<Value>) {
        self.0.push((name, fact.into()));
    }

    /// Prints one JSON object, or behind the head a line for each fact.
    pub(crate) fn print(&self, as_json: bool, head: &str) -> Result<(), Failure> {
        if as_json {
            return output::print(&json::line(self)?);
        }
        let mut text = head.to_owned();
        for (name, fact) in &self.0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {:<21}{}", name.replace('_', " "), words(fact));
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
    match fact {
        Value::String(text) => Plain(text).to_string(),
        Value::Null => "none".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Array(list) if list.iter().any(Value::is_object) => {
            list.iter().map(line).collect::<Vec<_>>().join(&format!("\n{:23}", ""))
        }
        Value::Array(list) if list.is_empty() => "none".to_owned(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            map.iter().map(|(key, value)| format!("{}={}", Plain(key), words(value))).collect::<Vec<_>>().join(" ")
        }
        Value::Number(number) => number.as_f64().filter(|_| number.is_f64()).map_or(number.to_string(), digits),
    }
}

/// A thing with a name, and what is said of it.
fn line(thing: &Value) -> String {
    // What is done with a column says how it is used, and nothing is a poor reason.
    let shown = |(key, fact): &(&String, &Value)| !["name", "use"].contains(&&***key) && **fact != "";
    let mut facts: Vec<_> = thing.as_object().into_iter().flatten().filter(shown).collect();
    facts.sort_by_key(|(key, _)| *key != "kind");
    let facts: Vec<String> =
        facts.into_iter().map(|(key, fact)| format!("{} {}", key.replace('_', " "), words(fact))).collect();
    format!("{}: {}", words(&thing["name"]), facts.join(", "))
}
