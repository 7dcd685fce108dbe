//! Free ports on loopback.
//!
//! They are taken from below the range out of which the kernel gives ports to those who only call. Within it, somebody
//! who calls a replica that is down again and again may be given the replica's own port, and the replica could not come
//! back.

use std::io;
use std::net::TcpListener;

/// Where to look, on every machine below what the kernel gives away.
const FIRST: u16 = 21_000;
const LAST: u16 = 29_999;

/// So many ports that nobody listens on.
///
/// # Errors
///
/// There are not so many.
pub(crate) fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    // Several demos may run at once: each begins somewhere else.
    let span = u32::from(LAST - FIRST) + 1;
    let start = std::process::id().wrapping_mul(61) % span;
    let candidates = (0..span).filter_map(|step| u16::try_from((start + step) % span).ok());
    // They are held until all are found, so that none comes twice.
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
