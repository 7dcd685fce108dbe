//! Servers that do not take part yet, or no longer, and what reveals them: a roster that asks for every server, or an
//! observer that looks at every server.
//!
//! The promises: with a roster, nothing is safe while a server is missing, and all promises hold when all report. With
//! an observer, an encoding that a server has shown is known as long as the observer looks; an encoding that was
//! written and never shown is unknown, and after a gap only what is written since a reset is known.

use std::collections::BTreeSet;

use synod_machine::Command;
use synod_model::{
    LabelSelector, ObserveStorage, ResetStorageStates, ResourceScope, Revision, RosterRule,
    SetRoster,
};

use super::troubles::SERVERS;
use super::{HOUR, MINUTE, SECOND, WRITE_GRACE, World};
use crate::agenda::{Event, Time};
use crate::cluster::{RESOURCES, hash_of, kind, resource};
use crate::process::{Down, member};
use crate::store::{Resource, Version};

/// How often the observer looks, at the least: the setting `discovery_period` of a new cluster.
const PERIOD: Time = 10 * MINUTE;

/// When the roster of [`Rollout::RosterLater`] is set.
const ROSTER_AFTER: Time = 30 * 24 * HOUR;

/// Which servers take part, and what reveals the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rollout {
    /// All servers take part.
    Over,
    /// Some take part, and a roster asks for all.
    UnderRoster,
    /// Some take part, and after some days a roster asks for all.
    RosterLater,
    /// Some take part, and an observer sees all.
    Observed,
}

impl Rollout {
    /// Whether a roster asks for all servers, now or later.
    pub(crate) fn has_roster(self) -> bool {
        matches!(self, Self::UnderRoster | Self::RosterLater)
    }
}

/// What the observer has seen.
#[derive(Debug, Default)]
pub(super) struct Sight {
    is_away: bool,
    /// The time of the last look at each resource.
    last: [Time; RESOURCES.len()],
    /// Whether a look came too late since the last reset, so that something shown in between may have been missed.
    has_gap: [bool; RESOURCES.len()],
    /// Whether no member has reported a resource since the last look at it.
    is_alone: [bool; RESOURCES.len()],
    /// The number of rosters that were set.
    rosters: usize,
    /// The last revision and stored versions that were compared.
    judged: Option<(Revision, [BTreeSet<Version>; RESOURCES.len()])>,
}

impl World {
    pub(super) fn begin_rollout(&mut self) {
        match self.nature.rollout {
            Rollout::Over => return,
            Rollout::RosterLater => {}
            Rollout::UnderRoster => self.set_roster(),
            Rollout::Observed => {
                self.agenda.plan(self.now + MINUTE, Event::Look);
                let stops = self.soon(48 * HOUR, 240 * HOUR);
                let stop = Event::Observer { is_there: false };
                self.agenda.plan(stops, stop);
            }
        }
        self.takes_part = [false; SERVERS];
        self.agenda.plan(self.now + 12 * HOUR, Event::Rollout);
    }

    /// Usually a server begins to take part; when all do, one stops doing so.
    pub(super) fn roll_out(&mut self) {
        let next = self.soon(4 * HOUR, 40 * HOUR);
        self.agenda.plan(next, Event::Rollout);
        let is_early = self.nature.rollout == Rollout::RosterLater && self.now < ROSTER_AFTER;
        if self.nature.rollout.has_roster() && !is_early && self.cluster.answers() {
            self.set_roster();
        }
        let first = self.random.below(SERVERS);
        let mut order = (0..SERVERS).map(|turn| (first + turn) % SERVERS);
        let aloof = order.clone().find(|server| !self.takes_part[*server]);
        let server = match aloof.filter(|_| self.random.percent(80)) {
            Some(aloof) => aloof,
            None => match order.find(|server| self.takes_part[*server]) {
                Some(server) => server,
                None => return,
            },
        };
        self.takes_part[server] = !self.takes_part[server];
        if self.takes_part[server] {
            self.tally.began_to_take_part += 1;
        } else {
            self.tally.fell_back += 1;
        }
        let how = if self.random.percent(50) {
            Down::Stopped
        } else {
            Down::Killed
        };
        self.restart(server, self.wanted, how);
    }

