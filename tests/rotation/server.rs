//! A server that reads and writes encrypted objects all the time, each write with the key that its permit names.

use std::sync::Arc;
use std::time::Duration;

use synod_client::{
    Client, Error, Gate, JoinOptions, Kind, MemberId, Membership, Permit, ReportEntry, Stance,
};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

use super::keyring::{Keyring, Secret};
use super::vault::{Vault, seal};
use super::{Load, legal, topic};

pub(crate) struct Server {
    name: &'static str,
    vault: Vault,
    keyring: Arc<Keyring>,
    membership: Membership,
    load: JoinSet<()>,
}

impl Server {
    /// Joins, reports the keys that it holds and that it prefers the last, and serves once that is accepted.
    pub(crate) async fn start(
        client: &Client,
        vault: &Vault,
        load: Load,
        name: &'static str,
        secrets: &[&Secret],
    ) -> Result<Self, Error> {
        let options = JoinOptions::new(legal(MemberId::parse(name))).ttl(load.ttl);
        let membership = client.join(options).await?;
        membership.report(vec![entry(secrets)]).await?;
        let keyring = Arc::new(legal(Keyring::holding(secrets)));
        vault.opens(name, &keyring).await;
        let mut server = Self {
            name,
            vault: vault.clone(),
            keyring,
            membership,
            load: JoinSet::new(),
        };
        for number in 0..load.at_once {
            // Each begins somewhere else, so that they do not follow each other.
            let from = number * 7_919 + usize::from(name.as_bytes()[0]);
            let gate = server.membership.gate();
            server.load.spawn(server.desk().writes(gate, load, from));
            server.load.spawn(server.desk().reads(load, from));
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

    /// Ends in order: what it wrote has landed.
    pub(crate) async fn ends(self) {
        self.vault.closes(self.name);
        let left = self.membership.leave(Duration::from_secs(30)).await;
        left.unwrap_or_else(|error| panic!("{} cannot leave: {error}", self.name));
    }

    /// A permit of a write that is under way.
    pub(crate) async fn begins(&self) -> Permit {
        let permit = self.membership.gate().permit(topic().resource()).await;
        let permit = permit.unwrap_or_else(|error| panic!("{} is not let: {error}", self.name));
        legal(permit.check());
        permit
    }

    /// Ends at once: nobody is told. What is on its way to the store lands all the same, and this write `late`.
    pub(crate) fn dies(mut self, under_way: Permit, late: Duration) -> JoinHandle<()> {
        self.load.abort_all();
        self.membership.stop();
        self.vault.closes(self.name);
        let sealed = seal(&self.keyring, under_way.encoding(), 7, 0);
        let vault = self.vault;
        tokio::spawn(async move {
            sleep(late).await;
            vault.put(7, sealed);
        })
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
            let object = written % self.vault.len();
            let sealed = seal(&self.keyring, permit.encoding(), object, written);
            if permit.check().is_err() {
                continue;
            }
            let vault = self.vault.clone();
            // A task of its own, as what was sent is out of the hands of who sent it.
            let landed = tokio::spawn(async move {
                sleep(load.store).await;
                vault.put(object, sealed);
            });
            if landed.await.is_ok() {
                permit.done();
            }
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
        stance: Stance::Voting { preferred },
    }
}
