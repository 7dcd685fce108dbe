//! A checkpoint is damaged when a lagging replica needs it, while no client writes; and the end of a log may be lost.

use std::path::{Path, PathBuf};

use rand::RngExt;
use synod_store::{Disk as _, SimDisk};

use crate::checkers::come_together;
use crate::clients::Clients;
use crate::machine::{CHECKPOINT_ENTRIES, KEPT_ENTRIES, Kind, Machine};
use crate::seeds::for_each_seed;
use crate::world::{HOSTS, World};

/// The file that keeps a replica from voting.
const MUST_CATCH_UP: &str = "/data/wal/MUST-CATCH-UP";

#[test]
fn a_damaged_checkpoint_is_replaced_and_the_lagging_replica_served_while_nobody_writes() {
    let test =
        "a_damaged_checkpoint_is_replaced_and_the_lagging_replica_served_while_nobody_writes";
    for_each_seed(test, Kind::Bare, 1..3, |world| {
        let lagging = leave_behind(world);
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

/// A replica acknowledges an entry, loses it, and comes back before the leader has the acknowledgement. The leader has committed
/// all that it announces; it counts the acknowledgement once it arrives.
// Guarantee: D-04
#[test]
fn a_replica_that_lost_what_the_leader_may_count_does_not_vote() {
    let test = "a_replica_that_lost_what_the_leader_may_count_does_not_vote";
    for_each_seed(test, Kind::Bare, 1..5, |world| {
        let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 5);
        assert!(formed, "hardly anything is acknowledged");
        world.rest(1_000);
        let leader = world.leader().unwrap();
        let mut others = HOSTS.into_iter().filter(|host| *host != leader);
        let (forgetful, other) = (others.next().unwrap(), others.next().unwrap());
        isolate(world, other, true);
        let before = world.machines[&forgetful].disk.files();
        world.net.cut_towards(forgetful, leader);
        let Clients::Proposing(ledger) = &world.clients else {
            unreachable!("consensus alone has clients that propose")
        };
        ledger.propose(&world.machines[&leader], &world.trace);
        let held = last_index(world, forgetful);
        world.rest(30);
        assert!(
            last_index(world, forgetful) > held,
            "the entry did not arrive"
        );
        world.machine(forgetful).kill();
        // The checkers see that it has ended.
        world.rest(100);
        let disk = SimDisk::with_files(&before);
        disk.create(MUST_CATCH_UP.as_ref(), 0).unwrap();
        // No checkpoint was written yet.
        disk.create_directory("/data/checkpoints".as_ref()).unwrap();
        world.machine(forgetful).disk = disk;
        world.machine(forgetful).start();
        world.rest(5_000);
        assert_eq!(last_index(world, forgetful), held, "the entry came back");
        let consensus = world.machines[&forgetful].consensus().unwrap();
        assert!(!consensus.may_vote(), "it votes without the entry");
        // Another leadership sends the entry again: openraft never lowers what it has counted.
        world.machine(leader).kill();
        world.rest(100);
        world.machine(leader).start();
        for host in HOSTS {
            isolate(world, host, false);
        }
        let votes = |world: &World| {
            let consensus = world.machines[&forgetful].consensus();
            consensus.is_some_and(|consensus| consensus.may_vote())
        };
        assert!(world.run_until(20_000, votes), "it never votes again");
        come_together(world);
    });
}

/// A replica whose log's end was damaged and cut off catches up under the leader that counts what was lost, also with that leader
/// alone; and what it has is enough to elect another leader that has as much.
// Guarantee: D-04
#[test]
fn a_replica_whose_damaged_log_end_was_cut_catches_up() {
    let test = "a_replica_whose_damaged_log_end_was_cut_catches_up";
    for_each_seed(test, Kind::Bare, 1..5, |world| {
        let (leader, forgetful, other) = with_three_alike(world);
        let case = world.rng.random_range(0..4);
        world.machine(forgetful).kill();
        // The checkers see that it has ended.
        world.rest(100);
        damage_log_end(&mut world.machine(forgetful).disk);
        match case {
            0 | 1 => world.machine(other).kill(),
            2 => world.machine(leader).kill(),
            _ => {}
        }
        world.rest(100);
        // Both followers may have lost it.
        if case == 1 {
            damage_log_end(&mut world.machine(other).disk);
            world.machine(other).start();
        }
        world.machine(forgetful).start();
        let before = world.clients.acknowledged();
        let goes_on = world.run_until(20_000, |world| world.clients.acknowledged() > before + 3);
        assert!(goes_on, "nothing is acknowledged any more, {case}");
        let votes = |world: &World| {
            let consensus = world.machines[&forgetful].consensus();
            consensus.is_some_and(|consensus| consensus.may_vote())
        };
        assert!(world.run_until(20_000, votes), "it never votes again");
        for host in [leader, other] {
            if world.machines[&host].consensus().is_none() {
                world.machine(host).start();
            }
        }
        come_together(world);
    });
}

/// A replica that lost an entry which the dead leader had committed by it votes for nobody who lacks that entry.
// Guarantee: D-04
#[test]
fn a_replica_whose_log_end_was_cut_votes_for_nobody_who_lacks_what_it_lost() {
    let test = "a_replica_whose_log_end_was_cut_votes_for_nobody_who_lacks_what_it_lost";
    for_each_seed(test, Kind::Bare, 1..5, |world| {
        let (leader, forgetful, other) = with_three_alike(world);
        isolate(world, other, true);
        let acknowledged = world.clients.acknowledged();
        let more = world.run_until(10_000, |world| world.clients.acknowledged() > acknowledged);
        assert!(more, "the two acknowledge nothing");
        world.machine(forgetful).kill();
        world.machine(leader).kill();
        // What is under way to it is lost with its connections.
        world.machine(other).kill();
        world.rest(100);
        world.machine(other).start();
        world.rest(100);
        let lacks = last_index(world, other);
        damage_log_end(&mut world.machine(forgetful).disk);
        isolate(world, other, false);
        world.machine(forgetful).start();
        world.rest(10_000);
        assert_eq!(last_index(world, other), lacks, "{other} was elected");
        world.machine(leader).start();
        come_together(world);
    });
}

/// Waits until three replicas have the same log. Returns the leader and the others.
fn with_three_alike(world: &mut World) -> (u64, u64, u64) {
    let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 5);
    assert!(formed, "hardly anything is acknowledged");
    world.rest(1_000);
    let leader = world.leader().unwrap();
    let mut others = HOSTS.into_iter().filter(|host| *host != leader);
    (leader, others.next().unwrap(), others.next().unwrap())
}

/// Flips a bit in the last batch of a log, and takes away the mark behind it, which was not synced.
fn damage_log_end(disk: &mut SimDisk) {
    const SEGMENT_HEADER: usize = 144;
    const BATCH_HEADER: usize = 36;
    let mut files = disk.files();
    let segments = files
        .keys()
        .filter(|path| path.extension().is_some_and(|end| end == "wal"));
    let path = segments.max().unwrap().clone();
    let bytes = files.get_mut(&path).unwrap();
    let (mut at, mut batches) = (SEGMENT_HEADER, Vec::new());
    while bytes[at..].iter().any(|byte| *byte != 0) {
        let length: [u8; 4] = bytes[at + 4..at + 8].try_into().unwrap();
        let length = u32::from_le_bytes(length) as usize;
        batches.push((at, length));
        at += BATCH_HEADER + length;
    }
    if let Some((mark, 0)) = batches.last() {
        bytes[*mark..*mark + BATCH_HEADER].fill(0);
        batches.pop();
    }
    let (start, length) = batches.pop().unwrap();
    bytes[start + BATCH_HEADER + length - 3] ^= 0x10;
    *disk = SimDisk::with_files(&files);
    disk.create_directory("/data/checkpoints".as_ref()).unwrap();
}

/// The index of the last entry in a replica's log.
fn last_index(world: &World, host: u64) -> Option<u64> {
    let consensus = world.machines[&host].consensus()?;
    consensus.status().last_log_index
}

/// openraft answers no vote and no append while it installs a checkpoint (`docs/internals/openraft.md`). With two of three replicas up
/// and an install that takes longer than a lease, nobody leads for a while, and then the two go on.
#[test]
fn two_of_three_go_on_after_an_install_that_takes_long() {
    let test = "two_of_three_go_on_after_an_install_that_takes_long";
    for_each_seed(test, Kind::Bare, 1..3, |world| {
        let lagging = leave_behind(world);
        let leader = world.leader().unwrap();
        let dead = HOSTS
            .into_iter()
            .find(|host| ![leader, lagging].contains(host));
        let dead = dead.unwrap();
        world.machine(lagging).kill();
        world.machine(dead).kill();
        // The checkers see that they have ended.
        world.rest(100);
        world.machine(lagging).flush = 700..=900;
        world.machine(lagging).start();
        isolate(world, lagging, false);
        let before = world.clients.acknowledged();
        let goes_on = world.run_until(60_000, |world| world.clients.acknowledged() > before + 3);
        assert!(goes_on, "the two do not go on");
        let installed = world.machines[&lagging].consensus().unwrap().published();
        assert!(installed.generation > 0, "{lagging} got no checkpoint");
        world.machine(lagging).kill();
        world.rest(100);
        world.machine(lagging).flush = 1..=6;
        world.machine(lagging).start();
        world.machine(dead).start();
        come_together(world);
    });
}

/// Cuts a follower off until the others have purged what it lacks.
fn leave_behind(world: &mut World) -> u64 {
    let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 0);
    assert!(formed, "nothing is acknowledged within five seconds");
    let leader = world.leader().unwrap();
    let lagging = HOSTS.into_iter().find(|host| *host != leader).unwrap();
    isolate(world, lagging, true);
    let far = world.applied(leader) + 3 * (CHECKPOINT_ENTRIES + KEPT_ENTRIES);
    let purged = world.run_until(300_000, |world| world.applied(leader) > far);
    assert!(purged, "hardly anything was written");
    world.rest(2_000);
    lagging
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

/// A replica that may have lost the end of its log takes it anew from the leader. It votes only once that is on its disk: its power
/// may fail right then, and must not have lost it again.
// Guarantee: D-04
#[test]
fn a_replica_that_votes_again_has_what_it_took_anew_on_its_disk() {
    let test = "a_replica_that_votes_again_has_what_it_took_anew_on_its_disk";
    for_each_seed(test, Kind::Bare, 1..5, |world| {
        let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 5);
        assert!(formed, "hardly anything is acknowledged");
        world.rest(500);
        let leader = world.leader().unwrap();
        let forgetful = HOSTS.into_iter().find(|host| *host != leader).unwrap();
        world.machine(forgetful).kill();
        let before = world.applied(leader);
        world.run_until(5_000, |world| world.applied(leader) > before + 3);
        world.rest(500);
        // Recovery writes it when it cuts off a record that looks complete.
        let disk = world.machines[&forgetful].disk.clone();
        disk.create(MUST_CATCH_UP.as_ref(), 0).unwrap();
        world.machine(forgetful).start();
        let waits = |world: &World| {
            let files = world.machines[&forgetful].disk.files();
            files.contains_key(Path::new(MUST_CATCH_UP))
        };
        let end = world.now + 20_000;
        while waits(world) && world.now < end {
            world.rest(2);
        }
        assert!(!waits(world), "it never catches up");
        let applied = world.applied(forgetful);
        assert!(applied > before, "it took nothing");
        let seed = world.rng.random();
        world.machine(forgetful).lose_power(seed);
        isolate(world, forgetful, true);
        // The checkers see that it has ended.
        world.rest(100);
        world.machines[&forgetful].restore_power();
        world.machine(forgetful).start();
        world.rest(200);
        let held = world.machines[&forgetful].consensus().unwrap().status();
        assert!(
            held.last_log_index >= Some(applied),
            "{forgetful} votes, and has lost what it took anew: {:?}, {applied}",
            held.last_log_index
        );
        isolate(world, forgetful, false);
        come_together(world);
    });
}
