//! Checks the replicas' states and histories against the answers to users.

use std::collections::BTreeMap;

use synod_machine::{ChangeOf, State};
use synod_model::{LabelSelector, Lease, LeaseKey, Object, Revision};

use super::history::{self, Changes};
use super::ledger::Tree;
use super::{Ledger, resource, writer};

/// Checks the state of a replica and its whole history.
///
/// # Errors
///
/// What contradicts the answers.
pub(super) fn check(state: &State, ledger: &Ledger) -> Result<(), String> {
    let (changes, given) = past(state)?;
    history::check(&ledger.calls(), &changes)?;
    tokens(&given)?;
    for ((key, token), holder) in ledger.given() {
        let known = given.get(&key).and_then(|holders| {
            let mut holders = holders.iter();
            holders.find(|(given, _)| *given == token)
        });
        if known.map(|(_, holder)| holder) != Some(&holder) {
            return Err(format!(
                "{holder} was told that it has {key} by {token}: {known:?}"
            ));
        }
    }
    present(state, &changes)?;
    trees(state, ledger)
}

/// Checks that each token of a lease is greater than the one before.
fn tokens(given: &Given) -> Result<(), String> {
    for (key, holders) in given {
        let mut pairs = holders.iter().zip(holders.iter().skip(1));
        if let Some((before, after)) = pairs.find(|(before, after)| after.0 <= before.0) {
            return Err(format!("{key} was given to {after:?} after {before:?}"));
        }
    }
    Ok(())
}

/// The tokens of each lease in the order in which they were granted, each with its holder.
type Given = BTreeMap<LeaseKey, Vec<(Revision, String)>>;

/// Every change of a shared object, and every grant of a lease, from the history.
fn past(state: &State) -> Result<(Changes, Given), String> {
    let (mut changes, mut given) = (Changes::new(), Given::new());
    let mut reached = Revision::ZERO;
    loop {
        let next = state.history().next_after(reached);
        let next = next.map_err(|gone| format!("the history begins at {}", gone.oldest))?;
        let Some(events) = next else {
            return Ok((changes, given));
        };
        reached = events.revision;
        for change in &events.changes {
            if let Some(ChangeOf { key, after, .. }) = change.of::<Object>()
                && writer::is_shared(key.name.name())
            {
                let changes = changes.entry(key.name.name().to_owned()).or_default();
                changes.insert(reached, after.map(|object| value(&object.unpack())));
            }
            if let Some(ChangeOf { key, after, .. }) = change.of::<Lease>() {
                let hold = after.and_then(|lease| lease.hold.as_ref());
                let Some(hold) = hold else { continue };
                let holders = given.entry(key.clone()).or_default();
                let entry = (hold.token.revision(), hold.holder.to_string());
                if holders.last() != Some(&entry) {
                    holders.push(entry);
                }
            }
        }
    }
}

fn value(object: &Object) -> u64 {
    let data: serde_json::Value = serde_json::from_slice(&object.content.data).unwrap();
    data["value"].as_u64().unwrap()
}

/// Checks that the present objects are the sum of all changes.
fn present(state: &State, changes: &Changes) -> Result<(), String> {
    let last = changes.iter().filter_map(|(name, changes)| {
        let (revision, value) = changes.last_key_value()?;
        Some((name.clone(), (*revision, (*value)?)))
    });
    let expected: BTreeMap<String, (Revision, u64)> = last.collect();
    let (present, all) = (state.present(), LabelSelector::default());
    let resource = resource();
    let objects = present.objects(&resource, None, &all, None);
    let objects = objects.filter(|object| writer::is_shared(object.key.name.name()));
    let found = objects.map(|object| {
        let since = object.metadata.resource_version;
        (object.key.name.name().to_owned(), (since, value(&object)))
    });
    let found: BTreeMap<String, (Revision, u64)> = found.collect();
    (found == expected)
        .then_some(())
        .ok_or_else(|| format!("{found:?} is there, and the changes add up to {expected:?}"))
}

/// Checks that no dependents are left of a deleted owner.
fn trees(state: &State, ledger: &Ledger) -> Result<(), String> {
    let (present, all) = (state.present(), LabelSelector::default());
    let resource = resource();
    let objects = present.objects(&resource, None, &all, None);
    let names: Vec<String> = objects
        .map(|object| object.key.name.name().to_owned())
        .collect();
    leftovers(&names, &ledger.trees())
}

/// Checks that none of these objects belongs to a deleted owner.
fn leftovers(names: &[String], trees: &[Tree]) -> Result<(), String> {
    for tree in trees.iter().filter(|tree| tree.is_gone) {
        let left = names.iter().filter(|name| name.starts_with(&tree.prefix));
        let left = left.count();
        if left > 0 {
            return Err(format!("{left} objects of {} are left", tree.prefix));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The grants of one lease: tokens and holders.
    fn given(holders: &[(u64, &str)]) -> Given {
        let key = LeaseKey::new("default", "leader").unwrap();
        let holders = holders
            .iter()
            .map(|(token, holder)| (Revision::new(*token), (*holder).to_owned()));
        Given::from([(key, holders.collect())])
    }

    #[test]
    fn a_token_that_is_not_greater_than_the_one_before_is_found() {
        tokens(&given(&[(3, "a"), (5, "b"), (9, "a")])).unwrap();
        tokens(&given(&[])).unwrap();
        for wrong in [
            &[(3, "a"), (3, "b")][..],
            &[(5, "a"), (3, "b")],
            &[(3, "a"), (9, "b"), (5, "a")],
        ] {
            let fault = tokens(&given(wrong)).unwrap_err();
            assert!(fault.contains(" was given to "), "{fault}");
        }
    }

    #[test]
    fn what_is_left_of_an_owner_that_went_is_found() {
        let tree = |prefix: &str, is_gone| Tree {
            prefix: prefix.to_owned(),
            is_gone,
        };
        let names = ["tree-1-owner", "tree-1-leaf", "tree-3-leaf"].map(str::to_owned);
        leftovers(&names, &[tree("tree-1-", false), tree("tree-2-", true)]).unwrap();
        leftovers(&[], &[tree("tree-1-", true)]).unwrap();
        let fault = leftovers(&names, &[tree("tree-2-", true), tree("tree-3-", true)]);
        assert_eq!(fault.unwrap_err(), "1 objects of tree-3- are left");
    }
}
