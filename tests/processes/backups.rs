//! A backup under load continues as another cluster, and so does what one survivor of a lost cluster holds. Nobody of the old
//! cluster gets in: no replica, member, lease or session.

mod pipes;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use serde_json::Value;
use synod_client::{
    Client, ErrorKind, HolderIdentity, InstanceId, LeaseKey, LeaseToken, LockOptions, MemberEpoch,
    ReadOptions, RequestKey, Revision, Sequence, SessionId,
};
use synod_store::backup::{BackupError, load};

use crate::agreement::agree;
use crate::cards;
use crate::cluster::{Cluster, NAME};
use crate::history::{Asked, Call, Told};
use crate::process::Process;
use crate::program::synod;
use crate::requests::Wire;
use crate::tree_hash::tree_hash;
use crate::waiting::{LIMIT, eventually};
use crate::writers::{Writers, join};
use synod_tests::free_address;

/// How far a restore raises the revision.
const RAISE: u64 = 1 << 40;

/// How long an old replica is asked in vain.
const SOON: Duration = Duration::from_secs(1);

/// Runs the program to its end, with these arguments between spaces.
pub(crate) async fn run(line: &str) -> Output {
    let mut command = tokio::process::Command::new(synod());
    // The variables that configure the tests must not reach the program.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SYNOD_") {
            command.env_remove(name);
        }
    }
    let output = command.args(line.split_whitespace()).output().await;
    output.expect("the program can be started")
}

/// The document that the program prints on success.
pub(crate) async fn document(line: &str) -> Value {
    let output = run(&format!("{line} -o json")).await;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {errors}");
    serde_json::from_slice(&output.stdout).expect("it is a document")
}

/// What the program has said when it failed.
async fn refused(line: &str) -> String {
    let output = run(line).await;
    assert!(!output.status.success(), "{line}");
    String::from_utf8(output.stderr).expect("it prints text")
}

fn revision(document: &Value) -> Revision {
    let text = document["revision"].as_str().expect("it names a revision");
    Revision::new(text.parse().expect("it is a number"))
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("it is a text")
}

/// The only replica of a cluster.
pub(crate) struct Lone {
    process: Process,
    client: SocketAddr,
}

impl Lone {
    pub(crate) async fn start(
        id: u64,
        data_dir: &Path,
        ports: [SocketAddr; 3],
        log: &Path,
    ) -> Self {
        let [client, peer, metrics] = ports;
        let data_dir = text(data_dir);
        let line = format!(
            "serve --replica-id {id} --data-dir {data_dir} --cluster-name {NAME} --replicas {id}={peer} \
             --listen-client {client} --listen-peer {peer} --listen-metrics {metrics}"
        );
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let process = Process::start("the replica of the new cluster", &arguments, log);
        let lone = Self {
            process,
            client: ports[0],
        };
        let read = lone.client().await.with_timeout(LIMIT);
        let read = read.settings(ReadOptions::linearizable()).await;
        read.unwrap_or_else(|error| panic!("it does not serve: {error}: {}", lone.process.log()));
        lone
    }

    pub(crate) async fn client(&self) -> Client {
        let client = Client::builder().endpoints(vec![self.client.to_string()]);
        client.connect().await.expect("it is an endpoint")
    }

    pub(crate) async fn finish(self) {
        let log = self.process.log();
        assert!(!log.contains("panicked at"), "{log}");
        assert!(self.process.terminate().await.success());
    }
}

/// Rights that the old cluster has given.
struct Given {
    member: MemberEpoch,
    lease: LeaseToken,
    session: RequestKey,
}

impl Given {
    async fn by(cluster: &Cluster) -> Self {
        let client = cluster.client().await;
        let member = join(&client, "old", "old", 60 * 60 * 1_000).await;
        let options = LockOptions::new(LeaseKey::new("default", "old").expect("it is a key"))
            .holder(HolderIdentity::parse("old").expect("it is an identity"));
        let lock = client.try_lock(options).await.expect("it is free");
        let opened = Wire::to(&cluster.endpoint(1)).open_session().await;
        let lease = lock.proof();
        let session = RequestKey {
            cluster: lease.cluster.expect("it says of which cluster it is"),
            session: SessionId::new(Revision::new(opened.session)),
            sequence: Sequence::new(1).expect("it is above zero"),
        };
        Self {
            member,
            lease,
            session,
        }
    }

