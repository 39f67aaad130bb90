//! The paths of the service: each refuses alike what is misspelt, and keeps what the OpenAPI
//! document says of it.

use mercer_serve::{Access, Options, Scope, Tokens};
use serde_json::{Value as Json, json};

use crate::support::{Each, Mean, Service, post};

/// All paths, and the method of each.
const PATHS: [(&str, &str); 24] = [
    ("GET", "/"),
    ("GET", "/compare"),
    ("GET", "/curve"),
    ("POST", "/explain"),
    ("POST", "/functions"),
    ("GET", "/groups"),
    ("GET", "/health"),
    ("GET", "/health/live"),
    ("GET", "/health/ready"),
    ("POST", "/learn"),
    ("GET", "/metrics"),
    ("GET", "/model"),
    ("GET", "/modes"),
    ("GET", "/openapi.json"),
    ("POST", "/predict"),
    ("POST", "/reload"),
    ("POST", "/rollback"),
    ("POST", "/snapshot"),
    ("GET", "/v2"),
    ("GET", "/v2/health/live"),
    ("GET", "/v2/health/ready"),
    ("GET", "/v2/models/model"),
    ("POST", "/v2/models/model/infer"),
    ("GET", "/v2/models/model/ready"),
];

/// Paths that tell of one group.
const OF_GROUPS: [&str; 13] = [
    "/curve",
    "/explain",
    "/functions",
    "/health",
    "/learn",
    "/metrics",
    "/model",
    "/modes",
    "/openapi.json",
    "/predict",
    "/rollback",
    "/snapshot",
    "/v2/models/model/infer",
];

fn with_groups() -> Service {
    Service::start_groups(Mean::default(), Options::default(), None, Some(Box::new(Each::default())))
}

/// The answer at a path; what is posted is `body`.
fn ask(service: &Service, (method, path): (&str, &str), headers: &str, body: &str) -> (u16, String, Json) {
    match method {
        "POST" => service.raw(&post(path, body, headers)),
        _ => service.raw(
            format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n").as_bytes(),
        ),
    }
}

#[test]
fn a_misspelt_query_is_refused_alike_at_every_path() {
    let long = format!("group={}", "a".repeat(65));
    let misspelt = [
        "groups=a",
        "Group=a",
        "group%3Da",
        "group",
        "x",
        "group=a&x=1",
        "x=1&group=a",
        "group=a&group=a",
        "group=",
        "group=../a",
        "group=.a",
        "group=a%2Fb",
        &*long,
    ];
    let refused = |service: &Service, (method, path): (&str, &str), query: &str| {
        let (status, _, told) = ask(service, (method, &format!("{path}?{query}")), "", "{}");
        let told = told["error"].as_str().unwrap_or_default().to_owned();
        assert!(status == 400 && told.contains("correct ?") | told.contains("leave out ?"), "{path} {query}: {told}");
    };
    let (service, alone) = (with_groups(), Service::start(Mean::default(), Options::default()));
    for (method, path) in PATHS {
        for query in misspelt {
            refused(&service, (method, path), query);
            refused(&alone, (method, path), query);
        }
        // A group of a service without groups, and of a path that tells of no group.
        refused(&alone, (method, path), "group=a");
        if !OF_GROUPS.contains(&path) {
            refused(&service, (method, path), "group=a");
            continue;
        }
        // A name that is right is none of these, and a group that nobody began is not there.
        let status = ask(&service, (method, &format!("{path}?group=nobody")), "", "{}").0;
        assert_eq!(status, if path == "/learn" { 422 } else { 404 }, "{path}");
        // A query of nothing is none.
        assert_ne!(ask(&service, (method, &format!("{path}?")), "", "{}").0, 400, "{path}");
    }
    alone.end().0.unwrap();
    service.end().0.unwrap();
}

#[test]
fn a_misspelt_key_is_refused_alike_at_every_path() {
    let service = Service::start(Mean::default(), Options::default());
    let long = format!("idempotency-key: {}\r\n", "a".repeat(256));
    for (method, path) in PATHS {
        for headers in [
            "x-idempotency-key: a\r\n",
            "idempotency_key: a\r\n",
            "idempotent-key: a\r\n",
            "idempotency-key:\r\n",
            "idempotency-key: a\r\nidempotency-key: a\r\n",
            &*long,
        ] {
            let (status, _, told) = ask(&service, (method, path), headers, "{}");
            assert!(status == 400 && told["error"].as_str().unwrap().contains("dempotency"), "{path} {headers}{told}");
        }
        // A right one is refused where a second request would do more than the first.
        let refused = ask(&service, (method, path), "idempotency-key: a\r\n", "{}").0 == 400;
        assert_eq!(refused, ["/snapshot", "/rollback", "/reload"].contains(&path), "{path}");
    }
    service.end().0.unwrap();
}

