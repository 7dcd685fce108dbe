//! There is one replica set at a time. What is decided is the same for all; the way from one set to the next needs a
//! majority of both; an id is never given again; a voter has taken part of the log; and who has left leads nobody.

use std::collections::{BTreeMap, BTreeSet};

use synod_machine::ReplicaId;
use synod_server::consensus::{
    Consensus, DirectoryId, Position, Published, ReplicaStatus, Status, Term,
};
use synod_server::limits::PROMOTED_BEHIND_MAX;

use crate::net::Host;

type Voters = BTreeSet<ReplicaId>;

/// All sets that replicas have had, as they saw them.
#[derive(Default)]
pub(crate) struct ReplicaSets {
    /// What entries of the log made the set, decided or not.
    seen: BTreeMap<Position, Set>,
    /// The sets that were decided, by the index of the entry.
    decided: BTreeMap<u64, (Position, Set)>,
    /// Every replica that was in a decided set.
    known: BTreeSet<ReplicaId>,
    /// The replicas that have left, each with the term in which that was first known.
    left: BTreeMap<ReplicaId, Term>,
}

/// A replica set.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set {
    /// Of each of these a majority is needed.
    majorities: Vec<Voters>,
    directories: BTreeMap<ReplicaId, DirectoryId>,
}

impl ReplicaSets {
    pub(crate) fn look(&mut self, host: Host, consensus: &Consensus, published: &Published) {
        let status = consensus.status();
        let looked = self.take(&status, published);
        looked.unwrap_or_else(|fault| panic!("as {host} has it: {fault}"));
    }

    fn take(&mut self, status: &Status, published: &Published) -> Result<(), String> {
        let Some(at) = status.decided else {
            return Ok(());
        };
        let has_left = |id: &ReplicaId| published.state.has_left(*id);
        if let Some(id) = status.replicas.keys().find(|id| has_left(id)) {
            return Err(format!("replica {id} has left, and is in the set of {at}"));
        }
        let term = published.applied.map_or(Term::new(0), |at| at.term);
        for id in self.known.iter().filter(|id| has_left(id)) {
            self.left.entry(*id).or_insert(term);
        }
        let leads = status.leadership.is_me;
        let gone = self.left.get(&status.replica);
        if leads && gone.is_some_and(|gone| status.leadership.term > *gone) {
            return Err("a replica leads that has left".to_owned());
        }
        let is_decided = status.committed.is_some_and(|end| end.index >= at.index);
        let first = self.decided.get(&at.index).map(|(first, _)| *first);
        let is_news = !self.seen.contains_key(&at) || (is_decided && first != Some(at));
        // In most steps.
        if !is_news {
            return Ok(());
        }
        let set = Set::of(status);
        if !self.seen.contains_key(&at) {
            if leads {
                self.check_voters(&set, at, &status.replicas)?;
            }
            self.seen.insert(at, set.clone());
        }
        if is_decided {
            self.decide(at, set)
        } else {
            Ok(())
        }
    }

    /// Checks that whoever became a voter, as the leader has it, holds nearly all of its log.
    fn check_voters(
        &self,
        set: &Set,
        at: Position,
        replicas: &BTreeMap<ReplicaId, ReplicaStatus>,
    ) -> Result<(), String> {
        let Some((_, before)) = self.seen.range(..at).next_back() else {
            return Ok(());
        };
        let voted = before.voters();
        for id in set.voters().difference(&voted) {
            let matched = replicas.get(id).and_then(|replica| replica.matched);
            let is_near =
                matched.is_some_and(|matched| matched.index + PROMOTED_BEHIND_MAX >= at.index);
            if !is_near {
                return Err(format!(
                    "replica {id} votes from {at} on, and has {matched:?}"
                ));
            }
        }
        Ok(())
    }

