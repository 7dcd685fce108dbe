//! Checks over what is known: whether the members agree, and every obstacle to that.

use std::time::Duration;

use synod_machine::{
    AgreementQuery, AgreementVerdict, Command, Obstacle, Why, check_agreement, check_binary,
    check_drop,
};
use synod_model::{
    Assumption, Binary, BinaryResource, DeleteCollection, Feature, MemberId, Preconditions,
    ResourceScope, Switch,
};

use crate::cluster::{Cluster, accepted, hash};
use crate::entry::{of, release, resource, version};
use crate::raised::raised;
use crate::rosters::rule;
use crate::shelf::{LOOSE, WIDGETS};
use crate::switched::switch;

/// How long an encoding that is no longer written may still land.
const GRACE: Duration = Duration::from_secs(70);

fn member(id: &str) -> MemberId {
    MemberId::parse(id).expect("a legal id")
}

fn scope(text: &str) -> ResourceScope {
    ResourceScope::parse(text).expect("a legal scope")
}

fn evidence() -> Cluster {
    let mut cluster = Cluster::formed();
    for command in raised() {
        accepted(cluster.send(command));
    }
    cluster
}

impl Cluster {
    fn checks(&self, query: &AgreementQuery) -> AgreementVerdict {
        check_agreement(&self.state.present(), self.now(), query)
    }

    fn checks_all(&self) -> AgreementVerdict {
        self.checks(&AgreementQuery::default())
    }

    fn checks_one(&self, name: &str) -> AgreementVerdict {
        self.checks(&AgreementQuery {
            resources: [resource(name)].into(),
            allow_none: false,
        })
    }

    /// The obstacles of the one resource that counts.
    fn obstacles(&self, name: &str) -> Vec<Obstacle> {
        let verdict = self.checks_one(name);
        assert_eq!(verdict.obstacles, []);
        let [agreement] = verdict.resources.try_into().expect("one was asked for");
        assert!(!agreement.is_agreed());
        agreement.obstacles
    }
}

fn names(verdict: &AgreementVerdict) -> Vec<String> {
    let resources = verdict.resources.iter();
    let names = resources.map(|agreement| agreement.resource.qualified().to_owned());
    names.collect()
}

fn words(obstacles: &[Obstacle]) -> Vec<String> {
    obstacles.iter().map(ToString::to_string).collect()
}

// Guarantee: V-08
#[test]
fn issue_033_an_empty_cluster_is_not_agreed() {
    let cluster = Cluster::formed();
    let verdict = cluster.checks_all();
    assert_eq!(verdict.obstacles, [Obstacle::NothingKnown]);
    assert!(!verdict.is_agreed());
    let verdict = cluster.checks(&AgreementQuery {
        allow_none: true,
        ..AgreementQuery::default()
    });
    assert!(verdict.is_agreed());
    assert_eq!(verdict.assumptions.len(), 0);
}

// Guarantee: V-08
#[test]
fn issue_033_members_that_have_joined_and_not_reported_are_an_obstacle() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    cluster.joins("b");
    let lenient = AgreementQuery {
        allow_none: true,
        ..AgreementQuery::default()
    };
    let members = vec![member("a"), member("b")];
    let silent = Obstacle::MemberSilent { members };
    assert_eq!(
        cluster.checks(&lenient).obstacles,
        std::slice::from_ref(&silent)
    );
    assert_eq!(silent.to_string(), "a, b have joined and have not reported");
    cluster.reports(&a, &[of("pods")]);
    for verdict in [cluster.checks_all(), cluster.checks_one("pods")] {
        let members = vec![member("b")];
        assert_eq!(verdict.obstacles, [Obstacle::MemberSilent { members }]);
        assert!(verdict.resources[0].is_agreed());
        assert!(!verdict.is_agreed());
    }
}

#[test]
fn an_empty_report_ends_the_silence() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    let b = cluster.joins("b");
    assert!(!cluster.checks_all().is_agreed());
    cluster.reports(&b, &[]);
    assert!(cluster.checks_all().is_agreed());
}

/// The report of an earlier instance does not say how the present one will encode.
#[test]
fn a_member_that_restarts_is_silent_until_it_reports_again() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    assert!(cluster.checks_all().is_agreed());
    let a = cluster.restarts(&a);
    let members = vec![member("a")];
    let silent = [Obstacle::MemberSilent { members }];
    assert_eq!(cluster.checks_all().obstacles, silent);
    cluster.reports(&a, &[of("pods")]);
    assert!(cluster.checks_all().is_agreed());
}

