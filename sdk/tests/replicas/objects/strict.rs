use std::time::Duration;

use synod_client::{
    Attributes, Client, CollectionRules, Error, ErrorKind, Fences, JoinOptions, Labels, Membership,
    MetadataPatch, NewObject, ObjectPatch, Objects, Patch, PatchFormat, Preconditions, ReadOptions,
    Ttl, TtlChange, UpdateObject,
};

use super::{V1, V2, WIDGETS, answered_late, create, declare, impatient, named, numbers};
use crate::cluster::{Cluster, id, legal, pass, resource, version, voting, within};

const STRICT: CollectionRules = CollectionRules {
    strict_storage_version: true,
    create_on_update: false,
    unconditional_update: false,
    status_subresource: false,
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

// Guarantee: O-09
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

    // It still encodes in v1, is refused, and encodes in v2.
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

// Guarantee: O-09
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
    let metadata = |label: &str| MetadataPatch {
        format: PatchFormat::Merge,
        document: format!(r#"{{"labels":{{"app":"{label}"}}}}"#).into(),
    };
    // The attributes may be changed in whatever version the object is stored.
    let any = Preconditions::default();
    let labelled = within(objects.patch(&named("a", "w"), metadata("web"), any)).await;
    let labelled = labelled.unwrap().stored.unwrap();
    assert_eq!(labelled.object.attributes.labels.get("app"), Some("web"));
    assert_eq!(labelled.object.content.encoding, version(V1));
    let both = ObjectPatch {
        data: Some(patch),
        metadata: Some(metadata("db")),
        ttl: TtlChange::Keep,
    };
    let patched = within(objects.patch(&named("a", "w"), both, any))
        .await
        .unwrap();
    let stored = patched.stored.unwrap();
    assert_eq!(stored.value, 9);
    assert_eq!(stored.object.attributes.labels.get("app"), Some("db"));
    assert_eq!(stored.object.content.encoding, version(V2));
}

/// A patch of the number, made for the first version.
fn patch(document: &'static str) -> Patch {
    Patch {
        encoding: version(V1),
        format: PatchFormat::Merge,
        document: document.as_bytes().into(),
    }
}

/// Three replicas with an object that is stored in the first version while the second is selected, a client that writes
/// it in time, and one whose answers come late.
async fn behind() -> (Cluster, Objects<u64>, Objects<u64>, Membership) {
    let cluster = Cluster::start(3).await;
    let client = cluster.client_of(vec![2, 3]).await;
    declare(&client, STRICT).await;
    let membership = votes(&client, "server", V1).await;
    let late = numbers(&impatient(&cluster).await, V1);
    create(&late, "a", "w", 1).await;
    vote(&membership, V2).await;
    selected(&client, V2).await;
    (cluster, late, numbers(&client, V1), membership)
}

/// Labels an object and leaves its data as they are, in whichever version.
async fn label(objects: &Objects<u64>, client: &Client) {
    let name = named("a", "w");
    let stored = within(objects.get(&name, ReadOptions::default()));
    let stored = stored.await.unwrap();
    let update = UpdateObject {
        key: stored.object.key.clone(),
        attributes: Attributes {
            labels: legal(Labels::parse([("app", "web")])),
            ..Attributes::default()
        },
        content: stored.object.content.clone(),
        ttl: TtlChange::Keep,
        preconditions: stored.preconditions(),
        fences: Fences::default(),
    };
    within(client.raw_objects().update(update)).await.unwrap();
}

// Guarantee: O-02
#[tokio::test(start_paused = true)]
async fn a_patch_whose_refusal_comes_late_keeps_its_preconditions() {
    let (cluster, late, others, _membership) = behind().await;
    let client = cluster.client_of(vec![2, 3]).await;
    let name = named("a", "w");
    let seen = within(late.get(&name, ReadOptions::default()));
    let seen = seen.await.unwrap();
    let patching = late.patch(&name, patch(r#"{"n":9}"#), seen.preconditions());
    let (patched, ()) = answered_late(&cluster, patching, label(&others, &client)).await;
    let refused = patched.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    let now = within(others.get(&name, ReadOptions::default()));
    let now = now.await.unwrap();
    assert_eq!(late.current(&refused), Some(now.clone()));
    assert_eq!((now.value, now.object.metadata.generation), (1, 1));
}

// Guarantee: O-02
#[tokio::test(start_paused = true)]
async fn a_patch_whose_refusal_comes_late_is_not_carried_out_on_another_version() {
    let (cluster, late, others, _membership) = behind().await;
    let name = named("a", "w");
    let rewrite = others.guaranteed_update(&name, None, |draft| {
        draft.value = 2;
        Ok::<_, Error>(())
    });
    // A codec for the second version would ignore this JSON field, and never find the change.
    let patching = late.patch(&name, patch(r#"{"n":9}"#), Preconditions::default());
    let (patched, rewritten) = answered_late(&cluster, patching, rewrite).await;
    let rewritten = rewritten.unwrap().stored;
    assert_eq!(rewritten.object.content.encoding, version(V2));
    let refused = patched.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    let now = within(others.get(&name, ReadOptions::default())).await;
    assert_eq!(now.unwrap(), rewritten);
}

#[tokio::test(start_paused = true)]
async fn a_patch_whose_refusal_comes_late_and_that_asks_for_no_state_is_carried_out_on_the_present_one()
 {
    let (cluster, late, others, _membership) = behind().await;
    let client = cluster.client_of(vec![2, 3]).await;
    let name = named("a", "w");
    let patching = late.patch(&name, patch(r#"{"n":9}"#), Preconditions::default());
    let (patched, ()) = answered_late(&cluster, patching, label(&others, &client)).await;
    let stored = patched.unwrap().stored.unwrap();
    assert_eq!(stored.value, 9);
    assert_eq!(stored.object.content.encoding, version(V2));
    assert!(!stored.object.attributes.labels.is_empty());
}
