//! Every command of the runbook, in its order, beside replicas on hosts as the runbook describes them.
//!
//! The commands are read from the document, so that it cannot say what was never tried. What differs from the real thing stands
//! in the tables of this file and of `hosts`: where the hosts are, what has happened before a section, what systemd does.

mod document;
mod hosts;

use std::process::Command;

use serde_json::Value;
use synod_client::{GroupResource, StatementNumber};

use document::{RUNBOOK, blocks};
use hosts::{Apart, Hosts, UNITS};

use crate::waiting::eventually;
use crate::writers::{fixed, join};

/// What is not given to a shell, since it needs a host of its own, and what is done in its place.
const IN_PLACE: [(&str, Deed); 12] = [
    ("systemctl enable --now synod", Deed::Start),
    ("systemctl start synod", Deed::Start),
    ("systemctl stop synod", Deed::Stop),
    ("systemctl restart synod", Deed::Restart),
    ("systemctl enable --now synod-backup.timer", Deed::Timer),
    // There is no such user here, and replicas run as the user of the test.
    ("chown -R synod: /var/lib/synod", Deed::Nothing),
    // There is no API server here: `service/synod/tests/program/migrating.rs` has one, and does both.
    ("synod migrate --dry-run", Deed::Nothing),
    (
        "synod migrate --objects-per-second 100 --bytes-per-second 1000000 --listen-metrics 127.0.0.1:4640",
        Deed::Nothing,
    ),
    // Two of the three servers on the roster do not run here.
    (
        "synod storage-versions check --wait 5m --assume-complete",
        Deed::Nothing,
    ),
    (
        "synod upgrade status --wait 10m --assume-complete",
        Deed::Nothing,
    ),
    // This cluster is younger: `service/synod/tests/program/watch.rs` watches from a time.
    (
        "synod watch --at 02:14 --kinds member,storage-version,storage-state,migration,roster,settings",
        Deed::Nothing,
    ),
    (
        "synod watch --at 2026-11-28T02:14:00+01:00 --kinds member",
        Deed::Nothing,
    ),
];

/// What is done in the place of a command.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// What `ExecStart` of `synod.service` says, with the file of the Debian package, filled in.
    Start,
    /// The signal that systemd sends, and the wait for the end, which must be a success.
    Stop,
    Restart,
    /// What `ExecStart` of the unit says that the timer starts, with its file of variables.
    Timer,
    Nothing,
}

/// On which hosts the commands of a section are given, where it is not the first one alone.
const ELSEWHERE: [(&str, &[u64]); 2] = [("Installing", &[1, 2, 3]), ("Replacing a replica", &[4])];

/// The section whose commands are given on a host that knows nothing of the cluster.
const DRILL: &str = "The drill";

/// What ends otherwise than with 0.
const ENDS_WITH: [(&str, i32); 1] = [
    // Without --yes it founds nothing, and says so.
    (
        "synod cluster force-new --data-dir /var/lib/synod --out /var/lib/synod-new --replica-id 5 --peer 10.0.0.1:4610",
        2,
    ),
];

/// What may be too early on a busy machine, and changes nothing.
const LOOKS: [&str; 3] = [
    "synod doctor",
    "synod status",
    "synod storage-versions check",
];

/// What a command must have printed: it is there to show this.
const SHOWS: [(&str, &str); 14] = [
    ("synod status", "prod"),
    ("synod --context prod status", "leader"),
    ("synod doctor", "quorum"),
    ("synod members", "apiserver-1"),
    ("synod storage-versions list", "deployments"),
    ("synod storage-versions matrix", "apiserver-1"),
    ("synod settings set state_quota_bytes=2GiB", "yes"),
    (
        "synod policy test /etc/synod/policy.toml --identity",
        "apiserver-1",
    ),
    ("curl", "readyz"),
    ("synod backup verify", "REVISION"),
    (
        "synod backup create /var/lib/synod-backup/ --keep",
        ".backup.age",
    ),
    ("age -d -i key.txt synod.backup.age |", "REVISION"),
    ("synod settings --endpoints 127.0.0.1:4600", "2GiB"),
    ("synod cluster force-new", "what was acknowledged after"),
];

