//! The naive model of what the history keeps below its floor, and of the revision of a time.

use synod_model::{Revision, WallTime};

use super::{Replay, World};
use crate::picture::Visible;

/// The machine version that has a floor for the upgrade history, and times.
const SINCE: u32 = 3;

/// The upgrade history, and the times of revisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct UpgradeHistory {
    /// Every change of the upgrade history above it is kept.
    pub(crate) floor: Revision,
    /// The revisions above the floor that changed something of it.
    revisions: Vec<Revision>,
    /// The revisions with the greatest wall clock until then, oldest first.
    times: Vec<(Revision, WallTime)>,
}

impl UpgradeHistory {
    /// Adds a revision, given what was visible before it and after it.
    pub(super) fn add(&mut self, world: &World, before: &Visible, after: &Visible, wall: WallTime) {
        let revision = world.revision;
        if world.floor == revision {
            // A restore empties the history.
            *self = Self {
                floor: revision,
                ..Self::default()
            };
            return;
        }
        if before.upgrade_part() != after.upgrade_part() {
            self.revisions.push(revision);
        }
        if is_in_force(world) {
            let greatest = self.times.last().map_or(wall, |(_, last)| wall.max(*last));
            self.times.push((revision, greatest));
        }
    }

    /// Drops what is too old after an entry.
    pub(super) fn trim(&mut self, world: &World) {
        if !is_in_force(world) {
            self.floor = world.floor;
        }
        let floor = self.floor;
        self.revisions.retain(|revision| *revision > floor);
        while self.revisions.len() as u64 > world.settings.history_revisions
            && self.revisions[0] <= world.floor
        {
            self.floor = self.revisions.remove(0);
        }
    }
}

impl Replay {
    /// The kept revisions with their times, oldest first.
    pub(crate) fn times(&self) -> Vec<(Revision, WallTime)> {
        let is_kept = |revision: &Revision| {
            *revision > self.world.floor || self.upgrade.revisions.contains(revision)
        };
        let mut times = self.upgrade.times.clone();
        times.retain(|(revision, _)| is_kept(revision));
        times
    }
}

fn is_in_force(world: &World) -> bool {
    world.raised_to.is_some_and(|version| version >= SINCE)
}
