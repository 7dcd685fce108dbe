use synod_model::{ApiVersion, Kind, Stance, StoredIn};

use super::*;

const GRACE: Duration = Duration::from_secs(70);

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn revision(number: u64) -> Revision {
    Revision::new(number)
}

fn epoch(number: u64) -> Epoch {
    Epoch::new(revision(number))
}

fn resource(name: &str) -> GroupResource {
    GroupResource::parse_qualified(name).unwrap()
}

fn version(text: &str) -> ApiVersion {
    ApiVersion::parse(text).unwrap()
}

fn entry(name: &str, stance: Stance) -> ReportEntry {
    ReportEntry {
        resource: resource(name),
        kind: Kind::parse("Thing").unwrap(),
        decodable: [version("v1"), version("v2"), version("v3")]
            .into_iter()
            .collect(),
        served: Default::default(),
        stance,
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    }
}

fn fixed(name: &str, encoding: &str) -> (ReportEntry, ReportedResource) {
    let encoding = version(encoding);
    let answer = ReportedResource {
        resource: resource(name),
        encoding: Some(encoding.clone()),
        selected: None,
        selected_revision: Revision::ZERO,
        adopted_revision: None,
    };
    (entry(name, Stance::Fixed { encoding }), answer)
}

/// A voting entry that encodes in `encoding`; `selected` is the selected version and the revision of its selection. The
/// entry has adopted that selection if it encodes in it, else the selection of revision 3.
fn voting(
    name: &str,
    encoding: Option<&str>,
    selected: Option<(&str, u64)>,
) -> (ReportEntry, ReportedResource) {
    let adopted = encoding.map(|encoding| match selected {
        Some((text, at)) if text == encoding => at,
        _ => 3,
    });
    let answer = ReportedResource {
        resource: resource(name),
        encoding: encoding.map(version),
        selected: selected.map(|(text, _)| version(text)),
        selected_revision: revision(selected.map_or(0, |(_, revision)| revision)),
        adopted_revision: adopted.map(revision),
    };
    (
        entry(
            name,
            Stance::Voting {
                preferred: version("v1"),
            },
        ),
        answer,
    )
}

/// A watch event about a selection.
fn selected(text: &str, selected_revision: u64) -> Observation {
    Observation {
        revision: revision(selected_revision),
        selected: Some(version(text)),
        selected_revision: revision(selected_revision),
        own: None,
        agreed: None,
        agreed_at: revision(selected_revision),
    }
}

/// A watch event that shows an agreement, or that there is none.
fn agreed(text: Option<&str>, agreed_at: u64, selection: (&str, u64)) -> Observation {
    Observation {
        agreed: text.map(version),
        agreed_at: revision(agreed_at),
        ..selected(selection.0, selection.1)
    }
}

/// A member of epoch 5, proved until second 10, that has reported these entries at revision 6.
fn member(reported: Vec<(ReportEntry, ReportedResource)>) -> Book {
    let mut book = Book::new(GRACE);
    book.joined(epoch(5), at(10));
    book.told(epoch(5), revision(6), true, reported);
    book
}

fn set(names: &[&str]) -> BTreeSet<GroupResource> {
    names.iter().map(|name| resource(name)).collect()
}

#[track_caller]
fn granted(book: &mut Book, name: &str, now: u64) -> Grant {
    book.grant(&resource(name), at(now)).unwrap()
}

// Guarantee: G-01
#[test]
fn nothing_passes_before_the_server_has_joined_and_reported() {
    let mut book = Book::new(GRACE);
    assert!(matches!(
        book.grant(&resource("pods"), at(0)),
        Err(Obstacle::Outside(_))
    ));
    book.joined(epoch(5), at(10));
    assert_eq!(
        book.grant(&resource("pods"), at(0)),
        Err(Obstacle::NotReported(None))
    );
    assert!(!book.is_completed());
}

