//! The tables of this crate's values and requests.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::base::put_items;
use super::{Source, Stored, StoredFault, Tables, put_blob, put_number};
use crate::*;
use crate::{stored, stored_bytes, stored_empty, stored_numbers, stored_texts, stored_variants};

stored_texts! {
    ApiVersion: as_str, Self::parse;
    BinaryVersion: as_str, Self::parse;
    ContinueToken: as_str, Self::parse;
    Endpoint: as_str, Self::parse;
    FailureReason: as_str, Self::parse;
    Finalizer: as_str, Self::parse;
    HolderIdentity: as_str, Self::parse;
    Identity: as_str, Self::parse;
    InstanceId: as_str, Self::parse;
    Kind: as_str, Self::parse;
    LeaseKey: as_str, Self::parse;
    Marker: as_str, Self::parse;
    MediaType: as_str, Self::parse;
    MemberId: as_str, Self::parse;
    MigrationAlias: as_str, Self::parse;
    NamePattern: as_str, Self::parse;
    NamePrefix: as_str, Self::parse;
    Namespace: as_str, Self::parse;
    ObjectName: as_str, Self::parse;
    ObservedServer: as_str, Self::parse;
    ObserverName: as_str, Self::parse;
    SemanticVersion: as_str, Self::parse;
    Strategy: as_str, Self::parse;
    WorkerName: as_str, Self::parse;
    GroupResource: qualified, Self::parse_qualified;
}

stored_numbers! {
    ClaimToken: |it| it.get(), |number| Ok(Self::new(Revision::new(number)));
    Epoch: |it| it.get(), |number| Ok(Self::new(Revision::new(number)));
    FencingToken: |it| it.get(), |number| Ok(Self::new(Revision::new(number)));
    LogTime: |it| it.as_millis(), |number| Ok(Self::from_millis(number));
    Revision: |it| it.get(), |number| Ok(Self::new(number));
    RevisionNumber: |it| it.get(), |number| Self::new(number).map_err(StoredFault::rule);
    Sequence: |it| it.get(), |number| Self::new(number).ok_or_else(|| StoredFault::rule("must be positive"));
    SessionId: |it| it.get(), |number| Ok(Self::new(Revision::new(number)));
    StatementNumber: |it| it.get(), |number| Self::new(number).ok_or_else(|| StoredFault::rule("must be positive"));
    Ticket: |it| it.get(), |number| Ok(Self::new(Revision::new(number)));
    Ttl: |it| it.as_millis(), |number| Self::from_millis(number).map_err(StoredFault::rule);
    WallTime: |it| it.as_millis(), |number| Ok(Self::from_millis(number));
}

stored_bytes! {
    ClusterId: as_bytes, from_bytes;
    StorageVersionHash: as_bytes, from_bytes;
    Uid: as_bytes, from_bytes;
}

stored_empty! { OpenSession }

