//! Safety checks: whether a binary may join, and whether a version may be dropped.

use std::time::Duration;

use bytes::Bytes;
use synod_machine::{Command, SafetyVerdict, Why, check_binary, check_drop};
use synod_model::{
    Annotations, Assumption, Binary, BinaryResource, ControllerHistory, CreateControllerRevision,
    Equality, Kind, Labels, MediaType, MemberId, NamePrefix, Namespace, NamespacedName, ObjectName,
    ObserveStorage, OwnerReference, ResourceScope, RevisionData, RosterRule, Stance, Uid,
};

use crate::cluster::{Cluster, accepted, hash};
use crate::entry::{of, release, resource, version};

fn one(name: &str, versions: &str, kind: Option<&str>) -> BinaryResource {
    BinaryResource {
        resource: resource(name),
        kind: kind.map(|kind| Kind::parse(kind).expect("a legal kind")),
        decodable: versions.split(' ').map(version).collect(),
        stance: None,
        new: false,
    }
}

fn whole(resources: Vec<BinaryResource>) -> Binary {
    Binary {
        resources,
        left_to_others: Vec::new(),
    }
}

fn whys(verdict: SafetyVerdict) -> Vec<Why> {
    let dangers = verdict.dangers.into_iter();
    dangers.map(|danger| danger.why).collect()
}

fn of_binary(cluster: &Cluster, versions: &str) -> Vec<Why> {
    let binary = whole(vec![one("pods", versions, None)]);
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    whys(check_binary(&past, now, &binary))
}

fn of_drop(cluster: &Cluster, text: &str) -> Vec<Why> {
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    whys(check_drop(&past, now, &resource("pods"), &version(text)))
}

fn member(id: &str) -> MemberId {
    MemberId::parse(id).expect("a legal id")
}

// Guarantee: MG-24
#[test]
fn what_nobody_knows_is_not_safe() {
    let mut cluster = Cluster::formed();
    assert_eq!(of_binary(&cluster, "v1 v2"), [Why::NoState(None)]);
    assert_eq!(of_drop(&cluster, "v1"), [Why::NoState(None)]);
    cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v2")]);
    assert_eq!(of_binary(&cluster, "v1 v2"), [Why::PersistedUnknown]);
    assert_eq!(of_drop(&cluster, "v1"), [Why::PersistedUnknown]);
    cluster.migrates("pods");
    assert_eq!(of_binary(&cluster, "v2"), []);
    assert_eq!(of_drop(&cluster, "v1"), []);
}

#[test]
fn a_binary_may_bring_a_resource_that_nothing_knows() {
    let mut cluster = Cluster::formed();
    let brings = |cluster: &Cluster, versions: &str| {
        let pods = BinaryResource {
            new: true,
            ..one("pods", versions, None)
        };
        let (past, now) = (cluster.state.present(), cluster.state.log_time());
        check_binary(&past, now, &whole(vec![pods]))
    };
    assert_eq!(of_binary(&cluster, "v1"), [Why::NoState(None)]);
    let verdict = brings(&cluster, "v1");
    assert!(verdict.is_safe());
    // Whoever wrote it without taking part has left no trace.
    let assumed = [(Assumption::NoRoster, [resource("pods")].into())];
    assert_eq!(verdict.assumptions, assumed.into());
    // A member that has not reported may know it, and a roster asks for what it names.
    let rule = RosterRule {
        least: 1,
        ..RosterRule::default()
    };
    cluster.sets_roster("core.pods", rule);
    let a = cluster.joins("a");
    let scope = ResourceScope::Resource(resource("pods"));
    assert_eq!(
        whys(brings(&cluster, "v1")),
        [Why::MemberSilent(member("a"), 1), Why::ScopeUnknown(scope)]
    );
    // What is known is judged as any other.
    cluster.reports(&a, &[of("pods").decodes("v1 v2").encodes("v2")]);
    assert_eq!(whys(brings(&cluster, "v1")), of_binary(&cluster, "v1"));
    assert!(of_binary(&cluster, "v1").contains(&Why::Reported(member("a"), version("v2"))));
}

