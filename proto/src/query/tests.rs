use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use proptest::collection::btree_set;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::subsequence;
use prost::Message;
use synod_model::limits::LIST_PAGE_MAX;
use synod_model::{
    ClusterId, ErrorKind, GroupResource, LeaseKey, MemberId, Namespace, NamespacedName, ObjectKind,
    ObjectName, Revision, RevisionNumber, RevisionPlace, Sequence, SessionId, Uid, Violations,
};

use super::page::Paged;
use crate::limits::{
    CONTINUE_TOKEN_BYTES_MAX, LIST_PAGE_DEFAULT, STALENESS_MS_MAX, WATCH_NAMES_MAX,
};
use crate::wire::Wire;
use crate::{
    AgreementHistory, CheckAgreement, CheckBinary, CheckDrop, CheckUpgrade, CollectionCursor,
    Consistency, ContinueToken, ControllerHistoryCursor, ControllerRevisionCursor, GetCollection,
    GetControllerHistory, GetLease, GetMember, GetObject, GetOutcome, GetRoster, GetSettings,
    GetStorageVersion, ListCollections, ListControllerRevisions, ListId, ListLeaseCandidates,
    ListLeases, ListMembers, ListObjects, ListRosters, ListStorageVersions, ObjectCursor,
    ObjectScope, PageKey, PageRequest, PageStart, WatchFilter, WatchStart, samples, v1,
};

/// The request after both conversions: to its message and back.
fn carried<T, M>(query: &T) -> Result<T, Violations>
where
    M: Message + Default + for<'a> From<&'a T>,
    T: TryFrom<M, Error = Violations>,
{
    T::try_from(M::decode(M::from(query).encode_to_vec().as_slice()).unwrap())
}

fn faults<T>(result: Result<T, Violations>) -> Vec<String> {
    let Err(violations) = result else {
        panic!("it was taken for sound")
    };
    violations
        .iter()
        .map(|violation| violation.field.clone())
        .collect()
}

fn consistency() -> impl Strategy<Value = Consistency> {
    let staleness = (1..=STALENESS_MS_MAX).prop_map(Duration::from_millis);
    prop_oneof![
        Just(Consistency::Linearizable),
        samples::revision().prop_map(Consistency::AtRevision),
        (any::<u64>(), option::of(staleness)).prop_map(|(revision, max_staleness)| {
            Consistency::Relaxed {
                min_revision: Revision::new(revision),
                max_staleness,
            }
        }),
    ]
}

fn token<K: Clone + std::fmt::Debug>(
    last: impl Strategy<Value = K>,
) -> impl Strategy<Value = ContinueToken<K>> {
    (samples::cluster(), samples::revision(), last).prop_map(|(cluster, revision, last)| {
        ContinueToken {
            cluster,
            revision,
            list: whole(),
            last,
        }
    })
}

/// The list without any selection.
fn whole() -> ListId {
    ListId::of(&v1::CollectionsListRequest::default())
}

/// Makes the page one of the list that the request asks for.
fn of_its_list<K>(mut asked: impl Paged, page: &mut PageRequest<K>) {
    asked.take_page();
    page.list = ListId::of(&asked);
    if let PageStart::After(token) | PageStart::AtPresent(token) = &mut page.start {
        token.list = page.list;
    }
}

fn page<K: Clone + std::fmt::Debug>(
    last: impl Strategy<Value = K>,
) -> impl Strategy<Value = PageRequest<K>> {
    let start = (0..3, consistency(), token(last)).prop_map(|(start, read, token)| match start {
        0 => PageStart::First(read),
        1 => PageStart::After(token),
        _ => PageStart::AtPresent(token),
    });
    (start, 1..=LIST_PAGE_MAX).prop_map(|(start, size)| PageRequest {
        start,
        size,
        list: whole(),
    })
}

