//! A cluster of one replica and its API servers, with methods that make scenarios readable.

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{
    Answer, Applied, Command, Envelope, Expire, Holder, Initialize, LogEntry, Outcome,
    ReportedResource, Row, State, StateStatus, StorageVersionView,
};
use synod_model::{
    BinaryVersion, ClaimMigration, ClaimToken, ClusterId, CompleteMigration, ContinueToken,
    Endpoint, Epoch, ErrorKind, FailMigration, FailureClass, FailureReason, InstanceId, Join, Kind,
    Labels, Leave, LogTime, MarkReady, MemberId, Migration, MigrationId, MigrationProgress,
    ObserveStorage, OpenSession, Refusal, Renew, ReportMigrationProgress, RequestId, Revision,
    SessionId, Settings, SettingsPatch, Ttl, UpdateSettings, WallTime, WorkerName,
};

pub(crate) use crate::entry::hash;
use crate::entry::{Says, resource};
pub(crate) use crate::said::{forget, number, request};
use crate::said::{next, nothing_is_said, numbered_adopt, numbered_report};
use crate::stored;

/// The TTL of every server that asks for no other.
pub(crate) const TTL: Duration = Duration::from_secs(15);

const LEGAL: &str = "the story uses legal names and numbers";

/// The replica.
pub(crate) struct Cluster {
    pub(crate) state: State,
    now: LogTime,
    /// Whether the next entry lifts every deadline, as the first of a term does.
    lift: bool,
    /// By how much the leader's wall clock is ahead.
    ahead: Duration,
}

/// The envelope of a command that nobody in particular sends.
fn envelope(request: Option<RequestId>, command: Command) -> Envelope {
    Envelope {
        request,
        command: Arc::new(command),
        actor: None,
    }
}

/// An API server that has joined, by the epoch that it holds.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) id: MemberId,
    pub(crate) instance: String,
    pub(crate) epoch: Epoch,
}

impl Cluster {
    /// A cluster with default settings.
    pub(crate) fn formed() -> Self {
        nothing_is_said();
        let mut cluster = Self {
            state: State::new(),
            now: LogTime::ZERO,
            lift: true,
            ahead: Duration::ZERO,
        };
        let outcome = cluster.send(Command::Initialize(Initialize {
            cluster: ClusterId::from_bytes([1; 16]),
            settings: Settings::default(),
        }));
        assert_eq!(outcome.revision, Revision::new(1));
        cluster
    }

    /// A cluster with some settings changed.
    pub(crate) fn with(patch: SettingsPatch) -> Self {
        let mut cluster = Self::formed();
        cluster.set(patch);
        cluster
    }

    pub(crate) fn set(&mut self, patch: SettingsPatch) {
        let update = UpdateSettings {
            patch,
            if_revision: None,
        };
        accepted(self.send(Command::UpdateSettings(update)));
    }

    /// Applies one command in an entry of its own.
    pub(crate) fn send(&mut self, command: Command) -> Outcome {
        self.send_all(vec![command]).outcomes.remove(0)
    }

    /// Applies commands in one entry.
    pub(crate) fn send_all(&mut self, commands: Vec<Command>) -> Applied {
        let envelopes = commands.into_iter();
        self.apply(envelopes.map(|command| envelope(None, command)).collect())
    }

    /// Applies one command as the request of a session.
    pub(crate) fn send_as(&mut self, request: RequestId, command: Command) -> Outcome {
        let envelopes = vec![envelope(Some(request), command)];
        self.apply(envelopes).outcomes.remove(0)
    }

    pub(crate) fn apply(&mut self, commands: Vec<Envelope>) -> Applied {
        let entry = LogEntry {
            log_time: self.now,
            lift_deadlines: std::mem::take(&mut self.lift),
            wall: self.wall(),
            commands,
        };
        let applied = self.state.apply(&stored::read_back(&entry));
        stored::check(&applied);
        for row in self.state.rows() {
            stored::read_back(&row);
        }
        assert_eq!(self.state.digest(), self.state.recompute_digest());
        applied
    }

    /// The leader's wall clock: it moves with log time, from a fixed day on.
    pub(crate) fn wall(&self) -> WallTime {
        WallTime::from_millis(1_800_000_000_000 + self.now.after(self.ahead).as_millis())
    }

