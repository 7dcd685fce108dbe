//! The endpoints that a client was given, and those of replicas that came later, with a channel to each.

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use synod_model::Violations;
use synod_model::{ErrorKind, Violation};
use tonic::transport::Endpoint;

use super::failure::LeaderHint;
use super::following::{Followed, Looks};
use super::{Credential, ReplicaChannel, Roads};
use crate::Error;
use crate::seams::Seams;

/// The schemes of endpoints: without and with transport security.
const HTTP: &str = "http://";
const HTTPS: &str = "https://";

/// The most endpoints that were not given: as many as a replica set has.
const FOLLOWED_MAX: usize = 9;

/// One channel to each endpoint, and the one to begin with.
///
/// An endpoint keeps its place for as long as the client lives, so a place can be kept, too. The given ones come first; behind
/// them are those of replicas that the cluster names (see [`super::following`]).
pub(crate) struct Endpoints {
    list: RwLock<Vec<Arc<Reached>>>,
    given: usize,
    /// The endpoint that answered last.
    preferred: AtomicUsize,
    wiring: Wiring,
    roads: Roads,
    looks: Looks,
    credential: Option<Credential>,
}

/// An endpoint and the channel to it. The channel connects when it is first used, and again after it was lost.
struct Reached {
    text: String,
    channel: ReplicaChannel,
    /// The id of the replica that answered there last; zero before the first answer.
    replica_id: AtomicU64,
}

/// The settings of connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wiring {
    pub(crate) connect_timeout: Duration,
    pub(crate) keepalive: Keepalive,
}

/// Probes that find a connection whose peer is gone: without them, a client waits for ever after a dropped route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keepalive {
    /// The time between probes.
    pub(crate) interval: Duration,
    /// How long to wait for the answer to a probe.
    pub(crate) timeout: Duration,
}

impl Endpoints {
    /// Channels to these endpoints, given as `host:port`, or as URLs with the scheme that is used. Nothing is connected
    /// yet.
    ///
    /// # Errors
    ///
    /// No endpoint was given, or some are no addresses; all of these are named at once.
    pub(crate) fn new(
        texts: &[String],
        wiring: Wiring,
        roads: Roads,
        credential: Option<Credential>,
        seams: &Seams,
    ) -> Result<Self, Error> {
        let mut found = Violations::new();
        if texts.is_empty() {
            found.push(Violation::required("must name at least one replica").at("endpoints"));
        }
        let list: Vec<Arc<Reached>> = texts
            .iter()
            .enumerate()
            .filter_map(|(i, text)| {
                let reached = Reached::new(text, wiring, &roads, credential.as_ref());
                let reached = reached.map(Arc::new);
                found.parsed(format_args!("endpoints[{i}]"), reached)
            })
            .collect();
        if !found.is_empty() {
            return Err(Error::invalid(found));
        }
        // A random first endpoint, so that clients that start together do not all begin with the same replica.
        let first = (seams.randomness.next() % list.len() as u64) as usize;
        Ok(Self {
            given: list.len(),
            list: RwLock::new(list),
            preferred: AtomicUsize::new(first),
            wiring,
            roads,
            looks: Looks::new(),
            credential,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.list().len()
    }

    /// The endpoints: those that were given, as they were given, then those of other replicas.
    pub(crate) fn texts(&self) -> Vec<String> {
        let list = self.list();
        list.iter().map(|reached| reached.text.clone()).collect()
    }

    /// The index of an endpoint.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        self.list().iter().position(|known| known.text == text)
    }

    pub(crate) fn preferred(&self) -> usize {
        self.preferred.load(Ordering::Relaxed) % self.len()
    }

    /// The index after `place`, in turn, for a caller that has lost the replica at `place`.
    pub(crate) fn after(self: &Arc<Self>, place: usize) -> usize {
        self.failed();
        (place + 1) % self.len()
    }

    pub(crate) fn channel(&self, place: usize) -> ReplicaChannel {
        self.reached(place).channel.clone()
    }

    pub(crate) fn text(&self, place: usize) -> String {
        self.reached(place).text.clone()
    }

    /// The number of the token that a call shows now; 0 without one.
    pub(crate) fn token(&self) -> u64 {
        self.credential.as_ref().map_or(0, Credential::generation)
    }

    /// Whether there is another token than that of this number, which a replica has refused. So the call is worth another try.
    pub(crate) async fn has_another_token(&self, refused: u64) -> bool {
        match &self.credential {
            Some(credential) => credential.is_another_than(refused).await,
            None => false,
        }
    }

    /// Records that the replica at `place` answered: the next call begins with it.
    pub(crate) fn answered(self: &Arc<Self>, place: usize, replica_id: Option<u64>) {
        self.preferred.store(place, Ordering::Relaxed);
        if let Some(id) = replica_id {
            self.reached(place).replica_id.store(id, Ordering::Relaxed);
        }
        self.looks.after_answer(self);
    }

    /// Records that a replica did not answer: perhaps there are others by now.
    pub(crate) fn failed(self: &Arc<Self>) {
        self.looks.after_failure(self);
    }

    /// The index of the leader's endpoint, if this client knows it. Other addresses are not dialed for a hint, which an
    /// error carries: the status of the cluster says which replicas there are.
    pub(super) fn hinted(&self, hint: &LeaderHint) -> Option<usize> {
        let list = self.list();
        let by_id = hint.id.and_then(|id| {
            let mut known = list.iter();
            known.position(|reached| reached.replica_id.load(Ordering::Relaxed) == id)
        });
        by_id.or_else(|| {
            let wanted = authority(hint.endpoint.as_deref()?);
            list.iter()
                .position(|reached| authority(&reached.text) == wanted)
        })
    }

    fn list(&self) -> RwLockReadGuard<'_, Vec<Arc<Reached>>> {
        self.list.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn reached(&self, place: usize) -> Arc<Reached> {
        let list = self.list();
        Arc::clone(&list[place % list.len()])
    }
}

impl Followed for Endpoints {
    fn preferred(&self) -> usize {
        self.preferred()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn channel(&self, place: usize) -> ReplicaChannel {
        self.channel(place)
    }

    fn prefer(&self, place: usize) {
        self.preferred.store(place % self.len(), Ordering::Relaxed);
    }

    /// Takes over where the replicas of the set serve clients. An endpoint that was not given goes, when its replica has left
    /// the set and another one needs its place.
    fn follow(&self, set: &[(u64, String)]) {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let is_known = |list: &[Arc<Reached>], id: u64, address: &str| {
            // A given one may be reached by another address than it announces; one that moved is followed.
            list.iter().enumerate().any(|(place, reached)| {
                authority(&reached.text) == authority(address)
                    || (place < self.given && reached.replica_id.load(Ordering::Relaxed) == id)
            })
        };
        for (id, address) in set {
            if is_known(&list, *id, address) {
                continue;
            }
            let credential = self.credential.as_ref();
            let Ok(reached) = Reached::new(address, self.wiring, &self.roads, credential) else {
                tracing::debug!(address, "a replica names an address that cannot be called");
                continue;
            };
            let is_in_set = |reached: &Reached| {
                let mut addresses = set.iter().map(|(_, address)| authority(address));
                addresses.any(|address| address == authority(&reached.text))
            };
            let free = (self.given..list.len()).find(|place| !is_in_set(&list[*place]));
            tracing::info!(replica = id, address, "following a replica that was added");
            match free {
                Some(place) => list[place] = Arc::new(reached),
                None if list.len() < self.given + FOLLOWED_MAX => list.push(Arc::new(reached)),
                None => {}
            }
        }
    }

    fn looked(&self) {
        self.looks.ended();
    }
}

impl fmt::Debug for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.texts()).finish()
    }
}

