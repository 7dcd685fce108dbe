//! What can be typed: every command, flag and environment variable.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Synod keeps HA API servers in agreement: who takes part, what each one encodes, and what they have agreed on.
#[derive(Debug, Parser)]
#[command(name = "synod", version, propagate_version = true, disable_help_subcommand = true, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one replica of a cluster.
    Serve(Box<ServeArgs>),
    /// Run three replicas in this process, to try things out. Their data is kept only as long as it runs.
    Dev(DevArgs),
    /// Run the whole path: three replicas, three API servers, a rolling upgrade, and a check of all that happened.
    Demo(DemoArgs),
    /// Show how the cluster does.
    Status(QueryArgs),
    /// Show the members: the API servers that take part.
    Members(MembersArgs),
    /// Show what members encode, decode and vote for, and what they agree on.
    #[command(visible_alias = "sv")]
    StorageVersions(StorageVersionsArgs),
    /// Print every change as it happens, one JSON document a line, until stopped.
    Watch(WatchArgs),
    /// Show or change the replicated settings.
    Settings(SettingsArgs),
    /// Print the storage version hash of a kind, as Kubernetes computes it. Needs no cluster.
    Hash(HashArgs),
}

/// How to reach the cluster.
#[derive(Clone, Debug, Args)]
pub(crate) struct ClientArgs {
    /// Where replicas serve clients, separated by commas.
    #[arg(long, env = "SYNOD_ENDPOINTS", value_delimiter = ',', value_name = "URL")]
    pub(crate) endpoints: Option<Vec<String>>,
    /// How long a command may take, over all tries. As in 500ms, 10s, 2m.
    #[arg(long, env = "SYNOD_TIMEOUT", value_parser = duration, value_name = "TIME")]
    pub(crate) timeout: Option<Duration>,
    /// A TOML file with settings for what is given neither as a flag nor in the environment.
    #[arg(long, env = "SYNOD_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// How to read.
#[derive(Clone, Debug, Args)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct OutputArgs {
    /// In which form to print.
    #[arg(short, long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) output: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns for people.
    Table,
    /// More columns for people.
    Wide,
    /// One JSON document; 64-bit numbers are strings.
    Json,
    /// The same as YAML.
    Yaml,
    /// Only the names, one a line.
    Name,
}

