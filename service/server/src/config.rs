//! The configuration of one replica: every value with its bounds, all checked before any file or socket is opened.

mod shown;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use synod_model::{Settings, Violation, Violations, dns1123_subdomain};

use crate::consensus::{ConsensusConfig, ReplicaId};
use crate::limits::REPLICAS_MAX;
use crate::security::Security;

/// The shortest and the longest heartbeat interval that may be set.
pub const HEARTBEAT: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(10));

/// The longest election timeout. A cluster without a leader for longer needs an operator.
pub const ELECTION_TIMEOUT_MAX: Duration = Duration::from_secs(60);

/// The fewest and the most entries after which a checkpoint may be set to be written.
pub const CHECKPOINT_ENTRIES: (u64, u64) = (10, 10_000_000);

/// The fewest and the most log entries that may be set to be kept behind a checkpoint. At least one: with an empty log,
/// openraft does not find out that a follower needs a checkpoint.
pub const KEPT_ENTRIES: (u64, u64) = (1, 10_000_000);

/// The configuration of one replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaConfig {
    /// The replica's id; at least 1, never used again for another data directory.
    pub replica: ReplicaId,
    /// The name of the cluster: a DNS-1123 subdomain. Replicas of differently named clusters refuse each other.
    pub cluster_name: String,
    /// The data directory, with the log and the checkpoints.
    pub data_dir: PathBuf,
    /// The addresses that the replica listens on.
    pub listen: Listen,
    /// The address at which clients reach this replica, as `host:port`; `None`: the address that it listens on.
    pub advertise_client: Option<String>,
    /// The first replica set, this replica included: for each the address of its peer port, as `host:port`. Empty: this
    /// replica forms no set, and waits until it is added to one.
    pub replicas: BTreeMap<ReplicaId, String>,
    /// The transport security of the ports.
    pub security: Security,
    /// Whether to listen on addresses that are not loopback without knowing who calls, although anybody who reaches them
    /// can read and change everything.
    pub allow_insecure: bool,
    /// The interval at which a leader sends heartbeats.
    pub heartbeat: Duration,
    /// The shortest and the longest time without a leader after which a follower stands for election.
    pub election_timeout: (Duration, Duration),
    /// A checkpoint is written after this many log entries, or sooner if they take many bytes.
    pub checkpoint_entries: u64,
    /// The number of log entries already covered by checkpoints that are kept for replicas slightly behind; a replica
    /// further behind gets a checkpoint.
    pub kept_entries: u64,
    /// The settings of a newly formed cluster.
    pub first_settings: Settings,
}

/// The addresses that a replica listens on. Port 0 takes any free port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen {
    /// The port for clients.
    pub client: SocketAddr,
    /// The port for other replicas.
    pub peer: SocketAddr,
    /// The port for `GET /metrics`; `None`: metrics are not served.
    pub metrics: Option<SocketAddr>,
    /// The port for clients of the Kubernetes API; `None`: it is not served.
    pub kube: Option<SocketAddr>,
}

/// A configuration that cannot be used, with every fault by the name of its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidConfig(pub Violations);

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the configuration cannot be used: {}", self.0)
    }
}

impl std::error::Error for InvalidConfig {}

impl ReplicaConfig {
    /// A configuration with the default timing.
    #[must_use]
    pub fn new(
        replica: ReplicaId,
        cluster_name: String,
        data_dir: PathBuf,
        listen: Listen,
        replicas: BTreeMap<ReplicaId, String>,
    ) -> Self {
        let usual = ConsensusConfig::new(PathBuf::new(), replica, String::new());
        Self {
            replica,
            cluster_name,
            data_dir,
            listen,
            advertise_client: None,
            replicas,
            security: Security::default(),
            allow_insecure: false,
            heartbeat: usual.heartbeat,
            election_timeout: (usual.election_timeout_min, usual.election_timeout_max),
            checkpoint_entries: usual.checkpoint_entries,
            kept_entries: usual.kept_entries,
            first_settings: Settings::default(),
        }
    }

