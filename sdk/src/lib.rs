//! The Rust client of Synod: for API servers that take part in an agreement, and programs that observe it.
//!
//! An API server joins, reports what it encodes and decodes, and asks its gate before each write:
//!
//! ```no_run
//! use std::collections::BTreeSet;
//!
//! use synod_client::{
//!     ApiVersion, Client, Error, GroupResource, JoinOptions, Kind, ReportEntry, Stance, StoredIn, apiserver_id,
//! };
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoints = vec!["127.0.0.1:4600".to_owned(), "127.0.0.1:4601".to_owned()];
//! let client = Client::builder().endpoints(endpoints).connect().await?;
//! let membership = client.join(JoinOptions::new(apiserver_id("master-1"))).await?;
//!
//! let widgets = GroupResource::new("example.io", "widgets")?;
//! let versions = [ApiVersion::parse("example.io/v1")?, ApiVersion::parse("example.io/v2")?];
//! let entry = ReportEntry {
//!     resource: widgets.clone(),
//!     kind: Kind::parse("Widget")?,
//!     decodable: versions.iter().cloned().collect(),
//!     served: versions.iter().cloned().collect(),
//!     // It votes for v2 and encodes what all agree to select.
//!     stance: Stance::Voting { preferred: versions[1].clone() },
//!     serve_until: None,
//!     stored: StoredIn::Outside,
//!     // The store has no other name, such as that of an older API group.
//!     equivalents: BTreeSet::new(),
//! };
//! membership.report(vec![entry]).await?;
//! membership.ready().await?;
//!
//! // Before each write to the store:
//! let permit = membership.gate().permit(&widgets).await?;
//! let encoding = permit.encoding();
//! // ... encode the object in `encoding` ...
//! permit.check()?; // right before the store is called
//! // ... call the store ...
//! permit.done(); // the answer is known; else `permit.unknown_outcome()`
//! # let _ = encoding;
//! # Ok(())
//! # }
//! ```
//!
//! - [`Client`] fails over between replicas under one deadline, and makes changes exactly once through a session. Its
//!   [`Error`] distinguishes three cases: refused, certainly not executed, and unknown.
//! - [`Membership`] renews by itself, joins and reports again after it expired, adopts a selected version once its
//!   permits for other versions are drained, and stops for good when another process takes its id.
//! - [`Gate`] gives [`Permit`]s; [`GateLayer`] takes them for HTTP requests, as a tower layer. [`Gate::discovery`] is
//!   the hash that the server's own discovery shows.
//! - [`Lock`] holds a lease and knows when it may be lost; [`Election`] is leader election on top of it.
//! - [`Migrator`] rewrites objects that are stored in an older version; [`Fenced`] and [`FenceGuard`] keep late writes
//!   out of a store that can compare and write. The crate `synod-fence` does so in etcd, and in others by a small trait.
//! - [`Rosters`] name the members that must report a resource before an answer about it counts. Without one, an answer
//!   of safe or completed names that as an [`Assumption`]: [`Safety::is_safe_for_sure`] is safe without assumptions.
//! - A [`Topic`] is what else members agree on: the key that encrypts a resource's objects, the level of a feature. It is a
//!   [`GroupResource`], so it is reported, gated, watched, migrated and checked as one.
//! - [`Watch`] continues over lost connections and replicas without a gap; [`Reflector`] keeps a cache up to date by
//!   it.
//! - [`traces`]: follows calls in the traces of the application, up to the log of the replicas.
//! - [`Client::call_json`] calls any method by its name, and [`json`] writes the values of this crate as JSON: for
//!   programs that handle documents.

mod board;
mod client;
mod collections;
mod election;
mod error;
mod gate;
pub mod json;
mod kubernetes;
mod lock;
mod membership;
mod messages;
mod migrator;
mod objects;
mod pages;
mod read_options;
#[cfg(doctest)]
mod readme;
mod reconcile;
mod reflector;
mod rosters;
pub mod seams;
mod session;
pub mod traces;
mod transport;
mod values;
mod watch;