fn watch() -> impl Strategy<Value = WatchStart> {
    let kinds = subsequence(ObjectKind::ALL.to_vec(), 0..=ObjectKind::ALL.len());
    let filter = (
        kinds,
        btree_set("[a-z.]{1,20}", 0..5),
        samples::labels(),
        btree_set(samples::resource(), 0..3),
        btree_set(samples::namespace(), 0..3),
        samples::label_selector(),
        samples::field_selector(),
    )
        .prop_map(
            |(kinds, names, labels, resources, namespaces, label_selector, field_selector)| {
                WatchFilter {
                    kinds: kinds.into_iter().collect(),
                    names,
                    labels,
                    resources,
                    namespaces,
                    label_selector,
                    field_selector,
                }
            },
        );
    (
        option::of(samples::revision()),
        filter,
        1_000..=30_000_u64,
        option::of(samples::cluster()),
    )
        .prop_map(|(from, filter, ms, cluster)| WatchStart {
            from,
            filter,
            bookmark_interval: Duration::from_millis(ms),
            cluster,
        })
}

fn objects() -> impl Strategy<Value = ListObjects> {
    let scope = (
        samples::resource(),
        option::of(samples::namespace()),
        samples::label_selector(),
        samples::field_selector(),
    )
        .prop_map(|(resource, namespace, labels, fields)| ObjectScope {
            resource,
            namespace,
            labels,
            fields,
        });
    let last = samples::object_key().prop_map(|key| ObjectCursor::new(&key.name));
    (scope, page(last)).prop_map(|(scope, page)| {
        let mut list = ListObjects { scope, page };
        of_its_list(v1::ObjectsListRequest::from(&list), &mut list.page);
        list
    })
}

