//! What systemd is told by a replica, and how much its unit lets a replica do.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::net::UnixDatagram;

use crate::program::synod;
use crate::waiting::within;
use synod_tests::free_address;

/// Ten times the exposure that `systemd-analyze security` may find.
const EXPOSURE_MAX: u32 = 20;

// Guarantee: TM-30
#[test]
fn the_unit_lets_a_replica_do_little_beside_its_work() {
    does_little("synod.service");
}

#[test]
fn the_unit_of_the_backup_lets_it_do_little_beside_its_work() {
    does_little("synod-backup.service");
}

/// Fails if the unit may do more than is to be.
fn does_little(unit: &str) {
    let unit = synod_tests::checkout().join("deploy/systemd").join(unit);
    let analysed = Command::new("systemd-analyze")
        .args(["security", "--offline=true"])
        .arg(format!("--threshold={EXPOSURE_MAX}"))
        .arg(unit)
        .output();
    match analysed {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{text}");
            assert!(text.contains("Overall exposure level"), "{text}");
        }
        Err(error) => eprintln!("SKIPPED: the unit was not analysed: {error}"),
    }
}

#[tokio::test]
async fn systemd_is_told_that_a_replica_runs_lives_serves_and_ends() {
    let folder = TempDir::new().expect("there is a folder for temporary files");
    let socket = folder.path().join("notify");
    let told = UnixDatagram::bind(&socket).expect("the folder can be written");
    let [client, peer, metrics] = std::array::from_fn(|_| free_address().to_string());
    let mut replica = tokio::process::Command::new(synod())
        .args(["serve", "--replica-id", "1", "--cluster-name", "alone"])
        .arg("--data-dir")
        .arg(folder.path().join("data"))
        .args(["--replicas", &format!("1={peer}")])
        .args(["--listen-client", &client, "--listen-peer", &peer])
        .args(["--listen-metrics", &metrics])
        .env("NOTIFY_SOCKET", &socket)
        .env("WATCHDOG_USEC", "200000")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    let hear = async |wanted: &str| {
        within(wanted, async {
            let mut message = [0; 1_024];
            loop {
                let length = told.recv(&mut message).await.expect("it can be read");
                let text = String::from_utf8_lossy(&message[..length]);
                if text.lines().any(|line| line == wanted) {
                    return;
                }
            }
        })
        .await;
    };
    hear("READY=1").await;
    hear("STATUS=serving").await;
    for _ in 0..3 {
        hear("WATCHDOG=1").await;
    }
    let id = replica.id().expect("it runs");
    let id = Pid::from_raw(id.try_into().expect("it is small")).expect("it is a process");
    kill_process(id, Signal::TERM).expect("it can be asked to end");
    hear("STOPPING=1").await;
    let ended = within("the end of the replica", replica.wait()).await;
    assert!(ended.expect("it ends").success());
}
