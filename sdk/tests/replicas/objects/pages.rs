use futures::StreamExt as _;
use synod_client::{
    Attributes, CollectionRules, Compare, Content, CreateObject, ErrorKind, Fences, FieldSelector,
    LabelSelector, Labels, ListCollections, ListObjects, ListRosters, MediaType, NewObject,
    ObjectPage, ReadOptions, ReadResult, ResourceScope, RosterRule, SetRoster, Settings, Transact,
};

use super::{V1, WIDGETS, create, declare, key, named, numbers};
use crate::cluster::{Cluster, legal, resource, version, within};

// Guarantee: O-06
#[tokio::test(start_paused = true)]
async fn all_pages_of_a_list_show_one_revision_whatever_is_written_meanwhile() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    for i in 0..20 {
        create(&objects, "a", &format!("w-{i:02}"), i).await;
    }
    let list = ListObjects::new(resource(WIDGETS)).with_page_size(3);
    let mut pages = client.raw_objects().list(&list);
    let mut found = Vec::new();
    let mut revision = None;
    let mut next = 0;
    while let Some(page) = within(pages.next()).await.unwrap() {
        assert_eq!(
            *revision.get_or_insert(page.header.revision),
            page.header.revision
        );
        assert!(page.items.len() <= 3);
        found.extend(page.items.into_iter().map(|item| item.object.key.name));
        // One object is deleted, one created, one changed: the list shows none of it.
        within(objects.delete(
            &named("a", &format!("w-{next:02}")),
            Default::default(),
            None,
        ))
        .await
        .unwrap();
        create(&objects, "a", &format!("new-{next:02}"), 1).await;
        next += 1;
    }
    let expected: Vec<_> = (0..20).map(|i| named("a", &format!("w-{i:02}"))).collect();
    assert_eq!(found, expected);
}

#[tokio::test(start_paused = true)]
async fn objects_are_selected_by_namespace_labels_and_fields() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    for (namespace, name, labels) in [
        ("a", "one", vec![("app", "web"), ("tier", "front")]),
        ("a", "two", vec![("app", "web"), ("tier", "back")]),
        ("a", "three", vec![("app", "api")]),
        ("b", "one", vec![("app", "web")]),
        ("b", "four", vec![]),
    ] {
        let new = NewObject {
            attributes: Attributes {
                labels: legal(Labels::parse(labels)),
                ..Attributes::default()
            },
            ..NewObject::new(named(namespace, name), 1)
        };
        within(objects.create(new)).await.unwrap();
    }
    for (labels, fields, expected) in [
        ("", "", "a/one a/three a/two b/four b/one"),
        ("app=web", "", "a/one a/two b/one"),
        ("app=web,tier in (back,side)", "", "a/two"),
        ("app,!tier", "", "a/three b/one"),
        ("tier notin (front)", "", "a/three a/two b/four b/one"),
        ("", "metadata.name=one", "a/one b/one"),
        ("", "metadata.namespace=b,metadata.name!=one", "b/four"),
        ("app=web", "metadata.namespace=b,metadata.name=one", "b/one"),
        ("app=api", "metadata.namespace=b", ""),
        ("", "metadata.namespace=", ""),
    ] {
        let list = ListObjects::new(resource(WIDGETS))
            .with_labels(legal(LabelSelector::parse(labels)))
            .with_fields(legal(FieldSelector::parse(fields)))
            .with_page_size(2);
        let mut found = Vec::new();
        let mut stream = std::pin::pin!(objects.list(list));
        while let Some(stored) = within(stream.next()).await {
            found.push(stored.unwrap().name().to_string());
        }
        assert_eq!(found.join(" "), expected, "{labels} {fields}");
    }
    let other = ListObjects::new(resource("gadgets.example.io"));
    let undeclared = within(client.raw_objects().list(&other).all()).await;
    assert_eq!(undeclared.unwrap_err().kind(), ErrorKind::NotFound);
}

/// A cluster that keeps a hundred revisions.
async fn forgetful() -> Cluster {
    let settings = Settings {
        history_revisions: Settings::default().history_revisions.min(100),
        ..Settings::default()
    };
    Cluster::start_with(1, settings).await
}

// Guarantee: R-05
#[tokio::test(start_paused = true)]
async fn a_list_that_is_compacted_goes_on_at_the_present_and_says_so() {
    let cluster = forgetful().await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    for i in 0..9 {
        create(&objects, "a", &format!("w-{i}"), i).await;
    }
    let list = ListObjects::new(resource(WIDGETS)).with_page_size(3);
    let mut pages = client.raw_objects().list(&list);
    let names = |page: &ObjectPage| -> Vec<String> {
        let items = page.items.iter();
        items
            .map(|item| item.object.key.name.name().to_owned())
            .collect()
    };
    let first = within(pages.next()).await.unwrap().unwrap();
    assert_eq!(names(&first), ["w-0", "w-1", "w-2"]);
    // Writes behind the token and ahead of it, then enough of them to forget the first page's revision.
    for name in ["w-1-new", "w-5-new"] {
        create(&objects, "a", name, 1).await;
    }
    let gone = named("a", "w-4");
    within(objects.delete(&gone, Default::default(), None))
        .await
        .unwrap();
    for i in 0..120 {
        create(&objects, "b", &format!("x-{i}"), i).await;
    }
    let late = within(pages.next()).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Compacted);
    assert!(late.message().contains("continueAtPresent"), "{late}");

    let mut pages = pages.at_present();
    let second = within(pages.next()).await.unwrap().unwrap();
    assert_eq!(names(&second), ["w-3", "w-5", "w-5-new"]);
    assert!(!first.inconsistent && second.inconsistent);
    assert!(second.header.revision > first.header.revision);
    // The following token pins the revision of this page, for a caller who wants the rest to be consistent with it.
    let token = pages.token().unwrap().to_owned();
    create(&objects, "a", "w-7-new", 1).await;
    let mut pinned = client.raw_objects().list(&list).resumed(&token);
    let third = within(pinned.next()).await.unwrap().unwrap();
    assert_eq!(names(&third), ["w-6", "w-7", "w-8"]);
    assert!(!third.inconsistent);
    assert_eq!(third.header.revision, second.header.revision);
    let rest = within(pages.all()).await.unwrap();
    assert_eq!(names(&rest)[..4], ["w-6", "w-7", "w-7-new", "w-8"]);
    assert_eq!((rest.items.len(), rest.inconsistent), (4 + 120, true));
}