pub use client::{
    AgreementQuery, ClaimKey, Client, ClientBuilder, ListMembers, ListMigrations,
    ListStorageVersions, MemberEpoch,
};
pub use client::{Backup, BackupOf};
pub use client::{DryRun, History, ListControllerRevisions, Wanted};
pub use collections::{Collections, ListCollections};
pub use election::{Election, LeadershipEnd};
pub use error::Error;
pub use gate::{
    Admission, Discovery, Gate, GateLayer, GateService, NotAdmitted, Permit, Readiness, RequestInfo,
};
pub use kubernetes::storage_version_hash;
pub use lock::{LeaseToken, Lock, LockOptions};
pub use membership::{Ended, JoinOptions, Membership, MembershipState};
pub use migrator::{
    Attempt, CollectionStore, Fence, FenceFault, FenceGuard, Fenced, FencedStore, Migrator,
    MigratorOptions, RecodeError, Store, StoreError, StorePage, Worked,
};
pub use objects::{
    Codec, CodecError, Creator, Draft, EncodingVersion, ListObjects, NewObject, ObjectEvent,
    ObjectMessage, ObjectPatch, ObjectReflector, ObjectWatch, Objects, Patched, RawObjects, Stored,
    UpdateStep, Updated, Updater, WatchObjects,
};
pub use pages::{Page, Pages};
pub use read_options::ReadOptions;
pub use reconcile::{Reconcile, reconcile};
pub use reflector::Reflector;
pub use rosters::{ListRosters, Rosters};
pub use synod_tls::{ClientTls, KeyPair, Pem};
pub use transport::Token;
pub use values::{
    Acquired, Acquisition, LeaseCandidateItem, LeaseCandidatePage, LeaseItem, LeasePage, LeaseView,
};
pub use values::{Agreement, Obstacle, ObstacleGroup, ObstacleReason, ResourceAgreement};
pub use values::{
    AgreementHistory, Alarm, AlarmKind, Changed, CheckpointWritten, ClusterStatus,
    CollectionChanged, CollectionItem, CollectionPage, CollectionView, Drain, Drained,
    EncodingCount, Header, Heartbeat, Joined, MemberItem, MemberPage, MemberView, ObjectItem,
    ObjectPage, ObjectView, ObjectWritten, ObserverLook, OperationResult, Outcome, OutcomeAnswer,
    ReadResult, Renewed, ReplicaRole, ReplicaStatus, Reported, ReportedResource, RequestKey,
    RevisionAtTime, SettingsView, ShortAbsence, StorageState, StorageVersion, StorageVersionEntry,
    StorageVersionItem, StorageVersionPage, StorageVersionStatus, StorageVersionView, Transacted,
    UngatedMember,
};
pub use values::{
    Assumed, Danger, DangerReason, MigrationClaimed, MigrationCompleted, MigrationPage,
    MigrationStarted, MigrationView, Safety,
};
pub use values::{Diagnostics, LogFilter, LogFilterView, ReplicaVitals};
pub use values::{
    HistoryAnswer, HistoryChanged, HistoryPage, RevisionAnswer, RevisionAnswered, RevisionDiff,
    RevisionOutcome, RevisionView,
};
pub use values::{RosterChanged, RosterPage, RosterView};
pub use values::{UpgradeObstacle, UpgradeReason, UpgradeStatus};
pub use watch::LeaseObserver;
pub use watch::{
    ChangeType, Event, Events, StorageVersionChange, Watch, WatchFrom, WatchMessage, WatchOptions,
    WatchedObject,
};

/// The encoded `FileDescriptorSet` of the protocol that this client speaks, with its comments.
pub use synod_proto::FILE_DESCRIPTOR_SET;

pub use synod_model::{
    AbortCause, Assumption, Claim, ClaimMigration, ClaimToken, ContinueToken, DeleteMigration,
    DismissLooks, FailureClass, FailureReason, Migration, MigrationAlias, MigrationFailure,
    MigrationId, MigrationName, MigrationPhase, MigrationProgress, MigrationReason,
    MigrationTarget, ObserveStorage, ObservedServer, ObserverName, ServerLook, StoredIn, Walk,
    WorkerName, WorkerStop,
};
pub use synod_model::{
    Absent, AgreementCause, Binary, BinaryResource, DeleteRoster, ResourceResolution,
    ResourceScope, ResourceSpelling, Roster, RosterRule, SERVED, ScopeSpelling, SetRoster, Topic,
    TopicKind, WITHDRAWN, feature_level,
};
pub use synod_model::{
    AcquireLease, DeleteLease, FencingToken, Hold, HolderIdentity, Lease, LeaseCandidate, LeaseKey,
    PutLeaseCandidate, ReleaseLease, SemanticVersion, Strategy, Ticket,
};
pub use synod_model::{
    AgreementChange, Annotations, ApiVersion, Attributes, BinaryVersion, ClusterId, Collection,
    CollectionRules, Compare, Condition, ConditionStatus, Content, CreateCollection, CreateObject,
    Current, DeleteCollection, DeleteObject, Deletion, Endpoint, Epoch, ErrorKind, Fences,
    FieldSelector, Finalizer, Finalizers, GroupResource, Identity, InstanceId, Join, Kind,
    LabelSelector, Labels, LogTime, MediaType, Member, MemberId, Metadata, MetadataPatch,
    Namespace, NamespacedName, Object as StoredObject, ObjectKey, ObjectKind, ObjectName,
    Operation, OwnerReference, OwnerReferences, Patch, PatchFormat, PatchObject, Persisted, Phase,
    Preconditions, Propagation, ReportEntry, Revision, Sequence, SessionId, Settings,
    SettingsPatch, Stance, StatementNumber, StorageVersionHash, Switch, Transact, Ttl, TtlChange,
    Uid, UpdateCollection, UpdateObject, Verdict, VersionSet, Violation, Violations, WallTime,
    apiserver_id, sort_and_fold_equivalents,
};
pub use synod_model::{
    ControllerHistory, ControllerRevision, Equality, HASH_LABEL, InUse, LiveMark, LiveMarks, Mark,
    MarkTie, Marker, NamePrefix, RevisionData, RevisionNumber, RollbackTarget,
    UpdateControllerRevision, compare_resource_versions,
};