#[test]
fn a_report_opens_the_gate_for_what_it_names_and_for_nothing_else() {
    let mut book = member(vec![fixed("pods", "v1")]);
    let grant = granted(&mut book, "pods", 0);
    assert_eq!((grant.epoch, &grant.encoding), (epoch(5), &version("v1")));
    assert_eq!(book.check(&grant, at(0)), Ok(()));
    assert_eq!(
        book.grant(&resource("things.example.com"), at(0)),
        Err(Obstacle::NotReported(None))
    );
    assert!(book.is_completed() && book.is_reported());
}

#[test]
fn a_failed_report_is_what_a_write_is_told() {
    let mut book = Book::new(GRACE);
    book.joined(epoch(5), at(10));
    book.report_failed(&set(&["pods"]), "no quorum");
    let obstacle = book.grant(&resource("pods"), at(0)).unwrap_err();
    assert_eq!(
        obstacle.message("pods"),
        "wait for storage version registration to complete for resource: pods, last seen error: no quorum"
    );
    let unreported = book.grant(&resource("configmaps"), at(0)).unwrap_err();
    assert_eq!(
        unreported.message("configmaps"),
        "wait for storage version registration to complete for resource: configmaps, last seen error: <nil>"
    );
}

// Guarantee: G-03
#[test]
fn the_gate_closes_when_the_proof_ends_and_opens_with_a_new_one() {
    let mut book = member(vec![fixed("pods", "v1")]);
    let grant = granted(&mut book, "pods", 9);
    assert_eq!(
        book.grant(&resource("pods"), at(10)),
        Err(Obstacle::NotProved(epoch(5)))
    );
    assert_eq!(
        book.check(&grant, at(10)),
        Err(Refused::Obstacle(Obstacle::NotProved(epoch(5))))
    );
    book.proved(epoch(5), at(20));
    // The epoch has not changed in between.
    assert_eq!(book.check(&grant, at(19)), Ok(()));
    granted(&mut book, "pods", 19);
}

#[test]
fn a_late_proof_does_not_shorten_one_that_came_before_and_one_of_another_epoch_proves_nothing() {
    let mut book = member(vec![fixed("pods", "v1")]);
    book.proved(epoch(5), at(20));
    book.proved(epoch(5), at(15));
    book.proved(epoch(4), at(90));
    book.proved(epoch(6), at(90));
    assert_eq!(book.proof_left(at(12)), Some(at(8)));
    assert_eq!(book.proof_left(at(20)), None);
}

// Guarantee: G-04
#[test]
fn a_permit_of_the_epoch_before_a_re_join_is_void_and_still_counts() {
    let mut book = member(vec![fixed("pods", "v1")]);
    let old = granted(&mut book, "pods", 0);
    book.lost(epoch(5), "expired".to_owned());
    assert!(matches!(
        book.grant(&resource("pods"), at(1)),
        Err(Obstacle::Outside(_))
    ));
    book.joined(epoch(9), at(30));
    assert_eq!(book.check(&old, at(1)), Err(Refused::OtherEpoch(epoch(9))));
    // What the epoch before reported does not open the gate.
    assert_eq!(
        book.grant(&resource("pods"), at(1)),
        Err(Obstacle::NotReported(None))
    );
    assert!(!book.is_reported() && book.is_completed());
    book.told(epoch(9), revision(10), true, vec![fixed("pods", "v1")]);
    assert_eq!(book.check(&old, at(1)), Err(Refused::OtherEpoch(epoch(9))));
    assert_eq!(granted(&mut book, "pods", 1).epoch, epoch(9));
    assert_eq!(book.drain_all(at(1)), Drain::Open(2));
}

#[test]
fn an_answer_to_an_older_epoch_opens_nothing() {
    let mut book = Book::new(GRACE);
    book.joined(epoch(5), at(10));
    book.lost(epoch(5), "expired".to_owned());
    book.joined(epoch(9), at(30));
    book.told(epoch(5), revision(6), true, vec![fixed("pods", "v1")]);
    assert_eq!(
        book.grant(&resource("pods"), at(1)),
        Err(Obstacle::NotReported(None))
    );
    book.lost(epoch(5), "late".to_owned());
    assert_eq!(book.epoch(), Some(epoch(9)));
}

