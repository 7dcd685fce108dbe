//! Tests of collections and objects through a real replica: at a limit, beyond it, and with invalid requests.

use synod_proto::v1;
use synod_proto::v1::collections_client::CollectionsClient;
use synod_proto::v1::objects_client::ObjectsClient;
use tonic::Status;
use tonic::transport::Channel;

use crate::cluster::{Clients, Cluster, reason};

struct Store {
    objects: ObjectsClient<Channel>,
    clients: Clients,
    _cluster: Cluster,
}

impl Store {
    /// One replica with the namespaced collection of widgets.
    async fn start() -> Self {
        let cluster = Cluster::start(1).await;
        let mut collections = CollectionsClient::new(cluster.connect(1).await);
        let create = v1::CollectionsCreateRequest {
            resource: Some(widgets()),
            kind: "Widget".to_owned(),
            namespaced: true,
            ..Default::default()
        };
        collections.create(create).await.unwrap();
        Self {
            objects: ObjectsClient::new(cluster.connect(1).await),
            clients: cluster.clients(1).await,
            _cluster: cluster,
        }
    }

    async fn create(&mut self, request: v1::ObjectsCreateRequest) -> Result<u64, Status> {
        let answer = self.objects.create(request).await?.into_inner();
        Ok(answer.resource_version)
    }

    async fn list(&mut self, request: v1::ObjectsListRequest) -> Result<Page, Status> {
        let page = self.objects.list(request).await?.into_inner();
        let named = |item: v1::ObjectListItem| item.object.unwrap().metadata.unwrap();
        let names = page.items.into_iter().map(named);
        Ok(Page {
            names: names
                .map(|metadata| format!("{}/{}", metadata.namespace, metadata.name))
                .collect(),
            token: page.continue_token,
        })
    }

    async fn set(&mut self, patch: v1::SettingsPatch) {
        let update = v1::ClusterUpdateSettingsRequest {
            patch: Some(patch),
            ..v1::ClusterUpdateSettingsRequest::default()
        };
        self.clients.cluster.update_settings(update).await.unwrap();
    }
}

struct Page {
    names: Vec<String>,
    token: String,
}

fn widgets() -> v1::GroupResource {
    v1::GroupResource {
        group: "example.io".to_owned(),
        resource: "widgets".to_owned(),
    }
}

