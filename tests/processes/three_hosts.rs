//! The guide to three hosts, followed to the letter: each host is a network namespace of its own.
//!
//! It needs the right to make network namespaces, and `ip`. Without either the test says so and checks nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::program::synod;
use crate::waiting::eventually;

const GUIDE: &str = "docs/guides/three-hosts.md";

const SECTION: &str = "## Commands";

/// The hosts, in the order of the replicas' ids.
const HOSTS: [&str; 3] = ["a", "b", "c"];

/// The folders of a host that the guide names, each of which is below the folder of that host here.
const FOLDERS: [&str; 2] = ["/etc/synod", "/var/lib/synod"];

/// The files that the guide has copied to each host, and to where commands are given.
const OF_REPLICAS: [&str; 6] = [
    "server.pem",
    "server-key.pem",
    "peer.pem",
    "peer-key.pem",
    "client-ca.pem",
    "peer-ca.pem",
];
const OF_COMMANDS: [&str; 3] = ["server-ca.pem", "admin.pem", "admin-key.pem"];

/// The exit code of what may not be done.
const PERMISSION: i32 = 7;

/// Three hosts on one network, and the network itself. All of it is gone when this is dropped.
struct Network {
    /// What the names of all namespaces begin with.
    prefix: String,
    folder: TempDir,
}

impl Network {
    /// # Errors
    ///
    /// This process may not make network namespaces, or there is no `ip`.
    fn make() -> Result<Self, String> {
        let network = Self {
            prefix: format!("synod-{}", std::process::id()),
            folder: TempDir::with_prefix_in("hosts-", env!("CARGO_TARGET_TMPDIR"))
                .expect("the target folder can be written"),
        };
        let hub = network.namespace("hub");
        ip(&format!("netns add {hub}"))?;
        ip(&format!("-n {hub} link add bridge type bridge"))?;
        ip(&format!("-n {hub} link set bridge up"))?;
        for (number, host) in (1..).zip(HOSTS) {
            let name = network.namespace(host);
            ip(&format!("netns add {name}"))?;
            ip(&format!(
                "-n {hub} link add to-{host} type veth peer name eth0 netns {name}"
            ))?;
            ip(&format!("-n {hub} link set to-{host} master bridge up"))?;
            ip(&format!("-n {name} addr add 10.0.0.{number}/24 dev eth0"))?;
            ip(&format!("-n {name} link set eth0 up"))?;
            ip(&format!("-n {name} link set lo up"))?;
            for folder in FOLDERS {
                fs::create_dir_all(network.path(host, folder)).expect("the folder can be made");
            }
        }
        Ok(network)
    }

    fn namespace(&self, host: &str) -> String {
        format!("{}-{host}", self.prefix)
    }

    /// Where a path of a host is.
    fn path(&self, host: &str, path: &str) -> PathBuf {
        self.folder
            .path()
            .join(host)
            .join(path.trim_start_matches('/'))
    }

    /// A shell that does on a host what the guide says.
    fn shell(&self, host: &str, script: &str) -> Command {
        let script = FOLDERS.iter().fold(script.to_owned(), |script, folder| {
            let here = self.path(host, folder);
            script.replace(folder, here.to_str().expect("the path is a text"))
        });
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.namespace(host), "sh", "-ec", &script])
            .env("PATH", path_with_program())
            .current_dir(self.path(host, FOLDERS[0]))
            .stdin(Stdio::null());
        command
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for host in HOSTS.into_iter().chain(["hub"]) {
            // It may not have been made.
            let _ = ip(&format!("netns del {}", self.namespace(host)));
        }
    }
}