    /// Whether a new process of the server can start in place of the old one.
    pub(super) fn may_start(&mut self, server: usize) -> bool {
        let mut wrote = 0;
        for process in &mut self.processes {
            if process.is_aloof && process.server == server {
                process.is_alive = false;
                wrote = wrote.max(process.wrote);
            }
        }
        if self.takes_part[server] {
            self.has_taken_part[server] = true;
            // The writes of a server that did not take part are unknown and so have no drain: its successor waits.
            let has_landed = wrote == 0 || self.now > wrote + WRITE_GRACE;
            return has_landed || !self.nature.rollout.has_roster();
        }
        if self.nature.rollout.has_roster() && self.has_taken_part[server] {
            // What it will write is unknown, so what is stored must be unknown before it writes.
            let is_member = self
                .cluster
                .state
                .present()
                .member(&member(server))
                .is_some();
            if is_member {
                self.watch_deadlines();
                return false;
            }
            let reset = Command::ResetStorageStates(ResetStorageStates { resource: None });
            self.cluster
                .send(reset)
                .expect("whatever there is can be unknown");
            self.has_taken_part[server] = false;
        }
        true
    }

    /// Sets a roster that asks for all servers, each time in another form.
    fn set_roster(&mut self) {
        let all = u32::try_from(SERVERS).expect("a small number");
        let turn = self.sight.rosters;
        self.sight.rosters += 1;
        let rule = match turn % 3 {
            0 => RosterRule {
                members: (0..SERVERS).map(member).collect(),
                ..RosterRule::default()
            },
            1 => RosterRule {
                least: all,
                ..RosterRule::default()
            },
            _ => RosterRule {
                labels: LabelSelector::parse("role=api").expect("it is legal"),
                least: all,
                ..RosterRule::default()
            },
        };
        let scopes = ResourceScope::covering(&resource(turn % RESOURCES.len()));
        // The first roster is for all resources, so no resource is ever without one.
        let [one, group, every] = scopes;
        let scope = match turn % 4 {
            0 => every,
            1 => one,
            _ => group,
        };
        let set = Command::SetRoster(SetRoster {
            scope,
            rule,
            if_revision: None,
        });
        self.cluster.send(set).expect("a roster can be set");
    }

    /// The observer asks every server, and posts nothing unless all answer.
    pub(super) fn look(&mut self) {
        let later = self.soon(PERIOD / 2, PERIOD);
        let soon = self.soon(SECOND, MINUTE);
        if self.sight.is_away {
            return self.agenda.plan(later, Event::Look);
        }
        let is_done = self.observe();
        self.agenda
            .plan(if is_done { later } else { soon }, Event::Look);
    }

    fn observe(&mut self) -> bool {
        let is_up = (0..SERVERS).all(|server| self.running(server).is_some());
        if !is_up || !self.cluster.answers() {
            return false;
        }
        for of in 0..RESOURCES.len() {
            let running = self.living().filter(|process| process.runs());
            let shown: Vec<Version> = running.filter_map(|process| process.shows(of)).collect();
            if shown.is_empty() {
                return false;
            }
            let observe = ObserveStorage {
                kind: Some(kind()),
                ..ObserveStorage::unnamed(resource(of), shown.into_iter().map(hash_of).collect())
            };
            let observed = self.cluster.send(Command::ObserveStorage(observe));
            observed.expect("whoever looks can say what is shown");
            self.noted(of);
        }
        for place in &self.living {
            let process = &mut self.processes[*place];
            process.is_seen |= process.runs();
        }
        self.tally.looks += 1;
        let is_work = |of| !self.cluster.open_migrations(of).is_empty();
        if (0..RESOURCES.len()).any(is_work) {
            self.await_work();
        }
        true
    }

    fn noted(&mut self, of: Resource) {
        if self.now - self.sight.last[of] > 2 * PERIOD {
            self.sight.has_gap[of] = true;
            self.tally.lapsed += 1;
            let later = self.soon(WRITE_GRACE + 10 * SECOND, WRITE_GRACE + HOUR);
            self.agenda.plan(later, Event::Vouch);
        }
        self.sight.last[of] = self.now;
        self.sight.is_alone[of] = true;
        let status = self.cluster.status(of);
        if status.is_some_and(|status| status.contradicted) {
            self.tally.contradicted += 1;
        }
    }

    /// The observer stops, for minutes or for days, or returns.
    pub(super) fn observer(&mut self, is_there: bool) {
        self.sight.is_away = !is_there;
        let next = if is_there {
            self.soon(24 * HOUR, 240 * HOUR)
        } else if self.random.percent(30) {
            self.soon(MINUTE, 2 * PERIOD)
        } else {
            self.soon(HOUR, 96 * HOUR)
        };
        self.agenda.plan(
            next,
            Event::Observer {
                is_there: !is_there,
            },
        );
        if !is_there {
            self.tally.observer_stopped += 1;
            if self.random.percent(50) {
                // The leader notices the deadline; otherwise the next look does.
                let later = self.soon(2 * PERIOD, 3 * PERIOD);
                self.agenda.plan(later, Event::Expire);
            }
        }
    }

