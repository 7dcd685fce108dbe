//! Who may call what, and as whom: every method of the protocol, called as everybody.

mod audit;
mod callers;
mod deployed;
mod expiry;
mod raw;
mod requests;
mod secrets;
mod tokens;
mod withdrawn;

use std::fs;
use std::time::Duration;

use prost::Message as _;
use rcgen::ExtendedKeyUsagePurpose::ClientAuth;
use synod_client::AlarmKind;
use synod_policy::{Right, Role};
use synod_proto::access::RIGHTS;
use synod_proto::v1;
use synod_server::access::right_of;
use tokio::time::Instant;
use tonic::Code;

use crate::certificates::Shown;
use crate::cluster::{Cluster, IDS};
use crate::waiting::{eventually, within};
use raw::{Raw, denied};
use requests::Asked;

const OWN: &str = "apiserver-1";
const OTHER: &str = "apiserver-2";

/// A connection of somebody to a follower, so that what changes something is forwarded.
async fn caller(cluster: &Cluster, shown: &Shown) -> Raw {
    let [port, ..] = cluster.ports(cluster.follower().await);
    Raw::connect(cluster.certificates(), port, shown).await
}

async fn of_folder(cluster: &Cluster, name: &str) -> Raw {
    let shown = cluster.certificates().shown(name);
    caller(cluster, &shown).await
}

/// Calls a method in a pipeline, and by itself if it is no stream. Returns why it was refused for who calls.
async fn call(
    raw: &Raw,
    asked: &Asked,
    name: &str,
    other: Option<(usize, &str)>,
) -> Option<String> {
    let method = &asked.method;
    let request = asked.request(name, other);
    // Neither goes in a pipeline.
    if ["synod.v1.Pipeline/Open", "synod.v1.Cluster/Backup"].contains(&method.as_str()) {
        return denied(method, raw.unary(method, request).await);
    }
    let piped = denied(method, raw.piped(method, request.clone()).await);
    if !asked.is_stream {
        let by_itself = denied(method, raw.unary(method, request).await);
        assert_eq!(
            piped.is_some(),
            by_itself.is_some(),
            "{method}: {piped:?}, {by_itself:?}"
        );
    }
    piped
}

// Guarantee: A-01, TM-09, TM-24
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_method_is_refused_to_every_role_that_lacks_its_right() {
    let cluster = Cluster::start_secured().await;
    let callers = [
        (Role::Admin, "admin"),
        (Role::Operator, "operator"),
        (Role::Reader, "reader"),
        (Role::Backup, "backup"),
        (Role::Member, "member-apiserver-1"),
    ];
    for (role, name) in callers {
        let raw = of_folder(&cluster, name).await;
        may_what_its_role_may(&raw, role).await;
    }
    cluster.finish().await;
}

/// Calls every method as somebody of this role, who is the member [`OWN`] if it is one.
async fn may_what_its_role_may(raw: &Raw, role: Role) {
    let mut decisions = 0;
    for asked in &requests::all() {
        let right = right_of(&asked.method).expect("every method says what it needs");
        // The request names a member or a holder, which an operator is not.
        let acts = asked.places.is_empty() || matches!(role, Role::Admin | Role::Member);
        let may = role.has(right) && acts;
        let refused = call(raw, asked, OWN, None).await;
        let method = &asked.method;
        assert_eq!(refused.is_none(), may, "{role} calls {method}: {refused:?}");
        decisions += 1;
    }
    assert_eq!(decisions, RIGHTS.len());
}

