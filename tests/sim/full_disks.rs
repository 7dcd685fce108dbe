//! Disks that fill up, and have room again.

use std::collections::BTreeSet;

use synod_store::{Disk as _, SimDisk};

use crate::checkers::come_together;
use crate::machine::Kind;
use crate::net::Host;
use crate::seeds::for_each_seed;
use crate::users::{Users, resource};
use crate::world::{HOSTS, World};

/// So many simulated milliseconds until all have heard that a disk is low, or is not any more.
const HEARD: u64 = 10_000;

#[test]
fn nearly_full_disks_stop_what_grows_and_nobody_and_it_goes_on_when_they_have_room() {
    let test = "nearly_full_disks_stop_what_grows_and_nobody_and_it_goes_on_when_they_have_room";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        let users = begin(world);
        for host in HOSTS {
            // Less than is taken already: that is low, and more than enough for all that goes on while nothing may grow.
            let taken = taken(world, host);
            disk(world, host).set_capacity(Some(taken + taken * 3 / 4));
        }
        low(world, &HOSTS);
        let before_it = objects(world);
        let before = world.clients.acknowledged();
        world.run_for(5_000);
        let objects = objects(world);
        assert!(
            objects <= before_it,
            "{before_it} objects grew to {objects}"
        );
        // Members renew, and report again what they said.
        assert!(world.clients.acknowledged() > before, "nothing goes on");

        HOSTS
            .into_iter()
            .for_each(|host| disk(world, host).set_capacity(None));
        low(world, &[]);
        world.run_for(10_000);
        users.finish(world);
        come_together(world);
        users.check(world);
    });
}

#[test]
fn a_full_disk_ends_its_replica_alone_and_it_comes_back_when_there_is_room() {
    let test = "a_full_disk_ends_its_replica_alone_and_it_comes_back_when_there_is_room";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        for host in HOSTS {
            world.machine(host).kill();
            world.machine(host).may_end = true;
            world.machine(host).start();
        }
        let users = begin(world);
        let leader = world.leader().unwrap();
        disk(world, leader).set_capacity(Some(taken(world, leader)));
        // What has room in the log as it is does not need the disk; this does.
        let consensus = world.machines[&leader].consensus().unwrap();
        world.machine(leader).spawn(async move {
            let _ = consensus.checkpoint().await;
        });
        let replaced = world.run_until(10_000, |world| {
            let mut machines = world.machines.values();
            machines.any(|machine| machine.host != leader && machine.leads())
        });
        let said = world.trace.text();
        assert!(said.contains(&format!("{leader} ends: ")), "it goes on");
        assert!(replaced, "nobody leads in the place of who cannot write");
        let before = world.clients.acknowledged();
        let goes_on = world.run_until(20_000, |world| world.clients.acknowledged() > before + 5);
        assert!(goes_on, "two with room do not go on");

        world.machine(leader).kill();
        // The checkers see that it is gone.
        world.rest(100);
        disk(world, leader).set_capacity(None);
        world.machine(leader).start();
        low(world, &[]);
        world.run_for(10_000);
        users.finish(world);
        come_together(world);
        users.check(world);
    });
}

fn begin(world: &mut World) -> Users {
    let formed = world.run_until(10_000, |world| world.clients.acknowledged() > 0);
    assert!(formed, "nothing is acknowledged within ten seconds");
    let users = Users::start(world);
    world.run_for(2_000);
    users
}

fn disk(world: &World, host: Host) -> &SimDisk {
    &world.machines[&host].disk
}

/// So many bytes of a disk are taken.
fn taken(world: &World, host: Host) -> u64 {
    let space = disk(world, host).space("/data".as_ref()).unwrap();
    space.size - space.free
}

/// Waits until all know of exactly these that their disks are low.
fn low(world: &mut World, hosts: &[Host]) {
    let hosts = hosts.iter().copied().collect::<BTreeSet<_>>();
    let all_know = world.run_until(HEARD, |world| {
        world.machines.values().all(|machine| {
            let consensus = machine.consensus();
            consensus.is_none_or(|consensus| {
                let published = consensus.published();
                let low = published.state.low_on_disk();
                low.map(|id| id.get()).collect::<BTreeSet<_>>() == hosts
            })
        })
    });
    assert!(all_know, "not all know that the disks of {hosts:?} are low");
}

/// How many objects a replica holds that runs.
fn objects(world: &World) -> u64 {
    let consensus = world.machines[&HOSTS[0]].consensus().unwrap();
    let published = consensus.published();
    let counts = published.state.present().object_counts(&resource());
    counts.values().sum()
}
