//! Keys that are rotated while servers write: no live server ever meets an object that it cannot read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use synod_client::{
    ApiVersion, Client, ContinueToken, Error, ErrorKind, Gate, JoinOptions, Membership, Migration,
    MigrationReason, Migrator, MigratorOptions, Permit, ReadOptions, ResourceScope, RosterRule,
    SetRoster, Store, StoreError, StorePage, Topic, WorkerName,
};
use tokio::task::{AbortHandle, JoinHandle};

use crate::cluster::{Cluster, id, legal, pass, short_grace, version, voting, within};

const SECRETS: &str = "secrets.keys.synod";
const OLD: &str = "aescbc/k1";
const NEW: &str = "aescbc/k2";

/// How many objects there are.
const OBJECTS: usize = 2_000;
const PAGE: usize = 100;

/// The `write_grace` of the test.
const GRACE: Duration = Duration::from_secs(20);
/// How long the store takes for a write.
const WRITE: Duration = Duration::from_millis(20);

/// The store of all servers: the key that each object is encrypted with, and the keys that each live server holds.
#[derive(Clone, Default)]
struct Vault(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    objects: BTreeMap<usize, ApiVersion>,
    servers: BTreeMap<&'static str, BTreeSet<ApiVersion>>,
    writes: usize,
    /// What a live server could not read at some moment.
    unreadable: Vec<String>,
}

impl Vault {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// Stores an object, which every live server may read from now on.
    fn write(&self, object: usize, key: &ApiVersion) {
        let mut inner = self.inner();
        inner.writes += 1;
        inner.objects.insert(object, key.clone());
        let lacking = inner.servers.iter().filter(|(_, keys)| !keys.contains(key));
        let lacking: Vec<String> = lacking
            .map(|(server, _)| format!("{server} reads {object}, which {key} encrypts"))
            .collect();
        inner.unreadable.extend(lacking);
    }

    /// A server serves from now on, and may read every object.
    fn opens(&self, server: &'static str, keys: &[&str]) {
        let keys: BTreeSet<ApiVersion> = keys.iter().map(|key| version(key)).collect();
        let mut inner = self.inner();
        let lacking = inner.objects.iter().filter(|(_, key)| !keys.contains(*key));
        let lacking: Vec<String> = lacking
            .map(|(object, key)| format!("{server} came to {object}, which {key} encrypts"))
            .collect();
        inner.unreadable.extend(lacking);
        inner.servers.insert(server, keys);
    }

    fn closes(&self, server: &str) {
        self.inner().servers.remove(server);
    }

    fn encrypted_with(&self, key: &str) -> usize {
        let key = version(key);
        self.inner()
            .objects
            .values()
            .filter(|one| **one == key)
            .count()
    }
}

/// The vault as the worker sees it: it can tell which key an object is encrypted with.
struct Rewriting(Vault);

impl Store for Rewriting {
    type Object = (usize, ApiVersion);

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Self::Object>, StoreError> {
        assert_eq!(migration.reason, MigrationReason::RewriteAll);
        let from: usize = token.map_or(0, |token| token.as_str().parse().unwrap());
        let inner = self.0.inner();
        let rest = inner.objects.range(from..);
        let listed: Vec<_> = rest.take(PAGE).collect();
        let next = (listed.len() == PAGE).then(|| from + PAGE);
        let stale = listed
            .into_iter()
            .filter(|(_, key)| migration.rewrites(key, migration.start_revision()));
        Ok(StorePage {
            objects: stale.map(|(object, key)| (*object, key.clone())).collect(),
            next: next.map(|next| legal(ContinueToken::parse(&next.to_string()))),
            remaining: None,
        })
    }

    async fn rewrite(
        &self,
        migration: &Migration,
        (object, key): &Self::Object,
    ) -> Result<(), StoreError> {
        pass(Duration::from_millis(1)).await;
        if self.0.inner().objects.get(object) != Some(key) {
            return Err(StoreError::Conflict);
        }
        let target = migration.target.version.as_ref();
        self.0.write(*object, target.unwrap());
        Ok(())
    }
}

/// A server that writes all the time.
struct Server {
    name: &'static str,
    vault: Vault,
    membership: Membership,
    writing: AbortHandle,
}

impl Server {
    /// Joins, reports the keys that it holds, and serves once that is accepted.
    async fn start(
        client: &Client,
        vault: &Vault,
        name: &'static str,
        keys: &[&str],
    ) -> Result<Self, Error> {
        let membership = within(client.join(JoinOptions::new(id(name)))).await?;
        let prefers = keys.last().unwrap();
        within(membership.report(vec![voting(SECRETS, keys, prefers)])).await?;
        vault.opens(name, keys);
        let writing = tokio::spawn(writes(membership.gate(), vault.clone()));
        Ok(Self {
            name,
            vault: vault.clone(),
            membership,
            writing: writing.abort_handle(),
        })
    }

    /// Ends in order: what it wrote has landed.
    async fn ends(self) {
        self.vault.closes(self.name);
        within(self.membership.leave(Duration::from_secs(5)))
            .await
            .unwrap();
        self.writing.abort();
    }

