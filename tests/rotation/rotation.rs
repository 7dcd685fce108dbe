//! A key that is rotated while three servers read and write: one is killed, and one is rolled back.
//!
//! The servers encrypt for real, each with the keys that it reports and no others. The test of the client runs this on
//! replicas under a simulated clock, the test of processes on replicas that are processes, with as many objects as it is told.

#[path = "../../examples/key_rotation/keyring.rs"]
mod keyring;
mod server;
mod vault;
mod worker;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::time::Duration;

use synod_client::{
    ApiVersion, Client, ErrorKind, Migrator, MigratorOptions, ReadOptions, ResourceScope,
    RosterRule, SetRoster, SettingsPatch, Topic, Ttl, WorkerName,
};
use tokio::time::{sleep, timeout};

use keyring::{Keyring, Secret};
use server::Server;
use vault::Vault;
use worker::Rewriting;

/// What the servers do, and how long it takes.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) objects: usize,
    /// How many writes, and how many reads, each server has under way.
    pub(crate) at_once: usize,
    /// How many objects the worker rewrites at the same time.
    pub(crate) rewrites: NonZeroUsize,
    /// How long the store takes.
    pub(crate) store: Duration,
    /// How long a server may be silent before it is taken for dead.
    pub(crate) ttl: Ttl,
    /// How long a write may be under way.
    pub(crate) grace: Duration,
    /// How long the old key may take until it is free.
    pub(crate) limit: Duration,
}

/// What a rotation has shown.
pub(crate) struct Rotated {
    pub(crate) objects: usize,
    /// Writes and reads of the servers while the worker rewrote.
    pub(crate) writes: usize,
    pub(crate) reads: usize,
    /// How often the old key was said to be needed.
    pub(crate) refusals: usize,
}

/// Rotates a key, with `trouble` in the middle of it. Panics if a live server could not read an object at any moment, if the
/// old key was called free while an object needed it, or if it does not become free.
pub(crate) async fn rotates(client: &Client, load: Load, trouble: impl AsyncFnOnce()) -> Rotated {
    let [old, new] = ["aesgcm/k1", "aesgcm/k2"].map(|name| {
        let name = legal(ApiVersion::parse(name));
        legal(Secret::generate(name))
    });
    prepare(client, load).await;
    let both = legal(Keyring::holding(&[&old, &new]));
    let vault = Vault::filled(load.objects, &both, old.name());
    let mut free = tokio::spawn(watch_the_old_key(client, &vault, load, &old));
    let worker = tokio::spawn(work(client, &vault, load, both));
    let start =
        async |name, secrets: &[&Secret]| Server::start(client, &vault, load, name, secrets).await;

    let a = legal(start("a", &[&old]).await);
    let b = legal(start("b", &[&old]).await);
    let c = legal(start("c", &[&old]).await);
    busy(&vault).await;
    // One after the other is restarted with the new key. The third comes back as it was, twice.
    a.ends().await;
    let a = legal(start("a", &[&old, &new]).await);
    busy(&vault).await;
    c.ends().await;
    let c = legal(start("c", &[&old]).await);
    busy(&vault).await;
    let premature = vault.encrypted_with(new.name());
    assert_eq!(premature, 0, "not everybody holds it");
    b.ends().await;
    let b = legal(start("b", &[&old, &new]).await);
    let under_way = b.begins().await;
    assert_eq!(under_way.encoding(), old.name());
    c.ends().await;
    // The two that are left hold the new key, so it is selected.
    let refused = start("c", &[&old]).await.err();
    let refused = refused.expect("it lacks the key that is selected");
    assert_eq!(refused.kind(), ErrorKind::NotDecodable, "{refused}");
    assert!(refused.message().contains("holds only"), "{refused}");
    let c = legal(start("c", &[&old, &new]).await);

    // One is killed before it has adopted the key, and its write with the old one lands late.
    let begun = vault.load();
    // At the end of what it may take, when the server has long been taken for dead.
    let late = b.dies(under_way, load.grace * 9 / 10);
    assert!(!free.is_finished(), "it is needed");
    trouble().await;
    let freed = timeout(load.limit, &mut free).await;
    let refusals =
        freed.unwrap_or_else(|_| panic!("the old key is never free; {:?}", vault.faults()));
    let ended = vault.load();
    assert!(late.is_finished(), "the last write has not landed");
    assert_eq!(vault.encrypted_with(old.name()), 0);
    assert!(!is_free(client, &new).await);
    // Who holds the new key alone reads everything.
    let d = legal(start("d", &[&new]).await);
    busy(&vault).await;
    for server in [a, c, d] {
        server.ends().await;
    }
    worker.abort();
    assert_eq!(vault.faults(), Vec::<String>::new());
    let (writes, reads) = (ended.0 - begun.0, ended.1 - begun.1);
    assert!(writes > 0 && reads > 0, "nobody served meanwhile");
    Rotated {
        objects: load.objects,
        writes,
        reads,
        refusals: legal(refusals),
    }
}