    /// The leader has a clock that is ahead by so much.
    pub(crate) fn clock_is_ahead(&mut self, span: Duration) {
        self.ahead = span;
    }

    pub(crate) fn now(&self) -> LogTime {
        self.now
    }

    pub(crate) fn revision(&self) -> Revision {
        self.state.revision()
    }

    /// Log time passes. The next entry is stamped with it.
    pub(crate) fn pass(&mut self, span: Duration) {
        self.now = self.now.after(span);
    }

    /// The next entry is the first of a new leader.
    pub(crate) fn elect(&mut self) {
        self.lift = true;
    }

    /// A checkpoint is written, and a replica starts from it.
    pub(crate) fn restart_from_checkpoint(&mut self) {
        let rows: Vec<Row> = self.state.rows().collect();
        self.state = State::from_rows(rows).expect("a state can be loaded from its own rows");
    }

    /// A server joins for the first time, or after it has gone.
    pub(crate) fn joins(&mut self, id: &str) -> Server {
        self.join(id, &format!("{id}-first"))
    }

    /// Another process joins under the id of a server, and replaces it.
    pub(crate) fn restarts(&mut self, server: &Server) -> Server {
        let instance = format!("{}-again", server.instance);
        self.join(server.id.as_str(), &instance)
    }

    pub(crate) fn join(&mut self, id: &str, instance: &str) -> Server {
        let join = join(id, instance);
        match accepted(self.send(Command::Join(join))) {
            Answer::Joined { epoch, .. } => Server {
                id: MemberId::parse(id).expect(LEGAL),
                instance: instance.to_owned(),
                epoch,
            },
            other => panic!("a join answers the epoch, not {other:?}"),
        }
    }

    pub(crate) fn renews(&mut self, server: &Server) {
        accepted(self.send(renew(server)));
    }

    /// Every one of these servers renews.
    pub(crate) fn renew_all(&mut self, servers: &[&Server]) {
        for server in servers {
            self.renews(server);
        }
    }

    /// The server reports these resources, and keeps its other entries.
    pub(crate) fn reports(&mut self, server: &Server, says: &[Says]) -> Vec<ReportedResource> {
        match accepted(self.send(report(server, says, false))) {
            Answer::Reported(told) => told,
            other => panic!("a report answers what is told, not {other:?}"),
        }
    }

    /// The server reports these resources and drops all others.
    pub(crate) fn reports_only(&mut self, server: &Server, says: &[Says]) {
        accepted(self.send(report(server, says, true)));
    }

    /// The server joins and reports, as a starting server does.
    pub(crate) fn starts(&mut self, id: &str, says: &[Says]) -> Server {
        let server = self.joins(id);
        self.reports(&server, says);
        server
    }

    /// The server is stopped, and another process with these resources starts in its place.
    pub(crate) fn is_replaced(&mut self, server: &Server, says: &[Says]) -> Server {
        let server = self.restarts(server);
        self.reports(&server, says);
        server
    }

    /// The server adopts what is selected for the resource now.
    pub(crate) fn adopts(&mut self, server: &Server, name: &str) {
        let selected_revision = self.kept(name).selected_revision;
        accepted(self.send(adopt(server, name, selected_revision)));
    }

    pub(crate) fn leaves(&mut self, server: &Server) {
        accepted(self.send(leave(server, false)));
    }

    pub(crate) fn leaves_drained(&mut self, server: &Server) {
        accepted(self.send(leave(server, true)));
    }

    /// The leader proposes everything past its deadline.
    pub(crate) fn expires(&mut self) -> Outcome {
        let due = self.due();
        self.send(Command::Expire(due))
    }

