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
    ApiVersion, Client, Error, ErrorKind, MemberId, Migrator, MigratorOptions, ReadOptions,
    ResourceScope, RosterRule, SetRoster, SettingsPatch, Topic, Ttl, WorkerName,
};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use keyring::{Keyring, Sealed, Secret};
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
    /// The same for the one that is killed, in its last life.
    pub(crate) ttl_of_killed: Ttl,
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
    /// The last write of the killed server landed when that was no member any more. False: the machine was slow.
    pub(crate) outlived: bool,
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
    let mut worker = tokio::spawn(work(client, &vault, load, both));
    let cast = Cast {
        client,
        vault: &vault,
        load,
    };
    let (a, c, late) = cast.restarts_until_the_kill(&old, &new).await;
    let begun = ["a", "c"].map(|name| vault.served(name));
    assert!(!free.is_finished(), "it is needed");
    trouble().await;
    let freed = tokio::select! {
        biased;
        freed = timeout(load.limit, &mut free) => freed,
        ended = &mut worker => panic!("the worker has ended: {ended:?}"),
    };
    let refusals =
        freed.unwrap_or_else(|_| panic!("the old key is never free; {:?}", vault.faults()));
    let ended = ["a", "c"].map(|name| vault.served(name));
    assert!(late.is_finished(), "the last write has not landed");
    assert_eq!(vault.faults(), Vec::<String>::new());
    assert_eq!(vault.encrypted_with(old.name()), 0);
    let for_worker = load.objects - vault.lively();
    assert!(vault.rewritten() >= for_worker, "{}", vault.rewritten());
    assert!(!is_free(client, &new).await);
    // Who holds the new key alone reads everything, and writes with it: a write with the old one would be a fault by now.
    let d = legal(cast.starts("d", load.ttl, &[&new]).await);
    busy(&vault, &["a", "c", "d"]).await;
    for server in [a, c, d] {
        server.ends().await;
    }
    assert!(!worker.is_finished(), "the worker works until it is told");
    worker.abort();
    assert_eq!(vault.faults(), Vec::<String>::new());
    let [a, c] = [0, 1].map(|server| ended[server].since(begun[server]));
    for served in [a, c] {
        assert!(served.writes > 0 && served.reads > 0, "{a:?}, {c:?}");
    }
    Rotated {
        objects: load.objects,
        writes: a.writes + c.writes,
        reads: a.reads + c.reads,
        refusals: legal(refusals),
        outlived: legal(late.await),
    }
}

/// What the servers play with.
struct Cast<'a> {
    client: &'a Client,
    vault: &'a Vault,
    load: Load,
}

impl Cast<'_> {
    async fn starts(
        &self,
        name: &'static str,
        ttl: Ttl,
        secrets: &[&Secret],
    ) -> Result<Server, Error> {
        Server::start(self.client, self.vault, self.load, name, ttl, secrets).await
    }

    /// One server after the other is restarted with the new key, and one of them is killed. Returns the two that are left, and
    /// whether the killed one's last write landed when it was no member any more.
    async fn restarts_until_the_kill(
        &self,
        old: &Secret,
        new: &Secret,
    ) -> (Server, Server, JoinHandle<bool>) {
        let (vault, load) = (self.vault, self.load);
        let start = async |name, secrets: &[&Secret]| self.starts(name, load.ttl, secrets).await;
        let a = legal(start("a", &[old]).await);
        let b = legal(start("b", &[old]).await);
        let c = legal(start("c", &[old]).await);
        busy(vault, &["a", "b", "c"]).await;
        // One after the other is restarted with the new key. The third comes back as it was, twice.
        a.ends().await;
        let a = legal(start("a", &[old, new]).await);
        busy(vault, &["a", "b", "c"]).await;
        c.ends().await;
        let c = legal(start("c", &[old]).await);
        busy(vault, &["a", "b", "c"]).await;
        let premature = vault.encrypted_with(new.name());
        assert_eq!(premature, 0, "not everybody holds it");
        b.ends().await;
        let b = legal(self.starts("b", load.ttl_of_killed, &[old, new]).await);
        let sent = Instant::now();
        let under_way = b.begins().await;
        assert_eq!(under_way.encoding(), old.name());
        c.ends().await;
        // The two that are left hold the new key, so it is selected.
        let refused = start("c", &[old]).await.err();
        let refused = refused.expect("it lacks the key that is selected");
        assert_eq!(refused.kind(), ErrorKind::NotDecodable, "{refused}");
        assert!(refused.message().contains("holds only"), "{refused}");
        let c = legal(start("c", &[old, new]).await);
        // It is killed before it has adopted the key. Its write with the old one goes to an object that no server heals.
        let object = vault.lively();
        let sealed = b.dies(under_way, object).await;
        let late = lands_late(self.client, vault, sent + load.grace, object, sealed);
        (a, c, tokio::spawn(late))
    }
}

/// Stores what `b` sent off shortly before a write must have ended, when `b` has long been taken for dead. Returns whether it
/// had been: then nothing but the drain kept the key. On a machine that stalls for so long that the write would be over,
/// nothing is stored.
fn lands_late(
    client: &Client,
    vault: &Vault,
    end: Instant,
    object: usize,
    sealed: Sealed,
) -> impl Future<Output = bool> + Send + 'static {
    let (client, vault) = (client.clone(), vault.clone());
    async move {
        sleep_until(end - Duration::from_secs(1)).await;
        let id = legal(MemberId::parse("b"));
        let member = client.member(&id, ReadOptions::default()).await;
        let is_gone = member.is_err_and(|error| error.kind() == ErrorKind::NotFound);
        let lands = Instant::now() < end;
        if lands {
            vault.put("b", object, sealed);
        }
        lands && is_gone
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
            complete: true,
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

/// Waits until each of the servers has served for a while.
async fn busy(vault: &Vault, names: &[&str]) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut idle: Vec<_> = names
        .iter()
        .map(|name| (*name, vault.served(name)))
        .collect();
    while !idle.is_empty() {
        let faults = vault.faults();
        assert!(
            Instant::now() < deadline,
            "{idle:?} do not serve: {faults:?}"
        );
        sleep(Duration::from_millis(20)).await;
        idle.retain(|(name, before)| {
            let served = vault.served(name).since(*before);
            served.writes < 20 || served.reads < 20
        });
    }
}
