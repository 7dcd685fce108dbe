//! The histories of controllers of the fixture.

use synod_proto::v1;

use super::{HOUR, MINUTE, header, metadata};

/// Two snapshots of one owner, of which the older one is in use, and one without a controller.
pub(super) fn snapshots() -> v1::ControllerRevisionsListResponse {
    v1::ControllerRevisionsListResponse {
        header: Some(header()),
        items: vec![older(), newer(), released()],
        continue_token: String::new(),
        inconsistent: false,
    }
}

/// The newer snapshot of the owner.
pub(super) fn snapshot() -> v1::ControllerRevisionsGetResponse {
    v1::ControllerRevisionsGetResponse {
        header: Some(header()),
        controller_revision: Some(newer()),
    }
}

pub(super) fn diff() -> v1::ControllerRevisionsDiffResponse {
    v1::ControllerRevisionsDiffResponse {
        header: Some(header()),
        equal: false,
        json_patch: Some(r#"[{"op":"replace","path":"/size","value":4}]"#.to_owned()),
        unified: Some("@@ -1,3 +1,3 @@\n {\n-  \"size\": 3\n+  \"size\": 4\n }\n".to_owned()),
    }
}

pub(super) fn rolled_back() -> v1::ControllerRevisionsRollbackResponse {
    v1::ControllerRevisionsRollbackResponse {
        header: Some(header()),
        changed: true,
        answer: Some(v1::ControllerRevisionAnswer {
            name: "web-6c8f9d".to_owned(),
            revision: 6,
            outcome: v1::ControllerRevisionOutcome::RolledBack.into(),
            collision_count: 1,
            history: Some(v1::ControllerHistoryAnswer::default()),
        }),
        controller_revision: Some(v1::ControllerRevision {
            revision: 6,
            ..older()
        }),
    }
}

pub(super) fn truncated() -> v1::ControllerRevisionsTruncateResponse {
    v1::ControllerRevisionsTruncateResponse {
        header: Some(header()),
        changed: true,
        answer: Some(v1::ControllerHistoryAnswer {
            adopted: 0,
            deleted: 3,
            left: 0,
        }),
    }
}

fn older() -> v1::ControllerRevision {
    v1::ControllerRevision {
        metadata: Some(of_web("web-6c8f9d", 33, HOUR)),
        revision: 4,
        media_type: "application/json".to_owned(),
        data: br#"{"size":3}"#.to_vec().into(),
        current: true,
        update: false,
        in_use: vec!["web-0".to_owned(), "web-1".to_owned()],
        marks: vec![
            mark(v1::LiveMarkKind::Current, "", ttl(86_400_000)),
            mark(v1::LiveMarkKind::InUse, "web-0", of_member()),
            mark(v1::LiveMarkKind::InUse, "web-1", of_object()),
        ],
        data_version: Some("apps/v1".to_owned()),
    }
}

pub(super) fn newer() -> v1::ControllerRevision {
    v1::ControllerRevision {
        metadata: Some(of_web("web-5b7d4c", 40, MINUTE)),
        revision: 5,
        media_type: "application/json".to_owned(),
        data: br#"{"size":4}"#.to_vec().into(),
        current: false,
        update: true,
        in_use: vec![],
        marks: vec![mark(v1::LiveMarkKind::Update, "", ttl(30_000))],
        data_version: None,
    }
}

fn mark(kind: v1::LiveMarkKind, marker: &str, to: v1::mark_tie::To) -> v1::LiveMark {
    v1::LiveMark {
        kind: kind.into(),
        marker: marker.to_owned(),
        tie: Some(v1::MarkTie { to: Some(to) }),
    }
}

fn ttl(ttl_ms: u64) -> v1::mark_tie::To {
    v1::mark_tie::To::TtlMs(ttl_ms)
}

fn of_member() -> v1::mark_tie::To {
    v1::mark_tie::To::Member(v1::MemberEpoch {
        member: "server-a".to_owned(),
        epoch: 41,
        cluster_id: String::new(),
    })
}

fn of_object() -> v1::mark_tie::To {
    v1::mark_tie::To::Object(v1::TiedObject {
        key: Some(v1::ObjectKey {
            resource: Some(v1::GroupResource {
                group: "example.io".to_owned(),
                resource: "widgets".to_owned(),
            }),
            namespace: "team-a".to_owned(),
            name: "web".to_owned(),
        }),
        uid: "0f7cb1a2-3d4e-8f60-a1b2-00000000002b".to_owned(),
    })
}

fn released() -> v1::ControllerRevision {
    v1::ControllerRevision {
        metadata: Some(v1::Metadata {
            namespace: "team-b".to_owned(),
            ..metadata("old-7d", 3, HOUR)
        }),
        revision: 1,
        media_type: "application/octet-stream".to_owned(),
        data: vec![0, 255].into(),
        current: false,
        update: false,
        in_use: vec![],
        marks: vec![],
        data_version: None,
    }
}

fn of_web(name: &str, number: u64, age_ms: u64) -> v1::Metadata {
    let owner = v1::OwnerReference {
        api_version: "apps/v1".to_owned(),
        kind: "StatefulSet".to_owned(),
        name: "web".to_owned(),
        uid: "0f7cb1a2-3d4e-8f60-a1b2-00000000002a".to_owned(),
        controller: true,
        block_owner_deletion: true,
    };
    v1::Metadata {
        namespace: "team-a".to_owned(),
        labels: [("app".to_owned(), "web".to_owned())].into(),
        owner_references: vec![owner],
        ..metadata(name, number, age_ms)
    }
}