// Guarantee: V-08
#[test]
fn a_member_that_has_not_reported_is_a_reason_against_every_drop_and_every_binary() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v2")]);
    cluster.migrates("pods");
    let whys = |cluster: &Cluster| {
        let (past, now) = (cluster.state.present(), cluster.now());
        let dropped = check_drop(&past, now, &resource("pods"), &version("v1"));
        let binary = Binary {
            resources: vec![BinaryResource {
                resource: resource("pods"),
                kind: None,
                decodable: [version("v2")].into(),
                stance: None,
                new: false,
            }],
            left_to_others: Vec::new(),
        };
        let joining = check_binary(&past, now, &binary);
        [dropped, joining].map(|verdict| {
            let dangers = verdict.dangers.into_iter();
            dangers.map(|danger| danger.why).collect::<Vec<Why>>()
        })
    };
    assert_eq!(whys(&cluster), [vec![], vec![]]);
    let b = cluster.joins("b");
    let one = vec![Why::MemberSilent(member("b"), 1)];
    assert_eq!(whys(&cluster), [one.clone(), one]);
    cluster.joins("c");
    let two = Why::MemberSilent(member("b"), 2);
    assert_eq!(
        two.to_string(),
        "b and 1 more have joined and have not reported"
    );
    assert_eq!(whys(&cluster), [vec![two.clone()], vec![two]]);
    cluster.reports(&b, &[]);
    let c = vec![Why::MemberSilent(member("c"), 1)];
    assert_eq!(whys(&cluster), [c.clone(), c]);
}

// Guarantee: V-08
#[test]
fn issue_033_a_roster_over_what_nobody_reports_is_an_obstacle() {
    let mut cluster = evidence();
    cluster.starts("a", &[of("pods")]);
    cluster.sets_roster("example.io.widgets", rule("a", "", 0));
    cluster.sets_roster("example.com.*", rule("a", "", 0));
    cluster.sets_roster("*", rule("a", "", 0));
    let unknown = ["example.com.*", "example.io.widgets"].map(scope);
    let unknown = unknown.map(|scope| Obstacle::ScopeUnknown { scope });
    let verdict = cluster.checks_all();
    assert_eq!(verdict.obstacles, unknown);
    assert_eq!(
        words(&verdict.obstacles),
        [
            "a roster asks for example.com.*, and no such resource is known",
            "a roster asks for widgets.example.io, and no such resource is known",
        ]
    );
    // A scope concerns the question about a resource that it covers.
    assert!(cluster.checks_one("pods").is_agreed());
    let gadgets = cluster.checks_one("example.com.gadgets");
    assert_eq!(gadgets.obstacles, unknown[..1]);
    let (past, now) = (cluster.state.present(), cluster.now());
    let drop = check_drop(&past, now, &resource("example.com.gadgets"), &version("v1"));
    let whys: Vec<Why> = drop.dangers.into_iter().map(|danger| danger.why).collect();
    assert_eq!(
        whys,
        [
            Why::NoState(None),
            Why::ScopeUnknown(scope("example.com.*"))
        ]
    );
}

#[test]
fn a_binary_leaves_what_a_roster_asks_for_to_others_or_is_not_safe() {
    let mut cluster = evidence();
    cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    cluster.sets_roster("example.io.widgets", rule("a", "", 0));
    let mut binary = Binary {
        resources: vec![BinaryResource {
            resource: resource("pods"),
            kind: None,
            decodable: [version("v1")].into(),
            stance: None,
            new: false,
        }],
        left_to_others: Vec::new(),
    };
    let (past, now) = (cluster.state.present(), cluster.now());
    let [danger] = check_binary(&past, now, &binary)
        .dangers
        .try_into()
        .expect("one danger");
    assert_eq!(danger.resource, resource("example.io.widgets"));
    let widgets = scope("example.io.widgets");
    assert_eq!(danger.why, Why::ScopeUnknown(widgets.clone()));
    binary.left_to_others = vec![widgets];
    assert!(check_binary(&past, now, &binary).is_safe());
}

#[test]
fn a_resource_that_nobody_ever_named_is_unknown_whatever_is_allowed() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("apps.deployments")]);
    for allow_none in [false, true] {
        let query = |name: &str| AgreementQuery {
            resources: [resource(name)].into(),
            allow_none,
        };
        let verdict = cluster.checks(&query("apps.deployment"));
        let nearest = Some(resource("apps.deployments"));
        let unknown = [Obstacle::Unknown { nearest }];
        assert_eq!(verdict.resources[0].obstacles, unknown);
        assert_eq!(
            words(&unknown),
            [
                "it was never reported or observed; the nearest resource that is known is deployments.apps"
            ]
        );
        assert!(!verdict.is_agreed());
        let verdict = cluster.checks(&query("example.io.widgets"));
        let unknown = [Obstacle::Unknown { nearest: None }];
        assert_eq!(verdict.resources[0].obstacles, unknown);
    }
}

