//! A checkpoint is damaged when a lagging replica needs it, while no client writes.

use std::path::PathBuf;

use crate::checkers::come_together;
use crate::machine::{CHECKPOINT_ENTRIES, KEPT_ENTRIES, Kind, Machine};
use crate::seeds::for_each_seed;
use crate::world::{HOSTS, World};

#[test]
fn a_damaged_checkpoint_is_replaced_and_the_lagging_replica_served_while_nobody_writes() {
    let test =
        "a_damaged_checkpoint_is_replaced_and_the_lagging_replica_served_while_nobody_writes";
    for_each_seed(test, Kind::Bare, 1..3, |world| {
        let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 0);
        assert!(formed, "nothing is acknowledged within five seconds");
        let leader = world.leader().unwrap();
        let lagging = *HOSTS.iter().find(|host| **host != leader).unwrap();
        isolate(world, lagging, true);
        let far = world.applied(leader) + 3 * (CHECKPOINT_ENTRIES + KEPT_ENTRIES);
        let purged = world.run_until(300_000, |world| world.applied(leader) > far);
        assert!(purged, "hardly anything was written");
        world.rest(2_000);
        for host in HOSTS.into_iter().filter(|host| *host != lagging) {
            damage(&world.machines[&host]);
        }
        isolate(world, lagging, false);
        world.rest(10_000);
        let served = world.machines[&lagging].consensus().unwrap().published();
        assert!(served.generation > 0, "{lagging} got no checkpoint");
        let told = world.machines.values().any(|machine| {
            let consensus = machine.consensus();
            consensus.is_some_and(|consensus| consensus.damaged_checkpoint().is_some())
        });
        assert!(told, "no alarm says so");
        come_together(world);
    });
}

fn isolate(world: &World, replica: u64, cut: bool) {
    for other in HOSTS.into_iter().filter(|other| *other != replica) {
        world.net.set_cut(replica, other, cut);
    }
}

/// Flips a bit in the middle of the newest checkpoint.
fn damage(machine: &Machine) {
    let files = machine.disk.files();
    let ends = |path: &&PathBuf| path.to_string_lossy().ends_with(".checkpoint");
    let newest = files.keys().rfind(ends).unwrap();
    let middle = files[newest].len() as u64 / 2;
    machine
        .disk
        .corrupt(newest, middle, |byte| byte ^ 0x10)
        .unwrap();
}
