//! Free ports on loopback that no other process takes.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Below the ports of `synod demo`, which begin with 21,000, and those of the kernel for outgoing connections: one of these
/// could otherwise take the port of a stopped replica.
const RANGE: Range<u16> = 10_240..20_992;

/// The number of ports of a block. A program of tests has whole blocks, since it may stop what listens at a port and start it
/// again: it has one as long as it listens at the block's first port. The tests in Python and JavaScript do the same.
const BLOCK: u16 = 64;

/// An address on loopback where no process listens, returned once in this run, and in none beside it.
///
/// # Panics
///
/// No port of the range is free.
pub fn free_address() -> SocketAddr {
    static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks {
        held: Vec::new(),
        rest: 0..0,
    });
    let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(port) = blocks.rest.next() {
            let address = local(port);
            if TcpListener::bind(address).is_ok() {
                return address;
            }
        } else {
            blocks.take();
        }
    }
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// The blocks that this process has.
struct Blocks {
    /// Who listens at their first ports. The system ends that with the process.
    held: Vec<TcpListener>,
    /// What is left of the last one.
    rest: Range<u16>,
}

impl Blocks {
    /// Takes a block that nobody has: the first one behind a place that differs from process to process.
    fn take(&mut self) {
        let count = u32::from((RANGE.end - RANGE.start) / BLOCK);
        let taken = (0..count).find_map(|step| {
            let block = (std::process::id() % count + step) % count;
            let first = RANGE.start + BLOCK * u16::try_from(block).expect("blocks are few");
            Some((first, TcpListener::bind(local(first)).ok()?))
        });
        let (first, held) = taken.unwrap_or_else(|| panic!("no port of {RANGE:?} is free"));
        self.held.push(held);
        self.rest = first + 1..first + BLOCK;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn addresses_are_returned_once_and_whoever_has_some_keeps_their_block() {
        let addresses: BTreeSet<SocketAddr> = (0..3 * BLOCK).map(|_| free_address()).collect();
        assert_eq!(addresses.len(), usize::from(3 * BLOCK));
        for address in addresses {
            let first = RANGE.start + (address.port() - RANGE.start) / BLOCK * BLOCK;
            assert_ne!(address.port(), first);
            assert!(TcpListener::bind(local(first)).is_err(), "{first}");
        }
    }
}
