//! What operators do to servers, and the failures of servers.

use super::{HOUR, MINUTE, SECOND, World};
use crate::agenda::Event;
use crate::cluster::{About, about};
use crate::process::{Down, Release};
use crate::store::Version;

pub(super) const SERVERS: usize = 4;

/// The first and the last version that servers write. The ones beyond are only decoded.
const VERSIONS: (Version, Version) = (2, 7);
/// The last level: they only rise, so a year needs more of them.
const LAST_LEVEL: Version = 63;

impl World {
    pub(super) fn begin(&mut self) {
        for server in 0..SERVERS {
            let release = self.wanted;
            self.agenda
                .plan(self.now + 10 * SECOND, Event::Starts { server, release });
        }
        self.agenda.plan(HOUR, Event::Campaign);
        self.agenda.plan(2 * HOUR, Event::Trouble);
        self.agenda.plan(30 * HOUR, Event::Redefine);
        self.begin_rollout();
        self.agenda.plan(self.now, Event::Backup);
    }

    /// The servers are upgraded or downgraded one by one; sometimes the operator changes the plan half-way.
    pub(super) fn campaign(&mut self) {
        self.tally.campaigns += 1;
        let next = self.soon(20 * HOUR, 80 * HOUR);
        self.agenda.plan(next, Event::Campaign);
        let before = self.wanted;
        let release = self.another_release();
        let rolled_back = self.random.percent(40);
        let reached = if rolled_back {
            SERVERS.min(1 + self.random.below(SERVERS + 2))
        } else {
            SERVERS
        };
        let first = self.random.below(SERVERS);
        let order: Vec<usize> = (0..reached).map(|turn| (first + turn) % SERVERS).collect();
        let mut at = self.now;
        for server in &order {
            at = self.restart_at(at, *server, release);
        }
        if rolled_back {
            self.tally.rolled_back += 1;
            for server in order {
                at = self.restart_at(at, server, before);
            }
        } else {
            self.wanted = release;
        }
        if self.random.percent(10) {
            // A loss during a campaign does the most damage.
            let lost = self.now + self.random.between(0, at - self.now);
            self.agenda.plan(lost, Event::Lost);
        }
        self.excite();
    }

    /// The release after the one that is wanted, or the one before.
    pub(super) fn another_release(&mut self) -> Release {
        let before = self.wanted.about;
        let last = match about() {
            About::Encodings | About::Keys => VERSIONS.1,
            About::Levels => LAST_LEVEL,
        };
        let up = before < last && (before <= VERSIONS.0 || self.random.percent(60));
        let about = if up { before + 1 } else { before - 1 };
        Release {
            about,
            encodes: about,
        }
    }

    fn restart_at(&mut self, after: u64, server: usize, release: Release) -> u64 {
        let longest = if self.random.percent(30) {
            30 * SECOND
        } else {
            20 * MINUTE
        };
        let at = after + self.random.between(SECOND, longest);
        let how = match self.random.below(4) {
            0 | 1 => Down::Stopped,
            2 => Down::Killed,
            _ => Down::Overtaken,
        };
        let restart = Event::Restart {
            server,
            release,
            how,
        };
        self.agenda.plan(at, restart);
        at
    }

    /// The newest process of a server, if one runs.
    pub(super) fn running(&self, server: usize) -> Option<usize> {
        let is_wanted = |place: &usize| {
            let process = &self.processes[*place];
            process.server == server && process.runs() && !process.is_leaving
        };
        self.living.iter().copied().rev().find(is_wanted)
    }

    pub(super) fn restart(&mut self, server: usize, release: Release, how: Down) {
        let Some(process) = self.running(server) else {
            // It is down already, and starts as the wanted release.
            let later = self.soon(SECOND, MINUTE);
            return self.agenda.plan(later, Event::Starts { server, release });
        };
        let how = match how {
            // Nothing fences the old process of a server that does not take part: it has to be killed first.
            Down::Overtaken if self.processes[process].is_aloof => Down::Killed,
            how => how,
        };
        match how {
            Down::Stopped => {
                self.processes[process].is_leaving = true;
                let later = self.soon(1, 10 * SECOND);
                self.agenda.plan(later, Event::Leaves { process, release });
            }
            Down::Killed => {
                self.tally.killed += 1;
                self.write_some(process);
                let dies = self.soon(0, 5 * SECOND);
                self.agenda.plan(dies, Event::Dies { process });
                let starts = dies + self.random.between(200, MINUTE);
                self.agenda.plan(starts, Event::Starts { server, release });
            }
            Down::Overtaken => {
                self.tally.overtaken += 1;
                self.pause(process);
                let starts = self.soon(100, 20 * SECOND);
                self.agenda.plan(starts, Event::Starts { server, release });
            }
        }
        self.watch_deadlines();
        self.excite();
    }

    /// A process is paused by the system, and resumes some time later.
    fn pause(&mut self, process: usize) {
        self.processes[process].is_paused = true;
        let later = self.soon(SECOND, 2 * MINUTE);
        self.agenda.plan(later, Event::Resumes { process });
    }

    /// A failure, several times a day.
    pub(super) fn trouble(&mut self) {
        let next = self.soon(10 * MINUTE, 8 * HOUR);
        self.agenda.plan(next, Event::Trouble);
        let server = self.random.below(SERVERS);
        let Some(process) = self.running(server) else {
            return;
        };
        let release = self.processes[process].release;
        match self.random.below(6) {
            0 => self.restart(server, release, Down::Killed),
            1 => self.restart(server, release, Down::Overtaken),
            2 => self.restart(server, release, Down::Stopped),
            3 | 4 => {
                self.tally.paused += 1;
                self.write_some(process);
                self.pause(process);
                self.watch_deadlines();
            }
            _ => {
                if self.cluster.answers() {
                    self.tally.outages += 1;
                    self.cluster.goes();
                    let later = self.soon(SECOND, 10 * MINUTE);
                    self.agenda.plan(later, Event::Returns);
                }
            }
        }
        self.excite();
    }

    /// The version of the widgets changes to another that all decode: each server closes its gate, drains and reports.
    pub(super) fn redefine(&mut self) {
        self.tally.redefined += 1;
        // Sometimes the change is reverted at once.
        let next = if self.random.percent(40) {
            self.soon(SECOND, MINUTE)
        } else {
            self.soon(50 * HOUR, 150 * HOUR)
        };
        self.agenda.plan(next, Event::Redefine);
        let about = self.wanted.about;
        self.wanted.encodes = if self.wanted.encodes == about {
            about - 1
        } else {
            about
        };
        for server in 0..SERVERS {
            let Some(process) = self.running(server) else {
                continue;
            };
            let process = &mut self.processes[process];
            let encodes = self.wanted.encodes;
            let knows = (process.release.about - 1..=process.release.about + 1).contains(&encodes);
            if knows && process.epoch.is_some() {
                process.gates[1].redefined = Some(encodes);
            }
        }
        self.turn_all(self.wanted.encodes);
        self.excite();
    }

    /// While something happens, servers write all the time, and a worker migrates soon after.
    pub(super) fn excite(&mut self) {
        for after in [0, 3, 10, 30, 60, 120, 300] {
            let later = self.soon(after * SECOND, (after + 3) * SECOND);
            self.agenda.plan(later, Event::Burst);
        }
        self.await_work();
    }
}
