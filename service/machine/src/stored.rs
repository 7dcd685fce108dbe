//! The tables of the machine's rows, commands and answers: see [`synod_model::stored`](mod@synod_model::stored).

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_model::{
    AbortMigration, AcquireLease, AddEquivalents, Adopt, AdoptControllerRevisions, AgreementChange,
    Assumption, ClaimMigration, ClaimToken, CloseSession, ClusterId, Collection, CompleteMigration,
    ControllerRevision, CreateCollection, CreateControllerRevision, CreateObject, DeleteCollection,
    DeleteControllerRevisions, DeleteLease, DeleteMigration, DeleteObject, DeleteRoster,
    DismissLooks, Epoch, FailMigration, FencingToken, ForgetResource, GroupResource,
    HolderIdentity, Identity, Join, Lease, LeaseCandidate, LeaseKey, Leave, LiveMark, LogTime,
    MarkControllerRevisions, MarkReady, Member, MemberId, Migration, MigrationId,
    MigrationProgress, NamespacedName, ObjectKey, ObserveStorage, ObserverName, OpenSession,
    PackedObject, PatchObject, PutLeaseCandidate, ReleaseControllerRevision, ReleaseLease,
    ReleaseMigration, RemoveEquivalent, Renew, RenewLease, RenewLeaseCandidate, Report,
    ReportMigrationProgress, ResetStorageStates, ResourceScope, RetryMigration, Revision,
    RollbackControllerRevision, Roster, Sequence, SessionId, SetRoster, Settings, StartMigration,
    Ticket, Transact, TruncateControllerRevisions, Ttl, Uid, UpdateCollection,
    UpdateControllerRevision, UpdateObject, UpdateSettings, Waiter, WithdrawLeaseCandidate, stored,
    stored_bytes, stored_empty, stored_numbers, stored_variants,
};

use crate::command_table::command_table;
use crate::*;

stored_numbers! {
    ReplicaId: |it| it.get(), |number| Ok(Self::new(number));
}

stored_bytes! {
    Digest: as_bytes, from_bytes;
    DirectoryId: as_bytes, from_bytes;
    StatementHash: as_bytes, from_bytes;
}

stored_empty! { CollectGarbage FollowSwitches }

stored! {
    AnnounceReplica { replica, directory, client_endpoint, binary, machine_version, disk_is_low }
    Change { object, before, after, entries, agreement }
    ClaimDrain { worker, target, until, fenced, walks }
    Deadline { at, ttl }
    EntryChange { member, before, after }
    MembershipRow {
        instance, gated_since, longest_ttl, joined, away, renewed, left_ungated,
    }
    ShortAbsence { returned, away }
    EntryRow {
        kind, decodable, served, stance, encoding, adopted_revision, since, serve_until,
        stored, equivalents,
    }
    Envelope { request, command, actor }
    Expire {
        members, sessions, unreported, leases, lease_waiters, lease_candidates, objects, claims,
        retries, observations, marks, topics, looks,
    }
    Garbage { owner, fate, cursor }
    Heartbeat { at, wall }
    HistoryAnswer { adopted, deleted, left }
    Initialize { cluster, settings }
    LogEntry { log_time, lift_deadlines, wall, commands }
    Look { servers, kind, expired, overtaken }
    Observation { hashes, kind, expired, overtaken }
    Outcome { revision, changed, result }
    OutcomeRow { revision, changed, result }
    ProgressRow { progress, shown_at, walks }
    RaiseMachineVersion { to, replicas }
    ReplicaRow { directory, client_endpoint, binary, machine_version, disk_is_low }
    Restore { cluster }
    RevisionAnswer { name, number, outcome, collision_count, history }
    RevisionEvents { revision, changes, time, latest_time, caller }
    StateStatus {
        common, selected, selected_revision, agreement_revision, agreed, persisted, observation,
        contradicted, agreed_hash, absent, on_trust, heard, drains, hash_drains,
        serve_until, claim_drains, unknown_drain, known_versions, known_hashes, concluded_before,
        said_stopped, ever_reported, ungated_gone, more_ungated_gone, short_absences,
        stored_outside,
        looks, unnamed_look, equivalents,
    }
    ServerEvidence { hashes, member, superseded }
    StatementRow { number, content }
    StorageStateRow { metadata, status }
    StorageVersionRow { metadata, status }
    ReportedResource { resource, encoding, selected, selected_revision, adopted_revision }
    VersionStatus {
        common, selected, selected_revision, agreement_revision, agreed, decodable_by_all,
        served_by_all, all_equal, decodable,
    }
    Written { how, uid, resource_version }
}