/// A replica, which is killed when this is dropped.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// Guarantee: N-09
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hosts_are_run_as_the_guide_says() {
    let network = match Network::make() {
        Ok(network) => network,
        Err(why) => {
            eprintln!("SKIPPED: the guide's three hosts were not tried out: {why}");
            return;
        }
    };
    let guide = fs::read_to_string(synod_tests::checkout().join(GUIDE));
    let [certificates, replica, commands] = blocks(&guide.expect("there is a guide"));
    let made = done(network.shell("a", &certificates));
    assert!(made.status.success(), "{made:?}");
    let certs = |host| network.path(host, "/etc/synod/certs");
    for host in &HOSTS[1..] {
        copy(&OF_REPLICAS, &certs("a"), &certs(host));
        copy(&OF_COMMANDS, &certs("a"), &certs(host));
    }
    let mut replicas = Vec::new();
    for (number, host) in (1..).zip(HOSTS) {
        let script = replica
            .replace("--replica-id 1", &format!("--replica-id {number}"))
            .lines()
            .map(|line| of_host(line, number))
            .collect::<Vec<_>>()
            .join("\n")
            .replace("synod serve", "exec synod serve");
        let log = fs::File::create(network.folder.path().join(format!("{host}.log")));
        let log = log.expect("the folder can be written");
        let mut shell = network.shell(host, &script);
        shell.stdout(Stdio::null()).stderr(log);
        replicas.push(Running(shell.spawn().expect("there is a shell")));
    }
    let (settings, asked) = settings_and_commands(&commands);
    for command in asked {
        // What watches goes on until it is stopped.
        if command.starts_with("synod watch") {
            continue;
        }
        eventually(&command, async || {
            let output = done(network.shell("b", &format!("{settings}\n{command}")));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            output.status.success().then_some(()).ok_or(said)
        })
        .await;
    }
    // By the policy without a file, a reader reads and changes nothing. All certificates are where they were made.
    let reader = settings.replace("admin", "reader");
    let read = done(network.shell("a", &format!("{reader}\nsynod status")));
    assert!(read.status.success(), "{read:?}");
    let change = format!("{reader}\nsynod settings set members_max=10");
    let refused = done(network.shell("a", &change));
    assert_eq!(refused.status.code(), Some(PERMISSION), "{refused:?}");
    // Who shows nothing sees nothing.
    let nobody = settings
        .replace("SYNOD_CERT=", "NOTHING=")
        .replace("SYNOD_KEY=", "NEITHER=");
    let output = done(network.shell("c", &format!("{nobody}\nsynod status --timeout 2s")));
    assert!(!output.status.success(), "{output:?}");
    drop(replicas);
}

/// A line of the first host's command, as another host has it: its own addresses are those that it listens on.
fn of_host(line: &str, number: usize) -> String {
    if line.contains("--listen") {
        line.replace("10.0.0.1:", &format!("10.0.0.{number}:"))
    } else {
        line.to_owned()
    }
}

/// The commands of the section: the certificates, a replica, and what is asked of the cluster.
fn blocks(guide: &str) -> [String; 3] {
    let section = guide
        .split(SECTION)
        .nth(1)
        .expect("the guide has the section");
    let section = section.split("\n## ").next().expect("it has a text");
    let blocks = section.split("```sh\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned());
    let blocks: Vec<String> = blocks.collect();
    blocks
        .try_into()
        .expect("the section has three blocks of commands")
}

/// The `export`s of a block, and its other commands.
fn settings_and_commands(block: &str) -> (String, Vec<String>) {
    let (settings, commands): (Vec<&str>, Vec<&str>) =
        block.lines().partition(|line| line.starts_with("export "));
    (
        settings.join("\n"),
        commands.into_iter().map(str::to_owned).collect(),
    )
}

fn copy(files: &[&str], from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for file in files {
        fs::copy(from.join(file), to.join(file)).expect("a file can be copied");
    }
}

fn path_with_program() -> String {
    let program = synod().parent().expect("a program is in a folder");
    let rest = std::env::var("PATH").unwrap_or_default();
    format!("{}:{rest}", program.display())
}

fn ip(line: &str) -> Result<(), String> {
    let output = Command::new("ip").args(line.split_whitespace()).output();
    let output = output.map_err(|error| format!("there is no `ip`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(format!("`ip {line}`: {said}"))
}

fn done(mut command: Command) -> Output {
    command.output().expect("there is a shell")
}