#[test]
fn an_ending_is_for_ever() {
    let mut book = member(vec![fixed("pods", "v1")]);
    let grant = granted(&mut book, "pods", 0);
    book.end(Ended::Replaced);
    book.end(Ended::Left);
    book.joined(epoch(9), at(90));
    let ended = Obstacle::Ended(Ended::Replaced);
    assert_eq!(book.grant(&resource("pods"), at(0)), Err(ended.clone()));
    assert_eq!(book.check(&grant, at(0)), Err(Refused::Obstacle(ended)));
}

#[test]
fn a_change_lets_permits_come_back_and_gives_no_new_ones() {
    let mut book = member(vec![fixed("pods", "v1"), fixed("nodes", "v1")]);
    let open = granted(&mut book, "pods", 0);
    let change = set(&["pods"]);
    book.begin_change(&change);
    assert_eq!(
        book.grant(&resource("pods"), at(0)),
        Err(Obstacle::Changing(None))
    );
    // A write that already has its permit may still be sent, and other resources are not affected.
    assert_eq!(book.check(&open, at(0)), Ok(()));
    granted(&mut book, "nodes", 0);
    assert_eq!(book.drain(&change, at(0)), Drain::Open(1));
    book.give_back(&open, false, at(1));
    assert_eq!(book.drain(&change, at(1)), Drain::Done);
    book.told(epoch(5), revision(7), false, vec![fixed("pods", "v2")]);
    // The gate opens only when the change is over: further reports may belong to it.
    assert_eq!(
        book.grant(&resource("pods"), at(1)),
        Err(Obstacle::Changing(None))
    );
    book.end_change(&change);
    assert_eq!(granted(&mut book, "pods", 1).encoding, version("v2"));
    assert_eq!(book.check(&open, at(1)), Err(Refused::OtherEncoding));
}

#[test]
fn a_change_that_was_not_made_leaves_what_was_there() {
    let mut book = member(vec![fixed("pods", "v1")]);
    let change = set(&["pods", "new"]);
    book.begin_change(&change);
    book.report_failed(&change, "refused");
    book.end_change(&change);
    assert_eq!(granted(&mut book, "pods", 0).encoding, version("v1"));
    let obstacle = book.grant(&resource("new"), at(0)).unwrap_err();
    assert_eq!(obstacle, Obstacle::NotReported(Some("refused".to_owned())));
}

#[test]
fn a_change_of_unknown_outcome_keeps_the_gate_closed_until_a_report_is_acknowledged() {
    let mut book = member(vec![fixed("pods", "v1")]);
    let change = set(&["pods"]);
    book.begin_change(&change);
    book.doubt(&change);
    book.end_change(&change);
    assert_eq!(
        book.grant(&resource("pods"), at(0)),
        Err(Obstacle::NotReported(None))
    );
    book.told(epoch(5), revision(8), true, vec![fixed("pods", "v1")]);
    granted(&mut book, "pods", 0);
}

// Guarantee: G-05
#[test]
fn a_write_of_unknown_outcome_is_held_for_the_write_grace() {
    let mut book = member(vec![fixed("pods", "v1")]);
    let pods = set(&["pods"]);
    let first = granted(&mut book, "pods", 0);
    let second = granted(&mut book, "pods", 0);
    book.give_back(&first, true, at(2));
    assert_eq!(book.drain(&pods, at(2)), Drain::Open(1));
    book.give_back(&second, true, at(5));
    assert_eq!(book.drain(&pods, at(6)), Drain::Until(at(5) + GRACE));
    assert_eq!(book.drain(&pods, at(5) + GRACE), Drain::Done);
    book.set_write_grace(at(1));
    let third = granted(&mut book, "pods", 6);
    book.give_back(&third, true, at(6));
    // The longer of the two counts.
    assert_eq!(book.drain_all(at(8)), Drain::Until(at(5) + GRACE));
}

