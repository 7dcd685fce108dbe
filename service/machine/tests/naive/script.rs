//! Turns calls into log entries, with the epochs, sessions and revisions that callers learn.

pub(crate) mod entries;
mod looks;
mod members;
mod migrating;
mod objects;
mod plain;
mod rosters;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use entries::{BEGIN_WALL_MS, instance_id, member, name, resource, sequence, version};
use members::{behind, stay};
use plain::announce;
use synod_machine::{
    Answer, Applied, Command, Envelope, Expire, Holder, Initialize, LogEntry, RaiseMachineVersion,
    ReplicaId, Restore, State,
};
use synod_model::{
    AddEquivalents, BinaryVersion, ClaimToken, CloseSession, ClusterId, Endpoint, Epoch,
    ForgetResource, Join, Labels, LogTime, MemberId, OpenSession, RemoveEquivalent, RequestId,
    ResetStorageStates, Revision, Sequence, SessionId, Settings, SettingsPatch, StatementNumber,
    Ttl, UpdateSettings, WallTime,
};

use crate::calls::{
    As, Call, Does, KEYS, Keeps, MEMBERS, NAMES, Named, RESOURCES, Rules, Setting, Step, What,
    Which,
};

const LEGAL: &str = "every name and number here is legal";

/// What the callers have learned.
pub(crate) struct Script {
    time: LogTime,
    wall: u64,
    epochs: BTreeMap<MemberId, BTreeSet<Epoch>>,
    sessions: Vec<SessionId>,
    sequences: BTreeMap<SessionId, Sequence>,
    selections: BTreeSet<Revision>,
    /// Every request that was sent, for repetitions.
    sent: Vec<Envelope>,
    /// The number of the last statement of a member under an epoch.
    numbers: BTreeMap<(MemberId, Epoch), StatementNumber>,
    /// All statements of members.
    said: Vec<Command>,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self {
            time: LogTime::ZERO,
            wall: BEGIN_WALL_MS,
            epochs: BTreeMap::new(),
            sessions: Vec::new(),
            sequences: BTreeMap::new(),
            selections: BTreeSet::new(),
            sent: Vec::new(),
            numbers: BTreeMap::new(),
            said: Vec::new(),
        }
    }

    /// The entry with which most logs begin: a cluster, sessions, and members that have joined.
    pub(crate) fn opening(&mut self) -> LogEntry {
        let joins = (0..MEMBERS).map(|who| What::Join {
            who,
            instance: 0,
            ttl: who % 3,
            release: 0,
            lost: None,
        });
        let whats = [What::Initialize, What::OpenSession, What::OpenSession];
        let calls = whats.into_iter().chain(joins).map(|what| Call {
            what,
            as_request: None,
        });
        let step = Step {
            after_ms: 5,
            lift: true,
            renewals: 0,
            adopts: false,
            work: None,
            calls: calls.collect(),
            reversed: false,
        };
        self.entry(&step, &State::new())
    }

    /// The second entry of logs of objects: both collections.
    pub(crate) fn shelves(&mut self) -> LogEntry {
        let declare = |resource| {
            What::Keeps(Keeps::Declare {
                resource,
                rules: Rules {
                    strict: false,
                    creates: resource == 0,
                    unconditional: true,
                    status: false,
                },
            })
        };
        let step = Step {
            after_ms: 5,
            lift: false,
            renewals: 0,
            adopts: false,
            work: None,
            calls: (0..2)
                .map(declare)
                .map(|what| Call {
                    what,
                    as_request: None,
                })
                .collect(),
            reversed: false,
        };
        self.entry(&step, &State::new())
    }

    pub(crate) fn entry(&mut self, step: &Step, state: &State) -> LogEntry {
        let now = i64::try_from(self.time.as_millis()).expect("these logs are short");
        let now = u64::try_from(now + step.after_ms).unwrap_or(0);
        let now = LogTime::from_millis(now);
        self.time = self.time.max(now);
        self.wall += 17;
        let renewals = (0..MEMBERS)
            .filter(|who| step.renewals & (1 << who) != 0)
            .map(|who| Call {
                what: stay(who, state),
                as_request: None,
            });
        let behind = behind(state).filter(|_| step.adopts);
        let adopts = behind.map(|(who, resource)| Call {
            what: What::Member {
                who,
                epoch: Which::Present,
                does: Does::Adopt {
                    resource,
                    selection: Which::Present,
                },
            },
            as_request: None,
        });
        let work = step.work.iter().map(|does| Call {
            what: What::Migration {
                which: 0,
                claim: Which::Present,
                does: does.clone(),
            },
            as_request: None,
        });
        let calls: Vec<Call> = renewals
            .chain(adopts)
            .chain(work)
            .chain(step.calls.iter().cloned())
            .collect();
        let mut commands: Vec<Envelope> = calls
            .iter()
            .map(|call| self.envelope(call, state))
            .collect();
        if step.reversed {
            commands.reverse();
        }
        LogEntry {
            log_time: now,
            lift_deadlines: step.lift,
            // The clock of the leader of a new term is behind that of the others.
            wall: WallTime::from_millis(self.wall - u64::from(step.lift) * 90_000),
            commands,
        }
    }

    /// Learns from the answers.
    pub(crate) fn learn(&mut self, entry: &LogEntry, applied: &Applied, state: &State) {
        for (envelope, outcome) in entry.commands.iter().zip(&applied.outcomes) {
            match (&*envelope.command, &outcome.result) {
                (Command::Join(join), Ok(Answer::Joined { epoch, .. })) => {
                    self.epochs
                        .entry(join.id.clone())
                        .or_default()
                        .insert(*epoch);
                }
                (_, Ok(Answer::SessionOpened(id))) => self.sessions.push(*id),
                (Command::Report(_), Ok(Answer::Reported(told))) => {
                    let revisions = told.iter().map(|told| told.selected_revision);
                    self.selections.extend(revisions);
                }
                _ => {}
            }
        }
        for kept in state.present().storage_states(None) {
            self.selections.insert(kept.row.status.selected_revision);
        }
    }

    fn envelope(&mut self, call: &Call, state: &State) -> Envelope {
        let envelope = match call.as_request {
            None => return self.fresh(call, state, None),
            Some(As::Again(which)) => {
                return match self.sent.len() {
                    0 => self.fresh(call, state, None),
                    sent => self.sent[which % sent].clone(),
                };
            }
            Some(As::OfNoSession) => self.fresh(
                call,
                state,
                Some(RequestId {
                    session: SessionId::new(Revision::new(1)),
                    sequence: Sequence::FIRST,
                    lowest_unanswered: Sequence::FIRST,
                }),
            ),
            Some(As::Next {
                session,
                unanswered,
            }) => match self.sessions.len() {
                0 => return self.fresh(call, state, None),
                sessions => {
                    let session = self.sessions[sessions - 1 - session % sessions.min(3)];
                    let last = self.sequences.get(&session).map_or(0, |last| last.get());
                    let lowest = (last + 1).saturating_sub(unanswered).max(1);
                    self.fresh(
                        call,
                        state,
                        Some(RequestId {
                            session,
                            sequence: sequence(last + 1),
                            lowest_unanswered: sequence(lowest),
                        }),
                    )
                }
            },
        };
        if let Some(request) = envelope.request {
            self.sequences.insert(request.session, request.sequence);
        }
        self.sent.push(envelope.clone());
        envelope
    }

    fn fresh(&mut self, call: &Call, state: &State, request: Option<RequestId>) -> Envelope {
        let command = self.command(&call.what, state);
        Envelope {
            actor: None,
            request,
            // As the leader proposes it.
            command: Arc::new(command.as_known_to(state.machine_version())),
        }
    }

    fn command(&mut self, what: &What, state: &State) -> Command {
        match what {
            What::Initialize => initialize(),
            What::Restore(cluster) => Command::Restore(Restore {
                cluster: ClusterId::from_bytes([*cluster; 16]),
            }),
            What::Announce {
                replica,
                machine_version,
            } => announce(*replica, *machine_version),
            What::Raise(to) => Command::RaiseMachineVersion(RaiseMachineVersion {
                to: *to,
                replicas: [1, 2, 3].map(ReplicaId::new).into(),
            }),
            What::OpenSession => Command::OpenSession(OpenSession {}),
            What::CloseSession(which) => Command::CloseSession(CloseSession {
                session: self.session(*which),
            }),
            What::Join {
                who,
                instance,
                ttl,
                release,
                lost,
            } => self.join(*who, *instance, *ttl, *release, *lost),
            What::Member { who, epoch, does } => {
                let epoch = self.epoch(*who, *epoch);
                let command = self.member_command(*who, epoch, does, state);
                if matches!(command, Command::Report(_) | Command::Adopt(_)) {
                    self.said.push(command.clone());
                }
                command
            }
            What::Late(back) => {
                let late = self.said.iter().rev().nth(*back);
                late.cloned()
                    .unwrap_or_else(|| Command::OpenSession(OpenSession {}))
            }
            What::Forget { resource, expects } => forget(*resource, *expects, state),
            What::Expire(named) => Command::Expire(self.expire(*named, state)),
            What::Keeps(keeps) => self.keeps(keeps, state),
            What::Start {
                resource,
                rewrite_all,
                alias,
            } => migrating::start(*resource, *rewrite_all, *alias),
            What::Migration { which, claim, does } => {
                migrating::work(migrating::migration(*which, state), *claim, does, state)
            }
            What::Observe(look) => looks::look(look, state),
            What::Roster(roll) => rosters::roll(roll, state),
            What::Reset(of) => Command::ResetStorageStates(ResetStorageStates {
                resource: of.map(resource),
            }),
            What::Unite(bits) => unite(*bits),
            What::Part(which) => part(*which),
            What::Settings { setting, expects } => Command::UpdateSettings(UpdateSettings {
                patch: patch(setting),
                if_revision: expects.map(|right| match right {
                    true => state.settings().revision,
                    false => state.settings().revision.next(),
                }),
            }),
        }
    }

    /// A member joins, and may name the epoch that it has lost.
    fn join(
        &self,
        who: usize,
        instance: usize,
        ttl: usize,
        release: usize,
        lost: Option<Which>,
    ) -> Command {
        Command::Join(Join {
            id: member(who),
            instance: instance_id(instance),
            ttl: Ttl::from_millis([1_000, 15_000, 60_000][ttl]).expect(LEGAL),
            labels: Labels::parse([("release", format!("r{release}"))]).expect(LEGAL),
            version: BinaryVersion::parse(&format!("1.{release}")).expect(LEGAL),
            endpoint: Endpoint::default(),
            lost_epoch: lost.map(|which| self.epoch(who, which)),
            gated: !instance.is_multiple_of(3),
        })
    }

    fn session(&self, which: usize) -> SessionId {
        match self.sessions.len() {
            0 => SessionId::new(Revision::new(1)),
            sessions => self.sessions[which % sessions],
        }
    }

    fn epoch(&self, who: usize, which: Which) -> Epoch {
        let known = self.epochs.get(&member(who));
        let known: Vec<Epoch> = known.into_iter().flatten().copied().collect();
        let epoch = match which {
            Which::Present => known.last().copied(),
            Which::Earlier(back) => known.iter().rev().nth(back + 1).copied(),
            Which::Unheard => None,
        };
        epoch.unwrap_or(Epoch::new(Revision::new(1 << 60)))
    }

    fn selection(&self, of: usize, which: Which, state: &State) -> Revision {
        let present = state.present().storage_state(&resource(of));
        let selection = match which {
            Which::Present => present.map(|kept| kept.row.status.selected_revision),
            Which::Earlier(back) => self.selections.iter().rev().nth(back + 1).copied(),
            Which::Unheard => None,
        };
        selection.unwrap_or(Revision::new(1 << 60))
    }

    fn expire(&self, named: Named, state: &State) -> Expire {
        let mut expire = Expire::default();
        let due = state.due(self.time, 1_000).holders;
        let is_named = |holder: Holder| matches!(named, Named::All) || due.contains(&holder);
        for (id, epochs) in &self.epochs {
            let earlier = match named {
                Named::ByEarlierEpochs => 1,
                Named::Due | Named::All => 0,
            };
            for epoch in epochs.iter().rev().skip(earlier) {
                let named = (id.clone(), *epoch);
                if is_named(Holder::Member(id.clone())) {
                    expire.members.insert(named.clone());
                }
                if is_named(Holder::Unreported(id.clone())) {
                    expire.unreported.insert(named);
                }
            }
        }
        for migration in state.present().migrations(None) {
            let id = &migration.id;
            if is_named(Holder::Retry(id.clone())) {
                expire.retries.insert(id.clone());
            }
            if let Some(claim) = &migration.claim
                && is_named(Holder::Claim(id.clone()))
            {
                let token = match named {
                    Named::ByEarlierEpochs => ClaimToken::new(Revision::new(1)),
                    Named::Due | Named::All => claim.token,
                };
                expire.claims.insert((id.clone(), token));
            }
        }
        let sessions = self.sessions.iter().copied();
        expire.sessions = sessions
            .filter(|id| is_named(Holder::Session(*id)))
            .collect();
        let resources = (0..RESOURCES).map(resource);
        expire.observations = resources
            .filter(|of| is_named(Holder::Observation(of.clone())))
            .collect();
        let looks = (0..RESOURCES).flat_map(|of| looks::of_observers(resource(of)));
        expire.looks = looks
            .filter(|(of, by)| is_named(Holder::Look(of.clone(), by.clone())))
            .collect();
        let topics = (0..RESOURCES).map(resource);
        expire.topics = topics
            .filter(|of| is_named(Holder::Topic(of.clone())))
            .collect();
        let keys = (0..KEYS).map(objects::key);
        expire.objects = keys
            .filter(|key| is_named(Holder::Object(key.clone())))
            .collect();
        expire
    }
}