proptest! {
    #[test]
    fn a_read_of_objects_and_collections_is_carried_whole(
        key in samples::object_key(),
        resource in samples::resource(),
        read in consistency(),
        collections in page(samples::resource().prop_map(CollectionCursor)),
        objects in objects(),
    ) {
        let get = GetObject { key, read };
        prop_assert_eq!(carried::<_, v1::ObjectsGetRequest>(&get).unwrap(), get);
        let get = GetCollection { resource, read };
        prop_assert_eq!(carried::<_, v1::CollectionsGetRequest>(&get).unwrap(), get);
        let list = ListCollections { page: collections };
        prop_assert_eq!(carried::<_, v1::CollectionsListRequest>(&list).unwrap(), list);
        prop_assert_eq!(carried::<_, v1::ObjectsListRequest>(&objects).unwrap(), objects);
    }

    #[test]
    fn a_read_of_one_object_is_carried_whole(
        id in samples::member_id(),
        resource in samples::resource(),
        key in samples::lease_key(),
        read in consistency(),
    ) {
        let member = GetMember { id, read };
        prop_assert_eq!(carried::<_, v1::MembershipGetRequest>(&member).unwrap(), member);
        let version = GetStorageVersion { resource: resource.clone(), read };
        prop_assert_eq!(carried::<_, v1::StorageVersionsGetRequest>(&version).unwrap(), version);
        let history = AgreementHistory { resource, read };
        prop_assert_eq!(carried::<_, v1::StorageVersionsHistoryRequest>(&history).unwrap(), history);
        let lease = GetLease { key, read };
        prop_assert_eq!(carried::<_, v1::LeasesGetRequest>(&lease).unwrap(), lease);
        let settings = GetSettings { read };
        prop_assert_eq!(carried::<_, v1::ClusterGetSettingsRequest>(&settings).unwrap(), settings);
    }

    #[test]
    fn a_list_is_carried_whole(
        members in page(samples::member_id()),
        labels in samples::labels(),
        resources in page(samples::resource()),
        include_unreported in any::<bool>(),
        leases in page(samples::lease_key()),
        standing in option::of(samples::lease_key()),
        namespace in option::of("[a-z]{1,8}"),
    ) {
        // The size of a page of candidates is not asked for.
        let page = PageRequest { size: LIST_PAGE_DEFAULT, ..leases.clone() };
        let mut candidates = ListLeaseCandidates { key: standing, page };
        of_its_list(v1::LeasesListCandidatesRequest::from(&candidates), &mut candidates.page);
        prop_assert_eq!(
            carried::<_, v1::LeasesListCandidatesRequest>(&candidates).unwrap(),
            candidates
        );
        let mut leases = ListLeases { page: leases, namespace };
        of_its_list(v1::LeasesListRequest::from(&leases), &mut leases.page);
        prop_assert_eq!(carried::<_, v1::LeasesListRequest>(&leases).unwrap(), leases);
        let mut members = ListMembers { page: members, labels };
        of_its_list(v1::MembershipListRequest::from(&members), &mut members.page);
        prop_assert_eq!(carried::<_, v1::MembershipListRequest>(&members).unwrap(), members);
        let mut versions = ListStorageVersions { page: resources, include_unreported };
        of_its_list(v1::StorageVersionsListRequest::from(&versions), &mut versions.page);
        prop_assert_eq!(carried::<_, v1::StorageVersionsListRequest>(&versions).unwrap(), versions);
    }

    #[test]
    fn a_read_of_rosters_is_carried_whole(
        scope in samples::resource_scope(),
        read in consistency(),
        rosters in page(samples::resource_scope()),
    ) {
        let get = GetRoster { scope, read };
        prop_assert_eq!(carried::<_, v1::RostersGetRequest>(&get).unwrap(), get);
        let list = ListRosters { page: rosters };
        prop_assert_eq!(carried::<_, v1::RostersListRequest>(&list).unwrap(), list);
    }

    #[test]
    fn a_question_of_safety_is_carried_whole(
        binary in samples::binary(),
        resource in samples::resource(),
        version in samples::api_version(),
        read in consistency(),
    ) {
        let check = CheckBinary { binary, read };
        prop_assert_eq!(carried::<_, v1::StorageVersionsCheckBinaryRequest>(&check).unwrap(), check);
        let resources = [resource.clone()].into();
        let check = CheckDrop { resource, version, read };
        prop_assert_eq!(carried::<_, v1::StorageVersionsCheckDropRequest>(&check).unwrap(), check);
        let check = CheckAgreement { resources, allow_none: true, read };
        prop_assert_eq!(carried::<_, v1::StorageVersionsCheckAgreementRequest>(&check).unwrap(), check);
        let check = CheckUpgrade { read };
        prop_assert_eq!(carried::<_, v1::StorageVersionsCheckUpgradeRequest>(&check).unwrap(), check);
    }

    #[test]
    fn a_question_about_an_outcome_is_carried_whole(
        session in samples::session(),
        sequence in samples::sequence(),
        session_cluster in option::of(samples::cluster()),
    ) {
        let get = GetOutcome { session, sequence, session_cluster };
        prop_assert_eq!(carried::<_, v1::SessionsGetOutcomeRequest>(&get).unwrap(), get);
    }

    #[test]
    fn a_watch_is_carried_whole(watch in watch()) {
        prop_assert_eq!(carried::<_, v1::WatchRequest>(&watch).unwrap(), watch);
    }

    #[test]
    fn no_text_is_taken_for_a_token_that_was_never_given(text in ".{0,80}", bytes in any::<Vec<u8>>()) {
        for text in [text, BASE64URL_NOPAD.encode(&bytes)] {
            if let Ok(token) = ContinueToken::<MemberId>::parse(&text) {
                prop_assert_eq!(token.to_string(), text);
            }
        }
    }

    #[test]
    fn a_token_is_of_one_list_only(token in token(samples::resource()), cut in any::<proptest::sample::Index>()) {
        let text = token.to_string();
        prop_assert!(ContinueToken::<MemberId>::parse(&text).is_err());
        prop_assert_eq!(ContinueToken::<GroupResource>::parse(&text), Ok(token.clone()));
        let shorter = &text[..cut.index(text.len())];
        prop_assert_ne!(ContinueToken::<GroupResource>::parse(shorter).ok(), Some(token));
    }
}

#[test]
fn a_token_with_any_character_changed_is_refused() {
    let token = ContinueToken {
        cluster: ClusterId::from_bytes([1; 16]),
        revision: Revision::new(77),
        list: whole(),
        last: MemberId::parse("server-17").unwrap(),
    };
    let text = token.to_string();
    assert_eq!(ContinueToken::parse(&text), Ok(token));
    for (place, present) in text.char_indices() {
        for other in "AZaz09-_".chars().filter(|other| *other != present) {
            let mut changed = text.clone();
            changed.replace_range(place..=place, &other.to_string());
            let read = ContinueToken::<MemberId>::parse(&changed);
            assert!(read.is_err(), "{changed} for {text}");
        }
    }
}

