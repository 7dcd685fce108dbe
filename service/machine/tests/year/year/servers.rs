//! The steps of servers: join, report, renew, learn, write, drain and leave.

use synod_machine::{Answer, Command};
use synod_model::{Adopt, Epoch, ErrorKind, Leave, Refusal, Renew, Report};

use super::{HOUR, MINUTE, SECOND, WRITE_GRACE, World};
use crate::agenda::Event;
use crate::cluster::{RESOURCES, VOTED, number_of, resource};
use crate::process::{FIRST_VERSION, Process, Release, member};
use crate::store::{Resource, Write};

/// The number of objects of each resource.
pub(super) const OBJECTS: usize = 12;

/// How long a process waits for an answer of the store.
const TIMEOUT: u64 = 10 * SECOND;

impl World {
    /// The regular step of every process: it renews, reads what has changed, and finishes what it waited for.
    pub(super) fn tick(&mut self) {
        if !self.cluster.answers() {
            return;
        }
        for place in self.living.clone() {
            if !self.processes[place].runs() || self.processes[place].is_aloof {
                continue;
            }
            if !self.processes[place].is_leaving {
                self.renew(place);
            }
            if self.random.percent(70) {
                self.learn(place);
            }
            self.settle(place);
        }
    }

    pub(super) fn start(&mut self, server: usize, release: Release) {
        if !self.cluster.answers() {
            let later = self.soon(SECOND, 5 * SECOND);
            return self.agenda.plan(later, Event::Starts { server, release });
        }
        if !self.may_start(server) {
            let later = self.soon(SECOND, 20 * SECOND);
            return self.agenda.plan(later, Event::Starts { server, release });
        }
        let (slowest, fastest) = self.nature.rates;
        let rate = self.random.between(slowest, fastest + 1);
        let instance = u64::try_from(self.processes.len()).expect("a small number");
        let mut process = Process::new(server, instance, release, rate);
        process.reads = self.given(server, release);
        let place = self.processes.len();
        self.processes.push(process);
        self.living.push(place);
        if !self.takes_part[server] {
            self.processes[place].is_aloof = true;
            return;
        }
        self.join(place);
        self.watch_deadlines();
    }

    /// A process joins and reports, for the first time or again.
    fn join(&mut self, place: usize) {
        let process = &mut self.processes[place];
        match self.cluster.send(Command::Join(process.join())) {
            Ok(Answer::Joined { epoch, .. }) => process.joined(epoch),
            // Another process has its id: this one can never join again.
            _ => {
                process.is_alive = false;
                return;
            }
        }
        process.proved(self.now);
        self.report(place);
    }

    fn report(&mut self, place: usize) {
        let process = &mut self.processes[place];
        let Some(epoch) = process.epoch else { return };
        let report = Command::Report(process.report(epoch));
        let heard = self.say(report);
        let process = &mut self.processes[place];
        let Some(heard) = heard else { return };
        match heard {
            Ok(Answer::Reported(told)) => {
                process.is_reported = true;
                for (gate, told) in process.gates.iter_mut().zip(told) {
                    gate.encoding = told.encoding.as_ref().map(number_of);
                    gate.selected_revision = told.selected_revision;
                    // The entry of an epoch that has reported may lag behind the selection.
                    gate.adopting = told.adopted_revision.is_some()
                        && told.adopted_revision != Some(told.selected_revision);
                    if gate.adopting {
                        gate.encoding = told.selected.as_ref().map(number_of);
                    }
                }
                process.known = self.cluster.state.revision();
            }
            Err(refusal) if refusal.kind == ErrorKind::NotDecodable => {
                // It has skipped a release: a release that decodes the selected version is started instead.
                self.tally.reports_refused += 1;
                process.is_alive = false;
                let server = process.server;
                self.is_given_all(server);
                let release = self.readable();
                let later = self.soon(MINUTE, 5 * MINUTE);
                self.agenda.plan(later, Event::Starts { server, release });
            }
            // Another process has replaced it before it could report.
            Err(refusal) if refusal.kind == ErrorKind::StaleEpoch => process.is_alive = false,
            other => panic!("a report of a member is taken, and not {other:?}"),
        }
    }

