//! A cluster of three replicas, each a process on this machine.

mod kube;
mod replica;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::PipeReader;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use rustix::process::Signal;
use synod_client::{Client, ClientBuilder, ClusterStatus, ReadOptions, Revision};
use tempfile::TempDir;

use replica::Replica;

use crate::agreement::announced;
use crate::certificates::Certificates;
use crate::links::Links;
use crate::process::Process;
use crate::release::Release;
use crate::waiting::{LIMIT, eventually, within};
use synod_tests::free_address;

/// The name of every cluster here.
pub(crate) const NAME: &str = "processes";

/// The ids of the replicas.
pub(crate) const IDS: [u64; 3] = [1, 2, 3];

/// Three replicas, each a process. All of them are killed when this is dropped.
pub(crate) struct Cluster {
    replicas: BTreeMap<u64, Replica>,
    links: Links,
    /// `None`: connections are not encrypted.
    certificates: Option<Certificates>,
    /// Declared last, so that it is deleted only after the processes are gone. `None` once it is to be kept.
    folder: Option<TempDir>,
}

impl Cluster {
    /// Three replicas that have formed a cluster.
    pub(crate) async fn start() -> Self {
        Self::prepare().await.started().await
    }

    /// The same, each with these flags.
    pub(crate) async fn start_with(flags: &[&str]) -> Self {
        let mut cluster = Self::prepare().await;
        cluster.add(flags);
        cluster.started().await
    }

    /// Three replicas that have formed a cluster, all of whose connections are behind transport security.
    pub(crate) async fn start_secured() -> Self {
        Self::prepare().await.secured(&[]).await
    }

    /// Three replicas of this release that have formed a cluster.
    pub(crate) async fn start_of(release: Release) -> Self {
        let mut cluster = Self::prepare().await;
        for id in IDS {
            cluster.is_to_run(id, release);
        }
        cluster.started().await
    }

    /// Has a replica run this release from its next start on.
    pub(crate) fn is_to_run(&mut self, id: u64, release: Release) {
        let replica = self.replicas.get_mut(&id).expect("there is such a replica");
        replica.release = release;
    }

    /// Three secured replicas with a policy in the file [`Self::policy`].
    pub(crate) async fn start_with_policy(policy: &str) -> Self {
        Self::prepare().await.with_policy(policy).await
    }

    async fn with_policy(self, policy: &str) -> Self {
        fs::write(self.policy(), policy).expect("the folder can be written");
        let file = self.policy().display().to_string();
        self.secured(&["--policy-file", &file]).await
    }

    /// The same, each with an audit log and these flags.
    pub(crate) async fn start_audited(flags: &[&str]) -> Self {
        let mut cluster = Self::prepare().await;
        for id in IDS {
            let file = cluster.audit_file(id).display().to_string();
            let replica = cluster.replicas.get_mut(&id).expect("it is one of three");
            replica.arguments.extend(["--audit-log".to_owned(), file]);
        }
        cluster.secured(flags).await
    }

    /// The same, with these flags, an audit log each, these keys of tokens in the file [`Self::jwks`] beside the policy, and a
    /// filter of what is logged.
    pub(crate) async fn start_with_tokens(
        policy: &str,
        jwks: &str,
        log: Option<&str>,
        flags: &[&str],
    ) -> Self {
        let mut cluster = Self::prepare().await;
        fs::write(cluster.policy(), policy).expect("the folder can be written");
        fs::write(cluster.jwks(), jwks).expect("the folder can be written");
        for id in IDS {
            let audit = cluster.audit_file(id).display().to_string();
            let replica = cluster.replicas.get_mut(&id).expect("it is one of three");
            replica.arguments.extend(["--audit-log".to_owned(), audit]);
            if let Some(log) = log {
                replica.log_by(log);
            }
        }
        let file = cluster.policy().display().to_string();
        let flags = [&["--policy-file", &file], flags].concat();
        cluster.secured(&flags).await
    }

    /// The file with the keys of tokens.
    pub(crate) fn jwks(&self) -> PathBuf {
        self.folder().join("jwks.json")
    }

    /// Replaces the file with the keys of tokens as a whole.
    pub(crate) fn write_jwks(&self, jwks: &str) {
        let new = self.folder().join("jwks.json.new");
        fs::write(&new, jwks).expect("the folder can be written");
        fs::rename(new, self.jwks()).expect("a file can be renamed");
    }

