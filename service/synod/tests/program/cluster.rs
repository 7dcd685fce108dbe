//! Three replicas as processes on loopback, and API servers as members.

use std::collections::BTreeSet;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use synod_client::{
    ApiVersion, ClaimKey, Client, Drained, ErrorKind, GroupResource, InstanceId, Join, Kind,
    MemberEpoch, MemberId, MigrationId, ReadOptions, ReportEntry, Revision, SettingsPatch, Stance,
    StatementNumber, StoredIn, Ttl, WorkerName,
};
use synod_tests::free_address;
use tempfile::TempDir;

use crate::program::{Printed, Running, eventually, finish, synod};

/// A cluster. Dropping it kills its processes.
pub(crate) struct Cluster {
    directory: TempDir,
    addresses: Vec<Addresses>,
    /// `None` while the replica is down.
    pub(crate) replicas: Vec<Option<Running>>,
}

#[derive(Clone, Copy)]
struct Addresses {
    client: SocketAddr,
    peer: SocketAddr,
}

impl Cluster {
    /// Starts three replicas and waits until they serve.
    pub(crate) async fn start() -> Self {
        let mut cluster = Self {
            directory: tempfile::tempdir().unwrap(),
            addresses: Vec::from([(); 3].map(|()| Addresses {
                client: free_address(),
                peer: free_address(),
            })),
            replicas: Vec::new(),
        };
        for place in 0..3 {
            let started = cluster.run(place);
            cluster.replicas.push(Some(started));
        }
        for place in 0..3 {
            cluster.serves(place).await;
        }
        // What was written before anybody spoke lands soon, so that no test waits long for it.
        let patch = SettingsPatch {
            write_grace: Some(Duration::from_secs(1)),
            ..SettingsPatch::default()
        };
        let client = cluster.client().await;
        client.update_settings(patch, None).await.unwrap();
        cluster
    }

    /// The line that a replica prints once it serves.
    pub(crate) async fn serves(&mut self, place: usize) -> String {
        let replica = self.replicas[place].as_mut().unwrap();
        replica.line().await.expect("the replica has ended")
    }

    /// Starts a replica that is down.
    pub(crate) async fn restart(&mut self, place: usize) {
        self.replicas[place] = Some(self.run(place));
        self.serves(place).await;
    }

    /// Kills a replica.
    pub(crate) async fn kill(&mut self, place: usize) {
        let mut replica = self.replicas[place].take().unwrap();
        replica.signal(Signal::KILL);
        replica.ended().await;
    }

    /// The arguments that run a replica, which another process can use, too.
    pub(crate) fn words(&self, place: usize) -> Vec<String> {
        let Addresses { client, peer } = self.addresses[place];
        let set = (1..)
            .zip(&self.addresses)
            .map(|(id, addresses)| format!("{id}={}", addresses.peer));
        [
            "serve",
            "--cluster-name=test",
            "--listen-metrics=127.0.0.1:0",
            "--log=error",
            &format!("--replica-id={}", place + 1),
            &format!("--data-dir={}", self.data_dir(place).display()),
            &format!("--listen-client={client}"),
            &format!("--listen-peer={peer}"),
            &format!("--replicas={}", set.collect::<Vec<_>>().join(",")),
        ]
        .map(str::to_owned)
        .to_vec()
    }

    pub(crate) fn data_dir(&self, place: usize) -> PathBuf {
        self.directory.path().join(format!("replica-{}", place + 1))
    }

    pub(crate) fn endpoint(&self, place: usize) -> String {
        self.addresses[place].client.to_string()
    }

    pub(crate) fn endpoints(&self) -> String {
        (0..3)
            .map(|place| self.endpoint(place))
            .collect::<Vec<_>>()
            .join(",")
    }

    /// The id of the leader.
    pub(crate) async fn leader(&self) -> usize {
        let client = self.client().await;
        let asking = async || {
            let status = client.status().await.unwrap();
            status.leader_id.ok_or_else(|| "nobody leads".to_owned())
        };
        usize::try_from(eventually("a leader", asking).await).unwrap() - 1
    }

    /// Runs a command against all replicas.
    pub(crate) async fn ask(&self, words: &[&str]) -> Printed {
        let mut command = synod(words);
        command.env("SYNOD_ENDPOINTS", self.endpoints());
        finish(command).await
    }

    /// Starts a command that runs until it is stopped.
    pub(crate) fn begin(&self, words: &[&str]) -> Running {
        let mut command = synod(words);
        command
            .env("SYNOD_ENDPOINTS", self.endpoints())
            .stderr(Stdio::inherit());
        Running::start(command)
    }

    pub(crate) async fn client(&self) -> Client {
        let endpoints = (0..3).map(|place| self.endpoint(place)).collect();
        Client::builder()
            .endpoints(endpoints)
            .connect()
            .await
            .unwrap()
    }

    fn run(&self, place: usize) -> Running {
        let words = self.words(place);
        Running::start(synod(&words.iter().map(String::as_str).collect::<Vec<_>>()))
    }
}

