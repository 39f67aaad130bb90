//! Who may ask, learn and download the model.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};

use hyper::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, Version};
use subtle::ConstantTimeEq;

use super::refusal::Refusal;

/// Who may learn: nobody if it is closed, then whoever tells a token for it if there are tokens,
/// and else everybody. One is needed to download the model, too, which may hold all that it was
/// taught.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Why nobody may learn.
    pub closed: Option<String>,
    /// Tokens, one of which `Authorization: Bearer TOKEN` must tell.
    pub tokens: Tokens,
    /// True if the token is needed for every path.
    pub all: bool,
    /// True if the address is one that only this machine reaches. Without a token all requests must
    /// then name an address or this machine as their host.
    pub loopback: bool,
}

/// What a token is good for; each takes in those before it.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Scope {
    /// The model file, and what a closed service shows.
    Read,
    /// Learning, too.
    Learn,
    /// Replacing the model, too.
    Admin,
}

/// Tokens, printable ASCII without spaces, which may change while the service runs.
#[derive(Clone, Default)]
pub struct Tokens {
    /// None if there are to be no tokens.
    list: Option<Arc<RwLock<TokenList>>>,
}

type TokenList = Vec<(Scope, String)>;

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.exist() { "Tokens(…)" } else { "Tokens(none)" })
    }
}

impl Tokens {
    /// These tokens; a service that is begun with them wants one, whatever they become.
    pub fn new(tokens: Vec<(Scope, String)>) -> Self {
        Self { list: Some(Arc::new(RwLock::new(tokens))) }
    }

    /// Puts others in their place.
    pub fn set(&self, tokens: Vec<(Scope, String)>) {
        if let Some(list) = &self.list {
            *list.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        }
    }

    /// True if requests need one.
    pub fn exist(&self) -> bool {
        self.list.is_some()
    }

    /// What a token is good for; the time that it takes tells nothing of the tokens.
    fn scope(&self, told: &str) -> Option<Scope> {
        let list = self.list.as_ref()?.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        for (scope, token) in &*list {
            if bool::from(told.as_bytes().ct_eq(token.as_bytes())) {
                found = Some(*scope);
            }
        }
        found
    }
}

impl Access {
    /// Refuses a request whose host is not told as it must be, or is another than this machine
    /// where a page from elsewhere may make a browser ask under a name of its own that leads here.
    pub(super) fn check_host(&self, version: Version, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut told = headers.get_all(HOST).iter();
        let host = match (told.next(), told.next()) {
            (None, _) if version < Version::HTTP_11 => return Ok(()),
            (Some(host), None) => host.to_str().ok().filter(|host| host.parse::<Authority>().is_ok()),
            _ => None,
        };
        let Some(host) = host else {
            return Err(Refusal::bad_request("send one header Host, with a name or an address"));
        };
        if !self.tokens.exist() && self.loopback && !names_this_machine(host) {
            return Err(Refusal::forbidden(
                "without a token only requests to an IP address or to localhost are answered; correct the Host of the request",
            ));
        }
        Ok(())
    }

    /// Refuses what a page from elsewhere has a browser send. A link to this service may be
    /// followed.
    pub(super) fn check_origin(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: HeaderName| headers.get(name).map(|told| told.to_str().unwrap_or_default());
        let host = text(HOST).unwrap_or_default();
        let foreign = headers.get_all(ORIGIN).iter().any(|origin| !is_of(origin.to_str().unwrap_or_default(), host));
        let follows = *method == Method::GET && text(HeaderName::from_static("sec-fetch-mode")) == Some("navigate");
        let elsewhere = text(HeaderName::from_static("sec-fetch-site")) == Some("cross-site") && !follows;
        if foreign || elsewhere {
            return Err(Refusal::forbidden(
                "a page from elsewhere has sent this; only pages of this service may ask it",
            ));
        }
        Ok(())
    }

