use super::*;
use crate::{
    BinaryVersion, Endpoint, Epoch, InstanceId, Labels, Phase, Revision, Ttl, Uid, WallTime,
};

fn id(text: &str) -> MemberId {
    MemberId::parse(text).unwrap()
}

fn member(name: &str, labels: &[(&str, &str)]) -> Member {
    Member {
        id: id(name),
        instance: InstanceId::parse("0123456789abcdef").unwrap(),
        epoch: Epoch::new(Revision::new(1)),
        ttl: Ttl::MAX,
        labels: Labels::parse(labels.iter().copied()).unwrap(),
        version: BinaryVersion::parse("v1").unwrap(),
        endpoint: Endpoint::parse("").unwrap(),
        phase: Phase::Ready,
        metadata: Metadata {
            uid: Uid::from_bytes([0; 16]),
            resource_version: Revision::new(1),
            create_revision: Revision::new(1),
            generation: 1,
            created: WallTime::default(),
        },
        reported: true,
        gated: false,
    }
}

fn absent(rule: &RosterRule, speaking: &[&str], members: &[Member]) -> Absent {
    rule.absent(
        speaking.len(),
        |id| speaking.contains(&id.as_str()),
        members.iter(),
    )
}

#[test]
fn named_members_without_an_entry_are_missing() {
    let rule = RosterRule {
        members: [id("a"), id("b")].into(),
        ..RosterRule::default()
    };
    assert!(absent(&rule, &["a", "b", "c"], &[]).is_empty());
    let missing = absent(&rule, &["a", "c"], &[]);
    assert_eq!(missing.members, [id("b")].into());
    assert_eq!(missing.to_string(), "b");
}

#[test]
fn a_least_number_counts_entries() {
    let rule = RosterRule {
        least: 3,
        ..RosterRule::default()
    };
    assert!(absent(&rule, &["a", "b", "c"], &[]).is_empty());
    let missing = absent(&rule, &["a"], &[]);
    assert_eq!(missing.short, 2);
    assert_eq!(
        missing.to_string(),
        "2 more members of any labels, to reach the required minimum"
    );
}

#[test]
fn members_with_a_label_must_all_speak_and_there_must_be_one() {
    let rule = RosterRule {
        labels: LabelSelector::parse("role=api").unwrap(),
        ..RosterRule::default()
    };
    let members = [
        member("a", &[("role", "api")]),
        member("b", &[("role", "api")]),
        member("c", &[("role", "other")]),
    ];
    // The rule has no least number, so the message names none.
    let missing = absent(&rule, &["c"], &members[2..]);
    assert_eq!(missing.short, 1);
    assert_eq!(missing.to_string(), "1 more with labels `role=api`");
    assert_eq!(
        absent(&rule, &["a", "c"], &members).members,
        [id("b")].into()
    );
    assert!(absent(&rule, &["a", "b"], &members).is_empty());
    let three = RosterRule { least: 3, ..rule };
    let missing = absent(&three, &["a", "c"], &members);
    assert_eq!(missing.to_string(), "b, and 2 more with labels `role=api`");
}

#[test]
fn no_more_are_named_than_an_answer_can_carry() {
    let names: Vec<String> = (0..=ABSENT_NAMED_MAX).map(|n| format!("m{n:03}")).collect();
    let rule = RosterRule {
        members: names.iter().map(|name| id(name)).collect(),
        ..RosterRule::default()
    };
    let missing = absent(&rule, &[], &[]);
    assert_eq!(
        (missing.members.len(), missing.unnamed),
        (ABSENT_NAMED_MAX, 1)
    );
    assert!(missing.to_string().ends_with(" + 1 more"));
    assert_eq!(
        missing.sentence(1),
        format!("m000 + {ABSENT_NAMED_MAX} more")
    );
}

#[test]
fn a_roster_that_asks_for_nobody_or_too_much_is_refused() {
    assert_eq!(RosterRule::default().check().len(), 1);
    let most = u32::try_from(MEMBERS_MAX.max).unwrap();
    let of = |least| RosterRule {
        least,
        ..RosterRule::default()
    };
    assert!(of(most).check().is_empty());
    assert_eq!(of(most + 1).check().len(), 1);
    let named = |count: usize| RosterRule {
        members: (0..count).map(|n| id(&format!("m{n}"))).collect(),
        ..RosterRule::default()
    };
    assert!(named(ROSTER_MEMBERS_MAX).check().is_empty());
    assert_eq!(named(ROSTER_MEMBERS_MAX + 1).check().len(), 1);
}