    /// Checks every value, by itself and against the others.
    ///
    /// # Errors
    ///
    /// [`InvalidConfig`] with every fault.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        let mut found = Violations::new();
        if let Err(rule) = dns1123_subdomain(&self.cluster_name) {
            found.push(Violation::invalid(&self.cluster_name, rule).at("cluster_name"));
        }
        self.check_replicas(&mut found);
        self.check_listen(&mut found);
        self.check_timing(&mut found);
        self.check_checkpoints(&mut found);
        found.extend_at("first_settings", self.first_settings.check());
        if found.is_empty() {
            Ok(())
        } else {
            Err(InvalidConfig(found))
        }
    }

    fn check_replicas(&self, found: &mut Violations) {
        if self.replicas.len() > REPLICAS_MAX {
            found.push(Violation::too_many(self.replicas.len(), REPLICAS_MAX).at("replicas"));
        }
        if !self.replicas.is_empty() && !self.replicas.contains_key(&self.replica) {
            let rule = "must be one of the replicas: give its own peer address, too";
            found.push(Violation::invalid_number(self.replica.get(), rule).at("replica"));
        }
        for (id, address) in &self.replicas {
            if id.get() == 0 {
                found.push(Violation::invalid_number(0, "must be at least 1").at("replicas"));
            }
            check_address(address, "replicas", found);
            if self
                .replicas
                .iter()
                .any(|(other, same)| other < id && same == address)
            {
                found.push(Violation::duplicate(address).at("replicas"));
            }
        }
        if let Some(address) = &self.advertise_client {
            check_address(address, "advertise_client", found);
        }
    }

    fn check_listen(&self, found: &mut Violations) {
        if let Some(policy) = &self.security.policy
            && !self.security.knows_clients()
        {
            let rule =
                "needs a CA for clients (trusted_ca_file): without one nobody proves who calls";
            found.push(Violation::invalid(&policy.display().to_string(), rule).at("policy_file"));
        }
        let peer = &self.security.peer;
        let knows_clients = self.security.knows_clients();
        let of_clients = "must be a loopback address: without a certificate, a key and a CA for clients (cert_file, key_file, \
                          trusted_ca_file) anybody could read and change everything, which only allow_insecure allows";
        let of_peers = "must be a loopback address: without a certificate, a key and a CA for replicas (peer_cert_file, \
                        peer_key_file, peer_trusted_ca_file) anybody could pass for a replica, which only allow_insecure \
                        allows";
        let doors = [
            (
                "listen.client",
                Some(self.listen.client),
                knows_clients,
                of_clients,
            ),
            (
                "listen.peer",
                Some(self.listen.peer),
                peer.is_some(),
                of_peers,
            ),
            (
                "listen.metrics",
                self.listen.metrics,
                knows_clients,
                of_clients,
            ),
            ("listen.kube", self.listen.kube, knows_clients, of_clients),
        ];
        for (field, address, knows_callers, rule) in doors {
            let open = address.filter(|address| !address.ip().is_loopback());
            if let Some(address) = open
                && !knows_callers
                && !self.allow_insecure
            {
                found.push(Violation::invalid(&address.to_string(), rule).at(field));
            }
        }
    }

    fn check_timing(&self, found: &mut Violations) {
        let (shortest, longest) = self.election_timeout;
        let (least, most) = HEARTBEAT;
        if !(least..=most).contains(&self.heartbeat) {
            let rule = format_args!("must be between {least:?} and {most:?}");
            found.push(Violation::invalid(&format!("{:?}", self.heartbeat), rule).at("heartbeat"));
        }
        if shortest < self.heartbeat.saturating_mul(2) {
            let rule =
                "must be at least twice the heartbeat: a single late one would depose the leader";
            found.push(Violation::invalid(&format!("{shortest:?}"), rule).at("election_timeout"));
        }
        if longest <= shortest || longest > ELECTION_TIMEOUT_MAX {
            let rule = format_args!(
                "must be longer than the shortest one, and at most {ELECTION_TIMEOUT_MAX:?}"
            );
            found.push(Violation::invalid(&format!("{longest:?}"), rule).at("election_timeout"));
        }
    }

    fn check_checkpoints(&self, found: &mut Violations) {
        let counts = [
            (
                "checkpoint_entries",
                self.checkpoint_entries,
                CHECKPOINT_ENTRIES,
            ),
            ("kept_entries", self.kept_entries, KEPT_ENTRIES),
        ];
        for (field, count, (least, most)) in counts {
            if !(least..=most).contains(&count) {
                let rule = format_args!("must be between {least} and {most}");
                found.push(Violation::invalid_number(count, rule).at(field));
            }
        }
    }

    /// The part of the configuration that consensus takes.
    pub(crate) fn consensus(&self) -> ConsensusConfig {
        let usual = ConsensusConfig::new(
            self.data_dir.clone(),
            self.replica,
            self.cluster_name.clone(),
        );
        ConsensusConfig {
            heartbeat: self.heartbeat,
            election_timeout_min: self.election_timeout.0,
            election_timeout_max: self.election_timeout.1,
            checkpoint_entries: self.checkpoint_entries,
            kept_entries: self.kept_entries,
            ..usual
        }
    }
}

fn check_address(address: &str, field: &str, found: &mut Violations) {
    let port = address
        .rsplit_once(':')
        .filter(|(host, _)| !host.is_empty())
        .map(|(_, port)| port);
    if port
        .and_then(|port| port.parse::<u16>().ok())
        .is_none_or(|port| port == 0)
    {
        found.push(
            Violation::invalid(address, "must be host:port, with a port from 1 to 65535").at(field),
        );
    }
}

