//! The arguments of `synod migrate`.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{ClientArgs, KubeArgs, NewArg};
use crate::duration;

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Work at the migrations of these resources alone, as `resource.group`; of the core group as `resource` alone
    /// [default: of all that the API server serves].
    #[arg(value_name = "RESOURCE")]
    pub(crate) resources: Vec<String>,
    #[command(flatten)]
    pub(crate) new: NewArg,
    #[command(flatten)]
    pub(crate) kube: KubeArgs,
    /// The URL of the API server, in place of the one that the kubeconfig names; as whom to call, and whose certificates
    /// count, it says still.
    #[arg(long, value_name = "URL")]
    pub(crate) kube_server: Option<String>,
    /// How long the API server may take for one answer.
    #[arg(long, value_parser = duration::parse_some, default_value = "30s", value_name = "TIME")]
    pub(crate) server_timeout: Duration,
    /// How many objects to rewrite in a second at most [default: as many as the API server takes].
    #[arg(long, value_name = "COUNT")]
    pub(crate) objects_per_second: Option<NonZeroU32>,
    /// How many bytes of objects to rewrite in a second at most [default: as many as the API server takes].
    #[arg(long, value_name = "COUNT")]
    pub(crate) bytes_per_second: Option<NonZeroU32>,
    /// How many objects to rewrite at the same time.
    #[arg(long, default_value = "4", value_name = "COUNT")]
    pub(crate) objects_at_once: NonZeroUsize,
    /// How many objects to list at a time. Halved by itself where objects are so large that a page is too long.
    #[arg(long, default_value = "500", value_name = "COUNT")]
    pub(crate) page_size: NonZeroU32,
    /// After a migration of a custom resource, say in its definition that objects are stored in the one version alone.
    #[arg(long)]
    pub(crate) trim_stored_versions: bool,
    /// How long the API server may not serve a resource that is named before its migration is given up.
    #[arg(long, value_parser = duration::parse_some, default_value = "60s", value_name = "TIME")]
    pub(crate) unserved_after: Duration,
    /// End once no migration waits for a worker any more.
    #[arg(long)]
    pub(crate) once: bool,
    /// Count what would be rewritten, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The name under which to claim migrations, for people [default: synod-migrate, the host and the process].
    #[arg(long, value_name = "NAME")]
    pub(crate) worker: Option<String>,
    /// Where to serve metrics, as in 127.0.0.1:4640 [default: nowhere].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen_metrics: Option<SocketAddr>,
    /// In which form to print [default: text on a terminal, else json].
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    pub(crate) output: Option<MigrateFormat>,
    #[command(flatten)]
    pub(crate) client: ClientArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MigrateFormat {
    /// A line for each event, and on a terminal a bar for the migration that goes on.
    Text,
    /// One JSON document an event, on a line of its own.
    Json,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  synod migrate                          works at all that waits, until it is stopped
  synod migrate --dry-run                counts what would be rewritten
  synod migrate --once --kube-context prod widgets.example.com --trim-stored-versions
  synod migrate --objects-per-second 50 --listen-metrics 127.0.0.1:4640
  synod migrate -o json | jq -c 'select(.ended)'

It needs to get, list and update the resources, and with --trim-stored-versions to get
customresourcedefinitions and to update their status. A kubeconfig may have tokens, files of tokens,
certificates, exec plugins that need no person, and a proxy; HTTPS_PROXY and NO_PROXY count, too.
With --once it ends with 0 if nothing was given up, else with 1; with --once and --dry-run it ends
with 8 if the API server does not serve a resource that is named. Metrics are those of
kube-storage-version-migrator: storage_migrator_core_migrator_migrated_objects, _remaining_objects
and _migrations.";
