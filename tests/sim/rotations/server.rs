//! A server that restarts again and again: with the next key or level, or without.

use std::time::Duration;

use rand::RngExt;
use synod_client::{
    ApiVersion, ErrorKind, JoinOptions, Kind, MemberId, Membership, Permit, ReportEntry, Stance,
    Topic, Ttl, VersionSet,
};

use super::ledger::OBJECTS;
use super::{GRACE, Participant, key, level, topics};

pub(super) async fn run(mut server: Participant) {
    while !server.is_over() {
        server.pause(50..400).await;
        let id = MemberId::parse(&format!("server-{}", server.host)).unwrap();
        let options = JoinOptions::new(id).ttl(Ttl::from_millis(5_000).unwrap());
        let Ok(membership) = server.client.join(options).await else {
            continue;
        };
        let entries = entries(&mut server);
        match membership.report(entries).await {
            Ok(_) => live(&mut server, membership).await,
            Err(error) => {
                if error.kind() == ErrorKind::NotDecodable {
                    server.ledger.refused();
                }
                server
                    .trace
                    .add(format_args!("{} cannot report: {error}", server.host));
            }
        }
    }
}

/// What it reports: most of the time the newest key and the newest level, otherwise what it had before.
fn entries(server: &mut Participant) -> Vec<ReportEntry> {
    let [keys, feature] = topics();
    let oldest = server.ledger.oldest();
    let has_next = server.ledger.is_calm() || server.rng.random_ratio(3, 4);
    let newest = oldest + u64::from(has_next);
    let highest = server.ledger.highest() + u64::from(server.rng.random_ratio(1, 2));
    // A rotation is called off now and then.
    let is_called_off = !server.ledger.is_calm() && server.rng.random_ratio(1, 5);
    let preferred = if is_called_off { oldest } else { newest };
    let highest = highest.max(1);
    vec![
        entry(&keys, (oldest..=newest).map(key), key(preferred)),
        entry(&feature, (1..=highest).map(level), level(highest)),
    ]
}

/// An entry that reads these values, and prefers one of them.
fn entry(
    topic: &Topic,
    values: impl Iterator<Item = ApiVersion>,
    preferred: ApiVersion,
) -> ReportEntry {
    let values: VersionSet = values.collect();
    ReportEntry {
        resource: topic.resource().clone(),
        kind: Kind::parse("Thing").unwrap(),
        decodable: values.clone(),
        served: values,
        stance: Stance::Voting { preferred },
    }
}

/// Writes for a while, and ends in one way or another.
async fn live(server: &mut Participant, membership: Membership) {
    let [keys, feature] = topics();
    let gate = membership.gate();
    let oldest = server.ledger.oldest();
    let turns = server.rng.random_range(10..40);
    for turn in 0.. {
        let is_to_go = match server.ledger.is_calm() {
            true => server.ledger.oldest() > oldest,
            false => turn > turns,
        };
        if is_to_go || server.is_over() {
            break;
        }
        if let Ok(permit) = gate.try_permit(keys.resource())
            && permit.check().is_ok()
        {
            server.ledger.permitted(membership.id(), &permit);
            write(server, permit);
        }
        if let Ok(permit) = gate.try_permit(feature.resource()) {
            server.ledger.permitted(membership.id(), &permit);
            server.ledger.uses(permit.encoding(), permit.revision());
            permit.done();
        }
        server.pause(20..200).await;
    }
    match server.rng.random_range(0..3) {
        _ if server.ledger.is_calm() => drop(membership.leave(2 * GRACE).await),
        0 => drop(membership.leave(Duration::from_millis(500)).await),
        // It joins again under its own id.
        1 => drop(membership),
        // It is killed, and stays away until it has expired.
        _ => {
            drop(membership);
            server.pause(3_000..8_000).await;
        }
    }
}

/// Sends a write to the store, where it lands whatever becomes of the server: some at the end of what a write may take.
fn write(server: &mut Participant, permit: Permit) {
    let is_late = server.rng.random_ratio(1, 6);
    let after = match is_late {
        // The server's clock is up to a twentieth slower than the cluster's.
        true => GRACE.mul_f64(0.8),
        false => Duration::from_millis(server.rng.random_range(0..50)),
    };
    let object = server.rng.random_range(0..OBJECTS);
    let ledger = server.ledger.clone();
    tokio::spawn(async move {
        if is_late {
            // The store does not answer, so the server gives up; the write is on its way nevertheless.
            permit.unknown_outcome();
        }
        tokio::time::sleep(after).await;
        ledger.write(object, permit.encoding(), permit.revision(), is_late);
        permit.done();
    });
}
