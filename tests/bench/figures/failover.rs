//! Measures how long no write is acknowledged after the leader is killed.

use std::time::Duration;

use synod_client::{MemberEpoch, MemberId, StatementNumber};
use tokio::time::Instant;

use crate::entry::entry;
use crate::replicas::{Replicas, long_lived};
use crate::sample::times;

const ROUNDS: usize = 20;

/// The time from SIGKILL of the leader until a client of all replicas has a write acknowledged.
pub(crate) async fn leader_killed(replicas: &mut Replicas) {
    let client = replicas.client().await;
    let joined = client
        .send_join(long_lived("survivor"))
        .await
        .expect("a member can join");
    let id = MemberId::parse("survivor").expect("it is a name");
    let member = MemberEpoch {
        member: id,
        epoch: joined.epoch,
        cluster: None,
    };
    let mut taken: Vec<Duration> = Vec::new();
    let mut number = StatementNumber::FIRST;
    for round in 0..ROUNDS {
        let leader = replicas.leader().await;
        let begin = Instant::now();
        replicas.kill(leader).await;
        let entries = vec![entry("survivors", round % 2 == 0)];
        client
            .send_report(&member, number, entries, true)
            .await
            .expect("two of three replicas serve");
        taken.push(begin.elapsed());
        number = number.next().expect("rounds are few");
        replicas.launch(leader);
        replicas.serving(leader).await;
    }
    times(
        "SIGKILL of the leader to the next acknowledged write",
        &taken,
    );
}
