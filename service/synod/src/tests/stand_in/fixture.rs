//! The answers of a cluster in the middle of an upgrade.

#[path = "agreements.rs"]
mod agreements;
#[path = "histories.rs"]
mod histories;
#[path = "leases.rs"]
mod leases;
#[path = "migrations.rs"]
mod migrations;
#[path = "objects.rs"]
mod objects;
#[path = "rosters.rs"]
mod rosters;

use std::collections::BTreeMap;

use synod_proto::v1;

use super::Part;

/// The time in the fixture, in milliseconds since the Unix epoch.
pub(crate) const NOW_MS: u64 = 1_793_000_000_000;

/// An address where nobody listens.
pub(crate) const UNREACHABLE: &str = "127.0.0.1:1";

const SECOND: u64 = 1_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The answers of a replica of the fixture.
pub(crate) fn part() -> Part {
    Part {
        refusal: None,
        status: status(),
        settings: v1::ClusterGetSettingsResponse {
            header: Some(header()),
            settings: Some(settings()),
        },
        settings_changed: v1::ClusterUpdateSettingsResponse {
            header: Some(header()),
            changed: true,
        },
        members: members(),
        member: v1::MembershipGetResponse {
            header: Some(header()),
            member: Some(server_a()),
            remaining_ms: Some(12_400),
        },
        storage_versions: v1::StorageVersionsListResponse {
            header: Some(header()),
            items: vec![deployments(), pods(), jobs(), widgets()],
            continue_token: String::new(),
            inconsistent: false,
            log_time_ms: LOG_TIME_MS,
        },
        storage_version: get(pods()),
        history: history(),
        rosters: rosters::rosters(),
        collections: objects::collections(),
        objects: objects::objects(),
        written: objects::written(),
        snapshots: histories::snapshots(),
        snapshot: histories::snapshot(),
        diff: histories::diff(),
        rolled_back: histories::rolled_back(),
        truncated: histories::truncated(),
        leases: leases::leases(),
        lease: leases::lease(),
        candidates: leases::candidates(),
        migrations: migrations::migrations(),
        migration: migrations::migration(),
        dangers: migrations::dangers(),
        agreement: agreements::agreement(),
        upgrade: agreements::upgrade(),
        watches: vec![vec![
            bookmark(45),
            first_events(),
            second_events(),
            objects::events(),
            leases::events(),
            rosters::added(),
            bookmark(50),
        ]],
    }
}

/// The resource of which only the storage state has stayed.
pub(crate) fn unreported() -> v1::StorageVersionsGetResponse {
    v1::StorageVersionsGetResponse {
        heartbeat: Some(v1::Heartbeat {
            log_time_ms: LOG_TIME_MS - 40 * MINUTE,
            time_ms: NOW_MS - 40 * MINUTE,
            stale: true,
        }),
        ..get(jobs())
    }
}

pub(crate) fn header() -> v1::ResponseHeader {
    v1::ResponseHeader {
        cluster_id: "5a3e9c1e-7d41-8b2a-9f00-4c1d2e3f4a5b".to_owned(),
        replica_id: 2,
        revision: 47,
        raft_term: 5,
        age_ms: None,
    }
}

const LOG_TIME_MS: u64 = 5_400_000;

fn get(item: v1::StorageVersionListItem) -> v1::StorageVersionsGetResponse {
    v1::StorageVersionsGetResponse {
        header: Some(header()),
        storage_version: item.storage_version,
        storage_state: item.storage_state,
        log_time_ms: LOG_TIME_MS,
        heartbeat: None,
        reasons: item.reasons,
    }
}

fn metadata(name: &str, number: u64, age_ms: u64) -> v1::Metadata {
    v1::Metadata {
        name: name.to_owned(),
        uid: format!("0f7cb1a2-3d4e-8f60-a1b2-{number:012x}"),
        resource_version: number + 2,
        create_revision: number,
        generation: 2,
        creation_time_ms: NOW_MS - age_ms,
        labels: BTreeMap::new(),
        ..v1::Metadata::default()
    }
}

// --- the cluster ---