#[test]
fn the_longest_key_makes_a_token_that_is_short_enough() {
    let label = "a".repeat(63);
    let group = [label.as_str(); 4].join(".")[..253].to_owned();
    let cluster = ClusterId::from_bytes([1; 16]);
    let last = GroupResource::new(&group, &label).unwrap();
    assert_eq!(last.as_text().len(), 317);
    let token = ContinueToken {
        cluster,
        revision: Revision::new(u64::MAX),
        list: whole(),
        last,
    };
    assert!(token.to_string().len() <= CONTINUE_TOKEN_BYTES_MAX);
    assert_eq!(ContinueToken::parse(&token.to_string()), Ok(token));
}

#[test]
fn what_is_left_out_has_its_default() {
    let list = ListMembers::try_from(v1::MembershipListRequest::default()).unwrap();
    assert_eq!(
        list.page,
        PageRequest {
            start: PageStart::First(Consistency::Linearizable),
            size: LIST_PAGE_DEFAULT,
            list: whole(),
        }
    );
    assert_eq!(
        WatchStart::try_from(v1::WatchRequest::default()).unwrap(),
        WatchStart::default()
    );
}

#[test]
fn a_page_is_cut_to_the_limit_and_never_empty() {
    let size = |size: u32| {
        let request = v1::StorageVersionsListRequest {
            page_size: Some(size),
            ..Default::default()
        };
        ListStorageVersions::try_from(request).map(|list| list.page.size)
    };
    assert_eq!(size(4_999).unwrap(), 4_999);
    assert_eq!(size(5_000).unwrap(), 5_000);
    assert_eq!(size(5_001).unwrap(), 5_000);
    assert_eq!(size(u32::MAX).unwrap(), 5_000);
    assert_eq!(faults(size(0)), ["pageSize"]);
}

#[test]
fn an_exact_revision_stands_alone() {
    let at = |at_revision, min_revision, max_staleness_ms| {
        Consistency::of_wire(Some(v1::ReadOptions {
            at_revision,
            min_revision,
            max_staleness_ms,
        }))
    };
    assert_eq!(
        at(Some(3), None, None).unwrap(),
        Consistency::AtRevision(Revision::new(3))
    );
    assert_eq!(faults(at(Some(0), None, None)), ["atRevision"]);
    assert_eq!(faults(at(Some(3), Some(2), None)), ["atRevision"]);
    assert_eq!(
        faults(at(Some(3), None, Some(0))),
        ["maxStalenessMs", "atRevision"]
    );
}

#[test]
fn staleness_has_its_limits() {
    let stale = |ms| {
        Consistency::of_wire(Some(v1::ReadOptions {
            max_staleness_ms: Some(ms),
            ..Default::default()
        }))
    };
    assert!(stale(1).is_ok());
    assert!(stale(STALENESS_MS_MAX - 1).is_ok());
    assert!(stale(STALENESS_MS_MAX).is_ok());
    assert_eq!(faults(stale(0)), ["maxStalenessMs"]);
    assert_eq!(faults(stale(STALENESS_MS_MAX + 1)), ["maxStalenessMs"]);
}

#[test]
fn any_local_state_will_do_for_who_says_so() {
    let any = v1::ReadOptions {
        min_revision: Some(0),
        ..Default::default()
    };
    let relaxed = Consistency::Relaxed {
        min_revision: Revision::ZERO,
        max_staleness: None,
    };
    assert_eq!(Consistency::of_wire(Some(any)).unwrap(), relaxed);
    assert_eq!(Consistency::of_wire(relaxed.to_wire()).unwrap(), relaxed);
}

#[test]
fn a_continued_list_is_read_as_it_began() {
    let cluster = ClusterId::from_bytes([1; 16]);
    let last = MemberId::parse("a").unwrap();
    let continue_token = ContinueToken {
        cluster,
        revision: Revision::new(3),
        list: whole(),
        last,
    }
    .to_string();
    let read = Some(v1::ReadOptions {
        at_revision: Some(3),
        ..Default::default()
    });
    let request = v1::MembershipListRequest {
        read,
        continue_token,
        ..Default::default()
    };
    assert_eq!(faults(ListMembers::try_from(request.clone())), ["read"]);
    let empty = v1::MembershipListRequest {
        read: Some(v1::ReadOptions::default()),
        ..request
    };
    assert!(ListMembers::try_from(empty).is_ok());
}

