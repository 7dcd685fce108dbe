//! The hosts of the runbook: a folder each, with ports on loopback.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use synod_client::{Client, ReadOptions};
use tempfile::TempDir;

use crate::certificates::Certificates;
use crate::process::Process;
use crate::program::synod;
use crate::waiting::{LIMIT, eventually, within};
use synod_tests::free_address;

/// The hosts, by the replicas that run on them first: `10.0.0.1` to `10.0.0.4`.
const HOSTS: [u64; 4] = [1, 2, 3, 4];

/// The ports of the runbook: for clients, for replicas, for metrics, for clients of Kubernetes.
const PORTS: [u16; 4] = [4600, 4610, 4620, 4630];

/// The folders of a host that the runbook and the package name, each of which is below the folder of that host here.
const FOLDERS: [&str; 3] = ["/etc/synod", "/var/lib/synod", "/var/log/synod"];

/// What the package brings for systemd.
pub(super) const UNITS: [&str; 3] = [
    "synod.service",
    "synod-backup.service",
    "synod-backup.timer",
];

/// Four hosts, of which the fourth is a spare one. All replicas are killed when this is dropped.
pub(super) struct Hosts {
    running: BTreeMap<u64, Process>,
    ports: BTreeMap<u64, [SocketAddr; PORTS.len()]>,
    certificates: Certificates,
    /// The lines by which the operator's shell has changed its environment.
    environment: Vec<String>,
    /// Declared last, so that it is deleted only after the processes are gone. `None` once it is to be kept.
    folder: Option<TempDir>,
}

