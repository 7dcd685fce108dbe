//! Fencing in the servers' own store, with the widgets of the example: a real etcd, and writes that come too late.

#[path = "../../../../examples/etcd-fence/widgets.rs"]
mod widgets;

use std::collections::BTreeSet;

use synod_client::{
    ApiVersion, Client, Fenced, GroupResource, JoinOptions, Kind, MemberId, Membership, Migration,
    Migrator, MigratorOptions, ObjectKind, Persisted, ReportEntry, Stance, StorageState, StoredIn,
    Ttl, Worked, WorkerName,
};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::cluster::Cluster;
use crate::program::LIMIT;
use synod_fence::{Condition, Etcd, Fault, FencedObjects, FencedWriter, KeyStore as _};
use widgets::{FENCES, OBJECTS, WIDGETS, Widgets, decode, encode, key};

/// One etcd process. Dropping it ends it.
struct Running {
    etcd: Etcd,
    _process: Child,
    _folder: TempDir,
}

impl Running {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (command, url) = synod_tests::etcd(folder.path());
        let process = Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .expect("etcd is installed (in Debian: etcd-server)");
        let etcd = Etcd::new(&url);
        let serves = async { while etcd.get("ready").await.is_err() {} };
        timeout(LIMIT, serves).await.expect("etcd does not serve");
        Self {
            etcd,
            _process: process,
            _folder: folder,
        }
    }

    /// The widgets that are stored in a version, by their keys.
    async fn stored_in(&self, version: &str) -> Vec<String> {
        let all = self.etcd.list(OBJECTS, None, 1_000).await.unwrap();
        assert!(!all.more);
        let read = all
            .pairs
            .into_iter()
            .map(|pair| (decode(&pair.value).unwrap().1.to_string(), pair.key));
        let wanted = read.filter(|(found, _)| found == version);
        wanted.map(|(_, key)| key).collect()
    }
}

fn resource() -> GroupResource {
    GroupResource::parse_qualified(WIDGETS).unwrap()
}

/// A server whose membership expires a second after its last renewal.
async fn server(client: &Client, id: &str) -> Membership {
    let options = JoinOptions::new(MemberId::parse(id).unwrap());
    client
        .join(options.ttl(Ttl::from_millis(1_000).unwrap()))
        .await
        .unwrap()
}