/// Why a value has not the form that a schema describes; of the words of JSON Schema those that the
/// document uses in answers.
fn misfit(document: &Json, schema: &Json, value: &Json) -> Option<String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let form = document.pointer(reference.strip_prefix('#').unwrap());
        return misfit(document, form.unwrap_or_else(|| panic!("{reference} is not there")), value);
    }
    if let Some(forms) = schema["oneOf"].as_array() {
        let fits = forms.iter().filter(|form| misfit(document, form, value).is_none()).count();
        return (fits != 1).then(|| format!("{value} has {fits} of the forms"));
    }
    let is = |kind: &Json| match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => value.is_null(),
    };
    let kinds = match &schema["type"] {
        Json::Null => true,
        Json::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    };
    let named = schema["enum"].as_array().is_none_or(|values| values.contains(value));
    if !kinds || !named {
        return Some(format!("{value} is not {schema}"));
    }
    let mut parts = Vec::new();
    if let Some(fields) = value.as_object() {
        let required = schema["required"].as_array().into_iter().flatten();
        let mut missing = required.filter(|name| !fields.contains_key(name.as_str().unwrap()));
        if let Some(name) = missing.next() {
            return Some(format!("{name} is missing in {value}"));
        }
        for (name, part) in fields {
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Json::Null, Json::Bool(false)) => return Some(format!("{name} is not known in {schema}")),
                (Json::Null, form) => parts.push((form.clone(), part)),
                (form, _) => parts.push((form.clone(), part)),
            }
        }
    }
    parts.extend(value.as_array().into_iter().flatten().map(|item| (schema["items"].clone(), item)));
    parts.into_iter().find_map(|(form, part)| misfit(document, &form, part))
}

/// The difference of an answer from what the document promises.
fn broken(document: &Json, (method, path): (&str, &str), (status, head, body): &(u16, String, Json)) -> Option<String> {
    let promised = &document["paths"][path][method.to_lowercase()]["responses"][status.to_string()];
    let Some(content) = promised["content"].as_object() else { return Some(format!("{status} is not described")) };
    let (kind, content) = content.iter().next().unwrap();
    if !head.contains(&format!("content-type: {kind}")) {
        return Some(format!("{kind} is not in {head}"));
    }
    (kind == "application/json").then(|| misfit(document, &content["schema"], body)).flatten()
}

#[test]
fn every_answer_has_the_form_that_the_document_describes() {
    let access = Access { tokens: Tokens::new(vec![(Scope::Admin, "s".to_owned())]), ..Access::default() };
    let options = Options { access, ..Options::default() };
    // A model of no row predicts no number.
    let model = Mean { rows: 2, sum: 3.0, ..Mean::default() };
    let service = Service::start_groups(model, options, None, Some(Box::new(Each::default())));
    let document = service.get("/openapi.json").2;
    let tensors = json!([{ "name": "a", "shape": [1], "datatype": "FP64", "data": [1] }]);
    let body = |path: &str| match path {
        "/predict" => r#"{"rows":[[1,"new"],[1,"x"]],"variance":true,"keep":true}"#.to_owned(),
        "/learn" => r#"{"row":[1,"x",2,1]}"#.to_owned(),
        path if path.ends_with("/infer") => {
            json!({ "id": "7", "inputs": tensors, "outputs": [{ "name": "y" }] }).to_string()
        }
        _ => String::new(),
    };
    let token = "authorization: Bearer s\r\n";
    for (path, told) in document["paths"].as_object().unwrap() {
        let method = told.as_object().unwrap().keys().next().unwrap().to_uppercase();
        let asked = (&*method, &**path);
        let other = if method == "POST" { "GET" } else { "POST" };
        assert_eq!(ask(&service, (other, path), "", "{}").0, 405, "{path}");
        for (headers, query, body, wanted) in
            [(token, "", body(path), 200), (token, "?x", body(path), 400), ("host: b\r\n", "", body(path), 400)]
        {
            let answer = ask(&service, (&method, &format!("{path}{query}")), headers, &body);
            let wanted = if query.is_empty() && path == "/rollback" && wanted == 200 { 409 } else { wanted };
            assert_eq!((answer.0, broken(&document, asked, &answer)), (wanted, None), "{path}: {answer:?}");
        }
    }
    // An answer of another form is found, and so is a status that is not described.
    let mut answer = ask(&service, ("GET", "/v2/models/model"), "", "");
    assert_eq!(broken(&document, ("GET", "/v2/models/model"), &answer), None);
    answer.2["inputs"][0]["shape"] = "many".into();
    assert!(broken(&document, ("GET", "/v2/models/model"), &answer).unwrap().contains("is not"));
    answer.0 = 418;
    assert!(broken(&document, ("GET", "/v2/models/model"), &answer).unwrap().contains("418"));
    service.end().0.unwrap();
}
