//! Creates the state that the requests of the table need.

use std::collections::BTreeMap;

use synod_proto::v1;
use synod_proto::v1::collections_client::CollectionsClient;
use synod_proto::v1::controller_revisions_client::ControllerRevisionsClient;
use synod_proto::v1::leases_client::LeasesClient;
use synod_proto::v1::objects_client::ObjectsClient;
use synod_proto::v1::rosters_client::RostersClient;
use tonic::transport::Channel;

use super::migrating::Migrating;
use crate::cluster::{Clients, join, report};

/// A TTL that is long enough for nothing to expire.
pub(crate) const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// The names, tokens and versions that the requests need.
pub(crate) struct Scene {
    pub(crate) settings_revision: u64,
    pub(crate) joining: v1::MemberEpoch,
    pub(crate) leaving: v1::MemberEpoch,
    /// A member that is to adopt the selected version of daemonsets.
    pub(crate) voter: v1::MemberEpoch,
    pub(crate) selected_revision: u64,
    /// The resource version of the object `updated`.
    pub(crate) updated: u64,
    /// The snapshots of the history `kept`.
    pub(crate) snapshots: Vec<String>,
    /// The resource version of the newest of them.
    pub(crate) snapshot_version: u64,
    /// Snapshots, each of a history of its own; the orphan has none.
    pub(crate) deleted: String,
    pub(crate) released: String,
    pub(crate) orphan: String,
    /// The token of the lease `held`.
    pub(crate) token: u64,
    pub(crate) migrating: Migrating,
}

impl Scene {
    pub(crate) async fn set(channel: Channel) -> Self {
        let mut clients = Clients::of(channel.clone());
        let settings = clients
            .cluster
            .get_settings(v1::ClusterGetSettingsRequest { read: None });
        let settings = settings.await.unwrap().into_inner().settings.unwrap();
        let (voter, selected_revision) = voter(&mut clients).await;
        forget_soon(&mut clients).await;
        let updated = objects(&channel).await;
        let mut histories = ControllerRevisionsClient::new(channel.clone());
        let mut snapshots = Vec::new();
        for data in ["{}", r#"{"a":1}"#, r#"{"a":2}"#] {
            snapshots.push(snapshot(&mut histories, "kept", data).await);
            snapshot(&mut histories, "truncated", data).await;
        }
        snapshot(&mut histories, "gone", "{}").await;
        let orphan = snapshot(&mut histories, "left", "{}").await;
        let release = v1::ControllerRevisionsReleaseRequest {
            namespace: "a".to_owned(),
            name: orphan.clone(),
            owner_uid: history("left").owner.unwrap().uid,
            ..v1::ControllerRevisionsReleaseRequest::default()
        };
        histories.release(release).await.unwrap();
        let mut leases = LeasesClient::new(channel.clone());
        token(&mut leases, "deleted").await;
        let token = token(&mut leases, "held").await;
        leases.put_candidate(stands("two")).await.unwrap();
        roster(&channel).await;
        Self {
            settings_revision: settings.resource_version,
            joining: clients.join("joining", DAY_MS).await,
            leaving: clients.join("leaving", DAY_MS).await,
            voter,
            selected_revision,
            updated,
            snapshot_version: version_of(&mut histories, &snapshots[2]).await,
            snapshots,
            deleted: snapshot(&mut histories, "deleting", "{}").await,
            released: snapshot(&mut histories, "releasing", "{}").await,
            orphan,
            token,
            migrating: Migrating::set(&mut clients).await,
        }
    }

    /// The request of a candidate that stands for the lease `contested`.
    pub(crate) fn stands(&self, who: &str) -> v1::LeasesPutCandidateRequest {
        stands(who)
    }
}

/// A member that has voted for another version of daemonsets than it encodes, and the revision of the selection.
async fn voter(clients: &mut Clients) -> (v1::MemberEpoch, u64) {
    let voter = clients.join("voter", DAY_MS).await;
    let mut selected = 0;
    for version in ["apps/v1", "apps/v2"] {
        let request = report(&voter, vec![voting("daemonsets", version)]);
        let reported = clients.storage_versions.report(request).await.unwrap();
        selected = reported.into_inner().resources[0].selected_revision;
    }
    (voter, selected)
}

/// Creates a resource that no member reports any more.
async fn forget_soon(clients: &mut Clients) {
    // Of a member without a gate nobody believes that no write of it is on its way.
    let gated = v1::MembershipJoinRequest {
        gated: true,
        ..join("passing", DAY_MS)
    };
    let joined = clients.membership.join(gated).await.unwrap().into_inner();
    let member = v1::MemberEpoch {
        member: "passing".to_owned(),
        epoch: joined.epoch,
        cluster_id: joined.header.unwrap().cluster_id,
    };
    let request = report(&member, vec![voting("forgotten", "apps/v1")]);
    clients.storage_versions.report(request).await.unwrap();
    let leave = v1::MembershipLeaveRequest {
        request_id: None,
        member: Some(member),
        drained: true,
        instance: "passing-process".to_owned(),
        ..v1::MembershipLeaveRequest::default()
    };
    clients.membership.leave(leave).await.unwrap();
    let joined = v1::StorageVersionsAddEquivalentsRequest {
        resources: vec![resource("parted"), resource("departed")],
        ..v1::StorageVersionsAddEquivalentsRequest::default()
    };
    let mut versions = clients.storage_versions.clone();
    versions.add_equivalents(joined).await.unwrap();
}

