//! The three replicas: starts and kills their processes, and shows their state.

use std::time::Duration;

use synod_client::Client;
use tokio::time::sleep;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::patience::until;
use super::processes::Process;
use super::records::Deed;
use super::run::{LIMIT, Run, Stuck};
use super::stage::{ReplicaState, Stage};

/// The ids of the replicas.
pub(crate) const REPLICAS: [u64; 3] = [1, 2, 3];

/// Three replicas as processes.
#[derive(Debug)]
pub(crate) struct Cluster {
    replicas: Vec<Replica>,
}

#[derive(Debug)]
struct Replica {
    id: u64,
    /// The ports for clients, for peers and for metrics.
    ports: [u16; 3],
    /// `None` while the replica is down.
    process: Option<Process>,
}

impl Cluster {
    /// Starts the replicas, with three of `ports` for each, and waits until all of them serve.
    ///
    /// # Errors
    ///
    /// A replica cannot be started, or does not serve in time.
    pub(crate) async fn start(run: &Run, ports: &[u16]) -> Result<Self, Stuck> {
        let replicas = REPLICAS.into_iter().zip(ports.chunks_exact(3));
        let replicas = replicas.map(|(id, ports)| Replica {
            id,
            ports: [ports[0], ports[1], ports[2]],
            process: None,
        });
        let mut cluster = Self {
            replicas: replicas.collect(),
        };
        for id in REPLICAS {
            cluster.launch(run, id)?;
        }
        for id in REPLICAS {
            cluster.serving(run, id).await?;
        }
        Ok(cluster)
    }

    /// The client addresses of all replicas.
    pub(crate) fn endpoints(&self) -> Vec<String> {
        self.replicas.iter().map(Replica::endpoint).collect()
    }

    /// The client address of one replica.
    pub(crate) fn endpoint(&self, id: u64) -> String {
        self.replica(id).endpoint()
    }

    /// Kills the leader, and returns its id.
    ///
    /// # Errors
    ///
    /// There is no leader in time, or it cannot be killed.
    pub(crate) async fn kill_leader(&mut self, run: &Run, client: &Client) -> Result<u64, Stuck> {
        let asking = || async {
            let status = client.status().await.map_err(|error| error.to_string())?;
            status.leader_id.ok_or_else(|| "nobody leads".to_owned())
        };
        let id = until("a leader that the replicas know", LIMIT, asking).await?;
        let name = self.replica(id).name();
        if let Some(process) = self.replica_mut(id).process.take() {
            process.kill().await?;
        }
        run.did(Deed::Killed, &name, "leader")?;
        Ok(id)
    }

    /// Starts a replica that is down, on its own data, and waits until it serves.
    ///
    /// # Errors
    ///
    /// The replica cannot be started, or does not serve in time.
    pub(crate) async fn start_again(&mut self, run: &Run, id: u64) -> Result<(), Stuck> {
        self.launch(run, id)?;
        self.serving(run, id).await
    }

    /// The replica that has ended by itself, if there is one.
    pub(crate) fn deserter(&mut self) -> Option<Stuck> {
        let processes = self
            .replicas
            .iter_mut()
            .filter_map(|replica| replica.process.as_mut());
        deserter(processes)
    }

    fn launch(&mut self, run: &Run, id: u64) -> Result<(), Stuck> {
        let peers = self
            .replicas
            .iter()
            .map(|replica| format!("{}=127.0.0.1:{}", replica.id, replica.ports[1]));
        let peers: Vec<String> = peers.collect();
        let replica = self.replica_mut(id);
        let [client, peer, metrics] = replica.ports;
        let arguments = [
            "serve".to_owned(),
            "--cluster-name=demo".to_owned(),
            format!("--replica-id={id}"),
            format!("--data-dir={}", run.argument(format!("data-{id}"))),
            format!("--listen-client=127.0.0.1:{client}"),
            format!("--listen-peer=127.0.0.1:{peer}"),
            format!("--listen-metrics=127.0.0.1:{metrics}"),
            format!("--replicas={}", peers.join(",")),
        ];
        replica.process = Some(run.launcher.start(&replica.name(), &arguments)?);
        Ok(())
    }

    /// Waits until the health service of a replica says that it serves.
    async fn serving(&mut self, run: &Run, id: u64) -> Result<(), Stuck> {
        let endpoint = self.endpoint(id);
        let name = self.replica(id).name();
        let what = format!("{name} at {endpoint} serving, as its health says");
        let waited = until(what, LIMIT, || {
            let deserter = self.deserter();
            let asking = serves(endpoint.clone());
            async move {
                match deserter {
                    Some(deserter) => Ok(Err(deserter)),
                    None => asking.await.map(Ok),
                }
            }
        });
        let late = |late| {
            Stuck::new(format!(
                "{late}; see {}",
                run.argument(format!("{name}.log"))
            ))
        };
        waited.await.map_err(late)??;
        run.did(Deed::Started, &name, "replica")
    }

    fn replica(&self, id: u64) -> &Replica {
        self.replicas
            .iter()
            .find(|replica| replica.id == id)
            .expect("the replica set is fixed")
    }

    fn replica_mut(&mut self, id: u64) -> &mut Replica {
        self.replicas
            .iter_mut()
            .find(|replica| replica.id == id)
            .expect("the replica set is fixed")
    }
}

impl Replica {
    fn name(&self) -> String {
        format!("replica-{}", self.id)
    }

    fn endpoint(&self) -> String {
        format!("127.0.0.1:{}", self.ports[0])
    }
}

/// The process that has ended by itself, if there is one.
pub(crate) fn deserter<'a>(processes: impl Iterator<Item = &'a mut Process>) -> Option<Stuck> {
    let mut ended = processes.filter_map(|process| {
        let ended = process.ended()?;
        Some(Stuck::deserted(process, &ended))
    });
    ended.next()
}

/// Asks the health service of a replica.
async fn serves(endpoint: String) -> Result<(), String> {
    let endpoint =
        Endpoint::from_shared(format!("http://{endpoint}")).map_err(|error| error.to_string())?;
    let channel = endpoint.timeout(Duration::from_secs(1)).connect().await;
    let mut health = HealthClient::new(channel.map_err(|_| "nobody listens there".to_owned())?);
    let answer = health.check(HealthCheckRequest::default()).await;
    let answer = answer
        .map_err(|status| status.message().to_owned())?
        .into_inner();
    match answer.status() {
        ServingStatus::Serving => Ok(()),
        ServingStatus::Unknown | ServingStatus::NotServing | ServingStatus::ServiceUnknown => {
            Err("it is up and does not serve yet".to_owned())
        }
    }
}

/// How often each replica is asked for its status.
const STATUS_PERIOD: Duration = Duration::from_millis(250);

/// Shows the state of the replicas, for as long as it is polled.
pub(crate) async fn show_replicas(client: Client, stage: Stage) {
    let client = client.with_timeout(STATUS_PERIOD);
    loop {
        for (id, endpoint) in REPLICAS.into_iter().zip(client.endpoints()) {
            let state = match client.status_of(&endpoint).await {
                Err(_) => ReplicaState::Down,
                Ok(status) => {
                    let revision = status.header.revision.get();
                    if status.leader_id == Some(id) {
                        ReplicaState::Leads { revision }
                    } else {
                        ReplicaState::Follows { revision }
                    }
                }
            };
            stage.change(|shown| {
                shown.replicas.insert(id, state);
            });
        }
        sleep(STATUS_PERIOD).await;
    }
}
