//! `synod doctor` beside a cluster that is well, partly down, down, or shows certificates that nobody trusts.

use rcgen::ExtendedKeyUsagePurpose::ServerAuth;
use serde_json::Value;
use synod_client::AlarmKind;

use crate::cluster::Cluster;
use crate::commands::run;
use crate::security::{metrics, value};
use crate::waiting::eventually;

/// What `synod doctor` says, and the code with which it ends.
pub(crate) async fn doctor(arguments: &[&str]) -> (Value, Option<i32>) {
    let arguments = ["doctor", "-o", "json", "--timeout", "3s"]
        .into_iter()
        .chain(arguments.iter().copied());
    let output = run(&arguments.collect::<Vec<_>>()).await;
    let findings = serde_json::from_slice(&output.stdout);
    let findings = findings.unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (findings, output.status.code())
}

/// The findings of this verdict, as `check where`.
fn of(findings: &Value, verdict: &str) -> Vec<String> {
    let findings = findings["findings"].as_array().expect("it is a list");
    let found = findings.iter().filter(|it| it["verdict"] == verdict);
    let text = |it: &Value, key: &str| it[key].as_str().expect("it is a text").to_owned();
    found
        .map(|it| format!("{} {}", text(it, "check"), text(it, "where")))
        .collect()
}

/// What was found of a check that is a fault.
fn fault<'a>(findings: &'a Value, check: &str) -> Option<&'a str> {
    let findings = findings["findings"].as_array().expect("it is a list");
    let mut found = findings.iter();
    found.find(|it| it["verdict"] == "fault" && it["check"] == check)?["found"].as_str()
}

// Guarantee: F-03
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_finds_a_healthy_cluster_well_and_looks_at_replicas_that_were_not_named() {
    let cluster = Cluster::start_secured().await;
    let admin = cluster.certificates();
    let file = |name: &str| admin.file(name).display().to_string();
    let (ca, certificate, key) = (
        file("server-ca.pem"),
        file("admin.pem"),
        file("admin-key.pem"),
    );
    let endpoint = cluster.endpoint(1);
    let shown = [
        "--cert",
        &certificate,
        "--key",
        &key,
        "--endpoints",
        &endpoint,
    ];
    cluster.leader().await;
    let trusting = [&["--cacert", &ca], &shown[..]].concat();
    // On a busy machine a replica may not serve for a moment.
    let (findings, code) = eventually("a cluster that is well", async || {
        let (findings, code) = doctor(&trusting).await;
        let is_well = of(&findings, "fault").is_empty();
        let seen = format!("{findings:#}");
        is_well.then_some((findings, code)).ok_or(seen)
    })
    .await;
    assert_eq!(code, Some(0));
    let ok = of(&findings, "ok");
    for id in crate::cluster::IDS {
        let looked = format!("certificate {}", cluster.endpoint(id));
        assert!(ok.contains(&looked), "{looked}: {findings:#}");
        let clock = format!("clock replica {id}");
        assert!(ok.contains(&clock), "{clock}: {findings:#}");
    }

    // With another CA, what is shown is told all the same.
    let other = file("client-ca.pem");
    let (findings, code) = doctor(&[&["--cacert", &other], &shown[..]].concat()).await;
    assert_eq!(code, Some(8));
    let told = fault(&findings, "certificate").expect("it is of another CA");
    assert!(
        told.contains("UnknownIssuer") && told.contains("127.0.0.1"),
        "{told}"
    );

    // A file that is not there is a finding, too.
    let (findings, code) = doctor(&[&["--cacert", "/nowhere.pem"], &shown[..]].concat()).await;
    assert_eq!(code, Some(8));
    let told = fault(&findings, "client-certificate").expect("there is no such file");
    assert!(told.contains("/nowhere.pem"), "{told}");

    let expired = admin.sign("server-ca", (-9, -1), &[ServerAuth]);
    admin.write("server-key.pem", &expired.key);
    admin.write("server.pem", &expired.certificate);
    eventually("the certificate that has expired", async || {
        let (findings, code) = doctor(&trusting).await;
        let told = fault(&findings, "certificate").unwrap_or_default();
        let is_told = told.contains("expired 24h ago") && code == Some(8);
        is_told.then_some(()).ok_or_else(|| findings.to_string())
    })
    .await;
    cluster.finish().await;
}