// Guarantee: I-08
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_command_of_the_runbook_does_what_it_is_there_for() {
    let text = std::fs::read_to_string(synod_tests::checkout().join(RUNBOOK));
    let blocks = blocks(&text.expect("there is a runbook"), "sh");
    let mut hosts = Hosts::prepare();
    let mut apart = None;
    let mut section = "";
    let mut given = Vec::new();
    for block in &blocks {
        if block.section != section {
            after(section, &hosts).await;
            section = &block.section;
            before(section, &mut hosts).await;
        }
        if section == DRILL {
            let apart = apart.get_or_insert_with(|| Apart::beside(&hosts));
            for command in &block.commands {
                given.push(command.as_str());
                obey_apart(apart, command).await;
            }
            continue;
        }
        for command in &block.commands {
            given.push(command.as_str());
            obey(&mut hosts, section, command).await;
        }
    }
    after(section, &hosts).await;
    is_used("IN_PLACE", IN_PLACE.iter().map(|row| row.0), &given);
    is_used("ENDS_WITH", ENDS_WITH.iter().map(|row| row.0), &given);
    is_used("LOOKS", LOOKS, &given);
    is_used("SHOWS", SHOWS.iter().map(|row| row.0), &given);
    hosts.finish().await;
}

/// Fails if a row of a table is about no command.
fn is_used<'a>(table: &str, rows: impl IntoIterator<Item = &'a str>, given: &[&str]) {
    for row in rows {
        let is_used = given.iter().any(|command| command.starts_with(row));
        assert!(is_used, "{table}: {RUNBOOK} has no command {row:?}");
    }
}

/// What has happened when an operator comes to a section.
async fn before(section: &str, hosts: &mut Hosts) {
    match section {
        // An API server has joined before there is anything to watch.
        "When an alert is raised" => takes_part(hosts).await,
        "Replacing a replica" => hosts.lose(2).await,
        "A majority is lost" => {
            hosts.lose(3).await;
            hosts.lose(4).await;
            // What the text has the operator write.
            hosts.settings(1, "replica_id", "5");
            hosts.settings(1, "replicas", "[\"5=10.0.0.1:4610\"]");
        }
        _ => {}
    }
}

/// What must have come of a section.
async fn after(section: &str, hosts: &Hosts) {
    match section {
        "SynodDiskSlow" => {
            eventually("that replica 2 leads", async || {
                let status = document(hosts, "synod status -o json").await;
                let leader = status["status"]["leaderId"].as_str().map(str::to_owned);
                (leader.as_deref() == Some("2"))
                    .then_some(())
                    .ok_or_else(|| status.to_string())
            })
            .await;
        }
        "Replacing a replica" => {
            let status = document(hosts, "synod status -o json").await;
            let replicas = status["status"]["replicas"]
                .as_array()
                .expect("it is a list");
            let ids: Vec<&Value> = replicas.iter().map(|it| &it["replicaId"]).collect();
            assert_eq!(ids, ["1", "3", "4"], "{status:#}");
        }
        "A majority is lost" => {
            // What counts from now on is what the survivor held.
            let settings = document(hosts, "synod settings -o json").await;
            assert!(settings.to_string().contains("2147483648"), "{settings:#}");
            let status = document(hosts, "synod status -o json").await;
            assert_eq!(
                status["status"]["replicas"].as_array().map(Vec::len),
                Some(1)
            );
        }
        _ => {}
    }
}

/// What a command of the first host prints.
async fn document(hosts: &Hosts, command: &str) -> Value {
    let output = hosts.shell(1, command).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {errors}");
    serde_json::from_slice(&output.stdout).expect("it is a document")
}