#[test]
fn what_is_left_over_is_listed_and_counts_only_while_it_drains_or_is_asked_for() {
    let mut cluster = evidence();
    let a = cluster.starts("a", &[of("pods"), of("example.io.widgets")]);
    cluster.pass(GRACE);
    cluster.renews(&a);
    assert_eq!(names(&cluster.checks_all()), ["pods", "widgets.example.io"]);
    cluster.reports_only(&a, &[of("pods")]);
    let verdict = cluster.checks_all();
    assert_eq!(names(&verdict), ["pods"]);
    assert_eq!(verdict.left_over, [resource("example.io.widgets")].into());
    assert!(verdict.is_agreed());
    assert_eq!(
        cluster.obstacles("example.io.widgets"),
        [Obstacle::Unreported]
    );
    // A roster asks for it.
    cluster.sets_roster("example.io.*", rule("a", "", 0));
    let verdict = cluster.checks_all();
    assert_eq!(names(&verdict), ["pods", "widgets.example.io"]);
    assert_eq!(
        words(&verdict.resources[1].obstacles),
        ["no member reports it", "missing by its roster: a"]
    );
    assert!(!verdict.is_agreed());
}

#[test]
fn what_drains_counts_until_it_has_drained() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    let b = cluster.starts("b", &[of("example.io.widgets")]);
    cluster.leaves(&b);
    let verdict = cluster.checks_all();
    assert_eq!(names(&verdict), ["pods", "widgets.example.io"]);
    assert_eq!(verdict.resources[1].obstacles, [Obstacle::Unreported]);
    cluster.pass(GRACE);
    let verdict = cluster.checks_all();
    assert_eq!(names(&verdict), ["pods"]);
    assert!(verdict.is_agreed());
}

#[test]
fn a_declared_collection_counts_once_it_was_reported_or_is_asked_for() {
    let mut cluster = evidence();
    cluster.declares(WIDGETS, LOOSE);
    let verdict = cluster.checks_all();
    assert_eq!(verdict.obstacles, [Obstacle::NothingKnown]);
    assert!(verdict.left_over.is_empty());
    let a = cluster.starts("a", &[of("pods"), of(WIDGETS).in_collection()]);
    cluster.reports_only(&a, &[of("pods")]);
    let verdict = cluster.checks_all();
    assert_eq!(names(&verdict), ["pods", "widgets.example.io"]);
    assert_eq!(verdict.resources[1].obstacles, [Obstacle::Unreported]);
    accepted(cluster.send(Command::DeleteCollection(DeleteCollection {
        resource: resource(WIDGETS),
        preconditions: Preconditions::default(),
    })));
    let verdict = cluster.checks_all();
    assert_eq!(names(&verdict), ["pods"]);
    assert_eq!(verdict.left_over, [resource(WIDGETS)].into());
}

#[test]
fn a_declared_collection_of_which_a_roster_asks_counts_before_its_first_report() {
    let mut cluster = evidence();
    cluster.declares(WIDGETS, LOOSE);
    cluster.sets_roster("*", rule("a", "", 0));
    let [agreement] = cluster
        .checks_all()
        .resources
        .try_into()
        .expect("one resource counts");
    assert_eq!(
        words(&agreement.obstacles),
        ["no member reports it", "missing by its roster: a"]
    );
}

#[test]
fn what_only_discovery_shows_is_agreed_while_it_shows_one_encoding() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1"]);
    let verdict = cluster.checks_all();
    assert!(verdict.is_agreed());
    assert_eq!(verdict.resources[0].hash, Some(hash("v1")));
    assert!(verdict.is_observed);
    cluster.observes("pods", &["v1", "v2"]);
    let hashes = [hash("v1"), hash("v2")].into();
    let several = Obstacle::ObservationsDiffer { hashes };
    assert_eq!(cluster.obstacles("pods"), std::slice::from_ref(&several));
    assert_eq!(
        several.to_string(),
        format!(
            "no member reports it, and discovery shows several encodings: {}, {}",
            hash("v1").min(hash("v2")),
            hash("v1").max(hash("v2"))
        )
    );
    cluster.observes("pods", &["v1"]);
    cluster.pass(Duration::from_secs(24 * 3_600));
    cluster.expires();
    assert_eq!(cluster.obstacles("pods"), [Obstacle::ObservationExpired]);
}

#[test]
fn votes_that_select_nothing_are_named_by_version() {
    let mut cluster = evidence();
    accepted(cluster.send(switch(Feature::Votes, Switch::Off)));
    cluster.starts("a", &[release::second()]);
    let votes = [(version("v1"), vec![member("a")])].into();
    let nothing = Obstacle::NothingSelected { votes };
    assert_eq!(cluster.obstacles("pods"), std::slice::from_ref(&nothing));
    assert_eq!(nothing.to_string(), "nothing is selected: a votes for v1");
}

