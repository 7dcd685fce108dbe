//! The arguments of `synod observe`.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{ClientArgs, KubeArgs};
use crate::duration;

#[derive(Debug, Args)]
pub(crate) struct ObserveArgs {
    /// Where API servers serve discovery, one URL for each server, as in https://10.0.0.1:6443 [default: each address
    /// that the servers of the kubeconfig's cluster advertise in default/kubernetes].
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    #[command(flatten)]
    pub(crate) kube: KubeArgs,
    /// Look only while holding this lease in the namespace default: of several observers, one looks.
    #[arg(long, value_name = "LEASE")]
    pub(crate) elect: Option<String>,
    /// The name under which to hold the lease [default: synod-observe, the host and the process].
    #[arg(long, requires = "elect", value_name = "NAME")]
    pub(crate) holder: Option<String>,
    /// Where to serve metrics, as in 127.0.0.1:4640 [default: nowhere].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_metrics: Option<SocketAddr>,
    /// How often to look, if not less often than the cluster's discovery_period says, which is the default: 10m unless it
    /// was changed.
    #[arg(long, value_parser = duration::parse_some, value_name = "TIME")]
    pub(crate) period: Option<Duration>,
    /// How long a server may take for one document.
    #[arg(long, value_parser = duration::parse_some, default_value = "10s", value_name = "TIME")]
    pub(crate) server_timeout: Duration,
    /// Look once, and end.
    #[arg(long)]
    pub(crate) once: bool,
    /// In which form to print.
    #[arg(short, long, value_enum, default_value_t = ObserveFormat::Text, value_name = "FORMAT")]
    pub(crate) output: ObserveFormat,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObserveFormat {
    /// A line for each resource of which something is new or not known, and one for each round.
    Text,
    /// One JSON document a round, on a line of its own.
    Json,
}
