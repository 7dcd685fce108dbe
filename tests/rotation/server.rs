//! A server that reads and writes encrypted objects all the time, each write with the key that its permit names.

use std::collections::BTreeSet;

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use synod_client::{
    Client, Error, Gate, JoinOptions, Kind, MemberId, Membership, Permit, ReportEntry, Stance,
    StoredIn, Ttl,
};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::keyring::{Keyring, Sealed, Secret};
use super::vault::{Vault, seal};
use super::{Load, legal, topic};

/// How many names servers have: `a` to `d`.
const NAMES: usize = 4;

pub(crate) struct Server {
    name: &'static str,
    vault: Vault,
    keyring: Arc<Keyring>,
    membership: Membership,
    writers: JoinSet<()>,
    readers: JoinSet<()>,
}

impl Server {
    /// Joins, reports the keys that it holds and that it prefers the last, and serves once that is accepted.
    pub(crate) async fn start(
        client: &Client,
        vault: &Vault,
        load: Load,
        name: &'static str,
        ttl: Ttl,
        secrets: &[&Secret],
    ) -> Result<Self, Error> {
        let options = JoinOptions::new(legal(MemberId::parse(name))).ttl(ttl);
        let membership = client.join(options).await?;
        membership.report(vec![entry(secrets)]).await?;
        let keyring = Arc::new(legal(Keyring::holding(secrets)));
        vault.opens(name, &keyring).await;
        let mut server = Self {
            name,
            vault: vault.clone(),
            keyring,
            membership,
            writers: JoinSet::new(),
            readers: JoinSet::new(),
        };
        for number in 0..load.at_once {
            // All over what servers write: writers that follow each other would bring each object to the new key once.
            let place = usize::from(name.as_bytes()[0] - b'a') * load.at_once + number;
            let from = vault.lively() * place / (NAMES * load.at_once);
            let gate = server.membership.gate();
            let writes = server.desk().writes(gate, load, from);
            server.writers.spawn(writes);
            server.readers.spawn(server.desk().reads(load, from));
        }
        Ok(server)
    }

    fn desk(&self) -> Desk {
        Desk {
            name: self.name,
            vault: self.vault.clone(),
            keyring: Arc::clone(&self.keyring),
        }
    }

    /// Ends in order: what it wrote has landed. It reads no more, as the others may use another key when it has left.
    pub(crate) async fn ends(self) {
        stops(self.readers).await;
        self.vault.closes(self.name);
        let left = self.membership.leave(Duration::from_secs(30)).await;
        left.unwrap_or_else(|error| panic!("{} cannot leave: {error}", self.name));
        stops(self.writers).await;
    }

    /// A permit of a write that is under way.
    pub(crate) async fn begins(&self) -> Permit {
        let permit = self.membership.gate().permit(topic().resource()).await;
        let permit = permit.unwrap_or_else(|error| panic!("{} is not let: {error}", self.name));
        legal(permit.check());
        permit
    }

    /// Ends at once: nobody is told. What is on its way to the store lands all the same, and so may what is returned: what it
    /// sent off under this permit, to store this object.
    pub(crate) async fn dies(self, under_way: Permit, object: usize) -> Sealed {
        self.membership.stop();
        stops(self.writers).await;
        stops(self.readers).await;
        self.vault.closes(self.name);
        legal(seal(&self.keyring, under_way.encoding(), object, 0))
    }
}

/// Aborts tasks. Panics if one has panicked.
async fn stops(mut tasks: JoinSet<()>) {
    tasks.abort_all();
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
            Ok(()) | Err(_) => {}
        }
    }
}

/// What serves a server's requests.
struct Desk {
    name: &'static str,
    vault: Vault,
    keyring: Arc<Keyring>,
}

impl Desk {
    /// Writes one object after the other.
    async fn writes(self, gate: Gate, load: Load, from: usize) {
        for written in from.. {
            let Ok(permit) = gate.permit(topic().resource()).await else {
                sleep(load.store).await;
                continue;
            };
            let object = written % self.vault.lively();
            let sealed = match seal(&self.keyring, permit.encoding(), object, written) {
                Ok(sealed) => sealed,
                Err(error) => {
                    let fault = format!("{} is let write what it cannot: {error}", self.name);
                    return self.vault.fault(fault);
                }
            };
            if permit.check().is_err() {
                continue;
            }
            let (name, vault) = (self.name, self.vault.clone());
            // A task of its own, as what was sent is out of the hands of who sent it.
            let landed = tokio::spawn(async move {
                sleep(load.store).await;
                vault.put(name, object, sealed);
            });
            legal(landed.await);
            permit.done();
        }
    }

    /// Reads objects from all over the store. Reads need no permit.
    async fn reads(self, load: Load, from: usize) {
        for read in from.. {
            sleep(load.store).await;
            let object = read * 31 % self.vault.len();
            self.vault.read(self.name, &self.keyring, object);
        }
    }
}

/// What a server with these keys reports.
fn entry(secrets: &[&Secret]) -> ReportEntry {
    let keys = || secrets.iter().map(|secret| secret.name().clone()).collect();
    let preferred = secrets.last().expect("a server holds a key").name().clone();
    ReportEntry {
        resource: topic().resource().clone(),
        kind: legal(Kind::parse("Secret")),
        decodable: keys(),
        served: keys(),
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
        stance: Stance::Voting { preferred },
    }
}
