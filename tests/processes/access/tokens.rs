//! Callers without certificates, who send tokens of Kubernetes' service accounts.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use synod_client::{AlarmKind, Client, ClientTls, SettingsPatch, Token, WatchOptions};
use synod_policy::Role;
use synod_proto::access::RIGHTS;
use synod_proto::v1;
use tonic::Code;

use super::raw::Raw;
use super::{OWN, acts_as_itself_alone, may_what_its_role_may, requests};
use crate::cluster::{Cluster, IDS};
use crate::issuer::{Issuer, TABLE, Wanted, jwks};
use crate::security::{metrics, value};
use crate::traces::collector::{Collector, Seen};
use crate::waiting::{eventually, within};

/// A method that everybody may call who may connect.
const HEALTH: &str = "grpc.health.v1.Health/Check";

/// The policy: an admin has a certificate, too.
fn policy() -> String {
    let grant = |who: &str, role: &str| format!("[[grant]]\nwho = \"{who}\"\nrole = \"{role}\"\n");
    let account = |name: &str| grant(&format!("system:serviceaccount:ops:{name}"), name);
    [
        TABLE.to_owned(),
        grant("spiffe://synod/admin", "admin"),
        account("admin"),
        account("operator"),
        account("reader"),
        account("backup"),
        grant("system:serviceaccount:prod:api", "member"),
        "name = \"{pod}\"\n".to_owned(),
    ]
    .concat()
}

/// A member, which is the pod of this name.
fn member(pod: &str) -> Wanted<'_> {
    Wanted::of("prod", "api").bound_to(pod)
}

async fn port(cluster: &Cluster) -> SocketAddr {
    let [port, ..] = cluster.ports(cluster.follower().await);
    port
}

/// A client without a certificate.
async fn client(cluster: &Cluster, token: Token) -> Client {
    let tls = ClientTls {
        own: None,
        ..cluster.certificates().admin()
    };
    let builder = Client::builder().endpoints(cluster.endpoints());
    let client = builder.tls(tls).token(token).connect().await;
    client.expect("it can be used")
}

// Guarantee: A-05, TM-25
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_account_may_what_its_role_may_and_acts_as_its_pod_alone() {
    let issuer = Issuer::new("one");
    let cluster = Cluster::start_with_tokens(&policy(), &jwks(&[&issuer]), None, &[]).await;
    let port = port(&cluster).await;
    let callers = [
        (Role::Admin, Wanted::of("ops", "admin")),
        (Role::Operator, Wanted::of("ops", "operator")),
        (Role::Reader, Wanted::of("ops", "reader")),
        (Role::Backup, Wanted::of("ops", "backup")),
        (Role::Member, member(OWN)),
    ];
    for (role, wanted) in callers {
        let token = issuer.token(wanted);
        let raw = Raw::bearing(cluster.certificates(), port, Some(&token)).await;
        may_what_its_role_may(&raw, role).await;
        if role == Role::Member {
            acts_as_itself_alone(&raw).await;
        }
    }
    cluster.finish().await;
}

// Guarantee: I-06, TM-06
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_not_known_asks_for_no_span() {
    const STATUS: &str = "synod.v1.Cluster/Status";
    let (issuer, other) = (Issuer::new("one"), Issuer::new("one"));
    let collector = Collector::start().await;
    let url = collector.url();
    let traces = ["--otlp-endpoint", &url, "--trace-sampling-ratio", "1"];
    let cluster = Cluster::start_with_tokens(&policy(), &jwks(&[&issuer]), None, &traces).await;
    let port = port(&cluster).await;
    let trace = |number: u8| format!("{number:032x}");
    let admin = Wanted::of("ops", "admin");
    let callers = [
        (1, None, Code::Unauthenticated),
        (2, Some(other.token(admin)), Code::Unauthenticated),
        (
            3,
            Some(issuer.token(Wanted::of("ops", "stranger"))),
            Code::PermissionDenied,
        ),
        (4, Some(issuer.token(admin)), Code::Ok),
    ];
    for (number, token, expected) in callers {
        let raw = Raw::bearing(cluster.certificates(), port, token.as_deref()).await;
        let above = format!("00-{}-{:016x}-01", trace(number), 1);
        let answer = raw.unary_traced(STATUS, Bytes::new(), &above).await;
        let code = answer.map_or_else(|status| status.code(), |_| Code::Ok);
        assert_eq!(code, expected, "caller {number}");
    }
    // What is exported is exported in order.
    collector.trace(&trace(4), &[STATUS]).await;
    let spans = collector.spans();
    let seen = |number| {
        let of = |span: &&Seen| span.trace() == trace(number);
        spans.iter().filter(of).count()
    };
    assert_eq!([1, 2].map(seen), [0, 0], "nobody knows who they are");
    assert_eq!(seen(3), 1, "who is granted nothing is known");
    cluster.finish().await;
}

