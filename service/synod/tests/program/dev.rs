//! Tests of `synod dev` as a process.

use rustix::process::Signal;

use crate::cluster::is_untouched;
use crate::program::{Printed, Running, run, synod, until_led};

/// Waits for the greeting, and returns the value of one of its lines.
async fn value(dev: &mut Running, name: &str) -> String {
    loop {
        let line = dev.line().await.expect("it has ended");
        if let Some(value) = line.trim().strip_prefix(name) {
            return value.trim().to_owned();
        }
    }
}

#[tokio::test]
async fn three_replicas_can_be_tried_and_leave_nothing_behind() {
    let mut dev = Running::start(synod(&["dev", "--port=0"]));
    let endpoints = value(&mut dev, "endpoints").await;
    let data = value(&mut dev, "data").await;
    let data = data
        .strip_suffix(" (deleted at the end)")
        .unwrap()
        .to_owned();
    assert!(!is_untouched(data.as_ref()));
    until_led(async || run(&["status", "--endpoints", &endpoints]).await).await;
    let printed = run(&[
        "settings",
        "set",
        "write_grace=30s",
        "--endpoints",
        &endpoints,
    ])
    .await;
    assert_eq!(printed.code, 0, "{}", printed.err);

    dev.signal(Signal::INT);
    assert_eq!(dev.ended().await.code(), Some(0));
    assert!(is_untouched(data.as_ref()));
}

#[tokio::test]
async fn data_that_are_to_be_kept_need_ports_that_stay() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let text = data.display().to_string();
    let Printed { code, err, .. } = run(&["dev", "--port=0", "--data-dir", &text]).await;
    assert_eq!(code, 2);
    assert!(err.contains("\n  --port: Invalid value: 0: "), "{err}");
    assert!(is_untouched(&data));
}
