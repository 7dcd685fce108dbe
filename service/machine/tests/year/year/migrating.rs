//! The steps of migration workers.

use synod_machine::Answer;
use synod_model::ErrorKind;

use super::servers::OBJECTS;
use super::{SECOND, World};
use crate::agenda::Event;
use crate::cluster::{RESOURCES, VOTED, number_of, with_hash};
use crate::store::Resource;
use crate::worker::{Job, claim};

/// The number of objects on a page.
const PAGE: usize = 1;

impl World {
    /// A worker will look for migrations.
    pub(super) fn await_work(&mut self) {
        if !self.is_awaited {
            self.is_awaited = true;
            let later = self.soon(SECOND, 60 * SECOND);
            self.agenda.plan(later, Event::Work);
        }
    }

    /// A worker claims the migrations that it can get.
    pub(super) fn work(&mut self) {
        self.is_awaited = false;
        if !self.cluster.answers() {
            return self.await_work();
        }
        for of in 0..RESOURCES.len() {
            for id in self.cluster.open_migrations(of) {
                match self.cluster.send(claim(&id)) {
                    Ok(Answer::MigrationClaimed { token, progress }) => {
                        let Some(migration) = self.cluster.migration(&id) else {
                            continue;
                        };
                        self.store.fence(of, migration.agreement_revision);
                        let job = Job {
                            id,
                            token,
                            resource: of,
                            target: with_hash(migration.target.hash),
                            next: usize::try_from(progress.done).expect("a small number"),
                            said_at: self.now,
                        };
                        let later = self.soon(0, 3 * SECOND);
                        self.agenda.plan(later, Event::Page(job));
                    }
                    Err(refusal) if refusal.kind == ErrorKind::Draining => {
                        self.tally.draining += 1;
                        self.await_work();
                    }
                    // Another worker has it, or another migration of the resource comes first.
                    _ => {}
                }
            }
        }
    }

    /// A worker rewrites a page through some server. Returns what is wrong after a completed migration.
    pub(super) fn page(&mut self, mut job: Job) -> Option<String> {
        if self.random.percent(3) {
            // Its claim ends at its deadline.
            self.tally.workers_died += 1;
            let later = self.soon(15 * SECOND, 18 * SECOND);
            self.agenda.plan(later, Event::Expire);
            return None;
        }
        let is_served = self
            .living()
            .any(|process| process.writes(job.resource, self.now) == Some(job.target));
        let later = self.soon(0, 10 * SECOND);
        if !self.cluster.answers() || !is_served {
            self.agenda.plan(later, Event::Page(job));
            return None;
        }
        if job.next >= OBJECTS {
            return self.complete(&job);
        }
        if !job.may_rewrite(self.now) && self.cluster.send(job.progress()).is_err() {
            self.tally.given_up += 1;
            return None;
        }
        job.said_at = self.now;
        for object in job.next..OBJECTS.min(job.next + PAGE) {
            self.store.rewrite(job.resource, object, job.target);
        }
        job.next += PAGE;
        if self.cluster.send(job.progress()).is_ok() {
            self.agenda.plan(later, Event::Page(job));
        } else {
            self.tally.given_up += 1;
        }
        None
    }

    fn complete(&mut self, job: &Job) -> Option<String> {
        if self.cluster.send(job.complete()).is_err() {
            self.tally.given_up += 1;
            return None;
        }
        self.tally.completed += 1;
        if !self.cluster.is_reported(job.resource) {
            self.tally.completed_of_shown += 1;
        }
        if job.resource == VOTED {
            self.tally.completed_of_voted += 1;
        }
        self.await_work();
        self.uncovered(job.resource, job)
    }

    /// After a migration was completed, one version is stored, and it is the one in `persisted`.
    fn uncovered(&self, of: Resource, job: &Job) -> Option<String> {
        let persisted = self.cluster.persisted(of);
        let known: Option<Vec<_>> = persisted
            .iter()
            .map(|one| one.as_ref().map(number_of))
            .collect();
        let stored = self.store.versions_but(of, self.excused(of));
        let stored: Vec<_> = stored.into_iter().collect();
        let is_exact =
            known == Some(vec![job.target]) && (stored.is_empty() || stored == [job.target]);
        (!is_exact).then(|| {
            format!(
                "{} was completed to v{}; persisted is {persisted:?}, and stored is {stored:?}",
                job.id, job.target
            )
        })
    }
}
