//! Measures how long no write is acknowledged when the leader is asked to end, beside when it is killed.

use std::cell::Cell;
use std::time::Duration;

use synod_client::{Client, MemberEpoch, MemberId, Revision, StatementNumber};
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
pub(crate) struct Writing {
    client: Client,
    member: MemberEpoch,
    resource: String,
    number: StatementNumber,
    acknowledged: Vec<Revision>,
}

impl Writing {
    /// A client of this name, which is that of its member and of the resource that it reports.
    pub(crate) async fn start(replicas: &Replicas, name: &str) -> Self {
        let client = replicas.client().await;
        let joined = client.send_join(long_lived(name)).await;
        let epoch = joined.expect("a member can join").epoch;
        let member = MemberEpoch {
            member: MemberId::parse(name).expect("it is a name"),
            epoch,
            cluster: None,
        };
        Self {
            client,
            member,
            resource: name.to_owned(),
            number: StatementNumber::FIRST,
            acknowledged: Vec::new(),
        }
    }

    /// Writes once. Returns the revision.
    pub(crate) async fn write(&mut self) -> Revision {
        let entries = vec![entry(&self.resource, self.number.get().is_multiple_of(2))];
        let reported = self
            .client
            .send_report(&self.member, self.number, entries, true);
        let reported = reported.await.expect("two of three replicas serve");
        self.number = self.number.next().expect("writes are few");
        self.acknowledged.push(reported.header.revision);
        reported.header.revision
    }

    /// The revisions of all writes, each of which changed what is reported.
    pub(crate) fn acknowledged(self) -> Vec<Revision> {
        self.acknowledged
    }

    /// The longest time without an acknowledged write while the leader ends, and until the next write after that. Then the
    /// replica is started again.
    async fn pause(&mut self, replicas: &mut Replicas, ends: Ends) -> Duration {
        let leader = replicas.leader().await;
        let longest = match ends {
            Ends::Asked => self.pause_during(replicas.terminate(leader)).await,
            Ends::Killed => self.pause_during(replicas.kill(leader)).await,
        };
        replicas.launch(leader);
        replicas.serving(leader).await;
        longest
    }
}

impl Writing {
    /// The longest time without an acknowledged write while this goes on, and until the next write after that.
    pub(crate) async fn pause_during(&mut self, going_on: impl Future<Output = ()>) -> Duration {
        self.write().await;
        let has_ended = Cell::new(false);
        let going_on = async {
            going_on.await;
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
        let ((), longest) = tokio::join!(going_on, writes);
        longest
    }
}

/// The pauses of one client's writes when the leader is asked to end, and their ratio to those when it is killed.
pub(crate) async fn leader_hands_over(replicas: &mut Replicas) {
    let mut writing = Writing::start(replicas, "writing").await;
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
