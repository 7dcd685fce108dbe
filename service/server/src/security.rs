//! The transport security of a replica's ports, and the watch over the files that it goes by.

mod proxies;
mod side;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use synod_model::WallTime;
use synod_tls::{
    Acceptor, ClientTls, Connector, Fault, KeyPair, Part, Pem, Refreshed, ServerTls, Validities,
    Versions, have_common_ca,
};

use crate::looking::look_again;
use crate::metrics::SecurityMetrics;
use crate::seams::{Connection, Dial, Offload};
use crate::stop::Stop;
pub use proxies::Proxies;
pub(crate) use side::Side;

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(5);

/// Who replaces a certificate and its key writes two files. So a fault counts only if it is there at two looks.
const LOOKS: u32 = 2;

/// The transport security of a replica. A port without it is open to whoever reaches it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Security {
    /// Of the ports for clients and for metrics.
    pub client: Option<ServerTls>,
    /// Of the port for other replicas, and of calls to them.
    pub peer: Option<PeerTls>,
    /// The front proxies that are believed who calls.
    pub proxies: Proxies,
    /// The file of the policy, which says what callers with a certificate may do; `None`: the built-in policy.
    pub policy: Option<PathBuf>,
    /// The file that it is written to who has called what; `None`: that is written nowhere.
    pub audit: Option<PathBuf>,
}

/// The transport security between replicas. Both ends of a connection show a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerTls {
    /// What this replica shows, as a server and as a client.
    pub own: KeyPair,
    /// The CAs that the other replicas' certificates must be signed by.
    pub trusted_ca: Pem,
}

/// The transport security of a replica as its files were read. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Secured(Arc<SecuredParts>);

#[derive(Default)]
struct SecuredParts {
    security: Security,
    client: Option<Acceptor>,
    peer: Option<(Acceptor, Connector)>,
    faults: Mutex<BTreeMap<Side, Seen>>,
}

/// A fault of a side's files, and at how many looks in a row it was there.
struct Seen {
    fault: Fault,
    looks: u32,
}

impl Security {
    /// Whether callers prove who they are.
    pub(crate) fn knows_clients(&self) -> bool {
        self.ca_of_clients().is_some()
    }

    /// Reads the files.
    ///
    /// # Errors
    ///
    /// The fault of the first file that cannot be used.
    pub(crate) fn load(&self) -> Result<Secured, Fault> {
        self.check_cas()?;
        let client = self.client.clone().map(Acceptor::load).transpose()?;
        let peer = self.peer.as_ref().map(PeerTls::load).transpose()?;
        Ok(Secured(Arc::new(SecuredParts {
            security: self.clone(),
            client,
            peer,
            faults: Mutex::default(),
        })))
    }

    /// Whoever has a certificate of the CA for replicas can pass for one, and of that for front proxies for anybody, so neither
    /// may be the CA of clients.
    fn check_cas(&self) -> Result<(), Fault> {
        let Some(of_clients) = self.ca_of_clients() else {
            return Ok(());
        };
        let of_peers = self.peer.as_ref().map(|peer| &peer.trusted_ca);
        let of_proxies = self.client.as_ref().and_then(|tls| tls.proxy_ca.as_ref());
        let every_client = format!(
            "a CA that {of_clients} has, too, or one that a CA there has signed or was signed by: with it every client could \
             pass for"
        );
        let mut pairs = Vec::new();
        if let Some(of_peers) = of_peers {
            let rule = format!(
                "has {every_client} a replica; let another CA sign the certificates of replicas"
            );
            pairs.push((of_clients, of_peers, rule));
        }
        if let Some(of_proxies) = of_proxies {
            let rule = format!(
                "has {every_client} a front proxy, and speak for anybody; let another CA sign the certificates of front \
                 proxies"
            );
            pairs.push((of_clients, of_proxies, rule));
        }
        if let (Some(of_peers), Some(of_proxies)) = (of_peers, of_proxies) {
            let rule = format!(
                "has a CA that {of_proxies} has, too, or one that a CA there has signed or was signed by: with it every front \
                 proxy could pass for a replica; let another CA sign the certificates of replicas"
            );
            pairs.push((of_proxies, of_peers, rule));
        }
        for (one, other, rule) in pairs {
            if have_common_ca(one, other)? {
                return Err(Fault {
                    part: Part::TrustedCa,
                    place: other.to_string(),
                    rule,
                });
            }
        }
        Ok(())
    }

    /// The side that a fault of [`Self::check_cas`] is of.
    fn side_of(&self, fault: &Fault) -> Side {
        let of_proxies = self.client.as_ref().and_then(|tls| tls.proxy_ca.as_ref());
        let mut of_clients = self.ca_of_clients().into_iter().chain(of_proxies);
        if of_clients.any(|pem| pem.to_string() == fault.place) {
            Side::Client
        } else {
            Side::Peer
        }
    }

    fn ca_of_clients(&self) -> Option<&Pem> {
        self.client.as_ref().and_then(|tls| tls.trusted_ca.as_ref())
    }
}

impl PeerTls {
    fn load(&self) -> Result<(Acceptor, Connector), Fault> {
        let acceptor = Acceptor::load(ServerTls {
            own: self.own.clone(),
            trusted_ca: Some(self.trusted_ca.clone()),
            proxy_ca: None,
            versions: Versions::Tls13,
        })?;
        let connector = Connector::load(ClientTls {
            trusted_ca: self.trusted_ca.clone(),
            own: Some(self.own.clone()),
            server_name: None,
        })?;
        Ok((acceptor, connector))
    }
}