impl Hosts {
    /// The hosts with the files of the package, filled in, and with the certificates of `synod certs dev`.
    pub(super) fn prepare() -> Self {
        let folder = TempDir::with_prefix_in("runbook-", env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.expect("the target folder can be written");
        let own = |host| path_below(folder.path(), host, "/etc/synod/certs");
        for host in HOSTS {
            for place in FOLDERS.into_iter().chain(["/home", "/etc/synod/certs"]) {
                let path = path_below(folder.path(), host, place);
                fs::create_dir_all(path).expect("the folder can be made");
            }
        }
        let certificates = Certificates::make(&own(1));
        for host in HOSTS {
            for file in fs::read_dir(own(1)).expect("it was made") {
                let file = file.expect("it can be read").path();
                let to = own(host).join(file.file_name().expect("it is a file"));
                if host != 1 {
                    fs::copy(&file, to).expect("a file can be copied");
                }
            }
        }
        let port = |host| (host, std::array::from_fn(|_| free_address()));
        let hosts = Self {
            running: BTreeMap::new(),
            ports: HOSTS.map(port).into(),
            certificates,
            environment: Vec::new(),
            folder: Some(folder),
        };
        let set = filled_in(&deployed("debian/synod.toml"));
        for host in HOSTS {
            // Each host has its number and listens on its own addresses; the fourth one waits to be let in.
            let lines = set.lines().map(|line| match host {
                _ if line.starts_with("replica_id") => format!("replica_id = {host}\n"),
                4 if line.starts_with("replicas") => "join = true\n".to_owned(),
                _ if line.starts_with("listen_") => {
                    line.replace("10.0.0.1:", &format!("10.0.0.{host}:")) + "\n"
                }
                _ => format!("{line}\n"),
            });
            hosts.write(host, "/etc/synod/synod.toml", &lines.collect::<String>());
            let policy = deployed("debian/policy.toml");
            hosts.write(host, "/etc/synod/policy.toml", &policy);
        }
        // The unit says what its file of variables holds.
        let unit = deployed("systemd/synod-backup.service");
        let variables = unit.lines().filter_map(|line| line.strip_prefix("#   "));
        let variables: String = variables.map(|line| format!("{line}\n")).collect();
        hosts.write(1, "/etc/synod/backup.env", &variables);
        hosts
    }

    fn folder(&self) -> &Path {
        let folder = self.folder.as_ref();
        folder.expect("the folder is there until the end").path()
    }

    /// Where a path of a host is.
    pub(super) fn path(&self, host: u64, path: &str) -> PathBuf {
        path_below(self.folder(), host, path)
    }

    /// Writes a file of a host.
    fn write(&self, host: u64, path: &str, text: &str) {
        let written = fs::write(self.path(host, path), self.here(host, text));
        written.expect("the folder can be written");
    }

    /// Changes a setting in the file of a host, which only the next start reads.
    pub(super) fn settings(&self, host: u64, name: &str, value: &str) {
        let file = self.path(host, "/etc/synod/synod.toml");
        let text = fs::read_to_string(&file).expect("it was written");
        let value = self.here(host, value);
        let lines = text.lines().map(|line| match line.split_once(" = ") {
            Some((known, _)) if known == name => format!("{name} = {value}\n"),
            _ => format!("{line}\n"),
        });
        fs::write(file, lines.collect::<String>()).expect("the folder can be written");
    }

    /// What a text of the runbook, of a unit or of a file says, with what is meant by it here.
    fn here(&self, host: u64, text: &str) -> String {
        let mut text = text.to_owned();
        for (number, ports) in &self.ports {
            for (port, here) in PORTS.iter().zip(ports) {
                text = text.replace(&format!("10.0.0.{number}:{port}"), &here.to_string());
            }
        }
        for folder in FOLDERS {
            text = text.replace(folder, &self.path(host, folder).display().to_string());
        }
        text.replace("/usr/bin/synod", &synod().display().to_string())
    }

    /// Starts what `ExecStart` of the unit says.
    pub(super) fn start(&mut self, host: u64) {
        let line = exec_start("synod.service");
        let line = self.here(host, &line);
        let (program, arguments) = line.split_once(' ').expect("it has arguments");
        assert_eq!(Path::new(program), synod());
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let process = Process::start(&format!("host {host}"), &arguments, &self.log(host));
        let former = self.running.insert(host, process);
        assert!(former.is_none(), "host {host} has a replica that runs");
    }

    fn log(&self, host: u64) -> PathBuf {
        self.folder().join(format!("host-{host}.log"))
    }

    /// Ends a replica as systemd does.
    pub(super) async fn stop(&mut self, host: u64) {
        let process = self.running.remove(&host);
        let process = process.unwrap_or_else(|| panic!("host {host} has no replica that runs"));
        let status = process.terminate().await;
        // One that is cut off from the others cannot hand over, and ends all the same.
        assert!(status.success(), "host {host}: {status}");
    }

    /// A host that is gone, with its disk.
    pub(super) async fn lose(&mut self, host: u64) {
        let process = self.running.remove(&host);
        process.expect("it runs until now").kill().await;
        let data = self.path(host, "/var/lib/synod");
        fs::remove_dir_all(data).expect("it was there until now");
    }

    /// Waits until every replica that runs answers linearizable reads.
    pub(super) async fn serve(&self) {
        for host in self.running.keys() {
            let client = self.client_of("admin", &[*host]).await.with_timeout(LIMIT);
            let read = client.settings(ReadOptions::linearizable()).await;
            read.unwrap_or_else(|error| panic!("host {host} does not serve: {error}"));
        }
    }

    /// A client that shows this certificate.
    pub(super) async fn client(&self, name: &str) -> Client {
        let hosts: Vec<u64> = self.running.keys().copied().collect();
        self.client_of(name, &hosts).await
    }

    async fn client_of(&self, name: &str, hosts: &[u64]) -> Client {
        let endpoints = hosts.iter().map(|host| self.ports[host][0].to_string());
        let client = Client::builder()
            .endpoints(endpoints.collect::<Vec<_>>())
            .tls(self.certificates.client(name))
            .connect()
            .await;
        client.expect("endpoints are addresses")
    }

    /// Whether this is a line by which the shell changes its environment. Commands after it see what it did.
    pub(super) fn remembers(&mut self, command: &str) -> bool {
        let is_one = command.starts_with("export ") || command.starts_with("unset ");
        if is_one {
            self.environment.push(command.to_owned());
        }
        is_one
    }

    /// Runs a command as an admin's shell on a host does.
    pub(super) async fn shell(&self, host: u64, command: &str) -> Output {
        let script = format!("{}\n{command}", self.environment.join("\n"));
        let mut shell = shell(&self.here(host, &script));
        shell.current_dir(self.path(host, "/etc/synod"));
        shell.env("HOME", self.path(host, "/home"));
        done(command, shell).await
    }

    /// Does what the timer of the backup does.
    pub(super) async fn back_up(&self) {
        let folder = self.path(1, "/var/lib/synod-backup");
        // As systemd makes it for a user that is made for each run: a link.
        let private = self.path(1, "/var/lib/private/synod-backup");
        fs::create_dir_all(&private).expect("systemd can make it, too");
        if !folder.exists() {
            symlink(&private, &folder).expect("systemd can make it, too");
        }
        let line = exec_start("synod-backup.service");
        let script = |line: &str| format!("set -a\n. /etc/synod/backup.env\n{line}");
        let names = || {
            let entries = fs::read_dir(&folder).expect("systemd has made it");
            let names = entries.map(|entry| entry.expect("it can be listed").file_name());
            names.collect::<BTreeSet<_>>()
        };
        let run = async |line: &str| {
            let output = done("the backup", shell(&self.here(1, &script(line)))).await;
            assert!(output.status.success(), "{output:?}");
            names()
        };
        let before = names();
        let first = run(&line).await;
        assert_eq!(first.difference(&before).count(), 1, "one was made");
        // The unit keeps more than this test makes.
        let (line, _) = line.rsplit_once(' ').expect("it says how many it keeps");
        let second = run(&format!("{line} 1")).await;
        assert_eq!(
            second
                .intersection(&first)
                .cloned()
                .collect::<BTreeSet<_>>(),
            before
        );
        assert_eq!(second.len(), before.len() + 1, "the older one has gone");
    }

    /// Ends all replicas. None may have panicked.
    pub(super) async fn finish(mut self) {
        for host in HOSTS {
            let log = fs::read_to_string(self.log(host)).unwrap_or_default();
            let panic = log.lines().find(|line| line.contains("panicked at"));
            assert_eq!(panic, None, "host {host} panicked");
        }
        for host in HOSTS {
            if self.running.contains_key(&host) {
                self.stop(host).await;
            }
        }
    }
}

impl Drop for Hosts {
    /// If the test failed, keeps files and logs.
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take_if(|_| std::thread::panicking()) {
            eprintln!("--- the hosts are kept in {}", folder.keep().display());
        }
    }
}

