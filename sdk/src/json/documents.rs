//! Writes the values of this crate as JSON documents: each as a message of the protocol.

use std::sync::Arc;

use serde_json::Value;
use synod_proto::v1;
use synod_proto::wire::Wire;

use super::document;
use crate::{
    Agreement, AgreementHistory, Assumed, CheckpointWritten, ClusterStatus, Collection,
    CollectionChanged, CollectionPage, CollectionView, ControllerRevision, Diagnostics, Event,
    Events, GroupResource, Header, HistoryChanged, HistoryPage, Lease, LeaseCandidate, LeasePage,
    LeaseToken, LeaseView, LogFilter, Member, MemberPage, MemberView, Migration, MigrationFailure,
    MigrationPage, MigrationView, ObjectWritten, OwnerReference, Reported, RevisionAnswered,
    RevisionAtTime, RevisionDiff, RevisionView, Roster, RosterChanged, RosterPage, RosterView,
    Safety, Settings, SettingsView, StorageState, StorageVersion, StorageVersionPage,
    StorageVersionView, StoredObject, UpgradeStatus,
};

/// A value that is written as a message of its own.
pub trait Document {
    /// The JSON document of the message.
    fn to_json(&self) -> Value;
}

impl<T: Document> Document for Arc<T> {
    fn to_json(&self) -> Value {
        T::to_json(self)
    }
}

macro_rules! documents {
    ($($of:ident = $message:ident;)*) => { $(
        #[doc = concat!("The message `", stringify!($message), "`.")]
        impl Document for $of {
            fn to_json(&self) -> Value {
                let pb: v1::$message = self.to_wire();
                document(stringify!($message), &pb)
            }
        }
    )* };
}

documents! {
    Agreement = StorageVersionsCheckAgreementResponse;
    AgreementHistory = StorageVersionsHistoryResponse;
    Assumed = Assumption;
    CheckpointWritten = ClusterCheckpointResponse;
    ClusterStatus = ClusterStatusResponse;
    Collection = Collection;
    CollectionChanged = CollectionsUpdateResponse;
    CollectionView = CollectionsGetResponse;
    ControllerRevision = ControllerRevision;
    GroupResource = GroupResource;
    Diagnostics = ClusterGetDiagnosticsResponse;
    Header = ResponseHeader;
    HistoryChanged = ControllerRevisionsTruncateResponse;
    Lease = Lease;
    LeaseCandidate = LeaseCandidate;
    LogFilter = LogFilter;
    LeaseView = LeasesGetResponse;
    Member = Member;
    MemberView = MembershipGetResponse;
    Migration = Migration;
    MigrationFailure = MigrationFailure;
    MigrationView = MigrationsGetResponse;
    OwnerReference = OwnerReference;
    Reported = StorageVersionsReportResponse;
    RevisionAnswered = ControllerRevisionsRollbackResponse;
    RevisionDiff = ControllerRevisionsDiffResponse;
    RevisionAtTime = ClusterRevisionAtResponse;
    RevisionView = ControllerRevisionsGetResponse;
    Roster = Roster;
    RosterChanged = RostersSetResponse;
    RosterView = RostersGetResponse;
    Settings = Settings;
    SettingsView = ClusterGetSettingsResponse;
    StorageState = StorageState;
    StorageVersion = StorageVersion;
    UpgradeStatus = StorageVersionsCheckUpgradeResponse;
    StorageVersionView = StorageVersionsGetResponse;
    StoredObject = Object;
}

/// Lists of all pages, written without the fields that are about one page.
macro_rules! pages {
    ($($of:ident = $message:ident;)*) => { $(
        #[doc = concat!("The message `", stringify!($message), "`, with the items of all pages.")]
        impl Document for $of {
            fn to_json(&self) -> Value {
                let pb: v1::$message = self.to_wire();
                without(&["continueToken", "inconsistent"], document(stringify!($message), &pb))
            }
        }
    )* };
}

pages! {
    CollectionPage = CollectionsListResponse;
    HistoryPage = ControllerRevisionsListResponse;
    LeasePage = LeasesListResponse;
    MemberPage = MembershipListResponse;
    MigrationPage = MigrationsListResponse;
    RosterPage = RostersListResponse;
    StorageVersionPage = StorageVersionsListResponse;
}

fn without(fields: &[&str], mut document: Value) -> Value {
    if let Value::Object(object) = &mut document {
        object.retain(|field, _| !fields.contains(&field.as_str()));
    }
    document
}

/// The message `ObjectsUpdateResponse`, as which all writes of one object are written.
impl Document for ObjectWritten {
    fn to_json(&self) -> Value {
        let pb = v1::ObjectsUpdateResponse {
            header: self.header.to_wire(),
            changed: self.result.changed,
            created: self.result.created,
            deleted: self.result.deleted,
            uid: self.result.uid.to_wire(),
            resource_version: self.result.resource_version.to_wire(),
            object: self.object.to_wire(),
        };
        document("ObjectsUpdateResponse", &pb)
    }
}

/// The message `StorageVersionsCheckBinaryResponse`; the message of `CheckDrop` is the same.
impl Document for Safety {
    fn to_json(&self) -> Value {
        let pb = v1::StorageVersionsCheckBinaryResponse {
            safe: self.is_safe(),
            ..self.to_wire()
        };
        document("StorageVersionsCheckBinaryResponse", &pb)
    }
}

/// The message `LeaseToken`.
impl Document for LeaseToken {
    fn to_json(&self) -> Value {
        let pb = v1::LeaseToken {
            lease: self.lease.to_wire(),
            token: self.token.to_wire(),
            cluster_id: self.cluster.to_wire(),
        };
        document("LeaseToken", &pb)
    }
}

/// The message `Event`.
impl Document for Event {
    fn to_json(&self) -> Value {
        document("Event", &event(self))
    }
}

/// The message `WatchEvents`: all changes of one revision.
impl Document for Events {
    fn to_json(&self) -> Value {
        let pb = v1::WatchEvents {
            revision: self.revision.to_wire(),
            events: self.events.iter().map(event).collect(),
            more_fragments: false,
            time_ms: self.time.to_wire(),
            caller: self.caller.to_wire(),
        };
        without(&["moreFragments"], document("WatchEvents", &pb))
    }
}

fn event(event: &Event) -> v1::Event {
    v1::Event {
        r#type: event.change.to_wire(),
        kind: event.kind.to_wire(),
        name: event.name.clone(),
        namespace: event.namespace.clone(),
        resource: event.resource.to_wire(),
        object: event.object.as_ref().map(Wire::to_wire),
    }
}
