//! The world around the machine: servers, workers, observers, operators and stores.

use std::collections::BTreeSet;

use synod_machine::{MACHINE_VERSION, MACHINE_VERSION_MIN};

use crate::draws::{CLAIM_TTL, DAY_AND_GRACE, MEMBERS, SERVERS, TTL};
use crate::events::{Event, EventCounts};
use crate::machine::Machine;
use crate::observers::Evidence;
use crate::oracle::Fault;
use crate::schedule::{
    Action, ClaimTerms, ENCODES_1, ENCODES_2, ResourceName, Roster, Version, WorkerName,
};
use crate::servers::ServerProcess;
use crate::stores::{Stores, Writer};
use crate::workers::Worker;

/// A span that is longer than this passes in one step.
const SECONDS_ONE_BY_ONE: u64 = 100;

/// The beginning of a world.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) roster: Option<Roster>,
    /// The version of all objects; `None` if there are none.
    pub(crate) stored: Option<Version>,
    /// Whether both resources are in one store.
    pub(crate) is_one_store: bool,
    /// Whether the machine version before the newest is in force first.
    pub(crate) is_before_raise: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            roster: None,
            stored: Some(1),
            is_one_store: false,
            is_before_raise: false,
        }
    }
}

/// The machine and all that is around it.
pub(crate) struct TrueWorld {
    pub(crate) machine: Machine,
    pub(crate) stores: Stores,
    /// The versions of all snapshots.
    pub(crate) snapshots: BTreeSet<Version>,
    /// Every process that ever ran, the oldest first.
    pub(crate) processes: Vec<ServerProcess>,
    /// Every process of a worker that ever claimed, the oldest first.
    pub(crate) workers: Vec<Worker>,
    pub(crate) roster: Option<Roster>,
    pub(crate) evidence: Evidence,
    /// Whether the rules that the oracle checks are in force.
    pub(crate) is_raised: bool,
    pub(crate) counts: EventCounts,
}

impl TrueWorld {
    pub(crate) fn new(setup: &Setup) -> Self {
        let first = if setup.is_before_raise {
            (MACHINE_VERSION - 1).max(MACHINE_VERSION_MIN)
        } else {
            MACHINE_VERSION
        };
        let mut machine = Machine::with_version(first, setup.is_one_store);
        if setup.roster.is_some() {
            machine.set_roster(setup.roster);
        }
        Self {
            machine,
            stores: Stores::new(setup.is_one_store, setup.stored),
            snapshots: BTreeSet::new(),
            processes: Vec::new(),
            workers: Vec::new(),
            roster: setup.roster,
            evidence: Evidence::default(),
            is_raised: !setup.is_before_raise,
            counts: EventCounts::default(),
        }
    }

    /// Runs a schedule up to the first fault.
    ///
    /// # Errors
    ///
    /// The first answer of the machine that is not true.
    pub(crate) fn run(&mut self, schedule: &[Action]) -> Result<(), Fault> {
        schedule.iter().try_for_each(|action| self.step(action))
    }

    /// Lets everything come to rest: strangers stop, both members run one release after another, and a new worker migrates.
    /// Returns whether the version before is safe to drop then.
    ///
    /// # Errors
    ///
    /// The first answer of the machine that is not true.
    pub(crate) fn settle(&mut self) -> Result<bool, Fault> {
        let widgets = ResourceName::Widgets;
        let terms = ClaimTerms {
            ttl: CLAIM_TTL,
            is_fenced: false,
        };
        let start = |binary| MEMBERS.map(|server| Action::Start(server, binary, TTL));
        let wait = [Action::Pass(DAY_AND_GRACE), Action::Expire];
        self.run(&SERVERS.map(Action::Crash))?;
        self.run(&start(ENCODES_1))?;
        self.run(&wait)?;
        self.run(&start(ENCODES_2))?;
        // Evidence against the members stays until an observer has reached the same servers again, and one is gone.
        self.run(&[Action::Dismiss(widgets), Action::Look(MEMBERS.to_vec())])?;
        self.run(&wait)?;
        self.run(&[Action::Claim("last", widgets, terms), Action::Run("last")])?;
        Ok(self.machine.check_drop(widgets, 1).is_safe())
    }

    fn step(&mut self, action: &Action) -> Result<(), Fault> {
        let completed = self.carry_out(action);
        self.end_evidence();
        self.end_requests();
        self.check(action, completed)
    }

    pub(crate) fn now(&self) -> u64 {
        self.machine.now()
    }

