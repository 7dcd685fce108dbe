//! A cluster of one replica, and the callers that want leases of it.

use std::sync::Arc;

use synod_machine::{
    Answer, Command, Envelope, Expire, Holder, Initialize, LogEntry, Outcome, RevisionEvents, State,
};
use synod_model::{
    AcquireLease, BinaryVersion, ClusterId, Endpoint, Epoch, ErrorKind, FencingToken,
    HolderIdentity, InstanceId, Join, Labels, Lease, LeaseKey, Leave, LogTime, MemberId,
    PutLeaseCandidate, Refusal, ReleaseLease, RenewLease, RenewLeaseCandidate, RequestId,
    SemanticVersion, Settings, Strategy, Ticket, Ttl, WallTime, WithdrawLeaseCandidate,
};

use crate::stored;

/// The TTL of every lease and candidate that asks for no other, in milliseconds.
pub(crate) const TTL_MS: u64 = 15_000;

/// The replica.
pub(crate) struct Stage {
    pub(crate) state: State,
    /// All events so far.
    pub(crate) events: Vec<Arc<RevisionEvents>>,
    now_ms: u64,
    lift: bool,
}

impl Stage {
    pub(crate) fn formed() -> Self {
        let mut stage = Self {
            state: State::new(),
            events: Vec::new(),
            now_ms: 0,
            lift: true,
        };
        let initialize = Initialize {
            cluster: ClusterId::from_bytes([1; 16]),
            settings: Settings::default(),
        };
        stage.send(Command::Initialize(initialize));
        stage
    }

    /// Applies one command in an entry of its own.
    pub(crate) fn send(&mut self, command: Command) -> Outcome {
        self.send_as(None, command)
    }

    /// Applies one command as the request of a session.
    pub(crate) fn send_as(&mut self, request: Option<RequestId>, command: Command) -> Outcome {
        self.apply(request, vec![command]).remove(0)
    }

    /// Applies these commands in one entry.
    pub(crate) fn send_all(&mut self, commands: Vec<Command>) -> Vec<Outcome> {
        self.apply(None, commands)
    }