    fn decide(&mut self, at: Position, set: Set) -> Result<(), String> {
        if let Some((first, known)) = self.decided.get(&at.index) {
            return if (*first, known) == (at, &set) {
                Ok(())
            } else {
                Err(format!(
                    "{set:?} of {at}, where {known:?} of {first} was decided"
                ))
            };
        }
        if let Some((_, (before_at, before))) = self.decided.range(..at.index).next_back() {
            let between = self
                .seen
                .iter()
                .filter(|(seen, _)| (before_at.index..at.index).contains(&seen.index));
            let between = between.map(|(_, set)| &set.majorities);
            check_step(&before.majorities, between, &set.majorities)
                .map_err(|fault| format!("from {before_at} to {at}: {fault}"))?;
        }
        self.known.extend(set.directories.keys().copied());
        self.decided.insert(at.index, (at, set));
        check_ids(self.decided.values().map(|(_, set)| &set.directories))
    }
}

impl Set {
    fn of(status: &Status) -> Self {
        let replicas = status.replicas.iter();
        Self {
            majorities: status.majorities.clone(),
            directories: replicas
                .map(|(id, replica)| (*id, replica.address.directory))
                .collect(),
        }
    }

    fn voters(&self) -> Voters {
        self.majorities.iter().flatten().copied().collect()
    }
}

/// Checks that each step from `before` to `after` has needed a majority of both ends. `between` are the sets that were seen on
/// the way, in order.
fn check_step<'a>(
    before: &[Voters],
    between: impl Iterator<Item = &'a Vec<Voters>>,
    after: &[Voters],
) -> Result<(), String> {
    let mut reached: BTreeSet<&Voters> = before.iter().collect();
    for seen in between {
        if let [from, to] = seen.as_slice()
            && reached.contains(from)
        {
            reached.insert(to);
        }
    }
    if after.iter().any(|set| reached.contains(set)) {
        return Ok(());
    }
    Err(format!(
        "nobody has seen a majority of both {before:?} and {after:?}"
    ))
}

/// Checks that no id is in these sets, which follow one another, with two directories, or again after it was not.
fn check_ids<'a>(
    sets: impl Iterator<Item = &'a BTreeMap<ReplicaId, DirectoryId>>,
) -> Result<(), String> {
    let mut directories = BTreeMap::new();
    let mut gone = BTreeSet::new();
    for set in sets {
        for (id, directory) in set {
            if gone.contains(id) || *directories.entry(*id).or_insert(*directory) != *directory {
                return Err(format!("the id {id} was given again"));
            }
        }
        let absent = directories.keys().filter(|id| !set.contains_key(id));
        gone.extend(absent.copied());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voters(ids: &[u64]) -> Voters {
        ids.iter().copied().map(ReplicaId::new).collect()
    }

    // Guarantee: S-04
    #[test]
    fn a_step_without_a_majority_of_both_sets_is_found() {
        let (old, new) = (voters(&[1, 2, 3]), voters(&[1, 2, 4]));
        let joint = vec![old.clone(), new.clone()];
        let (before, after) = (vec![old], vec![new]);
        check_step(&before, [&joint].into_iter(), &after).unwrap();
        check_step(&before, [].into_iter(), &before).unwrap();
        check_step(&before, [].into_iter(), &joint).unwrap();
        check_step(&joint, [].into_iter(), &after).unwrap();
        let fault = check_step(&before, [&before].into_iter(), &after).unwrap_err();
        assert!(fault.contains("a majority of both"), "{fault}");
    }

    #[test]
    fn an_id_that_is_given_again_is_found() {
        let set = |ids: &[(u64, u8)]| -> BTreeMap<ReplicaId, DirectoryId> {
            let ids = ids.iter();
            ids.map(|(id, directory)| {
                let directory = DirectoryId::from_bytes([*directory; 16]);
                (ReplicaId::new(*id), directory)
            })
            .collect()
        };
        let [both, one, again, other] = [
            set(&[(1, 1), (2, 2)]),
            set(&[(1, 1)]),
            set(&[(1, 1), (2, 2)]),
            set(&[(1, 1), (2, 3)]),
        ];
        check_ids([&both, &one].into_iter()).unwrap();
        for wrong in [vec![&both, &one, &again], vec![&both, &other]] {
            check_ids(wrong.into_iter()).unwrap_err();
        }
    }
}
