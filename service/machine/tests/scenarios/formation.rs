//! The first commands of a log, and a raise of the machine version.

use synod_machine::{
    AnnounceReplica, Answer, Command, DirectoryId, Envelope, Initialize, LogEntry, MACHINE_VERSION,
    MACHINE_VERSION_MIN, Outcome, RaiseMachineVersion, ReplicaId, State,
};

use synod_model::{ClusterId, ErrorKind, LogTime, Revision, Settings, SettingsPatch, WallTime};

use crate::cluster::{Cluster, accepted, join, refused};

fn announce(replica: u64, machine_version: u32) -> Command {
    Command::AnnounceReplica(AnnounceReplica {
        replica: ReplicaId::new(replica),
        directory: DirectoryId::from_bytes([3; 16]),
        client_endpoint: format!("10.0.0.{replica}:2379"),
        binary: "0.1.0".to_owned(),
        machine_version,
        disk_is_low: false,
    })
}

fn raise(to: u32) -> Command {
    let replicas = [1, 2].map(ReplicaId::new).into();
    Command::RaiseMachineVersion(RaiseMachineVersion { to, replicas })
}

fn initialize(cluster: u8) -> Command {
    Command::Initialize(Initialize {
        cluster: ClusterId::from_bytes([cluster; 16]),
        settings: Settings::default(),
    })
}

fn apply(state: &mut State, command: Command) -> Outcome {
    let entry = LogEntry {
        log_time: LogTime::ZERO,
        lift_deadlines: false,
        wall: WallTime::default(),
        commands: vec![Envelope {
            actor: None,
            request: None,
            command: command.into(),
        }],
    };
    state.apply(&entry).outcomes.remove(0)
}

#[test]
fn nothing_is_executed_before_the_cluster_is_formed() {
    let mut state = State::new();
    let refusal = refused(
        apply(&mut state, Command::Join(join("a", "first"))),
        ErrorKind::Unavailable,
    );
    assert_eq!(refusal.metadata["not_executed"], "true");
    assert_eq!((state.revision(), state.cluster()), (Revision::ZERO, None));
    assert_eq!(
        state.rows().count(),
        1,
        "there is a header and nothing else"
    );
}

#[test]
fn the_first_of_two_initializations_makes_the_cluster() {
    let mut state = State::new();
    assert!(apply(&mut state, initialize(1)).changed);
    refused(apply(&mut state, initialize(2)), ErrorKind::AlreadyExists);
    assert_eq!(state.cluster(), Some(&ClusterId::from_bytes([1; 16])));
    assert_eq!(state.settings().revision, Revision::new(1));
}

#[test]
fn two_clusters_give_their_objects_other_uids() {
    let uid_in = |cluster: u8| {
        let mut state = State::new();
        apply(&mut state, initialize(cluster));
        apply(&mut state, Command::Join(join("a", "first")));
        let member = state.present().members(None).next();
        member.expect("a has joined").metadata.uid
    };
    assert_eq!(uid_in(1), uid_in(1));
    assert_ne!(uid_in(1), uid_in(2));
}

#[test]
fn a_replica_that_says_nothing_new_changes_nothing() {
    let mut cluster = Cluster::formed();
    assert!(cluster.send(announce(1, 1)).changed);
    assert!(!cluster.send(announce(1, 1)).changed);
    assert!(cluster.send(announce(2, 1)).changed);
    let announced: Vec<u64> = cluster.state.replicas().map(|(id, _)| id.get()).collect();
    assert_eq!(announced, [1, 2]);
    let endpoint = &cluster.state.replicas().last().unwrap().1.client_endpoint;
    assert_eq!(endpoint, "10.0.0.2:2379");
}

