//! One data directory is left of a lost cluster, and the end of its log, or its middle, is damaged; or two are left, and both
//! were.

use std::fs;
use std::path::{Path, PathBuf};

use synod_client::{AlarmKind, Client};

use crate::agreement::agree;
use crate::backups::{Lone, document, run, text};
use crate::cards;
use crate::cluster::Cluster;
use crate::security::value;
use crate::tree_hash::tree_hash;
use crate::waiting::eventually;
use crate::watched_over::shown_at;

/// The length of a segment's header, and of a batch's, as `synod_store::wal` has them.
const SEGMENT_HEADER: usize = 144;
const BATCH_HEADER: usize = 36;

/// What a batch begins with.
const MAGIC: u32 = 0xB47C_51A0;

/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// The bytes of the object that is written last: its batch takes many sectors.
const LAST_BYTES: usize = 20_000;

/// The object that is written last.
const LAST: &str = "last";

/// A batch in a segment: where it begins, and where its records end.
type Batch = (usize, usize);

/// A copy of the survivor's data directory, damaged.
struct Damaged {
    data_dir: PathBuf,
    out: PathBuf,
}

impl Damaged {
    /// Copies the directory, and damages the segment of its log.
    fn of(cluster: &Cluster, name: &str, damage: impl FnOnce(&mut [u8], &[Batch])) -> Self {
        let place = |name: &str| cluster.log_of(name).with_extension("");
        let damaged = Self {
            data_dir: place(name),
            out: place(&format!("{name}-new")),
        };
        copy(cluster.data_dir(3), &damaged.data_dir);
        let segments = fs::read_dir(damaged.data_dir.join("wal")).expect("it has a log");
        let segments = segments.map(|entry| entry.expect("it can be listed").path());
        let segments = segments.filter(|path| path.extension() == Some("wal".as_ref()));
        let segment = segments.max().expect("a log has a segment");
        let mut bytes = fs::read(&segment).expect("it can be read");
        let batches = batches(&bytes);
        damage(&mut bytes, &batches);
        fs::write(&segment, bytes).expect("it can be written");
        damaged
    }

    /// The command that founds a cluster from it.
    fn force(&self, cluster: &Cluster) -> String {
        let (from, to) = (text(&self.data_dir), text(&self.out));
        let peer = cluster.ports(3)[1];
        format!("cluster force-new --data-dir {from} --out {to} --replica-id 4 --peer {peer}")
    }

    /// Founds a cluster, which must say beforehand that this may be lost, and checks that it serves what is left.
    async fn founds(&self, cluster: &Cluster, lost: &str) {
        let untouched = tree_hash(&self.data_dir);
        let force = self.force(cluster);
        let looked = run(&force).await;
        assert_eq!(looked.status.code(), Some(2), "{looked:?}");
        let told = String::from_utf8_lossy(&looked.stdout);
        assert!(
            told.contains("MAY BE LOST") && told.contains(lost),
            "{told}"
        );
        document(&format!("{force} --yes")).await;
        assert_eq!(
            tree_hash(&self.data_dir),
            untouched,
            "its files have changed"
        );
        let log = self.out.with_extension("log");
        let lone = Lone::start(4, &self.out, cluster.ports(3), &log).await;
        let client = lone.client().await;
        let created = cards::created(&client).await;
        assert!(created.contains_key("first"), "{created:?}");
        assert!(!created.contains_key(LAST), "{created:?}");
        write(&client, "later").await;
        lone.finish().await;
    }
}

/// The batches of a segment, in order.
fn batches(segment: &[u8]) -> Vec<Batch> {
    let number = |at: usize| {
        let bytes = segment.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    let mut batches = Vec::new();
    let mut at = SEGMENT_HEADER;
    while number(at) == Some(MAGIC) {
        let records = number(at + 4).expect("a batch has a length");
        let end = at + BATCH_HEADER + usize::try_from(records).expect("it is short");
        batches.push((at, end));
        at = end;
    }
    batches
}

/// The batch of the object that was written last: the last one that is as long.
fn last_of(batches: &[Batch]) -> Batch {
    let is_long = |(begin, end): &&Batch| end - begin > LAST_BYTES;
    *batches.iter().rfind(is_long).expect("it was written")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("it is a folder") {
        let entry = entry.expect("it can be listed");
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &place);
        } else {
            fs::copy(entry.path(), &place).expect("a file can be copied");
        }
    }
    let rights = fs::metadata(from).expect("it is there").permissions();
    fs::set_permissions(to, rights).expect("it is ours");
}

