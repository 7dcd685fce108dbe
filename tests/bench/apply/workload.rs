//! The commands whose cost is measured: what a busy cluster applies, from fixed seeds.

use std::sync::Arc;
use std::time::Duration;

use allocation_counter::AllocationInfo;
use bytes::Bytes;
use synod_machine::{Answer, Command, Envelope, Initialize, LogEntry, Outcome, State};
use synod_model::stored;
use synod_model::{
    AcquireLease, ApiVersion, Attributes, BinaryVersion, ClusterId, CollectionRules, Content,
    CreateCollection, CreateObject, Endpoint, Epoch, Fences, FencingToken, GroupResource,
    HolderIdentity, InstanceId, Join, Kind, Labels, LeaseKey, LogTime, MediaType, MemberId,
    ObjectKey, ObjectName, Preconditions, Renew, RenewLease, Report, ReportEntry, Settings, Stance,
    StatementNumber, Ttl, TtlChange, UpdateObject, WallTime,
};
use tokio::time::Instant;

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
}

/// What one command of a kind costs, on average.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) name: &'static str,
    /// The allocations to apply it.
    pub(crate) allocations: f64,
    /// The bytes of these allocations.
    pub(crate) bytes: f64,
    /// The allocations to read it from the log.
    pub(crate) read_allocations: f64,
    /// The bytes of these allocations.
    pub(crate) read_bytes: f64,
}

/// Applies commands of every kind to a state of this size, and returns the cost of each kind, and the time to apply one.
pub(crate) fn costs(scale: Scale) -> Vec<(Cost, Duration)> {
    let mut machine = Machine::with(scale);
    machine.objects();
    machine.leases();
    machine.members();
    machine.costs
}

struct Machine {
    state: State,
    scale: Scale,
    costs: Vec<(Cost, Duration)>,
}

impl Machine {
    fn with(scale: Scale) -> Self {
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
            costs: Vec::new(),
        };
        machine.apply(vec![Command::Initialize(Initialize { cluster, settings })]);
        machine.apply(vec![Command::CreateCollection(collection)]);
        let objects: Vec<usize> = (0..scale.objects).collect();
        for some in objects.chunks(128) {
            machine.apply(some.iter().map(|at| create(*at)).collect());
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
            commands, members, ..
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
        let others = (0..3).map(|at| report(at, 1, 1_000));
        self.measure("report of 1,000 resources, new", others.collect());
        let again = (0..3).map(|at| report(at, 2, 1_000));
        self.measure("report of 1,000 resources, again", again.collect());
    }

    /// Reads the commands from the bytes of entries and applies them, notes the cost of one, and returns their outcomes.
    fn measure(&mut self, name: &'static str, commands: Vec<Command>) -> Vec<Outcome> {
        let count = commands.len();
        let mut written = Vec::new();
        let mut commands = commands.into_iter().peekable();
        while commands.peek().is_some() {
            let entry = entry_of(commands.by_ref().take(ENTRY).collect());
            written.push(stored::to_bytes(&entry));
        }
        let mut entries = Vec::with_capacity(written.len());
        let read = allocation_counter::measure(|| {
            for bytes in &written {
                entries
                    .push(stored::from_bytes::<LogEntry>(bytes).expect("it was written just now"));
            }
        });
        let mut outcomes = Vec::with_capacity(count);
        let mut taken = Duration::ZERO;
        let applied = allocation_counter::measure(|| {
            for entry in &entries {
                let begin = Instant::now();
                let applied = self.state.apply(entry);
                let held = self.state.clone();
                taken += begin.elapsed();
                outcomes.extend(applied.outcomes);
                drop(held);
            }
        });
        for outcome in &outcomes {
            assert!(outcome.result.is_ok(), "{name}: {outcome:?}");
        }
        let time = taken.div_f64(count as f64);
        self.costs.push((cost(name, count, &applied, &read), time));
        outcomes
    }

    fn apply(&mut self, commands: Vec<Command>) {
        let applied = self.state.apply(&entry_of(commands));
        assert!(applied.outcomes.iter().all(|outcome| outcome.changed));
    }
}

fn cost(name: &'static str, count: usize, applied: &AllocationInfo, read: &AllocationInfo) -> Cost {
    let each = |total: u64| total as f64 / count as f64;
    Cost {
        name,
        allocations: each(applied.count_total),
        bytes: each(applied.bytes_total),
        read_allocations: each(read.count_total),
        read_bytes: each(read.bytes_total),
    }
}

fn entry_of(commands: Vec<Command>) -> LogEntry {
    let envelopes = commands.into_iter().map(|command| Envelope {
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
    }
}

fn resource(name: &str) -> GroupResource {
    GroupResource::new("bench.example", name).expect(LEGAL)
}