impl Reached {
    fn new(
        text: &str,
        wiring: Wiring,
        roads: &Roads,
        credential: Option<&Credential>,
    ) -> Result<Self, Violation> {
        check_scheme(text, roads)?;
        if credential.is_some() && !roads.are_secure() && !is_on_this_host(text) {
            let rule = "is another host, where a token is not sent unencrypted: give the CA that replicas' certificates are \
                        signed by";
            return Err(Violation::invalid(text, rule));
        }
        let scheme = if roads.are_secure() { HTTPS } else { HTTP };
        let endpoint = Endpoint::from_shared(format!("{scheme}{}", authority(text)));
        let endpoint = endpoint.ok().filter(|endpoint| {
            let uri = endpoint.uri();
            uri.port_u16().is_some() && uri.path() == "/"
        });
        let Some(endpoint) = endpoint else {
            let rule = "must be host:port, http://host:port or https://host:port";
            return Err(Violation::invalid(text, rule));
        };
        let endpoint = endpoint
            .connect_timeout(wiring.connect_timeout)
            .http2_keep_alive_interval(wiring.keepalive.interval)
            .keep_alive_timeout(wiring.keepalive.timeout)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true);
        Ok(Self {
            text: text.to_owned(),
            channel: ReplicaChannel::new(
                roads.channel(&endpoint, wiring.connect_timeout),
                credential.cloned(),
            ),
            replica_id: AtomicU64::new(0),
        })
    }
}

/// Whether what is sent there does not leave this host.
fn is_on_this_host(text: &str) -> bool {
    let address = authority(text);
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    is_loopback || host == "localhost"
}

/// A scheme says whether connections are encrypted, so it must be true.
fn check_scheme(text: &str, roads: &Roads) -> Result<(), Violation> {
    let rule = match roads.are_secure() {
        false if text.starts_with(HTTPS) => {
            "needs the CA that replicas' certificates are signed by, since it begins with https://"
        }
        true if text.starts_with(HTTP) => {
            "must not begin with http://, since a CA was given, and connections are encrypted"
        }
        _ => return Ok(()),
    };
    Err(Violation::invalid(text, rule))
}

fn authority(text: &str) -> &str {
    let address = text.strip_prefix(HTTP).or_else(|| text.strip_prefix(HTTPS));
    address.unwrap_or(text).trim_end_matches('/')
}

/// The error of a text that is no endpoint of this client.
pub(crate) fn unknown_endpoint(text: &str) -> Error {
    let message = format!("{text} is no endpoint of this client; name one that it was given");
    Error::new(ErrorKind::InvalidArgument, message)
}
