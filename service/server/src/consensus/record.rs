//! Entries as the log keeps them: a log id, and a `synod.storage.v1.LogPayload`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use prost::Message;
use synod_proto::storage::v1 as stored;
use synod_store::LogRecord;

use super::types::{Entry, EntryPayload, LogId, Membership, Payload, leader_id};
use super::{DirectoryId, ReplicaAddress, ReplicaId, Term};

pub(super) fn to_record(entry: Entry) -> LogRecord {
    let payload = match entry.payload {
        EntryPayload::Blank => stored::log_payload::Payload::Blank(stored::BlankPayload {}),
        EntryPayload::Normal(Payload(commands)) => stored::log_payload::Payload::Commands(commands),
        EntryPayload::Membership(membership) => {
            stored::log_payload::Payload::ReplicaSet(membership_to_stored(&membership))
        }
    };
    let payload = stored::LogPayload {
        payload: Some(payload),
    }
    .encode_to_vec()
    .into();
    LogRecord {
        id: to_store_id(&entry.log_id),
        payload,
    }
}

/// # Errors
///
/// When the record's content is not of this format. Its checksum held, so a newer build wrote it.
pub(super) fn of_record(record: LogRecord) -> io::Result<Entry> {
    let log_id = of_store_id(&record.id);
    let unreadable = |what: &str| {
        let text = format!(
            "the log entry at {} cannot be read: {what}; run the newer release that wrote it",
            record.id
        );
        io::Error::new(io::ErrorKind::InvalidData, text)
    };
    let stored = stored::LogPayload::decode(record.payload)
        .map_err(|error| unreadable(&error.to_string()))?;
    let payload = match stored
        .payload
        .ok_or_else(|| unreadable("it holds nothing that this build knows"))?
    {
        stored::log_payload::Payload::Blank(stored::BlankPayload {}) => EntryPayload::Blank,
        stored::log_payload::Payload::Commands(commands) => EntryPayload::Normal(Payload(commands)),
        stored::log_payload::Payload::ReplicaSet(set) => {
            EntryPayload::Membership(membership_of_stored(&set).map_err(unreadable)?)
        }
    };
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

pub(super) fn membership_to_stored(membership: &Membership) -> stored::ReplicaSet {
    let configs = membership.get_joint_config().iter();
    let replicas = membership
        .nodes()
        .map(|(id, address)| stored::ReplicaAddress {
            replica_id: id.get(),
            peer_address: address.peer.clone(),
            directory_id: address.directory.as_bytes().to_vec().into(),
        });
    stored::ReplicaSet {
        configs: configs
            .map(|voters| stored::VoterSet {
                replica_ids: voters.iter().map(|id| id.get()).collect(),
            })
            .collect(),
        replicas: replicas.collect(),
    }
}

pub(super) fn membership_of_stored(set: &stored::ReplicaSet) -> Result<Membership, &'static str> {
    let configs = set.configs.iter();
    let configs: Vec<BTreeSet<ReplicaId>> = configs
        .map(|voters| {
            voters
                .replica_ids
                .iter()
                .copied()
                .map(ReplicaId::new)
                .collect()
        })
        .collect();
    let mut replicas = BTreeMap::new();
    for stored in &set.replicas {
        let directory = <[u8; 16]>::try_from(&stored.directory_id[..])
            .map_err(|_| "a directory id is not 16 bytes")?;
        let address = ReplicaAddress {
            peer: stored.peer_address.clone(),
            directory: DirectoryId::from_bytes(directory),
        };
        replicas.insert(ReplicaId::new(stored.replica_id), address);
    }
    Membership::new(configs, replicas).map_err(|_| "a voter has no address")
}

pub(super) fn position_to_stored(id: &LogId) -> stored::LogId {
    stored::LogId {
        term: id.leader_id.term,
        leader: id.leader_id.node_id.get(),
        index: id.index,
    }
}

pub(super) fn position_of_stored(id: &stored::LogId) -> LogId {
    LogId {
        leader_id: leader_id(Term::new(id.term), ReplicaId::new(id.leader)),
        index: id.index,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

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
        // Field 15 of the message does not exist in this release.
        let record = LogRecord {
            id,
            payload: Bytes::from_static(&[0x7A, 0x00]),
        };
        let refused = of_record(record).unwrap_err();
        assert!(refused.to_string().contains("index 7"), "{refused}");
    }
}