#[derive(Debug, Args)]
pub(crate) struct MembersArgs {
    #[command(subcommand)]
    pub(crate) command: Option<MembersCommand>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MembersCommand {
    /// All members.
    List(QueryArgs),
    /// One member.
    Get {
        /// The member's id.
        id: String,
        #[command(flatten)]
        query: QueryArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct StorageVersionsArgs {
    #[command(subcommand)]
    pub(crate) command: StorageVersionsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StorageVersionsCommand {
    /// All resources that members report.
    List(QueryArgs),
    /// One resource with all of its entries.
    Get {
        /// The resource, as `group.resource`; the core group is written `core`.
        name: String,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// Resources against members: what each one encodes.
    Matrix(QueryArgs),
    /// Exit with 0 if the resources are agreed on, with 8 if not.
    Check {
        /// The resources, as `group.resource`; all that are reported if none is named.
        names: Vec<String>,
        /// Wait until they are agreed on, at most so long.
        #[arg(long, value_parser = duration, value_name = "TIME")]
        wait: Option<Duration>,
        #[command(flatten)]
        query: QueryArgs,
    },
    /// What was agreed on over time.
    History {
        /// The resource, as `group.resource`; the core group is written `core`.
        name: String,
        #[command(flatten)]
        query: QueryArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) client: ClientArgs,
    /// The first revision to print. From now on if it is not given.
    #[arg(long, value_name = "REVISION")]
    pub(crate) from: Option<u64>,
    /// Only objects of these kinds, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND")]
    pub(crate) kinds: Vec<WatchKind>,
    /// Only the objects of these names, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Also print the bookmarks, which say up to which revision everything has been printed.
    #[arg(long)]
    pub(crate) bookmarks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchKind {
    /// Members.
    Member,
    /// Storage versions.
    StorageVersion,
    /// What stays of a resource.
    StorageState,
    /// The replicated settings.
    Settings,
}

#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SettingsCommand>,
    #[command(flatten)]
    pub(crate) query: QueryArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SettingsCommand {
    /// Show them.
    Get(QueryArgs),
    /// Change some of them: `synod settings set write_grace=30s members_max=500`.
    Set {
        /// What to change, as `name=value`.
        #[arg(required = true, value_name = "NAME=VALUE")]
        assignments: Vec<String>,
        /// Only if they were last changed at this revision.
        #[arg(long, value_name = "REVISION")]
        if_revision: Option<u64>,
        #[command(flatten)]
        query: QueryArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct HashArgs {
    /// The API group; '' or core for the core group.
    pub(crate) group: String,
    /// The version in which objects are stored.
    pub(crate) version: String,
    /// The kind, as in Deployment.
    pub(crate) kind: String,
}

/// One replica. A value comes from its flag, else from the environment, else from the TOML file of `--config`, where it
/// has the flag's name with `_` for `-`.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ServeArgs {
    /// The number of this replica in its cluster, at least 1. Never use it again for another data directory.
    #[arg(long, env = "SYNOD_REPLICA_ID", value_name = "NUMBER")]
    pub(crate) replica_id: Option<u64>,
    /// Where to keep the data. Only one process can use it.
    #[arg(long, env = "SYNOD_DATA_DIR", value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The name of the cluster: a replica of another name is refused.
    #[arg(long, env = "SYNOD_CLUSTER_NAME", value_name = "NAME")]
    pub(crate) cluster_name: Option<String>,
    /// Where clients are served.
    #[arg(long, env = "SYNOD_LISTEN_CLIENT", value_name = "ADDRESS")]
    pub(crate) listen_client: Option<String>,
    /// Where the other replicas are served.
    #[arg(long, env = "SYNOD_LISTEN_PEER", value_name = "ADDRESS")]
    pub(crate) listen_peer: Option<String>,
    /// Where metrics are served over HTTP.
    #[arg(long, env = "SYNOD_LISTEN_METRICS", value_name = "ADDRESS")]
    pub(crate) listen_metrics: Option<String>,
    /// Where clients reach this replica, if that is not where it listens.
    #[arg(long, env = "SYNOD_ADVERTISE_CLIENT", value_name = "URL")]
    pub(crate) advertise_client: Option<String>,
    /// The peer addresses of the first replica set, as 1=host:port,2=host:port,3=host:port.
    #[arg(long, env = "SYNOD_REPLICAS", value_name = "LIST")]
    pub(crate) replicas: Option<String>,
    /// Listen on addresses that other hosts can reach, although there is no TLS yet.
    #[arg(long, env = "SYNOD_ALLOW_INSECURE", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) allow_insecure: Option<bool>,
    /// How often the leader is heard of at least.
    #[arg(long, env = "SYNOD_HEARTBEAT_INTERVAL", value_parser = duration, value_name = "TIME")]
    pub(crate) heartbeat_interval: Option<Duration>,
    /// After how much silence of the leader another one is elected, at least.
    #[arg(long, env = "SYNOD_ELECTION_TIMEOUT", value_parser = duration, value_name = "TIME")]
    pub(crate) election_timeout: Option<Duration>,
    /// Which events to log, as in info or synod_server=debug,info.
    #[arg(long, env = "SYNOD_LOG", value_name = "FILTER")]
    pub(crate) log: Option<String>,
    /// In which form to log.
    #[arg(long, env = "SYNOD_LOG_FORMAT", value_enum, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// A TOML file with settings for what is given neither as a flag nor in the environment.
    #[arg(long, env = "SYNOD_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON document a line.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct DevArgs {
    /// The first of the three ports at which clients are served on loopback.
    #[arg(long, default_value_t = 4600, value_name = "PORT")]
    pub(crate) port: u16,
    /// Keep the data here instead of in a temporary directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Plant a violation that the check at the end must find.
    #[arg(long = "break", value_enum, value_name = "VIOLATION")]
    pub(crate) violation: Option<Violation>,
    /// Keep the data and the recordings here, and do not delete them.
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Print plain lines also on a terminal.
    #[arg(long)]
    pub(crate) plain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Violation {
    /// One API server writes the new version before it was selected.
    EncodeEarly,
}

/// A span of time with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "begin with a whole number, as in 500ms, 10s, 2m".to_owned())?;
    let millis = match unit {
        "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        _ => None,
    };
    let millis = millis.ok_or_else(|| format!("\"{unit}\" is no unit of time: use ms, s, m or h"))?;
    number.checked_mul(millis).map(Duration::from_millis).ok_or_else(|| "it is too long".to_owned())
}
