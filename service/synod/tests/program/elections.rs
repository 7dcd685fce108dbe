//! Leaders as processes: one is paused for longer than its lease lasts.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::cluster::Cluster;
use crate::program::{Running, synod};

/// The command of a leader: it prints its process id, and for each line that it reads it writes an object under its
/// lease and prints the outcome.
const LEADER: &str = r#"
echo "$$"
while read -r size; do
  said=$("$SYNOD_PROGRAM" patch widgets.example.io shared -n a --patch "{spec: {size: $size}}" \
    --if-lease "$SYNOD_LEASE=$SYNOD_FENCING_TOKEN" 2>&1)
  echo "$? $said" | head -n 1
done
"#;

/// A process that leads, or waits to lead.
struct Leader {
    program: Running,
    /// The process id of its command; `None` until it leads.
    command: Option<Pid>,
}

impl Leader {
    fn stands(cluster: &Cluster, holder: &str, ttl: &str) -> Self {
        let words = ["elect", "job", "--ttl", ttl, "--holder", holder];
        let mut command = synod(&[&words[..], &["--", "sh", "-c", LEADER]].concat());
        command
            .env("SYNOD_ENDPOINTS", cluster.endpoints())
            .env("SYNOD_PROGRAM", env!("CARGO_BIN_EXE_synod"))
            .stdin(Stdio::piped());
        Self {
            program: Running::start(command),
            command: None,
        }
    }

    /// Waits until the process leads.
    async fn leads(&mut self) {
        let line = self.program.line().await.unwrap();
        self.command = Pid::from_raw(line.parse().unwrap());
    }

    /// Lets the process write, and returns the outcome.
    async fn writes(&mut self, size: u32) -> String {
        self.program.tell(&size.to_string()).await;
        self.program.line().await.unwrap()
    }

    fn signal_command(&self, signal: Signal) {
        kill_process(self.command.unwrap(), signal).unwrap();
    }
}

// Guarantee: L-04
#[tokio::test]
async fn a_leader_that_was_paused_beyond_its_ttl_can_write_no_more_and_learns_that_it_lost() {
    let cluster = Cluster::start().await;
    let widgets = "collections create widgets.example.io --kind Widget --namespaced";
    let words: Vec<&str> = widgets.split(' ').collect();
    assert_eq!(cluster.ask(&words).await.code, 0);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.yaml");
    let shared =
        "{apiVersion: example.io/v1, kind: Widget, metadata: {name: shared, namespace: a}}";
    std::fs::write(&file, shared).unwrap();
    let words = ["create", "-f", file.to_str().unwrap()];
    assert_eq!(cluster.ask(&words).await.code, 0);

    let mut first = Leader::stands(&cluster, "first", "5s");
    first.leads().await;
    let written = first.writes(1).await;
    assert!(written.starts_with("0 "), "{written}");
    first.signal_command(Signal::STOP);
    first.program.signal(Signal::STOP);
    // Only the first one is to lose its lease.
    let mut second = Leader::stands(&cluster, "second", "1h");
    second.leads().await;
    let written = second.writes(2).await;
    assert!(written.starts_with("0 "), "{written}");

    // The writing command resumes before the renewing process does: only the fencing token can stop its write.
    first.signal_command(Signal::CONT);
    let refused = first.writes(3).await;
    assert!(refused.starts_with("1 error: STALE_EPOCH: "), "{refused}");
    first.program.signal(Signal::CONT);
    assert_eq!(first.program.ended().await.code(), Some(1));
    let written = second.writes(4).await;
    assert!(written.starts_with("0 "), "{written}");
    let words = ["get", "widgets.example.io", "shared", "-n", "a", "-o=json"];
    let shown = cluster.ask(&words).await;
    assert!(shown.out.contains("\"size\": 4"), "{}", shown.out);
}