/// A host that knows nothing of the cluster, and has a copy of its backup.
pub(super) struct Apart {
    replica: Option<Process>,
    /// In the order of [`PORTS`].
    ports: [SocketAddr; PORTS.len()],
    /// The command that `synod backup restore` has printed.
    printed: String,
    folder: TempDir,
}

impl Apart {
    pub(super) fn beside(hosts: &Hosts) -> Self {
        let folder = TempDir::with_prefix_in("apart-", env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.expect("the target folder can be written");
        let backups = "var/lib/synod-backup";
        fs::create_dir_all(folder.path().join(backups)).expect("the folder can be made");
        let name = "synod.backup";
        let from = hosts.path(1, &format!("/{backups}")).join(name);
        fs::copy(from, folder.path().join(backups).join(name)).expect("there is a backup");
        Self {
            replica: None,
            ports: std::array::from_fn(|_| free_address()),
            printed: String::new(),
            folder,
        }
    }

    fn here(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (port, here) in PORTS.iter().zip(self.ports) {
            text = text.replace(&format!("127.0.0.1:{port}"), &here.to_string());
        }
        let lib = self.folder.path().join("var/lib");
        text.replace("/var/lib", &lib.display().to_string())
    }

    /// Takes the command out of what was printed.
    pub(super) fn printed(&mut self, text: &str) {
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| line.starts_with("synod serve "));
        line.expect("it says how to go on")
            .clone_into(&mut self.printed);
    }

