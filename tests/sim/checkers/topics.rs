//! Topics: no process acts otherwise than the replicas say of it. Keys, served versions and features have rules of their
//! own beside it.

use std::collections::{BTreeMap, BTreeSet};

use synod_machine::{EntryRow, Past, State, StateStatus};
use synod_model::{Epoch, GroupResource, MemberId, Revision};

use super::exclusive::check_member;
use super::keys::Keys;
use super::levels::Levels;
use super::versions::Versions;
use crate::clients::Clients;
use crate::machine::Machine;
use crate::net::Host;
use crate::rotations::{Pen, Scene, gadgets, secrets, widgets};

#[derive(Default)]
pub(crate) struct Topics {
    keys: Keys,
    versions: Versions,
    levels: Levels,
}

impl Topics {
    pub(crate) fn look(&mut self, now: u64, machines: &BTreeMap<Host, Machine>, clients: &Clients) {
        let Clients::Serving(servers) = clients else {
            return;
        };
        let Some(rotation) = servers.rotation() else {
            return;
        };
        let scene = rotation.scene();
        let shown = super::versions::check_what_is_shown(&scene);
        let used = super::levels::check_what_is_used(&scene);
        let mut faults = shown.and(used).err();
        for machine in machines.values() {
            let Some(consensus) = machine.consensus() else {
                continue;
            };
            let checked = self.check(&consensus.published().state, &scene, now);
            faults = faults.or(checked.err().map(|it| format!("{}: {it}", machine.host)));
        }
        assert_eq!(faults, None);
    }

    fn check(&mut self, state: &State, scene: &Scene, now: u64) -> Result<(), String> {
        let past = state.present();
        let signs = || scene.signs.iter().map(|sign| &sign.pen);
        let uses = || scene.uses.iter().map(|one| &one.pen);
        for pen in scene.pens.iter().chain(signs()).chain(uses()) {
            let known = past.member(&pen.member).map(|member| member.epoch);
            check_member(pen.epoch, known, state.revision())
                .map_err(|fault| format!("{}: {fault}", pen.member))?;
        }
        let topic = secrets();
        if let Some(kept) = past.storage_state(&topic) {
            let status = &kept.row.status;
            let pens = scene.pens.iter().chain(&scene.flights);
            adopted(&past, (&topic, status), pens)?;
            self.keys.check(state, status, scene)?;
        }
        let topic = widgets();
        if let Some(kept) = past.storage_state(&topic) {
            let status = &kept.row.status;
            adopted(&past, (&topic, status), signs())?;
            self.versions.check(state, status, scene, now)?;
        }
        let topic = gadgets();
        if let Some(kept) = past.storage_state(&topic) {
            let status = &kept.row.status;
            adopted(&past, (&topic, status), uses())?;
            self.levels.check(status)?;
        }
        Ok(())
    }
}

/// Checks that whoever counts as having adopted what is selected does nothing else.
fn adopted<'a>(
    past: &Past<'_>,
    (topic, status): (&GroupResource, &StateStatus),
    pens: impl Iterator<Item = &'a Pen> + Clone,
) -> Result<(), String> {
    let reported = past.storage_version(topic);
    let entries = reported.iter().flat_map(|version| version.entries());
    for (member, entry) in entries {
        let epoch = past.member(member).filter(|member| member.reported);
        let Some(epoch) = epoch.map(|member| member.epoch) else {
            // Its epoch has said nothing yet.
            continue;
        };
        let known = pens.clone().filter(|pen| pen.revision <= past.revision());
        writes_as_told(member, epoch, entry, status.selected_revision, known)?;
    }
    Ok(())
}

/// Checks one entry against what the member may do, as it knows at a revision that the state has reached.
fn writes_as_told<'a>(
    member: &MemberId,
    epoch: Epoch,
    entry: &EntryRow,
    selected_revision: Revision,
    mut pens: impl Iterator<Item = &'a Pen>,
) -> Result<(), String> {
    let adopted = entry.encoding.as_ref();
    let adopted = adopted.filter(|_| entry.adopted_revision == Some(selected_revision));
    let Some(adopted) = adopted else {
        return Ok(());
    };
    let other = pens.find(|pen| {
        let is_it = pen.member == *member && pen.epoch == epoch;
        is_it && pen.value != *adopted
    });
    match other {
        Some(pen) => Err(format!(
            "{member} counts as having adopted {adopted}, and does otherwise: {pen:?}"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use synod_model::{Kind, Stance, StoredIn, VersionSet};

    use super::*;
    use crate::rotations::{Key, name};

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
    fn who_writes_with_another_key_than_it_has_adopted_is_found() {
        let entry = |adopted| EntryRow {
            kind: Kind::parse("Secret").unwrap(),
            decodable: VersionSet::from_iter([1, 2].map(name)),
            served: VersionSet::default(),
            stance: Stance::Voting { preferred: name(2) },
            encoding: Some(name(2)),
            adopted_revision: Some(at(adopted)),
            since: at(4),
            serve_until: None,
            stored: StoredIn::Outside,
            equivalents: BTreeSet::new(),
        };
        let checked = |entry: &EntryRow, pen: &Pen| {
            let (member, epoch) = (MemberId::parse("a").unwrap(), Epoch::new(at(3)));
            writes_as_told(&member, epoch, entry, at(5), [pen].into_iter())
        };
        checked(&entry(5), &pen(2)).unwrap();
        checked(&entry(4), &pen(1)).unwrap();
        let elsewhere = Pen {
            epoch: Epoch::new(at(2)),
            ..pen(1)
        };
        checked(&entry(5), &elsewhere).unwrap();
        checked(&entry(5), &pen(1)).unwrap_err();
    }
}
