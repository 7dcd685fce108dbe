//! The arguments of `synod observe`.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use synod_client::MemberId;

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
    /// The name of this observer, for clusters in which several look at different servers: what each server showed last is kept
    /// until this observer reaches it again.
    #[arg(long, value_name = "NAME")]
    pub(crate) observer: Option<String>,
    /// A member of the cluster, and the URL of the API server that it is, which is looked at, too: what such servers showed
    /// ends once they have all reported something else.
    #[arg(
        long = "member",
        requires = "observer",
        conflicts_with = "dismiss",
        value_parser = member_at,
        value_name = "MEMBER=URL"
    )]
    pub(crate) members: Vec<MemberAt>,
    /// Look at nothing, and end what looks have shown of these resources, as of a server that is gone: it drains. With
    /// --observer, only what this observer has seen.
    #[arg(
        long,
        num_args = 1..,
        conflicts_with_all = ["urls", "elect", "once", "period", "listen_metrics"],
        value_name = "RESOURCE"
    )]
    pub(crate) dismiss: Vec<String>,
    /// With --dismiss: only what this server has shown.
    #[arg(long, requires = "dismiss", value_name = "URL")]
    pub(crate) server: Option<String>,
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

/// A member, and the URL of the API server that it is.
#[derive(Clone, Debug)]
pub(crate) struct MemberAt {
    pub(crate) member: MemberId,
    pub(crate) url: String,
}

fn member_at(text: &str) -> Result<MemberAt, String> {
    let parts = text.split_once('=');
    let (member, url) = parts.ok_or("must be MEMBER=URL, as in api-1=https://10.0.0.1:6443")?;
    Ok(MemberAt {
        member: MemberId::parse(member).map_err(|fault| format!("{member}: {fault}"))?,
        url: url.to_owned(),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObserveFormat {
    /// A line for each resource of which something is new or not known, and one for each round.
    Text,
    /// One JSON document a round, on a line of its own.
    Json,
}