/// Lets an API server join and report.
async fn takes_part(hosts: &Hosts) {
    let client = hosts.client("member-apiserver-1").await;
    let epoch = join(&client, "apiserver-1", "first", 3_600_000).await;
    let resource = GroupResource::new("apps", "deployments").expect("it is a name");
    let reported = client.send_report(&epoch, StatementNumber::FIRST, vec![fixed(resource)], true);
    reported.await.expect("the cluster serves");
}

/// Does what a command says.
async fn obey(hosts: &mut Hosts, section: &str, command: &str) {
    if let Some((_, deed)) = IN_PLACE.iter().find(|row| row.0 == command) {
        let places = ELSEWHERE.iter().find(|row| row.0 == section);
        let places = places.map_or(&[1][..], |row| row.1);
        return instead(hosts, places, *deed).await;
    }
    if hosts.remembers(command) {
        return;
    }
    let output = if LOOKS.iter().any(|look| command.starts_with(look)) {
        eventually(command, async || {
            let output = hosts.shell(1, command).await;
            let seen = format!("{output:?}");
            output.status.success().then_some(output).ok_or(seen)
        })
        .await
    } else {
        hosts.shell(1, command).await
    };
    is_as_written(command, &output);
}

/// Does in the place of a command what can be done without a host of its own.
async fn instead(hosts: &mut Hosts, places: &[u64], deed: Deed) {
    match deed {
        Deed::Start => {
            for &host in places {
                hosts.start(host);
            }
            // One that joins serves once it is let in.
            if places != [4] {
                hosts.serve().await;
            }
        }
        Deed::Stop => hosts.stop(places[0]).await,
        Deed::Restart => {
            hosts.stop(places[0]).await;
            hosts.start(places[0]);
        }
        Deed::Timer => hosts.back_up().await,
        Deed::Nothing => {}
    }
}

/// Does what a command says on a host that knows nothing of the cluster.
async fn obey_apart(apart: &mut Apart, command: &str) {
    if command.starts_with("synod serve ") {
        return apart.start(command).await;
    }
    let output = apart.shell(command).await;
    is_as_written(command, &output);
    if command.starts_with("synod backup restore ") {
        // The next command of the runbook is the one that is printed here.
        apart.printed(&String::from_utf8_lossy(&output.stdout));
    }
}

/// Fails unless a command ended as it is to, and has shown what it is there to show.
fn is_as_written(command: &str, output: &std::process::Output) {
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    let said = said.join("\n");
    let code = ENDS_WITH.iter().find(|row| row.0 == command);
    let code = code.map_or(0, |row| row.1);
    assert_eq!(output.status.code(), Some(code), "{command}\n{said}");
    for (_, shown) in SHOWS.iter().filter(|row| command.starts_with(row.0)) {
        assert!(said.contains(shown), "{command} says no {shown:?}:\n{said}");
    }
}

#[test]
fn kustomize_makes_each_folder_of_manifests_one_text() {
    for folder in [
        "aggregated",
        "base",
        "backup",
        "cert-manager",
        "migrator",
        "monitoring",
        "observer",
    ] {
        let path = synod_tests::checkout()
            .join("deploy/kubernetes")
            .join(folder);
        let made = Command::new("kubectl").arg("kustomize").arg(path).output();
        match made {
            Ok(output) => {
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{folder}: {errors}");
                assert!(!output.stdout.is_empty(), "{folder}");
            }
            Err(error) => eprintln!("SKIPPED: {folder} was not put together: {error}"),
        }
    }
}

#[test]
fn systemd_finds_nothing_wrong_with_the_units() {
    let folder = hosts::units();
    let verified = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .args(UNITS.map(|unit| folder.path().join(unit)))
        .output();
    match verified {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let about = said.lines().filter(|line| line.contains("synod"));
            let about: Vec<&str> = about.collect();
            assert!(output.status.success() && about.is_empty(), "{said}");
        }
        Err(error) => eprintln!("SKIPPED: the units were not verified: {error}"),
    }
}
