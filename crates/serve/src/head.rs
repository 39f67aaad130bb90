//! What the head of a request must have before anything is done for it: nothing is opened, read or
//! changed for one that is refused here.

use hyper::body::Incoming;
use hyper::header::{EXPECT, TRANSFER_ENCODING};
use hyper::{HeaderMap, Method, Request, StatusCode};

use super::access::Access;
use super::refusal::Refusal;

/// A request that may be looked at further.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) path: &'static str,
    /// The group that it is about.
    pub(super) group: Option<String>,
}

/// Paths that tell of one group where `?group=` names it.
pub(super) const OF_GROUPS: [&str; 11] = [
    "/predict",
    "/explain",
    "/learn",
    "/snapshot",
    "/rollback",
    "/health",
    "/metrics",
    "/curve",
    "/model",
    "/openapi.json",
    "/v2/models/MODEL/infer",
];

/// Paths that are posted to.
pub(super) const POSTED: [&str; 7] =
    ["/predict", "/explain", "/learn", "/snapshot", "/rollback", "/reload", "/v2/models/MODEL/infer"];

/// Looks at the head of a request; `path` is the one that is asked for, if there is one.
///
/// # Errors
/// If the head is not as it must be, or the asker may not ask.
pub(super) fn check(request: &Request<Incoming>, path: Option<&'static str>, access: &Access) -> Result<Head, Refusal> {
    let headers = request.headers();
    check_framing(headers)?;
    access.check_host(request.version(), headers)?;
    access.check_origin(request.method(), headers)?;
    access.check_path(headers)?;
    let Some(path) = path else {
        let why = "there is nothing at this path; see / and /openapi.json for what there is";
        return Err(Refusal::new(StatusCode::NOT_FOUND, why));
    };
    let posts = POSTED.contains(&path);
    let fits = match *request.method() {
        Method::POST => posts,
        Method::GET | Method::HEAD => !posts,
        _ => false,
    };
    if !fits {
        let allowed = if posts { "POST" } else { "GET, HEAD" };
        let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("{path} takes {allowed}"));
        return Err(Refusal { allowed: Some(allowed), ..refusal });
    }
    if path == "/learn" {
        access.check_learning(headers)?;
    }
    Ok(Head { path, group: group(path, request.uri().query())? })
}

/// Refuses codings and expectations that this service does not have (RFC 9112, 6.1; RFC 9110,
/// 10.1.1).
fn check_framing(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    if let Some(coding) = codings.next()
        && (codings.next().is_some() || !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        let why = "the transfer coding may be chunked, once, and no other";
        return Err(Refusal { unread: true, ..Refusal::new(StatusCode::NOT_IMPLEMENTED, why) });
    }
    if headers.get_all(EXPECT).iter().any(|told| !told.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
        let why = "an expectation may be 100-continue, and no other";
        return Err(Refusal { unread: true, ..Refusal::new(StatusCode::EXPECTATION_FAILED, why) });
    }
    Ok(())
}

/// The group that a query names. A misspelt parameter must not lead to the model of all.
fn group(path: &str, query: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(None) };
    let mut pairs = query.split('&');
    let name = pairs.next().and_then(|pair| pair.strip_prefix("group="));
    let (Some(name), None, true) = (name, pairs.next(), OF_GROUPS.contains(&path)) else {
        let known =
            if OF_GROUPS.contains(&path) { "takes ?group=NAME and no other parameter" } else { "takes no parameters" };
        return Err(Refusal::bad_request(&format!(
            "{path} {known}; correct ?{}",
            query.chars().take(80).collect::<String>()
        )));
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.chars().all(plain) {
        let why = "the name of a group has 64 letters, digits, lines and dots at most, and begins with no dot";
        return Err(Refusal::unprocessable(why.to_owned()));
    }
    Ok(Some(name.to_owned()))
}
