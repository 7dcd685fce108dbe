//! A server that restarts again and again: with the next key or level, or without.

use std::time::Duration;

use rand::RngExt;
use synod_client::{
    ApiVersion, ErrorKind, JoinOptions, Kind, MemberId, Membership, Permit, ReportEntry, Stance,
    Topic, Ttl,
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
    let newest = oldest + u64::from(server.rng.random_ratio(3, 4));
    let highest = server.ledger.highest() + u64::from(server.rng.random_ratio(1, 2));
    vec![
        entry(&keys, (oldest..=newest).map(key).collect()),
        entry(&feature, (1..=highest.max(1)).map(level).collect()),
    ]
}

/// An entry that reads these values, and prefers the last.
fn entry(topic: &Topic, values: Vec<ApiVersion>) -> ReportEntry {
    ReportEntry {
        resource: topic.resource().clone(),
        kind: Kind::parse("Thing").unwrap(),
        decodable: values.iter().cloned().collect(),
        served: values.iter().cloned().collect(),
        stance: Stance::Voting {
            preferred: values.last().unwrap().clone(),
        },
    }
}

/// Writes for a while, and ends in one way or another.
async fn live(server: &mut Participant, membership: Membership) {
    let [keys, feature] = topics();
    let gate = membership.gate();
    for _ in 0..server.rng.random_range(10..40) {
        if server.is_over() {
            break;
        }
        if let Ok(permit) = gate.try_permit(keys.resource())
            && permit.check().is_ok()
        {
            write(server, permit);
        }
        if let Ok(permit) = gate.try_permit(feature.resource()) {
            server.ledger.uses(permit.encoding(), permit.revision());
            permit.done();
        }
        server.pause(20..200).await;
    }
    match server.rng.random_range(0..3) {
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
    let is_late = server.rng.random_ratio(1, 20);
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