/// The topic whose key is rotated.
pub(crate) fn topic() -> Topic {
    legal(Topic::parse("keys/secrets"))
}

/// A value that must be legal, or a call that must be answered.
pub(crate) fn legal<T, E: Debug>(value: Result<T, E>) -> T {
    value.unwrap_or_else(|error| panic!("it must be legal: {error:?}"))
}

/// Sets how long writes take at most, and asks for two servers: while fewer speak there is no agreement, and without a roster no
/// key is free for sure. Which key is selected, those decide that are members.
async fn prepare(client: &Client, load: Load) {
    let patch = SettingsPatch {
        write_grace: Some(load.grace),
        ..SettingsPatch::default()
    };
    legal(client.update_settings(patch, None).await);
    let set = SetRoster {
        scope: legal(ResourceScope::parse("keys.synod.*")),
        rule: RosterRule {
            least: 2,
            ..RosterRule::default()
        },
        if_revision: None,
    };
    legal(client.rosters().set(set).await);
}

/// Asks all the time whether nothing needs the old key any more, until that is said. The vault knows whether it is true.
fn watch_the_old_key(
    client: &Client,
    vault: &Vault,
    load: Load,
    old: &Secret,
) -> impl Future<Output = usize> + Send + 'static {
    let (client, vault, old) = (client.clone(), vault.clone(), old.clone());
    async move {
        let mut refusals = 0;
        while !is_free(&client, &old).await {
            refusals += 1;
            sleep(load.store * 5).await;
        }
        vault.called_free(old.name());
        refusals
    }
}

/// Whether nothing may need a key any more, for sure.
async fn is_free(client: &Client, secret: &Secret) -> bool {
    let topic = topic();
    let asked = client.check_drop(topic.resource(), secret.name(), ReadOptions::default());
    legal(asked.await).is_safe_for_sure()
}

/// Rewrites what is to be rewritten, for as long as it is let.
fn work(
    client: &Client,
    vault: &Vault,
    load: Load,
    keyring: Keyring,
) -> impl Future<Output = ()> + Send + 'static {
    let worker = legal(WorkerName::parse("worker"));
    let options = MigratorOptions::new(worker, BTreeSet::from([topic().resource().clone()]));
    let options = options.objects_at_once(load.rewrites);
    let vault = vault.clone();
    let store = Rewriting {
        vault,
        keyring,
        load,
    };
    let worker = Migrator::new(client.clone(), store, options);
    async move { legal(worker.run().await) }
}

/// Waits until the servers have served for a while.
async fn busy(vault: &Vault) {
    let (writes, reads) = vault.load();
    let serve = async {
        loop {
            let now = vault.load();
            if now.0 >= writes + 50 && now.1 >= reads + 50 {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    let served = timeout(Duration::from_secs(60), serve).await;
    served.expect("servers with permits write");
}
