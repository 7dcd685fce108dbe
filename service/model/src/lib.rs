//! The typed values of Synod and their rules: one object, one file.
//!
//! Everything here is a plain value: there is no I/O, no clock, no randomness, no `async`. What
//! arrives as text or numbers is parsed once, into a type that can only hold what is legal, and the
//! code behind it relies on that. [`stored`](mod@stored) is the binary form of these values;
//! `synod-proto` converts them to and from the protocol. A failed parse answers with a
//! [`Violation`]: the field's path and the broken rule, in the words that Kubernetes uses where it
//! has the same rule. [`Violations`] collects them, so that a caller learns of all faults at once.
//!
//! A value does not know its field in a request, so a violation that a parse returns names no
//! field, or only the part below the value; [`Violation::at`] adds the path of the field. Paths are
//! those of the protocol's JSON form (`entries[2].decodableVersions[0]`).
//!
//! Texts are ordered bytewise, never by locale, so the order is the same on every replica. The
//! values that live in the replicated state are cheap to clone: their text is shared.

#![deny(clippy::wildcard_enum_match_arm)]

mod actor;
mod agreement;
mod annotations;
mod apiserver_id;
mod assumption;
mod binary;
mod binary_version;
mod cluster_id;
mod collection;
mod condition;
mod controller_revision;
mod endpoint;
mod equivalents;
mod error;
mod fences;
mod finalizers;
mod instance_id;
mod json;
mod kind;
mod known_version;
mod labels;
mod lease;
mod lease_candidate;
mod lease_key;
pub mod limits;
mod log_time;
mod media_type;
mod member;
mod member_id;
mod metadata;
mod migration;
mod migration_id;
pub mod names;
mod namespace;
mod object;
mod object_key;
mod object_kind;
mod owner_reference;
mod packed_object;
mod patch;
mod persisted;
mod preconditions;
mod refusal;
mod report;
pub mod requests;
mod resource;
mod resource_scope;
mod resource_spelling;
mod resource_version;
mod revision;
mod roster;
mod scope_spelling;
mod selector;
mod semantic_version;
mod serve_until;
mod server_look;
pub mod settings;
mod statement_number;
mod storage_version_hash;
mod storage_version_status;
pub mod stored;
mod stored_in;
mod switch;
mod text;
mod topic;
mod uid;
mod uuid;
mod versions;
mod violation;

