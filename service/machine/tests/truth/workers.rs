//! Workers, which claim migrations and rewrite objects. A worker may be cut off from the cluster and go on, and its rewrites may
//! reach the store long after they were sent.

use std::collections::BTreeSet;

use synod_model::{Assumption, Walk, WorkerStop};

use crate::events::Event;
use crate::machine::{Machine, WRITE_GRACE};
use crate::migrations::{ClaimAnswer, Grant};
use crate::schedule::{ClaimTerms, ResourceName, Version, WorkerName};
use crate::stores::{Condition, KEYS, Write, Writer};
use crate::world::TrueWorld;

/// A process of a worker.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) name: WorkerName,
    /// The claim that it acts under.
    pub(crate) claim: Option<WorkerClaim>,
    is_cut: bool,
    /// The number of objects of its plan that it has finished.
    position: usize,
    /// The number of the rewrite that is not answered.
    pending: Option<u64>,
}

/// A claim in the hands of a worker.
#[derive(Clone, Debug)]
pub(crate) struct WorkerClaim {
    pub(crate) grant: Grant,
    pub(crate) resource: ResourceName,
    pub(crate) terms: ClaimTerms,
    /// When the last progress that was accepted was sent.
    renewed: u64,
    /// The objects that it goes through, each by its store and key, in this order.
    plan: Vec<(usize, usize)>,
}

/// A migration that the machine called completed.
#[derive(Clone, Debug)]
pub(crate) struct Completion {
    pub(crate) resource: ResourceName,
    pub(crate) target: Version,
    pub(crate) assumptions: BTreeSet<Assumption>,
}

impl Worker {
    /// The claim under which it may begin a rewrite now.
    pub(crate) fn valid_claim(&self, now: u64) -> Option<&WorkerClaim> {
        let claim = self.claim.as_ref();
        claim.filter(|claim| now < claim.renewed + claim.terms.ttl)
    }

    /// The objects that it has not finished.
    pub(crate) fn rest(&self) -> &[(usize, usize)] {
        let plan = self.claim.as_ref().map_or(&[][..], |claim| &claim.plan);
        &plan[self.position.min(plan.len())..]
    }

    /// What it can say of its rewrites.
    fn stop(&self) -> WorkerStop {
        match self.pending {
            None => WorkerStop::AllAnswered,
            Some(_) => WorkerStop::SomeUnanswered,
        }
    }

    fn lose_claim(&mut self) {
        self.claim = None;
        self.pending = None;
    }
}

impl TrueWorld {
    /// Every worker that reaches the cluster reports its progress.
    pub(crate) fn report_all_progress(&mut self) {
        for at in 0..self.workers.len() {
            if self.workers[at].claim.is_some() && !self.workers[at].is_cut {
                self.report_progress(at);
            }
        }
    }

    fn report_progress(&mut self, at: usize) {
        let now = self.now();
        let worker = &mut self.workers[at];
        let stop = worker.stop();
        let Some(claim) = &mut worker.claim else {
            return;
        };
        if self.machine.progress(&claim.grant, worker.position) {
            claim.renewed = now;
        } else {
            // It stops. Its rewrite may be on its way still; if none is, the cluster is told.
            if stop == WorkerStop::AllAnswered {
                let (id, token) = (claim.grant.id.clone(), claim.grant.token);
                self.machine
                    .release(id, token, Some(WorkerStop::AllAnswered));
            }
            self.workers[at].lose_claim();
        }
    }

    pub(crate) fn claim(&mut self, name: WorkerName, resource: ResourceName, terms: ClaimTerms) {
        if let Some(at) = self.worker(name) {
            let before = &self.workers[at];
            if before.claim.is_some() && !before.is_cut {
                return;
            }
        }
        // A worker goes through the collection alone if one is declared and the machine lets it.
        let inside = self.machine.has_collection(resource);
        let inside = inside.then(|| self.machine.claim(name, resource, terms, Walk::Collection));
        let (answer, keys) = match inside {
            Some(answer @ (ClaimAnswer::Granted(_) | ClaimAnswer::Draining)) => (answer, 0..0),
            None | Some(ClaimAnswer::Refused) => {
                let outside = self.machine.claim(name, resource, terms, Walk::Outside);
                (outside, 0..KEYS)
            }
        };
        let grant = match answer {
            ClaimAnswer::Granted(grant) => grant,
            ClaimAnswer::Draining => return self.counts.note(Event::ClaimDelayed),
            ClaimAnswer::Refused => return,
        };
        self.counts.note(Event::ClaimGranted);
        let store = self.stores.place(resource);
        let plan = keys.map(|key| (store, key)).collect();
        if terms.is_fenced {
            let fence = &mut self.stores.fences[store];
            *fence = (*fence).max(grant.agreement);
        }
        self.workers.push(Worker {
            name,
            is_cut: false,
            position: grant.finished,
            pending: None,
            claim: Some(WorkerClaim {
                grant,
                resource,
                terms,
                renewed: self.machine.now(),
                plan,
            }),
        });
    }

