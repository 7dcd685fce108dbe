//! Whatever goes wrong, nothing acknowledged is lost, nothing else is invented, and it ends well.

use crate::checkers::come_together;
use crate::faults::torment;
use crate::seeds::for_each_seed;
use crate::workload::Fate;
use crate::world::World;

fn forms(world: &mut World) {
    let formed = world.run_until(5_000, |world| {
        !world.ledger.with_fate(Fate::Acknowledged).is_empty()
    });
    assert!(formed, "no replica set within five seconds");
}

#[test]
fn three_replicas_survive_whatever_goes_wrong() {
    for_each_seed(
        "three_replicas_survive_whatever_goes_wrong",
        1,
        20,
        |world| {
            forms(world);
            torment(world, 8);
            come_together(world);
            assert!(world.ledger.reads() > 10, "hardly any read was answered");
        },
    );
}

#[test]
fn a_killed_leader_is_replaced_at_once() {
    for_each_seed("a_killed_leader_is_replaced_at_once", 100, 10, |world| {
        forms(world);
        world.run_for(1_000);
        let leader = world.leader().expect("a quiet world has a leader");
        world.machine(leader).kill();
        // Far below the lease and an election timeout: the survivors notice that nobody listens there any more.
        let replaced =
            world.run_until(250, |world| world.leader().is_some_and(|now| now != leader));
        assert!(
            replaced,
            "{leader} was killed, and nobody leads after 250 ms"
        );
        world.machine(leader).start(&crate::world::HOSTS);
        come_together(world);
    });
}