#[test]
fn a_full_report_closes_the_gate_of_what_it_does_not_name() {
    let mut book = member(vec![fixed("pods", "v1"), fixed("nodes", "v1")]);
    let permit = granted(&mut book, "nodes", 0);
    book.told(epoch(5), revision(7), true, vec![fixed("pods", "v1")]);
    assert_eq!(
        book.grant(&resource("nodes"), at(0)),
        Err(Obstacle::NotReported(None))
    );
    assert_eq!(book.check(&permit, at(0)), Err(Refused::OtherEncoding));
    assert_eq!(book.drain_all(at(0)), Drain::Open(1));
    book.give_back(&permit, false, at(0));
    assert_eq!(book.drain_all(at(0)), Drain::Done);
}

#[test]
fn a_voter_without_a_selection_has_a_closed_gate_until_it_sees_one() {
    let mut book = member(vec![voting("pods", None, None)]);
    assert_eq!(
        book.grant(&resource("pods"), at(0)),
        Err(Obstacle::NothingSelected)
    );
    assert_eq!(book.unadopted(), vec![]);
    // The cluster gives the voter its encoding in the command that selects it.
    let own = Some((Some(version("v2")), Some(revision(8))));
    book.observe(
        &resource("pods"),
        &Observation {
            own,
            ..selected("v2", 8)
        },
    );
    assert_eq!(granted(&mut book, "pods", 0).encoding, version("v2"));
    assert_eq!(book.unadopted(), vec![]);
}

// Guarantee: G-02
#[test]
fn discovery_shows_what_the_gate_lets_be_encoded_once_all_agree_on_it() {
    let pods = resource("pods");
    let mut book = member(vec![voting("pods", Some("v1"), Some(("v1", 3)))]);
    let hash = |text: &str| StorageVersionHash::of("", text, "Thing");
    let dissent = |text: &str| Err(Dissent::NotAgreed(version(text)));
    assert_eq!(book.shows(&pods, at(0)), dissent("v1"), "nothing was seen");
    book.observe(&pods, &agreed(Some("v1"), 6, ("v1", 3)));
    assert_eq!(book.shows(&pods, at(0)), Ok(hash("v1")));
    assert_eq!(book.drain_all(at(0)), Drain::Done, "it takes no permit");
    // From the selection on this server writes v2, and others may still write v1.
    book.observe(&pods, &agreed(None, 8, ("v2", 8)));
    assert_eq!(book.shows(&pods, at(0)), dissent("v2"));
    book.observe(&pods, &agreed(Some("v1"), 7, ("v1", 3)));
    assert_eq!(book.shows(&pods, at(0)), dissent("v2"), "this is older");
    book.observe(&pods, &agreed(Some("v2"), 9, ("v2", 8)));
    assert_eq!(book.shows(&pods, at(0)), Ok(hash("v2")));
    // A report that is acknowledged later forgets nothing of that.
    book.told(
        epoch(5),
        revision(9),
        true,
        vec![voting("pods", Some("v2"), Some(("v2", 8)))],
    );
    assert_eq!(book.shows(&pods, at(0)), Ok(hash("v2")));
}

// Guarantee: G-02
#[test]
fn discovery_shows_no_hash_while_the_gate_is_closed() {
    let pods = resource("pods");
    let mut book = member(vec![voting("pods", Some("v1"), Some(("v1", 3)))]);
    book.observe(&pods, &agreed(Some("v1"), 6, ("v1", 3)));
    assert!(book.shows(&pods, at(9)).is_ok());
    let closed = |obstacle| Err(Dissent::Closed(obstacle));
    assert_eq!(
        book.shows(&pods, at(10)),
        closed(Obstacle::NotProved(epoch(5)))
    );
    assert_eq!(
        book.shows(&resource("nodes"), at(0)),
        closed(Obstacle::NotReported(None))
    );
    book.begin_change(&set(&["pods"]));
    assert_eq!(book.shows(&pods, at(0)), closed(Obstacle::Changing(None)));
    book.end_change(&set(&["pods"]));
    book.leave();
    assert_eq!(book.shows(&pods, at(0)), closed(Obstacle::Leaving));
}

