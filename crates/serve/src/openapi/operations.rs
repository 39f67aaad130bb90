//! The operations at the paths, as the document tells them.

use serde_json::{Map, Value, json};

use super::super::head::{OF_GROUPS, POSTED};
use super::super::model::Schema;
use super::super::{Options, v2};
use super::{JSON, reference, refusal};

/// Operation at a path.
struct Operation {
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    /// Schema of the body, if there is one.
    request: Option<&'static str>,
    /// The type of the answer, and the name of what it holds if that has one.
    answer: (&'static str, Option<&'static str>),
    refusals: &'static [(&'static str, &'static str)],
    /// True if it takes the token where there is one.
    guarded: bool,
}

/// Refusals of requests with a body.
const BODIES: &[(&str, &str)] = &[
    ("400", "The body is not JSON or cannot be read, or the query or a header is not as it must be."),
    ("408", "The body did not come in time."),
    ("413", "The body is too large."),
    ("415", "The body is not said to be JSON, or it is compressed in another way than gzip."),
    (
        "422",
        "The JSON does not describe rows of this model, or the learner refuses a row. Rows before it that were learnt are \
         counted in `learnt`.",
    ),
    ("503", "The service is ending, or others have to be served before; `Retry-After` says when to ask again."),
];

/// Refusals of requests to learn.
const LEARNING: &[(&str, &str)] = &[
    ("404", "No row was given this id."),
    ("409", "The first request of this key is being answered."),
    ("410", "The row of this id waits for its label no longer."),
];

const fn get(path: &'static str, name: &'static str, summary: &'static str) -> Operation {
    Operation { path, name, summary, request: None, answer: (JSON, None), refusals: &[], guarded: false }
}

const fn post(path: &'static str, name: &'static str, summary: &'static str) -> Operation {
    Operation { guarded: true, ..get(path, name, summary) }
}

#[rustfmt::skip]
const OPERATIONS: &[Operation] = &[
    Operation { request: Some("PredictRequest"), answer: (JSON, Some("PredictAnswer")), guarded: false,
        ..post("/predict", "predict", "Predict rows; nothing is learnt") },
    Operation { request: Some("ExplainRequest"), answer: (JSON, Some("ExplainAnswer")), guarded: false,
        ..post("/explain", "explain", "Explain the predictions for rows by effects of the columns, which add up to them") },
    Operation { request: Some("FunctionsRequest"), answer: (JSON, Some("FunctionsAnswer")), guarded: false,
        ..post("/functions", "functions", "The functions of the modes of an operator at states, and almost invariant sets") },
    Operation { request: Some("LearnRequest"), answer: (JSON, Some("LearnAnswer")), refusals: LEARNING,
        ..post("/learn", "learn", "Predict rows, then learn them, in the order in which requests arrive") },
    Operation { answer: (JSON, Some("Rows")), refusals: &[("409", "The snapshot cannot be kept.")],
        ..post("/snapshot", "snapshot", "Keep a copy of the model in place of the one before") },
    Operation { answer: (JSON, Some("Rows")), refusals: &[("409", "There is no snapshot, or it cannot be saved.")],
        ..post("/rollback", "rollback", "Go back to the snapshot") },
    Operation { answer: (JSON, Some("Rows")), refusals: &[("409", "The file cannot be served.")],
        ..post("/reload", "reload", "Serve the model file as it is now") },
    Operation { answer: (JSON, Some("Health")), ..get("/health", "health", "How the service is; 503 if what was learnt could not be saved") },
    Operation { answer: (JSON, Some("Compared")), ..get("/compare", "compare", "The losses of the model and its challenger, with a test of their difference") },
    Operation { answer: (JSON, Some("Groups")), ..get("/groups", "groups", "The groups that are open, and how their models are") },
    get("/health/live", "live", "Whether the service works; 503 if not"),
    get("/health/ready", "ready", "Whether the service takes requests; 503 if not"),
    Operation { answer: (JSON, Some("Curve")), ..get("/curve", "curve", "The mean loss of predictions before learning, since the service began") },
    Operation { answer: ("text/plain", None), ..get("/metrics", "metrics", "Counters as Prometheus reads them") },
    Operation { answer: ("application/octet-stream", None), guarded: true,
        refusals: &[("409", "The model holds what no file can, such as an infinite number."), ("503", "The service is ending, or others are downloading the model.")],
        ..get("/model", "model", "The model file as it would be saved now") },
    get("/modes", "modes", "The modes of an operator: eigenvalues with spread, verdict and reason, shapes, and how good the fit is"),
    get("/openapi.json", "openapi", "This document"),
    Operation { answer: (JSON, Some("V2Server")), ..get("/v2", "v2_server", "The service, by the inference protocol version 2") },
    Operation { answer: (JSON, Some("V2Live")), ..get("/v2/health/live", "v2_live", "Whether the service works; 503 if not") },
    Operation { answer: (JSON, Some("V2Ready")), ..get("/v2/health/ready", "v2_ready", "Whether the service takes requests; 503 if not") },
    Operation { answer: (JSON, Some("V2Model")), ..get("/v2/models/MODEL", "v2_model", "The tensors that the model takes and gives") },
    Operation { answer: (JSON, Some("V2ModelReady")), ..get("/v2/models/MODEL/ready", "v2_model_ready", "Whether the model takes requests; 503 if not") },
    Operation { request: Some("V2InferRequest"), answer: (JSON, Some("V2InferAnswer")), guarded: false,
        ..post("/v2/models/MODEL/infer", "v2_infer", "Predict rows that are told as tensors; nothing is learnt") },
    Operation { answer: ("text/html", None), ..get("/", "page", "A page for people") },
];

