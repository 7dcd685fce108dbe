//! Tests of the layers alone. The environment belongs to a process, so it is tested with the real program.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::{CommandFactory as _, FromArgMatches as _};
use synod_server::config::ReplicaConfig;
use tempfile::TempDir;

use super::*;
use crate::args::{Cli, Command};
use crate::exit::Exit;
use crate::traces::{Ratio, TraceSettings};

/// The settings that a replica requires.
const SERVE: &str = "serve --replica-id 1 --data-dir data --replicas 1=a:1,2=b:1,3=c:1";

/// A file of settings in a directory of its own.
struct Written {
    directory: TempDir,
}

impl Written {
    fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("synod.toml"), text).unwrap();
        Self { directory }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("synod.toml")
    }

    /// The text without the directory's name, which differs each time.
    fn without_directory(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.directory.path().display()), "")
    }
}

fn serve(typed: &str) -> Result<ServeSettings, Failure> {
    let matches = Cli::command()
        .try_get_matches_from(format!("synod {typed}").split(' '))
        .unwrap();
    let cli = Cli::from_arg_matches(&matches).unwrap();
    let Command::Serve(args) = cli.command else {
        panic!("{typed} does not serve")
    };
    ServeSettings::load(&args, crate::innermost(&matches))
}

fn client(typed: &str) -> Result<ClientSettings, Failure> {
    let matches = Cli::command()
        .try_get_matches_from(format!("synod {typed}").split(' '))
        .unwrap();
    let cli = Cli::from_arg_matches(&matches).unwrap();
    let Command::Status(args) = cli.command else {
        panic!("{typed} asks no status")
    };
    ClientSettings::read(args.client.config.as_deref(), crate::innermost(&matches))
}

