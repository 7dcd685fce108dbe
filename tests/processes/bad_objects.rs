//! Bad input about objects, to every replica: each is refused with its kind and its field, stores nothing, and shows
//! nothing of another namespace.

use synod_client::ErrorKind;
use synod_model::Refusal;
use synod_model::limits::{
    ANNOTATIONS_BYTES_MAX, FINALIZERS_MAX, JSON_DEPTH_MAX, LABEL_BYTES_MAX, MEDIA_TYPE_BYTES_MAX,
    PATCH_OPERATIONS_MAX,
};
use synod_proto::v1;

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::requests::{Wire, kind, refusal, timely};
use crate::waiting::eventually;

const JSON: &str = "application/json";

fn things() -> v1::GroupResource {
    v1::GroupResource {
        group: "example.com".to_owned(),
        resource: "things".to_owned(),
    }
}

fn key(namespace: &str, name: &str) -> v1::ObjectKey {
    v1::ObjectKey {
        resource: Some(things()),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    }
}

/// A create that breaks no rule.
fn create(namespace: &str, name: &str, data: &str) -> v1::ObjectsCreateRequest {
    v1::ObjectsCreateRequest {
        key: Some(key(namespace, name)),
        content: Some(v1::ObjectContent {
            encoding_version: "example.com/v1".to_owned(),
            media_type: JSON.to_owned(),
            data: data.as_bytes().to_vec().into(),
        }),
        ..v1::ObjectsCreateRequest::default()
    }
}

fn content(create: &mut v1::ObjectsCreateRequest) -> &mut v1::ObjectContent {
    create.content.as_mut().expect("it has content")
}

fn attributes(create: &mut v1::ObjectsCreateRequest) -> &mut v1::ObjectAttributes {
    create.attributes.get_or_insert_default()
}

/// Arrays within arrays.
fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