/// The operations of a service by path.
pub(super) fn paths(schema: &Schema, options: &Options) -> Map<String, Value> {
    let access = &options.access;
    let open = |operation: &&Operation| match operation.path {
        "/learn" => access.closed.is_none(),
        "/reload" => options.replica,
        "/explain" => schema.explains,
        "/functions" | "/modes" => !schema.states.is_empty(),
        "/compare" => options.challenger,
        "/groups" => options.groups,
        "/v2/models/MODEL/infer" => schema.series.is_none(),
        "/snapshot" | "/rollback" => access.closed.is_none() && access.tokens.exist(),
        _ => true,
    };
    let told = |operation: &Operation| {
        let method = if POSTED.contains(&operation.path) { "post" } else { "get" };
        (v2::place(operation.path, &options.model_name), json!({ method: operation.told(options) }))
    };
    OPERATIONS.iter().filter(open).map(told).collect()
}

impl Operation {
    fn told(&self, options: &Options) -> Value {
        let Self { path, name, summary, request, .. } = self;
        let mut told = json!({ "operationId": name, "summary": summary, "responses": self.responses(options) });
        if self.wants_token(options) {
            told["security"] = json!([{ "token": [] }]);
        }
        if let Some(request) = request {
            told["requestBody"] = json!({ "required": true, "content": { JSON: { "schema": reference(request) } } });
        }
        let mut parameters = Vec::new();
        if options.groups && OF_GROUPS.contains(path) {
            parameters.push(json!({
                "name": "group",
                "in": "query",
                "required": false,
                "schema": { "type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$" },
                "description": "The group whose model it is about; without it the model of all.",
            }));
        }
        if *path == "/learn" {
            parameters.push(json!({
                "name": "Idempotency-Key",
                "in": "header",
                "required": false,
                "schema": { "type": "string", "pattern": "^[!-~]([ -~]{0,253}[!-~])?$" },
                "description": "Requests of one key are learnt once, and answered alike.",
            }));
        }
        if !parameters.is_empty() {
            told["parameters"] = parameters.into();
        }
        told
    }

    fn wants_token(&self, options: &Options) -> bool {
        options.access.tokens.exist() && (self.guarded || options.access.all)
    }