pub use actor::{Actor, Identity, NamePattern};
pub use agreement::{AgreementCause, AgreementChange, agreement_condition};
pub use annotations::Annotations;
pub use apiserver_id::apiserver_id;
pub use assumption::Assumption;
pub use binary::{Binary, BinaryResource};
pub use binary_version::BinaryVersion;
pub use cluster_id::ClusterId;
pub use collection::{Collection, CollectionRules, STATUS_SUBRESOURCE_SINCE};
pub use condition::{Condition, ConditionStatus};
pub use controller_revision::{
    ControllerHistory, ControllerRevision, Equality, HASH_LABEL, LiveMark, LiveMarks, MarkTie,
    Marker, NamePrefix, RevisionData, RevisionHash, RevisionIdentity, RevisionNumber,
    RevisionPlace, safe_encode,
};
pub use endpoint::Endpoint;
pub use equivalents::sort_and_fold_equivalents;
pub use error::{ErrorKind, Verdict};
pub use fences::Fences;
pub use finalizers::{Finalizer, Finalizers};
pub use instance_id::InstanceId;
pub use json::{Json, JsonNumber};
pub use kind::Kind;
pub use known_version::{MACHINE_VERSION, known_machine_version, limit_machine_version};
pub use labels::Labels;
pub use lease::{Hold, HolderIdentity, Lease, Waiter};
pub use lease_candidate::{Disagreement, LeaseCandidate, Strategy, best_strategy, elect};
pub use lease_key::LeaseKey;
pub use limits::{LIMITS, Limit};
pub use log_time::{LogTime, Ttl, TtlChange, WallTime};
pub use media_type::MediaType;
pub use member::{Member, Phase};
pub use member_id::MemberId;
pub use metadata::Metadata;
pub use migration::{
    AbortCause, Claim, ContinueToken, FailureClass, FailureReason, Migration, MigrationFailure,
    MigrationPhase, MigrationProgress, MigrationReason, MigrationTarget, WorkerName, WorkerStop,
};
pub use migration_id::{MigrationAlias, MigrationId, MigrationName};
pub use names::{
    NameRule, dns1035_label, dns1123_label, dns1123_subdomain, label_value, qualified_name,
};
pub use namespace::Namespace;
pub use object::{Attributes, Content, Deletion, Object};
pub use object_key::{NamespacedName, ObjectKey, ObjectName};
pub use object_kind::ObjectKind;
pub use owner_reference::{OwnerReference, OwnerReferences};
pub use packed_object::{Alike, PackedObject};
pub use patch::{MetadataPatch, Patch, PatchFormat};
pub use persisted::{EVIDENCE_SINCE, Persisted};
pub use preconditions::Preconditions;
pub use refusal::{Current, Refusal};
pub use report::{ReportEntry, ReportEntryText, Stance, StanceText};
pub use requests::{
    ALIASES_SINCE, AbortMigration, ClaimMigration, CompleteMigration, DELETE_MIGRATION_SINCE,
    DeleteMigration, DismissLooks, FailMigration, ObserveStorage, RELEASES_SINCE, ReleaseMigration,
    ReportMigrationProgress, ResetStorageStates, RetryMigration, StartMigration,
};
pub use requests::{
    AcquireLease, DELETE_LEASE_SINCE, DeleteLease, PutLeaseCandidate, ReleaseLease, RenewLease,
    RenewLeaseCandidate, WithdrawLeaseCandidate,
};
pub use requests::{AddEquivalents, RemoveEquivalent};
pub use requests::{
    Adopt, CloseSession, Compare, CreateCollection, CreateObject, DeleteCollection, DeleteObject,
    ForgetResource, Join, Leave, MarkReady, OpenSession, Operation, PatchObject, Propagation,
    Renew, Report, Transact, UpdateCollection, UpdateObject, UpdateSettings,
};
pub use requests::{
    AdoptControllerRevisions, CreateControllerRevision, DeleteControllerRevisions, InUse, Mark,
    MarkControllerRevisions, NAMED_SNAPSHOTS_SINCE, ReleaseControllerRevision,
    RollbackControllerRevision, RollbackTarget, TruncateControllerRevisions,
    UpdateControllerRevision,
};
pub use requests::{DeleteRoster, SetRoster};
pub use resource::GroupResource;
pub use resource_scope::ResourceScope;
pub use resource_spelling::{ResourceResolution, ResourceSpelling};
pub use resource_version::compare_resource_versions;
pub use revision::{
    ClaimToken, Epoch, FencingToken, RequestId, Revision, Sequence, SessionId, Ticket,
};
pub use roster::{Absent, Roster, RosterRule};
pub use scope_spelling::ScopeSpelling;
pub use selector::{FieldSelector, LabelSelector, Requirement, Rule};
pub use semantic_version::SemanticVersion;
pub use serve_until::ServeUntil;
pub use server_look::{ObservedServer, ObserverName, ServerLook};
pub use settings::{Settings, SettingsPatch};
pub use statement_number::StatementNumber;
pub use storage_version_hash::StorageVersionHash;
pub use storage_version_status::{ConditionText, check_common_version, check_conditions};
pub use stored_in::{StoredIn, Walk};
pub use switch::{Feature, SWITCHES_SINCE, Switch};
pub use text::misleads;
pub use topic::{SERVED, TOPICS_SINCE, Topic, TopicKind, WITHDRAWN, feature_level};
pub use uid::Uid;
pub use versions::{ApiVersion, VersionSet};
pub use violation::{Violation, Violations};