stored! {
    Actor { identity, names }
    AddEquivalents { resources }
    Absent { members, unnamed, short, labels }
    AbortMigration { id }
    AcquireLease { key, holder, ttl, wait, if_member }
    Adopt { member, epoch, number, resource, selected_revision }
    AdoptControllerRevisions { history, name }
    AgreementChange { from, to, revision, at, cause, caller }
    Attributes { labels, annotations, owners, finalizers }
    Claim { worker, token, ttl, fenced, since, walks }
    ClaimMigration { id, worker, ttl, fenced, walks }
    CloseSession { session }
    Collection { resource, metadata, kind, namespaced, rules }
    CollectionRules {
        strict_storage_version, create_on_update, unconditional_update, status_subresource,
    }
    CompleteMigration { id, token }
    Condition {
        kind, status, reason, message, observed_generation, transition, transition_revision,
    }
    Content { encoding, media_type, data }
    ControllerHistory { namespace, owner, selector }
    ControllerRevision {
        key, metadata, labels, annotations, controller, number, data, marks,
    }
    CreateCollection { resource, kind, namespaced, rules }
    CreateControllerRevision {
        history, data, equality, prefix, labels, annotations, number, collision_count,
        history_limit, if_newest, mark_update, name,
    }
    CreateObject { key, attributes, content, ttl, fences }
    DeleteCollection { resource, preconditions }
    DeleteLease { key, preconditions }
    DeleteMigration { id, preconditions }
    DeleteObject { key, propagation, preconditions, fences }
    DeleteRoster { scope, if_revision }
    Deletion { at, revision, position }
    DismissLooks { resource, observer, server }
    FailMigration { id, token, class, reason, stop }
    Fences { if_member, if_lease }
    ForgetResource { resource, if_revision }
    Hold { holder, token, ticket, ttl, member, acquired }
    InUse { marker, names }
    Join { id, instance, ttl, labels, version, endpoint, lost_epoch, gated }
    Lease { key, hold, transitions, preferred, metadata }
    LeaseCandidate {
        lease, identity, binary_version, emulation_version, strategy, ttl, metadata,
    }
    Leave { member, epoch, drained, instance, stopped }
    MarkControllerRevisions { history, current, update, in_use, tie }
    MarkReady { member, epoch }
    Member {
        id, instance, epoch, ttl, labels, version, endpoint, phase, metadata, reported,
        gated,
    }
    Metadata { uid, resource_version, create_revision, generation, created }
    MetadataPatch { format, document }
    Migration {
        id, metadata, target, agreement_revision, reason, phase, claim, failures, failure, aborted,
        done, estimate, ended, assumption, alias, assumptions, equivalents,
    }
    MigrationFailure { class, reason }
    MigrationProgress { done, estimate, continue_token }
    MigrationTarget { hash, version }
    Object { key, metadata, attributes, deletion, content, content_revision }
    ObjectKey { resource, name }
    ObserveStorage { resource, kind, hashes, if_revision, observer, servers }
    OwnerReference { api_version, kind, name, uid, controller, block_owner_deletion }
    Patch { encoding, format, document }
    PatchObject { key, data, metadata, ttl, preconditions, fences }
    Preconditions { uid, resource_version }
    PutLeaseCandidate { key, identity, binary_version, emulation_version, strategy, ttl }
    Refusal { kind, message, violations, metadata, current }
    ReleaseControllerRevision { key, owner, preconditions }
    ReleaseLease { key, holder, token }
    ReleaseMigration { id, token, stop }
    RemoveEquivalent { resource }
    Renew { member, epoch }
    RenewLease { key, token }
    RenewLeaseCandidate { key, identity }
    Report { member, epoch, number, entries, replace }
    ReportEntry {
        resource, kind, decodable, served, stance, serve_until, stored, equivalents,
    }
    ReportMigrationProgress { id, token, progress }
    RequestParts { session, sequence, lowest_unanswered }
    ResetStorageStates { resource }
    RetryMigration { id }
    RollbackControllerRevision { history, to, if_newest }
    Roster { scope, metadata, rule }
    RosterRule { members, labels, least, complete, exempts_observed }
    ServeUntil { date, log }
    ServerLook { hashes, member }
    SetRoster { scope, rule, if_revision }
    StartMigration { resource, reason, alias }
    Transact { compares, operations, reads, fences }
    TruncateControllerRevisions { history, limit, if_newest }
    UpdateCollection {
        resource, strict_storage_version, create_on_update, unconditional_update, preconditions,
        status_subresource, kind,
    }
    UpdateControllerRevision { key, preconditions, number, labels, annotations, data }
    UpdateObject { key, attributes, content, ttl, preconditions, fences }
    UpdateSettings { patch, if_revision }
    Violation { field, rule }
    Waiter { holder, ttl, wait, member }
    WithdrawLeaseCandidate { key, identity }
}