    /// Checks that none of it counts at the new cluster, whose numbers lie far beyond.
    async fn is_refused(&self, client: &Client, restored: Revision) {
        let Self {
            member,
            lease,
            session,
        } = self;
        let renewed = client
            .send_renew(member)
            .await
            .expect_err("it is of another");
        assert_eq!(renewed.kind(), ErrorKind::NotAMember, "{renewed}");
        let instance = InstanceId::parse("another").expect("it is legal");
        let left = client.send_leave(member, &instance, true).await;
        let left = left.expect_err("it is of another");
        assert_eq!(left.kind(), ErrorKind::NotAMember, "{left}");
        let renewed = client
            .send_renew_lease(&lease.lease, lease.token, lease.cluster)
            .await;
        let renewed = renewed.expect_err("nobody holds it");
        assert_eq!(renewed.kind(), ErrorKind::StaleEpoch, "{renewed}");
        let outcome = client.outcome(session).await.expect_err("it is unknown");
        assert_eq!(outcome.kind(), ErrorKind::RequestExpired, "{outcome}");
        // Without the name of the old cluster they are refused, too: nothing of this number was given here.
        let nameless = MemberEpoch {
            cluster: None,
            ..member.clone()
        };
        let renewed = client.send_renew(&nameless).await.expect_err("it is gone");
        assert_eq!(renewed.kind(), ErrorKind::NotAMember, "{renewed}");
        let again = join(client, "old", "old", 60_000).await;
        assert!(again.epoch.get() > restored.get(), "{again:?}");
        let lock = client
            .try_lock(
                LockOptions::new(lease.lease.clone())
                    .holder(HolderIdentity::parse("new").expect("it is an identity")),
            )
            .await
            .expect("nobody holds it");
        assert!(lock.token().get() > restored.get());
        lock.release().await.expect("it is held");
    }
}

/// Checks that a cluster has what was acknowledged up to a revision, and nothing that was after.
async fn holds_exactly(client: &Client, calls: &[Call], upto: Revision) {
    let created = cards::created(client).await;
    let mut before = 0;
    for call in calls {
        let (Asked::Create(names), Told::Done(at)) = (&call.asked, &call.told) else {
            continue;
        };
        let is_due = *at <= upto;
        before += usize::from(is_due);
        for name in names {
            let found = created.get(name);
            let wanted = is_due.then_some(at);
            assert_eq!(
                found, wanted,
                "{name} was created at {at}, the backup is of {upto}"
            );
        }
    }
    assert!(before > 0, "something was created before the backup");
    let late = created.iter().find(|(_, at)| **at > upto);
    assert_eq!(late, None, "the backup is of {upto}");
    // Of the settings, the newest value up to then.
    let settings = client.settings(ReadOptions::linearizable()).await;
    let settings = settings.expect("it serves").settings;
    let changes = calls
        .iter()
        .filter_map(|call| match (&call.asked, &call.told) {
            (
                Asked::Compare {
                    register: crate::history::Register::Settings,
                    value,
                    ..
                },
                Told::Done(at),
            ) => Some((*at, *value)),
            _ => None,
        });
    let newest = changes.filter(|(at, _)| *at <= upto).max();
    if let Some((at, value)) = newest {
        let is_it = settings.members_max == value || settings.revision > at;
        assert!(is_it, "{settings:?} is older than {value} at {at}");
    }
}

fn acknowledged(calls: &[Call]) -> Revision {
    let done = calls.iter().filter_map(|call| match call.told {
        Told::Done(at) => Some(at),
        _ => None,
    });
    done.max().unwrap_or(Revision::ZERO)
}

/// Checks that an old replica, which dials the new one by the address that it knows, is refused there.
async fn old_replica_is_refused(cluster: &mut Cluster, id: u64, client: &Client) {
    cluster.launch(id);
    eventually("the new replica to refuse the old one", async || {
        let said = cluster.log(id);
        let is_told = said.contains("with another data directory");
        is_told
            .then_some(())
            .ok_or_else(|| "nothing yet".to_owned())
    })
    .await;
    let old = cluster.client_of(id).await.with_timeout(SOON);
    let read = old.settings(ReadOptions::linearizable()).await;
    read.expect_err("it finds no majority");
    let new = client.status().await.expect("it answers");
    assert_eq!((new.replicas.len(), new.leader_id), (1, Some(1)));
    cluster.kill(id).await;
}