fn initialize() -> Command {
    Command::Initialize(Initialize {
        cluster: ClusterId::from_bytes([7; 16]),
        // Short enough to come up, and enforced for one of the resources.
        settings: Settings {
            unreported_grace: Duration::from_secs(8),
            write_grace: Duration::from_millis(1_500),
            discovery_period: Duration::from_secs(2),
            migrations_kept: 2,
            enforce_persisted: [resource(0)].into(),
            ..Settings::default()
        },
    })
}

/// With the revision of the last change as precondition, with another one, or with none.
fn forget(of: usize, expects: Option<bool>, state: &State) -> Command {
    let kept = state.present().storage_state(&resource(of));
    let present = kept.map_or(Revision::ZERO, |kept| kept.row.metadata.resource_version);
    Command::ForgetResource(ForgetResource {
        resource: resource(of),
        if_revision: expects.map(|right| if right { present } else { present.next() }),
    })
}

fn unite(bits: u8) -> Command {
    let named = (0..NAMES).filter(|i| bits & (1 << i) != 0);
    Command::AddEquivalents(AddEquivalents {
        resources: named.map(name).collect(),
    })
}

fn part(which: usize) -> Command {
    Command::RemoveEquivalent(RemoveEquivalent {
        resource: name(which),
    })
}

