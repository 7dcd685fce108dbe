//! Decides which request is sent next, and handles its answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use synod_model::{Epoch, ErrorKind, GroupResource, ReportEntry, Verdict};
use tokio::time::Instant;

use super::job::{Job, Reply, Scope, Stage, TRIES_MAX};
use super::sent::{Saying, Sent, What, is_over};
use super::{PAUSE, Reporter};
use crate::membership::say::say;
use crate::{Error, MemberEpoch, Reported, ReportedResource};

impl Reporter {
    /// Queues a report that the program has asked for.
    pub(super) fn add_job(&mut self, scope: Scope, reply: Reply<Reported>) {
        self.jobs_begun += 1;
        let give_up_at = Instant::now() + self.drain_limit + self.sending_limit();
        self.jobs.push_back(Job {
            number: self.jobs_begun,
            scope,
            changed: BTreeSet::new(),
            stage: Stage::Waiting,
            tries: 0,
            uncertain: false,
            give_up_at,
            last_error: None,
            reply,
        });
    }

    /// Begins every job that no earlier job holds back: closes the gates of its resources, and waits for their permits.
    pub(super) fn begin_jobs(&mut self) {
        for place in 0..self.jobs.len() {
            let (earlier, job) = (self.jobs.range(..place), &self.jobs[place]);
            let held_back = earlier.into_iter().any(|earlier| earlier.holds_back(job));
            if job.stage != Stage::Waiting || held_back {
                continue;
            }
            let changed = job.scope.changed(&self.committed);
            self.gate.update(|book| book.begin_change(&changed));
            let job = &mut self.jobs[place];
            job.changed.clone_from(&changed);
            job.stage = Stage::Draining;
            let (number, gate, limit) = (job.number, self.gate.clone(), self.drain_limit);
            self.drains.push(Box::pin(async move {
                (number, gate.drained(&changed, limit).await)
            }));
        }
    }

    /// The permits of a job's resources were given back, or the drain limit has passed.
    pub(super) fn take_drained(&mut self, number: u64, drained: Result<(), Error>) {
        let Some(place) = self.place_of(number) else {
            return;
        };
        match drained {
            Ok(()) => self.jobs[place].stage = Stage::Drained,
            Err(error) => self.fail(place, error),
        }
    }

    /// Sends the next request, if none is being sent and one can be sent now.
    pub(super) fn send_next(&mut self) {
        let now = Instant::now();
        self.paused_until = self.paused_until.filter(|until| *until > now);
        if self.sending.is_some() || self.paused_until.is_some() {
            return;
        }
        let Some(member) = self.standing.lock().member.clone() else {
            return;
        };
        if self.refused_epoch == Some(member.epoch) {
            return;
        }
        let base = self.is_base_needed();
        let drained = self.jobs.iter().position(|job| job.stage == Stage::Drained);
        // A base that was refused holds no job back: the job may be what mends it. Whatever becomes of that job, the base
        // is tried next.
        if let Some(place) = drained
            && (!base || self.refused_base.take() == Some(member.epoch))
        {
            self.send_job(place, member, base);
        } else if base {
            self.send_base(member);
        } else if self.ready.wanted && !self.standing.lock().is_ready() {
            self.send_ready(member);
        }
    }

    /// Whether the last acknowledged entries have to be reported again first: the epoch is new, or a report of unknown
    /// outcome was given up.
    fn is_base_needed(&self) -> bool {
        !self.committed.is_empty() && (self.doubtful || !self.gate.book().is_reported())
    }

    fn send_base(&mut self, member: MemberEpoch) {
        let (client, standing) = (self.client.clone(), Arc::clone(&self.standing));
        let entries: Vec<ReportEntry> = self.committed.values().cloned().collect();
        self.sending = Some(Box::pin(async move {
            let send = |number| client.send_report(&member, number, entries.clone(), true);
            let result = say(&standing, &member, send).await;
            Sent {
                epoch: member.epoch,
                what: What::Base(entries, result),
            }
        }));
    }

