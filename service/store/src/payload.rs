//! The stored forms of the payload of a log entry and of the replica set.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use synod_machine::{DirectoryId, ReplicaId};
use synod_model::stored::{Source, Stored, StoredFault, Tables, put_number};
use synod_model::{stored, stored_variants};

use crate::log_id::{LogId, LogRecord};
use crate::vote::Vote;

/// The decoded payload of a [`LogRecord`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPayload {
    /// Nothing: a leader's first entry.
    Blank,
    /// A stored [`synod_machine::LogEntry`].
    Commands(Bytes),
    /// A new replica set.
    ReplicaSet(ReplicaSet),
}

/// A replica set. While it changes, it has two sets of voters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSet {
    /// The sets of voters. A decision needs a majority of each.
    pub configs: Vec<BTreeSet<ReplicaId>>,
    /// Every replica, voter or learner.
    pub replicas: BTreeMap<ReplicaId, ReplicaAddress>,
}

/// The address of a replica, and the data directory that it must have.
///
/// The replicated set of replicas has one for each. It binds the id to one directory: a replica that lost its directory
/// has forgotten its votes, and under its old id it could elect a leader that lacks acknowledged writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaAddress {
    /// Where the other replicas reach it, as `host:port`.
    pub peer: String,
    /// The identity of its data directory.
    pub directory: DirectoryId,
}

/// The log position and the replica set of a checkpoint, stored beside its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointMeta {
    /// The last log position that the state has applied.
    pub last: Option<LogId>,
    /// The log id of the entry that decided the replica set; `None` for the first set.
    pub decided: Option<LogId>,
    /// The replica set as of `last`.
    pub replica_set: ReplicaSet,
}

stored! {
    CheckpointMeta { last, decided, replica_set }
    LogRecord { id, payload }
    ReplicaAddress { peer, directory }
    ReplicaSet { configs, replicas }
}

stored_variants! {
    LogPayload { 1 Blank, 2 Commands(commands: Bytes), 3 ReplicaSet(set: ReplicaSet) }
}

impl Stored for LogId {
    fn store(&self, to: &mut Vec<u8>) {
        put_number(to, self.term);
        put_number(to, self.leader);
        put_number(to, self.index);
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        let id = Self {
            term: term(from)?,
            leader: from.number()?,
            index: from.number()?,
        };
        if id.index > Self::INDEX_MAX {
            return Err(StoredFault::rule("an index that no log can have"));
        }
        Ok(id)
    }

    fn shape(_: &mut Tables) -> String {
        "term, leader, index".to_owned()
    }
}

impl Stored for Vote {
    fn store(&self, to: &mut Vec<u8>) {
        put_number(to, self.term);
        put_number(to, self.leader);
        self.committed.store(to);
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        Ok(Self {
            term: term(from)?,
            leader: from.number()?,
            committed: bool::load(from)?,
        })
    }

    fn shape(_: &mut Tables) -> String {
        "term, leader, committed".to_owned()
    }
}

/// Terms go up by one with every election, so a valid one never comes near the maximum of the type.
fn term(from: &mut Source<'_>) -> Result<u64, StoredFault> {
    let term = from.number()?;
    if term > u64::MAX / 2 {
        return Err(StoredFault::rule("a term that no election can have"));
    }
    Ok(term)
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use synod_machine::{Envelope, LogEntry, Row};
    use synod_model::stored::{from_bytes, to_bytes};

    use super::*;
    use crate::backup::BackupHeader;

    /// The file with the tables of the released formats, which the present ones are compared with.
    const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tables.txt");

    /// Every type that is stored on disk.
    fn tables() -> Tables {
        let mut tables = Tables::default();
        LogPayload::shape(&mut tables);
        LogEntry::shape(&mut tables);
        Envelope::shape(&mut tables);
        CheckpointMeta::shape(&mut tables);
        Row::shape(&mut tables);
        BackupHeader::shape(&mut tables);
        tables
    }

    /// Recovery tells entries from other records by that.
    #[test]
    fn no_payload_is_empty() {
        assert!(!to_bytes(&LogPayload::Blank).is_empty());
    }

    #[test]
    fn the_tables_stand_beside_the_code() {
        let tables = tables();
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(RECORDED, tables.to_string()).unwrap();
        }
        let recorded = fs::read_to_string(RECORDED).unwrap();
        assert_eq!(
            tables.to_string(),
            recorded,
            "write it anew with `UPDATE_GOLDEN=1 cargo test -p synod-store tables`"
        );
    }

    #[test]
    fn positions_that_no_log_can_have_are_refused() {
        let id = LogId {
            term: 7,
            leader: 2,
            index: 9,
        };
        assert_eq!(from_bytes(&to_bytes(&id)), Ok(id));
        let late = LogId {
            index: u64::MAX,
            ..id
        };
        assert!(from_bytes::<LogId>(&to_bytes(&late)).is_err());
        let vote = Vote {
            term: u64::MAX,
            leader: 2,
            committed: true,
        };
        assert!(from_bytes::<Vote>(&to_bytes(&vote)).is_err());
    }
}
