//! `synod serve`: runs one replica until a signal asks it to end, or it cannot go on.

use std::sync::Arc;

use clap::ArgMatches;
use opentelemetry::KeyValue;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use synod_server::config::{Listen, ReplicaConfig};
use synod_server::consensus::Fatal;
use synod_server::replica::{Doors, Ended, Replica};
use synod_server::seams::Seams;
use synod_store::RealDisk;

use crate::args::ServeArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::logging::Logging;
use crate::settings::ServeSettings;
use crate::signals::Signals;
use crate::traces::Traces;
use crate::{kubeconfig, logging, output, supervisor, traces};

/// Runs a replica. Faults in the settings are reported before anything is touched.
pub(crate) fn run(args: &ServeArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let settings = ServeSettings::load(args, matches)?;
    let logging = logging::start(&settings.log, settings.log_format)?;
    raise_open_files();
    let runtime = crate::many_threads()?;
    runtime.spawn(logging.held_back().tell());
    let ended = runtime.block_on(serve(&settings, &logging));
    // Tasks that have not ended in time are not waited for: all that was acknowledged is on disk.
    runtime.shutdown_background();
    ended
}

/// Raises the limit of open files to the maximum that the process is allowed: each connection needs one, and most
/// systems allow fewer at first than a replica has places for.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::info!(%error, ?limit, "the number of open files stays as it is");
    }
}

async fn serve(settings: &ServeSettings, logging: &Logging) -> Result<Exit, Failure> {
    let config = settings.replica.clone();
    let mut signals = Signals::listen()?;
    let traces = traces::start(&settings.traces, named(&config))?;
    let doors = open(&config.listen).await?;
    if let (Some(file), Some(address)) = (&settings.kubeconfig, &doors.kube_address) {
        kubeconfig::write(file, address, config.security.client.is_some())?;
    }
    let line = line(&config, &doors);
    let mut replica = tokio::select! {
        biased;
        // Nothing was acknowledged yet, so no orderly shutdown is needed.
        _ = signals.next() => return Ok(Exit::Ok),
        started = start(config, seams(logging, traces.as_ref()), doors) => started?,
    };
    supervisor::ready();
    let serving = replica.serving();
    let announced = async {
        serving.await;
        supervisor::serving();
        announce(line);
        std::future::pending::<()>().await;
    };
    let signal = tokio::select! {
        biased;
        signal = signals.next() => signal,
        ended = replica.wait() => return Err(cannot_go_on(&ended)),
        () = announced => return Ok(Exit::Ok),
        () = supervisor::live() => return Ok(Exit::Ok),
    };
    tracing::info!(signal, "asked to end");
    supervisor::ending();
    logging.ending().begin();
    tokio::select! {
        biased;
        signal = signals.next() => Err(at_once(signal)),
        () = ended(replica, traces) => Ok(Exit::Ok),
    }
}

async fn ended(replica: Replica, traces: Option<Traces>) {
    replica.shutdown().await;
    if let Some(traces) = traces {
        traces.end().await;
    }
}

/// What tells a replica from other programs in traces.
fn named(config: &ReplicaConfig) -> Vec<KeyValue> {
    vec![
        KeyValue::new("service.namespace", config.cluster_name.clone()),
        KeyValue::new("service.instance.id", config.replica.to_string()),
    ]
}

/// The seams of a replica of this process.
pub(crate) fn seams(logging: &Logging, traces: Option<&Traces>) -> Seams {
    Seams {
        log: Arc::new(logging.switch()),
        traces: traces.map(Traces::seam),
        ..Seams::real(Arc::new(RealDisk))
    }
}

/// Prints a line from a thread of its own. A reader that does not read neither ends nor blocks the replica.
pub(crate) fn announce(line: String) {
    // A thread of the runtime would be waited for at its end.
    std::thread::spawn(move || output::print(&line));
}

/// Opens the listeners of a replica, before any of its files are touched.
pub(crate) async fn open(listen: &Listen) -> Result<Doors, Failure> {
    Doors::open(listen).await.map_err(|error| {
        Failure::local(
            error.to_string(),
            "choose addresses of this host that nobody else listens on",
        )
    })
}

/// Starts a replica on its open listeners.
pub(crate) async fn start(
    config: ReplicaConfig,
    seams: Seams,
    doors: Doors,
) -> Result<Replica, Failure> {
    let id = config.replica;
    let started = Replica::start(config, seams, doors).await;
    let mut replica = started.map_err(|error| {
        let message = format!("replica {id} cannot start: {error}");
        Failure::local(
            message,
            "mend what is named above; nothing was taken from the files of the replica",
        )
    })?;
    replica.attach(synod_kube::serve);
    Ok(replica)
}

/// The line that is printed once a replica serves.
fn line(config: &ReplicaConfig, doors: &Doors) -> String {
    let kube = doors.kube_address.as_deref();
    let kube = kube.map(|address| format!(" kube={address}"));
    format!(
        "serving cluster={} replica={} client={} peer={} metrics={}{}\n",
        config.cluster_name,
        config.replica,
        doors.client_address,
        doors.peer_address,
        doors.metrics_address.as_deref().unwrap_or("-"),
        kube.unwrap_or_default(),
    )
}

/// The failure of a replica that has ended by itself.
pub(crate) fn cannot_go_on(ended: &Ended) -> Failure {
    if let Ended::Fatal(Fatal::Left { .. }) = ended {
        let advice = "do not start it again: nobody gets its number again";
        return Failure::local(ended.to_string(), advice).with_exit(Exit::Left);
    }
    Failure::local(
        ended.to_string(),
        "keep its files and look at the log above; the other replicas go on without it",
    )
}

/// The failure after a second signal, which ends the process at once.
pub(crate) fn at_once(signal: &str) -> Failure {
    Failure::local(
        format!("ended at once by a second {signal}"),
        "nothing that was acknowledged is lost: start it again",
    )
}
