//! Once everything is healed, the replicas come together: one leader, one state, with all that was acknowledged in it.

use crate::workload::{self, Fate};
use crate::world::World;

/// Within so many milliseconds of quiet.
const PATIENCE: u64 = 15_000;

/// Lets the healed world go on until it has come together. Panics if it does not.
pub(crate) fn come_together(world: &mut World) {
    let acknowledged_before = world.ledger.with_fate(Fate::Acknowledged).len();
    let alive = world.run_until(PATIENCE, |world| {
        world.leader().is_some()
            && world.ledger.with_fate(Fate::Acknowledged).len() > acknowledged_before + 5
    });
    assert!(alive, "healed, and nothing is acknowledged");
    // The last requests end, and the followers hear of what is committed.
    world.rest(2_000);
    let acknowledged = world.ledger.with_fate(Fate::Acknowledged);
    let mut states = Vec::new();
    for machine in world.machines.values() {
        let published = machine
            .consensus()
            .expect("everything is healed")
            .published();
        assert_eq!(
            workload::missing(&published.state, &acknowledged),
            None,
            "{} lacks an acknowledged proposal",
            machine.host
        );
        states.push((published.applied, published.state.digest()));
    }
    states.dedup();
    assert_eq!(states.len(), 1, "the replicas differ: {states:?}");
    world.trace.add(format_args!(
        "together at {states:?} with {} acknowledged",
        acknowledged.len()
    ));
}
