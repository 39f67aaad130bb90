//! Names for the objects within objects of an OpenAPI document. Generators of clients make a type
//! of each object, and of two without a name they make two types of one name, or none.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The same components, in which each object is one of its own with a name.
pub(super) fn named(forms: Map<String, Value>) -> Value {
    let mut named = Named(Map::new(), forms.keys().cloned().collect());
    for (name, mut form) in forms {
        named.look_into(&name, &mut form);
        named.0.insert(name, form);
    }
    named.0.into()
}

/// The components so far, and the names that others will have.
struct Named(Map<String, Value>, BTreeSet<String>);

impl Named {
    /// Gives names to the objects within a form.
    fn look_into(&mut self, parent: &str, form: &mut Value) {
        if let Some(Value::Array(forms)) = form.get_mut("oneOf") {
            for form in forms {
                let name = format!("{parent}{}", kind(form));
                self.lift(&name, form);
            }
        }
        if let Some(Value::Object(properties)) = form.get_mut("properties") {
            for (property, form) in properties {
                self.lift(&capital(property), form);
            }
        }
        if let Some(items) = form.get_mut("items") {
            // The name of a list is that of several.
            let one = parent.strip_suffix('s').unwrap_or(parent);
            self.lift(one, items);
        }
    }

    /// Moves an object out, and leaves a reference to it.
    fn lift(&mut self, name: &str, form: &mut Value) {
        self.look_into(name, form);
        if form["type"] != "object" {
            return;
        }
        let is_free = |name: &str, named: &Map<String, Value>| named.get(name).is_none_or(|other| other == form);
        let mut free = name.to_owned();
        while self.1.contains(&free) || !is_free(&free, &self.0) {
            free.push('X');
        }
        let reference = json!({ "$ref": format!("#/components/schemas/{free}") });
        self.0.insert(free, std::mem::replace(form, reference));
    }
}

/// What tells one form of several from the others.
fn kind(form: &Value) -> String {
    let required = form["required"].as_array().map_or(&[][..], Vec::as_slice);
    let has = |name: &str| required.iter().any(|one| one == name);
    let posted = ["row", "rows", "label", "labels"].into_iter().find(|name| required.len() == 1 && has(name));
    match posted {
        Some(name) => format!("Of{}", capital(name)),
        None if has("predictions") || has("explanations") => "OfRows".to_owned(),
        None if has("prediction") => "OfRow".to_owned(),
        None => "ByName".to_owned(),
    }
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_a_name_of_its_own() {
        let inner = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let one = json!({ "type": "object", "required": ["prediction"], "properties": { "counts": inner } });
        let columns = json!({ "type": "array", "items": inner });
        let many = json!({ "type": "object", "required": ["predictions"], "properties": { "columns": columns } });
        let forms = json!({ "Answer": { "oneOf": [one, many] }, "Other": { "type": "object", "properties": { "counts": inner } } });
        let Value::Object(forms) = forms else { panic!() };
        let named = named(forms);
        let reference = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
        assert_eq!(named["Answer"], json!({ "oneOf": [reference("AnswerOfRow"), reference("AnswerOfRows")] }));
        assert_eq!(named["AnswerOfRow"]["properties"]["counts"], reference("Counts"));
        assert_eq!(named["Other"]["properties"]["counts"], reference("Counts"));
        assert_eq!(named["AnswerOfRows"]["properties"]["columns"]["items"], reference("Column"));
        let nested = |form: &Value| {
            form["properties"].as_object().is_some_and(|of| of.values().any(|one| one["type"] == "object"))
        };
        assert!(!named.as_object().unwrap().values().any(nested));
    }
}