    /// Sends a job; `whole`: with all other entries, since the base was refused.
    fn send_job(&mut self, place: usize, member: MemberEpoch, whole: bool) {
        let job = &mut self.jobs[place];
        let one = !job.scope.is_full();
        if one && self.committed.is_empty() {
            let message = "report all resources before one of them is changed";
            return self.fail(place, Error::new(ErrorKind::InvalidArgument, message));
        }
        job.stage = Stage::Sent;
        let (client, standing) = (self.client.clone(), Arc::clone(&self.standing));
        let saying = if whole && one {
            job.scope.within(&self.committed)
        } else {
            job.scope.saying()
        };
        let job = job.number;
        self.sending = Some(Box::pin(async move {
            let Saying { entries, whole } = &saying;
            let send = |number| client.send_report(&member, number, entries.clone(), *whole);
            let result = say(&standing, &member, send).await;
            Sent {
                epoch: member.epoch,
                what: What::Job(job, saying, result),
            }
        }));
    }

    fn send_ready(&mut self, member: MemberEpoch) {
        let client = self.client.clone();
        self.sending = Some(Box::pin(async move {
            let result = client.send_ready(&member).await.map(drop);
            Sent {
                epoch: member.epoch,
                what: What::Ready(result),
            }
        }));
    }

    /// Handles the answer to a request.
    pub(super) fn take_sent(&mut self, Sent { epoch, what }: Sent) {
        let over = match &what {
            What::Base(_, Err(error)) | What::Job(_, _, Err(error)) | What::Ready(Err(error)) => {
                is_over(error)
            }
            What::Base(_, Ok(_)) | What::Job(_, _, Ok(_)) | What::Ready(Ok(())) => false,
        };
        if over {
            // The keeper finds out whether the epoch is over; until then nothing is sent under it.
            self.refused_epoch = Some(epoch);
            self.doubt.notify_one();
        }
        match what {
            What::Base(entries, result) => self.take_base(epoch, entries, result, over),
            What::Job(number, saying, result) => {
                self.take_job(epoch, number, saying, result, over);
            }
            What::Ready(result) => self.take_ready(epoch, result, over),
        }
    }

    fn take_base(
        &mut self,
        epoch: Epoch,
        entries: Vec<ReportEntry>,
        result: Result<Reported, Error>,
        over: bool,
    ) {
        match result {
            Ok(reported) => {
                let all = Saying {
                    entries,
                    whole: true,
                };
                self.tell(epoch, all, &reported, &BTreeSet::new());
            }
            Err(error) if !over => {
                self.refused_base = can_be_mended(&error).then_some(epoch);
                let resources = self.committed.keys().cloned().collect();
                let error = error.context("what was reported before cannot be reported again");
                self.note_failure(&resources, error);
            }
            Err(_) => {}
        }
    }

    fn take_job(
        &mut self,
        epoch: Epoch,
        number: u64,
        saying: Saying,
        result: Result<Reported, Error>,
        over: bool,
    ) {
        let Some(place) = self.place_of(number) else {
            return;
        };
        match result {
            Ok(reported) => {
                let Some(job) = self.jobs.remove(place) else {
                    return;
                };
                job.scope.commit(&mut self.committed);
                self.tell(epoch, saying, &reported, &job.changed);
                // Sending fails if the caller has gone away; the answer is then not needed.
                let _ = job.reply.send(Ok(reported));
            }
            Err(error) if over => {
                let job = &mut self.jobs[place];
                job.stage = Stage::Drained;
                job.last_error = Some(error);
            }
            Err(error) => {
                let with_others = saying.whole && !self.jobs[place].scope.is_full();
                let error = if with_others {
                    error.context("what was reported before is refused, so all was reported in one")
                } else {
                    error
                };
                if self.jobs[place].take_failure(&error) {
                    let changed = self.jobs[place].changed.clone();
                    self.note_failure(&changed, error);
                } else {
                    self.fail(place, error);
                }
            }
        }
    }

    fn take_ready(&mut self, epoch: Epoch, result: Result<(), Error>, over: bool) {
        match result {
            Ok(()) => {
                self.standing.update(|standing| standing.ready(epoch));
                self.answer_ready(&Ok(()));
            }
            Err(error) if !over => {
                self.ready.tries += 1;
                let refused = error.execution() == Verdict::Refused;
                self.note_failure(&BTreeSet::new(), error.clone());
                if refused || self.ready.tries >= TRIES_MAX {
                    self.answer_ready(&Err(error));
                }
            }
            Err(_) => {}
        }
    }