// Guarantee: S-02
#[test]
fn what_a_replica_announced_goes_when_it_leaves_the_set_and_it_announces_nothing_more() {
    let mut cluster = Cluster::formed();
    cluster.send(announce(1, 1));
    cluster.send(announce(2, 1));
    let revision = cluster.state.revision();
    cluster.state.replicas_left([2, 3].map(ReplicaId::new));
    assert_eq!(cluster.state.revision(), revision);
    let digest = cluster.state.digest();
    refused(cluster.send(announce(2, 1)), ErrorKind::NotFound);
    refused(cluster.send(announce(3, 1)), ErrorKind::NotFound);
    assert_eq!(cluster.state.digest(), digest);
    let announced: Vec<u64> = cluster.state.replicas().map(|(id, _)| id.get()).collect();
    assert_eq!(announced, [1]);
    let has_left = |state: &State| [1, 2, 3, 4].map(|id| state.has_left(ReplicaId::new(id)));
    assert_eq!(has_left(&cluster.state), [false, true, true, false]);
    let loaded = State::from_rows(cluster.state.rows()).expect("the rows are those of a state");
    assert_eq!(has_left(&loaded), has_left(&cluster.state));
    assert_eq!(cluster.state.recompute_digest(), digest);
}

// Guarantee: U-01
#[test]
fn the_machine_version_is_not_raised_before_every_replica_knows_it() {
    let mut cluster = Cluster::formed();
    let next = MACHINE_VERSION + 1;
    cluster.send(announce(1, next));
    cluster.send(announce(2, MACHINE_VERSION));
    let refusal = refused(cluster.send(raise(next)), ErrorKind::InvalidArgument);
    assert!(refusal.message.contains("1 of 2 replicas"), "{refusal}");
    assert_eq!(cluster.state.machine_version(), MACHINE_VERSION_MIN);
    accepted(cluster.send(raise(MACHINE_VERSION)));
    assert_eq!(cluster.state.machine_version(), MACHINE_VERSION);
    let outcome = cluster.send(raise(MACHINE_VERSION));
    assert!(!outcome.changed, "it is in force already");
    assert_eq!(accepted(outcome), Answer::Done);
}

#[test]
fn what_a_replica_said_that_has_left_the_set_raises_nothing() {
    let mut cluster = Cluster::formed();
    let next = MACHINE_VERSION + 1;
    cluster.send(announce(1, next));
    cluster.send(announce(2, MACHINE_VERSION));
    cluster.send(announce(3, next));
    let refusal = refused(cluster.send(raise(next)), ErrorKind::InvalidArgument);
    assert!(refusal.message.contains("1 of 2 replicas"), "{refusal}");
    let nobody = Command::RaiseMachineVersion(RaiseMachineVersion {
        to: next,
        replicas: [].into(),
    });
    refused(cluster.send(nobody), ErrorKind::InvalidArgument);
}

#[test]
fn the_settings_are_an_object_that_comes_with_the_cluster() {
    let mut cluster = Cluster::formed();
    cluster.set(SettingsPatch {
        members_max: Some(7),
        ..SettingsPatch::default()
    });
    let new = cluster.state.history().next_after(Revision::ZERO);
    let first = new.expect("nothing is forgotten").expect("it is formed");
    let [change] = &first.changes[..] else {
        panic!("{first:?}")
    };
    let change = change.of::<Settings>().expect("the settings were made");
    assert!(change.before.is_none() && change.after.is_some());
    let next = cluster.state.history().next_after(first.revision);
    let next = next.expect("nothing is forgotten").expect("it was set");
    let [change] = &next.changes[..] else {
        panic!("{next:?}")
    };
    let change = change.of::<Settings>().expect("the settings were changed");
    let (before, after) = (change.before.unwrap(), change.after.unwrap());
    assert_ne!((before.members_max, after.members_max), (7, 7));
    assert_eq!(after.members_max, 7);
}

#[test]
#[should_panic(expected = "this build knows machine version 3 and the log goes on with 4")]
fn a_replica_that_does_not_know_the_new_behaviour_stops() {
    let mut cluster = Cluster::formed();
    let next = MACHINE_VERSION + 1;
    // Both knew it, and this replica was restarted from an older build since.
    cluster.send(announce(1, next));
    cluster.send(announce(2, next));
    cluster.send(raise(next));
}