// Guarantee: A-05, TM-15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sends_no_good_token_may_call_nothing() {
    let (issuer, other) = (Issuer::new("one"), Issuer::new("one"));
    let cluster = Cluster::start_with_tokens(&policy(), &jwks(&[&issuer]), None, &[]).await;
    let certificates = cluster.certificates();
    let port = port(&cluster).await;
    let admin = Wanted::of("ops", "admin");
    let good = issuer.token(admin);
    let (message, _) = good.rsplit_once('.').expect("it has three parts");
    let bad = [
        None,
        Some(issuer.token(Wanted {
            seconds: -1,
            ..admin
        })),
        Some(issuer.token(Wanted {
            audience: "others",
            ..admin
        })),
        Some(other.token(admin)),
        Some(Issuer::new("unknown").token(admin)),
        Some(format!("{message}.")),
        Some("x".repeat(12_000)),
        Some("words of all kinds".to_owned()),
    ];
    let mut callers = Vec::new();
    for token in &bad {
        callers.push(Raw::bearing(certificates, port, token.as_deref()).await);
    }
    // Whose rights would count?
    let shown = certificates.shown("admin");
    callers.push(
        Raw::connect(certificates, port, &shown)
            .await
            .and_sends(&good),
    );
    let mut refused = 0;
    for raw in &callers {
        for asked in &requests::all() {
            let request = asked.request(OWN, None);
            if !asked.is_stream {
                let answer = raw.unary(&asked.method, request.clone()).await;
                let status = answer.expect_err("it is refused");
                assert_eq!(status.code(), Code::Unauthenticated, "{}", asked.method);
            }
            let answer = raw.piped(&asked.method, request).await;
            let status = answer.expect_err("it is refused");
            assert_eq!(status.code(), Code::Unauthenticated, "{}", asked.method);
            refused += 1;
        }
        let healthy = raw.unary(HEALTH, Bytes::new()).await;
        healthy.expect("health is for everybody who may connect");
    }
    assert_eq!(refused, 9 * RIGHTS.len());
    // One who is good, but is granted nothing.
    let stranger = issuer.token(Wanted::of("ops", "stranger"));
    let stranger = Raw::bearing(certificates, port, Some(&stranger)).await;
    let answer = stranger
        .unary("synod.v1.Cluster/Status", Bytes::new())
        .await;
    let status = answer.expect_err("it is refused");
    assert_eq!(status.code(), Code::PermissionDenied);
    assert!(
        status
            .message()
            .contains("\"system:serviceaccount:ops:stranger\"")
    );
    cluster.finish().await;
}

// Guarantee: A-06, TM-15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_token_has_opened_ends_with_it() {
    /// Long enough to open streams on a busy machine.
    const SECONDS: i64 = 10;
    let issuer = Issuer::new("one");
    let cluster = Cluster::start_with_tokens(&policy(), &jwks(&[&issuer]), None, &[]).await;
    let port = port(&cluster).await;
    let token = issuer.token(Wanted {
        seconds: SECONDS,
        ..Wanted::of("ops", "reader")
    });
    let reader = Raw::bearing(cluster.certificates(), port, Some(&token)).await;
    // The SDK goes on by the token that has taken its place.
    let file = cluster.log_of("token");
    fs::write(&file, &token).expect("the folder can be written");
    let client = client(&cluster, Token::File(file.clone())).await;
    let options = WatchOptions::new().bookmark_interval(Duration::from_secs(1));
    let mut lasting = client.watch(options).await.expect("it may");
    fs::write(&file, issuer.token(Wanted::of("ops", "reader"))).expect("the folder can be written");
    for stream in &mut [reader.watch(false).await, reader.watch(true).await] {
        let reason = within("the end of a watch", stream.end()).await;
        assert_eq!(reason, v1::WatchEndReason::Rights);
    }
    eventually("the end of the token", async || {
        let answer = reader.unary("synod.v1.Cluster/Status", Bytes::new()).await;
        let status = answer.err().ok_or("it is taken")?;
        assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
        assert!(status.message().contains("has expired"), "{status:?}");
        Ok(())
    })
    .await;
    for _ in 0..3 {
        let message = within("a message of the SDK's watch", lasting.next()).await;
        message.expect("it goes on").expect("it may");
    }
    cluster.finish().await;
}