    /// A process sends a statement. `None`: it has given up waiting for the answer, and the statement may still be on
    /// its way. So may an answered one: a network delivers some twice.
    pub(super) fn say(&mut self, statement: Command) -> Option<Result<Answer, Refusal>> {
        let fate = self.random.below(20);
        if fate < 3 {
            let longest = [10 * SECOND, 2 * MINUTE, 200 * HOUR][fate];
            let later = self.soon(1, longest);
            self.agenda
                .plan(later, Event::Arrives(Box::new(statement.clone())));
        }
        match fate {
            // The caller gives up while the statement is on its way.
            0 | 1 => return None,
            // The statement is carried out, and its answer is lost.
            3 => {
                let _ = self.cluster.send(statement);
                return None;
            }
            _ => {}
        }
        Some(self.cluster.send(statement))
    }

    /// A statement arrives whose caller no longer waits.
    pub(super) fn hear_late(&mut self, statement: Command) {
        if !self.cluster.answers() {
            let later = self.soon(SECOND, MINUTE);
            return self.agenda.plan(later, Event::Arrives(Box::new(statement)));
        }
        match self.cluster.send(statement) {
            Ok(_) => self.tally.heard_late += 1,
            Err(refusal) if refusal.metadata.contains_key("last_number") => {
                self.tally.too_late += 1;
            }
            Err(_) => {}
        }
    }

    /// A release whose version is the selected one.
    fn readable(&self) -> Release {
        let status = self.cluster.status(VOTED);
        let selected = status.and_then(|status| status.selected);
        let about = selected.as_ref().map_or(self.wanted.about, number_of);
        let about = about.max(FIRST_VERSION);
        Release {
            about,
            encodes: about,
        }
    }

    pub(super) fn renew(&mut self, place: usize) {
        let process = &mut self.processes[place];
        let Some(epoch) = process.epoch else {
            return self.join_again(place);
        };
        let renew = Renew {
            member: process.id(),
            epoch,
        };
        match self.cluster.renew(renew) {
            Ok(_) => process.proved(self.now),
            Err(refusal) if refusal.kind == ErrorKind::StaleEpoch => process.is_alive = false,
            Err(_) => {
                process.close();
                self.join_again(place);
            }
        }
    }

    fn join_again(&mut self, place: usize) {
        self.tally.joined_again += 1;
        self.join(place);
    }

    /// The process reads the selection.
    fn learn(&mut self, place: usize) {
        let process = &mut self.processes[place];
        let view = self.cluster.state.present();
        let present = view.member(&process.id());
        if process.epoch.is_none() || present.map(|one| one.epoch) != process.epoch {
            return process.close();
        }
        process.known = self.cluster.state.revision();
        if !process.is_reported {
            return;
        }
        let Some(kept) = self.cluster.kept(VOTED) else {
            return;
        };
        let status = &kept.row.status;
        let version = view.storage_version(&resource(VOTED));
        let entry = version.and_then(|version| version.entry(&process.id()).cloned());
        let Some(entry) = entry else { return };
        let gate = &mut process.gates[VOTED];
        if gate.redefined.is_none() && status.selected_revision > gate.selected_revision {
            gate.selected_revision = status.selected_revision;
            gate.encoding = status.selected.as_ref().map(number_of);
            gate.adopting = entry.adopted_revision != Some(status.selected_revision);
        }
    }

    /// The process does what had to wait for its writes, and repeats statements that may not have arrived.
    fn settle(&mut self, place: usize) {
        let Some(epoch) = self.processes[place].epoch else {
            return;
        };
        if !self.processes[place].is_reported {
            return self.report(place);
        }
        self.adopt(place, epoch);
        self.turn(place, epoch);
        for of in 0..RESOURCES.len() {
            self.report_one(place, epoch, of);
        }
    }

    fn adopt(&mut self, place: usize, epoch: Epoch) {
        let process = &mut self.processes[place];
        let gate = &process.gates[VOTED];
        if !gate.adopting || !gate.is_drained_of_others() {
            return;
        }
        let adopt = Adopt {
            member: member(process.server),
            epoch,
            selected_revision: gate.selected_revision,
            number: process.next_number(),
            resource: resource(VOTED),
        };
        let Some(heard) = self.say(Command::Adopt(adopt)) else {
            return;
        };
        self.processes[place].gates[VOTED].adopting = false;
        // Refused if another version was selected meanwhile: then the process reads and adopts that.
        if heard.is_ok() {
            self.tally.adopted += 1;
        }
    }

    /// Reports a resource whose version was changed, once no write is on its way.
    fn report_one(&mut self, place: usize, epoch: Epoch, of: Resource) {
        let process = &mut self.processes[place];
        let gate = &process.gates[of];
        let Some(version) = gate.redefined.filter(|_| gate.under_way.is_empty()) else {
            return;
        };
        process.release.encodes = version;
        let report = Report {
            member: process.id(),
            epoch,
            number: process.next_number(),
            entries: vec![process.entry(of)],
            replace: false,
        };
        let Some(heard) = self.say(Command::Report(report)) else {
            return;
        };
        let process = &mut self.processes[place];
        let gate = &mut process.gates[of];
        gate.redefined = None;
        gate.encoding = Some(version).filter(|_| heard.is_ok());
        process.known = self.cluster.state.revision();
    }