// Guarantee: F-03
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_names_who_is_down_and_ends_with_a_fault_even_if_nobody_answers() {
    let mut cluster = Cluster::start().await;
    let all = cluster.endpoints().join(",");
    let endpoints = ["--endpoints", &all];
    let follower = cluster.follower().await;
    cluster.kill(follower).await;
    cluster.leader().await;
    let down = format!("reachable {}", cluster.endpoint(follower));
    // On a busy machine the two that are left may have no leader for a moment.
    eventually("one replica that is down, and a leader", async || {
        let (findings, code) = doctor(&endpoints).await;
        let is_down = of(&findings, "fault").contains(&down);
        let is_close = of(&findings, "warning").contains(&"quorum cluster".to_owned());
        let is_led = fault(&findings, "leader").is_none();
        let is_told = is_down && is_close && is_led && code == Some(8);
        is_told
            .then_some(())
            .ok_or_else(|| format!("{code:?}: {findings:#}"))
    })
    .await;

    let leader = cluster.leader().await;
    cluster.kill(leader).await;
    eventually("that no quorum is left", async || {
        let (findings, code) = doctor(&endpoints).await;
        assert_eq!(code, Some(8));
        let told = ["quorum", "leader", "reads", "ready"];
        let told = told.map(|check| fault(&findings, check).is_some());
        (told == [true; 4])
            .then_some(())
            .ok_or_else(|| findings.to_string())
    })
    .await;

    let left = cluster.awake().into_iter().next().expect("one is left");
    cluster.kill(left).await;
    let (findings, code) = doctor(&endpoints).await;
    assert_eq!(of(&findings, "fault").len(), 4, "{findings:#}");
    assert_eq!(code, Some(8));
}

/// A follower that has lost both others names neither of them for ever, and says what is wrong wherever it is asked.
// Guarantee: F-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lone_survivor_of_three_names_no_leader_and_raises_the_alarm() {
    let mut cluster = Cluster::start_secured().await;
    let leader = cluster.leader().await;
    let left = cluster.follower().await;
    for id in crate::cluster::IDS.into_iter().filter(|id| *id != left) {
        cluster.kill(id).await;
    }
    eventually("that no leader is known", async || {
        let status = cluster.status(left).await?;
        let kinds: Vec<AlarmKind> = status.alarms.iter().map(|alarm| alarm.kind).collect();
        let is_told = status.leader_id.is_none() && kinds.contains(&AlarmKind::NoQuorum);
        is_told
            .then_some(())
            .ok_or_else(|| format!("{:?}, {kinds:?}", status.leader_id))
    })
    .await;
    let shown = metrics(&cluster, left).await;
    assert!(
        value(&shown, "etcd_server_has_leader ").abs() < 0.5,
        "{shown}"
    );
    let [_, _, port] = cluster.ports(left);
    let certificates = cluster.certificates();
    let admin = certificates.shown("admin");
    let ready = certificates
        .get(port, "/readyz?verbose", Some(&admin))
        .await;
    let ready = ready.expect("it answers");
    for failed in ["[-]leader failed", "[-]quorum failed"] {
        assert!(ready.contains(failed), "{ready}");
    }
    // With one of the others it goes on.
    cluster.restart(leader).await;
    eventually("a leader that is named", async || {
        let status = cluster.status(left).await?;
        let is_well = status.leader_id.is_some() && status.alarms.is_empty();
        is_well.then_some(()).ok_or_else(|| format!("{status:?}"))
    })
    .await;
    cluster.finish().await;
}