/// Clients that work while keys and tokens are replaced.
struct Load {
    over: Arc<AtomicBool>,
    served: Arc<AtomicUsize>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    /// One client whose calls come one by one, and one whose calls overlap, so that they go in pipelines.
    async fn start(cluster: &Cluster, token: &Token) -> Self {
        let over = Arc::<AtomicBool>::default();
        let served = Arc::<AtomicUsize>::default();
        let mut tasks = Vec::new();
        for overlapping in [1, 3] {
            let client = client(cluster, token.clone()).await;
            for _ in 0..overlapping {
                let (over, served) = (Arc::clone(&over), Arc::clone(&served));
                let client = client.clone();
                tasks.push(tokio::spawn(async move {
                    while !over.load(Ordering::Relaxed) {
                        let patch = SettingsPatch {
                            members_max: Some(1_000),
                            ..SettingsPatch::default()
                        };
                        let changed = client.update_settings(patch, None).await;
                        changed.expect("a call is served");
                        served.fetch_add(1, Ordering::Relaxed);
                    }
                }));
            }
        }
        Self {
            over,
            served,
            tasks,
        }
    }

    /// Waits until every client was served some times more.
    async fn goes_on(&self) {
        let until = self.served.load(Ordering::Relaxed) + 20 * self.tasks.len();
        eventually("calls that are served", async || {
            let served = self.served.load(Ordering::Relaxed);
            let failed = self.tasks.iter().any(tokio::task::JoinHandle::is_finished);
            assert!(!failed, "a call has failed");
            (served >= until)
                .then_some(())
                .ok_or_else(|| format!("{served} of {until}"))
        })
        .await;
    }

    async fn end(self) -> usize {
        self.over.store(true, Ordering::Relaxed);
        for task in self.tasks {
            within("the end of a client", task)
                .await
                .expect("no call failed");
        }
        self.served.load(Ordering::Relaxed)
    }
}

/// Waits until every replica has taken new keys into use so many times.
async fn renewed(cluster: &Cluster, times: f64) {
    for id in IDS {
        eventually("the use of new keys", async || {
            let metrics = metrics(cluster, id).await;
            let seen = value(&metrics, "synod_policy_renewed_total");
            (seen >= times)
                .then_some(())
                .ok_or_else(|| format!("{seen} of {times}"))
        })
        .await;
    }
}

// Guarantee: A-06
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_and_tokens_are_replaced_under_load_without_a_failed_call() {
    let (old, new) = (Issuer::new("old"), Issuer::new("new"));
    let cluster = Cluster::start_with_tokens(&policy(), &jwks(&[&old]), None, &[]).await;
    let wanted = Wanted::of("ops", "admin");
    let (former, file) = (old.token(wanted), cluster.log_of("token"));
    fs::write(&file, &former).expect("the folder can be written");
    let load = Load::start(&cluster, &Token::File(file.clone())).await;
    load.goes_on().await;

    // Keys that cannot be used leave the old ones.
    fs::write(cluster.jwks(), "{\"keys\": []}").expect("the folder can be written");
    eventually("the alarm of every replica", async || {
        for id in IDS {
            let alarms = cluster.status(id).await?.alarms;
            let mut alarms = alarms
                .iter()
                .filter(|alarm| alarm.kind == AlarmKind::Policy);
            let alarm = alarms
                .next()
                .ok_or_else(|| format!("replica {id} has none"))?;
            assert!(
                alarm.message.contains("jwks.json: has no key"),
                "{}",
                alarm.message
            );
        }
        Ok(())
    })
    .await;
    load.goes_on().await;

    // Both keys count, then tokens of the new one take the place of the old ones, and then the new key counts alone.
    cluster.write_jwks(&jwks(&[&old, &new]));
    renewed(&cluster, 1.0).await;
    load.goes_on().await;
    fs::write(&file, new.token(wanted)).expect("the folder can be written");
    cluster.write_jwks(&jwks(&[&new]));
    renewed(&cluster, 2.0).await;
    load.goes_on().await;
    for id in IDS {
        let [port, ..] = cluster.ports(id);
        let raw = Raw::bearing(cluster.certificates(), port, Some(&former)).await;
        let answer = raw.unary("synod.v1.Cluster/Status", Bytes::new()).await;
        let status = answer.expect_err("its key is gone");
        assert_eq!(status.code(), Code::Unauthenticated);
    }
    let served = load.end().await;
    eprintln!("{served} calls while the keys of tokens were replaced");
    let alarms = cluster.status(1).await.expect("it is served").alarms;
    assert!(alarms.iter().all(|alarm| alarm.kind != AlarmKind::Policy));
    cluster.finish().await;
}

