//! Sample states for tests, and the timing of replicas whose leader is to stay.

#[path = "../../machine/tests/support/raised.rs"]
mod raised;

use std::collections::BTreeSet;

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{Answer, Command, Envelope, Initialize, LogEntry, State};
use synod_model::{
    ApiVersion, BinaryVersion, ClusterId, Endpoint, Epoch, GroupResource, InstanceId, Join, Kind,
    Labels, Leave, LogTime, MemberId, Report, ReportEntry, Settings, Stance, StatementNumber,
    StoredIn, Topic, Ttl, WallTime,
};

use crate::consensus::ConsensusConfig;

/// Timing with which a machine that stands still for a second or two changes no leader. The longest election timeout is a
/// leader's lease; the shortest one bounds a vote.
pub(crate) fn steady(config: &mut ConsensusConfig) {
    config.election_timeout_min = Duration::from_secs(1);
    config.election_timeout_max = Duration::from_secs(3);
}

/// The state of a newly formed cluster.
pub(crate) fn state() -> State {
    let mut state = State::new();
    apply(
        &mut state,
        Command::Initialize(Initialize {
            cluster: ClusterId::from_bytes([7; 16]),
            settings: Settings::default(),
        }),
    );
    state
}

/// The same, with machine version 2 in force.
pub(crate) fn raised_state() -> State {
    let mut state = state();
    for command in raised::raised() {
        apply(&mut state, command);
    }
    state
}

/// Makes a member join, in place of itself if it is there, and report a topic: it reads these values, and prefers the last.
pub(crate) fn votes(state: &mut State, id: &str, topic: &Topic, values: &[&str]) {
    let member = MemberId::parse(id).unwrap();
    let epoch = joins(state, &member, "instance");
    let values: Vec<_> = values
        .iter()
        .map(|value| ApiVersion::parse(value).unwrap())
        .collect();
    let entry = ReportEntry {
        resource: topic.resource().clone(),
        kind: Kind::parse("Thing").unwrap(),
        decodable: values.iter().cloned().collect(),
        served: values.iter().cloned().collect(),
        stance: Stance::Voting {
            preferred: values.last().unwrap().clone(),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    };
    let report = Report {
        entries: vec![entry],
        member,
        epoch,
        number: StatementNumber::new(state.revision().get()).unwrap(),
        replace: true,
    };
    apply(state, Command::Report(report));
}

/// Makes a member join and report these resources, each in v1.
pub(crate) fn reports(state: &mut State, id: &str, resources: &[&str]) {
    reports_in(state, id, resources, "v1");
}

/// Makes a member join and report these resources, each in this version.
pub(crate) fn reports_in(state: &mut State, id: &str, resources: &[&str], version: &str) {
    let member = MemberId::parse(id).unwrap();
    let epoch = joins(state, &member, "instance");
    let number = StatementNumber::new(state.revision().get()).unwrap();
    let version = ApiVersion::parse(version).unwrap();
    let entries = resources.iter().map(|name| ReportEntry {
        resource: GroupResource::new("", name).unwrap(),
        kind: Kind::parse("Thing").unwrap(),
        decodable: [version.clone()].into_iter().collect(),
        served: [version.clone()].into_iter().collect(),
        stance: Stance::Fixed {
            encoding: version.clone(),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    });
    let report = Report {
        entries: entries.collect(),
        member,
        epoch,
        number,
        replace: true,
    };
    apply(state, Command::Report(report));
}

/// Makes an instance of a member join, in place of another one if there is one.
pub(crate) fn joins(state: &mut State, member: &MemberId, instance: &str) -> Epoch {
    match apply(state, Command::Join(join(member, instance))) {
        Answer::Joined { epoch, .. } => epoch,
        other => panic!("a join is answered by an epoch, not {other:?}"),
    }
}

/// The join of an instance of a member.
pub(crate) fn join(member: &MemberId, instance: &str) -> Join {
    Join {
        id: member.clone(),
        instance: InstanceId::parse(instance).unwrap(),
        ttl: Ttl::DEFAULT,
        labels: Labels::default(),
        version: BinaryVersion::parse("1").unwrap(),
        endpoint: Endpoint::parse("").unwrap(),
        lost_epoch: None,
        gated: true,
    }
}

/// Makes a member join in its own place and leave, with writes that may still land.
pub(crate) fn leaves(state: &mut State, id: &str) {
    let member = MemberId::parse(id).unwrap();
    let leave = Leave {
        epoch: joins(state, &member, "instance"),
        member,
        drained: false,
        instance: Some(InstanceId::parse("instance").unwrap()),
        stopped: false,
    };
    apply(state, Command::Leave(leave));
}

/// The envelope of a command that nobody in particular sends.
pub(crate) fn envelope(command: Command) -> Envelope {
    Envelope {
        request: None,
        command: Arc::new(command),
        actor: None,
    }
}

/// Applies a command that is in order.
pub(crate) fn apply(state: &mut State, command: Command) -> Answer {
    let envelope = envelope(command);
    let mut applied = state.apply(&LogEntry {
        log_time: LogTime::from_millis(1),
        lift_deadlines: false,
        wall: WallTime::from_millis(0),
        commands: vec![envelope],
    });
    applied.outcomes.remove(0).result.unwrap()
}