// Guarantee: A-01, TM-09, TM-12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_granted_nothing_or_has_no_name_may_call_nothing() {
    let cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates();
    let sign = |uris: &[&str]| certificates.sign_for(uris, "client-ca", (-1, 9), &[ClientAuth]);
    let callers = [
        (sign(&["spiffe://synod/stranger"]), Code::PermissionDenied),
        (sign(&["spiffe://elsewhere/admin"]), Code::PermissionDenied),
        (sign(&["spiffe://synod/member/a/b"]), Code::PermissionDenied),
        (sign(&[]), Code::Unauthenticated),
        (sign(&["https://synod/admin"]), Code::Unauthenticated),
        (
            sign(&["spiffe://synod/admin", "spiffe://synod/member/a"]),
            Code::Unauthenticated,
        ),
    ];
    for (shown, code) in callers {
        let raw = caller(&cluster, &shown).await;
        for asked in &requests::all() {
            // Everybody may open one; each call in it is asked for.
            if asked.method == "synod.v1.Pipeline/Open" {
                continue;
            }
            // A stream is opened as a call is made.
            let answer = raw.unary(&asked.method, asked.request(OWN, None)).await;
            let status = answer.expect_err("it is refused");
            assert_eq!(status.code(), code, "{}: {status:?}", asked.method);
        }
        let watch = raw.piped("synod.v1.Watch/Watch", bytes::Bytes::new()).await;
        watch.expect_err("a pipeline is refused, too");
    }
    cluster.finish().await;
}

// Guarantee: TM-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_method_is_answered_to_who_shows_no_good_certificate() {
    let cluster = Cluster::start_secured().await;
    let certificates = cluster.certificates();
    let [port, ..] = cluster.ports(cluster.follower().await);
    let admin = certificates.shown("admin");
    let bad = certificates.bad("client-ca");
    let without = [("not there", None)];
    let bad: Vec<_> = bad
        .iter()
        .map(|(what, shown)| (*what, Some(shown)))
        .collect();
    for asked in &requests::all() {
        let method = asked.method.as_str();
        let call = || (method, asked.request(OWN, None));
        for (what, shown) in without.iter().chain(&bad) {
            let answer = raw::at_the_door(certificates, port, *shown, call()).await;
            assert!(answer.is_none(), "{method}, {what}: {answer:?}");
        }
    }
    let call = ("synod.v1.Cluster/Status", bytes::Bytes::new());
    let answer = raw::at_the_door(certificates, port, Some(&admin), call).await;
    answer.expect("it is answered").expect("an admin may");
    cluster.finish().await;
}

// Guarantee: A-02, TM-18
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_acts_as_itself_alone_wherever_a_request_can_name_somebody() {
    let cluster = Cluster::start_secured().await;
    let raw = of_folder(&cluster, "member-apiserver-1").await;
    acts_as_itself_alone(&raw).await;
    cluster.finish().await;
}

/// Calls every method that a member may call with each name in each place, as the member [`OWN`].
async fn acts_as_itself_alone(raw: &Raw) {
    let mut places = 0;
    for asked in &requests::all() {
        let method = &asked.method;
        let right = right_of(method).expect("every method says what it needs");
        if !Role::Member.has(right) {
            continue;
        }
        for place in 0..asked.places.len() {
            let path = asked.path(place);
            let own = call(raw, asked, OWN, Some((place, OWN))).await;
            assert_eq!(own, None, "{method}, {path}");
            for name in [OTHER, "", "apiserver-10", "*"] {
                let refused = call(raw, asked, OWN, Some((place, name))).await;
                assert!(
                    refused.is_some(),
                    "{method} lets {OWN} act as {name:?} by {path}"
                );
            }
            places += 1;
        }
    }
    assert_eq!(places, 21);
}

