//! The arguments of `synod serve` and `synod dev`.

use std::path::PathBuf;

use clap::Args;

/// One replica. A value comes from its flag, else from the environment, else from the TOML file of `--config`, where it
/// has the flag's name with `_` for `-`. All of them are read as texts, so that one rule holds wherever a value stands.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ServeArgs {
    /// The number of this replica in its cluster, at least 1. Never use it again for another data directory.
    #[arg(
        long,
        env = "SYNOD_REPLICA_ID",
        hide_env_values = true,
        value_name = "NUMBER"
    )]
    pub(crate) replica_id: Option<String>,
    /// Where to keep the data. Only one process can use it.
    #[arg(
        long,
        env = "SYNOD_DATA_DIR",
        hide_env_values = true,
        value_name = "DIR"
    )]
    pub(crate) data_dir: Option<String>,
    /// The name of the cluster: replicas of another name are refused [default: synod].
    #[arg(
        long,
        env = "SYNOD_CLUSTER_NAME",
        hide_env_values = true,
        value_name = "NAME"
    )]
    pub(crate) cluster_name: Option<String>,
    /// The peer addresses of the first replica set, this replica's too; as in 1=host:port,2=host:port,3=host:port.
    #[arg(
        long,
        env = "SYNOD_REPLICAS",
        hide_env_values = true,
        value_name = "LIST"
    )]
    pub(crate) replicas: Option<String>,
    /// Form no replica set, and wait until `synod cluster add` adds this replica to one; instead of --replicas.
    #[arg(
        long,
        env = "SYNOD_JOIN",
        hide_env_values = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub(crate) join: Option<String>,
    /// Where clients are served [default: 127.0.0.1:4600].
    #[arg(
        long,
        env = "SYNOD_LISTEN_CLIENT",
        hide_env_values = true,
        value_name = "ADDRESS"
    )]
    pub(crate) listen_client: Option<String>,
    /// Where the other replicas are served [default: 127.0.0.1:4610].
    #[arg(
        long,
        env = "SYNOD_LISTEN_PEER",
        hide_env_values = true,
        value_name = "ADDRESS"
    )]
    pub(crate) listen_peer: Option<String>,
    /// Where metrics (/metrics) and probes (/livez, /readyz) are served over HTTP [default: 127.0.0.1:4620].
    #[arg(
        long,
        env = "SYNOD_LISTEN_METRICS",
        hide_env_values = true,
        value_name = "ADDRESS"
    )]
    pub(crate) listen_metrics: Option<String>,
    /// Where the Kubernetes API is served, for kubectl and other clients of Kubernetes [default: nowhere].
    #[arg(
        long,
        env = "SYNOD_LISTEN_KUBE",
        hide_env_values = true,
        value_name = "ADDRESS"
    )]
    pub(crate) listen_kube: Option<String>,
    /// The file to write a kubeconfig to that points kubectl at --listen-kube. CA and certificate are for you to add.
    #[arg(
        long,
        env = "SYNOD_WRITE_KUBECONFIG",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) write_kubeconfig: Option<String>,
    /// Where clients reach this replica, if that is not where it listens; as in host:port.
    #[arg(
        long,
        env = "SYNOD_ADVERTISE_CLIENT",
        hide_env_values = true,
        value_name = "ADDRESS"
    )]
    pub(crate) advertise_client: Option<String>,
    /// The certificate for the ports of clients and metrics: what goes over them is encrypted then.
    #[arg(
        long,
        env = "SYNOD_CERT_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) cert_file: Option<String>,
    /// The private key of the certificate.
    #[arg(
        long,
        env = "SYNOD_KEY_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) key_file: Option<String>,
    /// The CA bundle that clients' certificates must be signed by. Without it nobody is asked who they are.
    #[arg(
        long,
        env = "SYNOD_TRUSTED_CA_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) trusted_ca_file: Option<String>,
    /// The oldest version of TLS that clients may use: TLS1.2 or TLS1.3 [default: TLS1.3].
    #[arg(
        long,
        env = "SYNOD_TLS_MIN_VERSION",
        hide_env_values = true,
        value_name = "VERSION"
    )]
    pub(crate) tls_min_version: Option<String>,
    /// The CA bundle that the certificates of front proxies must be signed by, as that of Kubernetes' API servers. They are believed
    /// who calls, at the port for the Kubernetes API; needs --requestheader-allowed-names, and another CA than that of clients.
    #[arg(
        long,
        env = "SYNOD_REQUESTHEADER_CLIENT_CA_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) requestheader_client_ca_file: Option<String>,
    /// The common names of the certificates of front proxies, with commas between them.
    #[arg(
        long,
        env = "SYNOD_REQUESTHEADER_ALLOWED_NAMES",
        hide_env_values = true,
        value_name = "NAMES"
    )]
    pub(crate) requestheader_allowed_names: Option<String>,
    /// The headers in which front proxies tell the name of a caller; the first that is there counts [default: X-Remote-User].
    #[arg(
        long,
        env = "SYNOD_REQUESTHEADER_USERNAME_HEADERS",
        hide_env_values = true,
        value_name = "HEADERS"
    )]
    pub(crate) requestheader_username_headers: Option<String>,
    /// The headers in which front proxies tell the groups of a caller [default: X-Remote-Group].
    #[arg(
        long,
        env = "SYNOD_REQUESTHEADER_GROUP_HEADERS",
        hide_env_values = true,
        value_name = "HEADERS"
    )]
    pub(crate) requestheader_group_headers: Option<String>,
    /// What the headers begin with in which front proxies tell more of a caller; they are dropped [default: X-Remote-Extra-].
    #[arg(
        long,
        env = "SYNOD_REQUESTHEADER_EXTRA_HEADERS_PREFIX",
        hide_env_values = true,
        value_name = "PREFIXES"
    )]
    pub(crate) requestheader_extra_headers_prefix: Option<String>,
    /// The certificate that this replica shows to the others, as a server and as a client.
    #[arg(
        long,
        env = "SYNOD_PEER_CERT_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) peer_cert_file: Option<String>,
    /// The private key of that certificate.
    #[arg(
        long,
        env = "SYNOD_PEER_KEY_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) peer_key_file: Option<String>,
    /// The CA bundle that the other replicas' certificates must be signed by.
    #[arg(
        long,
        env = "SYNOD_PEER_TRUSTED_CA_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) peer_trusted_ca_file: Option<String>,
    /// The policy that says what clients may do, and whose tokens are taken. Without it, spiffe://synod/admin, operator, reader
    /// and backup have the roles of their names, and spiffe://synod/member/ID is the member of this id.
    #[arg(
        long,
        env = "SYNOD_POLICY_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) policy_file: Option<String>,
    /// The file to add a line of JSON to for each call that changes something, and for each that is refused for who calls.
    #[arg(
        long,
        env = "SYNOD_AUDIT_LOG",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) audit_log: Option<String>,
    /// The collector that traces of calls are sent to by OTLP over gRPC, as in http://127.0.0.1:4317 or, behind TLS,
    /// https://127.0.0.1:4317; else that of OTEL_EXPORTER_OTLP_ENDPOINT, else no traces are made.
    #[arg(
        long,
        env = "SYNOD_OTLP_ENDPOINT",
        hide_env_values = true,
        value_name = "URL"
    )]
    pub(crate) otlp_endpoint: Option<String>,
    /// The CA bundle that the certificate of a collector behind TLS must be signed by.
    #[arg(
        long,
        env = "SYNOD_OTLP_TRUSTED_CA_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) otlp_trusted_ca_file: Option<String>,
    /// The certificate to show to a collector that asks who calls, with its chain.
    #[arg(
        long,
        env = "SYNOD_OTLP_CERT_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) otlp_cert_file: Option<String>,
    /// The key of --otlp-cert-file.
    #[arg(
        long,
        env = "SYNOD_OTLP_KEY_FILE",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) otlp_key_file: Option<String>,
    /// How many of the calls are traced whose callers do not say whether they are, from 0 to 1 [default: 0].
    #[arg(
        long,
        env = "SYNOD_TRACE_SAMPLING_RATIO",
        hide_env_values = true,
        value_name = "NUMBER"
    )]
    pub(crate) trace_sampling_ratio: Option<String>,
    /// Listen on addresses that other hosts can reach, although nobody is asked who they are.
    #[arg(
        long,
        env = "SYNOD_ALLOW_INSECURE",
        hide_env_values = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL"
    )]
    pub(crate) allow_insecure: Option<String>,
    /// How often the leader is heard of at least [default: 75ms].
    #[arg(
        long,
        env = "SYNOD_HEARTBEAT_INTERVAL",
        hide_env_values = true,
        value_name = "TIME"
    )]
    pub(crate) heartbeat_interval: Option<String>,
    /// After how much silence of the leader another one is elected, at least [default: 250ms].
    #[arg(
        long,
        env = "SYNOD_ELECTION_TIMEOUT",
        hide_env_values = true,
        value_name = "TIME"
    )]
    pub(crate) election_timeout: Option<String>,
    /// Which events to log, as in debug or synod_server=debug,info [default: info,openraft=error].
    #[arg(long, env = "SYNOD_LOG", hide_env_values = true, value_name = "FILTER")]
    pub(crate) log: Option<String>,
    /// In which form to log, on standard error: text or json [default: text].
    #[arg(
        long,
        env = "SYNOD_LOG_FORMAT",
        hide_env_values = true,
        value_name = "FORMAT"
    )]
    pub(crate) log_format: Option<String>,
    /// A TOML file with settings for what is given neither as a flag nor in the environment.
    #[arg(
        long,
        env = "SYNOD_CONFIG",
        hide_env_values = true,
        value_name = "FILE"
    )]
    pub(crate) config: Option<PathBuf>,
}

/// Three replicas in one process.
#[derive(Debug, Args)]
pub(crate) struct DevArgs {
    /// The first of the three ports at which clients are served on loopback; 0 takes free ones. The ports for the
    /// replicas among themselves begin 10 above, those for metrics 20 above, those for the Kubernetes API 30 above.
    #[arg(long, default_value_t = 4600, value_name = "PORT", value_parser = clap::value_parser!(u16).range(..=65_503))]
    pub(crate) port: u16,
    /// Keep the data here instead of in a temporary directory that is deleted at the end.
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The file to write a kubeconfig to that points kubectl at the first replica.
    #[arg(long, value_name = "FILE")]
    pub(crate) write_kubeconfig: Option<PathBuf>,
    /// Which events to log, as in info or synod_server=debug,info.
    #[arg(long, default_value = "error", value_name = "FILTER")]
    pub(crate) log: String,
    /// The collector that traces of all calls are sent to by OTLP over gRPC, as in http://127.0.0.1:4317.
    #[arg(long, value_name = "URL", value_parser = crate::traces::endpoint)]
    pub(crate) otlp_endpoint: Option<String>,
}
