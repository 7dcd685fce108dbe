//! Free ports on loopback that no other process takes.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the kernel's range for outgoing connections, one of which could otherwise take the port of a stopped replica.
const RANGE: Range<u16> = 10_240..32_000;

/// The number of ports for one run of the tests, so that runs beside it use others.
const STRIDE: u32 = 400;

/// An address on loopback where no process listens, returned once in this run.
///
/// # Panics
///
/// No port of the range is free.
pub fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let span = u32::from(RANGE.end - RANGE.start);
    let first = std::process::id().wrapping_mul(STRIDE) % span;
    for _ in 0..span {
        let offset = (first + u32::from(NEXT.fetch_add(1, Ordering::Relaxed))) % span;
        let port = RANGE.start + u16::try_from(offset).expect("it is within the range");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port of {RANGE:?} is free");
}
