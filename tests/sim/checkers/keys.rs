//! Keys: none is free while it may be needed, and what is selected never goes back.
//!
//! That every member can read what is stored, each server looks at by itself, with its own clock.

use synod_machine::{State, StateStatus};
use synod_model::Persisted;

use super::rising::Rising;
use crate::rotations::{Key, Pen, Scene, is_free, number, secrets};

/// The keys before the selected one that are asked for: all that may be held, and some that were thrown away.
const ASKED: u64 = 8;

#[derive(Default)]
pub(super) struct Keys(Rising);

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
        self.0.check(status.selected_revision, selected)?;
        let asked = selected.saturating_sub(ASKED).max(1)..selected;
        for key in asked.filter(|key| is_free(state, *key)) {
            needs(scene, key)
                .and_then(|()| is_free_by_the_rule(state, status, key))
                .map_err(|why| format!("{key} is called free, and {why}"))?;
        }
        Ok(())
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
    use synod_model::{Epoch, MemberId, Revision};

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
