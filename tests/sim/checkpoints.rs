//! A replica that lags behind the others' logs installs a checkpoint; its watches and sessions go on.

use synod_model::Revision;
use synod_proto::v1;

use crate::api_servers::{WatchLog, watch_at};
use crate::checkers::come_together;
use crate::clients::Clients;
use crate::machine::{CHECKPOINT_ENTRIES, KEPT_ENTRIES, Kind};
use crate::net::Host;
use crate::raw_watch::RawWatch;
use crate::seeds::for_each_seed;
use crate::visitor::{open_session, update_settings};
use crate::watch_log::compare;
use crate::world::{HOSTS, World};

/// The machine that the watch runs on.
const WATCHER: Host = 21;

// Guarantee: E-11
#[test]
fn a_replica_that_lagged_installs_a_checkpoint_and_its_watches_and_sessions_go_on() {
    let test = "a_replica_that_lagged_installs_a_checkpoint_and_its_watches_and_sessions_go_on";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 0);
        assert!(formed, "nothing is acknowledged within five seconds");
        let leader = world.leader().unwrap();
        let lagging = *HOSTS.iter().find(|host| **host != leader).unwrap();
        watch(world, lagging);
        let session = open_session(world, leader);
        world.run_for(2_000);
        assert!(!watched(world).events.is_empty(), "the watch saw nothing");

        world.isolate(lagging, true);
        // While it is cut off, the others commit the session's change and purge it from their logs.
        let first = update_settings(world, leader, change(session));
        let applied = world.applied(leader);
        let far = applied + 3 * (CHECKPOINT_ENTRIES + KEPT_ENTRIES);
        let purged = world.run_until(300_000, |world| world.applied(leader) > far);
        assert!(purged, "hardly anything was written");
        world.isolate(lagging, false);

        let installed = world.run_until(20_000, |world| generation(world, lagging) > 0);
        assert!(installed, "{lagging} got no checkpoint");
        lead(world, lagging);
        let again = update_settings(world, lagging, change(session));
        assert!(first.changed && again.changed, "executed twice: {again:?}");
        assert_eq!(revision(&again), revision(&first));

        come_together(world);
        let log = watched(world);
        // The checkers compare this log with those of the other watches.
        assert!(log.events.last().unwrap().0.get() > revision(&first));
        assert_eq!(log.resyncs.len(), 1, "the watch began anew: {log:?}");
    });
}

#[test]
fn a_stream_that_stands_while_a_checkpoint_is_installed_goes_on_without_a_repetition() {
    let test = "a_stream_that_stands_while_a_checkpoint_is_installed_goes_on_without_a_repetition";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 0);
        assert!(formed, "nothing is acknowledged within five seconds");
        let leader = world.leader().unwrap();
        let lagging = *HOSTS.iter().find(|host| **host != leader).unwrap();
        // From revision 1, so that a stream that begins again would have events to repeat.
        let watch = RawWatch::start(world, lagging, WATCHER, 1);
        let other = RawWatch::start(world, leader, WATCHER + 1, 1);
        world.run_for(2_000);
        let before = watch.log().reached();
        assert!(!watch.log().groups().is_empty(), "the watch saw nothing");

        // Suspended, since a replica that is cut off ends its streams; a suspended one does not notice the pause.
        world.machine(lagging).suspend(true);
        let far = world.applied(leader) + 3 * (CHECKPOINT_ENTRIES + KEPT_ENTRIES);
        let purged = world.run_until(300_000, |world| world.applied(leader) > far);
        assert!(purged, "hardly anything was written");
        world.machine(lagging).suspend(false);

        let installed = world.run_until(20_000, |world| generation(world, lagging) > 0);
        assert!(installed, "{lagging} got no checkpoint");
        come_together(world);
        let (log, other) = (watch.log(), other.log());
        let alike = compare(&log, &other).unwrap();
        assert!(alike > 0 && log.reached() > before, "{alike} revisions");
        assert_eq!(watch.streams(), 1, "no stream stood while it was installed");
    });
}