async fn write(client: &Client, name: &str) {
    let written = cards::create(client, &[name.to_owned()]).await;
    written.expect("the cluster serves");
}

// Guarantee: B-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_survivor_whose_log_is_damaged_says_what_may_be_lost_or_is_refused() {
    let mut cluster = Cluster::start().await;
    let client = cluster.client().await;
    cards::declare(&client, 1).await;
    write(&client, "first").await;
    cards::create_large(&client, LAST, LAST_BYTES).await;
    agree(&cluster).await;
    cluster.kill_all().await;

    // The power failed while the last batch was being written: its end, and all that followed, never came.
    let torn = Damaged::of(&cluster, "torn", |segment, batches| {
        let (begin, _) = last_of(batches);
        let from = (begin + LAST_BYTES / 2).next_multiple_of(SECTOR);
        segment[from..].fill(0);
    });
    torn.founds(&cluster, "ends in a write that was not completed")
        .await;

    // Every sector of the last batch is there, and one is not what was written.
    let changed = Damaged::of(&cluster, "changed", |segment, batches| {
        let (begin, end) = last_of(batches);
        segment[begin + LAST_BYTES / 2] ^= 1;
        segment[end..].fill(0);
    });
    changed
        .founds(&cluster, "entries that it had acknowledged may be missing")
        .await;

    // A batch in the middle is damaged, and those that follow prove that it was durable: nothing is guessed.
    let middle = Damaged::of(&cluster, "middle", |segment, batches| {
        let (begin, end) = last_of(batches);
        assert!(batches.iter().any(|(next, _)| *next >= end), "one follows");
        segment[begin + LAST_BYTES / 2] ^= 1;
    });
    let untouched = tree_hash(&middle.data_dir);
    let refused = run(&format!("{} --yes", middle.force(&cluster))).await;
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("damaged") && said.contains("wal"), "{said}");
    assert!(!middle.out.exists(), "a cluster was founded");
    assert_eq!(tree_hash(&middle.data_dir), untouched);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_whose_logs_were_both_cut_say_what_to_do_and_a_cluster_is_founded_from_one() {
    let mut cluster = Cluster::start().await;
    let client = cluster.client().await;
    cards::declare(&client, 1).await;
    write(&client, "first").await;
    agree(&cluster).await;
    cluster.kill_all().await;
    // What a start leaves that has cut off the end of a log. The third one is lost.
    let cut = [1, 2];
    for id in cut {
        let mark = cluster.data_dir(id).join("wal/MUST-CATCH-UP");
        fs::write(mark, []).expect("it can be written");
        cluster.launch(id);
    }
    for id in cut {
        eventually("the alarm", async || {
            let told = cluster.status(id).await?.alarms;
            let mut alarms = told
                .iter()
                .filter(|alarm| alarm.kind == AlarmKind::NotVoting);
            let alarm = alarms.next().ok_or_else(|| format!("{told:?}"))?;
            let says = alarm.replica_id == Some(id) && alarm.message.contains("force-new");
            says.then_some(()).ok_or_else(|| format!("{alarm:?}"))
        })
        .await;
        let [_, _, port] = cluster.ports(id);
        let metrics = shown_at(port).await;
        assert_eq!(value(&metrics, "synod_not_voting"), 1.0);
        assert_eq!(value(&metrics, "etcd_server_has_leader"), 0.0);
    }
    for id in cut {
        cluster.kill(id).await;
    }
    let out = cluster.log_of("founded").with_extension("");
    let (from, to) = (text(cluster.data_dir(1)), text(&out));
    let peer = cluster.ports(3)[1];
    let force =
        format!("cluster force-new --data-dir {from} --out {to} --replica-id 4 --peer {peer}");
    document(&format!("{force} --yes")).await;
    let lone = Lone::start(4, &out, cluster.ports(3), &cluster.log_of("founded")).await;
    let client = lone.client().await;
    let created = cards::created(&client).await;
    assert!(created.contains_key("first"), "{created:?}");
    write(&client, "later").await;
    lone.finish().await;
}