macro_rules! stored_commands {
    ($($(#[$doc:meta])* $number:literal $command:ident $lane:ident = $($apply:ident)::+;)*) => {
        stored_variants! { Command { $($number $command(it: $command)),* } }
    };
}

command_table!(stored_commands);

stored_variants! {
    Aftermath {
        1 Votes { next: Option<GroupResource> },
        2 Leases { next: Option<LeaseKey>, ended: Revision },
        3 Migrations { next: Option<GroupResource> },
    }
    Answer {
        1 Done,
        2 SessionOpened(id: SessionId),
        3 Joined { epoch: Epoch, ttl: Ttl },
        4 Reported(told: Vec<ReportedResource>),
        5 MigrationStarted(id: MigrationId),
        6 MigrationClaimed { token: ClaimToken, progress: MigrationProgress },
        7 MigrationCompleted(assumption: Option<Assumption>),
        8 Expired {
            members: u32, sessions: u32, unreported: u32, leases: u32, waiters: u32,
            candidates: u32, objects: u32, observations: u32,
        },
        9 Wrote(written: Written),
        10 Transacted { succeeded: bool, written: Vec<Written> },
        11 Collected { steps: u32 },
        12 ControllerRevision(answer: RevisionAnswer),
        13 ControllerHistory(answer: HistoryAnswer),
        14 LeaseHeld { token: FencingToken, ttl: Ttl },
        15 LeaseQueued(ticket: Ticket),
        16 MigrationSucceeded { assumptions: BTreeSet<Assumption> },
    }
    Cursor { 1 Start, 2 After(key: ObjectKey), 3 End }
    Fate { 1 Background, 2 Foreground, 3 Orphan }
    Holder {
        1 Member(id: MemberId),
        2 Session(id: SessionId),
        3 Unreported(id: MemberId),
        4 Lease(key: LeaseKey),
        5 LeaseWaiter(key: LeaseKey, ticket: Ticket),
        6 LeaseCandidate(key: LeaseKey, identity: HolderIdentity),
        7 Object(key: ObjectKey),
        8 Claim(id: MigrationId),
        9 Retry(id: MigrationId),
        10 Observation(resource: GroupResource),
        11 Mark(key: NamespacedName, mark: LiveMark),
        12 Topic(resource: GroupResource),
        13 Look(resource: GroupResource, observer: ObserverName),
    }
    ObjectRef {
        1 Member(key: MemberId),
        2 StorageVersion(key: GroupResource),
        3 StorageState(key: GroupResource),
        4 Settings(key: ()),
        5 Collection(key: GroupResource),
        6 Object(key: ObjectKey),
        7 ControllerRevision(key: NamespacedName),
        8 Lease(key: LeaseKey),
        9 LeaseCandidate(key: (LeaseKey, HolderIdentity)),
        10 Migration(key: MigrationId),
        11 Roster(key: ResourceScope),
    }
    ObjectRow {
        1 Member(row: Arc<Member>),
        2 StorageVersion(row: Arc<StorageVersionRow>),
        3 StorageState(row: Arc<StorageStateRow>),
        4 Settings(row: Arc<Settings>),
        5 Collection(row: Arc<Collection>),
        6 Object(row: PackedObject),
        7 ControllerRevision(row: Arc<ControllerRevision>),
        8 Lease(row: Arc<Lease>),
        9 LeaseCandidate(row: Arc<LeaseCandidate>),
        10 Migration(row: Arc<Migration>),
        11 Roster(row: Arc<Roster>),
    }
    RevisionOutcome { 1 Unchanged, 2 RolledBack, 3 Created }
    Row {
        1 Header {
            cluster: Option<ClusterId>, machine_version: u32, revision: Revision, log_time: LogTime,
            lifted_at: LogTime, history_floor: Revision, strangers_write_until: LogTime,
            digest: Digest, upgrade_floor: Option<Revision>,
        },
        2 Settings(row: Arc<Settings>),
        3 Replica(id: ReplicaId, row: ReplicaRow),
        4 Member(row: Arc<Member>),
        5 Statement(id: MemberId, row: StatementRow),
        6 Deadline(holder: Holder, row: Deadline),
        7 Session(id: SessionId, lowest: Sequence, owner: Option<Identity>),
        8 Outcome(id: SessionId, sequence: Sequence, row: Arc<OutcomeRow>),
        9 StorageVersion(resource: GroupResource, row: Arc<StorageVersionRow>),
        10 Entry(resource: GroupResource, id: MemberId, row: Arc<EntryRow>),
        11 StorageState(resource: GroupResource, row: Arc<StorageStateRow>),
        12 Agreement(resource: GroupResource, row: Arc<AgreementChange>),
        13 Collection(row: Arc<Collection>),
        14 Object(row: PackedObject),
        15 Garbage(uid: Uid, row: Arc<Garbage>),
        16 ControllerRevision(row: Arc<ControllerRevision>),
        17 Lease(row: Arc<Lease>),
        18 LeaseWaiter(key: LeaseKey, ticket: Ticket, row: Arc<Waiter>),
        19 LeaseCandidate(row: Arc<LeaseCandidate>),
        20 Heartbeat(resource: GroupResource, row: Heartbeat),
        21 Migration(row: Arc<Migration>),
        22 MigrationProgress(id: MigrationId, row: Arc<ProgressRow>),
        23 Roster(row: Arc<Roster>),
        24 Events(row: Arc<RevisionEvents>),
        25 LeftReplica(id: ReplicaId),
        26 Aftermath(row: Aftermath),
        27 Membership(id: MemberId, row: Arc<MembershipRow>),
    }
    WrittenHow { 1 Created, 2 Updated, 3 Unchanged, 4 Deleted, 5 Deleting }
}

#[cfg(test)]
mod tests;