    /// The worker sends the next rewrite, or finds that the next object needs none.
    pub(crate) fn rewrite(&mut self, name: WorkerName) {
        let now = self.now();
        let Some(at) = self.worker(name) else {
            return;
        };
        let worker = &self.workers[at];
        let (Some(claim), None) = (worker.valid_claim(now), worker.pending) else {
            return;
        };
        let Some((store, key)) = worker.rest().first().copied() else {
            return;
        };
        let object = self.stores.object(store, key);
        let target = claim.grant.target;
        if object.version.is_none_or(|version| version == target) {
            self.workers[at].position += 1;
            return;
        }
        let condition = Condition {
            changes: object.changes,
            fence: claim.terms.is_fenced.then_some(claim.grant.agreement),
        };
        let sent = self.stores.send(Write {
            number: 0,
            store,
            key,
            version: target,
            writer: Writer::Worker(at),
            ends: now + WRITE_GRACE,
            condition: Some(condition),
        });
        self.workers[at].pending = Some(sent);
    }

    /// The pending rewrite reaches the store, and the worker receives the answer. One that was never answered is sent anew.
    pub(crate) fn finish(&mut self, name: WorkerName) {
        let Some(at) = self.worker(name) else {
            return;
        };
        let Some(pending) = self.workers[at].pending.take() else {
            return;
        };
        if let Some(taken) = self.stores.land(pending) {
            self.workers[at].position += 1;
            if !taken {
                self.counts.note(Event::RewriteConflicted);
            }
        }
        if !self.workers[at].is_cut {
            self.report_progress(at);
        }
    }

    /// The oldest rewrite of a process of the worker reaches the store. The worker does not receive the answer.
    pub(crate) fn land_rewrite(&mut self, name: WorkerName) {
        let workers = &self.workers;
        let of_worker = |write: &Write| match write.writer {
            Writer::Worker(at) => workers[at].name == name,
            Writer::Process(_) => false,
        };
        let Some(write) = self.stores.find(of_worker).cloned() else {
            return;
        };
        let taken = self.stores.land(write.number);
        if let Writer::Worker(at) = write.writer
            && taken == Some(true)
            && !self.holds_its_claim(at)
        {
            self.counts.note(Event::LateRewriteLanded);
        }
    }

    /// Returns whether the claim that the worker acts under still holds its migration.
    fn holds_its_claim(&self, at: usize) -> bool {
        let claim = self.workers[at].claim.as_ref();
        claim.is_some_and(|it| self.machine.holds(&it.grant.id, it.grant.token))
    }

    /// The worker does all that is left and completes the migration. Returns that, if the machine accepts it.
    pub(crate) fn work_to_the_end(&mut self, name: WorkerName) -> Option<Completion> {
        let at = self.worker(name)?;
        if self.workers[at].is_cut {
            return None;
        }
        // Each object takes two steps; an unanswered rewrite takes two more.
        for _ in 0..KEYS * 4 {
            let worker = &self.workers[at];
            if worker.pending.is_some() {
                self.finish(name);
            } else if worker.valid_claim(self.machine.now()).is_some() && !worker.rest().is_empty()
            {
                self.rewrite(name);
            } else {
                break;
            }
        }
        let worker = &mut self.workers[at];
        if worker.pending.is_some() || !worker.rest().is_empty() {
            return None;
        }
        let claim = worker.claim.take()?;
        let assumptions = self.machine.complete(&claim.grant)?;
        self.counts.note(Event::MigrationCompleted);
        Some(Completion {
            resource: claim.resource,
            target: claim.grant.target,
            assumptions,
        })
    }

    pub(crate) fn cut_worker(&mut self, name: WorkerName) {
        if let Some(at) = self.worker(name) {
            self.workers[at].is_cut = true;
        }
    }

    /// The worker ends its own claim. Its rewrite may be on its way for the whole grace from now on.
    pub(crate) fn give_up(
        &mut self,
        name: WorkerName,
        end: impl FnOnce(&mut Machine, &Grant, WorkerStop),
    ) {
        let Some(at) = self.worker(name) else {
            return;
        };
        let worker = &mut self.workers[at];
        if worker.is_cut {
            return;
        }
        let Some(claim) = worker.claim.take() else {
            return;
        };
        let stop = worker.stop();
        worker.pending = None;
        end(&mut self.machine, &claim.grant, stop);
        let ends = self.machine.now() + WRITE_GRACE;
        for write in &mut self.stores.flying {
            if write.writer == Writer::Worker(at) {
                write.ends = ends;
            }
        }
    }
}