    /// Answers the callers that wait for the server to be ready. If it is an error, no further try is made.
    fn answer_ready(&mut self, result: &Result<(), Error>) {
        self.ready.tries = 0;
        self.ready.give_up_at = None;
        let replies = std::mem::take(&mut self.ready.replies);
        if result.is_err() && !replies.is_empty() {
            self.ready.wanted = false;
        }
        for reply in replies {
            // Sending fails if the caller has gone away; the answer is then not needed.
            let _ = reply.send(result.clone());
        }
    }

    /// A report was acknowledged: the gate opens for what it names.
    fn tell(
        &mut self,
        epoch: Epoch,
        Saying { entries, whole }: Saying,
        reported: &Reported,
        changed: &BTreeSet<GroupResource>,
    ) {
        if whole {
            self.doubtful = false;
            self.refused_base = None;
            for job in &mut self.jobs {
                // This has replaced whatever the job's tries changed.
                job.uncertain = false;
            }
        }
        let answers: BTreeMap<&GroupResource, &ReportedResource> = reported
            .resources
            .iter()
            .map(|answer| (&answer.resource, answer))
            .collect();
        let pairs = entries.into_iter().filter_map(|entry| {
            let answer = answers
                .get(&entry.resource)
                .map(|answer| (*answer).clone())?;
            Some((entry, answer))
        });
        let pairs: Vec<_> = pairs.collect();
        let named: Vec<GroupResource> = pairs
            .iter()
            .map(|(entry, _)| entry.resource.clone())
            .collect();
        self.gate.update(|book| {
            book.told(epoch, reported.header.revision, whole, pairs);
            book.end_change(changed);
            for resource in &named {
                // What the watch showed of the resource before this answer arrived.
                if let Some(seen) = self.views.get(resource) {
                    book.observe(resource, seen);
                }
            }
        });
        self.standing.update(|standing| {
            standing.report_error = None;
            if whole {
                standing.reported(epoch);
            }
        });
    }

    /// A request failed and will be sent again after a pause.
    fn note_failure(&mut self, resources: &BTreeSet<GroupResource>, error: Error) {
        tracing::warn!(member = %self.id, %error);
        self.gate
            .update(|book| book.report_failed(resources, &error.to_string()));
        self.standing
            .update(|standing| standing.report_error = Some(error));
        self.paused_until = Some(Instant::now() + PAUSE);
    }

    /// Gives a job up. The entries that were acknowledged before hold again, unless the outcome of a try is unknown.
    fn fail(&mut self, place: usize, error: Error) {
        let Some(job) = self.jobs.remove(place) else {
            return;
        };
        let changed = &job.changed;
        self.gate.update(|book| {
            book.report_failed(changed, &error.to_string());
            if job.uncertain {
                book.doubt(changed);
            }
            book.end_change(changed);
        });
        self.doubtful |= job.uncertain;
        self.standing
            .update(|standing| standing.report_error = Some(error.clone()));
        // Sending fails if the caller has gone away; the answer is then not needed.
        let _ = job.reply.send(Err(error));
    }

    /// Gives up the jobs, and the wish to be ready, whose time is over.
    pub(super) fn give_up_late(&mut self) {
        let now = Instant::now();
        let late = |job: &Job| job.stage != Stage::Sent && job.give_up_at <= now;
        while let Some(place) = self.jobs.iter().position(late) {
            let error = self.jobs[place]
                .last_error
                .clone()
                .unwrap_or_else(not_a_member);
            self.fail(place, error);
        }
        if self.ready.give_up_at.is_some_and(|at| at <= now) {
            self.answer_ready(&Err(not_a_member()));
        }
    }

    /// The epoch under which requests are sent.
    pub(super) fn epoch(&self) -> Option<Epoch> {
        self.gate.book().epoch()
    }

    fn place_of(&self, number: u64) -> Option<usize> {
        self.jobs.iter().position(|job| job.number == number)
    }
}

fn not_a_member() -> Error {
    let message = "the time limit passed before the request could be sent: the server was not a member for long \
                   enough (it keeps trying to join), or earlier requests took too long";
    Error::new(ErrorKind::Unavailable, message)
}

/// Whether a report that was refused so may be taken if it says something else. Who the caller is, and how it numbers what it says,
/// no other report changes.
fn can_be_mended(error: &Error) -> bool {
    let is_about_the_caller = matches!(
        error.kind(),
        ErrorKind::Unauthenticated | ErrorKind::PermissionDenied | ErrorKind::Conflict
    );
    error.execution() == Verdict::Refused && !is_about_the_caller
}