/// The faults of each of these requests for the page after this one of the list that the first asks for.
macro_rules! continued {
    ($list:ty, $last:expr, $given:expr, $($other:expr),+ $(,)?) => {{
        let given = $given;
        let token = ContinueToken {
            cluster: ClusterId::from_bytes([1; 16]),
            revision: Revision::new(3),
            list: ListId::of(&given),
            last: $last,
        };
        let mut same = given.clone();
        same.page_size = Some(7);
        same.continue_token = token.to_string();
        let pinned = <$list>::try_from(same.clone()).unwrap();
        assert_eq!(pinned.page.start, PageStart::After(token.clone()));
        same.continue_at_present = true;
        let present = <$list>::try_from(same).unwrap();
        assert_eq!(present.page.start, PageStart::AtPresent(token.clone()));
        $({
            let mut other = $other;
            assert_ne!(other, given);
            other.continue_token = token.to_string();
            assert_eq!(faults(<$list>::try_from(other)), ["continueToken"]);
        })+
    }};
}

// Guarantee: O-07
#[test]
fn a_token_continues_only_the_list_that_gave_it() {
    let scope = |namespace: &str, labels: &str, fields: &str| v1::ObjectsListRequest {
        resource: Some((&GroupResource::new("example.io", "widgets").unwrap()).into()),
        namespace: namespace.into(),
        label_selector: labels.into(),
        field_selector: fields.into(),
        ..Default::default()
    };
    let mut gadgets = scope("a", "app=x", "");
    gadgets.resource = Some((&GroupResource::new("example.io", "gadgets").unwrap()).into());
    continued!(
        ListObjects,
        ObjectCursor::new(&named("a")),
        scope("a", "app=x", ""),
        scope("", "app=x", ""),
        scope("b", "app=x", ""),
        scope("a", "app=y", ""),
        scope("a", "app=x", "metadata.name=w"),
        gadgets,
    );
    let namespace = |namespace: &str| v1::LeasesListRequest {
        namespace: namespace.into(),
        ..Default::default()
    };
    continued!(
        ListLeases,
        LeaseKey::parse("a/w").unwrap(),
        namespace("a"),
        namespace("b"),
        namespace(""),
    );
    let labels = |value: &str| v1::MembershipListRequest {
        labels: [("zone".into(), value.into())].into(),
        ..Default::default()
    };
    continued!(
        ListMembers,
        MemberId::parse("w").unwrap(),
        labels("east"),
        labels("west"),
        v1::MembershipListRequest::default(),
    );
    let versions = |include_unreported| v1::StorageVersionsListRequest {
        include_unreported,
        ..Default::default()
    };
    continued!(
        ListStorageVersions,
        GroupResource::new("example.io", "widgets").unwrap(),
        versions(false),
        versions(true),
    );
}

// Guarantee: O-07
#[test]
fn a_token_of_controllers_continues_only_the_list_or_the_history_that_gave_it() {
    let of = |namespace: &str, label: &str, kind: &str, name: &str, uid: &str| {
        v1::ControllerRevisionsListRequest {
            namespace: namespace.into(),
            labels: [("app".into(), label.into())].into(),
            owner_kind: kind.into(),
            owner_name: name.into(),
            owner_uid: uid.into(),
            ..Default::default()
        }
    };
    let [one, two] = [1, 2].map(|byte| Uid::from_bytes([byte; 16]).to_string());
    continued!(
        ListControllerRevisions,
        ControllerRevisionCursor::after(&named("z")),
        of("z", "x", "Set", "web", &one),
        of("a", "x", "Set", "web", &one),
        of("z", "y", "Set", "web", &one),
        of("z", "x", "Job", "web", &one),
        of("z", "x", "Set", "db", &one),
        of("z", "x", "Set", "web", &two),
    );
    let of = |namespace: &str, name: &str, uid: &str| v1::ControllerRevisionsHistoryRequest {
        history: Some(v1::ControllerHistory {
            namespace: namespace.into(),
            owner: Some(v1::OwnerReference {
                api_version: "apps/v1".into(),
                kind: "Set".into(),
                name: name.into(),
                uid: uid.into(),
                ..Default::default()
            }),
            ..Default::default()
        }),
        ..Default::default()
    };
    let last = RevisionPlace {
        number: RevisionNumber::new(7).unwrap(),
        create_revision: Revision::new(2),
        name: ObjectName::parse("web-x").unwrap(),
    };
    continued!(
        GetControllerHistory,
        ControllerHistoryCursor::after(last),
        of("z", "web", &one),
        of("a", "web", &one),
        of("z", "db", &one),
        of("z", "web", &two),
    );
}