/// The forms of the settings. The revision comes first: a new setting comes last, and is optional.
macro_rules! stored_settings {
    ($($(#[$doc:meta])* $field:ident: $of:ty, $wire:ident, $row:ident = $name:literal
        $form:ident $unit:literal $min:expr, $default:expr, $max:expr;)*) => {
        stored! {
            Settings { revision, $($field),* }
            SettingsPatch { $($field),* }
        }
    };
}

crate::settings_table!(stored_settings);

stored_variants! {
    AbortCause { 1 NoAgreement, 2 AgreementMoved, 3 Requested, 4 StorageUnknown }
    AgreementCause { 1 Member(id: MemberId), 2 Observed, 3 Roster }
    Assumption {
        1 NoRoster, 2 SnapshotVersionUnknown, 3 LeftToOthers, 4 ConcludedBefore, 5 SaidStopped,
        6 RosterMayMiss, 7 ShortAbsence, 8 UngatedGone, 255 Other(number: u32),
    }
    Compare {
        1 ResourceVersion(key: ObjectKey, revision: Revision),
        2 Exists(key: ObjectKey),
        3 Absent(key: ObjectKey),
        4 Selected(resource: GroupResource, version: Option<ApiVersion>),
    }
    ConditionStatus { 1 True, 2 False, 3 Unknown }
    Current {
        1 Settings(settings: Settings),
        2 Member(member: Member),
        3 Collection(collection: std::sync::Arc<Collection>),
        4 Object(object: std::sync::Arc<Object>),
        5 ControllerRevision(revision: ControllerRevision),
        6 Lease(lease: Lease),
        7 Roster(roster: std::sync::Arc<Roster>),
    }
    DeleteControllerRevisions {
        1 One { key: NamespacedName, preconditions: Preconditions },
        2 HistoryOf { namespace: Namespace, owner: Uid },
    }
    Equality { 1 Json, 2 Bytes, 3 JsonIgnoringEmpty }
    ErrorKind {
        1 InvalidArgument, 2 NotFound, 3 AlreadyExists, 4 Conflict, 5 NotAMember, 6 StaleEpoch,
        7 NotDecodable, 8 EncodingNotSelected, 9 Immutable, 10 NoAgreement, 11 Draining,
        12 RequestExpired, 13 Compacted, 14 FutureRevision, 15 TooLarge, 16 Quota, 17 Overloaded,
        18 Unavailable, 19 UnknownOutcome, 20 DeadlineExceeded, 21 Unauthenticated,
        22 PermissionDenied, 23 DataLoss, 24 SwitchedOff,
    }
    FailureClass { 1 Transient, 2 Rejected, 3 NotSupported, 4 Forbidden, 5 Undecodable }
    LiveMark { 1 Current, 2 Update, 3 InUse(marker: Marker) }
    Mark { 1 Nowhere, 2 On(name: ObjectName) }
    MarkTie {
        1 Renewals(ttl: Ttl),
        2 Member(id: MemberId, epoch: Epoch),
        3 Object(key: ObjectKey, uid: Uid),
    }
    MigrationPhase { 1 Pending, 2 Running, 3 Succeeded, 4 Failed, 5 Aborted }
    MigrationReason { 1 Agreement, 2 Manual, 3 RewriteAll }
    Operation {
        1 Create(create: CreateObject),
        2 Update(update: UpdateObject),
        3 Patch(patch: PatchObject),
        4 Delete(delete: DeleteObject),
    }
    PatchFormat { 1 Merge, 2 Json }
    Persisted {
        1 Unknown,
        2 Version { hash: StorageVersionHash, version: Option<ApiVersion> },
    }
    Phase { 1 Joining, 2 Ready }
    Propagation { 1 Background, 2 Foreground, 3 Orphan }
    RollbackTarget { 1 Previous, 2 Number(number: RevisionNumber), 3 Name(name: ObjectName) }
    Stance { 1 Fixed { encoding: ApiVersion }, 2 Voting { preferred: ApiVersion } }
    TtlChange { 1 Keep, 2 Set(ttl: Ttl), 3 Remove }
    Walk { 1 Collection, 2 Outside, 3 Both }
    WorkerStop { 1 SomeUnanswered, 2 AllAnswered }
}

/// A [`RequestId`] that is not checked yet.
struct RequestParts {
    session: SessionId,
    sequence: Sequence,
    lowest_unanswered: Sequence,
}

/// The forms of types that are checked as a whole when they are read: each has the form of its parts.
macro_rules! stored_as {
    ($($name:ident as $of:ty: $parts:expr, $make:expr;)*) => { $(
        impl Stored for $name {
            fn store(&self, to: &mut Vec<u8>) {
                let parts: fn(&Self, &mut Vec<u8>) = $parts;
                parts(self, to);
            }

            fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
                let make: fn($of) -> Result<Self, StoredFault> = $make;
                make(Stored::load(from)?)
            }

            fn shape(tables: &mut Tables) -> String {
                format!("{} as {}", stringify!($name), <$of>::shape(tables))
            }
        }
    )* };
}

