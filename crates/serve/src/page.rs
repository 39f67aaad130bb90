//! The page for people. It is one file that asks nobody but this service.

use serde_json::json;

use super::Options;
use super::model::{Schema, Takes};

/// Policy that tells the browser what the page may do.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn html(schema: &Schema, options: &Options) -> String {
    let access = &options.access;
    let facts = json!({
        "learner": schema.learner,
        "details": schema.details,
        "loss": schema.loss,
        "features": schema.columns.iter().filter(|column| column.needed || !schema.named).map(|column| json!({
            "name": column.name,
            "kind": match &column.takes {
                Takes::Any(kind) => kind,
                Takes::Time => "time",
                Takes::Number | Takes::NumberOrNull => "number",
            },
            "about": column.about,
            "any": column.takes != Takes::Number,
            "categories": column.categories,
        })).collect::<Vec<_>>(),
        "named": schema.named,
        "targets": schema.targets,
        "weight": schema.weight,
        "classes": schema.classes,
        "variance": schema.has_variance,
        "share": schema.interval_share,
        "learns": access.closed.is_none(),
        "token": access.tokens.exist(),
        "series": schema.series,
        "known": schema.known,
        "outputs": schema.outputs,
        "challenger": options.challenger,
        "groups": options.groups,
        "explains": schema.explains,
    });
    // Within a script no text may look like its end.
    let facts = facts.to_string().replace('<', "\\u003c");
    include_str!("page.html").replace("/*MODEL*/null", &facts)
}