/// Creates collections, and objects in one of them. Returns the resource version of the object to update.
async fn objects(channel: &Channel) -> u64 {
    let mut collections = CollectionsClient::new(channel.clone());
    for (name, kind) in [("widgets", "Widget"), ("empty", "Empty")] {
        let create = v1::CollectionsCreateRequest {
            resource: Some(resource(name)),
            kind: kind.to_owned(),
            namespaced: true,
            ..v1::CollectionsCreateRequest::default()
        };
        collections.create(create).await.unwrap();
    }
    let mut objects = ObjectsClient::new(channel.clone());
    let mut revision = 0;
    for name in ["deleted", "patched", "updated"] {
        let create = v1::ObjectsCreateRequest {
            key: key(name),
            content: content(r#"{"list":[]}"#),
            ..v1::ObjectsCreateRequest::default()
        };
        let created = objects.create(create).await.unwrap().into_inner();
        revision = created.header.unwrap().revision;
    }
    revision
}

/// Creates a roster for resources that do not exist.
async fn roster(channel: &Channel) {
    let set = v1::RostersSetRequest {
        scope: "deleted.example.*".to_owned(),
        rule: Some(v1::RosterRule {
            least: 1,
            ..v1::RosterRule::default()
        }),
        ..v1::RostersSetRequest::default()
    };
    RostersClient::new(channel.clone()).set(set).await.unwrap();
}

async fn snapshot(
    histories: &mut ControllerRevisionsClient<Channel>,
    owner: &str,
    data: &str,
) -> String {
    let created = histories.create(wanting(owner, data)).await.unwrap();
    created.into_inner().answer.unwrap().name
}

async fn version_of(histories: &mut ControllerRevisionsClient<Channel>, name: &str) -> u64 {
    let get = v1::ControllerRevisionsGetRequest {
        namespace: "a".to_owned(),
        name: name.to_owned(),
        read: None,
    };
    let read = histories.get(get).await.unwrap().into_inner();
    let metadata = read.controller_revision.unwrap().metadata.unwrap();
    metadata.resource_version
}

async fn token(leases: &mut LeasesClient<Channel>, name: &str) -> u64 {
    let acquire = v1::LeasesAcquireRequest {
        lease: lease(name),
        holder: "one".to_owned(),
        ttl_ms: Some(DAY_MS),
        ..v1::LeasesAcquireRequest::default()
    };
    let acquired = leases.acquire(acquire).await.unwrap().into_inner();
    match acquired.result.unwrap() {
        v1::leases_acquire_response::Result::Held(held) => held.token,
        other => panic!("the lease was free: {other:?}"),
    }
}

fn stands(who: &str) -> v1::LeasesPutCandidateRequest {
    v1::LeasesPutCandidateRequest {
        candidate: contender(who),
        binary_version: "1.2.0".to_owned(),
        emulation_version: "1.2.0".to_owned(),
        ttl_ms: Some(DAY_MS),
        ..v1::LeasesPutCandidateRequest::default()
    }
}

pub(crate) fn contender(who: &str) -> Option<v1::LeaseContender> {
    Some(v1::LeaseContender {
        lease: lease("contested"),
        identity: who.to_owned(),
    })
}

pub(crate) fn lease(name: &str) -> Option<v1::LeaseKey> {
    Some(v1::LeaseKey {
        namespace: "a".to_owned(),
        name: name.to_owned(),
    })
}

/// The request that creates a ControllerRevision of the controller with this name.
pub(crate) fn wanting(owner: &str, data: &str) -> v1::ControllerRevisionsCreateRequest {
    v1::ControllerRevisionsCreateRequest {
        history: Some(history(owner)),
        data: data.to_owned().into(),
        collision_count: Some(0),
        ..v1::ControllerRevisionsCreateRequest::default()
    }
}

/// The history of the controller with this name. No orphan is adopted along with the change.
pub(crate) fn history(owner: &str) -> v1::ControllerHistory {
    let digits: String = owner
        .bytes()
        .cycle()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    v1::ControllerHistory {
        namespace: "a".to_owned(),
        owner: Some(v1::OwnerReference {
            api_version: "apps/v1".to_owned(),
            kind: "StatefulSet".to_owned(),
            name: owner.to_owned(),
            uid: format!("3c83e878-eeb1-8b29-b351-{digits}"),
            ..v1::OwnerReference::default()
        }),
        selector: BTreeMap::new(),
    }
}

pub(crate) fn resource(name: &str) -> v1::GroupResource {
    crate::cluster::group_resource(name)
}

pub(crate) fn key(name: &str) -> Option<v1::ObjectKey> {
    Some(v1::ObjectKey {
        resource: Some(resource("widgets")),
        namespace: "a".to_owned(),
        name: name.to_owned(),
    })
}

pub(crate) fn content(data: &str) -> Option<v1::ObjectContent> {
    Some(v1::ObjectContent {
        encoding_version: "apps/v1".to_owned(),
        media_type: "application/json".to_owned(),
        data: data.to_owned().into(),
    })
}

/// An entry of a report that votes for a version.
pub(crate) fn voting(name: &str, version: &str) -> v1::ReportEntry {
    v1::ReportEntry {
        stance: Some(v1::report_entry::Stance::PreferredVersion(
            version.to_owned(),
        )),
        ..crate::cluster::entry(name, version)
    }
}