// Guarantee: A-07, TM-15
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_token_is_in_any_log() {
    let issuer = Issuer::new("one");
    let cluster =
        Cluster::start_with_tokens(&policy(), &jwks(&[&issuer]), Some("trace"), &[]).await;
    let [port, _, metrics_port] = cluster.ports(cluster.follower().await);
    let tokens = [
        issuer.token(Wanted::of("ops", "admin")),
        issuer.token(Wanted {
            seconds: -1,
            ..Wanted::of("ops", "admin")
        }),
        Issuer::new("one").token(Wanted::of("ops", "admin")),
        issuer.token(Wanted::of("ops", "reader")),
    ];
    let create = "synod.v1.Rosters/Set";
    let mut told = Vec::new();
    for token in &tokens {
        let raw = Raw::bearing(cluster.certificates(), port, Some(token)).await;
        for answer in [
            raw.unary(create, Bytes::new()).await,
            raw.piped(create, Bytes::new()).await,
            raw.unary(HEALTH, Bytes::new()).await,
        ] {
            told.extend(answer.err().map(|status| format!("{status:?}")));
        }
    }
    let client = client(&cluster, Token::Text(tokens[0].as_str().into())).await;
    told.push(format!("{client:?}"));
    client.status().await.expect("it is served");
    let scraped = cluster
        .certificates()
        .get(
            metrics_port,
            "/metrics",
            Some(&cluster.certificates().shown("admin")),
        )
        .await;
    told.push(scraped.expect("metrics are served"));
    let audited = eventually("the lines of those who were refused", async || {
        let text: String = IDS.map(|id| cluster.audit(id)).concat();
        let denied = text.matches("\"decision\":\"denied\"").count();
        (denied >= 5).then_some(text.clone()).ok_or(text)
    })
    .await;
    assert!(audited.contains("\"identity\":\"system:serviceaccount:ops:reader\""));
    told.push(audited);
    told.extend(IDS.map(|id| cluster.log(id)));
    for token in &tokens {
        for part in token.split('.') {
            let is_there = told.iter().any(|text| text.contains(part));
            assert!(!is_there, "a part of a token is told: {part}");
        }
    }
    cluster.finish().await;
}

/// Whoever reaches the port cannot fill the disk: of callers whom nobody knows the audit log has so many lines a second, and says
/// how many it has left out.
// Guarantee: A-11, TM-14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_of_callers_whom_nobody_knows_are_summed_up_in_the_audit_log() {
    // A second has fifty lines, and a connection of somebody whom nobody knows is closed after five.
    const CALLS: u64 = 400;
    let issuer = Issuer::new("one");
    let cluster = Cluster::start_with_tokens(&policy(), &jwks(&[&issuer]), None, &[]).await;
    let id = cluster.follower().await;
    let [port, ..] = cluster.ports(id);
    let stranger = Raw::bearing(cluster.certificates(), port, None).await;
    // All at once, so that no machine is too slow.
    let call = || stranger.unary("synod.v1.Cluster/Status", Bytes::new());
    for answer in join_all((0..CALLS).map(|_| call())).await {
        let refused = answer.expect_err("nobody knows who calls");
        assert_eq!(refused.code(), Code::Unauthenticated, "{refused}");
    }
    let (lines, left_out) = eventually("a line for each call, or its place in a sum", async || {
        let text = cluster.audit(id);
        let (mut lines, mut left_out) = (0, 0);
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
            match line["left_out"].as_u64() {
                Some(count) => left_out += count,
                None => lines += u64::from(line["reason"] == "UNAUTHENTICATED"),
            }
        }
        let told = (lines + left_out >= CALLS).then_some((lines, left_out));
        told.ok_or_else(|| format!("{lines} lines, and {left_out} were left out"))
    })
    .await;
    assert_eq!(lines + left_out, CALLS);
    assert!(left_out > 0, "all {lines} have lines");
    let counted = value(
        &metrics(&cluster, id).await,
        "synod_audit_left_out_lines_total ",
    );
    assert!(
        (counted - left_out as f64).abs() < 0.5,
        "{counted} of {left_out}"
    );
    cluster.finish().await;
}
