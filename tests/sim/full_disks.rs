//! Disks that become full, and have room again.

use std::collections::BTreeSet;

use synod_store::{Disk as _, SimDisk};

use crate::checkers::come_together;
use crate::machine::Kind;
use crate::net::Host;
use crate::seeds::for_each_seed;
use crate::users::{Users, resource};
use crate::world::{HOSTS, World};

/// The time until all replicas know which disks are low, in simulated milliseconds.
const HEARD: u64 = 10_000;

#[test]
fn nearly_full_disks_stop_what_grows_and_nobody_and_it_goes_on_when_they_have_room() {
    let test = "nearly_full_disks_stop_what_grows_and_nobody_and_it_goes_on_when_they_have_room";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        let users = begin(world);
        for host in HOSTS {
            // Less than is in use already, so the disk is low; but what may still be written fits.
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
        // Members still renew, and repeat their reports.
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
            world.machine(host).let_end();
            world.machine(host).start();
        }
        let users = begin(world);
        let leader = world.leader().unwrap();
        disk(world, leader).set_capacity(Some(taken(world, leader)));
        // A write that fits into the log's segment needs no new space; a checkpoint does.
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
        // The checkers see that it has ended.
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

#[test]
fn a_replica_that_died_with_a_low_disk_stops_no_writes_although_its_leader_died_too() {
    let test = "a_replica_that_died_with_a_low_disk_stops_no_writes_although_its_leader_died_too";
    for_each_seed(test, Kind::Whole, 1..2, |world| {
        let formed = world.run_until(10_000, |world| world.clients.acknowledged() > 0);
        assert!(formed, "nothing is acknowledged within ten seconds");
        world.run_for(2_000);
        let leader = world.leader().unwrap();
        let mut others = HOSTS.into_iter().filter(|host| *host != leader);
        let (gone, next) = (others.next().unwrap(), others.next().unwrap());
        let taken = taken(world, gone);
        disk(world, gone).set_capacity(Some(taken + taken * 3 / 4));
        low(world, &[gone]);
        world.machine(gone).kill();
        world.machine(leader).kill();
        // The checkers see that it has ended.
        world.rest(100);
        world.machine(leader).start();
        // The present leader never had an answer of the one that is gone.
        let excused = world.run_until(90_000, |world| {
            let consensus = world.machines[&next].consensus().unwrap();
            consensus.published().state.low_on_disk().next().is_none()
        });
        assert!(
            excused,
            "{gone} is gone, and writes are refused for its disk"
        );
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

/// The used bytes of a disk.
fn taken(world: &World, host: Host) -> u64 {
    let space = disk(world, host).space("/data".as_ref()).unwrap();
    space.size - space.free
}

/// Waits until all replicas know that exactly these disks are low.
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

/// The number of objects at a running replica.
fn objects(world: &World) -> u64 {
    let consensus = world.machines[&HOSTS[0]].consensus().unwrap();
    let published = consensus.published();
    let counts = published.state.present().object_counts(&resource());
    counts.values().sum()
}
