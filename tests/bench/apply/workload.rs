//! The commands whose cost is measured: what a busy cluster applies, from fixed seeds.

use std::collections::BTreeSet;

use std::sync::Arc;

use bytes::Bytes;
use synod_machine::{Answer, Command, Envelope, Initialize, LogEntry, Outcome, State};
use synod_model::stored;
use synod_model::{
    AcquireLease, ApiVersion, Attributes, BinaryVersion, ClusterId, CollectionRules, Content,
    CreateCollection, CreateObject, Endpoint, Epoch, Fences, FencingToken, GroupResource,
    HolderIdentity, InstanceId, Join, Kind, Labels, LeaseKey, LogTime, MediaType, MemberId,
    ObjectKey, ObjectName, Preconditions, Renew, RenewLease, Report, ReportEntry, Settings, Stance,
    StatementNumber, StoredIn, Ttl, TtlChange, UpdateObject, WallTime,
};

/// Commands in an entry.
pub(crate) const ENTRY: usize = 30;

/// Bytes of data of each object.
pub(crate) const BYTES: usize = 256;

const LEGAL: &str = "every name is legal";

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// The number of stored objects.
    pub(crate) objects: usize,
    /// The number of commands of each kind.
    pub(crate) commands: usize,
    /// The number of members.
    pub(crate) members: usize,
    /// The number of members that report 1,000 resources.
    pub(crate) large: usize,
}

/// Applies commands of a kind to the state, and notes what it likes. Returns what came of each command.
pub(crate) type Apply<'a> = dyn FnMut(&mut State, &'static str, Vec<Command>) -> Vec<Outcome> + 'a;

/// Has commands of every kind applied to a state of this size.
pub(crate) fn run(scale: Scale, apply: &mut Apply<'_>) {
    let mut machine = Machine::with(scale, apply);
    machine.objects();
    machine.leases();
    machine.members();
}

/// The entries of these commands, as a leader packs them.
pub(crate) fn entries(commands: Vec<Command>) -> Vec<LogEntry> {
    let mut commands = commands.into_iter().peekable();
    let mut entries = Vec::new();
    while commands.peek().is_some() {
        entries.push(entry_of(commands.by_ref().take(ENTRY).collect()));
    }
    entries
}

/// Reads entries from their bytes.
pub(crate) fn read(written: &[Bytes]) -> Vec<LogEntry> {
    let read = |bytes: &Bytes| stored::from_bytes(bytes).expect("it was written just now");
    written.iter().map(read).collect()
}

struct Machine<'a, 'b> {
    state: State,
    scale: Scale,
    apply: &'a mut Apply<'b>,
}

impl<'a, 'b> Machine<'a, 'b> {
    fn with(scale: Scale, apply: &'a mut Apply<'b>) -> Self {
        let settings = Settings {
            state_quota_bytes: 8 << 30,
            history_revisions: 10_000,
            ..Settings::default()
        };
        let cluster = ClusterId::from_bytes([7; 16]);
        let rules = CollectionRules {
            unconditional_update: true,
            ..CollectionRules::default()
        };
        let collection = CreateCollection {
            resource: resource("kvs"),
            kind: Kind::parse("Kv").expect(LEGAL),
            namespaced: false,
            rules,
        };
        let mut machine = Self {
            state: State::new(),
            scale,
            apply,
        };
        machine.prepare(vec![Command::Initialize(Initialize { cluster, settings })]);
        machine.prepare(vec![Command::CreateCollection(collection)]);
        let objects: Vec<usize> = (0..scale.objects).collect();
        for some in objects.chunks(128) {
            machine.prepare(some.iter().map(|at| create(*at)).collect());
        }
        machine
    }