/// The lines of a failure that name faults.
fn faults(result: Result<ServeSettings, Failure>) -> Vec<String> {
    let failure = result.unwrap_err();
    assert_eq!(failure.exit(), Exit::Usage);
    let text = failure.to_string();
    text.lines()
        .filter_map(|line| line.strip_prefix("  "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn what_is_not_given_has_its_default() {
    let ServeSettings {
        replica,
        log,
        log_format,
        traces,
        kubeconfig,
    } = serve(SERVE).unwrap();
    assert_eq!((replica.listen.kube, kubeconfig), (None, None));
    assert_eq!(
        (log.as_str(), log_format),
        ("info,openraft=error", LogFormat::Text)
    );
    assert_eq!(traces, TraceSettings::default());
    assert_eq!(replica.cluster_name, "synod");
    assert_eq!(replica.listen.client.to_string(), "127.0.0.1:4600");
    assert_eq!(replica.listen.peer.to_string(), "127.0.0.1:4610");
    assert_eq!(
        replica
            .listen
            .metrics
            .map(|address| address.to_string())
            .as_deref(),
        Some("127.0.0.1:4620")
    );
    assert_eq!(replica.heartbeat, Duration::from_millis(75));
    assert_eq!(replica.election_timeout.0, Duration::from_millis(250));
    assert!(!replica.allow_insecure);
    let settings = client("status").unwrap();
    assert_eq!(settings.endpoints, ["127.0.0.1:4600"]);
    assert_eq!(settings.timeout, Duration::from_secs(10));
}

#[test]
fn a_flag_goes_before_the_file() {
    let file = Written::new(
        r#"
        replica_id = 2
        data_dir = "from-file"
        cluster_name = "prod"
        replicas = ["1=a:1", "2=b:1", "3=c:1"]
        listen_client = "127.0.0.1:5600"
        listen_kube = "127.0.0.1:5630"
        write_kubeconfig = "dev.kubeconfig"
        heartbeat_interval = "100ms"
        log_format = "json"
        otlp_endpoint = "http://collector:4317"
        trace_sampling_ratio = "0.25"
        "#,
    );
    let typed = format!(
        "serve --config {} --data-dir typed --log debug",
        file.path().display()
    );
    let ServeSettings {
        replica,
        log,
        log_format,
        traces,
        kubeconfig,
    } = serve(&typed).unwrap();
    let ReplicaConfig {
        data_dir,
        cluster_name,
        listen,
        heartbeat,
        ..
    } = replica;
    assert_eq!(replica.replica.get(), 2);
    assert_eq!(
        (data_dir, cluster_name.as_str()),
        (PathBuf::from("typed"), "prod")
    );
    assert_eq!(listen.client.port(), 5600);
    assert_eq!(listen.kube.map(|address| address.port()), Some(5630));
    assert_eq!(kubeconfig, Some(PathBuf::from("dev.kubeconfig")));
    let ratio = Ratio::parse("0.25").ok();
    let endpoint = Some("http://collector:4317".to_owned());
    let tls = None;
    assert_eq!(
        traces,
        TraceSettings {
            endpoint,
            ratio,
            tls
        }
    );
    assert_eq!(
        (heartbeat, log.as_str(), log_format),
        (Duration::from_millis(100), "debug", LogFormat::Json)
    );
}

#[test]
fn one_file_serves_replicas_and_commands() {
    let file = Written::new("endpoints = [\"a:1\", \"b:2\"]\ntimeout = \"3s\"\nreplica_id = 1\n");
    let settings = client(&format!("status --config {}", file.path().display())).unwrap();
    assert_eq!(settings.endpoints, ["a:1", "b:2"]);
    assert_eq!(settings.timeout, Duration::from_secs(3));
    let typed = format!("status --config {} --endpoints c:3", file.path().display());
    assert_eq!(client(&typed).unwrap().endpoints, ["c:3"]);
}

#[test]
fn every_fault_is_told_at_once_with_its_place() {
    let file = Written::new(
        "replica_id = 0\ncluster_nam = \"x\"\n\nlisten_peer = 4610\nheartbeat_interval = 0.5\n",
    );
    let typed = format!(
        "serve --config {} --replicas 1=a:1,2 --log-format xml",
        file.path().display()
    );
    let mut found = String::new();
    for fault in faults(serve(&typed)) {
        writeln!(found, "{}", file.without_directory(&fault)).unwrap();
    }
    let known = KEYS.join(", ");
    let expected = [
        &format!("synod.toml:2: cluster_nam: no setting has this name; there are: {known}"),
        "synod.toml:1: replica_id: Invalid value: \"0\": \"0\" is no number of a replica: give a whole number, at least 1",
        "data_dir: Required value: give --data-dir, SYNOD_DATA_DIR, or data_dir in the file of --config",
        "--replicas: Invalid value: \"1=a:1,2\": item 2, \"2\": must be id=host:port, as in 1=10.0.0.1:4610",
        "synod.toml:4: listen_peer: Invalid value: \"4610\": must be an IP address and a port, as in 127.0.0.1:4600 or [::1]:4600",
        "synod.toml:5: heartbeat_interval: Invalid value: a float: give a text, a whole number, true, false, or a list of texts",
        "--log-format: Invalid value: \"xml\": must be text or json",
    ];
    assert_eq!(found.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn values_that_contradict_each_other_are_told_with_their_places() {
    let typed = "serve --replica-id 4 --data-dir data --replicas 1=a:1,2=b:1,3=c:1 --listen-peer 127.0.0.1:4600 \
                 --heartbeat-interval 200ms";
    let found = faults(serve(typed));
    let expected = [
        "--replica-id: Invalid value: 4: must be one of the replicas",
        "election_timeout: Invalid value: \"250ms\": must be at least twice the heartbeat",
        "--listen-peer: this replica serves something else at this address already",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (fault, expected) in found.iter().zip(expected) {
        assert!(fault.starts_with(expected), "{fault}");
    }
}

#[test]
fn a_kubeconfig_is_written_only_where_kubectl_is_served() {
    let found = faults(serve(&format!("{SERVE} --write-kubeconfig x")));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].contains("needs listen_kube"), "{found:#?}");
    let taken = format!("{SERVE} --listen-kube 127.0.0.1:4600 --write-kubeconfig x");
    let found = faults(serve(&taken));
    assert!(found[0].starts_with("--listen-kube: "), "{found:#?}");
    let open = faults(serve(&format!("{SERVE} --listen-kube 10.0.0.1:4630")));
    assert!(open[0].contains("must be a loopback address"), "{open:#?}");
}

#[test]
fn other_hosts_are_let_in_only_by_who_says_so() {
    let open = format!("{SERVE} --listen-client 0.0.0.0:4600 --listen-metrics 10.0.0.1:4620");
    let found = faults(serve(&open));
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].starts_with(
        "--listen-client: Invalid value: \"0.0.0.0:4600\": must be a loopback address"
    ));
    assert!(found[1].starts_with("--listen-metrics: "));
    assert!(found[2].contains("with --advertise-client"));

    let allowed = format!("{open} --advertise-client synod-1.example.com:4600");
    let replica = serve(&format!("{allowed} --allow-insecure"))
        .unwrap()
        .replica;
    assert!(replica.allow_insecure);
    assert_eq!(
        replica.advertise_client.as_deref(),
        Some("synod-1.example.com:4600")
    );
    assert!(serve(&format!("{allowed} --allow-insecure=false")).is_err());
    assert!(
        faults(serve(&format!("{allowed} --allow-insecure=maybe")))[0]
            .ends_with("must be true or false")
    );
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let failure = serve("serve --config nowhere/synod.toml").unwrap_err();
    assert_eq!(failure.exit(), Exit::Usage);
    let text = failure.to_string();
    assert!(
        text.starts_with("error: the settings file nowhere/synod.toml cannot be read: "),
        "{text}"
    );
}

#[test]
fn a_file_that_is_no_toml_is_told_where() {
    let file = Written::new("replica_id = 1\ndata_dir = \n");
    let failure = serve(&format!("serve --config {}", file.path().display())).unwrap_err();
    let text = file.without_directory(&failure.to_string());
    assert!(
        text.starts_with("error: synod.toml:2: this is no TOML: "),
        "{text}"
    );
}

const WITH_CONTEXTS: &str = r#"
timeout = "7s"
current_context = "prod"

[contexts.prod]
endpoints = ["a:1", "b:1"]
timeout = "3s"

[contexts.test]
endpoints = "c:1"
"#;

#[test]
fn a_context_goes_before_what_the_file_has_for_all_and_flags_before_it() {
    let file = Written::new(WITH_CONTEXTS);
    let of = |typed: &str| {
        let settings = client(&format!("status --config {}{typed}", file.path().display()));
        let ClientSettings {
            endpoints, timeout, ..
        } = settings.unwrap();
        (endpoints.join(","), timeout.as_secs())
    };
    assert_eq!(of(""), ("a:1,b:1".to_owned(), 3));
    assert_eq!(of(" --context test"), ("c:1".to_owned(), 7));
    assert_eq!(of(" --endpoints d:1"), ("d:1".to_owned(), 3));
}

#[test]
fn a_context_that_is_not_there_is_refused_beside_those_that_are() {
    let file = Written::new(WITH_CONTEXTS);
    let asked = format!("status --config {} --context prd", file.path().display());
    let text = client(&asked).unwrap_err().to_string();
    assert!(
        text.contains("--context: no context has the name \"prd\"; there are: prod, test"),
        "{text}"
    );
    let text = client("status --context prod").unwrap_err().to_string();
    assert!(
        text.contains("there are none; `synod config set-context`"),
        "{text}"
    );
}

#[test]
fn a_context_holds_what_reaches_a_cluster_and_nothing_else() {
    let file = Written::new("[contexts.a]\nendpoints = \"a:1\"\ndata_dir = \"x\"\n");
    let asked = format!("status --config {}", file.path().display());
    let text = file.without_directory(&client(&asked).unwrap_err().to_string());
    assert!(
        text.contains("synod.toml:3: data_dir: no setting has this name"),
        "{text}"
    );
}