// Guarantee: MG-24
#[test]
fn every_reason_is_named() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.migrates("pods");
    let b = cluster.starts("b", &[release::third()]);
    let (v1, v2) = (version("v1"), version("v2"));
    assert_eq!(
        of_drop(&cluster, "v1"),
        [
            Why::Persisted(v1.clone()),
            Why::Selected(v1.clone()),
            Why::Reported(member("a"), v1.clone()),
            Why::Reported(member("b"), v1.clone()),
            Why::Voted(member("a"), v1.clone()),
        ]
    );
    assert_eq!(of_binary(&cluster, "v2"), of_drop(&cluster, "v1"));
    // A vote for a version that is not selected yet counts: the next command may select it.
    assert_eq!(
        of_drop(&cluster, "v2"),
        [Why::Voted(member("b"), v2.clone())]
    );
    // a, the last member that prefers v1, leaves.
    cluster.leaves(&a);
    cluster.adopts(&b, "pods");
    let until = cluster.now().after(Duration::from_secs(70));
    assert_eq!(
        of_drop(&cluster, "v1"),
        [Why::Persisted(v1.clone()), Why::Draining(v1, until)]
    );
    cluster.pass(Duration::from_secs(70));
    cluster.renews(&b);
    cluster.migrates("pods");
    assert_eq!(of_drop(&cluster, "v1"), []);
    assert_eq!(of_binary(&cluster, "v2"), []);
    let dangers = of_drop(&cluster, "v2");
    assert!(
        dangers.contains(&Why::Reported(member("b"), v2)),
        "{dangers:?}"
    );
}

#[test]
fn an_encoding_that_only_its_hash_names_is_told_by_the_kind() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1"]);
    cluster.migrates("pods");
    let unnamed = [Why::PersistedHash(hash("v1")), Why::Observed(hash("v1"))];
    // Discovery names the kind, so versions can be told apart by hash.
    assert_eq!(of_drop(&cluster, "v1"), unnamed);
    assert_eq!(of_drop(&cluster, "v2"), []);
    assert_eq!(of_binary(&cluster, "v1"), []);
    assert_eq!(of_binary(&cluster, "v2"), unnamed);
}

#[test]
fn where_no_kind_is_known_a_hash_may_be_of_any_version() {
    let mut cluster = Cluster::formed();
    accepted(
        cluster.send(Command::ObserveStorage(ObserveStorage::unnamed(
            resource("pods"),
            [hash("v1")].into(),
        ))),
    );
    cluster.migrates("pods");
    let unnamed = [Why::PersistedHash(hash("v1")), Why::Observed(hash("v1"))];
    assert_eq!(of_binary(&cluster, "v1"), unnamed);
    assert_eq!(of_drop(&cluster, "v2"), unnamed);
    let ask = |versions: &str| {
        let binary = whole(vec![one("pods", versions, Some("Widget"))]);
        let (past, now) = (cluster.state.present(), cluster.state.log_time());
        whys(check_binary(&past, now, &binary))
    };
    assert_eq!(ask("v1"), []);
    assert_eq!(ask("v2"), unnamed);
}

#[test]
fn the_answer_is_of_one_revision() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    let before = cluster.revision();
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    let past = cluster.state.at(before).expect("it is kept");
    let pods = whole(vec![one("pods", "v1", None)]);
    let now = cluster.state.log_time();
    assert!(check_binary(&past, now, &pods).is_safe());
    assert!(!check_binary(&cluster.state.present(), now, &pods).is_safe());
}

