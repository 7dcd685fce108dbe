//! An etcd of a test's own.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::free_address;

/// The command of one etcd at a free address of this host, which keeps its data in `folder`, and the URL at which it
/// serves. Whoever starts it ends it, and waits until it answers.
pub fn etcd(folder: &Path) -> (Command, String) {
    let [client, peer] = [(); 2].map(|()| format!("http://{}", free_address()));
    let mut etcd = Command::new("etcd");
    etcd.args(["--log-level", "error", "--data-dir"])
        .arg(folder)
        .args(["--listen-client-urls", &client])
        .args(["--advertise-client-urls", &client])
        .args(["--listen-peer-urls", &peer])
        .args(["--initial-advertise-peer-urls", &peer])
        .args(["--initial-cluster", &format!("default={peer}")])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    (etcd, client)
}