    /// A write that was allowed and is under way.
    async fn begins(&self) -> Permit {
        let topic = legal(Topic::parse("keys/secrets"));
        let gate = self.membership.gate();
        within(gate.permit(topic.resource())).await.unwrap()
    }

    /// Ends at once. The write that was under way lands late, as long as writes may take.
    fn dies(self, under_way: Permit) -> JoinHandle<()> {
        self.vault.closes(self.name);
        self.writing.abort();
        self.membership.stop();
        let vault = self.vault;
        tokio::spawn(async move {
            pass(GRACE / 2).await;
            vault.write(7, under_way.encoding());
        })
    }
}

/// Writes one object after the other, each with the key of its permit.
async fn writes(gate: Gate, vault: Vault) {
    let topic = legal(Topic::parse("keys/secrets"));
    for object in (0..OBJECTS).cycle() {
        let Ok(permit) = gate.permit(topic.resource()).await else {
            pass(WRITE).await;
            continue;
        };
        if permit.check().is_ok() {
            let key = permit.encoding().clone();
            pass(WRITE).await;
            vault.write(object, &key);
            permit.done();
        }
    }
}

async fn asks_for_two(client: &Client) {
    let set = SetRoster {
        scope: legal(ResourceScope::parse("keys.synod.*")),
        rule: RosterRule {
            least: 2,
            ..RosterRule::default()
        },
        if_revision: None,
    };
    within(client.rosters().set(set)).await.unwrap();
}

/// Whether nothing may need a key any more, for sure.
async fn is_free(client: &Client, key: &str) -> bool {
    let topic = legal(Topic::parse("keys/secrets"));
    let key = version(key);
    let verdict = client.check_drop(topic.resource(), &key, ReadOptions::default());
    within(verdict).await.unwrap().is_safe_for_sure()
}

#[tokio::test(start_paused = true)]
async fn a_key_is_rotated_while_three_servers_write_one_is_killed_and_one_is_rolled_back() {
    let cluster = Cluster::start_with(3, short_grace(GRACE)).await;
    let client = cluster.client().await;
    asks_for_two(&client).await;
    let vault = Vault::default();
    for object in 0..OBJECTS {
        vault.write(object, &version(OLD));
    }
    let worker = MigratorOptions::new(
        legal(WorkerName::parse("worker")),
        [legal(Topic::parse("keys/secrets")).resource().clone()].into(),
    );
    let worker = Migrator::new(client.clone(), Rewriting(vault.clone()), worker);
    let worker = tokio::spawn(async move { worker.run().await });
    let a = Server::start(&client, &vault, "a", &[OLD]).await.unwrap();
    let b = Server::start(&client, &vault, "b", &[OLD]).await.unwrap();
    let c = Server::start(&client, &vault, "c", &[OLD]).await.unwrap();
    pass(Duration::from_secs(10)).await;

    // One after the other is restarted with the new key. The third comes back as it was, twice.
    a.ends().await;
    let a = Server::start(&client, &vault, "a", &[OLD, NEW])
        .await
        .unwrap();
    pass(Duration::from_secs(2)).await;
    c.ends().await;
    let c = Server::start(&client, &vault, "c", &[OLD]).await.unwrap();
    assert_eq!(vault.encrypted_with(NEW), 0, "not everybody holds it");
    b.ends().await;
    let b = Server::start(&client, &vault, "b", &[OLD, NEW])
        .await
        .unwrap();
    let under_way = b.begins().await;
    assert_eq!(under_way.encoding(), &version(OLD));
    c.ends().await;
    // The two that are left hold the new key, so it is selected.
    let refused = Server::start(&client, &vault, "c", &[OLD]).await;
    let refused = refused.err().expect("it lacks the key that is selected");
    assert_eq!(refused.kind(), ErrorKind::NotDecodable);
    assert!(refused.message().contains("holds only"), "{refused}");
    let c = Server::start(&client, &vault, "c", &[OLD, NEW])
        .await
        .unwrap();

    // One is killed before it has adopted the key, and its write with the old one lands late.
    let late = b.dies(under_way);
    assert!(!is_free(&client, OLD).await);
    let mut asked = 0;
    while !is_free(&client, OLD).await {
        asked += 1;
        assert!(asked < 1_000, "the old key is never free");
        pass(Duration::from_millis(200)).await;
    }
    assert!(
        late.is_finished(),
        "it is not free before the last write has landed"
    );
    assert_eq!(vault.encrypted_with(OLD), 0);
    assert!(!is_free(&client, NEW).await);
    // Who holds the new key alone reads everything.
    let d = Server::start(&client, &vault, "d", &[NEW]).await.unwrap();
    pass(Duration::from_secs(1)).await;
    for server in [a, c, d] {
        server.ends().await;
    }
    worker.abort();
    let inner = vault.inner();
    assert_eq!(inner.unreadable, Vec::<String>::new());
    assert!(inner.writes > 2 * OBJECTS, "{}", inner.writes);
}