    /// Starts a replica that serves until this is dropped.
    pub(super) async fn start(&mut self, command: &str) {
        assert_eq!(self.here(command), self.printed, "another was printed");
        let arguments: Vec<&str> = self.printed.split_whitespace().skip(1).collect();
        let [client, peer, metrics, _] = self.ports.map(|port| port.to_string());
        // It listens on the ports of the runbook by default.
        let ports = [
            "--listen-client",
            &client,
            "--listen-peer",
            &peer,
            "--listen-metrics",
            &metrics,
        ];
        let arguments = [&arguments[..], &ports].concat();
        // The shell stands in this folder.
        let arguments = arguments.iter().map(|it| match *it {
            "drill" => self.folder.path().join("drill").display().to_string(),
            other => other.to_owned(),
        });
        let log = self.folder.path().join("log");
        let process = Process::start("the drill", &arguments.collect::<Vec<_>>(), &log);
        self.replica = Some(process);
        eventually("the replica of the drill", async || {
            let output = self.shell("synod status --endpoints 127.0.0.1:4600").await;
            let seen = format!("{output:?}");
            output.status.success().then_some(()).ok_or(seen)
        })
        .await;
    }

    /// Runs a command in this host's shell.
    pub(super) async fn shell(&self, command: &str) -> Output {
        let mut shell = shell(&self.here(command));
        shell.current_dir(self.folder.path());
        shell.env("HOME", self.folder.path());
        done(command, shell).await
    }
}

/// A folder with the units, which start this program.
pub(super) fn units() -> TempDir {
    let folder = TempDir::with_prefix_in("units-", env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.expect("the target folder can be written");
    for unit in UNITS {
        let text = deployed(&format!("systemd/{unit}"));
        let text = text.replace("/usr/bin/synod", &synod().display().to_string());
        fs::write(folder.path().join(unit), text).expect("it can be written");
    }
    folder
}

fn path_below(folder: &Path, host: u64, path: &str) -> PathBuf {
    folder
        .join(format!("host-{host}"))
        .join(path.trim_start_matches('/'))
}

/// A file of `deploy`.
fn deployed(path: &str) -> String {
    let text = fs::read_to_string(synod_tests::checkout().join("deploy").join(path));
    text.unwrap_or_else(|error| panic!("deploy/{path}: {error}"))
}

/// The settings of a file, those that are commented out, too.
fn filled_in(file: &str) -> String {
    let is_setting = |line: &str| line.contains(" = ") && !line.starts_with("# ");
    let lines = file.lines().filter(|line| is_setting(line));
    lines
        .map(|line| format!("{}\n", line.trim_start_matches('#')))
        .collect()
}

/// What a unit starts.
fn exec_start(unit: &str) -> String {
    line_of(unit, "ExecStart=")
}

/// What a unit says behind this.
fn line_of(unit: &str, key: &str) -> String {
    let text = deployed(&format!("systemd/{unit}"));
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(key));
    line.unwrap_or_else(|| panic!("{unit} has no {key}"))
        .to_owned()
}

/// A shell with this program first on its path, and without the variables of the tests.
fn shell(script: &str) -> tokio::process::Command {
    let program = synod().parent().expect("a program is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = tokio::process::Command::new("sh");
    shell
        .args(["-euc", script])
        .env_clear()
        .env("PATH", format!("{}:{path}", program.display()))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    shell
}

async fn done(what: &str, mut shell: tokio::process::Command) -> Output {
    let ended = within(what, shell.output()).await;
    ended.expect("there is a shell")
}
