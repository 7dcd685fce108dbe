//! `synod dev`: three replicas in one process, to try things out.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use futures::future::{join_all, select_all};
use synod_client::{ErrorKind, Violation};
use synod_server::config::{Listen, ReplicaConfig};
use synod_server::consensus::ReplicaId;
use synod_server::replica::{Doors, Replica};
use synod_server::seams::Seams;
use tempfile::TempDir;

use crate::args::DevArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::LogFormat;
use crate::signals::Signals;
use crate::traces::{Ratio, TraceSettings, Traces};
use crate::{kubeconfig, logging, serve, traces};

const REPLICAS: u16 = 3;
const CLUSTER_NAME: &str = "dev";
/// How far the ports for peers, for metrics and for the Kubernetes API are above the ports for clients.
const PEER_PORTS: u16 = 10;
const METRICS_PORTS: u16 = 20;
const KUBE_PORTS: u16 = 30;

/// Runs the replicas until a signal asks to end.
pub(crate) async fn run(args: &DevArgs) -> Result<Exit, Failure> {
    let data = Data::new(args)?;
    let logging = logging::start(&args.log, LogFormat::Text)?;
    tokio::spawn(logging.held_back().tell());
    let settings = TraceSettings {
        endpoint: args.otlp_endpoint.clone(),
        ratio: Some(Ratio::ALL),
        tls: None,
    };
    let traces = traces::start(&settings, Vec::new())?;
    let mut signals = Signals::listen()?;
    let mut doors = Vec::new();
    for number in 0..REPLICAS {
        doors.push(serve::open(&listen(args.port, number)).await?);
    }
    let first = doors.first().and_then(|doors| doors.kube_address.as_ref());
    if let (Some(file), Some(address)) = (&args.write_kubeconfig, first) {
        kubeconfig::write(file, address, false)?;
    }
    let greeting = greeting(&data, &doors);
    let mut replicas = tokio::select! {
        biased;
        _ = signals.next() => return Ok(Exit::Ok),
        started = start(&data, args.port, serve::seams(&logging, traces.as_ref()), doors) => started?,
    };
    let serving: Vec<_> = replicas.iter().map(Replica::serving).collect();
    let announced = async {
        join_all(serving).await;
        serve::announce(greeting);
        std::future::pending::<()>().await;
    };
    let ended = select_all(replicas.iter_mut().map(|replica| Box::pin(replica.wait())));
    tokio::select! {
        biased;
        _ = signals.next() => {}
        (ended, ..) = ended => return Err(serve::cannot_go_on(&ended)),
        () = announced => {}
    }
    logging.ending().begin();
    tokio::select! {
        biased;
        signal = signals.next() => Err(serve::at_once(signal)),
        () = shut_down(replicas, traces) => Ok(Exit::Ok),
    }
}

async fn shut_down(replicas: Vec<Replica>, traces: Option<Traces>) {
    join_all(replicas.into_iter().map(Replica::shutdown)).await;
    if let Some(traces) = traces {
        traces.end().await;
    }
}

/// The directory of the data.
enum Data {
    /// A temporary directory, which is deleted at the end.
    Temporary(TempDir),
    /// A directory that stays.
    Kept(PathBuf),
}

impl Data {
    fn new(args: &DevArgs) -> Result<Self, Failure> {
        match &args.data_dir {
            Some(_) if args.port == 0 => {
                let rule = "the replicas remember where they reach each other, so with --data-dir give a port that stays";
                let fault = Violation::invalid_number(0, rule).at("--port");
                Err(
                    Failure::of(ErrorKind::InvalidArgument, "these settings cannot be used")
                        .with_violations(vec![fault]),
                )
            }
            Some(directory) => Ok(Self::Kept(directory.clone())),
            None => {
                let made = tempfile::Builder::new().prefix("synod-dev-").tempdir();
                made.map(Self::Temporary).map_err(|error| {
                    let message = format!("a temporary directory cannot be made: {error}");
                    Failure::local(message, "name one with --data-dir")
                })
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Temporary(directory) => directory.path(),
            Self::Kept(directory) => directory,
        }
    }

    /// What happens to the directory at the end.
    fn fate(&self) -> &'static str {
        match self {
            Self::Temporary(_) => "deleted at the end",
            Self::Kept(_) => "kept",
        }
    }
}

/// The addresses of a replica, which is counted from 0. With port 0 the system chooses free ones.
fn listen(first: u16, number: u16) -> Listen {
    let at = |above: u16| {
        let port = if first == 0 {
            0
        } else {
            first + above + number
        };
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    };
    Listen {
        client: at(0),
        peer: at(PEER_PORTS),
        metrics: Some(at(METRICS_PORTS)),
        kube: Some(at(KUBE_PORTS)),
    }
}

async fn start(
    data: &Data,
    port: u16,
    seams: Seams,
    doors: Vec<Doors>,
) -> Result<Vec<Replica>, Failure> {
    let ids = || (1..).map(ReplicaId::new);
    let peers = doors.iter().map(|doors| doors.peer_address.clone());
    let set: BTreeMap<ReplicaId, String> = ids().zip(peers).collect();
    let mut replicas = Vec::new();
    for ((id, doors), number) in ids().zip(doors).zip(0..) {
        let directory = data.path().join(format!("replica-{id}"));
        let listen = listen(port, number);
        let config =
            ReplicaConfig::new(id, CLUSTER_NAME.to_owned(), directory, listen, set.clone());
        replicas.push(serve::start(config, seams.clone(), doors).await?);
    }
    Ok(replicas)
}

/// The text that is printed once all replicas serve.
fn greeting(data: &Data, doors: &[Doors]) -> String {
    let endpoints: Vec<&str> = doors
        .iter()
        .map(|doors| doors.client_address.as_str())
        .collect();
    let metrics = doors
        .iter()
        .filter_map(|doors| doors.metrics_address.as_ref());
    let metrics: Vec<String> = metrics
        .map(|address| format!("http://{address}/metrics"))
        .collect();
    let endpoints = endpoints.join(",");
    let kube = doors.iter().filter_map(|doors| doors.kube_address.as_ref());
    let kube: Vec<String> = kube.map(|address| format!("http://{address}")).collect();
    let first = kube.first().map(String::as_str).unwrap_or_default();
    format!(
        "Three replicas serve.\n\
         \n\
         \x20 endpoints   {endpoints}\n\
         \x20 metrics     {}\n\
         \x20 kubernetes  {}\n\
         \x20 data        {} ({})\n\
         \n\
         Try, in another terminal:\n\
         \n\
         \x20 export SYNOD_ENDPOINTS={endpoints}\n\
         \x20 synod status\n\
         \x20 synod members\n\
         \x20 synod storage-versions matrix\n\
         \x20 synod watch --from 1\n\
         \x20 synod settings set write_grace=30s\n\
         \x20 kubectl --server {first} api-resources\n\
         \n\
         Ctrl-C ends it.\n",
        metrics.join(" "),
        kube.join(" "),
        data.path().display(),
        data.fate(),
    )
}
