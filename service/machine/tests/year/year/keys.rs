//! What must hold of keys: who writes holds the key that is selected and all with which something is stored, and no key
//! is called free that somebody may still need.

use super::World;
use crate::cluster::{RESOURCES, VOTED, number_of, rotates_keys};
use crate::store::Version;

impl World {
    /// A broken promise about keys, if they are rotated and there is one.
    pub(super) fn misuses_a_key(&mut self) -> Option<String> {
        if !rotates_keys() {
            return None;
        }
        let lacking = self.lacks_a_key();
        lacking.or_else(|| self.throws_a_key_away())
    }

    /// A process whose gate is open, and that lacks the selected key or one with which an object is stored. What is
    /// stored is known except after a loss of the cluster, and while a server that does not take part writes.
    fn lacks_a_key(&mut self) -> Option<String> {
        let status = self.cluster.status(VOTED)?;
        let selected = status.selected.as_ref().map(number_of);
        let is_known = self.cluster.persisted(VOTED).iter().all(Option::is_some);
        let stored = self.store.versions_but(VOTED, self.excused(VOTED));
        let name = RESOURCES[VOTED];
        for process in &self.processes {
            if process.is_aloof || process.writes(VOTED, self.now).is_none() {
                continue;
            }
            let who = process.id();
            if let Some(selected) = selected.filter(|key| !process.holds(*key)) {
                return Some(format!(
                    "{who} writes {name}, and lacks the selected key v{selected}"
                ));
            }
            if !is_known {
                continue;
            }
            self.tally.could_read += 1;
            if let Some(key) = stored.iter().find(|key| !process.holds(**key)) {
                return Some(format!(
                    "{who} may be asked for {name} that are stored with v{key}, which it lacks"
                ));
            }
        }
        None
    }

    /// A key that is called free while an object is stored with it, a write with it may land, or somebody writes with it.
    fn throws_a_key_away(&mut self) -> Option<String> {
        let mut needed = self.store.versions(VOTED);
        let flights = self.flights.keys().filter(|(of, _)| *of == VOTED);
        needed.extend(flights.map(|(_, key)| *key));
        let pens = self.processes.iter();
        needed.extend(pens.filter_map(|process| process.writes(VOTED, self.now)));
        let free = |key: &Version| self.cluster.calls_safe(VOTED, *key);
        if self.tally.free_keys == 0 {
            let mut others = (1..=8).filter(|key| !needed.contains(key));
            self.tally.free_keys += u64::from(others.any(|key| free(&key)));
        }
        let thrown = needed.into_iter().find(free)?;
        let stored = self.store.versions(VOTED);
        Some(format!(
            "{} may need the key v{thrown}, which is called free; stored are {stored:?}, under way {:?}",
            RESOURCES[VOTED], self.flights
        ))
    }
}