/// Two of three replicas are up, and the disk of one is nearly full.
fn status() -> v1::ClusterStatusResponse {
    v1::ClusterStatusResponse {
        header: Some(header()),
        cluster_name: "prod".to_owned(),
        version: "0.1.0".to_owned(),
        machine_version: 1,
        leader_id: Some(2),
        replicas: vec![
            replica(1, Some(811)),
            replica(2, Some(815)),
            replica(3, Some(640)),
        ],
        log_time_ms: LOG_TIME_MS,
        applied_index: 815,
        digest: "9f86d081884c7d659a2feaa0c55ad015".to_owned(),
        digest_index: 768,
        oldest_revision: 1,
        oldest_upgrade_revision: 1,
        alarms: vec![v1::Alarm {
            kind: v1::AlarmKind::DiskFull.into(),
            replica_id: 2,
            message: "the disk of replica 2 is nearly full: make room on it".to_owned(),
        }],
        vitals: Some(v1::ReplicaVitals {
            wall_time_ms: NOW_MS,
            log_flushes: 128,
            log_flush_us_median: 410,
            log_flush_us_max: 2_900,
            state_bytes: 1 << 20,
            state_quota_bytes: 1 << 30,
            members: 3,
            members_max: 500,
            sessions: 4,
            sessions_max: 100_000,
            storage_versions: 12,
            disagreements: 1,
        }),
    }
}

fn replica(id: u64, matched: Option<u64>) -> v1::ReplicaStatus {
    v1::ReplicaStatus {
        replica_id: id,
        peer_address: format!("10.0.0.{id}:4610"),
        client_address: match id {
            1 => UNREACHABLE.to_owned(),
            2 => "10.0.0.2:4600".to_owned(),
            // It has not announced its client address.
            _ => String::new(),
        },
        directory_id: format!("{id:032x}"),
        role: v1::ReplicaRole::Voter.into(),
        version: if id == 3 {
            String::new()
        } else {
            "0.1.0".to_owned()
        },
        machine_version: 1,
        applied_index: (id == 2).then_some(815),
        matched_index: matched,
    }
}

fn settings() -> v1::Settings {
    v1::Settings {
        resource_version: 31,
        history_revisions: 10_000,
        history_bytes: 64 << 20,
        write_grace_ms: 70_000,
        unreported_grace_ms: 300_000,
        session_ttl_ms: 300_000,
        session_outcomes: 1_024,
        sessions_max: 100_000,
        members_max: 500,
        report_entries_max: 10_000,
        agreements_kept: 100,
        state_quota_bytes: 1 << 30,
        migrations_kept: 10,
        discovery_period_ms: 600_000,
        enforce_persisted: vec![resource("apps", "deployments"), resource("", "pods")],
        votes: Some(v1::Switch::On.into()),
        objects: Some(v1::Switch::On.into()),
        histories: Some(v1::Switch::On.into()),
        leases: Some(v1::Switch::Off.into()),
        migrations: Some(v1::Switch::On.into()),
    }
}

// --- members ---

fn members() -> v1::MembershipListResponse {
    let item = |member, remaining_ms| v1::MemberListItem {
        member: Some(member),
        remaining_ms,
    };
    v1::MembershipListResponse {
        header: Some(header()),
        items: vec![
            item(server_a(), Some(12_400)),
            item(server_b(), Some(14_900)),
            item(aggregated(), None),
        ],
        continue_token: String::new(),
        inconsistent: false,
    }
}