    /// Refuses a request for a path that is closed to those who do not tell the token.
    pub(super) fn check_path(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if self.all { self.check_token(headers, Scope::Read) } else { Ok(()) }
    }

    /// Refuses a request that may not replace the model, which takes a token in any case.
    pub(super) fn check_operator(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if !self.tokens.exist() {
            return Err(Refusal::forbidden("this is for services with a token; start this one with a token"));
        }
        self.check_open()?;
        self.check_token(headers, Scope::Admin)
    }

    /// Refuses a request that may not have the model read anew: it needs the token, or comes from
    /// this machine.
    pub(super) fn check_reload(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if !self.tokens.exist() && !self.loopback {
            return Err(Refusal::forbidden("this needs a token on an address that others reach; send SIGHUP instead"));
        }
        self.check_token(headers, Scope::Admin)
    }

    fn check_open(&self) -> Result<(), Refusal> {
        self.closed.as_deref().map_or(Ok(()), |why| Err(Refusal::forbidden(why)))
    }

    /// Refuses a request that may not change the model.
    pub(super) fn check_learning(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        self.check_open()?;
        self.check_token(headers, Scope::Learn)
    }

    /// Refuses a request that does not tell a token which is good for this, if there are tokens.
    pub(super) fn check_token(&self, headers: &HeaderMap, wanted: Scope) -> Result<(), Refusal> {
        if !self.tokens.exist() {
            return Ok(());
        }
        let told = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
            let (scheme, told) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| told.trim())
        });
        let Some(told) = told else {
            return Err(Refusal::unauthorized("this needs a token; send the header Authorization: Bearer TOKEN"));
        };
        match self.tokens.scope(told) {
            Some(scope) if scope >= wanted => Ok(()),
            Some(scope) => {
                let [has, needs] = [scope, wanted].map(|scope| format!("{scope:?}").to_lowercase());
                Err(Refusal::forbidden(&format!("this token is for {has}, and this needs one for {needs}")))
            }
            None => Err(Refusal::unauthorized("the token is none of this service; send one that it knows")),
        }
    }
}

/// True if an origin is the host that was asked for. A proxy may pass the host on without its port.
fn is_of(origin: &str, host: &str) -> bool {
    let Some((scheme, place)) = origin.split_once("://") else { return false };
    let default = if scheme == "https" { ":443" } else { ":80" };
    let bare = |place: &str| place.strip_suffix(default).unwrap_or(place).to_ascii_lowercase();
    let (place, host) = (bare(place), bare(host));
    let has_port = |place: &str| place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    place == host || !has_port(&host) && place.rsplit_once(':').is_some_and(|(name, _)| name == host)
}

/// True if the host that was asked for is an address, or the name of this machine for itself.
fn names_this_machine(host: &str) -> bool {
    if host.parse::<SocketAddr>().is_ok() {
        return true;
    }
    let name = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address,
        None => host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_of_this_service() {
        for (origin, host) in [
            ("http://localhost:8080", "localhost:8080"),
            ("https://model.example.org", "model.example.org"),
            ("https://model.example.org:8443", "model.example.org"),
            ("http://[::1]:8080", "[::1]:8080"),
            ("http://127.0.0.1", "127.0.0.1:80"),
        ] {
            assert!(is_of(origin, host), "{origin} {host}");
        }
        for (origin, host) in [
            ("null", "localhost:8080"),
            ("http://localhost:3000", "localhost:8080"),
            ("http://evil.example", "localhost:8080"),
            ("http://localhost:8080.evil.example", "localhost:8080"),
            ("https://evil.example:8443", "model.example.org"),
            ("", ""),
        ] {
            assert!(!is_of(origin, host), "{origin} {host}");
        }
    }

    #[test]
    fn hosts_of_this_machine() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]"] {
            assert!(names_this_machine(host), "{host}");
        }
        for host in ["evil.example", "evil.example:8080", "localhost.evil.example:8080", "127.0.0.1.evil.example"] {
            assert!(!names_this_machine(host), "{host}");
        }
    }
}
