//! The hashes of rows, and of the statements of members.

use synod_model::stored::{Stored, put_number};
use synod_model::{
    Adopt, AgreementChange, Collection, ControllerRevision, GroupResource, Identity, Lease,
    LeaseCandidate, LeaseKey, Member, MemberId, Migration, MigrationId, Object, PackedObject,
    Report, ReportEntry, Roster, Sequence, SessionId, Settings, Ticket, Uid, Waiter,
};

use crate::digest::{RowHash, hash_of};
use crate::{
    Aftermath, Deadline, EntryRow, Garbage, Heartbeat, Holder, MembershipRow, OutcomeRow,
    ProgressRow, ReplicaId, ReplicaRow, RevisionEvents, StatementHash, StatementRow,
    StorageStateRow, StorageVersionRow, Watched,
};

/// Defines the hash of each kind of row from the number and the parts that its stored form has, so that no `Row` has to
/// be built only to be hashed.
macro_rules! row_hashes {
    ($($number:literal $name:ident($($part:ident: $of:ty),*);)*) => { $(
        pub(crate) fn $name($($part: $of),*) -> RowHash {
            RowHash::of(|to| {
                put_number(to, $number);
                $($part.store(to);)*
            })
        }
    )* };
}

row_hashes! {
    2 settings_hash(row: &Settings);
    3 replica_hash(id: ReplicaId, row: &ReplicaRow);
    4 member_hash(row: &Member);
    5 statement_hash(id: &MemberId, row: &StatementRow);
    6 deadline_hash(holder: &Holder, row: &Deadline);
    7 session_hash(id: SessionId, lowest: Sequence, owner: &Option<Identity>);
    8 outcome_hash(id: SessionId, sequence: Sequence, row: &OutcomeRow);
    9 storage_version_hash(resource: &GroupResource, row: &StorageVersionRow);
    10 entry_hash(resource: &GroupResource, id: &MemberId, row: &EntryRow);
    11 storage_state_hash(resource: &GroupResource, row: &StorageStateRow);
    12 agreement_hash(resource: &GroupResource, row: &AgreementChange);
    13 collection_hash(row: &Collection);
    14 object_hash(row: &Object);
    14 packed_hash(row: &PackedObject);
    15 garbage_hash(uid: &Uid, row: &Garbage);
    16 controller_revision_hash(row: &ControllerRevision);
    17 lease_hash(row: &Lease);
    18 lease_waiter_hash(key: &LeaseKey, ticket: Ticket, row: &Waiter);
    19 lease_candidate_hash(row: &LeaseCandidate);
    20 heartbeat_hash(resource: &GroupResource, row: &Heartbeat);
    21 migration_hash(row: &Migration);
    22 progress_hash(id: &MigrationId, row: &ProgressRow);
    23 roster_hash(row: &Roster);
    24 events_hash(row: &RevisionEvents);
    25 left_replica_hash(id: ReplicaId);
    26 aftermath_hash(row: &Aftermath);
    27 membership_hash(id: &MemberId, row: &MembershipRow);
}

/// A kind of object whose rows are part of the digest.
pub(crate) trait Hashed: Watched {
    /// The hash of the row of the object with this key.
    fn hash(kept: &Self::Kept, key: &Self::Key) -> RowHash;
}

macro_rules! hashed {
    ($($row:ty: $hash:expr;)*) => { $(
        impl Hashed for $row {
            fn hash(kept: &Self::Kept, key: &Self::Key) -> RowHash {
                let hash: fn(&Self::Key, &Self::Kept) -> RowHash = $hash;
                hash(key, kept)
            }
        }
    )* };
}

hashed! {
    Collection: |_, row| collection_hash(row);
    ControllerRevision: |_, row| controller_revision_hash(row);
    Lease: |_, row| lease_hash(row);
    LeaseCandidate: |_, row| lease_candidate_hash(row);
    Member: |_, row| member_hash(row);
    Migration: |_, row| migration_hash(row);
    Object: |_, row| packed_hash(row);
    Roster: |_, row| roster_hash(row);
    Settings: |_, row| settings_hash(row);
    StorageStateRow: |resource, row| storage_state_hash(resource, row);
    StorageVersionRow: |resource, row| storage_version_hash(resource, row);
}

/// The hash of a report's content in any order, without the member, its epoch and the statement number.
pub(crate) fn said_by_report(report: &Report) -> StatementHash {
    let Report {
        member: _,
        epoch: _,
        number: _,
        entries,
        replace,
    } = report;
    let mut entries: Vec<&ReportEntry> = entries.iter().collect();
    entries.sort_by_key(|entry| &entry.resource);
    said(|to| {
        put_number(to, 1);
        replace.store(to);
        for entry in entries {
            entry.store(to);
        }
    })
}

/// The hash of an adoption's content.
pub(crate) fn said_by_adoption(adopt: &Adopt) -> StatementHash {
    let Adopt {
        member: _,
        epoch: _,
        number: _,
        resource,
        selected_revision,
    } = adopt;
    said(|to| {
        put_number(to, 2);
        resource.store(to);
        selected_revision.store(to);
    })
}

fn said(write: impl FnOnce(&mut Vec<u8>)) -> StatementHash {
    let (hash, _) = hash_of(write);
    StatementHash::from_bytes(hash.to_le_bytes())
}
