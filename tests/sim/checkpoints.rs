//! A replica that lagged behind what the others keep of the log begins anew from a checkpoint, and nobody notices.

use synod_proto::v1;

use crate::api_servers::{WatchLog, watch_at};
use crate::checkers::come_together;
use crate::clients::Clients;
use crate::machine::{CHECKPOINT_ENTRIES, KEPT_ENTRIES, Kind};
use crate::net::Host;
use crate::seeds::for_each_seed;
use crate::visitor::{open_session, update_settings};
use crate::world::{HOSTS, World};

/// The machine of the watch.
const WATCHER: Host = 21;

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

        isolate(world, lagging, true);
        // While it is away: the others have the session's change and drop it from their logs.
        let first = update_settings(world, leader, change(session));
        let applied = applied(world, leader);
        let far = applied + 3 * (CHECKPOINT_ENTRIES + KEPT_ENTRIES);
        let purged = world.run_until(300_000, |world| self::applied(world, leader) > far);
        assert!(purged, "hardly anything was written");
        isolate(world, lagging, false);

        let installed = world.run_until(20_000, |world| generation(world, lagging) > 0);
        assert!(installed, "{lagging} got no checkpoint");
        lead(world, lagging);
        let again = update_settings(world, lagging, change(session));
        assert!(first.changed && again.changed, "executed twice: {again:?}");
        assert_eq!(revision(&again), revision(&first));

        come_together(world);
        let log = watched(world);
        // The checkers hold it against what the other watches saw.
        assert!(log.events.last().unwrap().0.get() > revision(&first));
        assert_eq!(log.resyncs.len(), 1, "the watch began anew: {log:?}");
    });
}

/// Begins a watch at `replica` and nowhere else.
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

/// Cuts a replica off the others, or mends its links. Clients reach it all the while.
fn isolate(world: &World, replica: Host, cut: bool) {
    for other in HOSTS.into_iter().filter(|other| *other != replica) {
        world.net.set_cut(replica, other, cut);
    }
}

/// Has `replica` take over, so that what it answers is what it holds itself.
fn lead(world: &mut World, replica: Host) {
    let leads = |world: &World| world.machines[&replica].leads();
    for _ in 0..20 {
        let leader = world.leader().filter(|leader| *leader != replica);
        if let Some(machine) = leader.map(|leader| &world.machines[&leader])
            && let Some(consensus) = machine.consensus()
        {
            machine.spawn(async move {
                // It is asked for again until it has happened.
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

/// A change that shows how often it is made: the second time, it would change nothing.
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

fn applied(world: &World, host: Host) -> u64 {
    let consensus = world.machines[&host].consensus();
    consensus.map_or(0, |consensus| consensus.published().applied_index())
}

fn generation(world: &World, host: Host) -> u64 {
    let consensus = world.machines[&host].consensus();
    consensus.map_or(0, |consensus| consensus.published().generation)
}
