//! Disks that are replaced by an older copy of themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use synod_store::{Disk, SimDisk};

use crate::machine::Kind;
use crate::net::Host;
use crate::seeds::for_each_seed;
use crate::world::{HOSTS, World};

type Files = BTreeMap<PathBuf, Vec<u8>>;

// Guarantee: D-11
#[test]
fn a_disk_that_went_back_elects_nobody_and_is_refused_by_who_remembers() {
    let test = "a_disk_that_went_back_elects_nobody_and_is_refused_by_who_remembers";
    for_each_seed(test, Kind::Bare, 1..3, |world| {
        forms(world);
        let leader = world.leader().unwrap();
        let mut others = HOSTS.into_iter().filter(|host| *host != leader);
        let (old, third) = (others.next().unwrap(), others.next().unwrap());
        let kept = keep(world, old);
        world.run_for(4_000);
        let leader = if world.leader() == Some(third) {
            third
        } else {
            leader
        };
        // The leader writes down how far the others' logs go, with some delay.
        world.rest(3_000);
        HOSTS
            .into_iter()
            .for_each(|host| world.machine(host).kill());
        world.rest(100);
        put_back(world, old, &kept);

        world.machine(leader).start();
        world.machine(old).start();
        let led = world.run_until(10_000, |world| world.leader().is_some());
        assert!(!led, "elected by a disk that went back");
        let consensus = world.machines[&leader].consensus().unwrap();
        assert_eq!(consensus.went_back().len(), 1);

        let before = world.clients.acknowledged();
        let other = HOSTS.into_iter().find(|host| ![leader, old].contains(host));
        world.machine(other.unwrap()).start();
        let goes_on = world.run_until(20_000, |world| world.clients.acknowledged() > before + 5);
        assert!(goes_on, "two that hold everything do not go on");
    });
}

// Guarantee: D-09
#[test]
fn whoever_holds_what_a_majority_that_went_back_lacks_is_neither_cut_nor_voted_out() {
    let test = "whoever_holds_what_a_majority_that_went_back_lacks_is_neither_cut_nor_voted_out";
    for_each_seed(test, Kind::Bare, 1..3, |world| {
        forms(world);
        let [one, two, right] = HOSTS;
        let kept = [one, two].map(|host| (host, keep(world, host)));
        world.run_for(4_000);
        world.rest(2_000);
        let held = log_end(world, right);
        HOSTS
            .into_iter()
            .for_each(|host| world.machine(host).kill());
        world.rest(100);
        kept.iter()
            .for_each(|(host, files)| put_back(world, *host, files));
        // A majority lacks acknowledged entries now, so invariants break. A replica that has them must keep them.
        world.look_away();
        world.machine(one).start();
        world.machine(two).start();
        // Not long enough to pass the third replica's log: a checkpoint cannot be compared with a log.
        world.run_for(1_500);
        world.machine(right).let_end();
        world.machine(right).start();
        let parted = world.run_until(20_000, |world| {
            let said = world.trace.text();
            said.contains("lacks entries that are committed here")
                || said.contains("went back in time")
        });
        assert!(parted, "nobody has noticed");
        world.run_for(6_000);
        let now = log_end(world, right);
        assert!(
            now >= held,
            "{right} has lost something: {now:?} < {held:?}"
        );
        let said = world.trace.text();
        assert!(!said.contains("state differs from the others'"), "{said}");
    });
}

fn forms(world: &mut World) {
    let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 5);
    assert!(
        formed,
        "hardly anything is acknowledged within five seconds"
    );
}

/// Kills a replica, copies its disk, and starts it again.
fn keep(world: &mut World, host: Host) -> Files {
    world.machine(host).kill();
    let files = world.machines[&host].disk.files();
    // The checkers see that it has ended.
    world.run_for(100);
    world.machine(host).start();
    world.run_for(1_000);
    files
}

/// Gives a stopped replica a disk with the copied content.
fn put_back(world: &mut World, host: Host, files: &Files) {
    world.trace.add(format_args!("{host} goes back"));
    let machine = world.machine(host);
    machine.disk = SimDisk::with_files(files);
    // The copy has no empty folders.
    let folder = Path::new("/data/checkpoints");
    machine.disk.create_directory(folder).unwrap();
    machine.let_end();
}

/// The last index in a replica's log.
fn log_end(world: &World, host: Host) -> Option<u64> {
    let consensus = world.machines[&host].consensus()?;
    consensus.status().last_log_index
}
