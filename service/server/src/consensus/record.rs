//! Conversions between openraft's entries and the log's records: a log id, and a stored payload.

use std::io;

use synod_model::stored::{StoredFault, from_bytes, to_bytes};
use synod_store::LogRecord;
use synod_store::payload::{CheckpointMeta, LogPayload, ReplicaSet};

use super::types::{
    Entry, EntryPayload, LogId, Membership, Payload, SnapshotMeta, StoredMembership, leader_id,
};
use super::{ReplicaId, Term};

pub(super) fn to_record(entry: Entry) -> LogRecord {
    LogRecord {
        id: to_store_id(&entry.log_id),
        payload: to_bytes(&payload_to_stored(entry.payload)),
    }
}

pub(super) fn payload_to_stored(payload: EntryPayload) -> LogPayload {
    match payload {
        EntryPayload::Blank => LogPayload::Blank,
        EntryPayload::Normal(Payload(commands)) => LogPayload::Commands(commands),
        EntryPayload::Membership(membership) => LogPayload::ReplicaSet(replica_set_of(&membership)),
    }
}

/// # Errors
///
/// When the payload is not of this build's format. Its checksum held, so a newer build wrote it.
pub(super) fn of_record(record: LogRecord) -> io::Result<Entry> {
    let LogRecord { id, payload } = record;
    let entry = from_bytes(&payload).and_then(|payload| entry_of(&id, payload));
    entry.map_err(|fault| {
        let text = format!(
            "the log entry at {id} cannot be read: {fault}; run the newer release that wrote it"
        );
        io::Error::new(io::ErrorKind::InvalidData, text)
    })
}

/// # Errors
///
/// When it is a replica set with a voter that has no address.
pub(super) fn entry_of(id: &synod_store::LogId, payload: LogPayload) -> Result<Entry, StoredFault> {
    let payload = match payload {
        LogPayload::Blank => EntryPayload::Blank,
        LogPayload::Commands(commands) => EntryPayload::Normal(Payload(commands)),
        LogPayload::ReplicaSet(set) => EntryPayload::Membership(membership_of(set)?),
    };
    let log_id = of_store_id(id);
    Ok(Entry { log_id, payload })
}

pub(super) fn to_store_id(id: &LogId) -> synod_store::LogId {
    synod_store::LogId {
        term: id.leader_id.term,
        leader: id.leader_id.node_id.get(),
        index: id.index,
    }
}

pub(super) fn of_store_id(id: &synod_store::LogId) -> LogId {
    LogId {
        leader_id: leader_id(Term::new(id.term), ReplicaId::new(id.leader)),
        index: id.index,
    }
}

pub(super) fn some_to_store_id(id: Option<&LogId>) -> Option<synod_store::LogId> {
    id.map(to_store_id)
}

pub(super) fn some_of_store_id(id: Option<&synod_store::LogId>) -> Option<LogId> {
    id.map(of_store_id)
}

pub(super) fn replica_set_of(membership: &Membership) -> ReplicaSet {
    let replicas = membership.nodes();
    ReplicaSet {
        configs: membership.get_joint_config().clone(),
        replicas: replicas
            .map(|(id, address)| (*id, address.clone()))
            .collect(),
    }
}

pub(super) fn membership_of(set: ReplicaSet) -> Result<Membership, StoredFault> {
    let ReplicaSet { configs, replicas } = set;
    Membership::new(configs, replicas).map_err(|_| StoredFault::rule("a voter has no address"))
}

pub(super) fn checkpoint_meta(meta: &SnapshotMeta) -> CheckpointMeta {
    let decided = meta.last_membership.log_id();
    CheckpointMeta {
        last: some_to_store_id(meta.last_log_id.as_ref()),
        decided: some_to_store_id(decided.as_ref()),
        replica_set: replica_set_of(meta.last_membership.membership()),
    }
}

pub(super) fn snapshot_meta(stored: CheckpointMeta) -> Result<SnapshotMeta, StoredFault> {
    let membership = membership_of(stored.replica_set)?;
    let decided = some_of_store_id(stored.decided.as_ref());
    Ok(SnapshotMeta {
        last_log_id: some_of_store_id(stored.last.as_ref()),
        last_membership: StoredMembership::new(decided, membership),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use bytes::Bytes;

    use super::*;
    use crate::consensus::{DirectoryId, ReplicaAddress};

    fn entry(index: u64, payload: EntryPayload) -> Entry {
        Entry {
            log_id: LogId {
                leader_id: leader_id(Term::new(3), ReplicaId::new(2)),
                index,
            },
            payload,
        }
    }

    fn two_replicas() -> Membership {
        let address = |port, directory| ReplicaAddress {
            peer: format!("127.0.0.1:{port}"),
            directory: DirectoryId::from_bytes([directory; 16]),
        };
        let ids = BTreeSet::from([ReplicaId::new(1), ReplicaId::new(2)]);
        let replicas = BTreeMap::from([
            (ReplicaId::new(1), address(1, 0xAA)),
            (ReplicaId::new(2), address(2, 0xBB)),
        ]);
        Membership::new(vec![ids], replicas).unwrap()
    }

    #[test]
    fn every_kind_of_entry_survives_the_log() {
        let payloads = [
            EntryPayload::Blank,
            EntryPayload::Normal(Payload(Bytes::from_static(b"commands"))),
            EntryPayload::Membership(two_replicas()),
        ];
        for (index, payload) in (0..).zip(payloads) {
            let entry = entry(index, payload);
            let back = of_record(to_record(entry.clone())).unwrap();
            assert_eq!(back.log_id, entry.log_id);
            assert!(
                back.payload == entry.payload,
                "{:?} became {:?}",
                entry.payload,
                back.payload
            );
        }
    }

    #[test]
    fn an_entry_that_this_build_does_not_know_is_refused_by_its_position() {
        let id = to_store_id(&entry(7, EntryPayload::Blank).log_id);
        // No variant of this release has this number.
        let record = LogRecord {
            id,
            payload: Bytes::from_static(&[0x7A, 0x00]),
        };
        let refused = of_record(record).unwrap_err();
        assert!(refused.to_string().contains("index 7"), "{refused}");
    }
}