// Guarantee: MG-25
#[test]
fn a_binary_that_has_dropped_a_whole_resource_is_not_safe() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods"), of("apps.deployments")]);
    cluster.migrates("pods");
    cluster.migrates("apps.deployments");
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let dropped = whole(vec![one("pods", "v1", None)]);
    let verdict = check_binary(&past, now, &dropped);
    assert!(!verdict.is_safe());
    let of_dropped =
        |danger: &synod_machine::Danger| danger.resource == resource("apps.deployments");
    assert!(verdict.dangers.iter().all(of_dropped));
    assert!(whys(verdict).contains(&Why::Persisted(version("v1"))));
    for left in ["apps.deployments", "apps.*", "*"] {
        let left = Binary {
            left_to_others: vec![ResourceScope::parse(left).expect("a legal scope")],
            ..dropped.clone()
        };
        let verdict = check_binary(&past, now, &left);
        assert!(verdict.is_safe());
        // Objects of it are stored, and no check covers which servers decode them.
        assert_eq!(
            verdict.assumptions[&Assumption::LeftToOthers],
            [resource("apps.deployments")].into()
        );
    }
    // A named resource is checked, even if other servers also serve it.
    let named = Binary {
        resources: vec![one("pods", "v2", None)],
        left_to_others: vec![ResourceScope::All],
    };
    assert!(!check_binary(&past, now, &named).is_safe());
    assert!(!check_binary(&past, now, &Binary::default()).is_safe());
}

// Guarantee: MG-25
#[test]
fn a_binary_that_encodes_what_others_cannot_decode_is_not_safe() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let v2 = version("v2");
    for stance in [
        Stance::Fixed {
            encoding: v2.clone(),
        },
        Stance::Voting {
            preferred: v2.clone(),
        },
    ] {
        let binary = BinaryResource {
            stance: Some(stance),
            ..one("pods", "v1 v2", None)
        };
        assert_eq!(
            whys(check_binary(&past, now, &whole(vec![binary]))),
            [Why::NotDecodableBy(member("a"), v2.clone())]
        );
    }
    let same = BinaryResource {
        stance: Some(Stance::Fixed {
            encoding: version("v1"),
        }),
        ..one("pods", "v1 v2", None)
    };
    let verdict = check_binary(&past, now, &whole(vec![same]));
    assert!(verdict.is_safe());
    assert!(!verdict.assumptions.contains_key(&Assumption::LeftToOthers));
}

// Guarantee: MG-21
#[test]
fn what_discovery_showed_too_long_ago_is_not_safe() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1"]);
    cluster.migrates("pods");
    assert_eq!(of_binary(&cluster, "v1"), []);
    cluster.pass(Duration::from_secs(24 * 3_600));
    cluster.send_all(Vec::new());
    let over = [Why::PersistedUnknown, Why::ObservationOver];
    // From the deadline on, whether or not the leader has ended it yet.
    assert_eq!(of_binary(&cluster, "v1"), over[1..]);
    cluster.expires();
    assert_eq!(of_binary(&cluster, "v1"), over);
    assert!(of_drop(&cluster, "v9").contains(&Why::ObservationOver));
}

/// A command of a controller of this kind, with data in the given version.
fn wanting(kind: &str, text: Option<&str>) -> Command {
    let data = RevisionData::new(
        MediaType::JSON,
        Bytes::from(format!("{{\"of\":\"{kind}\"}}")),
    );
    let data = data.expect("it is JSON").in_version(text.map(version));
    Command::CreateControllerRevision(CreateControllerRevision {
        history: ControllerHistory {
            namespace: Namespace::parse("a").expect("a legal name"),
            owner: OwnerReference {
                api_version: version("apps/v1"),
                kind: Kind::parse(kind).expect("a legal kind"),
                name: ObjectName::parse("web").expect("a legal name"),
                uid: Uid::from_bytes([u8::try_from(kind.len()).expect("it is short"); 16]),
                controller: true,
                block_owner_deletion: true,
            },
            selector: Labels::default(),
        },
        data,
        equality: Equality::Json,
        prefix: NamePrefix::parse("web").expect("a legal name"),
        labels: Labels::default(),
        annotations: Annotations::default(),
        number: None,
        collision_count: 0,
        history_limit: 10,
        if_newest: None,
        mark_update: None,
        name: None,
    })
}