// Guarantee: A-03, TM-19
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_and_sessions_are_of_no_use_to_others() {
    let cluster = Cluster::start_secured().await;
    let (own, other) = (
        of_folder(&cluster, "member-apiserver-1").await,
        of_folder(&cluster, "member-apiserver-2").await,
    );
    let (token, session) = (holds_as(&other, OTHER).await, opens(&other).await);
    let renew = v1::LeasesRenewRequest {
        what: Some(v1::leases_renew_request::What::Lease(token.clone())),
        correlation: 1,
    };
    let fenced = v1::ObjectsTransactRequest {
        fences: Some(v1::Fences {
            if_member: None,
            if_lease: Some(token),
        }),
        ..v1::ObjectsTransactRequest::default()
    };
    let in_session = v1::LeasesReleaseRequest {
        request_id: Some(v1::RequestId {
            session,
            sequence: 1,
            lowest_unanswered: 1,
            cluster_id: String::new(),
        }),
        lease: Some(lease("mine")),
        holder: OWN.to_owned(),
        token: None,
    };
    let outcome = v1::SessionsGetOutcomeRequest {
        session,
        sequence: 1,
        cluster_id: String::new(),
    };
    let close = v1::SessionsCloseRequest {
        session,
        cluster_id: String::new(),
    };
    let calls: [(&str, Vec<u8>); 5] = [
        ("synod.v1.Leases/Renew", renew.encode_to_vec()),
        ("synod.v1.Objects/Transact", fenced.encode_to_vec()),
        ("synod.v1.Leases/Release", in_session.encode_to_vec()),
        ("synod.v1.Sessions/GetOutcome", outcome.encode_to_vec()),
        ("synod.v1.Sessions/Close", close.encode_to_vec()),
    ];
    for (method, request) in calls {
        let refused = denied(method, own.piped(method, request.clone().into()).await);
        assert!(refused.is_some(), "{method} takes what is another's");
        // It is all the other's own, but for the name of the holder.
        let allowed = denied(method, other.piped(method, request.into()).await);
        let is_release = method == "synod.v1.Leases/Release";
        assert_eq!(allowed.is_some(), is_release, "{method}: {allowed:?}");
    }
    cluster.finish().await;
}

fn lease(name: &str) -> v1::LeaseKey {
    v1::LeaseKey {
        namespace: "default".to_owned(),
        name: name.to_owned(),
    }
}

/// The token of a lease that a member holds, under its name.
async fn holds_as(member: &Raw, name: &str) -> v1::LeaseToken {
    let acquire = v1::LeasesAcquireRequest {
        lease: Some(lease("leader")),
        holder: format!("{name}_process"),
        ..v1::LeasesAcquireRequest::default()
    };
    let method = "synod.v1.Leases/Acquire";
    let held = member.unary(method, acquire.encode_to_vec().into()).await;
    let held = v1::LeasesAcquireResponse::decode(held.expect("it is free")).expect("an answer");
    let Some(v1::leases_acquire_response::Result::Held(held)) = held.result else {
        panic!("it is not held: {held:?}")
    };
    v1::LeaseToken {
        lease: Some(lease("leader")),
        token: held.token,
        cluster_id: String::new(),
    }
}

/// The number of a session of the other member.
async fn opens(other: &Raw) -> u64 {
    let opened = other
        .unary("synod.v1.Sessions/Open", bytes::Bytes::new())
        .await;
    let opened = v1::SessionsOpenResponse::decode(opened.expect("it may")).expect("an answer");
    opened.session
}

/// The longest time for which a stream outlives the rights that it was opened by.
const WITHDRAWN_WITHIN: Duration = Duration::from_secs(5);

/// How often rights are withdrawn until that is soon enough: a busy machine may let a replica wait, but not each time.
const WITHDRAWALS: usize = 3;

/// Withdraws rights, by what returns how long their streams outlived them.
async fn withdrawn_in_time(mut withdrawn: impl AsyncFnMut() -> Duration) {
    let mut took = Vec::new();
    for _ in 0..WITHDRAWALS {
        let last = withdrawn().await;
        if last < WITHDRAWN_WITHIN {
            return;
        }
        took.push(last);
    }
    panic!("streams outlive their rights each time: {took:?}");
}

/// A policy with this grant, beside that of admins.
fn policy(grant: &str) -> String {
    format!("[[grant]]\nwho = \"spiffe://synod/admin\"\nrole = \"admin\"\n{grant}\n")
}