impl Drop for Cluster {
    /// Keeps the data of a failed test for inspection.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.directory.disable_cleanup(true);
            eprintln!(
                "the data of the replicas are in {}",
                self.directory.path().display()
            );
        }
    }
}

/// An API server as a member, call by call.
pub(crate) struct Server {
    client: Client,
    member: MemberEpoch,
    instance: InstanceId,
}

impl Server {
    /// Joins, with a TTL longer than any test lasts.
    pub(crate) async fn join(client: &Client, id: &str) -> Self {
        let instance = InstanceId::parse("one").unwrap();
        let join = Join {
            id: MemberId::parse(id).unwrap(),
            instance: instance.clone(),
            ttl: Ttl::from_millis(3_600_000).unwrap(),
            labels: synod_client::Labels::default(),
            version: synod_client::BinaryVersion::parse("v1.37.0").unwrap(),
            endpoint: synod_client::Endpoint::parse("https://10.0.0.1:6443").unwrap(),
            lost_epoch: None,
            gated: true,
        };
        let member = join.id.clone();
        let joined = client.send_join(join).await.unwrap();
        let cluster = Some(joined.header.cluster);
        Self {
            client: client.clone(),
            member: MemberEpoch {
                member,
                epoch: joined.epoch,
                cluster,
            },
            instance,
        }
    }

    /// Reports that it encodes this version of a resource, and decodes both versions of its group.
    pub(crate) async fn encodes(&self, resource: &str, encoding: &str) -> Revision {
        self.report(
            resource,
            Stance::Fixed {
                encoding: ApiVersion::parse(encoding).unwrap(),
            },
        )
        .await
    }

    /// Votes for this version of a resource, and decodes both.
    pub(crate) async fn votes(&self, resource: &str, preferred: &str) -> Revision {
        self.report(
            resource,
            Stance::Voting {
                preferred: ApiVersion::parse(preferred).unwrap(),
            },
        )
        .await
    }

    /// Reports that it has adopted the selected version.
    pub(crate) async fn adopts(&self, resource: &str, selected: Revision) {
        self.client
            .send_adopt(&self.member, next_statement(), &named(resource), selected)
            .await
            .unwrap();
    }

    /// Leaves, drained.
    pub(crate) async fn leaves_drained(&self) {
        self.client
            .send_leave(&self.member, &self.instance, true)
            .await
            .unwrap();
    }

    /// Leaves with writes under way: what it encodes drains.
    pub(crate) async fn leaves_undrained(&self) {
        let left = self.client.send_leave(&self.member, &self.instance, false);
        left.await.unwrap();
    }

    async fn report(&self, resource: &str, stance: Stance) -> Revision {
        let group = stance.version().group().to_owned();
        let versions = || {
            let of_group = |version: &str| match group.as_str() {
                "" => version.to_owned(),
                group => format!("{group}/{version}"),
            };
            ["v1", "v2"]
                .map(|version| ApiVersion::parse(&of_group(version)).unwrap())
                .into_iter()
                .collect()
        };
        let entry = ReportEntry {
            resource: named(resource),
            kind: Kind::parse("Widget").unwrap(),
            decodable: versions(),
            served: versions(),
            stance,
            serve_until: None,
            stored: StoredIn::Outside,
            equivalents: BTreeSet::new(),
        };
        let reported = self
            .client
            .send_report(&self.member, next_statement(), vec![entry], false)
            .await
            .unwrap();
        reported.header.revision
    }
}

pub(crate) fn named(resource: &str) -> GroupResource {
    GroupResource::parse_qualified(resource).unwrap()
}

/// Whether a path does not exist.
pub(crate) fn is_untouched(path: &Path) -> bool {
    !path.try_exists().unwrap()
}

/// The number of the next message in these tests; it grows over all senders.
fn next_statement() -> StatementNumber {
    static SAID: AtomicU64 = AtomicU64::new(1);
    StatementNumber::new(SAID.fetch_add(1, Ordering::Relaxed)).unwrap()
}

/// Claims the migration, as soon as nothing can land any more that was written before anybody spoke.
pub(crate) async fn claimed(client: &Client, id: &MigrationId, worker: &WorkerName) -> ClaimKey {
    let claiming = async || {
        let claimed = client.claim_migration(id, worker, Ttl::DEFAULT).await;
        claimed.map_err(|error| {
            assert_eq!(error.kind(), ErrorKind::Draining, "{error}");
            error.to_string()
        })
    };
    let claimed = eventually("a claim", claiming).await;
    ClaimKey {
        id: id.clone(),
        token: claimed.token,
        cluster: claimed.header.cluster,
    }
}

/// Waits until nothing can land any more that was written before anybody spoke of the resource.
pub(crate) async fn landed(client: &Client, resource: &GroupResource) {
    let landing = async || {
        let view = client.storage_version(resource, ReadOptions::linearizable());
        let view = view.await.unwrap();
        let drains = view.storage_state.unwrap().drains;
        let mut unknown = drains.iter().filter(|it| it.encoding == Drained::Unknown);
        match unknown.find(|drain| drain.until > view.log_time) {
            Some(drain) => Err(format!("{drain:?}")),
            None => Ok(()),
        }
    };
    eventually("the writes from before", landing).await;
}
