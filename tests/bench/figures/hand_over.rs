//! Measures how long no write is acknowledged when the leader is asked to end, beside when it is killed.

use std::cell::Cell;
use std::time::Duration;

use synod_client::{Client, MemberEpoch, MemberId, StatementNumber};
use tokio::time::Instant;

use crate::entry::entry;
use crate::replicas::{Replicas, long_lived};
use crate::sample::{Sample, times};

const ROUNDS: usize = 20;

/// How a leader ends.
#[derive(Clone, Copy)]
enum Ends {
    /// By SIGTERM: it hands the leadership over first.
    Asked,
    /// By SIGKILL.
    Killed,
}

/// A client that writes all the time, one write after another.
struct Writing {
    client: Client,
    member: MemberEpoch,
    number: StatementNumber,
}

impl Writing {
    async fn start(replicas: &Replicas) -> Self {
        let client = replicas.client().await;
        let joined = client.send_join(long_lived("writing")).await;
        let epoch = joined.expect("a member can join").epoch;
        let member = MemberEpoch {
            member: MemberId::parse("writing").expect("it is a name"),
            epoch,
            cluster: None,
        };
        Self {
            client,
            member,
            number: StatementNumber::FIRST,
        }
    }

    async fn write(&mut self) {
        let entries = vec![entry("written", self.number.get().is_multiple_of(2))];
        let reported = self
            .client
            .send_report(&self.member, self.number, entries, true);
        reported.await.expect("two of three replicas serve");
        self.number = self.number.next().expect("writes are few");
    }

    /// The longest time without an acknowledged write while the leader ends, and until the next write after that.
    async fn pause(&mut self, replicas: &mut Replicas, ends: Ends) -> Duration {
        let leader = replicas.leader().await;
        self.write().await;
        let has_ended = Cell::new(false);
        let end = async {
            match ends {
                Ends::Asked => replicas.terminate(leader).await,
                Ends::Killed => replicas.kill(leader).await,
            }
            has_ended.set(true);
        };
        let writes = async {
            let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
            loop {
                let is_last = has_ended.get();
                self.write().await;
                longest = longest.max(last.elapsed());
                last = Instant::now();
                if is_last {
                    return longest;
                }
            }
        };
        let ((), longest) = tokio::join!(end, writes);
        replicas.launch(leader);
        replicas.serving(leader).await;
        longest
    }
}

/// The pauses of one client's writes when the leader is asked to end, and their ratio to those when it is killed.
pub(crate) async fn leader_hands_over(replicas: &mut Replicas) {
    let mut writing = Writing::start(replicas).await;
    let (mut asked, mut killed): (Vec<Duration>, Vec<Duration>) = Default::default();
    for _ in 0..ROUNDS {
        asked.push(writing.pause(replicas, Ends::Asked).await);
        killed.push(writing.pause(replicas, Ends::Killed).await);
    }
    times("the pause of writes at SIGTERM of the leader", &asked);
    times("the pause of writes at SIGKILL of the leader", &killed);
    let sample = |taken: &[Duration]| {
        let mut sample = Sample::default();
        taken
            .iter()
            .for_each(|taken| sample.push(taken.as_secs_f64()));
        sample
    };
    let ratio = sample(&asked).ratios_to(&sample(&killed));
    println!(
        "{:<52} {:>37}",
        "the first beside the second, round by round",
        ratio.spread()
    );
}