// Guarantee: O-07
#[test]
fn a_token_of_another_kind_of_list_is_none() {
    let members = ContinueToken {
        cluster: ClusterId::from_bytes([1; 16]),
        revision: Revision::new(3),
        list: whole(),
        last: MemberId::parse("w").unwrap(),
    };
    for garbage in [
        members.to_string(),
        "garbage!".to_owned(),
        "AAAA".to_owned(),
    ] {
        let list = v1::CollectionsListRequest {
            continue_token: garbage,
            ..Default::default()
        };
        assert_eq!(faults(ListCollections::try_from(list)), ["continueToken"]);
    }
}

fn named(namespace: &str) -> NamespacedName {
    let namespace = Namespace::parse(namespace).unwrap();
    NamespacedName::new(Some(&namespace), &ObjectName::parse("w").unwrap())
}

#[test]
fn the_token_after_the_longest_name_is_short_enough() {
    let name = ObjectName::parse(&vec!["a".repeat(49); 5].join(".")).unwrap();
    let namespace = Namespace::parse(&"n".repeat(63)).unwrap();
    let last = NamespacedName::new(Some(&namespace), &name);
    let token = ContinueToken {
        cluster: ClusterId::from_bytes([1; 16]),
        revision: Revision::new(u64::MAX),
        list: whole(),
        last: ObjectCursor::new(&last),
    };
    assert_eq!(ContinueToken::parse(&token.to_string()), Ok(token));
}

#[test]
fn every_fault_of_a_read_is_named() {
    let read = Some(v1::ReadOptions {
        at_revision: Some(0),
        ..Default::default()
    });
    let get = v1::MembershipGetRequest {
        id: "A".into(),
        read,
    };
    assert_eq!(faults(GetMember::try_from(get)), ["id", "read.atRevision"]);
    let get = v1::StorageVersionsGetRequest {
        resource: None,
        read,
    };
    assert_eq!(
        faults(GetStorageVersion::try_from(get)),
        ["resource", "read.atRevision"]
    );
    let history = v1::StorageVersionsHistoryRequest {
        resource: Some(v1::GroupResource::default()),
        read,
    };
    assert_eq!(
        faults(AgreementHistory::try_from(history)),
        ["resource.resource", "read.atRevision"]
    );
    let list = v1::MembershipListRequest {
        page_size: Some(0),
        continue_token: "?".into(),
        labels: [("-".into(), String::new())].into(),
        ..Default::default()
    };
    assert_eq!(
        faults(ListMembers::try_from(list)),
        ["pageSize", "continueToken", "labels"]
    );
    let get = v1::RostersGetRequest {
        scope: String::new(),
        read,
    };
    assert_eq!(
        faults(GetRoster::try_from(get)),
        ["scope", "read.atRevision"]
    );
    let outcome = v1::SessionsGetOutcomeRequest {
        cluster_id: "x".into(),
        ..Default::default()
    };
    assert_eq!(
        faults(GetOutcome::try_from(outcome)),
        ["session", "sequence", "clusterId"]
    );
}

#[test]
fn every_fault_of_a_question_of_safety_is_named() {
    let resource = |name: &str| {
        Some(v1::GroupResource {
            group: String::new(),
            resource: name.into(),
        })
    };
    let faulty = v1::BinaryResource {
        resource: resource("Pods"),
        kind: Some("-".into()),
        decodable_versions: vec!["V1".into()],
        stance: Some(v1::binary_resource::Stance::EncodingVersion("V1".into())),
        new: true,
    };
    let check = v1::StorageVersionsCheckBinaryRequest {
        resources: vec![v1::BinaryResource::default(), faulty],
        left_to_others: vec!["*".into(), "?".into()],
        read: None,
    };
    assert_eq!(
        faults(CheckBinary::try_from(check)),
        [
            "resources[0].resource",
            "resources[1].resource.resource",
            "resources[1].kind",
            "resources[1].decodableVersions[0]",
            "resources[1].encodingVersion",
            "leftToOthers[1]",
        ]
    );
    let pods = v1::BinaryResource {
        resource: resource("pods"),
        decodable_versions: vec!["v1".into()],
        stance: Some(v1::binary_resource::Stance::PreferredVersion("v2".into())),
        ..Default::default()
    };
    let check = v1::StorageVersionsCheckBinaryRequest {
        resources: vec![pods.clone(), pods],
        ..Default::default()
    };
    assert_eq!(
        faults(CheckBinary::try_from(check)),
        [
            "resources[0].decodableVersions",
            "resources[1].resource",
            "resources[1].decodableVersions",
        ]
    );
}