    fn responses(&self, options: &Options) -> Value {
        let Self { path, summary, request, answer: (kind, answer), refusals, .. } = self;
        let content = match (*kind, *answer) {
            (kind, Some(name)) => json!({ kind: { "schema": reference(name) } }),
            (JSON, None) => json!({ JSON: { "schema": { "type": "object" } } }),
            ("application/octet-stream", None) => json!({ *kind: {} }),
            (kind, None) => json!({ kind: { "schema": { "type": "string" } } }),
        };
        let mut responses = json!({ "200": { "description": summary, "content": content } });
        if path.contains("/health") || path.ends_with("/ready") {
            responses["503"] = json!({ "description": "It is not well.", "content": content });
        }
        responses["400"] = refusal("The query has a parameter that this path does not take.");
        responses["403"] = refusal(
            "The host is another than this machine, a page from elsewhere has sent it, or the token is not good for this.",
        );
        if self.wants_token(options) {
            responses["401"] = refusal("The token is missing or another one.");
        }
        let bodies = if request.is_some() { BODIES } else { &[] };
        for (status, why) in bodies.iter().chain(*refusals) {
            responses[*status] = refusal(why);
        }
        if options.groups && OF_GROUPS.contains(path) {
            responses["404"] = refusal("There is no such group, or no row was given this id.");
            responses["409"] = refusal(
                "The group cannot be opened, its snapshot cannot be had, or the request of this key is being answered.",
            );
            responses["507"] = refusal("As many groups are open as may be, and none can be closed.");
        }
        responses
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::super::metrics::PATHS;
    use super::super::super::{Access, Scope, Tokens};
    use super::super::document;
    use super::*;

    /// A service that has everything.
    fn of_everything() -> (Schema, Options) {
        let tokens = Tokens::new(vec![(Scope::Admin, "s3cret".to_owned())]);
        let options = Options {
            access: Access { tokens, ..Access::default() },
            groups: true,
            replica: true,
            challenger: true,
            model_name: "m".to_owned(),
            ..Options::default()
        };
        let [outputs, states] = ["y", "x"].map(|name| vec![name.to_owned()]);
        (Schema { explains: true, outputs, states, ..Schema::default() }, options)
    }

    /// The paths with their methods that the service answers and the document does not have, and
    /// the other way round.
    fn differences(document: &Value) -> [Vec<String>; 2] {
        let answered: BTreeSet<String> = PATHS
            .iter()
            .map(|path| {
                let method = if POSTED.contains(path) { "post" } else { "get" };
                format!("{method} {}", path.replace("MODEL", "m"))
            })
            .collect();
        let told: BTreeSet<String> = document["paths"]
            .as_object()
            .into_iter()
            .flatten()
            .flat_map(|(path, methods)| {
                methods.as_object().into_iter().flatten().map(move |(m, _)| format!("{m} {path}"))
            })
            .collect();
        [&answered - &told, &told - &answered].map(|paths| paths.into_iter().collect())
    }

    #[test]
    fn the_document_has_every_path_and_no_other() {
        let (schema, options) = of_everything();
        let mut document = document(&schema, &options);
        assert_eq!(differences(&document), [vec![], Vec::<String>::new()]);
        // A path that is not described is found, and so is one that is not answered.
        let paths = document["paths"].as_object_mut().unwrap();
        let infer = paths.remove("/v2/models/m/infer").unwrap();
        paths.insert("/v2/models/m/learn".to_owned(), infer);
        let found = [["post /v2/models/m/infer".to_owned()], ["post /v2/models/m/learn".to_owned()]];
        assert_eq!(differences(&document), found.map(Vec::from));
    }

    /// The document leaves out what a service does not have.
    #[test]
    fn a_service_that_only_reads_a_series_describes_less() {
        let (schema, _) = of_everything();
        let closed = Access { closed: Some("only to be read".to_owned()), ..Access::default() };
        let options = Options { access: closed, model_name: "m".to_owned(), ..Options::default() };
        let document = document(&Schema { series: Some(5), explains: false, states: Vec::new(), ..schema }, &options);
        let [missing, more] = differences(&document);
        let left_out = ["explain", "functions", "learn", "reload", "rollback", "snapshot", "v2/models/m/infer"];
        let left_out = left_out.map(|path| format!("post /{path}"));
        assert_eq!(
            missing,
            [&["get /compare", "get /groups", "get /modes"].map(str::to_owned)[..], &left_out].concat()
        );
        assert!(more.is_empty() && document["components"]["schemas"].get("V2InferRequest").is_none());
    }

    /// Whatever a document refers to is there, and no two operations have one name.
    #[test]
    fn references_lead_somewhere() {
        fn references(of: &Value, into: &mut Vec<String>) {
            match of {
                Value::Object(fields) => fields.iter().for_each(|(name, value)| match value {
                    Value::String(text) if name == "$ref" => into.push(text.clone()),
                    value => references(value, into),
                }),
                Value::Array(items) => items.iter().for_each(|item| references(item, into)),
                _ => {}
            }
        }
        let (schema, options) = of_everything();
        let document = document(&schema, &options);
        let mut found = Vec::new();
        references(&document, &mut found);
        let leads = |of: &String| of.strip_prefix('#').and_then(|place| document.pointer(place)).is_some();
        assert!(found.len() > 50 && found.iter().all(leads), "{found:?}");
        let names: BTreeSet<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
    }
}