    /// The expiry that a leader would propose now.
    pub(crate) fn due(&self) -> Expire {
        let mut expire = Expire::default();
        let epoch_of = |id: &MemberId| {
            let member = self.state.present().member(id);
            member.expect("a deadline is a member's").epoch
        };
        for holder in self.state.due(self.now, usize::MAX).holders {
            match holder {
                Holder::Member(id) => expire.members.insert((id.clone(), epoch_of(&id))),
                Holder::Unreported(id) => expire.unreported.insert((id.clone(), epoch_of(&id))),
                Holder::Session(id) => expire.sessions.insert(id),
                Holder::Lease(key) => {
                    let lease = self.state.present().lease(&key);
                    let lease = lease.expect("a deadline is a lease's");
                    let seen = lease.metadata.resource_version;
                    expire.leases.insert((key, seen))
                }
                other @ (Holder::LeaseWaiter(..) | Holder::LeaseCandidate(..)) => {
                    panic!("no story here has queues for leases, but {other:?}")
                }
                Holder::Object(key) => expire.objects.insert(key),
                Holder::Retry(id) => expire.retries.insert(id),
                Holder::Observation(resource) => expire.observations.insert(resource),
                Holder::Look(resource, observer) => expire.looks.insert((resource, observer)),
                Holder::Topic(resource) => expire.topics.insert(resource),
                Holder::Mark(key, mark) => expire.marks.insert((key, mark)),
                Holder::Claim(id) => {
                    let claim = self.migration(&id).claim;
                    let claim = claim.expect("a deadline is a claim's");
                    expire.claims.insert((id, claim.token))
                }
            };
        }
        expire
    }

    pub(crate) fn opens_session(&mut self) -> SessionId {
        match accepted(self.send(Command::OpenSession(OpenSession {}))) {
            Answer::SessionOpened(id) => id,
            other => panic!("opening a session answers its id, not {other:?}"),
        }
    }

    /// The StorageVersion, if any member reports the resource.
    pub(crate) fn version(&self, name: &str) -> Option<StorageVersionView> {
        self.state.present().storage_version(&resource(name))
    }

    /// The storage state of the resource.
    pub(crate) fn kept(&self, name: &str) -> StateStatus {
        let state = self.state.present().storage_state(&resource(name));
        state
            .expect("the resource was reported once")
            .row
            .status
            .clone()
    }

    pub(crate) fn selected(&self, name: &str) -> Option<String> {
        self.kept(name).selected.map(|version| version.to_string())
    }

    pub(crate) fn common(&self, name: &str) -> Option<String> {
        self.kept(name).common.map(|version| version.to_string())
    }

    pub(crate) fn agreed(&self, name: &str) -> Option<String> {
        self.kept(name).agreed.map(|version| version.to_string())
    }

    /// What the server's entry encodes.
    pub(crate) fn encoding(&self, server: &Server, name: &str) -> Option<String> {
        let version = self.version(name).expect("somebody reports the resource");
        let entry = version.entry(&server.id).expect("the server reports it");
        entry.encoding.as_ref().map(ToString::to_string)
    }

    /// The drains of the resource: by version, the log time at which each ends.
    pub(crate) fn drains(&self, name: &str) -> Vec<(String, LogTime)> {
        let drains = self.kept(name).drains;
        let drains = drains.iter();
        drains
            .map(|(version, until)| (version.to_string(), *until))
            .collect()
    }

    pub(crate) fn migration(&self, id: &MigrationId) -> Migration {
        let migration = self.state.present().migration(id);
        (*migration.expect("the migration is remembered")).clone()
    }

    /// The migrations of a resource, the oldest first.
    pub(crate) fn migrations(&self, name: &str) -> Vec<Migration> {
        let resource = resource(name);
        let all = self.state.migrations_of(&resource);
        all.map(|migration| (**migration).clone()).collect()
    }

    /// The one pending or running migration of the resource.
    pub(crate) fn open(&self, name: &str) -> Migration {
        let mut open = self.migrations(name);
        open.retain(Migration::is_open);
        assert_eq!(open.len(), 1, "one migration of {name} is open");
        open.remove(0)
    }

    /// A worker claims the resource's migration, once nothing can land any more that was written before anybody spoke.
    pub(crate) fn claims(&mut self, name: &str, worker: &str) -> Work {
        self.lets_unknown_writes_land(name);
        let id = self.open(name).id;
        match accepted(self.send(claim(&id, worker))) {
            Answer::MigrationClaimed { token, progress } => Work {
                id,
                token,
                progress,
            },
            other => panic!("a claim answers its token, not {other:?}"),
        }
    }

    /// A worker claims and completes the resource's migration.
    pub(crate) fn migrates(&mut self, name: &str) {
        let work = self.claims(name, "worker");
        accepted(self.send(complete(&work)));
    }