    /// An operator resets a resource after a gap, once the observer looks again: what came in between is unknown.
    pub(super) fn vouch(&mut self) {
        let is_fresh = |of: &Resource| self.now - self.sight.last[*of] <= 2 * PERIOD;
        let due: Vec<Resource> = (0..RESOURCES.len())
            .filter(|of| self.sight.has_gap[*of])
            .collect();
        if due.is_empty() {
            return;
        }
        let is_up = (0..SERVERS).all(|server| self.running(server).is_some());
        let is_ready = due.iter().all(is_fresh) && is_up && !self.sight.is_away;
        if !is_ready || !self.cluster.answers() {
            let later = self.soon(MINUTE, HOUR);
            return self.agenda.plan(later, Event::Vouch);
        }
        for of in &due {
            let reset = Command::ResetStorageStates(ResetStorageStates {
                resource: Some(resource(*of)),
            });
            self.cluster.send(reset).expect("it has a state");
        }
        if !self.observe() {
            let later = self.soon(MINUTE, HOUR);
            return self.agenda.plan(later, Event::Vouch);
        }
        for of in due {
            self.sight.has_gap[of] = false;
        }
        self.tally.vouched += 1;
    }

    /// What is stored is unknown, and the observer starts anew.
    pub(super) fn sights_begin(&mut self) {
        self.sight.last = [self.now; RESOURCES.len()];
        self.sight.has_gap = [false; RESOURCES.len()];
        self.sight.is_alone = [false; RESOURCES.len()];
    }

    /// The processes whose writes to a resource need not be known, or cannot be.
    pub(super) fn excused(&self, of: Resource) -> impl Fn(usize) -> bool + '_ {
        let rollout = self.nature.rollout;
        let are_all = match rollout {
            Rollout::Over => false,
            Rollout::UnderRoster => self.cluster.misses_somebody(of),
            // What was written before the roster was set is on trust.
            Rollout::RosterLater => {
                self.cluster.misses_somebody(of) || self.cluster.is_on_trust(of)
            }
            Rollout::Observed => {
                let is_fresh = self.now - self.sight.last[of] <= 2 * PERIOD;
                self.sight.has_gap[of] || !is_fresh
            }
        };
        move |by| {
            let process = &self.processes[by];
            let is_unseen = rollout == Rollout::Observed && !process.is_seen;
            process.is_aloof && (are_all || is_unseen)
        }
    }

    /// A stored version that the machine says can be dropped, if there is one. Checked when the state or the store has
    /// changed, or when `is_time`.
    pub(super) fn called_safe(&mut self, is_time: bool) -> Option<String> {
        if self.nature.rollout == Rollout::Over {
            return None;
        }
        let stored = [0, 1].map(|of| match self.nature.rollout {
            Rollout::Observed => self.store.versions_but(of, self.excused(of)),
            // While a server is missing, nothing is safe.
            Rollout::UnderRoster | Rollout::RosterLater | Rollout::Over => self.store.versions(of),
        });
        let now = (self.cluster.state.revision(), stored);
        if !is_time && self.sight.judged.as_ref() == Some(&now) {
            return None;
        }
        for (of, name) in RESOURCES.iter().enumerate() {
            let mut versions = now.1[of].iter();
            let is_assumed =
                self.nature.rollout == Rollout::RosterLater && self.cluster.is_on_trust(of);
            self.tally.known += u64::from(!is_assumed);
            let mut called = versions.find(|one| self.cluster.calls_safe(of, **one));
            if let Some(version) = called.take_if(|_| !is_assumed) {
                return Some(format!(
                    "{name} is stored in v{version}, which is called safe"
                ));
            }
            if self.cluster.misses_somebody(of) {
                self.tally.missed_somebody += 1;
            }
            if self.cluster.is_reported(of) {
                self.sight.is_alone[of] = false;
            }
            // An agreement by discovery alone is not safe once the observation has expired, whatever is stored.
            let is_over = self.sight.is_alone[of] && self.is_long_unseen(of);
            if is_over && self.cluster.calls_safe(of, 1) {
                let last = self.sight.last[of];
                return Some(format!(
                    "v1 of {name} is called safe, and nobody has looked since {last} ms"
                ));
            }
            self.tally.unseen_alone += u64::from(is_over);
        }
        self.sight.judged = Some(now);
        None
    }

    /// Whether an observation is past its deadline also by the cluster's own count, which begins anew with each leader
    /// and is as old as the last entry.
    fn is_long_unseen(&self, of: Resource) -> bool {
        let answered = self.cluster.answered_since();
        let heard = self.cluster.heard_at();
        heard.saturating_sub(answered.max(self.sight.last[of])) > 2 * PERIOD
    }
}