    /// Carries out the action. Returns the migration that was completed by it.
    fn carry_out(&mut self, action: &Action) -> Option<crate::workers::Completion> {
        match action {
            Action::Pass(seconds) => self.pass(*seconds),
            Action::Expire => self.machine.expire(),
            Action::Elect => self.machine.elect(),
            Action::Start(server, binary, ttl) => self.start(server, binary, *ttl),
            Action::StartUngated(server, version) => self.start_ungated(server, *version),
            Action::Crash(server) => self.crash(server),
            Action::Leave(server, drained) => self.leave(server, *drained),
            Action::Evict(server) => self.evict(server),
            Action::Cut(server) => self.cut(server, true),
            Action::Heal(server) => self.cut(server, false),
            Action::Learn(server) => self.learn(server),
            Action::Adopt(server) => self.adopt(server),
            Action::Reencode(server, version) => self.reencode(server, *version),
            Action::Write(server, key) => self.write(server, *key),
            Action::Land(server) => self.land(server),
            Action::Claim(worker, resource, terms) => self.claim(worker, *resource, *terms),
            Action::Rewrite(worker) => self.rewrite(worker),
            Action::Finish(worker) => self.finish(worker),
            Action::LandRewrite(worker) => self.land_rewrite(worker),
            Action::Run(worker) => return self.work_to_the_end(worker),
            Action::CutWorker(worker) => self.cut_worker(worker),
            Action::Fail(worker) => self.give_up(worker, Machine::fail),
            Action::GiveBack(worker) => self.give_up(worker, |machine, grant, stop| {
                machine.release(grant.id.clone(), grant.token, Some(stop));
            }),
            Action::Look(servers) => self.look(servers),
            Action::Snapshot(version) => {
                self.machine.keep_snapshot(*version);
                self.snapshots.insert(*version);
            }
            operation => self.operate(operation),
        }
        None
    }

    /// Carries out what an operator does to the machine.
    fn operate(&mut self, action: &Action) {
        match action {
            Action::ReleaseClaim(resource) => {
                let running = self.machine.running_migration(*resource);
                if let Some((id, claim)) = running.and_then(|it| Some((it.id, it.claim?))) {
                    self.machine.release(id, claim.token, None);
                }
            }
            Action::StartMigration(resource) => self.machine.start_migration(*resource),
            Action::Abort(resource) => self.machine.abort(*resource),
            Action::Delete(resource) => self.machine.delete(*resource),
            Action::Reset(resource) => {
                self.machine.reset(*resource);
                self.evidence.end();
            }
            Action::Dismiss(resource) => {
                self.machine.dismiss(*resource);
                self.evidence.end();
            }
            Action::Forget(resource) => {
                if self.machine.forget(*resource) {
                    self.evidence.end();
                    self.counts.note(Event::ResourceForgotten);
                }
            }
            Action::Declare(resource) => self.machine.declare(*resource),
            Action::Roster(roster) => {
                self.machine.set_roster(*roster);
                self.roster = *roster;
            }
            Action::BackUp => self.machine.back_up(),
            Action::Restore => {
                self.machine.restore();
                self.evidence.end();
                self.counts.note(Event::Restored);
            }
            Action::Raise => {
                if !self.is_raised {
                    self.machine.raise(MACHINE_VERSION);
                    self.is_raised = true;
                }
            }
            other => panic!("{other:?} is not done by an operator"),
        }
    }

    fn pass(&mut self, seconds: u64) {
        if seconds > SECONDS_ONE_BY_ONE {
            return self.pass_long(seconds);
        }
        for _ in 0..seconds {
            self.pass_at_once(1);
        }
    }

    /// In a long time the leader removes what is due when it is: it is never late by as much as an absence.
    fn pass_long(&mut self, seconds: u64) {
        let end = self.now() + seconds;
        // The first entry of a leader lifts all deadlines.
        self.pass_at_once(0);
        for moment in self.machine.deadlines_before(end) {
            self.pass_at_once(moment - self.now());
            self.machine.expire();
        }
        self.pass_at_once(end - self.now());
    }

    fn pass_at_once(&mut self, seconds: u64) {
        self.machine.pass(seconds);
        self.renew_all();
        self.report_all_progress();
        self.end_requests();
    }

    /// Requests whose time is over are on their way no longer.
    fn end_requests(&mut self) {
        let now = self.now();
        let processes = &self.processes;
        self.stores.answer(|write| {
            let ends = match write.writer {
                Writer::Process(at) => processes[at].last_moment_of(write),
                Writer::Worker(_) => write.ends,
            };
            ends <= now
        });
    }

    /// The newest process of a worker with this name.
    pub(crate) fn worker(&self, name: WorkerName) -> Option<usize> {
        self.workers.iter().rposition(|worker| worker.name == name)
    }
}