// Guarantee: A-09, TM-11, TM-35
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn withdrawn_rights_end_open_streams_and_a_bad_policy_changes_nothing() {
    let reads = policy("[[grant]]\nwho = \"spiffe://synod/reader\"\nrole = \"reader\"");
    let cluster = Cluster::start_with_policy(&reads).await;
    let reader = of_folder(&cluster, "reader").await;
    let status = async || {
        let answer = reader
            .unary("synod.v1.Cluster/Status", bytes::Bytes::new())
            .await;
        denied("synod.v1.Cluster/Status", answer)
    };
    assert_eq!(status().await, None);
    let watches = async || vec![reader.watch(false).await, reader.watch(true).await];
    let mut open = Some(watches().await);

    // What cannot be used changes nothing.
    fs::write(cluster.policy(), "[[grant]]\nwho = 7\n").expect("it can be written");
    eventually("the alarm of every replica", async || {
        for id in IDS {
            let told = cluster.status(id).await?.alarms;
            let alarm = told
                .into_iter()
                .find(|alarm| alarm.kind == AlarmKind::Policy);
            let alarm = alarm.ok_or_else(|| format!("replica {id} has none"))?;
            assert!(
                alarm.message.contains("policy.toml: line 2"),
                "{}",
                alarm.message
            );
        }
        Ok(())
    })
    .await;
    assert_eq!(status().await, None);

    withdrawn_in_time(async || {
        let streams = match open.take() {
            // They were opened before the bad policy.
            Some(streams) => streams,
            None => {
                fs::write(cluster.policy(), &reads).expect("it can be written");
                eventually("the rights", async || status().await.map_or(Ok(()), Err)).await;
                watches().await
            }
        };
        fs::write(cluster.policy(), policy("")).expect("it can be written");
        let began = Instant::now();
        for mut stream in streams {
            let reason = within("the end of a watch", stream.end()).await;
            assert_eq!(reason, v1::WatchEndReason::Rights);
        }
        let took = began.elapsed();
        assert!(status().await.is_some(), "it may read no more");
        took
    })
    .await;
    eventually("the end of the alarm", async || {
        let told = cluster.status(1).await?.alarms;
        let is_quiet = told.iter().all(|alarm| alarm.kind != AlarmKind::Policy);
        is_quiet.then_some(()).ok_or_else(|| format!("{told:?}"))
    })
    .await;
    cluster.finish().await;
}

// Guarantee: A-04, TM-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_narrowed_reaches_no_further() {
    let narrowed = policy(
        "[[grant]]\nwho = \"spiffe://synod/operator\"\nrole = \"operator\"\nnamespaces = [\"team-a\"]\n\
         collections = [\"widgets.example.io\"]\nleases = [\"team-a/lock-*\"]",
    );
    let cluster = Cluster::start_with_policy(&narrowed).await;
    let operator = of_folder(&cluster, "operator").await;
    let resource = |name: &str| {
        Some(v1::GroupResource {
            group: "example.io".to_owned(),
            resource: name.to_owned(),
        })
    };
    let list = |name: &str, namespace: &str| {
        let request = v1::ObjectsListRequest {
            resource: resource(name),
            namespace: namespace.to_owned(),
            ..v1::ObjectsListRequest::default()
        };
        ("synod.v1.Objects/List", request.encode_to_vec())
    };
    let watch = |kinds: &[v1::ObjectKind], namespaces: &[&str]| {
        let request = v1::WatchRequest {
            filter: Some(v1::WatchFilter {
                kinds: kinds.iter().map(|kind| i32::from(*kind)).collect(),
                namespaces: namespaces.iter().map(|it| (*it).to_owned()).collect(),
                names: vec!["lock-1".to_owned()],
                ..v1::WatchFilter::default()
            }),
            ..v1::WatchRequest::default()
        };
        ("synod.v1.Watch/Watch", request.encode_to_vec())
    };
    let migration = |name: &str| {
        let request = v1::MigrationsStartRequest {
            resource: resource(name),
            ..v1::MigrationsStartRequest::default()
        };
        ("synod.v1.Migrations/Start", request.encode_to_vec())
    };
    use v1::ObjectKind::{Lease, Member, Object};
    let cases = [
        (list("widgets", "team-a"), true),
        (list("widgets", "team-b"), false),
        (list("widgets", ""), false),
        (list("gears", "team-a"), false),
        (watch(&[Lease], &["team-a"]), true),
        (watch(&[Lease], &["team-a", "team-b"]), false),
        (watch(&[Member], &[]), true),
        (watch(&[Object], &["team-a"]), false),
        (watch(&[], &[]), false),
        (migration("widgets"), true),
        (migration("gears"), false),
    ];
    for ((method, request), may) in cases {
        let refused = denied(method, operator.piped(method, request.into()).await);
        assert_eq!(refused.is_none(), may, "{method}: {refused:?}");
    }
    assert!(Role::Operator.has(Right::Operate));
    cluster.finish().await;
}
