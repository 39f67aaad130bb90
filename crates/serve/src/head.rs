//! What the head of a request must have before anything is done for it: nothing is opened, read or
//! changed for one that is refused here.

use hyper::body::Incoming;
use hyper::header::{EXPECT, HeaderName, TRANSFER_ENCODING};
use hyper::{HeaderMap, Method, Request, StatusCode};

use super::refusal::Refusal;
use super::{Options, once};

/// A request that may be looked at further.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) path: &'static str,
    /// The group that it is about.
    pub(super) group: Option<String>,
    /// The `Idempotency-Key`.
    pub(super) key: Option<String>,
}

/// Paths that tell of one group where `?group=` names it.
pub(super) const OF_GROUPS: [&str; 13] = [
    "/predict",
    "/explain",
    "/functions",
    "/learn",
    "/snapshot",
    "/rollback",
    "/health",
    "/metrics",
    "/curve",
    "/model",
    "/modes",
    "/openapi.json",
    "/v2/models/MODEL/infer",
];

/// Paths that are posted to.
pub(super) const POSTED: [&str; 8] =
    ["/predict", "/explain", "/functions", "/learn", "/snapshot", "/rollback", "/reload", "/v2/models/MODEL/infer"];

/// Looks at the head of a request; `path` is the one that is asked for, if there is one.
///
/// # Errors
/// If the head is not as it must be, or the asker may not ask.
pub(super) fn check(
    request: &Request<Incoming>,
    path: Option<&'static str>,
    options: &Options,
) -> Result<Head, Refusal> {
    let (headers, access) = (request.headers(), &options.access);
    check_framing(headers)?;
    access.check_host(request.version(), headers)?;
    access.check_origin(request.method(), headers)?;
    access.check_path(headers)?;
    let Some(path) = path else {
        let why = "there is nothing at this path; see / and /openapi.json for what there is";
        return Err(Refusal::new(StatusCode::NOT_FOUND, why));
    };
    check_method(path, request.method())?;
    if path == "/learn" {
        access.check_learning(headers)?;
    }
    let group = group(path, request.uri().query(), options.groups)?;
    Ok(Head { path, group, key: key(path, headers)? })
}

/// Refuses a method that a path does not take.
pub(super) fn check_method(path: &str, method: &Method) -> Result<(), Refusal> {
    let posts = POSTED.contains(&path);
    let fits = match *method {
        Method::POST => posts,
        Method::GET | Method::HEAD => !posts,
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let allowed = if posts { "POST" } else { "GET, HEAD" };
    let refusal = Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("{path} takes {allowed}"));
    Err(Refusal { allowed: Some(allowed), ..refusal })
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

/// The group that a query names; `groups` says that there are some. A misspelt parameter must not
/// lead to the model of all.
///
/// # Errors
/// 400 for whatever else the query has: a parameter that is not known, one that is there twice, a
/// group of a service without groups, and what is no name of a group.
pub(super) fn group(path: &str, query: Option<&str>, groups: bool) -> Result<Option<String>, Refusal> {
    let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(None) };
    let of_groups = OF_GROUPS.contains(&path);
    let name = query.strip_prefix("group=").filter(|name| of_groups && !name.contains('&'));
    let refused = match name {
        Some(_) if !groups => "this service has no groups; leave out ?group=".to_owned(),
        Some(name) if is_name(name) => return Ok(Some(name.to_owned())),
        Some(_) => {
            let rule = "64 letters, digits, lines and dots at most, and begins with no dot";
            format!("the name of a group has {rule}; correct ?{}", shown(query))
        }
        None if of_groups && groups => {
            format!("{path} takes ?group=NAME and no other parameter; correct ?{}", shown(query))
        }
        None => return no_parameters(path, Some(query)).map(|()| None),
    };
    Err(Refusal::bad_request(&refused))
}

/// Refuses a query where none is taken.
pub(super) fn no_parameters(path: &str, query: Option<&str>) -> Result<(), Refusal> {
    match query {
        None | Some("") => Ok(()),
        Some(query) => Err(Refusal::bad_request(&format!("{path} takes no parameters; leave out ?{}", shown(query)))),
    }
}

/// The beginning of what a client has sent.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.chars().all(plain)
}

/// Paths that change the model and would do so once more for a request that is sent again.
const WITHOUT_KEYS: [&str; 3] = ["/snapshot", "/rollback", "/reload"];

/// The `Idempotency-Key` of a request. A client that sends one relies on it.
///
/// # Errors
/// 400 for what is no key, for a misspelt name, and where no keys are kept.
fn key(path: &str, headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let alike = |name: &&str| name.contains("idempoten") && *name != once::KEY;
    if let Some(name) = headers.keys().map(HeaderName::as_str).find(alike) {
        let why = format!("the header {} is not known here; correct it to Idempotency-Key", shown(name));
        return Err(Refusal::bad_request(&why));
    }
    let key = once::key(headers)?;
    if key.is_some() && WITHOUT_KEYS.contains(&path) {
        let why = format!("{path} keeps no Idempotency-Key; leave the header out");
        return Err(Refusal::bad_request(&why));
    }
    Ok(key)
}