    /// The audit log of a replica.
    pub(crate) fn audit(&self, id: u64) -> String {
        fs::read_to_string(self.audit_file(id)).expect("there is one")
    }

    fn audit_file(&self, id: u64) -> PathBuf {
        self.folder().join(format!("audit-{id}.log"))
    }

    /// The file of the policy.
    pub(crate) fn policy(&self) -> PathBuf {
        self.folder().join("policy.toml")
    }

    async fn secured(self, flags: &[&str]) -> Self {
        let mut cluster = self;
        let certificates = Certificates::make(&cluster.folder().join("certificates"));
        for replica in cluster.replicas.values_mut() {
            replica.arguments.extend(certificates.flags());
        }
        cluster.add(flags);
        cluster.certificates = Some(certificates);
        cluster.started().await
    }

    fn add(&mut self, flags: &[&str]) {
        for replica in self.replicas.values_mut() {
            let flags = flags.iter().map(|flag| (*flag).to_owned());
            replica.arguments.extend(flags);
        }
    }

    async fn started(mut self) -> Self {
        for id in IDS {
            self.launch(id);
        }
        for id in IDS {
            self.serving(id).await;
        }
        announced(&self).await;
        self
    }

    /// Three replicas without data, none of which runs.
    async fn prepare() -> Self {
        // Below the target folder, which is on a disk: the system's folder for temporary files may be in memory.
        let folder = TempDir::with_prefix_in("replicas-", env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.expect("the target folder can be written");
        let peers: BTreeMap<u64, SocketAddr> = IDS.map(|id| (id, free_address())).into();
        let links = Links::before(&peers).await;
        let set = links
            .addresses()
            .iter()
            .map(|(id, address)| format!("{id}={address}"));
        let set = set.collect::<Vec<_>>().join(",");
        let replica =
            |(&id, &peer): (&u64, &SocketAddr)| (id, Replica::new(id, &set, folder.path(), peer));
        Self {
            replicas: peers.iter().map(replica).collect(),
            links,
            certificates: None,
            folder: Some(folder),
        }
    }

    /// The network between the replicas.
    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// The address where a replica serves clients.
    pub(crate) fn endpoint(&self, id: u64) -> String {
        self.replicas[&id].client.to_string()
    }

    /// The addresses where all replicas serve clients.
    pub(crate) fn endpoints(&self) -> Vec<String> {
        self.replicas.keys().map(|id| self.endpoint(*id)).collect()
    }

    /// Makes a replica that waits to be added to the set. Returns its peer address.
    pub(crate) fn newcomer(&mut self, id: u64) -> String {
        let peer = free_address();
        let folder = self.folder().to_owned();
        let mut replica = Replica::new(id, "", &folder, peer);
        let set = replica
            .arguments
            .iter()
            .position(|flag| flag == "--replicas");
        let set = set.expect("it is said which replicas there are");
        replica
            .arguments
            .splice(set..set + 2, ["--join".to_owned()]);
        self.replicas.insert(id, replica);
        peer.to_string()
    }

    /// Every port of a replica.
    pub(crate) fn ports(&self, id: u64) -> [SocketAddr; 3] {
        let replica = &self.replicas[&id];
        [replica.client, replica.peer, replica.metrics]
    }

    /// Where a replica keeps its data.
    pub(crate) fn data_dir(&self, id: u64) -> &Path {
        &self.replicas[&id].data_dir
    }

    /// A file for the output of a process that is not one of the replicas.
    pub(crate) fn log_of(&self, name: &str) -> PathBuf {
        self.folder().join(format!("{name}.log"))
    }

    fn folder(&self) -> &Path {
        let folder = self.folder.as_ref();
        folder.expect("the folder is there until the end").path()
    }

    /// The certificates of a cluster that was started with some.
    pub(crate) fn certificates(&self) -> &Certificates {
        let certificates = self.certificates.as_ref();
        certificates.expect("the cluster was started with certificates")
    }

    /// What a replica has logged so far.
    pub(crate) fn log(&self, id: u64) -> String {
        fs::read_to_string(&self.replicas[&id].log).expect("a replica's log can be read")
    }

    /// The arguments that a replica is started with; its ports stay reserved for it while it does not run.
    pub(crate) fn arguments(&self, id: u64) -> Vec<String> {
        self.replicas[&id].arguments.clone()
    }

    /// A client of all replicas.
    pub(crate) async fn client(&self) -> Client {
        connect(self.builder(self.endpoints())).await
    }

    /// A client of one replica.
    pub(crate) async fn client_of(&self, id: u64) -> Client {
        connect(self.builder(vec![self.endpoint(id)])).await
    }

    /// The builder of a client of these replicas, which shows the certificate of an admin if one is needed.
    pub(crate) fn builder(&self, endpoints: Vec<String>) -> ClientBuilder {
        let builder = Client::builder().endpoints(endpoints);
        match &self.certificates {
            Some(certificates) => builder.tls(certificates.admin()),
            None => builder,
        }
    }

    /// Starts the process of a replica, which must have ended.
    pub(crate) fn launch(&mut self, id: u64) {
        let replica = self.replicas.get_mut(&id).expect("there is such a replica");
        assert!(replica.process.is_none(), "replica {id} runs already");
        let start = || {
            let what = format!("replica {id}");
            let (release, arguments) = (replica.release, &replica.arguments);
            let process = Process::start_of(release.command(), &what, arguments, &replica.log);
            let number = process
                .id()
                .expect("a process that was just started has a number");
            (process, number)
        };
        let process = self.links.known(id, start);
        replica.process = Some(process);
        replica.paused = false;
    }

    /// Starts the process of a replica with the log level `trace`, and its output going into a pipe that is never read.
    /// The pipe breaks when the returned end is dropped.
    pub(crate) fn launch_unread(&mut self, id: u64) -> PipeReader {
        let replica = self.replicas.get_mut(&id).expect("there is such a replica");
        let former = replica.arguments.clone();
        replica.log_by("trace");
        let arguments = std::mem::replace(&mut replica.arguments, former);
        let mut unread = None;
        let start = || {
            let what = format!("replica {id}");
            let (process, pipe) = Process::start_unread(&what, &arguments, &replica.log);
            unread = Some(pipe);
            let number = process.id().expect("it was just started");
            (process, number)
        };
        let process = self.links.known(id, start);
        replica.process = Some(process);
        replica.paused = false;
        unread.expect("it was started")
    }

    /// Waits until a replica answers linearizable reads.
    pub(crate) async fn serving(&self, id: u64) -> Revision {
        let client = self.client_of(id).await.with_timeout(LIMIT);
        let read = client.settings(ReadOptions::linearizable()).await;
        read.unwrap_or_else(|error| panic!("replica {id} does not serve: {error}"))
            .header
            .revision
    }

    /// Starts the process of a replica, and waits until it answers linearizable reads.
    pub(crate) async fn restart(&mut self, id: u64) {
        self.launch(id);
        self.serving(id).await;
    }

    /// Kills a replica, as `kill -9` does.
    pub(crate) async fn kill(&mut self, id: u64) {
        self.taken(id).kill().await;
    }

    /// Kills the first three replicas at once.
    pub(crate) async fn kill_all(&mut self) {
        let mut processes: Vec<Process> = IDS.into_iter().map(|id| self.taken(id)).collect();
        processes
            .iter()
            .for_each(|process| process.signal(Signal::KILL));
        for process in &mut processes {
            process.ended().await;
        }
    }

    /// Sends SIGTERM to a replica, and waits until its process has ended.
    pub(crate) async fn terminate(&mut self, id: u64) -> ExitStatus {
        self.taken(id).terminate().await
    }

    /// Waits until a replica ends by itself, and returns its exit status and its log.
    pub(crate) async fn ended(&mut self, id: u64) -> (ExitStatus, String) {
        let mut process = self.taken(id);
        let status = process.ended().await;
        (status, process.log())
    }

    /// Stops a replica from doing anything (SIGSTOP). Its connections stay.
    pub(crate) fn pause(&mut self, id: u64) {
        self.replica(id).pause();
    }

    /// Lets a paused replica go on (SIGCONT).
    pub(crate) fn resume(&mut self, id: u64) {
        self.replica(id).resume();
    }

    fn replica(&mut self, id: u64) -> &mut Replica {
        self.replicas.get_mut(&id).expect("there is such a replica")
    }

    /// The number of a replica's process.
    pub(crate) fn process(&self, id: u64) -> u32 {
        let process = self.replicas[&id].process.as_ref();
        let number = process.and_then(Process::id);
        number.unwrap_or_else(|| panic!("replica {id} does not run"))
    }

    fn taken(&mut self, id: u64) -> Process {
        let replica = self.replicas.get_mut(&id).expect("there is such a replica");
        replica
            .process
            .take()
            .unwrap_or_else(|| panic!("replica {id} does not run"))
    }

    /// The replicas that run and are not paused.
    pub(crate) fn awake(&self) -> BTreeSet<u64> {
        let awake = self
            .replicas
            .iter()
            .filter(|(_, replica)| replica.process.is_some() && !replica.paused);
        awake.map(|(id, _)| *id).collect()
    }

    /// The status of the cluster as one replica sees it.
    pub(crate) async fn status(&self, id: u64) -> Result<ClusterStatus, String> {
        let status = self
            .client_of(id)
            .await
            .with_timeout(LIMIT / 10)
            .status()
            .await;
        status.map_err(|error| format!("replica {id}: {error}"))
    }

    /// The leader, once all awake replicas agree on it and it is one of them.
    pub(crate) async fn leader(&self) -> u64 {
        self.leader_among(&self.awake()).await
    }

    /// The leader, once all of these replicas agree on it and it is one of them.
    pub(crate) async fn leader_among(&self, ids: &BTreeSet<u64>) -> u64 {
        let what = format!("a leader among the replicas {ids:?}");
        eventually(&what, async || {
            let mut leaders = BTreeMap::new();
            for &id in ids {
                let status = self.status(id).await?;
                leaders.insert(id, status.leader_id);
            }
            let first = leaders.values().next().copied().flatten();
            let common =
                first.filter(|leader| leaders.values().all(|known| *known == Some(*leader)));
            common
                .filter(|leader| ids.contains(leader))
                .ok_or_else(|| format!("{leaders:?}"))
        })
        .await
    }

    /// A follower, once the leader is known.
    pub(crate) async fn follower(&self) -> u64 {
        let leader = self.leader().await;
        let mut others = self.awake().into_iter().filter(|id| *id != leader);
        others.next().expect("a leader has followers")
    }

    /// Ends all replicas. Each must still run, without a panic in its log, and exit with success.
    pub(crate) async fn finish(mut self) {
        for id in IDS {
            let log = fs::read_to_string(&self.replicas[&id].log).unwrap_or_default();
            let panic = log.lines().find(|line| line.contains("panicked at"));
            assert_eq!(panic, None, "replica {id} panicked");
        }
        for id in self.awake() {
            let replica = self.replicas.get_mut(&id).expect("there is such a replica");
            let is_running = replica.process.as_mut().is_some_and(Process::is_running);
            assert!(is_running, "replica {id} ended by itself");
            let status = within("a replica that ends when asked to", self.terminate(id)).await;
            assert!(status.success(), "replica {id}: {status}");
        }
    }
}

impl Drop for Cluster {
    /// If the test failed, prints the end of each replica's log, and keeps logs and data.
    fn drop(&mut self) {
        let folder = self.folder.take().filter(|_| std::thread::panicking());
        let Some(folder) = folder else { return };
        for (id, replica) in &self.replicas {
            let log = fs::read_to_string(&replica.log).unwrap_or_default();
            let lines: Vec<&str> = log
                .lines()
                .filter(|line| !line.contains(" INFO openraft"))
                .collect();
            let end = lines[lines.len().saturating_sub(25)..].join("\n");
            eprintln!("--- how the log of replica {id} ends\n{end}");
        }
        eprintln!("--- logs and data are kept in {}", folder.keep().display());
    }
}

async fn connect(builder: ClientBuilder) -> Client {
    let client = builder.connect().await;
    client.expect("endpoints are addresses")
}

/// Waits until every replica that is awake has applied `revision`.
pub(crate) async fn reached(cluster: &Cluster, revision: Revision) {
    for id in cluster.awake() {
        let client = cluster.client_of(id).await.with_timeout(LIMIT);
        let read = client.settings(ReadOptions::min_revision(revision)).await;
        read.unwrap_or_else(|error| {
            panic!("replica {id} does not come to revision {revision}: {error}")
        });
    }
}
