//! What a running service says: with the time, and a level by which a collector of logs sorts it.

use std::time::SystemTime;

use clap::ValueEnum;
use mercer_readers::instant_text;
use mercer_serve::Level;
use serde_json::json;

use crate::report::plain::Plain;
use crate::report::verbosity;

/// The form of messages.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum LogForm {
    Text,
    Json,
}

/// The function that says something of a level.
pub(super) fn of(form: LogForm) -> fn(Level, &str) {
    match form {
        LogForm::Text => |level, text| {
            verbosity::line(format_args!("{} {} mercer: {}", now(), level.name(), Plain(text)));
        },
        LogForm::Json => |level, text| {
            verbosity::line(json!({ "time": now(), "level": level.name(), "message": text }));
        },
    }
}

/// The time to the second, as RFC 3339 has it.
fn now() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    instant_text(now.as_secs() as f64)
}