#[test]
fn every_fault_of_a_watch_is_named() {
    let filter = v1::WatchFilter {
        kinds: vec![1, 0, 99],
        names: vec!["a".into(), String::new()],
        labels: [("a".into(), "?".into())].into(),
        resources: vec![v1::GroupResource::default()],
        namespaces: vec!["A".into()],
        label_selector: ",".into(),
        field_selector: "x=1".into(),
    };
    let request = v1::WatchRequest {
        from_revision: Some(0),
        filter: Some(filter),
        bookmark_interval_ms: Some(999),
        cluster_id: "x".into(),
    };
    assert_eq!(
        faults(WatchStart::try_from(request)),
        [
            "fromRevision",
            "filter.kinds[1]",
            "filter.kinds[2]",
            "filter.names[1]",
            "filter.labels[a]",
            "filter.resources[0].resource",
            "filter.namespaces[0]",
            "filter.labelSelector",
            "filter.fieldSelector",
            "bookmarkIntervalMs",
            "clusterId",
        ]
    );
}

#[test]
fn the_interval_of_bookmarks_has_its_limits() {
    let every = |ms| {
        WatchStart::try_from(v1::WatchRequest {
            bookmark_interval_ms: Some(ms),
            ..Default::default()
        })
    };
    for legal in [1_000, 1_001, 29_999, 30_000] {
        assert_eq!(
            every(legal).unwrap().bookmark_interval,
            Duration::from_millis(legal.into())
        );
    }
    for illegal in [0, 999, 30_001] {
        assert_eq!(faults(every(illegal)), ["bookmarkIntervalMs"]);
    }
}

#[test]
fn a_watch_names_no_more_than_it_may() {
    let named = |count: usize| {
        let names = (0..count).map(|i| i.to_string()).collect();
        let filter = Some(v1::WatchFilter {
            names,
            ..Default::default()
        });
        WatchStart::try_from(v1::WatchRequest {
            filter,
            ..Default::default()
        })
    };
    assert!(named(WATCH_NAMES_MAX - 1).is_ok());
    assert!(named(WATCH_NAMES_MAX).is_ok());
    assert_eq!(faults(named(WATCH_NAMES_MAX + 1)), ["filter.names"]);
}

#[test]
fn an_outcome_is_asked_for_in_the_cluster_that_gave_the_session() {
    let [this, other] = [1, 2].map(|byte| ClusterId::from_bytes([byte; 16]));
    let of = |session_cluster| {
        let get = GetOutcome {
            session: SessionId::default(),
            sequence: Sequence::FIRST,
            session_cluster,
        };
        get.check_cluster(this).map_err(|refusal| refusal.kind)
    };
    assert_eq!(of(None), Ok(()));
    assert_eq!(of(Some(this)), Ok(()));
    assert_eq!(of(Some(other)), Err(ErrorKind::RequestExpired));
}

#[test]
fn every_kind_of_object_is_one_of_the_protocol() {
    for kind in ObjectKind::ALL {
        let of_protocol = v1::ObjectKind::from(*kind);
        let name: String = of_protocol.as_str_name().replace("OBJECT_KIND_", "");
        assert_eq!(name.to_ascii_lowercase().replace('_', "-"), kind.word());
        assert_eq!(
            kind.word().replace('-', ""),
            kind.as_str().to_ascii_lowercase()
        );
    }
    let known = (1..).map_while(|number| v1::ObjectKind::try_from(number).ok());
    assert_eq!(known.count(), ObjectKind::ALL.len());
}
