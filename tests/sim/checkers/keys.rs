//! Keys: none is free while it may be needed, and what is selected never goes back.
//!
//! That every member can read what is stored, each server looks at by itself, with its own clock.

use std::collections::BTreeMap;

use synod_machine::{State, StateStatus};
use synod_model::{Persisted, Revision};

use crate::rotations::{Key, Pen, Scene, is_free, number, secrets};

/// The keys before the selected one that are asked for: all that may be held, and some that were thrown away.
const ASKED: u64 = 8;

/// What was selected, by the revision at which it was.
#[derive(Default)]
pub(super) struct Keys(BTreeMap<Revision, Key>);

impl Keys {
    pub(super) fn check(
        &mut self,
        state: &State,
        status: &StateStatus,
        scene: &Scene,
    ) -> Result<(), String> {
        let Some(selected) = status.selected.as_ref().map(number) else {
            return Ok(());
        };
        self.forward(status.selected_revision, selected)?;
        let asked = selected.saturating_sub(ASKED).max(1)..selected;
        for key in asked.filter(|key| is_free(state, *key)) {
            needs(scene, key)
                .and_then(|()| is_free_by_the_rule(state, status, key))
                .map_err(|why| format!("{key} is called free, and {why}"))?;
        }
        Ok(())
    }

    /// Checks that no older key is selected after a newer one, whichever replica shows it.
    fn forward(&mut self, at: Revision, selected: Key) -> Result<(), String> {
        let known = self.0.insert(at, selected);
        let before = self.0.range(..at).next_back();
        let after = self.0.range(at..).nth(1);
        let is_in_order = known.is_none_or(|known| known == selected)
            && before.is_none_or(|(_, before)| *before <= selected)
            && after.is_none_or(|(_, after)| selected <= *after);
        is_in_order.then_some(()).ok_or_else(|| {
            format!("{selected} is selected at {at}, between {before:?} and {after:?}")
        })
    }
}

/// Checks that no object is stored with a key and that nobody may write with it.
fn needs(scene: &Scene, key: Key) -> Result<(), String> {
    if scene.stored.contains(&key) {
        return Err("an object is stored with it".to_owned());
    }
    let uses = |pens: &[Pen]| pens.iter().find(|pen| pen.key() == key).cloned();
    if let Some(flight) = uses(&scene.flights) {
        return Err(format!("a write with it may land: {flight:?}"));
    }
    match uses(&scene.pens) {
        Some(pen) => Err(format!("somebody writes with it: {pen:?}")),
        None => Ok(()),
    }
}

/// Checks that a free key is so by the rule: nothing can be stored with it, no member writes with it or would, and no drain
/// of it is open.
fn is_free_by_the_rule(state: &State, status: &StateStatus, key: Key) -> Result<(), String> {
    let is_it = |name| number(name) == key;
    let mut persisted = status.persisted.iter();
    let needed = persisted.find(|kept| match kept {
        Persisted::Unknown => true,
        Persisted::Version { version, .. } => version.as_ref().is_none_or(is_it),
    });
    if let Some(needed) = needed {
        return Err(format!("{needed:?} may be stored"));
    }
    let mut drains = status.drains.iter();
    let open = drains.find(|(name, until)| is_it(name) && **until > state.log_time());
    if let Some((_, until)) = open {
        return Err(format!("writes with it may land until {until}"));
    }
    let reported = state.present().storage_version(&secrets());
    let entries = reported.iter().flat_map(|version| version.entries());
    for (member, entry) in entries {
        let mut encodes = entry.encoding.iter().chain(entry.preferred());
        if encodes.any(is_it) {
            return Err(format!("{member} writes with it or would: {entry:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use synod_model::{Epoch, MemberId};

    use super::*;
    use crate::rotations::name;

    fn at(revision: u64) -> Revision {
        Revision::new(revision)
    }

    fn pen(key: Key) -> Pen {
        Pen {
            member: MemberId::parse("a").unwrap(),
            epoch: Epoch::new(at(3)),
            value: name(key),
            revision: at(5),
        }
    }

    #[test]
    fn a_selection_that_goes_back_is_found_in_whatever_order_it_is_seen() {
        let mut keys = Keys::default();
        for (revision, key) in [(5, 1), (9, 2), (5, 1), (7, 1), (20, 4)] {
            keys.forward(at(revision), key).unwrap();
        }
        for (revision, key) in [(9, 3), (8, 3), (12, 1), (30, 3)] {
            keys.forward(at(revision), key).unwrap_err();
            keys.0.remove(&at(revision));
            keys.forward(at(9), 2).unwrap();
        }
    }

    #[test]
    fn a_key_that_somebody_needs_is_found() {
        let scene = Scene {
            stored: vec![2, 3],
            flights: vec![pen(4)],
            pens: vec![pen(5)],
            ..Scene::default()
        };
        needs(&scene, 1).unwrap();
        for (key, why) in [(2, "stored"), (3, "stored"), (4, "land"), (5, "somebody")] {
            let fault = needs(&scene, key).unwrap_err();
            assert!(fault.contains(why), "{fault}");
        }
    }
}