    /// The known versions in which objects may be stored, sorted.
    pub(crate) fn persisted(&self, name: &str) -> Vec<String> {
        let persisted = self.kept(name).persisted;
        let mut known: Vec<String> = persisted.iter().map(ToString::to_string).collect();
        known.sort();
        known
    }
}

/// A migration that a worker has claimed.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) id: MigrationId,
    pub(crate) token: ClaimToken,
    /// The progress of the worker before.
    pub(crate) progress: MigrationProgress,
}

pub(crate) fn claim(id: &MigrationId, worker: &str) -> Command {
    Command::ClaimMigration(ClaimMigration {
        id: id.clone(),
        worker: WorkerName::parse(worker).expect(LEGAL),
        ttl: Ttl::DEFAULT,
        fenced: false,
        walks: None,
    })
}

pub(crate) fn progress(work: &Work, done: u64) -> Command {
    Command::ReportMigrationProgress(ReportMigrationProgress {
        id: work.id.clone(),
        token: work.token,
        progress: MigrationProgress {
            done,
            estimate: Some(1_000),
            continue_token: ContinueToken::parse(&format!("after-{done}")).ok(),
        },
    })
}

pub(crate) fn complete(work: &Work) -> Command {
    Command::CompleteMigration(CompleteMigration {
        id: work.id.clone(),
        token: work.token,
    })
}

pub(crate) fn fail(work: &Work, class: FailureClass) -> Command {
    Command::FailMigration(FailMigration {
        id: work.id.clone(),
        token: work.token,
        class,
        reason: FailureReason::parse("the store said no").expect(LEGAL),
        stop: None,
    })
}

/// The answer of a command that no rule refused.
pub(crate) fn accepted(outcome: Outcome) -> Answer {
    match outcome.result {
        Ok(answer) => answer,
        Err(refusal) => panic!("refused: {refusal}"),
    }
}

/// The refusal of a command that was refused with this kind, and changed nothing.
pub(crate) fn refused(outcome: Outcome, kind: ErrorKind) -> Refusal {
    assert!(!outcome.changed, "a refused command changes nothing");
    let refusal = outcome.result.expect_err("a rule should say no");
    assert_eq!(refusal.kind, kind, "{refusal}");
    refusal
}

pub(crate) fn join(id: &str, instance: &str) -> Join {
    Join {
        id: MemberId::parse(id).expect(LEGAL),
        instance: InstanceId::parse(instance).expect(LEGAL),
        ttl: Ttl::DEFAULT,
        labels: Labels::default(),
        version: BinaryVersion::default(),
        endpoint: Endpoint::default(),
        lost_epoch: None,
        gated: true,
    }
}

pub(crate) fn renew(server: &Server) -> Command {
    Command::Renew(Renew {
        member: server.id.clone(),
        epoch: server.epoch,
    })
}

pub(crate) fn ready(server: &Server) -> Command {
    Command::MarkReady(MarkReady {
        member: server.id.clone(),
        epoch: server.epoch,
    })
}

pub(crate) fn leave(server: &Server, drained: bool) -> Command {
    Command::Leave(Leave {
        member: server.id.clone(),
        epoch: server.epoch,
        drained,
        instance: Some(InstanceId::parse(&server.instance).expect(LEGAL)),
        stopped: false,
    })
}

/// A report with the next number.
pub(crate) fn report(server: &Server, says: &[Says], replace: bool) -> Command {
    numbered_report(server, next(server), says, replace)
}

pub(crate) fn adopt(server: &Server, name: &str, selected_revision: Revision) -> Command {
    numbered_adopt(server, next(server), name, selected_revision)
}

impl Cluster {
    /// Discovery shows the hashes of these versions of the resource.
    pub(crate) fn observes(&mut self, name: &str, versions: &[&str]) {
        accepted(self.send(observe(name, versions)));
    }
}

pub(crate) fn observe(name: &str, versions: &[&str]) -> Command {
    let shown = versions.iter().map(|version| hash(version)).collect();
    Command::ObserveStorage(ObserveStorage {
        kind: Kind::parse("Widget").ok(),
        ..ObserveStorage::unnamed(resource(name), shown)
    })
}
