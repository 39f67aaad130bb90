//! The page for people. It is one file that asks nobody but this service.

use serde_json::json;

use super::access::Access;
use super::schema::Schema;
use super::served::Served;

/// What the browser lets the page do.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn html(schema: &Schema, model: &Served, access: &Access) -> String {
    let (learner, kernel, scaled) = match model {
        Served::Examples(model) => {
            let about = model.description();
            (about.learner.as_str(), about.kernel.as_str(), model.scaling().is_some())
        }
        Served::Series(pass) => (pass.model().method.as_str(), "", false),
    };
    let facts = json!({
        "learner": learner,
        "kernel": kernel,
        "features": schema.features.iter().filter(|feature| feature.needed || !schema.named).map(|feature| json!({
            "name": feature.name,
            "kind": feature.kind.map_or("number".to_owned(), |kind| kind.to_string()),
            "any": feature.gaps,
            "categories": feature.categories,
        })).collect::<Vec<_>>(),
        "named": schema.named,
        "targets": schema.targets,
        "weight": schema.weight,
        "classes": schema.classes,
        "variance": schema.has_variance,
        "learns": access.can_learn(),
        "token": access.has_token(),
        "scaled": scaled,
        "series": schema.series,
        "outputs": schema.outputs,
    });
    // Within a script no text may look like its end.
    let facts = facts.to_string().replace('<', "\\u003c");
    include_str!("page.html").replace("/*MODEL*/null", &facts)
}
