//! Sends bad requests about objects to every replica: each must be refused with its kind and its field, store nothing,
//! and show nothing of another namespace.

mod changes;
mod owners;
mod sight;

use synod_client::ErrorKind;
use synod_model::Refusal;
use synod_model::limits::{
    ANNOTATIONS_BYTES_MAX, FINALIZERS_MAX, JSON_DEPTH_MAX, LABEL_BYTES_MAX, MEDIA_TYPE_BYTES_MAX,
};
use synod_proto::v1;

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::requests::{Wire, refusal, timely};

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

/// Three replicas with the collection, and with an object in each of two namespaces.
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

/// Stores an object, and returns its uid.
async fn stored(wire: &Wire, create: v1::ObjectsCreateRequest) -> String {
    let created = wire.objects().create(timely(create)).await;
    created.expect("it breaks no rule").into_inner().uid
}

/// Checks that a request is refused as invalid, in a field whose path contains `field`.
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

/// A legal create with something changed.
fn with(change: &dyn Fn(&mut v1::ObjectsCreateRequest)) -> v1::ObjectsCreateRequest {
    let mut request = create("mine", "new", "{}");
    change(&mut request);
    request
}

/// A create that breaks a rule: what it is, the request, and a part of the field's path.
type Illegal = (&'static str, v1::ObjectsCreateRequest, &'static str);

fn misnamed() -> Vec<Illegal> {
    let named = |namespace: &str, name: &str| create(namespace, name, "{}");
    vec![
        ("no key", with(&|it| it.key = None), "key"),
        ("no name", named("mine", ""), "key.name"),
        ("a path for a name", named("mine", "../thing"), "key.name"),
        ("no namespace", named("", "new"), "namespace"),
        (
            "a path for a namespace",
            named("mine/../theirs", "new"),
            "key.namespace",
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

fn misencoded() -> Vec<Illegal> {
    let typed = |media_type: &str| with(&|it| content(it).media_type = media_type.to_owned());
    let unversioned = with(&|it| content(it).encoding_version.clear());
    let mut illegal = vec![
        ("no content", with(&|it| it.content = None), "content"),
        ("no version", unversioned, "encodingVersion"),
    ];
    for media_type in [
        "text/plain\r\nX-Admin: yes",
        "text/<script>",
        "text/plain\0",
        "text/plain; a=\"b",
        "text",
    ] {
        illegal.push((media_type, typed(media_type), "mediaType"));
    }
    illegal
}

/// Documents that claim to be JSON and are not.
fn documents() -> Vec<Illegal> {
    let deep = [nested(JSON_DEPTH_MAX + 1), nested(200_000)];
    let documents = [
        ("no JSON", "{"),
        ("an empty document", ""),
        ("two documents", "{}{}"),
        ("a key twice", r#"{"a":1,"b":{"c":1,"c":2}}"#),
        ("half of a character", r#"{"a":"\ud800"}"#),
        ("a number that is none", r#"{"a":NaN}"#),
        ("an endless number", r#"{"a":1e1000000}"#),
        ("a document too deep", deep[0].as_str()),
        ("a document far too deep", deep[1].as_str()),
    ];
    documents
        .map(|(what, document)| (what, create("mine", "new", document), "data"))
        .into()
}

// Guarantee: O-10, TM-21
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_object_that_breaks_a_rule_is_refused_by_its_place_and_stores_nothing() {
    let cluster = start().await;
    let before = agree(&cluster).await;
    for id in IDS {
        let wire = Wire::to(&cluster.endpoint(id));
        for (what, request, field) in [misnamed(), misencoded(), documents()].concat() {
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

/// A limit: its field, its value, and how a create is given that many of it.
type Limit = (
    &'static str,
    usize,
    fn(&mut v1::ObjectsCreateRequest, usize),
);

/// The limits of an object, apart from its size, its name and the number of its labels.
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

// Guarantee: O-10
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