    fn apply(&mut self, request: Option<RequestId>, commands: Vec<Command>) -> Vec<Outcome> {
        let commands = commands.into_iter().map(|command| Envelope {
            actor: None,
            request,
            command: Arc::new(command),
        });
        let entry = LogEntry {
            log_time: LogTime::from_millis(self.now_ms),
            lift_deadlines: std::mem::take(&mut self.lift),
            wall: WallTime::from_millis(1_800_000_000_000 + self.now_ms),
            commands: commands.collect(),
        };
        let mut applied = self.state.apply(&stored::read_back(&entry));
        stored::check(&applied);
        assert_eq!(self.state.digest(), self.state.recompute_digest());
        self.events.append(&mut applied.events);
        applied.outcomes
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Log time passes.
    pub(crate) fn pass(&mut self, ms: u64) {
        self.now_ms += ms;
    }

    /// The next entry is the first of a new leader.
    pub(crate) fn elect(&mut self) {
        self.lift = true;
    }

    /// A checkpoint is written, and a replica starts from it.
    pub(crate) fn restart_from_checkpoint(&mut self) {
        let rows: Vec<_> = self.state.rows().collect();
        let digest = self.state.digest();
        self.state = State::from_rows(rows).unwrap();
        assert_eq!(self.state.digest(), digest);
    }

    /// The expiry that a leader would propose now.
    pub(crate) fn due(&self) -> Expire {
        let mut expire = Expire::default();
        let now = LogTime::from_millis(self.now_ms);
        for holder in self.state.due(now, usize::MAX).holders {
            match holder {
                Holder::Lease(key) => {
                    let seen = self.lease(&key).unwrap().metadata.resource_version;
                    expire.leases.insert((key, seen));
                }
                Holder::LeaseWaiter(key, ticket) => {
                    expire.lease_waiters.insert((key, ticket));
                }
                Holder::LeaseCandidate(key, identity) => {
                    expire.lease_candidates.insert((key, identity));
                }
                Holder::Member(id) => {
                    let epoch = self.state.present().member(&id).unwrap().epoch;
                    expire.members.insert((id, epoch));
                }
                Holder::Session(id) => {
                    expire.sessions.insert(id);
                }
                other @ (Holder::Unreported(_)
                | Holder::Object(_)
                | Holder::Claim(_)
                | Holder::Retry(_)
                | Holder::Observation(_)
                | Holder::Look(..)
                | Holder::Topic(_)
                | Holder::Mark(..)) => {
                    panic!("nobody reports or keeps objects here, but {other:?}")
                }
            }
        }
        expire
    }

    /// The leader proposes everything past its deadline.
    pub(crate) fn expires(&mut self) -> Outcome {
        let due = self.due();
        self.send(Command::Expire(due))
    }

    /// Another replica, which starts from a checkpoint of this one.
    pub(crate) fn restarted(&self) -> Self {
        Self {
            state: State::from_rows(self.state.rows().collect::<Vec<_>>()).unwrap(),
            events: Vec::new(),
            ..*self
        }
    }

    pub(crate) fn lease(&self, key: &LeaseKey) -> Option<Arc<Lease>> {
        self.state.present().lease(key)
    }

    /// The holder of the lease, and its token.
    pub(crate) fn holder(&self, name: &str) -> Option<(String, FencingToken)> {
        let lease = self.lease(&key(name))?;
        let hold = lease.hold.as_ref()?;
        Some((hold.holder.to_string(), hold.token))
    }

    /// The waiters for the lease, in their order.
    pub(crate) fn waiting(&self, name: &str) -> Vec<String> {
        let key = key(name);
        let waiters = self.state.lease_waiters(&key);
        waiters
            .map(|(_, waiter)| waiter.holder.to_string())
            .collect()
    }

    /// Takes a free lease.
    pub(crate) fn takes(&mut self, name: &str, holder: &str) -> FencingToken {
        match accepted(self.send(acquire(name, holder, None))) {
            Answer::LeaseHeld { token, .. } => token,
            other => panic!("a free lease is given, not {other:?}"),
        }
    }

    /// Takes a place in the queue.
    pub(crate) fn queues(&mut self, name: &str, holder: &str) -> Ticket {
        match accepted(self.send(acquire(name, holder, Some(TTL_MS)))) {
            Answer::LeaseQueued(ticket) => ticket,
            other => panic!("a held lease is waited for, not {other:?}"),
        }
    }

    pub(crate) fn releases(&mut self, name: &str, holder: &str) -> Outcome {
        self.send(release(name, holder, None))
    }

    pub(crate) fn joins(&mut self, id: &str, instance: &str) -> Epoch {
        let join = Join {
            id: MemberId::parse(id).unwrap(),
            instance: InstanceId::parse(instance).unwrap(),
            ttl: Ttl::MAX,
            labels: Labels::default(),
            version: BinaryVersion::default(),
            endpoint: Endpoint::default(),
            lost_epoch: None,
            gated: true,
        };
        match accepted(self.send(Command::Join(join))) {
            Answer::Joined { epoch, .. } => epoch,
            other => panic!("a join answers the epoch, not {other:?}"),
        }
    }

    pub(crate) fn leaves(&mut self, id: &str, epoch: Epoch) -> Outcome {
        self.send(Command::Leave(Leave {
            member: MemberId::parse(id).unwrap(),
            epoch,
            drained: true,
            instance: None,
            stopped: false,
        }))
    }
}

/// The answer of a command that no rule refused.
pub(crate) fn accepted(outcome: Outcome) -> Answer {
    outcome
        .result
        .unwrap_or_else(|refusal| panic!("refused: {refusal}"))
}

/// The refusal of a command that was refused with this kind, and changed nothing.
pub(crate) fn refused(outcome: Outcome, kind: ErrorKind) -> Refusal {
    assert!(!outcome.changed, "a refused command changes nothing");
    let refusal = outcome.result.expect_err("a rule should say no");
    assert_eq!(refusal.kind, kind, "{refusal}");
    refusal
}

pub(crate) fn key(name: &str) -> LeaseKey {
    LeaseKey::new("default", name).unwrap()
}

pub(crate) fn holder(identity: &str) -> HolderIdentity {
    HolderIdentity::parse(identity).unwrap()
}

pub(crate) fn ttl(ms: u64) -> Ttl {
    Ttl::from_millis(ms).unwrap()
}

pub(crate) fn acquire(name: &str, identity: &str, wait_ms: Option<u64>) -> Command {
    Command::AcquireLease(AcquireLease {
        key: key(name),
        holder: holder(identity),
        ttl: ttl(TTL_MS),
        wait: wait_ms.map(ttl),
        if_member: None,
    })
}

pub(crate) fn acquire_as(name: &str, identity: &str, member: &str, epoch: Epoch) -> Command {
    let Command::AcquireLease(acquire) = acquire(name, identity, Some(TTL_MS)) else {
        unreachable!("it is an acquisition")
    };
    let if_member = Some((MemberId::parse(member).unwrap(), epoch));
    Command::AcquireLease(AcquireLease {
        if_member,
        ..acquire
    })
}

pub(crate) fn renew(name: &str, token: FencingToken) -> Command {
    Command::RenewLease(RenewLease {
        key: key(name),
        token,
    })
}

pub(crate) fn release(name: &str, identity: &str, token: Option<FencingToken>) -> Command {
    Command::ReleaseLease(ReleaseLease {
        key: key(name),
        holder: holder(identity),
        token,
    })
}

pub(crate) fn stand(name: &str, identity: &str, emulation: &str, binary: &str) -> Command {
    stand_by("OldestEmulationVersion", name, identity, emulation, binary)
}

pub(crate) fn stand_by(
    strategy: &str,
    name: &str,
    identity: &str,
    emulation: &str,
    binary: &str,
) -> Command {
    Command::PutLeaseCandidate(PutLeaseCandidate {
        key: key(name),
        identity: holder(identity),
        binary_version: SemanticVersion::parse(binary).unwrap(),
        emulation_version: Some(SemanticVersion::parse(emulation).unwrap()),
        strategy: Strategy::parse(strategy).unwrap(),
        ttl: ttl(TTL_MS),
    })
}

pub(crate) fn renew_candidate(name: &str, identity: &str) -> Command {
    Command::RenewLeaseCandidate(RenewLeaseCandidate {
        key: key(name),
        identity: holder(identity),
    })
}

pub(crate) fn withdraw(name: &str, identity: &str) -> Command {
    Command::WithdrawLeaseCandidate(WithdrawLeaseCandidate {
        key: key(name),
        identity: holder(identity),
    })
}
