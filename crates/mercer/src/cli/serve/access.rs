//! Who may change the model.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HOST};
use subtle::ConstantTimeEq;

use super::routes::Refusal;
use crate::cli::failure::Failure;

/// The variable of the environment that holds the token.
const VARIABLE: &str = "MERCER_TOKEN";

/// Whether requests may learn.
pub(super) enum Access {
    /// Nobody may.
    ReadOnly,
    /// Nobody may, since the address is not a loopback address and there is no token.
    Closed,
    /// Whoever reaches the loopback address may.
    Open,
    /// Whoever tells this token may.
    Token(String),
}

impl Access {
    pub(super) fn new(address: IpAddr, read_only: bool) -> Result<Self, Failure> {
        if read_only {
            return Ok(Self::ReadOnly);
        }
        match std::env::var(VARIABLE) {
            // The characters that a header field can hold without quotes.
            Ok(token) if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Ok(Self::Token(token))
            }
            Err(std::env::VarError::NotPresent) if address.is_loopback() => Ok(Self::Open),
            Err(std::env::VarError::NotPresent) => Ok(Self::Closed),
            _ => Err(Failure::usage(format!(
                "{VARIABLE}: is empty or holds other characters than printable ASCII without spaces; give it a token, or unset it"
            ))),
        }
    }

    /// What is to be told at the start.
    pub(super) fn remark(&self) -> Option<String> {
        matches!(self, Self::Closed).then(|| {
            format!("/learn is closed, since others than this machine may reach it; set {VARIABLE} to open it to those who know the token")
        })
    }

    /// Whether requests to learn must tell a token.
    pub(super) fn has_token(&self) -> bool {
        matches!(self, Self::Token(_))
    }

    /// Whether anybody may learn.
    pub(super) fn can_learn(&self) -> bool {
        matches!(self, Self::Open | Self::Token(_))
    }

    /// Refuses a request that may not change the model.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        match self {
            Self::ReadOnly => {
                Err(Refusal::forbidden("the model is served with --read-only; start mercer serve without it to learn"))
            }
            Self::Closed => Err(Refusal::forbidden(&format!(
                "learning is closed on an address that others reach; start mercer serve with a token in {VARIABLE}"
            ))),
            // A page from elsewhere may make a browser ask under a name of its own that leads to this machine.
            Self::Open if !names_this_machine(headers) => Err(Refusal::forbidden(
                "without a token /learn answers only requests to an IP address or to localhost; correct the Host of the request",
            )),
            Self::Open => Ok(()),
            Self::Token(token) => {
                let told = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
                    let (scheme, told) = value.split_once(' ')?;
                    scheme.eq_ignore_ascii_case("bearer").then(|| told.trim())
                });
                match told {
                    None => Err(Refusal::unauthorized(
                        "learning needs a token; send the header Authorization: Bearer TOKEN",
                    )),
                    Some(told) if bool::from(told.as_bytes().ct_eq(token.as_bytes())) => Ok(()),
                    Some(_) => Err(Refusal::unauthorized(
                        "the token is another one; send the one that mercer serve was started with",
                    )),
                }
            }
        }
    }
}

/// Whether the host that was asked for is an address, or the name of this machine for itself.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return true };
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

    fn headers(host: &str) -> HeaderMap {
        HeaderMap::from_iter([(HOST, host.parse().unwrap())])
    }

    #[test]
    fn hosts_of_this_machine() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]"] {
            assert!(names_this_machine(&headers(host)), "{host}");
        }
        for host in ["evil.example", "evil.example:8080", "localhost.evil.example:8080", "127.0.0.1.evil.example"] {
            assert!(!names_this_machine(&headers(host)), "{host}");
        }
    }
}
