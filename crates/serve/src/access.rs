//! Who may change the model.

use std::net::{IpAddr, SocketAddr};

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HOST};
use subtle::ConstantTimeEq;

use super::routes::Refusal;

/// Who may learn: nobody if it is closed, then whoever tells the token if there is one, and else everybody.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Why nobody may learn.
    pub closed: Option<String>,
    /// What `Authorization: Bearer TOKEN` must tell: printable ASCII without spaces.
    pub token: Option<String>,
    /// Whether the address is one that only this machine reaches. Without a token requests must then name an address or this machine as their host.
    pub loopback: bool,
}

impl Access {
    /// Refuses a request that may not change the model.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if let Some(why) = &self.closed {
            return Err(Refusal::forbidden(why));
        }
        let Some(token) = &self.token else {
            // A page from elsewhere may make a browser ask under a name of its own that leads to this machine.
            if self.loopback && !names_this_machine(headers) {
                return Err(Refusal::forbidden(
                    "without a token /learn answers only requests to an IP address or to localhost; correct the Host of the request",
                ));
            }
            return Ok(());
        };
        let told = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
            let (scheme, told) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| told.trim())
        });
        match told {
            None => Err(Refusal::unauthorized("learning needs a token; send the header Authorization: Bearer TOKEN")),
            Some(told) if bool::from(told.as_bytes().ct_eq(token.as_bytes())) => Ok(()),
            Some(_) => {
                Err(Refusal::unauthorized("the token is another one; send the one that the service was started with"))
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