async fn encodes(membership: &Membership, encoding: &str) {
    let version = |text: &str| ApiVersion::parse(text).unwrap();
    let both = [version("example.io/v1"), version("example.io/v2")];
    let entry = ReportEntry {
        resource: resource(),
        kind: Kind::parse("Widget").unwrap(),
        decodable: both.iter().cloned().collect(),
        served: both.iter().cloned().collect(),
        stance: Stance::Fixed {
            encoding: version(encoding),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    };
    membership.report(vec![entry]).await.unwrap();
}

async fn writer(client: &Client, etcd: &Etcd, membership: &Membership) -> FencedWriter<Etcd> {
    let member = membership.id().clone();
    let writer = FencedWriter::new(client, member, etcd.clone(), FENCES);
    writer.await.unwrap()
}

async fn write(writer: &FencedWriter<Etcd>, membership: &Membership, name: &str) {
    let (gate, resource, key) = (membership.gate(), resource(), key(name));
    let written = writer.update(&gate, &resource, &key, LIMIT, |_, version| {
        Ok(encode(1, version))
    });
    written.await.unwrap();
}

/// Works until the newest migration has succeeded. That has to wait for the drain of the expired member.
async fn migrated(client: &Client, etcd: &Etcd) -> Migration {
    let objects = FencedObjects::new(etcd.clone(), Widgets, FENCES).page_size(50);
    let store = Fenced::new(client, objects).await.unwrap();
    let options = MigratorOptions::new(
        WorkerName::parse("worker").unwrap(),
        BTreeSet::from([resource()]),
    );
    let worker = Migrator::new(client.clone(), store, options);
    let reflector = client.reflect(vec![ObjectKind::Migration]).await.unwrap();
    let working = async {
        loop {
            let revision = reflector.revision();
            let mut open = reflector.migrations().into_iter();
            let Some(open) = open.find(|migration| migration.is_open()) else {
                reflector.changed(revision).await.unwrap();
                continue;
            };
            match worker.run_one(&open.id).await.unwrap() {
                Some(Worked::Completed { .. }) => return (*open).clone(),
                Some(other) => panic!("{other:?}"),
                None => {}
            }
        }
    };
    timeout(LIMIT, working).await.expect("nothing is migrated")
}

async fn state(client: &Client) -> StorageState {
    let reflector = client
        .reflect(vec![ObjectKind::StorageState])
        .await
        .unwrap();
    (*reflector.storage_state(&resource()).unwrap()).clone()
}

/// Whether only one version is known to be stored.
fn is_only(state: &StorageState, version: &str) -> bool {
    let [
        Persisted::Version {
            version: Some(only),
            ..
        },
    ] = &state.persisted[..]
    else {
        return false;
    };
    only.to_string() == version
}

/// What an operator has broken keeps writes out until it is mended, and no longer.
async fn goes_on_once_it_is_mended(
    etcd: &Etcd,
    writer: &FencedWriter<Etcd>,
    membership: &Membership,
) {
    let fences = format!("{FENCES}widgets.example.io");
    let whole = etcd.get(&fences).await.unwrap().unwrap().value;
    assert!(etcd.put_if(&[], &fences, b"broken").await.unwrap());
    let (gate, resource, name) = (membership.gate(), resource(), key("w-0"));
    let broken = writer.update(&gate, &resource, &name, LIMIT, |_, version| {
        Ok(encode(1, version))
    });
    assert!(matches!(broken.await, Err(Fault::Refused(_))));
    assert!(etcd.put_if(&[], &fences, &whole).await.unwrap());
    write(writer, membership, "w-0").await;
}

// Guarantee: MG-27
#[tokio::test]
async fn a_write_that_lands_behind_the_worker_is_kept_out_by_the_fence_and_by_nothing_else() {
    let (cluster, etcd) = (Cluster::start().await, Running::start().await);
    let client = cluster.client().await;
    let set = cluster.ask(&["settings", "set", "write_grace=1s"]).await;
    assert_eq!(set.code, 0);
    let (first, second) = (
        server(&client, "server-a").await,
        server(&client, "server-b").await,
    );
    encodes(&first, "example.io/v1").await;
    encodes(&second, "example.io/v1").await;
    let early = writer(&client, &etcd.etcd, &first).await;
    for number in 0..120 {
        write(&early, &first, &format!("w-{number}")).await;
    }
    let living = writer(&client, &etcd.etcd, &second).await;
    write(&living, &second, "w-0").await;
    // The write has passed every check; then its server is held up, and dies.
    let permit = first.gate().permit(&resource()).await.unwrap();
    let value = encode(1, permit.encoding());
    let late = early.prepare(permit, &key("late"), 0, value).await.unwrap();
    drop(first);
    encodes(&second, "example.io/v2").await;
    let done = migrated(&client, &etcd.etcd).await;
    assert!(is_only(&state(&client).await, "example.io/v2"));
    assert!(etcd.stored_in("example.io/v1").await.is_empty());
    assert_eq!(etcd.stored_in("example.io/v2").await.len(), 120);

    goes_on_once_it_is_mended(&etcd.etcd, &living, &second).await;

    let (key_of_late, conditions) = (late.key().to_owned(), late.conditions().to_vec());
    let value = late.value().to_vec();
    let refused = late.send().await;
    assert!(
        matches!(&refused, Err(Fault::NotExecuted { why, .. }) if why.contains("has moved the fence")),
        "etcd takes it behind the fence: {refused:?}"
    );
    assert!(etcd.stored_in("example.io/v1").await.is_empty());
    // The same write without its last condition, which is the fence.
    let (fence, others) = conditions.split_last().unwrap();
    assert!(matches!(fence, Condition::WrittenAt { key, revision: 0 } if key.starts_with(FENCES)));
    assert!(
        etcd.etcd
            .put_if(others, &key_of_late, &value)
            .await
            .unwrap()
    );
    assert_eq!(etcd.stored_in("example.io/v1").await, [key("late")]);
    assert!(
        is_only(&state(&client).await, "example.io/v2"),
        "nobody knows of it"
    );

    // The living server goes on: it knows of the agreement, and finds out that the fence has moved.
    write(&living, &second, "w-0").await;
    assert!(second.gate().is_drained());
    let fence = etcd
        .etcd
        .get("/fences/widgets.example.io")
        .await
        .unwrap()
        .unwrap();
    let fence = String::from_utf8(fence.value).unwrap();
    assert!(
        fence.ends_with(&format!(" widgets.example.io {}", done.agreement_revision)),
        "{fence}"
    );
}