#[test]
fn a_voter_writes_what_is_selected_at_once_and_adopts_when_the_rest_has_come_back() {
    let pods = resource("pods");
    let mut book = member(vec![voting("pods", Some("v1"), Some(("v1", 3)))]);
    assert_eq!(
        book.unadopted(),
        vec![],
        "the first report of an epoch takes what is selected"
    );
    let old = granted(&mut book, "pods", 0);
    book.observe(&pods, &selected("v2", 8));
    let new = granted(&mut book, "pods", 0);
    assert_eq!(
        (&old.encoding, &new.encoding),
        (&version("v1"), &version("v2"))
    );
    assert_eq!(
        (book.check(&old, at(0)), book.check(&new, at(0))),
        (Ok(()), Ok(()))
    );
    assert_eq!(book.unadopted(), vec![(pods.clone(), revision(8))]);
    assert_eq!(
        book.drain_for_adoption(&pods, revision(8), at(0)),
        Some(Drain::Open(1))
    );
    book.give_back(&old, true, at(1));
    let held = Some(Drain::Until(at(1) + GRACE));
    assert_eq!(book.drain_for_adoption(&pods, revision(8), at(2)), held);
    // Writes in the new version hold nothing back.
    assert_eq!(
        book.drain_for_adoption(&pods, revision(8), at(71)),
        Some(Drain::Done)
    );
    book.adopted(epoch(5), &pods, revision(8), revision(9));
    assert_eq!(book.unadopted(), vec![]);
    assert_eq!(book.check(&old, at(0)), Err(Refused::OtherEncoding));
    assert_eq!(book.check(&new, at(0)), Ok(()));
}

#[test]
fn a_selection_that_moved_on_is_not_adopted_and_its_permits_are_void() {
    let pods = resource("pods");
    let mut book = member(vec![voting("pods", Some("v1"), Some(("v1", 3)))]);
    book.observe(&pods, &selected("v2", 8));
    let between = granted(&mut book, "pods", 0);
    book.observe(&pods, &selected("v3", 9));
    assert_eq!(book.drain_for_adoption(&pods, revision(8), at(0)), None);
    assert_eq!(book.check(&between, at(0)), Err(Refused::OtherEncoding));
    assert_eq!(
        book.drain_for_adoption(&pods, revision(9), at(0)),
        Some(Drain::Open(1))
    );
    // An answer to the older adoption changes nothing.
    book.adopted(epoch(5), &pods, revision(8), revision(9));
    assert_eq!(book.unadopted(), vec![(pods, revision(9))]);
}

#[test]
fn a_selection_that_moved_back_has_to_be_adopted_all_the_same() {
    let pods = resource("pods");
    let mut book = member(vec![voting("pods", Some("v1"), Some(("v1", 3)))]);
    let first = granted(&mut book, "pods", 0);
    book.observe(&pods, &selected("v2", 8));
    let between = granted(&mut book, "pods", 0);
    book.observe(&pods, &selected("v1", 9));
    assert_eq!(book.check(&first, at(0)), Ok(()));
    assert_eq!(book.check(&between, at(0)), Err(Refused::OtherEncoding));
    assert_eq!(book.unadopted(), vec![(pods.clone(), revision(9))]);
    assert_eq!(
        book.drain_for_adoption(&pods, revision(9), at(0)),
        Some(Drain::Open(1))
    );
    book.give_back(&between, false, at(0));
    assert_eq!(
        book.drain_for_adoption(&pods, revision(9), at(0)),
        Some(Drain::Done)
    );
}