    fn objects(&mut self) {
        let Scale {
            objects: stored,
            commands,
            ..
        } = self.scale;
        let mut seed = 1_u64;
        let mut any = || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed as usize % stored
        };
        let updates = (0..commands).map(|number| update(any(), number as u64));
        self.measure("update", updates.collect());
        let creates = (stored..stored + commands).map(create);
        self.measure("create", creates.collect());
    }

    fn leases(&mut self) {
        let commands = self.scale.commands;
        let acquire = |at: usize| {
            Command::AcquireLease(AcquireLease {
                key: lease(at),
                holder: HolderIdentity::parse("bench").expect(LEGAL),
                ttl: Ttl::MAX,
                wait: None,
                if_member: None,
            })
        };
        let outcomes = self.measure("lease acquire", (0..commands).map(acquire).collect());
        let held = outcomes.into_iter().map(|outcome| match outcome.result {
            Ok(Answer::LeaseHeld { token, .. }) => token,
            other => panic!("a lease that is free is acquired, not {other:?}"),
        });
        let renew = |(at, token): (usize, FencingToken)| {
            let key = lease(at);
            Command::RenewLease(RenewLease { key, token })
        };
        self.measure("lease renew", held.enumerate().map(renew).collect());
    }

    fn members(&mut self) {
        let Scale {
            commands,
            members,
            large,
            ..
        } = self.scale;
        let joins: Vec<Command> = (0..members).map(join).collect();
        let outcomes = self.measure("join", joins);
        let epochs: Vec<Epoch> = outcomes
            .into_iter()
            .map(|outcome| match outcome.result {
                Ok(Answer::Joined { epoch, .. }) => epoch,
                other => panic!("who is new can join, not {other:?}"),
            })
            .collect();
        let renew = |at: usize| {
            Command::Renew(Renew {
                member: member(at % members),
                epoch: epochs[at % members],
            })
        };
        self.measure("renew", (0..commands).map(renew).collect());
        let report = |at: usize, round: usize, resources: usize| {
            let names = (0..resources).map(|of| resource(&format!("things{of}")));
            let number = (round + 1) as u64;
            Command::Report(Report {
                member: member(at),
                epoch: epochs[at],
                number: StatementNumber::new(number).expect("numbers begin with 1"),
                entries: names.map(|name| entry(name, round)).collect(),
                replace: false,
            })
        };
        let ones = (0..members).map(|at| report(at, 0, 1));
        self.measure("report of 1 resource", ones.collect());
        let others = (0..large).map(|at| report(at, 1, 1_000));
        self.measure("report of 1,000 resources, new", others.collect());
        let again = (0..large).map(|at| report(at, 2, 1_000));
        self.measure("report of 1,000 resources, again", again.collect());
    }

    /// Has the commands applied, and returns their outcomes.
    fn measure(&mut self, name: &'static str, commands: Vec<Command>) -> Vec<Outcome> {
        let outcomes = (self.apply)(&mut self.state, name, commands);
        for outcome in &outcomes {
            assert!(outcome.result.is_ok(), "{name}: {outcome:?}");
        }
        outcomes
    }

    fn prepare(&mut self, commands: Vec<Command>) {
        let applied = self.state.apply(&entry_of(commands));
        assert!(applied.outcomes.iter().all(|outcome| outcome.changed));
    }
}

fn entry_of(commands: Vec<Command>) -> LogEntry {
    let envelopes = commands.into_iter().map(|command| Envelope {
        actor: None,
        request: None,
        command: Arc::new(command),
    });
    LogEntry {
        log_time: LogTime::from_millis(1),
        lift_deadlines: false,
        wall: WallTime::from_millis(1_795_219_200_000),
        commands: envelopes.collect(),
    }
}

fn create(at: usize) -> Command {
    Command::CreateObject(CreateObject {
        key: key(at),
        attributes: Attributes::default(),
        content: content(0),
        ttl: None,
        fences: Fences::default(),
    })
}

fn update(at: usize, number: u64) -> Command {
    Command::UpdateObject(UpdateObject {
        key: key(at),
        attributes: Attributes::default(),
        content: content(number + 1),
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    })
}

fn content(number: u64) -> Content {
    let mut data = vec![7; BYTES];
    data[..8].copy_from_slice(&number.to_be_bytes());
    Content {
        encoding: ApiVersion::parse("v1").expect(LEGAL),
        media_type: MediaType::parse("application/octet-stream").expect(LEGAL),
        data: Bytes::from(data),
    }
}

fn key(at: usize) -> ObjectKey {
    let name = ObjectName::parse(&format!("{at:010}")).expect(LEGAL);
    ObjectKey::new(resource("kvs"), None, &name)
}

fn lease(at: usize) -> LeaseKey {
    LeaseKey::parse(&format!("default/lease-{at:07}")).expect(LEGAL)
}

fn member(at: usize) -> MemberId {
    MemberId::parse(&format!("server-{at}")).expect(LEGAL)
}

fn join(at: usize) -> Command {
    Command::Join(Join {
        id: member(at),
        instance: InstanceId::parse("bench").expect(LEGAL),
        ttl: Ttl::MAX,
        labels: Labels::default(),
        version: BinaryVersion::default(),
        endpoint: Endpoint::default(),
        lost_epoch: None,
        gated: true,
    })
}

/// An entry whose decodable versions differ in each round, so that each report changes something.
fn entry(resource: GroupResource, round: usize) -> ReportEntry {
    let version = |text: &str| ApiVersion::parse(text).expect(LEGAL);
    let mut versions = vec![version("example.io/v1")];
    versions.extend((0..round).map(|at| version(&format!("example.io/v{}", at + 2))));
    ReportEntry {
        resource,
        kind: Kind::parse("Thing").expect(LEGAL),
        decodable: versions.iter().cloned().collect(),
        served: versions.iter().cloned().collect(),
        stance: Stance::Voting {
            preferred: version("example.io/v1"),
        },
        serve_until: None,
        stored: StoredIn::Collection,
        equivalents: BTreeSet::new(),
    }
}

fn resource(name: &str) -> GroupResource {
    GroupResource::new("bench.example", name).expect(LEGAL)
}
