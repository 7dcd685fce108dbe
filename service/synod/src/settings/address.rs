//! Parses addresses: those to listen on, and those where others are reached.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Parses an address to listen on: an IP address or `localhost`, and a port.
///
/// A host name is not resolved: it may mean another address tomorrow, and the address decides who can reach this
/// process.
///
/// # Errors
///
/// The text says what the address should look like.
pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    if let Some(("localhost", port)) = text.rsplit_once(':')
        && let Ok(port) = port.parse()
    {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_| {
        "must be an IP address and a port, as in 127.0.0.1:4600 or [::1]:4600".to_owned()
    })
}

/// Parses an address where others are reached: a host name or an IP address, and a port other than 0.
///
/// # Errors
///
/// The text says what the address should look like.
pub(crate) fn reachable(text: &str) -> Result<String, String> {
    let Some((host, port)) = text.rsplit_once(':') else {
        return Err("must be host:port, as in 10.0.0.1:4610".to_owned());
    };
    if !port.parse::<u16>().is_ok_and(|port| port > 0) {
        return Err(format!(
            "{port:?} is no port: give a number from 1 to 65535"
        ));
    }
    if let Ok(address) = text.parse::<SocketAddr>() {
        if address.ip().is_unspecified() {
            return Err(format!(
                "{host} is no address that anyone can reach: give the host's own"
            ));
        }
        return Ok(text.to_owned());
    }
    let is_name = |part: &str| {
        let inner = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        !part.is_empty() && part.len() <= 63 && part.chars().all(inner)
    };
    if host.len() > 253 || !host.trim_end_matches('.').split('.').all(is_name) {
        return Err(format!(
            "{host:?} is neither a host name nor an IP address; IPv6 goes in brackets, as in [::1]:4610"
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_listens_on_an_ip_address_or_on_localhost() {
        assert_eq!(
            listen("localhost:4600").unwrap().to_string(),
            "127.0.0.1:4600"
        );
        for good in [
            "127.0.0.1:0",
            "0.0.0.0:4600",
            "[::1]:4600",
            "10.1.2.3:65535",
        ] {
            assert_eq!(listen(good).unwrap().to_string(), good);
        }
        for bad in [
            "",
            "4600",
            ":4600",
            "127.0.0.1",
            "example.com:4600",
            "127.0.0.1:65536",
            "http://127.0.0.1:1",
            "::1:4600:x",
        ] {
            assert!(
                listen(bad).unwrap_err().contains("IP address and a port"),
                "{bad}"
            );
        }
    }

    #[test]
    fn one_is_reached_by_a_name_or_an_address_that_leads_somewhere() {
        for good in [
            "synod-0.synod.svc:4610",
            "localhost:1",
            "10.0.0.1:4610",
            "[::1]:4610",
        ] {
            assert_eq!(reachable(good).as_deref(), Ok(good));
        }
        for (bad, part) in [
            ("", "host:port"),
            ("host", "host:port"),
            ("host:", "\"\" is no port"),
            ("host:0", "from 1 to 65535"),
            ("host:65536", "from 1 to 65535"),
            (":4610", "neither a host name"),
            ("a b:1", "neither a host name"),
            ("::1:4610", "IPv6 goes in brackets"),
            ("http://host:1", "neither a host name"),
            ("0.0.0.0:4610", "no address that anyone can reach"),
        ] {
            let fault = reachable(bad).unwrap_err();
            assert!(fault.contains(part), "{bad}: {fault}");
        }
    }
}
