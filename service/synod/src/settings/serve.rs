//! The settings of `synod serve`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgMatches;
use synod_server::config::{InvalidConfig, Listen, ReplicaConfig};
use synod_server::consensus::ReplicaId;

use super::{Layers, address, replicas, security};
use crate::args::ServeArgs;
use crate::duration;
use crate::failure::Failure;
use crate::traces::{self, Ratio, TraceSettings};

const CLUSTER_NAME: &str = "synod";

/// openraft logs a warning for every try to reach a replica that is down, many times a second.
const LOG: &str = "info,openraft=error";

/// All settings of `synod serve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServeSettings {
    /// The configuration of the replica.
    pub(crate) replica: ReplicaConfig,
    /// The filter of logged events.
    pub(crate) log: String,
    /// The form of log lines.
    pub(crate) log_format: LogFormat,
    /// Where traces go.
    pub(crate) traces: TraceSettings,
    /// The file to write a kubeconfig to.
    pub(crate) kubeconfig: Option<PathBuf>,
}

/// The form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON document a line.
    Json,
}

impl ServeSettings {
    /// # Errors
    ///
    /// Every setting that is invalid, by itself or together with the others. Nothing was touched then.
    pub(crate) fn load(args: &ServeArgs, matches: &ArgMatches) -> Result<Self, Failure> {
        let mut layers = Layers::open(matches, args.config.as_deref())?;
        let replica = replica(&mut layers);
        let log = layers.given_or("log", log_filter, LOG.to_owned());
        let log_format = layers.given_or("log_format", log_format, LogFormat::Text);
        let traces = TraceSettings {
            endpoint: layers.given("otlp_endpoint", traces::endpoint),
            ratio: layers.given("trace_sampling_ratio", Ratio::parse),
            tls: security::of_collector(&mut layers),
        };
        let kubeconfig = layers.given("write_kubeconfig", file);
        if kubeconfig.is_some() && replica.as_ref().is_some_and(|it| it.listen.kube.is_none()) {
            let rule = "needs listen_kube: there is nothing for kubectl to point at";
            layers.fault("write_kubeconfig", rule);
        }
        // A value that is invalid by itself is missing or has its default by now, so a check of it together with the
        // others would be wrong.
        if layers.is_sound()
            && let Some(replica) = &replica
        {
            check(replica, &mut layers);
        }
        layers.check()?;
        let missing = || {
            Failure::local(
                "a required setting is missing",
                "report this: it is a fault of synod",
            )
        };
        Ok(Self {
            replica: replica.ok_or_else(missing)?,
            log,
            log_format,
            traces,
            kubeconfig,
        })
    }
}

/// The configuration of the replica; `None` if a required setting is missing or invalid, which was reported then.
fn replica(layers: &mut Layers<'_>) -> Option<ReplicaConfig> {
    let on_loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let id = layers.required("replica_id", replicas::replica_id);
    let data_dir = layers.required("data_dir", data_dir);
    let joins = layers.given_or("join", yes_or_no, false);
    let set = if joins {
        first_set_of_none(layers)
    } else {
        layers.required("replicas", replicas::parse)
    };
    let cluster_name = layers.given_or("cluster_name", cluster_name, CLUSTER_NAME.to_owned());
    let listen = Listen {
        client: layers.given_or("listen_client", address::listen, on_loopback(4600)),
        peer: layers.given_or("listen_peer", address::listen, on_loopback(4610)),
        metrics: Some(layers.given_or("listen_metrics", address::listen, on_loopback(4620))),
        kube: layers.given("listen_kube", address::listen),
    };
    let advertise = layers.given("advertise_client", address::reachable);
    let security = security::of_replica(layers);
    let allow_insecure = layers.given_or("allow_insecure", yes_or_no, false);
    let heartbeat = layers.given("heartbeat_interval", duration::parse_some);
    let election = layers.given("election_timeout", duration::parse_some);

    let set: BTreeMap<ReplicaId, String> = set?
        .into_iter()
        .map(|(id, address)| (ReplicaId::new(id), address))
        .collect();
    let mut replica = ReplicaConfig::new(ReplicaId::new(id?), cluster_name, data_dir?, listen, set);
    replica.advertise_client = advertise;
    replica.security = security;
    replica.allow_insecure = allow_insecure;
    if let Some(heartbeat) = heartbeat {
        replica.heartbeat = heartbeat;
    }
    if let Some(shortest) = election {
        replica.election_timeout = (shortest, longest(shortest));
    }
    Some(replica)
}

/// The first set of a replica that forms none.
fn first_set_of_none(layers: &mut Layers<'_>) -> Option<BTreeMap<u64, String>> {
    if layers.given("replicas", replicas::parse).is_some() {
        let rule = "must be left out with join: a replica that joins is told the set by the leader";
        layers.fault("replicas", rule);
    }
    Some(BTreeMap::new())
}

/// The longest election timeout: so far from the shortest that two replicas seldom time out together.
fn longest(shortest: Duration) -> Duration {
    shortest.saturating_mul(9) / 5
}

/// Adds the faults of values that are valid only by themselves.
fn check(replica: &ReplicaConfig, layers: &mut Layers<'_>) {
    if let Err(InvalidConfig(faults)) = replica.check() {
        for fault in &faults {
            layers.fault(key(&fault.field), &fault.rule);
        }
    }
    let listen = &replica.listen;
    let doors = [
        ("listen_client", Some(listen.client)),
        ("listen_peer", Some(listen.peer)),
        ("listen_metrics", listen.metrics),
        ("listen_kube", listen.kube),
    ];
    for (place, (key, door)) in doors.into_iter().enumerate() {
        let is_taken = doors[..place].iter().any(|(_, other)| *other == door);
        if is_taken && door.is_some_and(|door| door.port() != 0) {
            layers.fault(
                key,
                "this replica serves something else at this address already",
            );
        }
    }
    if listen.client.ip().is_unspecified() && replica.advertise_client.is_none() {
        let rule = "clients cannot be sent to this address: say where they reach this replica with --advertise-client";
        layers.fault("listen_client", rule);
    }
}

/// The setting that a field of the replica's configuration comes from.
fn key(field: &str) -> &str {
    match field {
        "replica" => "replica_id",
        "listen.client" => "listen_client",
        "listen.peer" => "listen_peer",
        "listen.metrics" => "listen_metrics",
        "listen.kube" => "listen_kube",
        "heartbeat" => "heartbeat_interval",
        same => same,
    }
}

fn data_dir(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("must name a directory".to_owned());
    }
    Ok(PathBuf::from(text))
}

fn file(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() {
        return Err("must name a file".to_owned());
    }
    Ok(PathBuf::from(text))
}

/// Parses the name of a cluster.
///
/// # Errors
///
/// The text says what the name should look like.
pub(crate) fn cluster_name(text: &str) -> Result<String, String> {
    synod_model::dns1123_subdomain(text).map_err(|rule| rule.to_string())?;
    Ok(text.to_owned())
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

fn log_filter(text: &str) -> Result<String, String> {
    crate::logging::check(text)?;
    Ok(text.to_owned())
}

fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("must be text or json".to_owned()),
    }
}
