//! Free ports on loopback.
//!
//! They are taken from below the kernel's range of ephemeral ports. A process that calls a stopped replica again and
//! again could be given the replica's own port out of that range, and the replica could not listen on it again.

use std::io;
use std::net::TcpListener;

/// The range of ports to search, on every machine below the ephemeral ports.
const FIRST: u16 = 21_000;
const LAST: u16 = 29_999;

/// Finds `count` ports that nobody listens on.
///
/// # Errors
///
/// There are not enough free ports.
pub(crate) fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    // Several demos may run at once: each begins its search at another port.
    let span = u32::from(LAST - FIRST) + 1;
    let start = std::process::id().wrapping_mul(61) % span;
    let candidates = (0..span).filter_map(|step| u16::try_from((start + step) % span).ok());
    // The listeners are held until all ports are found, so that no port is found twice.
    let held: Vec<(u16, TcpListener)> = candidates
        .map(|offset| FIRST + offset)
        .filter_map(|port| Some((port, TcpListener::bind(("127.0.0.1", port)).ok()?)))
        .take(count)
        .collect();
    if held.len() < count {
        return Err(io::Error::other(format!(
            "of the ports {FIRST} to {LAST} on loopback only {} are free, and {count} are needed",
            held.len()
        )));
    }
    Ok(held.into_iter().map(|(port, _)| port).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_are_all_different_and_can_be_listened_on() {
        let ports = free_ports(12).unwrap();
        let mut different = ports.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 12);
        let listening: Result<Vec<TcpListener>, _> = ports
            .iter()
            .map(|port| TcpListener::bind(("127.0.0.1", *port)))
            .collect();
        assert_eq!(listening.unwrap().len(), 12);
    }
}
