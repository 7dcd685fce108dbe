//! The audit log: who has called what.

use prost::Message as _;
use serde_json::Value;
use synod_client::AlarmKind;
use synod_proto::v1;

use super::raw::Raw;
use crate::cards;
use crate::cluster::{Cluster, IDS};
use crate::security::value;
use crate::waiting::eventually;
use crate::watched_over::shown_at;

const SECRET: &str = "a value that nobody may find in a log";

// Guarantee: A-11, TM-14, TM-39
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_audit_log_tells_of_every_change_and_of_everybody_who_was_refused() {
    let cluster = Cluster::start_audited(&[]).await;
    let follower = cluster.follower().await;
    let [port, ..] = cluster.ports(follower);
    let of = |name: &str| cluster.certificates().shown(name);
    let admin = Raw::connect(cluster.certificates(), port, &of("admin")).await;
    let reader = Raw::connect(cluster.certificates(), port, &of("reader")).await;
    let (collection, object) = (collection().encode_to_vec(), object().encode_to_vec());
    let calls: [(&Raw, &str, &[u8]); 5] = [
        (&admin, "synod.v1.Collections/Create", &collection),
        (&admin, "synod.v1.Objects/Create", &object),
        (&admin, "synod.v1.Objects/Create", &object),
        (&reader, "synod.v1.Objects/Create", &object),
        // Nothing is written of a read that is allowed.
        (&reader, "synod.v1.Cluster/Status", &[]),
    ];
    for (raw, method, request) in calls {
        let _ = raw.piped(method, request.to_vec().into()).await;
    }
    let lines = lines(&cluster, follower, 4).await;
    let row = |identity: &str, method: &str, became: [&str; 3]| {
        let identity = format!("spiffe://synod/{identity}");
        let method = format!("synod.v1.{method}");
        [&identity, &method, became[0], became[1], became[2]].map(str::to_owned)
    };
    let fields = ["identity", "method", "decision", "outcome", "reason"];
    let told = lines.iter();
    let told = told.map(|line| fields.map(|it| line[it].as_str().unwrap_or("-").to_owned()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            row("admin", "Collections/Create", ["allowed", "done", "-"]),
            row("admin", "Objects/Create", ["allowed", "done", "-"]),
            row(
                "admin",
                "Objects/Create",
                ["allowed", "refused", "ALREADY_EXISTS"]
            ),
            row(
                "reader",
                "Objects/Create",
                ["denied", "refused", "PERMISSION_DENIED"]
            ),
        ]
    );
    let text = |line: usize, field: &str| lines[line][field].as_str().unwrap_or_default();
    assert_eq!(
        lines[1]["objects"][0],
        "object widgets.example.io team-a/one"
    );
    assert!(lines[1]["revision"].as_u64() > lines[0]["revision"].as_u64());
    assert!(text(3, "why").contains("the role reader"));
    assert!(text(0, "peer").starts_with("127.0.0.1:"));
    let times = lines.iter().map(|line| line["time"].as_str());
    let times: Vec<&str> = times.map(|time| time.expect("each has one")).collect();
    assert!(
        times.is_sorted() && times.iter().all(|time| time.ends_with('Z')),
        "{times:?}"
    );
    for id in IDS {
        assert!(!cluster.audit(id).contains(SECRET));
        assert!(!cluster.log(id).contains(SECRET));
    }
    cluster.finish().await;
}

// Guarantee: A-11, TM-23
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_its_caller_gives_up_has_its_line_and_what_is_refused_is_cut() {
    let cluster = Cluster::start_audited(&[]).await;
    let follower = cluster.follower().await;
    let [port, ..] = cluster.ports(follower);
    let shown = cluster.certificates().shown("member-apiserver-1");
    let member = Raw::connect(cluster.certificates(), port, &shown).await;
    // It waits for a lease that another holds, until it is given up.
    let held_by = |holder: &str, wait_ms| v1::LeasesAcquireRequest {
        lease: Some(v1::LeaseKey {
            namespace: "default".to_owned(),
            name: "leader".to_owned(),
        }),
        holder: holder.to_owned(),
        wait_ms,
        ..v1::LeasesAcquireRequest::default()
    };
    let method = "synod.v1.Leases/Acquire";
    let first = held_by("apiserver-1_a", None).encode_to_vec();
    member
        .piped(method, first.into())
        .await
        .expect("it is free");
    let second = held_by("apiserver-1_b", Some(40_000)).encode_to_vec();
    member.given_up(method, second.into()).await;
    let long = held_by(&"x".repeat(100_000), None).encode_to_vec();
    member
        .piped(method, long.into())
        .await
        .expect_err("it is not its name");
    let lines = lines(&cluster, follower, 3).await;
    let outcomes = lines
        .iter()
        .map(|line| line["outcome"].as_str().unwrap_or_default());
    let mut outcomes: Vec<_> = outcomes.collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["done", "refused", "unknown"]);
    assert!(lines.iter().all(|line| line.to_string().len() < 5_000));
    cluster.finish().await;
}

fn widgets() -> Option<v1::GroupResource> {
    Some(v1::GroupResource {
        group: "example.io".to_owned(),
        resource: "widgets".to_owned(),
    })
}

fn collection() -> v1::CollectionsCreateRequest {
    v1::CollectionsCreateRequest {
        resource: widgets(),
        kind: "Widget".to_owned(),
        namespaced: true,
        ..v1::CollectionsCreateRequest::default()
    }
}

/// An object that holds a secret.
fn object() -> v1::ObjectsCreateRequest {
    v1::ObjectsCreateRequest {
        key: Some(v1::ObjectKey {
            resource: widgets(),
            namespace: "team-a".to_owned(),
            name: "one".to_owned(),
        }),
        content: Some(v1::ObjectContent {
            data: SECRET.into(),
            media_type: "text/plain".to_owned(),
            encoding_version: "example.io/v1".to_owned(),
        }),
        ..v1::ObjectsCreateRequest::default()
    }
}

/// The lines of a replica's audit log, once there are so many.
async fn lines(cluster: &Cluster, id: u64, least: usize) -> Vec<Value> {
    eventually("the lines of the audit log", async || {
        let text = cluster.audit(id);
        let lines = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("it is JSON"));
        let lines: Vec<Value> = lines.collect();
        (lines.len() >= least).then_some(lines).ok_or(text)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_cannot_be_written_are_counted_and_raise_an_alarm() {
    // A disk that is full.
    let cluster = Cluster::start_with(&["--audit-log", "/dev/full"]).await;
    let follower = cluster.follower().await;
    cards::declare(&cluster.client_of(follower).await, 1).await;
    eventually("the alarm", async || {
        let told = cluster.status(follower).await?.alarms;
        let mut alarms = told.iter().filter(|alarm| alarm.kind == AlarmKind::Audit);
        let alarm = alarms.next().ok_or_else(|| format!("{told:?}"))?;
        let says = alarm.message.contains("/dev/full");
        says.then_some(()).ok_or_else(|| format!("{alarm:?}"))
    })
    .await;
    let [_, _, port] = cluster.ports(follower);
    let lost = value(&shown_at(port).await, "synod_audit_dropped_lines_total");
    assert!(lost >= 1.0, "{lost}");
    cluster.finish().await;
}
