use std::time::Duration;

use synod_client::{
    Client, CollectionRules, Error, ErrorKind, JoinOptions, Membership, NewObject, Patch,
    PatchFormat, Preconditions, ReadOptions, Ttl,
};

use super::{V1, V2, WIDGETS, create, declare, named, numbers};
use crate::cluster::{Cluster, id, legal, pass, resource, version, voting, within};

const STRICT: CollectionRules = CollectionRules {
    strict_storage_version: true,
    create_on_update: false,
    unconditional_update: false,
};

/// A member that decodes both versions and votes for one.
async fn votes(client: &Client, member: &str, preferred: &str) -> Membership {
    let options = JoinOptions::new(id(member)).ttl(legal(Ttl::from_millis(60_000)));
    let membership = within(client.join(options)).await.unwrap();
    vote(&membership, preferred).await;
    membership
}

async fn vote(membership: &Membership, preferred: &str) {
    let entry = voting(WIDGETS, &[V1, V2], preferred);
    within(membership.report(vec![entry])).await.unwrap();
}

/// Waits until a version is selected.
async fn selected(client: &Client, expected: &str) {
    within(async {
        loop {
            let widgets = resource(WIDGETS);
            let read = client.storage_version(&widgets, ReadOptions::default());
            let view = read.await.unwrap();
            let state = view.storage_state.unwrap();
            if state.selected == Some(version(expected)) {
                return;
            }
            pass(Duration::from_millis(100)).await;
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_write_in_another_version_is_encoded_anew_by_itself() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, STRICT).await;
    let objects = numbers(&client, V1);
    let early = within(objects.create(NewObject::new(named("a", "w"), 1))).await;
    assert_eq!(early.unwrap_err().kind(), ErrorKind::NoAgreement);

    let membership = votes(&client, "server", V1).await;
    create(&objects, "a", "w", 1).await;
    create(&objects, "a", "patched", 1).await;
    vote(&membership, V2).await;
    selected(&client, V2).await;

    // It still encodes v1, is refused, and encodes v2.
    assert_eq!(objects.version(), version(V1));
    create(&objects, "a", "x", 2).await;
    assert_eq!(objects.version(), version(V2));
    let name = named("a", "x");
    let stored = within(objects.get(&name, ReadOptions::default()));
    let stored = stored.await.unwrap();
    assert_eq!(stored.object.content.encoding, version(V2));
    assert_eq!(stored.value, 2);

    let behind = numbers(&client, V1);
    let name = named("a", "w");
    let updated = behind.guaranteed_update(&name, None, |draft| {
        draft.value += 1;
        Ok::<_, Error>(())
    });
    let updated = within(updated).await.unwrap();
    assert_eq!(updated.stored.value, 2);
    assert_eq!(updated.stored.object.content.encoding, version(V2));
}

#[tokio::test(start_paused = true)]
async fn a_patch_of_what_is_stored_in_an_old_version_is_stored_in_the_selected_one() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, STRICT).await;
    let membership = votes(&client, "server", V1).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "w", 1).await;
    vote(&membership, V2).await;
    selected(&client, V2).await;
    let patch = Patch {
        encoding: version(V1),
        format: PatchFormat::Json,
        document: br#"[{"op":"replace","path":"/n","value":9}]"#.to_vec().into(),
    };
    let patched = within(objects.patch(&named("a", "w"), patch, Preconditions::default()))
        .await
        .unwrap();
    assert_eq!(patched.stored.value, 9);
    assert_eq!(patched.stored.object.content.encoding, version(V2));
}
