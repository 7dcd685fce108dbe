//! The rows that a command touches do not depend on how much else there is. Rows are counted, not time.

use synod_machine::{Command, Row, State};
use synod_model::{MemberId, Revision};

use crate::cluster::{Cluster, Server, TTL};
use crate::entry::{Says, of};
use crate::shelf::{content, create, labelled, owned_by, widget};

/// The number of rows that only one of the states has. Every state has the header.
fn changed_rows(before: &State, after: &State) -> usize {
    let texts = |state: &State| -> Vec<String> {
        let rows = state
            .rows()
            .filter(|row| !matches!(row, Row::Header { .. }));
        let mut texts: Vec<String> = rows.map(|row| format!("{row:?}")).collect();
        texts.sort();
        texts
    };
    let (before, after) = (texts(before), texts(after));
    let only = |some: &[String], others: &[String]| {
        let some = some.iter();
        some.filter(|text| others.binary_search(text).is_err())
            .count()
    };
    only(&before, &after) + only(&after, &before)
}

/// The number of changes in the last revisions.
fn changes_after(cluster: &Cluster, revision: Revision) -> usize {
    let events = cluster.state.history().next_after(revision);
    let events = events.expect("it is kept").expect("there is one more");
    events.changes.len()
}

fn kinds(count: usize) -> Vec<Says> {
    (0..count)
        .map(|i| of(&format!("example.com.kinds{i}")))
        .collect()
}

/// A cluster in which `others` members report `resources` resources each, and one more reports `own` of them.
fn crowd(others: usize, resources: usize, own: usize) -> (Cluster, Server, Vec<MemberId>) {
    let mut cluster = Cluster::formed();
    let crowd = (0..others).map(|i| cluster.starts(&format!("other-{i}"), &kinds(resources)).id);
    let crowd = crowd.collect();
    let member = cluster.starts("member", &kinds(own));
    (cluster, member, crowd)
}

#[test]
fn a_renewal_touches_one_deadline_whatever_the_member_reports() {
    for (others, resources, own) in [(0, 0, 0), (0, 0, 100), (10, 60, 1), (10, 60, 60)] {
        let (mut cluster, member, _) = crowd(others, resources, own);
        cluster.pass(TTL / 3);
        let (before, revision) = (cluster.state.clone(), cluster.revision());
        cluster.renews(&member);
        assert_eq!(
            changed_rows(&before, &cluster.state),
            2,
            "one row goes, one comes"
        );
        assert_eq!(cluster.revision(), revision);
    }
}

// Guarantee: M-05
#[test]
fn an_expiry_touches_what_its_member_reported_and_nothing_else() {
    for own in [0, 1, 20] {
        let mut counted = Vec::new();
        for (others, resources) in [(1, 20), (1, 100), (12, 100)] {
            let (mut cluster, _member, crowd) = crowd(others, resources, own);
            cluster.pass(TTL);
            for id in &crowd {
                let epoch = cluster
                    .state
                    .present()
                    .member(id)
                    .expect("it is there")
                    .epoch;
                cluster.renews(&Server {
                    id: id.clone(),
                    instance: String::new(),
                    epoch,
                });
            }
            let (before, revision) = (cluster.state.clone(), cluster.revision());
            cluster.expires();
            assert_eq!(cluster.state.member_count(), others);
            // The member, its deadline, its last statement and the events; and for each resource the removed entry, its
            // storage version and its state, which now drains, before and after.
            assert_eq!(changed_rows(&before, &cluster.state), 4 + 5 * own);
            counted.push(changes_after(&cluster, revision));
        }
        assert_eq!(
            counted,
            [1 + 2 * own; 3],
            "the member, and two objects for each resource"
        );
    }
}

#[test]
fn a_report_touches_the_resources_in_it() {
    for (others, resources) in [(1, 100), (12, 100)] {
        let (mut cluster, member, _) = crowd(others, resources, 50);
        let says: Vec<Says> = kinds(3).into_iter().map(|says| says.serves("")).collect();
        let (before, revision) = (cluster.state.clone(), cluster.revision());
        cluster.reports(&member, &says);
        // For each resource its entry and storage version, before and after; the member's last statement; and the
        // events.
        assert_eq!(changed_rows(&before, &cluster.state), 3 + 4 * says.len());
        assert_eq!(changes_after(&cluster, revision), says.len());
    }
}

#[test]
fn a_report_of_what_is_known_touches_nothing() {
    let (mut cluster, member, _) = crowd(3, 50, 50);
    let before = cluster.state.clone();
    cluster.reports_only(&member, &kinds(50));
    // The member's last statement, before and after.
    assert_eq!(changed_rows(&before, &cluster.state), 2);
    assert_eq!(cluster.revision(), before.revision());
}