// Guarantee: MG-25
#[test]
fn a_snapshot_in_the_version_is_named() {
    let mut cluster = Cluster::formed();
    let deployments = of("apps.deployments")
        .decodes("apps/v1 apps/v2")
        .encodes("apps/v2");
    cluster.starts("a", &[deployments]);
    cluster.migrates("apps.deployments");
    // Of this kind in the version; of this kind in an unknown version; and of another kind.
    for command in [
        wanting("Widget", Some("apps/v1")),
        wanting("Gadgets", Some("apps/v1")),
        wanting("Thing", None),
    ] {
        accepted(cluster.send(command));
    }
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let ask = |text: &str| {
        let resource = resource("apps.deployments");
        whys(check_drop(&past, now, &resource, &version(text)))
    };
    let found = ask("apps/v1");
    let [Why::Snapshot(key, held)] = &found[..] else {
        panic!("one snapshot is the only reason: {found:?}");
    };
    let named: &NamespacedName = key;
    assert!(named.to_string().starts_with("a/web-"), "{named}");
    assert_eq!(held, &version("apps/v1"));
    assert_eq!(ask("apps/v3"), []);
}

/// Deployments were in `extensions` before they were in `apps`, and snapshots are never rewritten.
// Guarantee: MG-25
#[test]
fn a_snapshot_in_another_group_of_the_resource_counts() {
    let mut cluster = Cluster::formed();
    let deployments = of("apps.deployments").decodes("apps/v1").encodes("apps/v1");
    cluster.starts("a", &[deployments]);
    cluster.migrates("apps.deployments");
    for command in [
        wanting("Widget", Some("extensions/v1beta1")),
        wanting("Gadgets", Some("extensions/v1beta1")),
    ] {
        accepted(cluster.send(command));
    }
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let asked = resource("apps.deployments");
    let found = whys(check_drop(
        &past,
        now,
        &asked,
        &version("extensions/v1beta1"),
    ));
    let [Why::Snapshot(_, held)] = &found[..] else {
        panic!("one snapshot is the only reason: {found:?}");
    };
    assert_eq!(held, &version("extensions/v1beta1"));
    // Of one more resource of this kind, in a group that nobody ever named with the first one.
    let other = whys(check_drop(&past, now, &asked, &version("apps/v2")));
    assert_eq!(other, []);
}

// Guarantee: MG-24
#[test]
fn a_snapshot_of_which_nobody_said_the_version_makes_a_safe_answer_assume_something() {
    let mut cluster = Cluster::formed();
    let deployments = of("apps.deployments")
        .decodes("apps/v1 apps/v2")
        .encodes("apps/v2");
    cluster.starts("a", &[deployments, of("pods")]);
    cluster.migrates("apps.deployments");
    cluster.migrates("pods");
    let assumed = |cluster: &Cluster, name: &str, text: &str| -> Vec<Assumption> {
        let (past, now) = (cluster.state.present(), cluster.state.log_time());
        let verdict = check_drop(&past, now, &resource(name), &version(text));
        assert!(verdict.is_safe(), "{:?}", verdict.dangers);
        verdict.assumptions.into_keys().collect()
    };
    let deployments = |cluster: &Cluster| assumed(cluster, "apps.deployments", "apps/v1");
    // A snapshot of another kind says nothing of this resource.
    accepted(cluster.send(wanting("Thing", None)));
    assert_eq!(deployments(&cluster), [Assumption::NoRoster]);
    accepted(cluster.send(wanting("Widget", None)));
    assert_eq!(
        deployments(&cluster),
        [Assumption::NoRoster, Assumption::SnapshotVersionUnknown]
    );
    // Nor does one of another group.
    assert_eq!(assumed(&cluster, "pods", "v9"), [Assumption::NoRoster]);
    // A create of equal data that states the version makes it known.
    accepted(cluster.send(wanting("Widget", Some("apps/v2"))));
    assert_eq!(deployments(&cluster), [Assumption::NoRoster]);
}

#[test]
fn what_is_observed_now_and_only_that_counts_as_such_in_what_is_assumed() {
    let mut cluster = Cluster::formed();
    let ask = |cluster: &Cluster| {
        let (past, now) = (cluster.state.present(), cluster.state.log_time());
        check_drop(&past, now, &resource("pods"), &version("v9")).is_observed
    };
    cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    assert!(!ask(&cluster));
    cluster.observes("pods", &["v1"]);
    assert!(ask(&cluster));
    cluster.pass(Duration::from_secs(24 * 3_600));
    cluster.send_all(Vec::new());
    assert!(!ask(&cluster), "nobody has looked for two periods");
}
