//! Why a request is not answered as asked.

use std::time::Duration;

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::json;

/// Why a request is not answered as asked.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
    /// Rows of a request that were learnt nevertheless.
    pub(super) learnt: Option<usize>,
    /// True if the rest of the request was not read, so that the connection must end.
    pub(super) unread: bool,
    /// After how long the same may be asked again.
    pub(super) retry: Option<Duration>,
    /// The methods that the path takes.
    pub(super) allowed: Option<&'static str>,
}

impl Refusal {
    /// The JSON that tells it.
    pub(super) fn body(&self) -> Bytes {
        let mut body = json!({ "error": self.message });
        if let Some(learnt) = self.learnt {
            body["learnt"] = learnt.into();
        }
        body.to_string().into()
    }

    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), learnt: None, unread: false, retry: None, allowed: None }
    }

    pub(super) fn bad_request(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn busy(message: impl Into<String>, retry: Duration) -> Self {
        Self { retry: Some(retry), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
    }

    pub(super) fn gone() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "the service is ending, or its learner has failed; see its messages")
    }

    pub(super) fn unprocessable(message: String) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    pub(super) fn too_large(message: &str) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    pub(super) fn forbidden(message: &str) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    pub(super) fn unauthorized(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
    }
}