fn patch(setting: &Setting) -> SettingsPatch {
    let mut patch = SettingsPatch::default();
    match setting {
        Setting::HistoryRevisions(value) => patch.history_revisions = Some(*value),
        Setting::WriteGrace(ms) => patch.write_grace = Some(Duration::from_millis(*ms)),
        Setting::UnreportedGrace(ms) => patch.unreported_grace = Some(Duration::from_millis(*ms)),
        Setting::SessionTtl(ms) => patch.session_ttl = Some(Duration::from_millis(*ms)),
        Setting::SessionOutcomes(value) => patch.session_outcomes = Some(*value),
        Setting::SessionsMax(value) => patch.sessions_max = Some(*value),
        Setting::MembersMax(value) => patch.members_max = Some(*value),
        Setting::ReportEntriesMax(value) => patch.report_entries_max = Some(*value),
        Setting::AgreementsKept(value) => patch.agreements_kept = Some(*value),
        Setting::MigrationsKept(value) => patch.migrations_kept = Some(*value),
        Setting::DiscoveryPeriod(ms) => patch.discovery_period = Some(Duration::from_millis(*ms)),
        Setting::EnforcePersisted(bits) => {
            let named = (0..RESOURCES).filter(|i| bits & (1 << i) != 0);
            patch.enforce_persisted = Some(named.map(resource).collect());
        }
    }
    patch
}
