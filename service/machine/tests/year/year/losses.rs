//! The loss of the cluster, and its restore from a backup.

use synod_machine::Command;
use synod_model::ResetStorageStates;

use super::troubles::SERVERS;
use super::{HOUR, MINUTE, SECOND, World};
use crate::agenda::Event;
use crate::cluster::{About, VOTED, about, number_of, resource};
use crate::process::{Down, FIRST_VERSION, Release};

/// The number of backups that are kept, beside the first.
const BACKUPS: usize = 6;

impl World {
    /// Makes a backup of the present state.
    pub(super) fn back_up(&mut self) {
        let next = self.soon(HOUR, 40 * HOUR);
        self.agenda.plan(next, Event::Backup);
        if !self.cluster.answers() {
            return;
        }
        self.backups.push(self.cluster.state.clone());
        if self.backups.len() > 1 + BACKUPS {
            self.backups.remove(1);
        }
    }

    /// All replicas are lost, while servers write.
    pub(super) fn lose(&mut self) {
        if !self.cluster.answers() || self.backups.is_empty() {
            let later = self.soon(MINUTE, HOUR);
            return self.agenda.plan(later, Event::Lost);
        }
        let backup = self.random.below(self.backups.len());
        self.burst();
        if self.random.percent(70) {
            self.topple(backup);
        }
        if about() == About::Levels {
            // A backup names no level that has risen since, and nobody could tell. All servers have failed, and no replica.
            return self.excite();
        }
        self.cluster.goes();
        let longest = if self.random.percent(70) {
            5 * SECOND
        } else {
            2 * HOUR
        };
        let later = self.soon(100, longest);
        self.agenda.plan(later, Event::Restored { backup });
        self.excite();
    }

    /// The cause that lost the replicas also stopped the servers. They start again as another release, often the one
    /// that ran when the backup was made.
    fn topple(&mut self, backup: usize) {
        let present = self.backups[backup].present();
        let selected = present.storage_state(&resource(VOTED));
        let selected = selected.and_then(|state| state.row.status.selected.clone());
        let about = selected.as_ref().map(|it| number_of(it).max(FIRST_VERSION));
        self.wanted = match about.filter(|_| self.random.percent(60)) {
            Some(about) => Release {
                about,
                encodes: about,
            },
            None => self.another_release(),
        };
        for server in 0..SERVERS {
            let how = if self.random.percent(75) {
                Down::Killed
            } else {
                Down::Overtaken
            };
            self.restart(server, self.wanted, how);
        }
    }

    /// A backup continues as another cluster; the store stays as it is.
    pub(super) fn restore(&mut self, backup: usize) {
        self.tally.restored += 1;
        let backup = self.backups[backup].clone();
        self.cluster.is_restored(backup);
        for place in &self.living {
            self.processes[*place].is_orphan = true;
        }
        self.asked = None;
        // The backups of the former cluster have numbers that this one will give again.
        self.backups.clear();
        self.sights_begin();
        if !self.all_read_what_is_selected() {
            self.tally.reset += 1;
            let reset = Command::ResetStorageStates(ResetStorageStates {
                resource: Some(resource(VOTED)),
            });
            self.cluster.send(reset).expect("it has a state");
        }
        self.excite();
    }

    /// Whether every server decodes what was selected when the backup was made. If not, a reset removes the selection,
    /// because no member reports yet.
    fn all_read_what_is_selected(&self) -> bool {
        let status = self.cluster.status(VOTED);
        let Some(selected) = status.and_then(|status| status.selected) else {
            return true;
        };
        let selected = number_of(&selected);
        let mut alive = self.living().filter(|process| process.is_alive);
        alive.all(|process| process.holds(selected))
    }
}