    /// Every process that may write writes.
    pub(super) fn burst(&mut self) {
        for place in self.living.clone() {
            self.write_some(place);
        }
    }

    pub(super) fn write_some(&mut self, place: usize) {
        for of in 0..RESOURCES.len() {
            let Some(version) = self.processes[place].writes(of, self.now) else {
                continue;
            };
            for _ in 0..self.random.between(1, 4) {
                let process = &mut self.processes[place];
                process.wrote = self.now;
                if process.is_aloof {
                    // It needs no proof: its write lands within the same time after it was sent.
                    process.proof_until = self.now;
                }
                process.gates[of].sent(version);
                let write = Write {
                    process: place,
                    resource: of,
                    object: self.random.below(OBJECTS),
                    version,
                    known: process.known,
                };
                self.send(write);
            }
        }
    }

    /// Sends a write: it lands soon or late, and the answer comes then, or never.
    fn send(&mut self, write: Write) {
        self.tally.writes += 1;
        let what = (write.resource, write.version);
        *self.flights.entry(what).or_default() += 1;
        let proof_until = self.processes[write.process].proof_until;
        let latest = (proof_until + self.nature.lands_within).max(self.now + 2);
        let is_late = self.random.percent(15);
        let mut lands = if is_late {
            self.random.between(self.now, latest)
        } else {
            self.random
                .between(self.now, latest.min(self.now + 1_500).max(self.now + 1))
        };
        let mut answered = lands;
        if self.random.percent(5) {
            self.tally.answers_lost += 1;
            // A process without an answer waits as long as such a write may take, and no longer.
            answered = self.now + TIMEOUT + WRITE_GRACE;
            if self.nature.lands_within == WRITE_GRACE {
                lands = lands.min(answered);
            }
        }
        self.agenda.plan(lands, Event::Lands(write.clone()));
        self.agenda.plan(answered, Event::Answered(write));
    }

    /// A process leaves that has drained, or has waited long enough.
    pub(super) fn leave(&mut self, place: usize, release: Release) {
        if !self.cluster.answers() {
            let later = self.soon(SECOND, 5 * SECOND);
            let process = place;
            return self.agenda.plan(later, Event::Leaves { process, release });
        }
        let process = &mut self.processes[place];
        let server = process.server;
        if let (true, Some(epoch)) = (process.runs(), process.epoch) {
            let drained = process.is_drained();
            let leave = Leave {
                member: process.id(),
                epoch,
                drained,
                instance: Some(process.instance_id()),
                stopped: false,
            };
            // Refused if another process has its id, or it has expired: then it has nothing to leave.
            let _ = self.cluster.send(Command::Leave(leave));
            if drained {
                self.tally.left_drained += 1;
            } else {
                self.tally.left_undrained += 1;
            }
        }
        process.is_alive = false;
        let later = self.soon(SECOND, 30 * SECOND);
        self.agenda.plan(later, Event::Starts { server, release });
    }

    /// A paused process resumes where it stopped, before it reads anything. One that was replaced by a process that takes no part
    /// is stopped then: if both ran, nobody could know what the other writes under the id of a member.
    pub(super) fn resume(&mut self, place: usize) {
        self.processes[place].is_paused = false;
        self.write_some(place);
        let server = self.processes[place].server;
        let mut successors = self.processes[place + 1..].iter();
        if successors.any(|it| it.server == server && it.is_aloof && it.is_alive) {
            self.processes[place].is_alive = false;
        }
        self.tick();
    }

    pub(super) fn expire(&mut self) {
        if !self.cluster.answers() {
            let later = self.soon(SECOND, 5 * SECOND);
            return self.agenda.plan(later, Event::Expire);
        }
        let before = self.cluster.state.present().members(None).count();
        self.cluster.expire();
        let after = self.cluster.state.present().members(None).count();
        self.tally.expired += u64::try_from(before - after).expect("a small number");
        self.await_work();
    }

    /// The leader will check when a member or an unreported entry is past its deadline.
    pub(super) fn watch_deadlines(&mut self) {
        for after in [15 * SECOND, 5 * MINUTE] {
            let later = self.soon(after, after + 3 * SECOND);
            self.agenda.plan(later, Event::Expire);
        }
    }
}
