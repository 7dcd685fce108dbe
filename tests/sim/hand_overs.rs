//! A leader hands the leadership over while a follower is dead.

use std::sync::{Arc, Mutex};

use rand::RngExt as _;
use synod_machine::ReplicaId;
use synod_server::consensus::TransferError;

use crate::checkers::come_together;
use crate::machine::Kind;
use crate::net::Host;
use crate::seeds::for_each_seed;
use crate::world::{HOSTS, World};

/// The answer to a hand-over, once there is one.
type Answer = Arc<Mutex<Option<Result<(), TransferError>>>>;

// Guarantee: W-03
#[test]
fn a_leader_leads_again_after_a_hand_over_that_no_replica_accepts() {
    let test = "a_leader_leads_again_after_a_hand_over_that_no_replica_accepts";
    for_each_seed(test, Kind::Bare, 1..6, |world| {
        let (leader, [first, second]) = forms(world);
        // The second one votes, and does not stand for election.
        let consensus = world.machines[&second].consensus().unwrap();
        consensus.stand_no_more();
        let answer = hand_over(world, leader, Some(first));
        // It dies after it has said that it lives.
        let moment = world.rng.random_range(2..16);
        world.rest(moment);
        let accepted = answer.lock().unwrap().is_some();
        world.machine(first).kill();
        world.rest(30);
        let before = world.clients.acknowledged();
        let writes = world.run_until(500, |world| world.clients.acknowledged() > before);
        assert!(writes || accepted, "nobody leads after 500 ms");
        world.machine(first).start();
        come_together(world);
    });
}

// Guarantee: W-03
#[test]
fn a_dead_follower_is_not_handed_the_leadership() {
    let test = "a_dead_follower_is_not_handed_the_leadership";
    for_each_seed(test, Kind::Bare, 1..3, |world| {
        let (leader, [alive, dead]) = forms(world);
        world.machine(dead).kill();
        let refused = hand_over(world, leader, Some(dead));
        world.rest(100);
        let told = *refused.lock().unwrap();
        assert_eq!(told, Some(Err(TransferError::Silent(ReplicaId::new(dead)))));
        assert_eq!(world.leader(), Some(leader), "a refusal moves nothing");
        let taken = hand_over(world, leader, None);
        world.rest(200);
        assert_eq!(*taken.lock().unwrap(), Some(Ok(())));
        assert_eq!(world.leader(), Some(alive));
        world.machine(dead).start();
        come_together(world);
    });
}

/// A quiet world: its leader and its followers, of which the second has the higher id.
fn forms(world: &mut World) -> (Host, [Host; 2]) {
    let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 5);
    assert!(formed, "hardly anything is acknowledged");
    world.rest(1_000);
    let leader = world.leader().expect("a quiet world has a leader");
    let mut others = HOSTS.into_iter().filter(|host| *host != leader);
    (leader, [others.next().unwrap(), others.next().unwrap()])
}

fn hand_over(world: &World, leader: Host, to: Option<Host>) -> Answer {
    let machine = &world.machines[&leader];
    let consensus = machine.consensus().unwrap();
    let answer = Answer::default();
    let answered = Arc::clone(&answer);
    machine.spawn(async move {
        let handed = consensus.transfer_leadership(to.map(ReplicaId::new)).await;
        *answered.lock().unwrap() = Some(handed);
    });
    answer
}
