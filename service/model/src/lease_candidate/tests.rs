use super::*;
use crate::{Revision, Uid, WallTime};

fn candidate(identity: &str, emulation: &str, binary: &str, created: u64) -> LeaseCandidate {
    LeaseCandidate {
        lease: LeaseKey::new("kube-system", "scheduler").unwrap(),
        identity: HolderIdentity::parse(identity).unwrap(),
        binary_version: SemanticVersion::parse(binary).unwrap(),
        emulation_version: SemanticVersion::parse(emulation).ok(),
        strategy: Strategy::OldestEmulationVersion,
        ttl: Ttl::DEFAULT,
        metadata: Metadata {
            uid: Uid::from_bytes([0; 16]),
            resource_version: Revision::new(created),
            create_revision: Revision::new(created),
            generation: 1,
            created: WallTime::default(),
        },
    }
}

fn elected(candidates: &[LeaseCandidate]) -> Option<&str> {
    elect(candidates).map(|candidate| candidate.identity.as_str())
}

#[test]
fn the_lowest_emulation_version_is_chosen_then_the_lowest_binary_then_who_stood_first() {
    let low = candidate("low", "1.31.0", "1.33.0", 9);
    let high = candidate("high", "1.32.0", "1.32.0", 1);
    assert_eq!(elected(&[high.clone(), low.clone()]), Some("low"));
    let older = candidate("older", "1.31.0", "1.32.0", 10);
    assert_eq!(elected(&[low.clone(), older.clone(), high]), Some("older"));
    let first = candidate("first", "1.31.0", "1.32.0", 3);
    assert_eq!(elected(&[low, older, first]), Some("first"));
    assert_eq!(elected(&[]), None);
}

#[test]
fn who_does_not_say_what_it_emulates_is_not_chosen_and_a_foreign_strategy_chooses_nobody() {
    let silent = candidate("silent", "", "1.30.0", 1);
    let other = candidate("other", "1.31.0", "1.31.0", 2);
    assert_eq!(elected(&[silent.clone(), other.clone()]), Some("other"));
    let mine = Strategy::parse("example.com/Mine").unwrap();
    let foreign = LeaseCandidate {
        strategy: mine,
        ..candidate("foreign", "1.31.0", "1.40.0", 3)
    };
    assert_eq!(elected(&[silent, other, foreign]), None);
}

#[test]
fn a_disagreement_below_the_highest_binary_version_does_not_count() {
    let mine = Strategy::parse("example.com/Mine").unwrap();
    let one = candidate("one", "1.31.0", "1.31.0", 1);
    let other = LeaseCandidate {
        strategy: mine,
        ..candidate("other", "1.31.0", "1.31.0", 2)
    };
    assert!(best_strategy([&one, &other]).is_err());
    assert_eq!(elected(&[one.clone(), other.clone()]), None);
    let above = candidate("above", "1.32.0", "1.32.0", 3);
    for order in [
        [&one, &other, &above],
        [&above, &other, &one],
        [&one, &above, &other],
    ] {
        assert_eq!(
            best_strategy(order),
            Ok(Some(&Strategy::OldestEmulationVersion))
        );
    }
}

#[test]
fn a_strategy_is_kubernetes_own_or_has_a_domain() {
    assert_eq!(
        Strategy::parse("OldestEmulationVersion"),
        Ok(Strategy::OldestEmulationVersion)
    );
    assert_eq!(
        Strategy::parse("foo.com/bar").unwrap().to_string(),
        "foo.com/bar"
    );
    for bad in ["", "Newest", "/x", "a/b/c"] {
        assert!(Strategy::parse(bad).is_err(), "{bad:?}");
    }
}
