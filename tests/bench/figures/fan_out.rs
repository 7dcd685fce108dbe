//! Measures how long a report of 1,000 resources takes to reach watchers on all replicas.

use std::time::Duration;

use synod_client::{
    MemberEpoch, MemberId, ObjectKind, Revision, StatementNumber, Watch, WatchMessage, WatchOptions,
};
use tokio::time::Instant;

use crate::entry::entry;
use crate::replicas::{Replicas, long_lived};
use crate::sample::times;
use crate::waiting::within;

const RESOURCES: usize = 1_000;
const ROUNDS: usize = 11;

/// The time from before the report is sent until the last of three watchers, on three replicas, has all of it.
pub(crate) async fn thousand_resources(replicas: &Replicas) {
    let client = replicas.client().await;
    let joined = client
        .send_join(long_lived("reporter"))
        .await
        .expect("a member can join");
    let id = MemberId::parse("reporter").expect("it is a name");
    let member = MemberEpoch {
        member: id,
        epoch: joined.epoch,
        cluster: None,
    };
    let mut watches = Vec::new();
    for at in 0..3 {
        let options = WatchOptions::new().kinds(vec![ObjectKind::StorageVersion]);
        watches.push(
            replicas
                .client_of(at)
                .await
                .watch(options)
                .await
                .expect("a watch can be opened"),
        );
    }
    let mut taken: Vec<Duration> = Vec::new();
    let mut number = StatementNumber::FIRST;
    for round in 0..ROUNDS {
        let entries = (0..RESOURCES)
            .map(|at| entry(&format!("fan{at}s"), round % 2 == 0))
            .collect();
        let begin = Instant::now();
        let reported = client
            .send_report(&member, number, entries, true)
            .await
            .expect("it is reported");
        for watch in &mut watches {
            within("all of the report", all_of(watch, reported.header.revision)).await;
        }
        taken.push(begin.elapsed());
        number = number.next().expect("rounds are few");
    }
    times(
        "report of 1,000 resources to the last of 3 watchers",
        &taken,
    );
}

async fn all_of(watch: &mut Watch, revision: Revision) {
    loop {
        let message = watch
            .next()
            .await
            .expect("the watch goes on")
            .expect("the watch works");
        if let WatchMessage::Events(events) = message
            && events.revision == revision
        {
            assert_eq!(events.events.len(), RESOURCES, "a revision comes whole");
            return;
        }
    }
}
