//! Checks that all replicas hold the same state.

use std::collections::BTreeMap;

use synod_client::{
    Client, CollectionItem, Lease, ListCollections, ListMembers, ListObjects, ListStorageVersions,
    Member, ReadOptions, Revision, StorageVersionItem, StoredObject,
};

use crate::cluster::{Cluster, reached};
use crate::waiting::{LIMIT, eventually};

/// Everything that can be read at a revision.
#[derive(Debug, PartialEq)]
struct Everything {
    /// Without the rest of their TTLs, which a read returns only at the newest revision.
    members: Vec<Member>,
    storage_versions: Vec<StorageVersionItem>,
    collections: Vec<CollectionItem>,
    /// The objects of all collections.
    objects: Vec<StoredObject>,
    leases: Vec<Lease>,
}

/// Waits until every replica that is awake has applied what was acknowledged, and checks that all of them hold the
/// same: every object at one revision, and the digests of their whole states. Returns the revision.
pub(crate) async fn agree(cluster: &Cluster) -> Revision {
    let client = cluster.client().await.with_timeout(LIMIT);
    let settings = client.settings(ReadOptions::linearizable()).await;
    let revision = settings.expect("the cluster serves").header.revision;
    reached(cluster, revision).await;
    let mut first: Option<(u64, Everything)> = None;
    for id in cluster.awake() {
        let everything = everything(&cluster.client_of(id).await, revision).await;
        match &first {
            None => first = Some((id, everything)),
            Some((other, theirs)) => {
                assert_eq!(
                    everything, *theirs,
                    "replicas {id} and {other} differ at revision {revision}"
                );
            }
        }
    }
    same_digests(cluster).await;
    revision
}

async fn everything(client: &Client, revision: Revision) -> Everything {
    let client = client.with_timeout(LIMIT);
    let read = ReadOptions::at_revision(revision);
    let members = client
        .members(ListMembers::new().with_read(read).with_page_size(5_000))
        .all()
        .await;
    let list = ListStorageVersions::new()
        .with_unreported()
        .with_read(read)
        .with_page_size(5_000);
    let storage_versions = client.storage_versions(list).all().await;
    let members = members.expect("a past state can be read").items;
    let collections = collections(&client, read).await;
    let leases = client.leases(None, read).await;
    let leases = leases.expect("a past state can be read").items;
    Everything {
        members: members.into_iter().map(|item| item.member).collect(),
        storage_versions: storage_versions.expect("a past state can be read").items,
        objects: objects(&client, read, &collections).await,
        collections,
        leases: leases.into_iter().map(|item| item.lease).collect(),
    }
}

async fn collections(client: &Client, read: ReadOptions) -> Vec<CollectionItem> {
    let list = ListCollections::new().with_read(read);
    let collections = client.collections().list(&list).all().await;
    collections.expect("a past state can be read").items
}

async fn objects(
    client: &Client,
    read: ReadOptions,
    collections: &[CollectionItem],
) -> Vec<StoredObject> {
    let mut objects = Vec::new();
    for item in collections {
        let list = ListObjects::new(item.collection.resource.clone())
            .with_read(read)
            .with_page_size(5_000);
        let listed = client.raw_objects().list(&list).all().await;
        let listed = listed.expect("a past state can be read").items;
        objects.extend(listed.into_iter().map(|item| item.object));
    }
    objects
}

/// Waits until the replicas report their digests at one log index, and compares them.
async fn same_digests(cluster: &Cluster) {
    let digests = eventually("the digests of all replicas at one log index", async || {
        let mut digests = BTreeMap::new();
        for id in cluster.awake() {
            let status = cluster.status(id).await?;
            digests.insert(id, (status.digest_index, status.digest));
        }
        let mut indexes = digests.values().map(|(index, _)| index);
        let first = indexes.next();
        if indexes.all(|index| Some(index) == first) {
            Ok(digests)
        } else {
            Err(format!("{digests:?}"))
        }
    })
    .await;
    let distinct: std::collections::BTreeSet<_> = digests.values().collect();
    assert_eq!(
        distinct.len(),
        1,
        "the states of the replicas differ: {digests:?}"
    );
}

/// Waits until every replica has announced itself and what all of them know is in force: from then on nothing changes by
/// itself, however slow the machine is.
pub(crate) async fn announced(cluster: &Cluster) {
    eventually("the announcements of all replicas", async || {
        let status = cluster.status(1).await?;
        let known = status.replicas.iter().map(|it| it.machine_version).min();
        let is_so = known > Some(0) && known <= Some(status.machine_version);
        is_so.then_some(()).ok_or_else(|| format!("{status:?}"))
    })
    .await;
}