#[test]
fn an_entry_that_renews_many_members_makes_no_event() {
    let (mut cluster, member, crowd) = crowd(20, 5, 5);
    let present = cluster.state.present();
    let epoch = |id: &MemberId| present.member(id).expect("it is there").epoch;
    let servers: Vec<Server> = crowd
        .iter()
        .map(|id| Server {
            id: id.clone(),
            instance: String::new(),
            epoch: epoch(id),
        })
        .chain([member])
        .collect();
    cluster.pass(TTL / 3);
    let before = cluster.state.clone();
    let applied = cluster.send_all(servers.iter().map(crate::cluster::renew).collect());
    assert!(applied.events.is_empty());
    assert_eq!(changed_rows(&before, &cluster.state), 2 * servers.len());
}

/// A collection with this many widgets beside the one under test.
fn shelf(others: usize) -> Cluster {
    let mut cluster = Cluster::with_widgets();
    let owner = cluster.stores(&widget("a/owner"), labelled(&[("color", "red")]));
    let others = (0..others).map(|i| {
        let key = widget(&format!("b/other-{i}"));
        let labels = labelled(&[("color", "red")]);
        Command::CreateObject(create(&key, labels, content("v1", "{}")))
    });
    cluster.send_all(others.collect());
    cluster.stores(&widget("a/dependent"), owned_by(&[&owner]));
    cluster
}

// Guarantee: R-01
#[test]
fn a_write_touches_its_object_and_its_event_whatever_else_is_stored() {
    let mut counted = Vec::new();
    for others in [0, 1, 300] {
        let mut cluster = shelf(others);
        let mut touched = Vec::new();
        let mut measure = |cluster: &mut Cluster, write: &dyn Fn(&mut Cluster)| {
            let before = cluster.state.clone();
            write(cluster);
            touched.push(changed_rows(&before, &cluster.state));
        };
        let one = widget("a/one");
        measure(&mut cluster, &|it| {
            drop(it.stores(&one, labelled(&[("color", "red")])))
        });
        measure(&mut cluster, &|it| {
            it.updates(&one, labelled(&[("color", "blue")]), content("v1", "[1]"));
        });
        measure(&mut cluster, &|it| {
            it.deletes(&one, None);
        });
        measure(&mut cluster, &|it| {
            it.deletes(&widget("a/owner"), None);
        });
        // One row is added; one is replaced; one is removed; two are removed. And the events of each.
        assert_eq!(touched, [2, 3, 2, 3]);
        counted.push(touched);
    }
    assert!(counted.iter().all(|touched| *touched == counted[0]));
}

// Guarantee: W-20
#[test]
fn no_command_deals_with_more_dependents_than_its_bound() {
    let mut cluster = Cluster::with_widgets();
    let owner = cluster.stores(&widget("a/owner"), Default::default());
    let dependents = (0..500).map(|i| {
        let key = widget(&format!("a/dependent-{i}"));
        Command::CreateObject(create(&key, owned_by(&[&owner]), content("v1", "{}")))
    });
    cluster.send_all(dependents.collect());
    let mut revision = cluster.revision();
    cluster.deletes(&owner.key, None);
    assert!(changes_after(&cluster, revision) <= 1 + 128);
    // A small change does not process what a large deletion has left.
    revision = cluster.revision();
    cluster.stores(&widget("a/small"), Default::default());
    cluster.deletes(&widget("a/small"), None);
    assert_eq!(changes_after(&cluster, revision.next()), 1);
    while cluster.state.has_garbage() {
        revision = cluster.revision();
        cluster.send(Command::CollectGarbage(Default::default()));
        assert!(changes_after(&cluster, revision) <= 128);
    }
    let mut rows = cluster.state.rows();
    assert!(!rows.any(|row| matches!(row, Row::Object(_))));
}

// Guarantee: R-01
#[test]
fn what_expires_touches_its_object_and_its_deadline_whatever_else_has_one() {
    for others in [0, 1, 300] {
        let mut cluster = Cluster::with_widgets();
        for i in 0..others {
            cluster.stores_for(&widget(&format!("b/other-{i}")), TTL * 100);
        }
        cluster.stores_for(&widget("a/one"), TTL);
        cluster.pass(TTL);
        let before = cluster.state.clone();
        cluster.expires();
        // The object and its deadline are removed, and an event is added.
        assert_eq!(changed_rows(&before, &cluster.state), 3, "{others} others");
    }
}