/// Three replicas with the collection, and an object in each of two namespaces.
async fn start() -> Cluster {
    let cluster = Cluster::start().await;
    let wire = Wire::to(&cluster.endpoint(1));
    let declare = v1::CollectionsCreateRequest {
        resource: Some(things()),
        kind: "Thing".to_owned(),
        namespaced: true,
        ..v1::CollectionsCreateRequest::default()
    };
    let declared = wire.collections().create(timely(declare)).await;
    declared.expect("a collection is declared");
    for namespace in ["mine", "theirs"] {
        stored(&wire, create(namespace, "thing", r#"{"list":[1]}"#)).await;
    }
    cluster
}

/// Stores an object, and answers its uid.
async fn stored(wire: &Wire, create: v1::ObjectsCreateRequest) -> String {
    let created = wire.objects().create(timely(create)).await;
    created.expect("it breaks no rule").into_inner().uid
}

/// Checks that a request is invalid in a field that has this in its path.
fn check_invalid(what: &str, refused: &Refusal, field: &str) {
    assert_eq!(
        refused.kind,
        ErrorKind::InvalidArgument,
        "{what}: {refused:?}"
    );
    let mut fields = refused.violations.iter().map(|violation| &violation.field);
    assert!(
        fields.any(|named| named.contains(field)),
        "{what}, in {field}: {refused:?}"
    );
}

/// Creates of which each breaks a rule, with what its place has in it.
fn illegal_creates() -> Vec<(&'static str, v1::ObjectsCreateRequest, &'static str)> {
    let with = |change: &dyn Fn(&mut v1::ObjectsCreateRequest)| {
        let mut request = create("mine", "new", "{}");
        change(&mut request);
        request
    };
    let data = |data: &str| create("mine", "new", data);
    let typed = |media_type: &str| with(&|it| content(it).media_type = media_type.to_owned());
    vec![
        ("no key", with(&|it| it.key = None), "key"),
        ("no name", create("mine", "", "{}"), "key.name"),
        (
            "a path for a name",
            create("mine", "../thing", "{}"),
            "key.name",
        ),
        ("no namespace", create("", "new", "{}"), "namespace"),
        (
            "a path for a namespace",
            create("mine/../theirs", "new", "{}"),
            "key.namespace",
        ),
        ("no content", with(&|it| it.content = None), "content"),
        (
            "no version",
            with(&|it| content(it).encoding_version.clear()),
            "encodingVersion",
        ),
        ("no JSON", data("{"), "data"),
        ("an empty document", data(""), "data"),
        ("two documents", data("{}{}"), "data"),
        ("a key twice", data(r#"{"a":1,"b":{"c":1,"c":2}}"#), "data"),
        ("half of a character", data(r#"{"a":"\ud800"}"#), "data"),
        ("a number that is none", data(r#"{"a":NaN}"#), "data"),
        ("an endless number", data(r#"{"a":1e1000000}"#), "data"),
        (
            "a document too deep",
            data(&nested(JSON_DEPTH_MAX + 1)),
            "data",
        ),
        ("a document far too deep", data(&nested(200_000)), "data"),
        (
            "a media type of two lines",
            typed("text/plain\r\nX-Admin: yes"),
            "mediaType",
        ),
        (
            "a media type with a script",
            typed("text/<script>"),
            "mediaType",
        ),
        (
            "a media type with a NUL",
            typed("text/plain\0"),
            "mediaType",
        ),
        (
            "a media type with half a quote",
            typed("text/plain; a=\"b"),
            "mediaType",
        ),
        (
            "a label of two lines",
            with(&|it| {
                let label = ("app".to_owned(), "a\nb".to_owned());
                attributes(it).labels.extend([label]);
            }),
            "labels",
        ),
        (
            "a finalizer without a domain",
            with(&|it| attributes(it).finalizers = vec!["-/-".to_owned()]),
            "finalizers",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_breaks_a_rule_is_refused_by_its_place_and_stores_nothing() {
    let cluster = start().await;
    let before = agree(&cluster).await;
    for id in IDS {
        let wire = Wire::to(&cluster.endpoint(id));
        for (what, request, field) in illegal_creates() {
            let update = v1::ObjectsUpdateRequest {
                key: request.key.clone(),
                attributes: request.attributes.clone(),
                content: request.content.clone(),
                ..v1::ObjectsUpdateRequest::default()
            };
            let created = wire.objects().create(timely(request)).await;
            check_invalid(what, &refusal(created), field);
            let updated = wire.objects().update(timely(update)).await;
            check_invalid(what, &refusal(updated), field);
        }
    }
    assert_eq!(agree(&cluster).await, before);
    cluster.finish().await;
}

/// Something that may have so many of something.
type Limit = (
    &'static str,
    usize,
    fn(&mut v1::ObjectsCreateRequest, usize),
);

/// What an object is bounded in, beside its size, its name and the number of its labels.
const LIMITS: [Limit; 5] = [
    ("mediaType", MEDIA_TYPE_BYTES_MAX, |it, count| {
        content(it).media_type = format!("text/{}", "x".repeat(count - "text/".len()));
    }),
    ("data", JSON_DEPTH_MAX, |it, count| {
        content(it).data = nested(count).into_bytes().into();
    }),
    ("labels", LABEL_BYTES_MAX, |it, count| {
        let label = ("app".to_owned(), "x".repeat(count));
        attributes(it).labels.extend([label]);
    }),
    ("annotations", ANNOTATIONS_BYTES_MAX, |it, count| {
        let note = ("note".to_owned(), "x".repeat(count - "note".len()));
        attributes(it).annotations.extend([note]);
    }),
    ("finalizers", FINALIZERS_MAX, |it, count| {
        let finalizers = (0..count).map(|number| format!("example.com/f{number}"));
        attributes(it).finalizers = finalizers.collect();
    }),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_object_may_have_is_stored_up_to_its_limit_and_not_beyond() {
    let cluster = start().await;
    for (place, (field, limit, fill)) in LIMITS.into_iter().enumerate() {
        let wire = Wire::to(&cluster.endpoint(IDS[place % IDS.len()]));
        for count in [limit - 1, limit] {
            let name = format!("{}-{count}", field.to_lowercase());
            let mut request = create("mine", &name, "{}");
            fill(&mut request, count);
            stored(&wire, request).await;
        }
        let before = agree(&cluster).await;
        let mut request = create("mine", "beyond", "{}");
        fill(&mut request, limit + 1);
        let refused = refusal(wire.objects().create(timely(request)).await);
        check_invalid("one more than its limit", &refused, field);
        assert_eq!(agree(&cluster).await, before);
    }
    cluster.finish().await;
}

fn patch(format: v1::PatchFormat, document: &str) -> v1::ObjectsPatchRequest {
    v1::ObjectsPatchRequest {
        key: Some(key("mine", "thing")),
        patch: Some(v1::ContentPatch {
            encoding_version: "example.com/v1".to_owned(),
            format: format.into(),
            document: document.as_bytes().to_vec().into(),
        }),
        ..v1::ObjectsPatchRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_patch_that_does_not_apply_is_refused_and_changes_nothing() {
    use v1::PatchFormat::{Json, Merge};
    let cluster = start().await;
    let before = agree(&cluster).await;
    let operations = |count: usize| {
        let test = r#"{"op":"test","path":"/list/0","value":1}"#;
        format!("[{}]", vec![test; count].join(","))
    };
    let invalid = [
        ("no JSON", patch(Merge, "{")),
        ("no object", patch(Merge, "[]")),
        ("a key twice", patch(Merge, r#"{"a":1,"a":2}"#)),
        (
            "too deep",
            patch(Merge, &format!(r#"{{"a":{}}}"#, nested(JSON_DEPTH_MAX))),
        ),
        ("no list", patch(Json, "{}")),
        (
            "no operation",
            patch(Json, r#"[{"op":"explode","path":"/list"}]"#),
        ),
        (
            "no pointer",
            patch(Json, r#"[{"op":"remove","path":"list"}]"#),
        ),
        (
            "nothing there",
            patch(Json, r#"[{"op":"remove","path":"/list/7"}]"#),
        ),
        (
            "the second of two",
            patch(
                Json,
                r#"[{"op":"add","path":"/a","value":1},{"op":"replace","path":"/b","value":1}]"#,
            ),
        ),
        (
            "too many",
            patch(Json, &operations(PATCH_OPERATIONS_MAX + 1)),
        ),
    ];
    let failed = patch(Json, r#"[{"op":"test","path":"/list/0","value":2}]"#);
    let mut elsewhere = patch(Merge, "{}");
    let changed = elsewhere.patch.as_mut().expect("it has one");
    changed.encoding_version = "example.com/v2".to_owned();
    for id in IDS {
        let wire = Wire::to(&cluster.endpoint(id));
        for (what, request) in &invalid {
            let patched = wire.objects().patch(timely(request.clone())).await;
            check_invalid(what, &refusal(patched), "patch");
        }
        for request in [&failed, &elsewhere] {
            let refused = refusal(wire.objects().patch(timely(request.clone())).await);
            assert_eq!(refused.kind, ErrorKind::Conflict, "{refused:?}");
        }
        // As many tests as there may be change nothing either, and are no fault.
        let most = patch(Json, &operations(PATCH_OPERATIONS_MAX));
        let same = wire.objects().patch(timely(most)).await;
        assert!(!same.expect("it applies").into_inner().changed);
    }
    assert_eq!(agree(&cluster).await, before);
    cluster.finish().await;
}

fn creating(name: &str) -> v1::ObjectsOperation {
    let request = create("mine", name, "{}");
    v1::ObjectsOperation {
        operation: Some(v1::objects_operation::Operation::Create(
            v1::CreateOperation {
                key: request.key,
                content: request.content,
                ..v1::CreateOperation::default()
            },
        )),
    }
}

fn deleting(name: &str) -> v1::ObjectsOperation {
    v1::ObjectsOperation {
        operation: Some(v1::objects_operation::Operation::Delete(
            v1::DeleteOperation {
                key: Some(key("mine", name)),
                ..v1::DeleteOperation::default()
            },
        )),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_breaks_a_rule_does_nothing_of_what_it_was_to_do() {
    let cluster = start().await;
    let before = agree(&cluster).await;
    let transact = |operations| v1::ObjectsTransactRequest {
        operations,
        ..v1::ObjectsTransactRequest::default()
    };
    for id in IDS {
        let objects = || Wire::to(&cluster.endpoint(id)).objects();
        let twice = [
            vec![creating("new"), creating("new")],
            vec![deleting("thing"), creating("thing")],
        ];
        for operations in twice {
            let refused = refusal(objects().transact(timely(transact(operations))).await);
            check_invalid("a key twice", &refused, "operations[1].key");
        }
        let empty = vec![creating("new"), v1::ObjectsOperation::default()];
        let refused = refusal(objects().transact(timely(transact(empty))).await);
        check_invalid("an empty operation", &refused, "operations[1]");
        // What comes before the one that is refused is not done either.
        for (operations, expected) in [
            (
                vec![creating("new"), creating("thing")],
                ErrorKind::AlreadyExists,
            ),
            (
                vec![deleting("thing"), deleting("absent")],
                ErrorKind::NotFound,
            ),
        ] {
            let refused = objects().transact(timely(transact(operations))).await;
            assert_eq!(kind(refused), expected, "replica {id}");
        }
    }
    assert_eq!(agree(&cluster).await, before);
    cluster.finish().await;
}

fn owner(name: &str, uid: &str) -> v1::OwnerReference {
    v1::OwnerReference {
        api_version: "example.com/v1".to_owned(),
        kind: "Thing".to_owned(),
        name: name.to_owned(),
        uid: uid.to_owned(),
        block_owner_deletion: true,
        ..v1::OwnerReference::default()
    }
}

async fn gone(wire: &Wire, name: &str) {
    eventually(&format!("{name} to be gone"), async || {
        let get = v1::ObjectsGetRequest {
            key: Some(key("mine", name)),
            read: None,
        };
        match wire.objects().get(timely(get)).await {
            Ok(_) => Err("it is there".to_owned()),
            Err(status) => match synod_proto::status::from_status(&status).kind {
                ErrorKind::NotFound => Ok(()),
                other => Err(format!("{other:?}")),
            },
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_in_a_circle_go_together() {
    let cluster = start().await;
    for (id, propagation) in IDS.into_iter().zip([
        v1::Propagation::Background,
        v1::Propagation::Foreground,
        v1::Propagation::Unspecified,
    ]) {
        let wire = Wire::to(&cluster.endpoint(id));
        let mut uids = Vec::new();
        for name in ["one", "two", "three"] {
            uids.push(stored(&wire, create("mine", name, "{}")).await);
        }
        // One belongs to three, two to one, three to two.
        let circle = [
            ("one", vec![owner("three", &uids[2])]),
            ("two", vec![owner("one", &uids[0])]),
            ("three", vec![owner("two", &uids[1])]),
        ];
        for (name, owner_references) in circle {
            let request = create("mine", name, "{}");
            let update = v1::ObjectsUpdateRequest {
                key: request.key,
                content: request.content,
                attributes: Some(v1::ObjectAttributes {
                    owner_references,
                    ..v1::ObjectAttributes::default()
                }),
                preconditions: Some(v1::Preconditions {
                    uid: String::new(),
                    resource_version: Some(revision_of(&wire, name).await),
                }),
                ..v1::ObjectsUpdateRequest::default()
            };
            let updated = wire.objects().update(timely(update)).await;
            assert!(
                updated
                    .expect("owners may be in a circle")
                    .into_inner()
                    .changed
            );
        }
        let delete = v1::ObjectsDeleteRequest {
            key: Some(key("mine", "two")),
            propagation: propagation.into(),
            ..v1::ObjectsDeleteRequest::default()
        };
        let deleted = wire.objects().delete(timely(delete)).await;
        assert!(deleted.expect("it can be deleted").into_inner().changed);
        for name in ["one", "two", "three"] {
            gone(&wire, name).await;
        }
    }
    agree(&cluster).await;
    cluster.finish().await;
}

async fn revision_of(wire: &Wire, name: &str) -> u64 {
    let get = v1::ObjectsGetRequest {
        key: Some(key("mine", name)),
        read: None,
    };
    let view = wire.objects().get(timely(get)).await;
    let object = view.expect("it is there").into_inner().object;
    let metadata = object.and_then(|object| object.metadata);
    metadata.expect("it has metadata").resource_version
}

fn list(namespace: &str, continue_token: &str) -> v1::ObjectsListRequest {
    v1::ObjectsListRequest {
        resource: Some(things()),
        namespace: namespace.to_owned(),
        page_size: Some(1),
        continue_token: continue_token.to_owned(),
        ..v1::ObjectsListRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_seen_of_another_namespace_through_a_token_an_owner_or_a_refusal() {
    const SECRET: &str = "launch-code";
    let cluster = start().await;
    let first = Wire::to(&cluster.endpoint(1));
    let uid = stored(&first, create("theirs", SECRET, "{}")).await;
    stored(&first, create("mine", "zebra", "{}")).await;
    let page = first.objects().list(timely(list("mine", ""))).await;
    let token = page.expect("it is a list").into_inner().continue_token;
    let cut = &token[..token.len() - 1];
    let turned: String = token.chars().rev().collect();
    let before = agree(&cluster).await;
    for id in IDS {
        let objects = || Wire::to(&cluster.endpoint(id)).objects();
        // A token of one replica goes on at another, with its own list and with no other.
        let rest = objects().list(timely(list("mine", &token))).await;
        assert_eq!(rest.expect("it goes on").into_inner().items.len(), 1);
        for request in [
            list("theirs", &token),
            list("", &token),
            list("mine", cut),
            list("mine", &turned),
            list("mine", "\0"),
        ] {
            let refused = refusal(objects().list(timely(request)).await);
            check_invalid("a token", &refused, "continueToken");
            assert!(!format!("{refused:?}").contains(SECRET), "{refused:?}");
        }
        // Nothing tells whether an owner is in another namespace or nowhere.
        let mut rules = Vec::new();
        for uid in [uid.as_str(), "00000000-0000-8000-8000-000000000000"] {
            let mut request = create("mine", "new", "{}");
            attributes(&mut request).owner_references = vec![owner(SECRET, uid)];
            let refused = refusal(objects().create(timely(request)).await);
            check_invalid("an owner", &refused, "ownerReferences[0]");
            rules.push(format!("{refused:?}").replace(uid, "UID"));
        }
        assert_eq!(rules[0], rules[1], "replica {id}");
        let get = v1::ObjectsGetRequest {
            key: Some(key("mine", SECRET)),
            read: None,
        };
        let absent = refusal(objects().get(timely(get)).await);
        assert_eq!(absent.kind, ErrorKind::NotFound);
        assert_eq!(absent.current, None);
    }
    assert_eq!(agree(&cluster).await, before);
    // When its revision is no longer kept, a token is too old, at whichever replica.
    let patch = v1::SettingsPatch {
        history_revisions: Some(1),
        ..v1::SettingsPatch::default()
    };
    let update = v1::ClusterUpdateSettingsRequest {
        patch: Some(patch),
        ..v1::ClusterUpdateSettingsRequest::default()
    };
    let updated = first.cluster().update_settings(timely(update)).await;
    updated.expect("the settings can be changed");
    stored(&first, create("mine", "late", "{}")).await;
    for id in IDS {
        let objects = || Wire::to(&cluster.endpoint(id)).objects();
        let old = objects().list(timely(list("mine", &token))).await;
        assert_eq!(kind(old), ErrorKind::Compacted, "replica {id}");
    }
    cluster.finish().await;
}
