//! After all faults are healed, the replicas converge: one leader, and one state with everything that was acknowledged.

use crate::clients::Clients;
use crate::proposals;
use crate::world::World;

/// The time for each stage, in simulated milliseconds.
const PATIENCE: u64 = 15_000;

/// Lets the healed world go on until the replicas have converged. Panics if they do not.
pub(crate) fn come_together(world: &mut World) {
    let before = world.clients.acknowledged();
    let alive = world.run_until(PATIENCE, |world| {
        world.leader().is_some() && world.clients.acknowledged() > before + 5
    });
    assert!(alive, "healed, and nothing is acknowledged");
    // The last requests end, and the followers learn what is committed.
    world.rest(2_000);
    let together = world.run_until(PATIENCE, one_state);
    assert!(together, "healed, and the replicas differ");
    for machine in world.machines.values() {
        let published = machine
            .consensus()
            .expect("everything is healed")
            .published();
        let missing = match &world.clients {
            Clients::Proposing(ledger) => {
                proposals::missing(&published.state, &ledger.acknowledged())
            }
            Clients::Serving(servers) => {
                let newest = servers.notes().newest();
                (published.state.revision() < newest).then_some(newest.get())
            }
        };
        assert_eq!(
            missing, None,
            "{} lacks what was acknowledged",
            machine.host
        );
    }
    let acknowledged = world.clients.acknowledged();
    world
        .trace
        .add(format_args!("together, with {acknowledged} acknowledged"));
}

fn one_state(world: &World) -> bool {
    let mut states: Vec<_> = world
        .machines
        .values()
        .map(|machine| {
            let published = machine.consensus().map(|consensus| consensus.published());
            published.map(|published| (published.applied, published.state.digest()))
        })
        .collect();
    states.dedup();
    states.len() == 1
}
