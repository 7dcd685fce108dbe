//! One replica, as the RPC services use it: changes, reads and watches.

mod remaining;

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{Answer, Command, Envelope, LogEntry, OutOfReach, Past, State};
use synod_model::{
    ClusterId, ControllerRevision, ErrorKind, NamespacedName, Object, ObjectKey, Refusal,
    RequestId, Revision, WallTime,
};
use synod_proto::access::{Names, Revised};
use synod_proto::status::key;
use synod_proto::{Change, Consistency, WatchStart, v1};
use tokio::time::Instant;

use crate::access::{Called, Standing};
use crate::audit::{Audit, Call, Noted};
use crate::connections::Line;
use crate::consensus::{Consensus, ReplicaId};
use crate::guards::Guards;
use crate::itself::Itself;
use crate::lease_waits::LeaseWaits;
use crate::metrics::ReadMetrics;
use crate::proposer::Proposer;
use crate::read::{Reader, Reading};
use crate::traces::{self, Span};
use crate::watch::{Cursor, Watches};

/// The attribute of a span with the revision of a change, or of what is read.
const REVISION: &str = "synod.revision";

/// One replica. Clones are handles to the same one.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<HandleParts>,
}

struct HandleParts {
    consensus: Consensus,
    proposer: Proposer,
    reader: Reader,
    watches: Watches,
    lease_waits: LeaseWaits,
    guards: Guards,
    /// What this replica tells of itself, and the times that a dry run shows.
    itself: Itself,
}

/// The context of a request: how long its caller waits, and its name in the logs.
#[derive(Clone)]
pub struct Asking {
    /// The caller's deadline, brought forward a little because the answer takes time, too.
    pub deadline: Instant,
    /// The name of the request in the logs of every replica that it passes.
    pub trace: Arc<str>,
    /// Its span, if it has one.
    pub(crate) span: Span,
    /// The connection that the request came in by, if its answers are counted.
    pub(crate) line: Option<Arc<Line>>,
    /// What the caller may do.
    pub(crate) standing: Standing,
    /// The method.
    pub(crate) called: Called,
    /// The address that the request came from.
    pub(crate) peer: Arc<str>,
    /// Where it is written who has called what.
    pub(crate) audit: Audit,
}

impl Asking {
    /// Whether the caller may call the method with this request.
    ///
    /// # Errors
    ///
    /// `PERMISSION_DENIED`, and why.
    pub(crate) fn check(&self, request: &impl Names) -> Result<(), Refusal> {
        self.standing.allow(self.called.right, request)
    }

    /// The same at the begin of a call, which is noted for the audit log.
    ///
    /// # Errors
    ///
    /// As [`Self::check`].
    pub(crate) fn enter(&self, request: &impl Names) -> Result<Option<Noted>, Refusal> {
        let checked = self.check(request);
        checked.inspect_err(|refusal| self.denied(Some(request), refusal))?;
        Ok(self.audit.noted(self.call(), request))
    }

    /// The same at the end of a call, with its answer. What only the state could tell to be another's is refused by then.
    pub(crate) fn left<A: Revised>(&self, noted: Option<Noted>, answer: &Result<A, Refusal>) {
        match noted {
            Some(noted) => noted.end(answer),
            None => drop(self.told(answer.as_ref().map(drop).map_err(Clone::clone))),
        }
    }

    /// An answer, after it was written to the audit log if it is a refusal for who calls.
    pub(crate) fn told<T>(&self, answer: Result<T, Refusal>) -> Result<T, Refusal> {
        answer.inspect_err(|refusal| {
            if refusal.kind == ErrorKind::PermissionDenied {
                self.denied(None, refusal);
            }
        })
    }

    /// Writes to the audit log that the call was refused for who calls.
    pub(crate) fn denied(&self, request: Option<&dyn Names>, refusal: &Refusal) {
        self.audit.denied(self.call(), request, refusal);
    }

    fn call(&self) -> Call<'_> {
        Call {
            trace: &self.trace,
            peer: &self.peer,
            standing: &self.standing,
            called: self.called,
        }
    }
}

/// A change that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The store's revision right after it.
    pub revision: Revision,
    /// Whether the change changed anything.
    pub changed: bool,
    /// The answer of the command.
    pub answer: Answer,
}

/// A change that was executed, or tried in a dry run, with the state after it.
pub(crate) struct Carried {
    pub(crate) done: Done,
    /// The state as of the change or later.
    state: State,
}

impl Carried {
    /// The state right after the change; `None` if that revision is no longer kept, as when this answers a retry.
    pub(crate) fn past(&self) -> Option<Past<'_>> {
        self.state.at(self.done.revision).ok()
    }

    /// An object right after the change.
    ///
    /// # Errors
    ///
    /// When that revision is no longer kept.
    pub(crate) fn object(&self, key: &ObjectKey) -> Result<Option<Arc<Object>>, OutOfReach> {
        self.state.object_at(key, self.done.revision)
    }

    /// An object right before the change, if it existed and that revision is still kept.
    pub(crate) fn object_before(&self, key: &ObjectKey) -> Option<Arc<Object>> {
        let before = self.done.revision.get().checked_sub(1)?;
        self.state.object_at(key, Revision::new(before)).ok()?
    }

    /// A ControllerRevision right after the change, if it exists and that revision is still kept.
    pub(crate) fn controller_revision(
        &self,
        key: &NamespacedName,
    ) -> Option<Arc<ControllerRevision>> {
        self.state
            .controller_revision_at(key, self.done.revision)
            .ok()?
    }
}