#[test]
fn an_older_sight_of_a_resource_changes_nothing() {
    let pods = resource("pods");
    let mut book = member(vec![voting("pods", Some("v2"), Some(("v2", 6)))]);
    let own = Some((Some(version("v1")), Some(revision(3))));
    let before = Observation {
        own,
        revision: revision(5),
        ..selected("v1", 3)
    };
    book.observe(&pods, &before);
    assert_eq!(granted(&mut book, "pods", 0).encoding, version("v2"));
    assert_eq!(book.unadopted(), vec![]);
}

#[test]
fn a_voter_that_reports_again_keeps_its_encoding_until_it_adopts() {
    let pods = resource("pods");
    let mut book = member(vec![voting("pods", Some("v1"), Some(("v1", 3)))]);
    // In between, v2 was selected, and the member has not seen that yet.
    book.told(
        epoch(5),
        revision(9),
        false,
        vec![voting("pods", Some("v1"), Some(("v2", 8)))],
    );
    assert_eq!(granted(&mut book, "pods", 0).encoding, version("v2"));
    assert_eq!(book.unadopted(), vec![(pods, revision(8))]);
}

/// A voting entry that encodes the version selected at revision 9, although it has last adopted an earlier selection.
fn behind(name: &str) -> (ReportEntry, ReportedResource) {
    let (entry, answer) = voting(name, Some("v1"), Some(("v1", 9)));
    let adopted_revision = Some(revision(3));
    (
        entry,
        ReportedResource {
            adopted_revision,
            ..answer
        },
    )
}

#[test]
fn what_is_reported_again_after_an_unknown_outcome_is_adopted_if_the_entry_has_not() {
    let pods = resource("pods");
    let mut book = member(vec![voting("pods", Some("v1"), Some(("v1", 3)))]);
    // A vote for v2 whose answer is lost moves the selection; repeating the last acknowledged report moves it back.
    book.doubt(&set(&["pods"]));
    book.told(epoch(5), revision(9), true, vec![behind("pods")]);
    assert_eq!(book.unadopted(), vec![(pods.clone(), revision(9))]);
    assert_eq!(
        book.drain_for_adoption(&pods, revision(9), at(0)),
        Some(Drain::Done)
    );
    book.adopted(epoch(5), &pods, revision(9), revision(10));
    assert_eq!(book.unadopted(), vec![]);
}

#[test]
fn an_answer_that_an_adoption_has_overtaken_does_not_undo_it() {
    let pods = resource("pods");
    let mut book = member(vec![voting("pods", Some("v1"), Some(("v1", 3)))]);
    book.observe(&pods, &selected("v1", 9));
    book.adopted(epoch(5), &pods, revision(9), revision(12));
    // The report was executed before the adoption.
    book.told(epoch(5), revision(10), true, vec![behind("pods")]);
    assert_eq!(book.unadopted(), vec![]);
    // A report that was executed later overrides the adoption.
    book.told(epoch(5), revision(13), true, vec![behind("pods")]);
    assert_eq!(book.unadopted(), vec![(pods, revision(9))]);
}

#[test]
fn an_equivalent_resource_passes_with_the_one_that_was_reported() {
    let mut book = member(vec![fixed("ingresses.extensions", "v1")]);
    let alias = (
        resource("ingresses.networking.k8s.io"),
        resource("ingresses.extensions"),
    );
    book.set_reported_as(BTreeMap::from([alias]));
    let grant = granted(&mut book, "ingresses.networking.k8s.io", 0);
    assert_eq!(grant.resource, resource("ingresses.extensions"));
}

#[test]
fn a_server_that_leaves_gives_no_permits_and_lets_those_that_are_out_be_used() {
    let mut book = member(vec![fixed("pods", "v1")]);
    let open = granted(&mut book, "pods", 0);
    book.leave();
    assert_eq!(book.grant(&resource("pods"), at(0)), Err(Obstacle::Leaving));
    assert_eq!(book.check(&open, at(0)), Ok(()));
    book.end(Ended::Left);
    assert!(book.check(&open, at(0)).is_err());
}