fn put_pairs<'a>(length: usize, pairs: impl Iterator<Item = (&'a str, &'a str)>, to: &mut Vec<u8>) {
    put_number(to, length as u64);
    for (key, value) in pairs {
        put_blob(to, key.as_bytes());
        put_blob(to, value.as_bytes());
    }
}

/// The value, if `text` is its written form: a text that parses but is written otherwise is not the stored form.
fn as_it_is_written<T: ToString>(value: T, text: &str) -> Result<T, StoredFault> {
    if value.to_string() == text {
        Ok(value)
    } else {
        Err(StoredFault::rule(
            "the stored text is not in canonical form",
        ))
    }
}

stored_as! {
    Annotations as BTreeMap<String, String>:
        |it, to| put_pairs(it.len(), it.iter(), to),
        |pairs| Self::parse(pairs).map_err(StoredFault::rule);
    Labels as BTreeMap<String, String>:
        |it, to| put_pairs(it.len(), it.iter(), to),
        |pairs| Self::parse(pairs).map_err(StoredFault::rule);
    Finalizers as Vec<String>:
        |it, to| put_items(to, it.iter()),
        |names| Self::parse(names).map_err(StoredFault::rule);
    OwnerReferences as Vec<OwnerReference>:
        |it, to| put_items(to, it.iter()),
        |references| Self::new(references).map_err(StoredFault::rule);
    VersionSet as Vec<ApiVersion>:
        |it, to| put_items(to, it.iter()),
        // In the order in which they were given, each once.
        |versions| Self::of_distinct(versions).ok_or_else(|| StoredFault::rule("a version is there twice"));
    RequestId as RequestParts:
        |it, to| {
            let Self { session, sequence, lowest_unanswered } = *it;
            RequestParts { session, sequence, lowest_unanswered }.store(to);
        },
        |parts| {
            let RequestParts { session, sequence, lowest_unanswered } = parts;
            Self::new(session, sequence, lowest_unanswered).map_err(StoredFault::rule)
        };
    LabelSelector as String:
        |it, to| put_blob(to, it.to_string().as_bytes()),
        |text| as_it_is_written(Self::parse(&text).map_err(StoredFault::rule)?, &text);
    MigrationId as (GroupResource, Revision):
        |it, to| { it.resource().store(to); it.number().store(to); },
        |(resource, number)| Ok(Self::new(resource, number));
    ResourceScope as String:
        |it, to| put_blob(to, it.to_string().as_bytes()),
        |text| as_it_is_written(Self::parse(&text).map_err(StoredFault::rule)?, &text);
    LiveMarks as BTreeMap<LiveMark, MarkTie>:
        |it, to| {
            put_number(to, it.iter().count() as u64);
            for (mark, tie) in it.iter() {
                mark.store(to);
                tie.store(to);
            }
        },
        |marks| Ok(marks.into_iter().collect());
    RevisionData as (MediaType, (Bytes, Option<ApiVersion>)):
        |it, to| {
            it.media_type().store(to);
            it.bytes().store(to);
            it.version().cloned().store(to);
        },
        |(media_type, (bytes, version))| Ok(Self::from_stored(media_type, bytes).in_version(version));
}

impl Stored for NamespacedName {
    fn store(&self, to: &mut Vec<u8>) {
        put_blob(to, self.namespace().unwrap_or_default().as_bytes());
        put_blob(to, self.name().as_bytes());
    }

    fn load(from: &mut Source<'_>) -> Result<Self, StoredFault> {
        let namespace = match from.text()? {
            "" => None,
            text => Some(Namespace::parse(text).map_err(StoredFault::rule)?),
        };
        Ok(Self::new(namespace.as_ref(), &ObjectName::load(from)?))
    }

    fn shape(_: &mut Tables) -> String {
        "text of a namespace, text ObjectName".to_owned()
    }
}