#[cfg(test)]
mod tests {
    use synod_tls::{KeyPair, Pem, ServerTls, Versions};

    use super::*;
    use crate::security::PeerTls;

    fn config() -> ReplicaConfig {
        let loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let listen = Listen {
            client: loopback(0),
            peer: loopback(0),
            metrics: Some(loopback(0)),
            kube: None,
        };
        let replicas = (1..=3)
            .map(|id| (ReplicaId::new(id), format!("127.0.0.1:460{id}")))
            .collect();
        ReplicaConfig::new(
            ReplicaId::new(1),
            "test".to_owned(),
            PathBuf::from("data"),
            listen,
            replicas,
        )
    }

    /// The fields that [`ReplicaConfig::check`] faults after a change.
    fn faults(change: impl FnOnce(&mut ReplicaConfig)) -> Vec<String> {
        let mut config = config();
        change(&mut config);
        match config.check() {
            Ok(()) => Vec::new(),
            Err(InvalidConfig(found)) => found
                .iter()
                .map(|violation| violation.field.clone())
                .collect(),
        }
    }

    #[test]
    fn the_usual_configuration_is_sound() {
        assert_eq!(faults(|_| {}), Vec::<String>::new());
    }

    #[test]
    fn every_fault_is_found_at_once_and_named() {
        let found = faults(|config| {
            config.cluster_name = "Not A Name".to_owned();
            config.replica = ReplicaId::new(7);
            config
                .replicas
                .insert(ReplicaId::new(2), "127.0.0.1:4601".to_owned());
            config
                .replicas
                .insert(ReplicaId::new(3), "nowhere".to_owned());
            config.listen.metrics = Some(SocketAddr::from(([10, 0, 0, 1], 80)));
            config.listen.kube = Some(SocketAddr::from(([10, 0, 0, 1], 81)));
            config.election_timeout.1 = config.election_timeout.0;
            config.checkpoint_entries = 0;
            config.kept_entries = 0;
            config.first_settings.sessions_max = 0;
        });
        assert_eq!(
            found,
            [
                "cluster_name",
                "replica",
                "replicas",
                "replicas",
                "listen.metrics",
                "listen.kube",
                "election_timeout",
                "checkpoint_entries",
                "kept_entries",
                "first_settings.sessionsMax",
            ]
        );
    }

    #[test]
    fn others_are_let_in_only_by_who_says_so() {
        let everywhere = SocketAddr::from(([0, 0, 0, 0], 4600));
        assert_eq!(
            faults(|config| config.listen.client = everywhere),
            ["listen.client"]
        );
        let allowed = faults(|config| {
            config.listen.client = everywhere;
            config.allow_insecure = true;
        });
        assert!(allowed.is_empty());
    }

    // Guarantee: N-11, TM-03
    #[test]
    fn others_are_let_in_where_it_is_known_who_they_are() {
        let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let pem = |name: &str| Pem::File(PathBuf::from(name));
        let own = KeyPair {
            certificate: pem("certificate"),
            key: pem("key"),
        };
        let of_clients = |trusted_ca| ServerTls {
            own: own.clone(),
            trusted_ca,
            proxy_ca: None,
            versions: Versions::default(),
        };
        let open = |config: &mut ReplicaConfig, client| {
            config.listen.client = everywhere;
            config.listen.peer = everywhere;
            config.listen.metrics = Some(everywhere);
            config.security.client = Some(client);
        };
        let encrypted = faults(|config| open(config, of_clients(None)));
        assert_eq!(
            encrypted,
            ["listen.client", "listen.peer", "listen.metrics"]
        );
        let clients_known = faults(|config| open(config, of_clients(Some(pem("ca")))));
        assert_eq!(clients_known, ["listen.peer"]);
        let all_known = faults(|config| {
            open(config, of_clients(Some(pem("ca"))));
            config.security.peer = Some(PeerTls {
                own: own.clone(),
                trusted_ca: pem("ca"),
            });
        });
        assert!(all_known.is_empty(), "{all_known:?}");
    }

    #[test]
    fn a_policy_is_of_use_only_where_it_is_known_who_calls() {
        let file = Some(PathBuf::from("policy.toml"));
        assert_eq!(
            faults(|config| config.security.policy = file),
            ["policy_file"]
        );
    }

    #[test]
    fn timing_that_would_depose_a_healthy_leader_is_refused() {
        assert_eq!(
            faults(|config| config.heartbeat = config.election_timeout.0),
            ["election_timeout"]
        );
        assert_eq!(
            faults(|config| config.heartbeat = Duration::from_millis(1)),
            ["heartbeat"]
        );
    }
}