fn server_a() -> v1::Member {
    let mut metadata = metadata("server-a", 3, 3 * DAY + 12 * HOUR);
    metadata.labels = [("topology.kubernetes.io/zone", "a"), ("tier", "control")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    v1::Member {
        metadata: Some(metadata),
        instance: "i-7d0c2b".to_owned(),
        epoch: 3,
        ttl_ms: 15_000,
        version: "v1.37.0".to_owned(),
        endpoint: "https://10.0.0.11:6443".to_owned(),
        phase: v1::MemberPhase::Ready.into(),
        reported: true,
        gated: false,
    }
}

fn server_b() -> v1::Member {
    v1::Member {
        metadata: Some(metadata("server-b", 8, 5 * MINUTE + 5 * SECOND)),
        instance: "i-90aa1f".to_owned(),
        epoch: 36,
        endpoint: "https://10.0.0.12:6443".to_owned(),
        version: "v1.36.2".to_owned(),
        ..server_a()
    }
}

fn aggregated() -> v1::Member {
    v1::Member {
        metadata: Some(metadata("widgets.example.com", 44, 42 * SECOND)),
        instance: "i-widgets".to_owned(),
        epoch: 44,
        ttl_ms: 90_000,
        version: String::new(),
        endpoint: String::new(),
        phase: v1::MemberPhase::Joining.into(),
        reported: false,
        gated: false,
    }
}

// --- storage versions ---

fn resource(group: &str, resource: &str) -> v1::GroupResource {
    v1::GroupResource {
        group: group.to_owned(),
        resource: resource.to_owned(),
    }
}

fn entry(member: &str, kind: &str, encoding: Option<&str>) -> v1::StorageVersionEntry {
    v1::StorageVersionEntry {
        member: member.to_owned(),
        kind: kind.to_owned(),
        decodable_versions: Vec::new(),
        served_versions: Vec::new(),
        preferred_version: None,
        encoding_version: encoding.map(str::to_owned),
        adopted_revision: None,
        since_revision: 4,
        serve_until_ms: None,
        stored: v1::StoredIn::Outside.into(),
        equivalents: Vec::new(),
    }
}

fn versions(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn conditions(agreed: bool, decodable: bool) -> Vec<v1::Condition> {
    let condition = |kind: &str, holds: bool, reason: &str, message: &str| v1::Condition {
        r#type: kind.to_owned(),
        status: if holds {
            v1::ConditionStatus::True
        } else {
            v1::ConditionStatus::False
        }
        .into(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: 2,
        last_transition_time_ms: NOW_MS - HOUR,
        last_transition_revision: 38,
    };
    let (reason, message) = if agreed {
        ("CommonEncodingVersionSet", "Common encoding version set")
    } else {
        (
            "CommonEncodingVersionUnset",
            "Common encoding version unset",
        )
    };
    let (decodable_reason, told) = if decodable {
        (
            "AllVersionsDecodable",
            "every member decodes every version in use",
        )
    } else {
        ("VersionsNotDecodable", "server-b cannot decode v3")
    };
    vec![
        condition("AllEncodingVersionsEqual", agreed, reason, message),
        condition("DecodableByAll", decodable, decodable_reason, told),
    ]
}

fn state(
    name: &str,
    resource: v1::GroupResource,
    status: Option<&v1::StorageVersionStatus>,
) -> v1::StorageState {
    v1::StorageState {
        metadata: Some(metadata(name, 4, 3 * DAY)),
        resource: Some(resource),
        selected_version: status.and_then(|status| status.selected_version.clone()),
        selected_revision: status.map_or(0, |status| status.selected_revision),
        agreement_revision: status.map_or(0, |status| status.agreement_revision),
        current_version: status.and_then(|status| status.agreed_version.clone()),
        persisted: Vec::new(),
        drains: Vec::new(),
        common_encoding_version: status.and_then(|status| status.common_encoding_version.clone()),
        observed_hashes: Vec::new(),
        observed_kind: String::new(),
        observation_expired: false,
        contradicted: false,
        current_hash: None,
        absent: None,
        on_trust_since: 0,
        serve_until_ms: None,
        serve_until_log_time_ms: None,
        known_versions: Vec::new(),
        known_hashes: Vec::new(),
        concluded_before: 0,
        said_stopped: Vec::new(),
        short_absences: Vec::new(),
        stored_outside: false,
        ungated_gone: Vec::new(),
        more_ungated_gone: false,
        looks: Vec::new(),
        equivalents: Vec::new(),
    }
}

fn persisted(version: &str, hash: &str) -> v1::PersistedVersion {
    v1::PersistedVersion {
        unknown: false,
        hash: hash.to_owned(),
        version: Some(version.to_owned()),
    }
}

/// Two fixed entries that agree.
fn deployments() -> v1::StorageVersionListItem {
    let fixed = |member| v1::StorageVersionEntry {
        decodable_versions: versions(&["apps/v1", "apps/v1beta2"]),
        served_versions: versions(&["apps/v1"]),
        ..entry(member, "Deployment", Some("apps/v1"))
    };
    let status = v1::StorageVersionStatus {
        common_encoding_version: Some("apps/v1".to_owned()),
        selected_version: None,
        selected_revision: 0,
        agreement_revision: 9,
        agreed_version: Some("apps/v1".to_owned()),
        decodable_by_all: versions(&["apps/v1", "apps/v1beta2"]),
        served_by_all: versions(&["apps/v1"]),
        conditions: conditions(true, true),
    };
    let resource = resource("apps", "deployments");
    let mut state = state("deployments.apps", resource.clone(), Some(&status));
    let unknown = v1::PersistedVersion {
        unknown: true,
        hash: String::new(),
        version: None,
    };
    state.persisted = vec![unknown, persisted("apps/v1", "8aSe+NMegvE=")];
    let storage_version = v1::StorageVersion {
        metadata: Some(metadata("apps.deployments", 4, 3 * DAY)),
        resource: Some(resource),
        entries: vec![fixed("server-a"), fixed("server-b")],
        status: Some(status),
    };
    v1::StorageVersionListItem {
        storage_version: Some(storage_version),
        storage_state: Some(state),
        reasons: Vec::new(),
    }
}

/// Two voters, of which one has not adopted the selected version yet.
fn pods() -> v1::StorageVersionListItem {
    let voter = |member, preferred: &str, encoding, adopted| v1::StorageVersionEntry {
        decodable_versions: versions(&["v1", "v2"]),
        served_versions: versions(&["v1", "v2"]),
        preferred_version: Some(preferred.to_owned()),
        adopted_revision: Some(adopted),
        ..entry(member, "Pod", Some(encoding))
    };
    let status = v1::StorageVersionStatus {
        common_encoding_version: None,
        selected_version: Some("v2".to_owned()),
        selected_revision: 38,
        agreement_revision: 40,
        agreed_version: None,
        decodable_by_all: versions(&["v1", "v2"]),
        served_by_all: versions(&["v1", "v2"]),
        conditions: conditions(false, true),
    };
    let resource = resource("", "pods");
    let mut state = state("pods", resource.clone(), Some(&status));
    state.persisted = vec![
        persisted("v1", "xPOwRZ+Yhw8="),
        persisted("v2", "ycR7J1GaKp8="),
    ];
    let drain = |version: &str, until_log_time_ms| v1::Drain {
        version: version.to_owned(),
        until_log_time_ms,
        ..v1::Drain::default()
    };
    state.drains = vec![drain("v1", LOG_TIME_MS + 63_000), drain("v2", LOG_TIME_MS)];
    state.absent = Some(v1::AbsentMembers {
        members: versions(&["server-c"]),
        unnamed: 0,
        short: 1,
        message: "server-c, and 1 more member of any labels, to reach the required minimum"
            .to_owned(),
        label_selector: String::new(),
    });
    let storage_version = v1::StorageVersion {
        metadata: Some(metadata("core.pods", 4, 26 * HOUR)),
        resource: Some(resource),
        entries: vec![
            voter("server-a", "v2", "v2", 38),
            voter("server-b", "v2", "v1", 12),
        ],
        status: Some(status),
    };
    v1::StorageVersionListItem {
        storage_version: Some(storage_version),
        storage_state: Some(state),
        reasons: agreements::of_pods(),
    }
}

/// No member reports this resource any more.
fn jobs() -> v1::StorageVersionListItem {
    let mut state = state("jobs.batch", resource("batch", "jobs"), None);
    state.persisted = vec![persisted("batch/v1", "mudhfqk/qZY=")];
    state.observed_hashes = versions(&["mudhfqk/qZY="]);
    state.observed_kind = "Job".to_owned();
    state.observation_expired = true;
    v1::StorageVersionListItem {
        storage_version: None,
        storage_state: Some(state),
        reasons: agreements::of_jobs(),
    }
}

/// Many members with different entries, and one voter although no version can be selected.
fn widgets() -> v1::StorageVersionListItem {
    let fixed = |member, encoding| v1::StorageVersionEntry {
        decodable_versions: versions(&["example.com/v1", "example.com/v2"]),
        ..entry(member, "Widget", Some(encoding))
    };
    let voter = v1::StorageVersionEntry {
        decodable_versions: versions(&["example.com/v3"]),
        preferred_version: Some("example.com/v3".to_owned()),
        ..entry("w-6", "Widget", None)
    };
    let status = v1::StorageVersionStatus {
        common_encoding_version: None,
        selected_version: None,
        selected_revision: 0,
        agreement_revision: 22,
        agreed_version: None,
        decodable_by_all: Vec::new(),
        served_by_all: Vec::new(),
        conditions: conditions(false, false),
    };
    let resource = resource("example.com", "widgets");
    let mut state = state("widgets.example.com", resource.clone(), Some(&status));
    state.persisted = vec![persisted("example.com/v1", "V7+l6hJ3c2w=")];
    state.observed_hashes = versions(&["ycR7J1GaKp8="]);
    state.observed_kind = "Widget".to_owned();
    state.contradicted = true;
    state.drains = vec![v1::Drain {
        until_log_time_ms: LOG_TIME_MS + 9_000,
        hash: "V7+l6hJ3c2w=".to_owned(),
        ..v1::Drain::default()
    }];
    let storage_version = v1::StorageVersion {
        metadata: Some(metadata("example.com.widgets", 20, 119 * SECOND)),
        resource: Some(resource),
        entries: vec![
            fixed("w-1", "example.com/v1"),
            fixed("w-2", "example.com/v2"),
            fixed("w-3", "example.com/v2"),
            fixed("w-4", "example.com/v2"),
            fixed("w-5", "example.com/v2"),
            voter,
        ],
        status: Some(status),
    };
    v1::StorageVersionListItem {
        storage_version: Some(storage_version),
        storage_state: Some(state),
        reasons: agreements::of_widgets(),
    }
}

fn history() -> v1::StorageVersionsHistoryResponse {
    use v1::AgreementCause as Cause;
    let change = |from: Option<&str>, to: Option<&str>, revision, age_ms, cause: Cause| {
        let member = cause == Member;
        v1::AgreementChange {
            from_version: from.map(str::to_owned),
            to_version: to.map(str::to_owned),
            revision,
            time_ms: NOW_MS - age_ms,
            cause_member: member.then(|| "server-a".to_owned()),
            cause: cause.into(),
            caller: member.then(|| "spiffe://synod/member/server-a".to_owned()),
        }
    };
    use Cause::{Member, Observed, Roster};
    v1::StorageVersionsHistoryResponse {
        header: Some(header()),
        changes: vec![
            change(None, Some("v1"), 9, 3 * DAY, Member),
            change(Some("v1"), None, 12, 2 * DAY, Observed),
            change(None, Some("v1"), 13, DAY, Observed),
            change(Some("v1"), None, 42, 6 * MINUTE, Roster),
        ],
    }
}

// --- the watch ---

fn message(message: v1::watch_response::Message) -> v1::WatchResponse {
    v1::WatchResponse {
        message: Some(message),
    }
}

pub(crate) fn bookmark(revision: u64) -> v1::WatchResponse {
    message(v1::watch_response::Message::Bookmark(v1::WatchBookmark {
        revision,
        cluster_id: header().cluster_id,
        replica_id: 2,
    }))
}

/// The changes of one revision.
pub(crate) fn events(revision: u64, events: Vec<v1::Event>) -> v1::WatchResponse {
    message(v1::watch_response::Message::Events(v1::WatchEvents {
        revision,
        events,
        more_fragments: false,
        time_ms: Some(NOW_MS - MINUTE),
        caller: Some("spiffe://synod/admin".to_owned()),
    }))
}

/// A member was removed, and its entries with it.
fn first_events() -> v1::WatchResponse {
    let pods = pods().storage_version.unwrap();
    let change = v1::StorageVersionChange {
        metadata: pods.metadata,
        resource: pods.resource,
        changed_entries: vec![pods.entries[0].clone()],
        removed_members: vec!["server-b".to_owned()],
        status: pods.status,
    };
    events(
        46,
        vec![
            event(
                v1::EventType::Removed,
                v1::ObjectKind::Member,
                "server-b",
                v1::event::Object::Member(server_b()),
            ),
            event(
                v1::EventType::Modified,
                v1::ObjectKind::StorageVersion,
                "core.pods",
                v1::event::Object::StorageVersion(change),
            ),
            event(
                v1::EventType::Added,
                v1::ObjectKind::StorageState,
                "jobs.batch",
                v1::event::Object::StorageState(jobs().storage_state.unwrap()),
            ),
        ],
    )
}

fn second_events() -> v1::WatchResponse {
    let object = v1::event::Object::Settings(settings());
    events(
        47,
        vec![event(
            v1::EventType::Modified,
            v1::ObjectKind::Settings,
            "settings",
            object,
        )],
    )
}

fn event(
    change: v1::EventType,
    kind: v1::ObjectKind,
    name: &str,
    object: v1::event::Object,
) -> v1::Event {
    v1::Event {
        r#type: change.into(),
        kind: kind.into(),
        name: name.to_owned(),
        namespace: String::new(),
        object: Some(object),
        ..v1::Event::default()
    }
}

/// The requested history was compacted.
pub(crate) fn compacted(oldest_revision: u64, current_revision: u64) -> v1::WatchResponse {
    message(v1::watch_response::Message::Compacted(v1::WatchCompacted {
        oldest_revision,
        current_revision,
    }))
}