fn key(namespace: &str, name: &str) -> Option<v1::ObjectKey> {
    Some(v1::ObjectKey {
        resource: Some(widgets()),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
}

/// Content of this many bytes, whose values do not matter.
fn content(bytes: usize) -> Option<v1::ObjectContent> {
    Some(v1::ObjectContent {
        encoding_version: "example.io/v1".to_owned(),
        media_type: "application/octet-stream".to_owned(),
        data: vec![b'x'; bytes].into(),
    })
}

fn create(namespace: &str, name: &str, bytes: usize) -> v1::ObjectsCreateRequest {
    v1::ObjectsCreateRequest {
        key: key(namespace, name),
        content: content(bytes),
        ..Default::default()
    }
}

fn list(namespace: &str, size: u32, continue_token: &str) -> v1::ObjectsListRequest {
    v1::ObjectsListRequest {
        resource: Some(widgets()),
        namespace: namespace.to_owned(),
        page_size: Some(size),
        continue_token: continue_token.to_owned(),
        ..Default::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_write_leaves_the_object_out_if_that_is_asked() {
    let mut store = Store::start().await;
    for without_object in [false, true] {
        let name = format!("left-out-{without_object}");
        let create = v1::ObjectsCreateRequest {
            without_object,
            ..create("a", &name, 64)
        };
        let created = store.objects.create(create).await.unwrap().into_inner();
        assert_eq!(created.object.is_none(), without_object);

        let update = v1::ObjectsUpdateRequest {
            key: key("a", &name),
            content: content(65),
            preconditions: Some(v1::Preconditions {
                uid: created.uid.clone(),
                resource_version: Some(created.resource_version),
            }),
            without_object,
            ..Default::default()
        };
        let updated = store.objects.update(update.clone()).await.unwrap();
        let updated = updated.into_inner();
        assert_eq!(updated.object.is_none(), without_object);
        assert_eq!((updated.changed, &updated.uid), (true, &created.uid));
        assert!(updated.resource_version > created.resource_version);

        // A refusal says what there is, whatever was asked of the answer.
        let refused = store.objects.update(update).await.unwrap_err();
        let details = synod_proto::status::from_status(&refused);
        assert_eq!(details.kind.reason(), "CONFLICT");
        assert!(details.current.is_some());

        let patch = v1::ObjectsPatchRequest {
            key: key("a", &name),
            metadata_patch: Some(v1::MetadataPatch {
                format: v1::PatchFormat::Merge.into(),
                document: br#"{"labels": {"a": "b"}}"#.as_slice().into(),
            }),
            without_object,
            ..Default::default()
        };
        let patched = store.objects.patch(patch).await.unwrap().into_inner();
        assert_eq!(patched.object.is_none(), without_object);
        assert!(patched.resource_version > updated.resource_version);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_at_a_limit_of_objects_is_stored_and_one_more_is_refused() {
    let mut store = Store::start().await;
    const MIB: usize = 1 << 20;
    for (i, bytes) in [MIB - 1, MIB].into_iter().enumerate() {
        let created = store.create(create("a", &format!("data-{i}"), bytes)).await;
        assert!(created.is_ok(), "{bytes}");
    }
    let refused = store.create(create("a", "data-2", MIB + 1)).await;
    assert_eq!(reason(&refused.unwrap_err()), "INVALID_ARGUMENT");

    let labelled = |name: &str, count: usize| {
        let labels = (0..count).map(|i| (format!("label-{i}"), "x".to_owned()));
        let mut request = create("a", name, 1);
        request.attributes = Some(v1::ObjectAttributes {
            labels: labels.collect(),
            ..Default::default()
        });
        request
    };
    store.create(labelled("labels-63", 63)).await.unwrap();
    store.create(labelled("labels-64", 64)).await.unwrap();
    let refused = store.create(labelled("labels-65", 65)).await;
    assert_eq!(reason(&refused.unwrap_err()), "INVALID_ARGUMENT");

    let long = |bytes: usize| {
        let label = "n".repeat(49);
        let mut name = [label.as_str(); 5].join(".");
        name.extend(std::iter::repeat_n('n', bytes.saturating_sub(name.len())));
        name.truncate(bytes);
        name
    };
    store.create(create("a", &long(252), 1)).await.unwrap();
    store.create(create("a", &long(253), 1)).await.unwrap();
    let refused = store.create(create("a", &long(254), 1)).await;
    assert_eq!(reason(&refused.unwrap_err()), "INVALID_ARGUMENT");
    store.create(create(&"s".repeat(62), "n", 1)).await.unwrap();
    store.create(create(&"s".repeat(63), "n", 1)).await.unwrap();
    let refused = store.create(create(&"s".repeat(64), "n", 1)).await;
    assert_eq!(reason(&refused.unwrap_err()), "INVALID_ARGUMENT");
}

fn transact(prefix: &str, count: usize) -> v1::ObjectsTransactRequest {
    let operation = |i: usize| v1::ObjectsOperation {
        operation: Some(v1::objects_operation::Operation::Create(
            v1::CreateOperation {
                key: key("a", &format!("{prefix}-{i:03}")),
                content: content(1),
                ..Default::default()
            },
        )),
    };
    v1::ObjectsTransactRequest {
        operations: (0..count).map(operation).collect(),
        ..Default::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_of_128_operations_is_one_revision_and_one_more_is_refused() {
    let mut store = Store::start().await;
    for (prefix, count) in [("most-but-one", 127), ("most", 128)] {
        let done = store.objects.transact(transact(prefix, count)).await;
        let done = done.unwrap().into_inner();
        assert!(done.succeeded);
        assert_eq!(done.results.len(), count);
        let revision = done.header.unwrap().revision;
        let same = |result: &v1::OperationResult| result.resource_version == revision;
        assert!(done.results.iter().all(same));
    }
    let refused = store.objects.transact(transact("more", 129)).await;
    assert_eq!(reason(&refused.unwrap_err()), "INVALID_ARGUMENT");
    let mut twice = transact("twice", 1);
    twice.operations.extend(transact("twice", 1).operations);
    let refused = store.objects.transact(twice).await;
    assert_eq!(reason(&refused.unwrap_err()), "INVALID_ARGUMENT");
    // One refused operation fails the whole transaction.
    let mut half = transact("half", 1);
    half.operations.extend(transact("most", 1).operations);
    let refused = store.objects.transact(half).await;
    assert_eq!(reason(&refused.unwrap_err()), "ALREADY_EXISTS");
    let found = store.list(list("a", 5_000, "")).await.unwrap();
    assert_eq!(found.names.len(), 127 + 128);
}

/// A transaction whose comparison fails for as long as the object `there` exists, so that it reads these names.
fn reading(there: &str, names: &[&str]) -> v1::ObjectsTransactRequest {
    let absent = v1::CompareExistence {
        key: key("a", there),
        exists: false,
    };
    v1::ObjectsTransactRequest {
        compares: vec![v1::ObjectsCompare {
            compare: Some(v1::objects_compare::Compare::Existence(absent)),
        }],
        reads: names.iter().filter_map(|name| key("a", name)).collect(),
        ..Default::default()
    }
}

/// For each read, whether the object was returned, and whether it was left out.
fn told(answer: v1::ObjectsTransactResponse) -> Vec<(bool, bool)> {
    assert!(!answer.succeeded);
    let reads = answer.reads.into_iter();
    reads
        .map(|read| (read.object.is_some(), read.left_out))
        .collect()
}

// Guarantee: O-08
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_reads_as_much_as_fits_and_says_what_it_left_out() {
    let mut store = Store::start().await;
    for (name, bytes) in [
        ("one", 900_000),
        ("two", 900_000),
        ("three", 900_000),
        ("small", 9),
    ] {
        store.create(create("a", name, bytes)).await.unwrap();
    }
    let names = ["one", "two", "three", "small", "nothing"];
    let opened = store
        .clients
        .sessions
        .open(v1::SessionsOpenRequest {})
        .await;
    let mut request = reading("one", &names);
    request.request_id = Some(v1::RequestId {
        session: opened.unwrap().into_inner().session,
        sequence: 1,
        lowest_unanswered: 1,
        cluster_id: String::new(),
    });
    let answer = store.objects.transact(request.clone()).await;
    let (given, left_out, absent) = ((true, false), (false, true), (false, false));
    let expected = [given, given, left_out, given, absent];
    assert_eq!(told(answer.unwrap().into_inner()), expected);
    // A retry gets the same answer, although the objects have changed.
    store.create(create("a", "nothing", 1)).await.unwrap();
    let retry = store.objects.transact(request.clone()).await;
    assert_eq!(told(retry.unwrap().into_inner()), expected);
    // Once the revision is no longer kept, the objects are left out.
    store
        .set(v1::SettingsPatch {
            history_revisions: Some(1),
            ..Default::default()
        })
        .await;
    store.create(create("a", "late", 1)).await.unwrap();
    let retry = store.objects.transact(request).await;
    assert_eq!(told(retry.unwrap().into_inner()), [left_out; 5]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_objects_is_refused_that_is_none_or_foreign_or_too_old() {
    let mut store = Store::start().await;
    for (namespace, name) in [("a", "one"), ("a", "two"), ("b", "one"), ("b", "secret")] {
        store.create(create(namespace, name, 1)).await.unwrap();
    }
    let page = store.list(list("a", 1, "")).await.unwrap();
    assert_eq!(page.names, ["a/one"]);
    // A token continues only its own list: it gives no access to objects of another namespace.
    for foreign in [list("b", 1, &page.token), list("", 1, &page.token)] {
        let refused = store.list(foreign).await.err().unwrap();
        assert_eq!(reason(&refused), "INVALID_ARGUMENT");
    }
    let mut selected = list("a", 1, &page.token);
    selected.label_selector = "app".to_owned();
    let refused = store.list(selected).await.err().unwrap();
    assert_eq!(reason(&refused), "INVALID_ARGUMENT");
    for garbage in ["garbage", "AAAA", &"A".repeat(600)] {
        let refused = store.list(list("a", 1, garbage)).await.err().unwrap();
        assert_eq!(reason(&refused), "INVALID_ARGUMENT");
    }
    let rest = store.list(list("a", 1, &page.token)).await.unwrap();
    assert_eq!(
        (rest.names, rest.token),
        (vec!["a/two".to_owned()], String::new())
    );

    store
        .set(v1::SettingsPatch {
            history_revisions: Some(1),
            ..Default::default()
        })
        .await;
    store.create(create("a", "late", 1)).await.unwrap();
    let old = store.list(list("a", 1, &page.token)).await.err().unwrap();
    assert_eq!(reason(&old), "COMPACTED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_quota_refuses_what_is_new_and_takes_reads_and_deletions() {
    let mut store = Store::start().await;
    store
        .set(v1::SettingsPatch {
            state_quota_bytes: Some(128 << 20),
            ..Default::default()
        })
        .await;
    let mut stored = 0;
    let refused = loop {
        match store
            .create(create("a", &format!("w-{stored:03}"), 1 << 20))
            .await
        {
            Ok(_) => stored += 1,
            Err(refused) => break refused,
        }
        assert!(stored <= 128, "the quota holds nothing back");
    };
    assert_eq!(reason(&refused), "QUOTA");
    assert_eq!(
        store.list(list("a", 1, "")).await.unwrap().names,
        ["a/w-000"]
    );
    for i in 0..stored {
        let delete = v1::ObjectsDeleteRequest {
            key: key("a", &format!("w-{i:03}")),
            ..Default::default()
        };
        let deleted = store.objects.delete(delete).await.unwrap().into_inner();
        assert!(deleted.deleted);
    }
    store.create(create("a", "again", 1 << 20)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_made_only_under_the_token_that_holds_the_lease_in_this_cluster() {
    let mut store = Store::start().await;
    let lease = v1::LeaseKey {
        namespace: "a".to_owned(),
        name: "lock".to_owned(),
    };
    let acquire = v1::LeasesAcquireRequest {
        lease: Some(lease.clone()),
        holder: "first".to_owned(),
        ..Default::default()
    };
    let acquired = store.clients.leases.acquire(acquire).await.unwrap();
    let acquired = acquired.into_inner();
    let v1::leases_acquire_response::Result::Held(held) = acquired.result.unwrap() else {
        panic!("a free lease is held")
    };
    let under = |token, cluster_id: &str| v1::Fences {
        if_lease: Some(v1::LeaseToken {
            lease: Some(lease.clone()),
            token,
            cluster_id: cluster_id.to_owned(),
        }),
        ..Default::default()
    };
    let cluster = acquired.header.unwrap().cluster_id;
    let other = "6f662f7d-cca5-8e94-817e-f4a9c76dcdd5";
    for (token, cluster, expected) in [
        (held.token + 1, cluster.as_str(), "STALE_EPOCH"),
        (held.token, other, "STALE_EPOCH"),
        (0, cluster.as_str(), "INVALID_ARGUMENT"),
    ] {
        for dry_run in [false, true] {
            let refused = v1::ObjectsCreateRequest {
                fences: Some(under(token, cluster)),
                dry_run,
                ..create("a", "w", 1)
            };
            let refused = store.create(refused).await.unwrap_err();
            assert_eq!(reason(&refused), expected, "{refused}");
        }
    }
    let fenced = v1::ObjectsCreateRequest {
        fences: Some(under(held.token, &cluster)),
        ..create("a", "w", 1)
    };
    store.create(fenced).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_use_is_refused_with_its_place_and_stores_nothing() {
    let mut store = Store::start().await;
    let mut hostile = create("a", "w", 1);
    hostile.content.as_mut().unwrap().media_type = "text/html; charset=\"\r\nX: y\"".to_owned();
    let refused = store.create(hostile).await.unwrap_err();
    assert_eq!(reason(&refused), "INVALID_ARGUMENT");
    let mut no_json = create("a", "w", 1);
    no_json.content.as_mut().unwrap().media_type = "application/json".to_owned();
    let stored = store.create(no_json).await;
    if let Err(refused) = &stored {
        assert_eq!(reason(refused), "INVALID_ARGUMENT");
    }
    let cluster_scoped = store.create(create("", "w", 1)).await.unwrap_err();
    assert_eq!(reason(&cluster_scoped), "INVALID_ARGUMENT");
    let mut unknown = create("a", "w", 1);
    unknown.key.as_mut().unwrap().resource = Some(v1::GroupResource {
        group: "example.io".to_owned(),
        resource: "gadgets".to_owned(),
    });
    let unknown = store.create(unknown).await.unwrap_err();
    assert_eq!(reason(&unknown), "NOT_FOUND");
    let patch = v1::ObjectsPatchRequest {
        key: key("a", "bytes"),
        patch: Some(v1::ContentPatch {
            encoding_version: "example.io/v1".to_owned(),
            format: v1::PatchFormat::Merge.into(),
            document: b"{}".to_vec().into(),
        }),
        ..Default::default()
    };
    let absent = store.objects.patch(patch.clone()).await.unwrap_err();
    assert_eq!(reason(&absent), "NOT_FOUND");
    store.create(create("a", "bytes", 3)).await.unwrap();
    let no_object = store.objects.patch(patch).await.unwrap_err();
    assert_eq!(reason(&no_object), "INVALID_ARGUMENT");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_refused_in_the_same_words_to_readers_and_writers() {
    let mut store = Store::start().await;
    let get = |store: &Store, key: Option<v1::ObjectKey>| {
        let mut objects = store.objects.clone();
        async move {
            let request = v1::ObjectsGetRequest { key, read: None };
            objects.get(request).await.unwrap_err()
        }
    };
    let delete = |store: &Store, key: Option<v1::ObjectKey>| {
        let mut objects = store.objects.clone();
        async move {
            let request = v1::ObjectsDeleteRequest {
                key,
                ..Default::default()
            };
            objects.delete(request).await.unwrap_err()
        }
    };
    let absent = get(&store, key("a", "w")).await;
    assert_eq!(reason(&absent), "NOT_FOUND");
    assert_eq!(absent.message(), "widgets.example.io \"w\" not found");
    let written = delete(&store, key("a", "w")).await;
    assert_eq!(
        (written.message(), written.code()),
        (absent.message(), absent.code())
    );
    let undeclared = || {
        key("a", "w").map(|key| v1::ObjectKey {
            resource: Some(v1::GroupResource {
                group: String::new(),
                resource: "gadgets".to_owned(),
            }),
            ..key
        })
    };
    let unknown = get(&store, undeclared()).await;
    assert_eq!(
        unknown.message(),
        "there is no collection gadgets: declare it first"
    );
    let written = delete(&store, undeclared()).await;
    assert_eq!(written.message(), unknown.message());
    store.create(create("a", "w", 1)).await.unwrap();
    let again = store.create(create("a", "w", 1)).await.unwrap_err();
    assert_eq!(again.message(), "widgets.example.io \"w\" already exists");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_of_the_metadata_alone_names_no_encoding_and_may_take_the_last_finalizer() {
    let mut store = Store::start().await;
    let mut waiting = create("a", "w", 3);
    waiting.attributes = Some(v1::ObjectAttributes {
        finalizers: vec!["example.io/wait".to_owned()],
        ..Default::default()
    });
    waiting.ttl_ms = Some(60_000);
    store.create(waiting).await.unwrap();
    let patch = |document: &str| v1::ObjectsPatchRequest {
        key: key("a", "w"),
        metadata_patch: Some(v1::MetadataPatch {
            format: v1::PatchFormat::Merge.into(),
            document: document.as_bytes().to_vec().into(),
        }),
        remove_ttl: true,
        ..Default::default()
    };
    let labelled = store.objects.patch(patch(r#"{"labels":{"app":"web"}}"#));
    let labelled = labelled.await.unwrap().into_inner();
    assert!(labelled.changed && !labelled.deleted);
    let metadata = labelled.object.unwrap().metadata.unwrap();
    assert_eq!(metadata.labels["app"], "web");
    let get = v1::ObjectsGetRequest {
        key: key("a", "w"),
        read: None,
    };
    let found = store.objects.get(get).await.unwrap().into_inner();
    assert_eq!(found.remaining_ms, None, "its TTL was taken away");
    let misspelt = store.objects.patch(patch(r#"{"lables":{}}"#)).await;
    assert_eq!(reason(&misspelt.unwrap_err()), "INVALID_ARGUMENT");
    let delete = v1::ObjectsDeleteRequest {
        key: key("a", "w"),
        ..Default::default()
    };
    let deleted = store.objects.delete(delete).await.unwrap().into_inner();
    assert!(deleted.changed && !deleted.deleted);
    let last = store.objects.patch(patch(r#"{"finalizers":null}"#));
    let last = last.await.unwrap().into_inner();
    assert!(last.changed && last.deleted);
    assert_eq!(last.uid, deleted.uid);
}
