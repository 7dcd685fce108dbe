//! All replicas that have applied an index hold the same entry there, and the same state.

use std::collections::BTreeMap;

use synod_machine::Digest;
use synod_server::consensus::{Position, Published};

use crate::net::Host;

/// For each index, its entry and digest, and the replica that published them first.
#[derive(Default)]
pub(crate) struct OneHistory(BTreeMap<u64, (Position, Digest, Host)>);

impl OneHistory {
    pub(crate) fn look(&mut self, host: Host, published: &Published) {
        let Some(position) = published.applied else {
            return;
        };
        let digest = published.state.digest();
        let (first_position, first_digest, first) = self
            .0
            .entry(position.index)
            .or_insert((position, digest, host));
        assert_eq!(
            position, *first_position,
            "{host} and {first} applied different entries"
        );
        assert_eq!(
            digest, *first_digest,
            "{host} and {first} differ after the entry at {position}"
        );
    }
}
