//! Under random faults, no acknowledged write is lost, nothing else is invented, and the replicas converge at the end.

use crate::checkers::come_together;
use crate::faults::torment;
use crate::machine::{CHECKPOINT_ENTRIES, Kind};
use crate::rollouts::Rollout;
use crate::rotations::Rotation;
use crate::seeds::for_each_seed;
use crate::users::Users;
use crate::world::{HOSTS, World};

fn forms(world: &mut World) {
    let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 0);
    assert!(formed, "nothing is acknowledged within five seconds");
}

// Guarantee: X-01
#[test]
fn consensus_survives_whatever_goes_wrong() {
    let test = "consensus_survives_whatever_goes_wrong";
    for_each_seed(test, Kind::Bare, 1..4, |world| {
        forms(world);
        torment(world, 8);
        come_together(world);
        assert!(world.clients.reads() > 10, "hardly any read was answered");
    });
}

// Guarantee: X-01
#[test]
fn whole_replicas_survive_whatever_goes_wrong() {
    let test = "whole_replicas_survive_whatever_goes_wrong";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        forms(world);
        torment(world, 8);
        come_together(world);
        assert!(world.clients.reads() > 10, "hardly any read was answered");
    });
}

// Guarantee: O-05, L-01
#[test]
fn objects_and_leases_survive_whatever_goes_wrong() {
    let test = "objects_and_leases_survive_whatever_goes_wrong";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        forms(world);
        let users = Users::start(world);
        torment(world, 8);
        users.finish(world);
        come_together(world);
        users.check(world);
    });
}

// Guarantee: X-02
#[test]
fn rollouts_survive_whatever_goes_wrong() {
    let test = "rollouts_survive_whatever_goes_wrong";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        forms(world);
        let rollout = Rollout::start(world);
        torment(world, 8);
        rollout.finish(world);
        come_together(world);
        rollout.check(world);
    });
}

// Guarantee: T-01, T-02, T-05, T-07
#[test]
fn topics_survive_whatever_goes_wrong() {
    let test = "topics_survive_whatever_goes_wrong";
    // Each takes most of a minute of one processor.
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        forms(world);
        let rotation = Rotation::start(world);
        torment(world, 10);
        rotation.finish(world);
        come_together(world);
        rotation.check(world);
    });
}

#[test]
fn a_leader_that_is_cut_off_from_the_others_renews_nobody() {
    let test = "a_leader_that_is_cut_off_from_the_others_renews_nobody";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        forms(world);
        let keepers = Users::keeping(world);
        // The keeper of the lease is connected to the leader in some of the rounds.
        for _ in 0..6 {
            world.run_for(3_000);
            let leader = world.leader().unwrap();
            world.isolate(leader, true);
            // Several TTLs. Its clients still reach it, and the checkers look at whoever acts by what it has answered.
            world.run_for(10_000);
            let others = HOSTS.iter().filter(|host| **host != leader);
            let led = others.filter(|host| world.machines[host].leads()).count();
            assert_eq!(led, 1, "nobody took over");
            world.isolate(leader, false);
        }
        keepers.finish(world);
        come_together(world);
    });
}

// Guarantee: W-02
#[test]
fn a_killed_leader_is_replaced_at_once() {
    let test = "a_killed_leader_is_replaced_at_once";
    for_each_seed(test, Kind::Bare, 100..104, |world| {
        forms(world);
        world.run_for(1_000);
        kill_the_leader(world);
        // The restarted replica has caught up, and no client writes: no append is in flight.
        world.rest(1_000);
        kill_the_leader(world);
        come_together(world);
    });
}

#[test]
fn who_was_away_gets_what_it_missed_as_soon_as_it_is_back() {
    let test = "who_was_away_gets_what_it_missed_as_soon_as_it_is_back";
    for_each_seed(test, Kind::Bare, 1..3, |world| {
        forms(world);
        // The pauses between a leader's tries grow while a replica is away, to a second.
        for away in [700, 2_900] {
            let leader = world.leader().expect("a quiet world has a leader");
            let follower = HOSTS.into_iter().find(|host| *host != leader).unwrap();
            world.machine(follower).kill();
            let held = world.applied(leader);
            world.run_until(1_000, |world| world.applied(leader) > held);
            world.rest(away);
            let missed = world.applied(leader);
            // Else a checkpoint may be sent, which is tried at its own pace.
            assert!(
                held < missed && missed < CHECKPOINT_ENTRIES,
                "{held}, {missed}"
            );
            world.machine(follower).start();
            let caught_up = world.run_until(200, |world| world.applied(follower) >= missed);
            assert!(
                caught_up,
                "{follower}, away for {away} ms, lacks entries 200 ms after it is back"
            );
        }
        come_together(world);
    });
}

#[test]
fn a_leader_is_heard_over_ways_that_take_nearly_half_a_heartbeat() {
    let test = "a_leader_is_heard_over_ways_that_take_nearly_half_a_heartbeat";
    for_each_seed(test, Kind::Bare, 1..4, |world| {
        forms(world);
        world.rest(1_000);
        let leader = world.leader();
        world.net.slow_down(30);
        // No client writes, so only heartbeats show that the leader lives.
        for _ in 0..100 {
            world.rest(100);
            assert_eq!(world.leader(), leader, "another one leads");
        }
        world.net.slow_down(0);
        come_together(world);
    });
}

/// Kills the leader, checks that another one takes over, and starts the killed one again.
fn kill_the_leader(world: &mut World) {
    let leader = world.leader().expect("a quiet world has a leader");
    world.machine(leader).kill();
    // Far below the lease and an election timeout: the others notice that nothing listens at its address any more.
    let replaced = world.run_until(250, |world| world.leader().is_some_and(|now| now != leader));
    assert!(
        replaced,
        "{leader} was killed, and nobody leads after 250 ms"
    );
    world.machine(leader).start();
}