// Guarantee: O-06
#[tokio::test(start_paused = true)]
async fn a_page_of_a_list_that_took_too_long_is_compacted() {
    let cluster = forgetful().await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "one", 1).await;
    create(&objects, "a", "two", 1).await;
    let list = ListObjects::new(resource(WIDGETS)).with_page_size(1);
    let mut pages = client.raw_objects().list(&list);
    within(pages.next()).await.unwrap();
    for i in 0..120 {
        create(&objects, "b", &format!("w-{i}"), i).await;
    }
    let late = within(pages.next()).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Compacted);
}

#[tokio::test(start_paused = true)]
async fn collections_count_their_objects_by_version_and_hold_what_they_hold() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "one", 1).await;
    create(&objects, "a", "two", 1).await;
    create(&numbers(&client, super::V2), "a", "three", 1).await;
    let collections = client.collections();
    let page = collections.list(&ListCollections::new()).all();
    let page = within(page).await.unwrap();
    let counts = page.items[0].counts.iter();
    let counts: Vec<_> = counts
        .map(|count| (count.version.to_string(), count.objects))
        .collect();
    assert_eq!(counts, [(V1.to_owned(), 2), (super::V2.to_owned(), 1)]);
    let delete = || synod_client::DeleteCollection {
        resource: resource(WIDGETS),
        preconditions: Default::default(),
    };
    assert!(within(collections.delete(delete())).await.is_err());
    for name in ["one", "two", "three"] {
        within(objects.delete(&named("a", name), Default::default(), None))
            .await
            .unwrap();
    }
    within(collections.delete(delete())).await.unwrap();
    assert_eq!(
        within(collections.get(&resource(WIDGETS), ReadOptions::default()))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
}

// Guarantee: O-08
#[tokio::test(start_paused = true)]
async fn a_transaction_says_which_of_its_reads_had_no_room() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let raw = client.raw_objects();
    for name in ["one", "two", "three"] {
        let data = format!(r#"{{"text":"{}"}}"#, "x".repeat(900_000));
        let create = CreateObject {
            key: key("a", name),
            attributes: Attributes::default(),
            content: Content {
                encoding: version(V1),
                media_type: MediaType::JSON,
                data: data.into_bytes().into(),
            },
            ttl: None,
            fences: Fences::default(),
        };
        within(raw.create(create)).await.unwrap();
    }
    let transact = Transact {
        compares: vec![Compare::Absent(key("a", "one"))],
        operations: Vec::new(),
        reads: ["one", "nothing", "two", "three", "nothing"]
            .map(|name| key("a", name))
            .into(),
        fences: Fences::default(),
    };
    let lost = within(raw.transact(transact)).await.unwrap();
    assert!(!lost.succeeded);
    let read: Vec<Option<&str>> = lost
        .reads
        .iter()
        .map(|read| match read {
            ReadResult::Found(object) => Some(object.key.name.name()),
            ReadResult::Absent => Some("absent"),
            ReadResult::LeftOut => None,
        })
        .collect();
    let expected = [
        Some("one"),
        Some("absent"),
        Some("two"),
        None,
        Some("absent"),
    ];
    assert_eq!(read, expected);
}

#[tokio::test(start_paused = true)]
async fn any_list_goes_on_at_the_present_and_says_so() {
    let cluster = forgetful().await;
    let client = cluster.client().await;
    let asks_for = |name: &str, least| SetRoster {
        scope: ResourceScope::parse(&format!("{name}.*")).unwrap(),
        rule: RosterRule {
            least,
            ..RosterRule::default()
        },
        if_revision: None,
    };
    for name in ["a", "b", "c"] {
        within(client.rosters().set(asks_for(name, 1)))
            .await
            .unwrap();
    }
    let list = ListRosters::new().with_page_size(1);
    let mut pages = client.rosters().list(&list);
    let first = within(pages.next()).await.unwrap().unwrap();
    assert!(!first.inconsistent);
    // No number of changes of objects would make the list forget its rosters.
    for least in 2..122 {
        within(client.rosters().set(asks_for("a", least)))
            .await
            .unwrap();
    }
    let late = within(pages.next()).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Compacted);
    let rest = within(pages.at_present().all()).await.unwrap();
    let scopes: Vec<String> = rest.items.iter().map(|one| one.scope.to_string()).collect();
    assert_eq!(scopes, ["b.*", "c.*"]);
    assert!(rest.inconsistent);
}