// Guarantee: B-01, B-06, TM-28
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_is_restored_at_its_revision_and_no_number_comes_again() {
    let mut cluster = Cluster::start().await;
    let given = Given::by(&cluster).await;
    let mut writers = Writers::start(&cluster).await;
    writers.acknowledge(60).await;
    let before = acknowledged(&writers.calls());
    let endpoint = cluster.endpoint(cluster.follower().await);
    let file = cluster.log_of("some").with_extension("backup");
    let file = text(&file);
    let create = format!("backup create {file} --endpoints {endpoint}");
    let taken = document(&create).await;
    let upto = revision(&taken);
    assert!(
        upto >= before,
        "{before} was acknowledged, and the backup is of {upto}"
    );
    writers.acknowledge(60).await;
    let written = writers.stop().await;
    assert!(acknowledged(&written.calls) > upto);
    assert!(refused(&create).await.contains("is there already"));

    let verified = document(&format!("backup verify {file}")).await;
    for key in ["clusterId", "revision", "bytes", "sha256", "time"] {
        assert_eq!(verified[key], taken[key], "{key}");
    }
    let piped = run(&format!("backup create - --endpoints {endpoint}")).await;
    assert!(piped.status.success());
    let piped = load(&piped.stdout[..]).expect("it is whole");
    assert!(piped.header.revision >= acknowledged(&written.calls));

    // The new replica has the id, the ports and the name of an old one, and another directory.
    let data_dir = cluster.log_of("restored").with_extension("");
    let ports = cluster.ports(1);
    let (place, peer) = (text(&data_dir), ports[1]);
    let restore = format!("backup restore {file} --data-dir {place} --replica-id 1 --peer {peer}");
    let founded = document(&restore).await;
    assert_eq!(revision(&founded).get(), upto.get() + RAISE);
    assert_ne!(founded["clusterId"], taken["clusterId"]);
    assert!(refused(&restore).await.contains("is not empty"));
    cluster.kill_all().await;
    let lone = Lone::start(1, &data_dir, ports, &cluster.log_of("restored")).await;
    let client = lone.client().await;
    holds_exactly(&client, &written.calls, upto).await;
    given.is_refused(&client, revision(&founded)).await;
    let later = cards::create(&client, &["later".to_owned()]).await;
    assert!(later.expect("it serves") > revision(&founded));
    old_replica_is_refused(&mut cluster, 2, &client).await;
    lone.finish().await;
}

// Guarantee: B-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_survivor_of_three_founds_a_cluster_and_stays_as_it_is() {
    let mut cluster = Cluster::start().await;
    let given = Given::by(&cluster).await;
    let mut writers = Writers::start(&cluster).await;
    writers.acknowledge(60).await;
    let written = writers.stop().await;
    let end = agree(&cluster).await;
    cluster.kill_all().await;
    for lost in [1, 2] {
        fs::remove_dir_all(cluster.data_dir(lost)).expect("it can be removed");
    }
    let (old, out) = (
        cluster.data_dir(3).to_owned(),
        cluster.log_of("new").with_extension(""),
    );
    let untouched = tree_hash(&old);
    let peer = cluster.ports(3)[1];
    let (from, to) = (text(&old), text(&out));
    let force =
        format!("cluster force-new --data-dir {from} --out {to} --replica-id 4 --peer {peer}");
    let looked = run(&force).await;
    let said = String::from_utf8_lossy(&looked.stderr);
    assert_eq!(looked.status.code(), Some(2), "{said}");
    assert!(said.contains("--yes"), "{said}");
    let told = String::from_utf8_lossy(&looked.stdout);
    for part in [
        "MAY BE LOST",
        "acknowledged after entry",
        "members, leases, sessions",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!out.exists());
    let founded = document(&format!("{force} --yes")).await;
    assert_eq!(tree_hash(&old), untouched);
    assert!(revision(&founded).get() >= end.get() + RAISE);

    let log = cluster.log_of("new");
    let lone = Lone::start(4, &out, cluster.ports(3), &log).await;
    let client = lone.client().await;
    holds_exactly(&client, &written.calls, end).await;
    given.is_refused(&client, revision(&founded)).await;
    lone.finish().await;
    // It starts again on what it has founded and written.
    let lone = Lone::start(4, &out, cluster.ports(3), &log).await;
    lone.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_directory_that_a_replica_runs_on_founds_no_cluster() {
    let cluster = Cluster::start().await;
    let out = cluster.log_of("new").with_extension("");
    let (from, to) = (text(cluster.data_dir(1)), text(&out));
    let said = refused(&format!(
        "cluster force-new --data-dir {from} --out {to} --replica-id 4 --peer 127.0.0.1:1 --yes"
    ))
    .await;
    assert!(said.contains("is in use"), "{said}");
    assert!(!out.exists());
    cluster.finish().await;
}