#[test]
fn members_that_encode_several_versions_are_named_by_version() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v1")]);
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    cluster.starts("c", &[of("pods").decodes("v1 v2").encodes("v2")]);
    let encodings = [
        (version("v1"), vec![member("a")]),
        (version("v2"), vec![member("b"), member("c")]),
    ];
    let differ = Obstacle::EncodingsDiffer {
        encodings: encodings.into(),
    };
    assert_eq!(cluster.obstacles("pods"), std::slice::from_ref(&differ));
    assert_eq!(differ.to_string(), "a encodes v1; b, c encode v2");
}

#[test]
fn a_voter_that_has_not_adopted_the_selected_version_is_named() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let b = cluster.starts("b", &[release::third()]);
    // a, the last member that prefers v1, leaves, so v2 is selected.
    cluster.leaves_drained(&a);
    let revision = cluster.kept("pods").selected_revision;
    let behind = Obstacle::NotAdopted {
        selected: version("v2"),
        revision,
        members: vec![member("b")],
    };
    assert_eq!(cluster.obstacles("pods"), std::slice::from_ref(&behind));
    assert_eq!(
        behind.to_string(),
        format!("b has not adopted v2, selected at revision {revision}")
    );
    cluster.adopts(&b, "pods");
    assert!(cluster.checks_one("pods").is_agreed());
}

#[test]
fn a_member_that_encodes_another_version_than_the_selected_one_by_choice_is_named() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[release::second()]);
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    let obstacles = cluster.obstacles("pods");
    let elsewhere = Obstacle::FixedElsewhere {
        selected: version("v1"),
        members: vec![member("b")],
    };
    assert_eq!(obstacles[1..], [elsewhere]);
    assert_eq!(
        words(&obstacles),
        [
            "a encodes v1; b encodes v2",
            "b encodes by choice another version than the selected v1",
        ]
    );
}

#[test]
fn a_roster_and_discovery_may_stand_against_members_that_encode_one_version() {
    let mut cluster = evidence();
    cluster.starts("a", &[of("pods")]);
    cluster.observes("pods", &["v2"]);
    cluster.sets_roster("core.pods", rule("a b", "", 0));
    let obstacles = cluster.obstacles("pods");
    let absent = cluster.kept("pods").absent;
    let hashes = [hash("v2")].into();
    assert_eq!(
        obstacles,
        [
            Obstacle::Absent { absent },
            Obstacle::Contradicted {
                hashes,
                expired: false,
            },
        ]
    );
    cluster.pass(Duration::from_secs(24 * 3_600));
    let words = words(&cluster.obstacles("pods"));
    assert_eq!(words[0], "missing by its roster: b");
    assert!(words[1].starts_with("discovery shows "), "{words:?}");
}

#[test]
fn an_agreement_assumes_what_no_roster_excludes() {
    let mut cluster = evidence();
    let assumed = |cluster: &Cluster| -> Vec<Assumption> {
        let verdict = cluster.checks_all();
        assert!(verdict.is_agreed());
        verdict.assumptions.into_keys().collect()
    };
    cluster.starts("a", &[of("pods")]);
    assert_eq!(assumed(&cluster), [Assumption::NoRoster]);
    cluster.sets_roster("*", rule("", "", 1));
    assert_eq!(assumed(&cluster), [Assumption::RosterMayMiss]);
    // A roster counts at once, though no migration has ended under it yet.
    cluster.sets_roster("*", rule("a", "", 0));
    assert_eq!(assumed(&cluster), []);
    assert!(cluster.kept("pods").on_trust.is_some());
}

/// Every resource that is not agreed on has an obstacle, at every step of a rolling upgrade.
#[test]
fn what_is_not_agreed_always_says_why() {
    let mut cluster = evidence();
    let check = |cluster: &Cluster| {
        for agreement in cluster.checks_all().resources {
            let is_positive = agreement.version.is_some() || agreement.hash.is_some();
            assert_eq!(agreement.obstacles.is_empty(), is_positive, "{agreement:?}");
        }
    };
    let releases = [
        release::first(),
        release::second(),
        release::third(),
        release::fourth(),
    ];
    let mut a = cluster.starts("a", &[release::first()]);
    let mut b = cluster.starts("b", &[release::first()]);
    for next in releases {
        for server in [&mut a, &mut b] {
            cluster.observes("pods", &["v1"]);
            check(&cluster);
            *server = cluster.is_replaced(server, std::slice::from_ref(&next));
            check(&cluster);
            if cluster.kept("pods").selected.is_some() {
                cluster.adopts(server, "pods");
            }
            check(&cluster);
            cluster.pass(Duration::from_secs(10));
        }
        cluster.adopts(&a, "pods");
        cluster.adopts(&b, "pods");
        cluster.renew_all(&[&a, &b]);
        check(&cluster);
    }
    cluster.leaves(&a);
    check(&cluster);
    cluster.leaves(&b);
    check(&cluster);
}