#[test]
fn what_a_checkpoint_does_not_keep_of_the_history_is_gone_from_who_installs_it() {
    let test = "what_a_checkpoint_does_not_keep_of_the_history_is_gone_from_who_installs_it";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 0);
        assert!(formed, "nothing is acknowledged within five seconds");
        let leader = world.leader().unwrap();
        let lagging = *HOSTS.iter().find(|host| **host != leader).unwrap();
        update_settings(world, leader, small_history());
        world.run_for(2_000);
        let before = history(world, lagging);
        assert_eq!(before.kept, HISTORY, "{before:?}");

        world.isolate(lagging, true);
        let far = world.applied(leader) + 3 * (CHECKPOINT_ENTRIES + KEPT_ENTRIES);
        // By then the running replicas' histories have none of the revisions that the lagging one keeps.
        let purged = world.run_until(300_000, |world| {
            world.applied(leader) > far && history(world, leader).floor > before.newest
        });
        assert!(purged, "hardly anything was written");
        assert_eq!(history(world, lagging).floor, before.floor, "it is cut off");
        world.isolate(lagging, false);

        let installed = world.run_until(20_000, |world| generation(world, lagging) > 0);
        assert!(installed, "{lagging} got no checkpoint");
        // Checked at once, before the next entry trims the history.
        let after = history(world, lagging);
        assert_eq!(after.kept, HISTORY, "{after:?}");
        assert!(after.floor > before.newest, "{before:?}, {after:?}");

        come_together(world);
        rest_until_level(world);
        for host in HOSTS {
            assert_eq!(history(world, host), history(world, leader), "{host}");
        }
    });
}

/// The revisions that a history keeps: fewer than are written while a replica lags.
const HISTORY: u64 = 10;

fn small_history() -> v1::ClusterUpdateSettingsRequest {
    v1::ClusterUpdateSettingsRequest {
        patch: Some(v1::SettingsPatch {
            history_revisions: Some(HISTORY),
            ..v1::SettingsPatch::default()
        }),
        ..v1::ClusterUpdateSettingsRequest::default()
    }
}

/// Rests until all replicas have applied the same entries: members renew and expire even while clients rest, and a
/// follower learns a moment later than the leader what is committed.
fn rest_until_level(world: &mut World) {
    for _ in 0..100 {
        world.rest(50);
        let first = world.applied(HOSTS[0]);
        if HOSTS.iter().all(|host| world.applied(*host) == first) {
            return;
        }
    }
    panic!("the replicas never have the same entries");
}

/// The history of a replica, summed up.
#[derive(Debug, PartialEq, Eq)]
struct History {
    floor: Revision,
    newest: Revision,
    kept: u64,
    bytes: u64,
    /// The digest of all rows, the history included, computed from every row.
    digest: synod_machine::Digest,
}

fn history(world: &World, host: Host) -> History {
    let consensus = world.machines[&host].consensus().unwrap();
    let state = &consensus.published().state;
    let history = state.history();
    assert_eq!(state.digest(), state.recompute_digest(), "{host}");
    History {
        floor: history.floor(),
        newest: state.revision(),
        kept: history.len() as u64,
        bytes: history.bytes(),
        digest: state.digest(),
    }
}

/// Starts a watch at `replica` and no other.
fn watch(world: &mut World, replica: Host) {
    let (net, trace) = (world.net.clone(), world.trace.clone());
    if let Clients::Serving(servers) = &mut world.clients {
        let notes = servers.notes().clone();
        servers.visit(watch_at(replica, WATCHER, net, notes, trace));
    }
}

fn watched(world: &World) -> WatchLog {
    match &world.clients {
        Clients::Serving(servers) => servers.notes().watches().remove(&WATCHER),
        Clients::Proposing(_) => None,
    }
    .unwrap_or_default()
}

/// Makes `replica` the leader, so that it answers from its own state.
fn lead(world: &mut World, replica: Host) {
    let leads = |world: &World| world.machines[&replica].leads();
    for _ in 0..20 {
        let leader = world.leader().filter(|leader| *leader != replica);
        if let Some(machine) = leader.map(|leader| &world.machines[&leader])
            && let Some(consensus) = machine.consensus()
        {
            machine.spawn(async move {
                // Repeated until the transfer has succeeded.
                let to = Some(synod_machine::ReplicaId::new(replica));
                let _ = consensus.transfer_leadership(to).await;
            });
        }
        if world.run_until(1_000, leads) {
            return;
        }
    }
    panic!("{replica} does not take over");
}

/// A change that shows whether it was executed twice: the second time it would change nothing.
fn change(session: u64) -> v1::ClusterUpdateSettingsRequest {
    let patch = v1::SettingsPatch {
        members_max: Some(4_321),
        ..v1::SettingsPatch::default()
    };
    v1::ClusterUpdateSettingsRequest {
        request_id: Some(v1::RequestId {
            session,
            sequence: 1,
            lowest_unanswered: 1,
            cluster_id: String::new(),
        }),
        patch: Some(patch),
        ..v1::ClusterUpdateSettingsRequest::default()
    }
}

fn revision(response: &v1::ClusterUpdateSettingsResponse) -> u64 {
    response.header.as_ref().unwrap().revision
}

fn generation(world: &World, host: Host) -> u64 {
    let consensus = world.machines[&host].consensus();
    consensus.map_or(0, |consensus| consensus.published().generation)
}