// Guarantee: B-03, TM-33
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn verify_finds_each_flipped_byte_and_names_its_place() {
    let folder = tempfile::TempDir::with_prefix_in("lone-", env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.expect("the target folder can be written");
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let ports = [free_address(), free_address(), free_address()];
    let lone = Lone::start(1, &path("data"), ports, &path("log")).await;
    let client = lone.client().await;
    join(&client, "one", "one", 60_000).await;
    cards::declare(&client, 1).await;
    let file = path("some.backup");
    let place = text(&file);
    document(&format!("backup create {place} --endpoints {}", ports[0])).await;
    lone.finish().await;
    let whole = fs::read(&file).expect("it was written");
    load(&whole[..]).expect("it is whole");
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x20;
        let found = load(&flipped[..]).map(drop);
        let is_found = matches!(
            found,
            Err(BackupError::Damaged { .. } | BackupError::Newer { .. })
        );
        assert!(is_found, "offset {at}: {found:?}");
    }
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let data = path("never");
    for (bytes, part) in [
        (&flipped[..], "is damaged at offset"),
        (&whole[..whole.len() - 1], "it ends too early"),
        (
            &[&whole[..], b"x"].concat(),
            "something follows the trailer",
        ),
    ] {
        fs::write(&file, bytes).expect("it can be written");
        let said = refused(&format!("backup verify {place}")).await;
        assert!(
            said.contains(part) && said.contains("some.backup"),
            "{said}"
        );
        let restore = format!("backup restore {place} --data-dir {}", text(&data));
        let said = refused(&format!("{restore} --replica-id 1 --peer 127.0.0.1:1")).await;
        assert!(said.contains(part), "{said}");
        assert!(!data.exists());
    }
}

/// The arguments of the CronJob, for another folder and another number of backups that are kept.
fn of_the_job(folder: &Path, keep: u32) -> String {
    let job = synod_tests::checkout().join("deploy/kubernetes/backup/cron-job.yaml");
    let job = fs::read_to_string(job).expect("it is there");
    let arguments = job
        .lines()
        .find_map(|line| line.trim().strip_prefix("args: "));
    let arguments: Vec<String> = serde_json::from_str(arguments.expect("it has arguments"))
        .expect("they are a list of texts");
    let [command, create, place, flag, _] = &arguments[..] else {
        panic!("it does something else: {arguments:?}");
    };
    assert_eq!(place, "/backups/");
    format!("{command} {create} {} {flag} {keep}", text(folder))
}

fn listed(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is a folder");
    let names = entries.map(|entry| entry.expect("it can be listed").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("it is a text")).collect();
    names.sort();
    names
}

/// The names of what was written, and of what was removed for it.
async fn made(line: &str) -> (String, Vec<String>) {
    let told = document(line).await;
    let file = PathBuf::from(told["file"].as_str().expect("it says where it is"));
    let name = file.file_name().and_then(|name| name.to_str());
    let removed = told["removed"].as_array().expect("it says what it removed");
    let removed = removed.iter().map(|name| name.as_str().map(str::to_owned));
    (
        name.expect("it is a text").to_owned(),
        removed.collect::<Option<_>>().expect("they are texts"),
    )
}

// Guarantee: B-02
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_newest_backups_of_a_cluster_are_kept_in_a_folder() {
    let place = tempfile::TempDir::with_prefix_in("kept-", env!("CARGO_TARGET_TMPDIR"));
    let place = place.expect("the target folder can be written");
    let path = |name: &str| -> PathBuf { place.path().join(name) };
    let ports = [(); 2].map(|()| [free_address(), free_address(), free_address()]);
    let ours = Lone::start(1, &path("ours"), ports[0], &path("ours.log")).await;
    let theirs = Lone::start(1, &path("theirs"), ports[1], &path("theirs.log")).await;
    let folder = path("backups");
    fs::create_dir(&folder).expect("it can be made");
    let at = |keep| format!("{} --endpoints {}", of_the_job(&folder, keep), ports[0][0]);

    let other = format!("{} --endpoints {}", of_the_job(&folder, 1), ports[1][0]);
    let (other, _) = made(&other).await;
    fs::write(folder.join("notes.backup"), "nobody's").expect("it can be written");
    let stay = [other, "notes.backup".to_owned()];
    let is_left = |ours: &[&String]| {
        let mut left: Vec<String> = ours.iter().copied().chain(&stay).cloned().collect();
        left.sort();
        assert_eq!(listed(&folder), left);
    };
    let (first, removed) = made(&at(2)).await;
    assert_eq!(removed, [""; 0]);
    let (second, removed) = made(&at(2)).await;
    assert_eq!(removed, [""; 0]);
    is_left(&[&first, &second]);
    let (third, removed) = made(&at(2)).await;
    assert_eq!(removed, [first]);
    let (fourth, removed) = made(&at(2)).await;
    assert_eq!(removed, [second]);
    is_left(&[&third, &fourth]);
    document(&format!("backup verify {}", text(&folder.join(&third)))).await;

    // What fails removes nothing.
    let nobody = format!(
        "{} --endpoints {} --timeout 500ms",
        of_the_job(&folder, 1),
        free_address()
    );
    refused(&nobody).await;
    let file = folder.join("notes.backup");
    let said = refused(&format!("backup create {} --keep 1", text(&file))).await;
    assert!(said.contains("is no folder"), "{said}");
    is_left(&[&third, &fourth]);
    let (last, removed) = made(&at(1)).await;
    assert_eq!(removed, [third, fourth]);
    is_left(&[&last]);
    ours.finish().await;
    theirs.finish().await;
}