impl Handle {
    pub(crate) fn new(
        consensus: &Consensus,
        proposer: &Proposer,
        reader: Reader,
        watches: Watches,
        lease_waits: LeaseWaits,
        guards: &Guards,
        itself: Itself,
    ) -> Self {
        Self {
            shared: Arc::new(HandleParts {
                consensus: consensus.clone(),
                proposer: proposer.clone(),
                reader,
                watches,
                lease_waits,
                guards: guards.clone(),
                itself,
            }),
        }
    }

    /// Executes a change: the command that `command` makes of its body.
    ///
    /// # Errors
    ///
    /// The rule that refused it, or why it was not executed, or `UNKNOWN_OUTCOME`.
    pub async fn change<T>(
        &self,
        asking: &Asking,
        change: Change<T>,
        command: impl FnOnce(T) -> Command,
    ) -> Result<Done, Refusal> {
        change.check_cluster(self.cluster()?)?;
        // Here, since in the log it would stop the replicas that cannot read it. The version in force only rises.
        let published = self.shared.consensus.published();
        let command = command(change.body).as_known_to(published.state.machine_version());
        published.state.check_machine_version(&command)?;
        drop(published);
        if matches!(
            command,
            Command::Report(_) | Command::ObserveStorage(_) | Command::CreateCollection(_)
        ) {
            self.check_topics(asking, change.key, &command).await?;
        }
        let envelope = Envelope {
            actor: asking.standing.actor(),
            request: change.key,
            command: Arc::new(command),
        };
        let trace = Arc::clone(&asking.trace);
        let outcome = self
            .shared
            .proposer
            .execute(&envelope, asking.deadline, trace, &asking.span)
            .await?;
        asking.span.count(REVISION, outcome.revision.get());
        let answer = outcome.result?;
        Ok(Done {
            revision: outcome.revision,
            changed: outcome.changed,
            answer,
        })
    }

    /// Refuses what names a topic too early. Checked here alone, since apply does with it what a replica of an older version
    /// does. What was executed already is answered with its outcome.
    async fn check_topics(
        &self,
        asking: &Asking,
        request: Option<RequestId>,
        command: &Command,
    ) -> Result<(), Refusal> {
        let check = |state: &State| match state.may_have_executed(request) {
            true => Ok(()),
            false => state.check_topics(command),
        };
        let present = self.shared.consensus.published();
        if check(&present.state).is_ok() {
            return Ok(());
        }
        // The version may be in force, or the request executed, and only this replica does not know it yet.
        let newest = match self.read(asking, Consistency::Linearizable).await {
            Ok(reading) => Arc::clone(reading.published()),
            Err(_) => present,
        };
        check(&newest.state)
    }

    /// Executes a change, or with `dry_run` finds out what it would do, by a linearizable read and by apply on a clone.
    /// Every check runs; nothing is logged, and the outcome is not kept.
    ///
    /// # Errors
    ///
    /// As [`Self::change`] and, for a dry run, [`Self::read`].
    pub(crate) async fn carry_out<T>(
        &self,
        asking: &Asking,
        change: Change<T>,
        dry_run: bool,
        command: impl FnOnce(T) -> Command,
    ) -> Result<Carried, Refusal> {
        if !dry_run {
            let done = self.change(asking, change, command).await?;
            // An entry's effects are published before it is answered, so this state includes the change.
            let state = self.shared.consensus.published().state.clone();
            return Ok(Carried { done, state });
        }
        change.check_cluster(self.cluster()?)?;
        let reading = self.read(asking, Consistency::Linearizable).await?;
        let mut state = reading.published().state.clone();
        let command = command(change.body);
        state.check_topics(&command)?;
        let entry = LogEntry {
            log_time: state.log_time(),
            lift_deadlines: false,
            wall: self.shared.itself.wall.now(),
            commands: vec![Envelope {
                actor: asking.standing.actor(),
                request: None,
                command: Arc::new(command),
            }],
        };
        let outcomes = state.apply(&entry).outcomes;
        let outcome = outcomes.into_iter().next();
        let outcome = outcome.expect("apply answers every command");
        let done = Done {
            revision: outcome.revision,
            changed: outcome.changed,
            answer: outcome.result?,
        };
        Ok(Carried { done, state })
    }

    /// A state from which to answer a read.
    ///
    /// # Errors
    ///
    /// See [`Reader::read`]; and `UNAVAILABLE` while the cluster is being formed.
    pub async fn read(
        &self,
        asking: &Asking,
        consistency: Consistency,
    ) -> Result<Reading, Refusal> {
        let proved = match consistency {
            Consistency::Linearizable => asking.span.part(traces::READ_INDEX),
            Consistency::AtRevision(_) | Consistency::Relaxed { .. } => Span::default(),
        };
        let reading = self
            .shared
            .reader
            .read(consistency, asking.deadline)
            .await?;
        drop(proved);
        asking.span.count(REVISION, reading.revision().get());
        // Answers count only once they are made, so reads that waited together check for room again.
        if let Some(line) = &asking.line {
            line.unsent().room(asking.deadline).await?;
        }
        match reading.published().state.cluster() {
            Some(_) => Ok(reading),
            None => Err(not_formed()),
        }
    }

