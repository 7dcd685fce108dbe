//! Injects faults, chosen by the seed.

use rand::RngExt;
use synod_server::consensus::Consensus;

use crate::net::Host;
use crate::world::World;

/// A fault, which is healed after a while.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The link between two machines is cut.
    Cut(Host, Host),
    /// A machine loses all its links.
    Isolate(Host),
    /// A process is killed.
    Kill(Host),
    /// A machine loses power, with unsynced writes if there are any within 200 ms.
    PowerLoss(Host),
    /// All machines lose power.
    Blackout,
    /// The leader transfers its leadership.
    Transfer,
    /// No fault: a replica writes a checkpoint.
    Checkpoint(Host),
}

/// Cuts the leader off for a while, then cuts the power of the next one: every run must see these two.
pub(crate) fn cut_off_and_crash(world: &mut World) {
    for fault in [Fault::Isolate, Fault::PowerLoss] {
        let leads = world.run_until(5_000, |world| world.leader().is_some());
        assert!(leads, "nobody leads within five seconds");
        let fault = fault(world.leader().unwrap());
        world.trace.add(format_args!("fault {fault:?}"));
        suffer(world, fault);
    }
}

/// Injects `count` faults, one after another, and heals each.
pub(crate) fn torment(world: &mut World, count: u32) {
    for _ in 0..count {
        let calm = world.rng.random_range(200..2_000);
        world.run_for(calm);
        let fault = choose(world);
        world.trace.add(format_args!("fault {fault:?}"));
        suffer(world, fault);
    }
}

fn choose(world: &mut World) -> Fault {
    let hosts = world.hosts();
    let place = world.rng.random_range(0..hosts.len());
    let host = hosts[place];
    let other = hosts[(world.rng.random_range(1..hosts.len()) + place) % hosts.len()];
    // Half of the time the leader, since its faults matter most.
    let victim = world
        .leader()
        .filter(|_| world.rng.random_ratio(1, 2))
        .unwrap_or(host);
    match world.rng.random_range(0..18) {
        0..3 => Fault::Cut(host, other),
        3..6 => Fault::Isolate(victim),
        6..9 => Fault::Kill(victim),
        9..13 => Fault::PowerLoss(victim),
        13 => Fault::Blackout,
        14..16 => Fault::Transfer,
        _ => Fault::Checkpoint(host),
    }
}

fn suffer(world: &mut World, fault: Fault) {
    let length = world.rng.random_range(20..4_000);
    match fault {
        Fault::Cut(one, other) => {
            world.net.set_cut(one, other, true);
            world.run_for(length);
            world.net.set_cut(one, other, false);
        }
        Fault::Isolate(host) => {
            world.isolate(host, true);
            world.run_for(length);
            world.isolate(host, false);
        }
        Fault::Kill(host) => {
            world.machine(host).kill();
            world.run_for(length);
            world.machine(host).start();
        }
        Fault::PowerLoss(host) => {
            world.run_until(200, |world| world.machines[&host].disk.unsynced_bytes() > 0);
            lose_power(world, host);
            world.run_for(length);
            restore(world, host);
        }
        Fault::Blackout => {
            let hosts = world.hosts();
            hosts.iter().for_each(|host| lose_power(world, *host));
            world.run_for(length);
            hosts.iter().for_each(|host| restore(world, *host));
        }
        Fault::Transfer => {
            // The transfer may fail, depending on the network.
            let leader = world.leader();
            on_consensus(world, leader, async |it| {
                let _ = it.transfer_leadership(None).await;
            });
        }
        Fault::Checkpoint(host) => {
            on_consensus(world, Some(host), async |it| {
                let _ = it.checkpoint().await;
            });
        }
    }
}

/// Runs `act` with the consensus of a machine, if it runs.
fn on_consensus<F>(world: &World, host: Option<Host>, act: impl FnOnce(Consensus) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let machine = host.and_then(|host| world.machines.get(&host));
    if let Some((machine, consensus)) = machine.and_then(|it| Some((it, it.consensus()?))) {
        machine.spawn(act(consensus));
    }
}

fn lose_power(world: &mut World, host: Host) {
    let seed = world.rng.random();
    world.machine(host).lose_power(seed);
}

fn restore(world: &mut World, host: Host) {
    let machine = world.machine(host);
    machine.restore_power();
    machine.start();
}
