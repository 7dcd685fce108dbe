//! Runs the demo as a person would, from its first process to its last check.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// Each demo is a dozen processes; two at once would only make both slower.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn demo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synod"));
    command.arg("demo").args(arguments).stdin(Stdio::null());
    command
}

/// The exit status and everything that the demo printed.
fn text(output: &Output) -> String {
    format!(
        "{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

// Guarantee: O-09, MG-12
#[test]
fn every_promise_is_kept_on_the_whole_path() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("run");
    let output = demo(&["--plain", "--keep"]).arg(&kept).output().unwrap();
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    for line in [
        "Every promise was kept.",
        "  ok      1. ",
        "  ok     14. ",
        "assumed: only reporting members",
        "the roster asks for apiserver-d, which does not speak for it",
        ") killed with SIGKILL",
    ] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
    // The summary counts the killed processes from the recordings: the leader and a worker are among them.
    for who in ["(leader)", "(migration worker)"] {
        let killed = |line: &str| line.starts_with("  killed ") && line.contains(who);
        assert!(text.lines().any(killed), "no {who} was killed in\n{text}");
    }
    // A server that a busy machine lets expire aborts the same migration once more.
    let ends = |line: &str| {
        let (_, ends) = line.split_once("widgets.example.io: ")?;
        let mut ends: Vec<&str> = ends.split(", ").collect();
        ends.dedup();
        Some(ends.join(", "))
    };
    let migrated = "to v1 aborted, to v2 aborted, to v2 succeeded";
    let mut told = text.lines().filter_map(ends);
    assert!(told.any(|ends| ends.starts_with(migrated)), "{text}");
    // The recordings that the check has read are kept for the user.
    for file in [
        "watch-1.jsonl",
        "watch-2.jsonl",
        "watch-3.jsonl",
        "store.jsonl",
        "marks.jsonl",
        "clients.jsonl",
        "kept-apiserver-a.jsonl",
        "listed-trinkets.example.io.json",
        "check-drop-widgets.example.io-before.json",
        "check-drop-widgets.example.io-assumed.json",
        "check-binary-absent.json",
        "check-binary-after.json",
    ] {
        assert!(
            fs::metadata(kept.join(file)).unwrap().len() > 0,
            "{file} is empty"
        );
    }
}

// Guarantee: O-09
#[test]
fn a_version_that_is_written_before_it_is_selected_fails_the_demo_and_is_refused_by_synod() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let kept = directory.path().join("run");
    let output = demo(&["--plain", "--break", "encode-early", "--keep"])
        .arg(&kept)
        .output()
        .unwrap();
    let text = text(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("The demo FAILED, first at check 1: "),
        "{text}"
    );
    let evidence = text
        .lines()
        .find(|line| line.contains("gadgets.example.io/"));
    let evidence = evidence.unwrap_or_default();
    assert!(
        evidence.contains(" was written in example.io/v2 by apiserver-a, "),
        "{text}"
    );
    assert!(
        evidence.contains("its entry allowed only example.io/v1; it was selected at revision "),
        "{text}"
    );
    // Synod stored none of the objects that the same server encoded too early: it refused each for good.
    for line in ["  ok      8. ", "  ok      9. ", "  ok     10. "] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
    let steps = fs::read_to_string(kept.join("kept-apiserver-a.jsonl")).unwrap();
    assert!(
        steps.contains(r#""step":{"not_selected":"example.io/v1"}"#),
        "{text}"
    );
}

#[test]
fn a_demo_that_is_interrupted_leaves_no_process_and_no_file() {
    let _alone = alone();
    let temporary = tempfile::tempdir().unwrap();
    let mut child = demo(&["--plain"])
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let id = Pid::from_child(&child);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let started = lines.find(|line| {
        line.as_ref()
            .unwrap()
            .ends_with("apiserver-a (release 1.0) started")
    });
    assert!(
        started.is_some(),
        "the demo ended before its servers were up"
    );

    // A process descriptor stays with its process, also when the process id is used again.
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let children = children
        .split_whitespace()
        .map(|id| Pid::from_raw(id.parse().unwrap()).unwrap());
    let children: Vec<_> = children
        .map(|id| pidfd_open(id, PidfdFlags::empty()).unwrap())
        .collect();
    assert!(
        children.len() >= 8,
        "replicas, recorders, a store and servers run: {}",
        children.len()
    );

    kill_process(id, Signal::INT).unwrap();
    let told: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{told:?}");
    for child in &children {
        let limit = Timespec {
            tv_sec: 60,
            tv_nsec: 0,
        };
        let ended = poll(&mut [PollFd::new(child, PollFlags::IN)], Some(&limit)).unwrap();
        assert_eq!(ended, 1, "a process of the demo outlives it");
    }
    assert_eq!(
        fs::read_dir(temporary.path()).unwrap().count(),
        0,
        "the files are deleted"
    );
}

#[test]
fn a_directory_that_holds_something_is_not_written_to() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("mine"), "").unwrap();
    let output = demo(&["--keep"]).arg(directory.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("is not empty"), "{}", text(&output));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}
