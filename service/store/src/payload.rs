//! The stored forms of what consensus keeps: what an entry carries, and the replica set.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use synod_machine::{DirectoryId, ReplicaId};
use synod_model::stored::{Source, Stored, StoredFault, Tables, put_number};
use synod_model::{stored, stored_variants};

use crate::log_id::{LogId, LogRecord};
use crate::vote::Vote;

/// What the payload of a [`LogRecord`] is the stored form of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPayload {
    /// Nothing: a leader's first entry.
    Blank,
    /// A stored [`synod_machine::LogEntry`].
    Commands(Bytes),
    /// Another replica set.
    ReplicaSet(ReplicaSet),
}

/// A replica set: of two sets of voters while it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSet {
    /// The sets of voters, of each of which a majority is needed.
    pub configs: Vec<BTreeSet<ReplicaId>>,
    /// Every replica, voter or learner.
    pub replicas: BTreeMap<ReplicaId, ReplicaAddress>,
}

/// Where a replica is, and which data directory it must have.
///
/// The replicated set of replicas holds one for each. It binds the id to one directory: a replica that lost its
/// directory has forgotten its votes, and if it came back under its id it could elect a leader that lacks
/// acknowledged writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaAddress {
    /// Where the other replicas reach it, as `host:port`.
    pub peer: String,
    /// The identity of its data directory.
    pub directory: DirectoryId,
}

/// What a checkpoint says of the log and the replica set beside its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointMeta {
    /// The last log position that the state has applied.
    pub last: Option<LogId>,
    /// Where the replica set was decided; `None` if it was there from the beginning.
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

/// Terms are counted up by one with every election: none comes near the end of its type.
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

    /// The tables as text, which the released ones are held against.
    const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tables.txt");

    /// Every type that is on a disk.
    fn tables() -> Tables {
        let mut tables = Tables::default();
        LogPayload::shape(&mut tables);
        LogEntry::shape(&mut tables);
        Envelope::shape(&mut tables);
        CheckpointMeta::shape(&mut tables);
        Row::shape(&mut tables);
        tables
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