    /// The leader that a quorum has confirmed after this call.
    ///
    /// # Errors
    ///
    /// See [`Reader::read`].
    pub(crate) async fn leader(&self, asking: &Asking) -> Result<ReplicaId, Refusal> {
        let confirmed = self.shared.reader.confirm_leader(asking.deadline).await?;
        Ok(confirmed.leader)
    }

    /// The metrics of reads.
    pub(crate) fn read_metrics(&self) -> &ReadMetrics {
        self.shared.reader.metrics()
    }

    /// Opens a watch.
    ///
    /// # Errors
    ///
    /// See [`Watches`]; and `UNAVAILABLE` while the cluster is being formed.
    pub(crate) async fn watch(
        &self,
        asking: &Asking,
        start: WatchStart,
    ) -> Result<Cursor, Refusal> {
        self.cluster()?;
        let shows_callers = asking.standing.may_operate();
        let watches = &self.shared.watches;
        watches.open(start, shows_callers, asking.deadline).await
    }

    /// The calls that wait at this replica for a lease.
    pub(crate) fn lease_waits(&self) -> &LeaseWaits {
        &self.shared.lease_waits
    }

    /// The identity of the cluster.
    ///
    /// # Errors
    ///
    /// `UNAVAILABLE` while the cluster is being formed.
    pub fn cluster(&self) -> Result<ClusterId, Refusal> {
        self.shared
            .consensus
            .published()
            .state
            .cluster()
            .copied()
            .ok_or_else(not_formed)
    }

    /// The header of the answer to a change.
    #[must_use]
    pub fn header(&self, revision: Revision) -> v1::ResponseHeader {
        let cluster = self
            .shared
            .consensus
            .published()
            .state
            .cluster()
            .map(ToString::to_string);
        v1::ResponseHeader {
            cluster_id: cluster.unwrap_or_default(),
            replica_id: self.replica().get(),
            revision: revision.get(),
            raft_term: self.shared.consensus.leadership().borrow().term.get(),
            age_ms: None,
        }
    }

    /// The header of an answer that has no revision of its own: this replica's is in it.
    #[must_use]
    pub fn header_now(&self) -> v1::ResponseHeader {
        self.header(self.shared.consensus.published().state.revision())
    }

    /// The header of the answer to a read.
    #[must_use]
    pub fn header_of(&self, reading: &Reading) -> v1::ResponseHeader {
        let millis = |age: Duration| u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        v1::ResponseHeader {
            age_ms: reading.age().map(millis),
            ..self.header(reading.revision())
        }
    }

    /// Adds the leader's id and endpoint to a refusal if another replica may be able to do what was asked.
    #[must_use]
    pub fn with_hint(&self, refusal: Refusal) -> Refusal {
        let helps = matches!(
            refusal.kind,
            ErrorKind::Unavailable
                | ErrorKind::Overloaded
                | ErrorKind::UnknownOutcome
                | ErrorKind::DeadlineExceeded
        );
        let leader = self.shared.consensus.leadership().borrow().leader;
        let Some(leader) = leader.filter(|_| helps) else {
            return refusal;
        };
        let refusal = refusal.with(key::LEADER_ID, leader);
        match self.client_endpoint(leader) {
            Some(endpoint) => refusal.with(key::LEADER_ENDPOINT, endpoint),
            None => refusal,
        }
    }

    /// Where a replica serves clients, if it has announced that.
    fn client_endpoint(&self, replica: ReplicaId) -> Option<String> {
        let published = self.shared.consensus.published();
        let row = published.state.replicas().find(|(id, _)| *id == replica)?.1;
        Some(row.client_endpoint.clone()).filter(|endpoint| !endpoint.is_empty())
    }

    /// This replica.
    #[must_use]
    pub fn replica(&self) -> ReplicaId {
        self.shared.consensus.replica()
    }

    /// What is wrong with the certificates, the policy and the audit log of this replica, each as sentences for people.
    pub(crate) fn guard_alarms(&self) -> [Vec<String>; 3] {
        self.shared.guards.alarms(self.shared.itself.wall.now())
    }

    /// What this replica tells of itself.
    pub(crate) fn itself(&self) -> &Itself {
        &self.shared.itself
    }

    /// The wall-clock time, for display.
    pub(crate) fn wall_time(&self) -> WallTime {
        self.shared.itself.wall.now()
    }

    /// The consensus of this replica.
    #[must_use]
    pub fn consensus(&self) -> &Consensus {
        &self.shared.consensus
    }
}

fn not_formed() -> Refusal {
    let message =
        "the cluster is being formed: its replicas have not all met yet; try again in a moment";
    Refusal::new(ErrorKind::Unavailable, message)
}