impl Secured {
    /// The serving end of the ports for clients and metrics.
    pub(crate) fn client(&self) -> Option<Acceptor> {
        self.0.client.clone()
    }

    /// The serving end of the port for other replicas.
    pub(crate) fn peer(&self) -> Option<Acceptor> {
        self.0.peer.as_ref().map(|(acceptor, _)| acceptor.clone())
    }

    /// The dialer to other replicas, over `dialer`.
    pub(crate) fn dialer(&self, dialer: Arc<dyn Dial>) -> Arc<dyn Dial> {
        match &self.0.peer {
            Some((_, connector)) => Arc::new(TlsDialer {
                dialer,
                connector: connector.clone(),
            }),
            None => dialer,
        }
    }

    /// Until `stop`: reads the files again whenever they change. A file that cannot be used changes nothing.
    pub(crate) async fn keep_fresh(
        self,
        offload: Offload,
        metrics: Arc<SecurityMetrics>,
        stop: Stop,
    ) {
        if self.0.client.is_none() && self.0.peer.is_none() {
            return;
        }
        let looking = self.clone();
        look_again(
            LOOK,
            offload,
            stop,
            move || looking.look(),
            |seen| {
                for (side, refreshed) in seen {
                    self.note(side, refreshed, &metrics);
                    if let Some(validities) = self.validities(side) {
                        metrics.valid(side, validities);
                    }
                }
            },
        )
        .await;
    }

    /// Reads the files of each side. None is taken into use while a CA is of both sides, or nobody can tell.
    fn look(&self) -> Vec<(Side, Result<Refreshed, Fault>)> {
        let security = &self.0.security;
        if let Err(fault) = security.check_cas() {
            return vec![(security.side_of(&fault), Err(fault))];
        }
        let client = self.0.client.iter();
        let client = client.map(|acceptor| (Side::Client, acceptor.refresh()));
        let peer = self.0.peer.iter().map(|(acceptor, connector)| {
            let refreshed = acceptor.refresh();
            (Side::Peer, connector.refresh().and(refreshed))
        });
        client.chain(peer).collect()
    }

    fn note(&self, side: Side, refreshed: Result<Refreshed, Fault>, metrics: &SecurityMetrics) {
        let mut faults = self.faults();
        match refreshed {
            Ok(refreshed) => {
                faults.remove(&side);
                if refreshed == Refreshed::Anew {
                    tracing::info!(side = side.name(), "new certificates are in use");
                    metrics.renewed(side);
                }
            }
            Err(fault) => {
                let looks = faults.get(&side).map_or(1, |seen| seen.looks + 1);
                if looks == LOOKS {
                    tracing::warn!(side = side.name(), %fault, "new certificates cannot be used; the old ones stay");
                    metrics.not_renewed(side);
                }
                faults.insert(side, Seen { fault, looks });
            }
        }
    }

    /// What an operator must look at, as sentences for people.
    pub(crate) fn alarms(&self, now: WallTime) -> Vec<String> {
        let faults = self.faults();
        let lasting = faults.values().filter(|seen| seen.looks >= LOOKS);
        let faulty = lasting.map(|Seen { fault, .. }| {
            format!(
                "{fault}: what was read before stays in use until it expires; put a file there that can be used, which is \
                 read by itself"
            )
        });
        let now = i64::try_from(now.as_millis() / 1_000).unwrap_or(i64::MAX);
        let sides = Side::ALL.into_iter();
        let all = sides.filter_map(|side| Some((side, self.validities(side)?)));
        let ending = all.flat_map(|(side, validities)| {
            let Validities {
                certificate,
                trusted_ca,
            } = validities;
            let parts = [("certificate", certificate), ("last CA of the bundle", trusted_ca)];
            parts.into_iter().filter_map(move |(part, validity)| {
                let validity = validity.filter(|validity| validity.is_ending(now))?;
                let left = validity.until - now;
                let name = side.name();
                Some(if left <= 0 {
                    format!(
                        "the {part} for {name} connections has expired: replace its file, which is read by itself"
                    )
                } else {
                    format!(
                        "the {part} for {name} connections expires in {} hours: replace its file, which is read by itself",
                        left / 3_600
                    )
                })
            })
        });
        faulty.chain(ending).collect()
    }

    /// How long what is in use on a side is valid.
    fn validities(&self, side: Side) -> Option<Validities> {
        let acceptor = match side {
            Side::Client => self.0.client.as_ref(),
            Side::Peer => self.0.peer.as_ref().map(|(acceptor, _)| acceptor),
        };
        acceptor.map(Acceptor::validities)
    }

    fn faults(&self) -> MutexGuard<'_, BTreeMap<Side, Seen>> {
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connects over another dialer, behind transport security.
struct TlsDialer {
    dialer: Arc<dyn Dial>,
    connector: Connector,
}

impl Dial for TlsDialer {
    fn dial(&self, address: String) -> BoxFuture<'static, std::io::Result<Connection>> {
        let dialing = self.dialer.dial(address.clone());
        let connector = self.connector.clone();
        Box::pin(async move {
            let host = address.rsplit_once(':').map_or(&*address, |(host, _)| host);
            let stream = connector.connect(dialing.await?, host).await?;
            Ok(Connection::new(stream, address))
        })
    }
}
