//! A member that renews all the time, to check that it never expires too early.

use std::time::Duration;

use synod_client::{Client, ErrorKind, MemberEpoch};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::waiting::{LIMIT, within};
use crate::writers::join;

/// A member that renews all the time.
pub(crate) struct Keeper {
    stop: watch::Sender<bool>,
    acknowledged: watch::Receiver<usize>,
    task: JoinHandle<Kept>,
}

/// The results, by the member's own clock.
struct Kept {
    member: MemberEpoch,
    ttl: Duration,
    /// When the last renewal that was acknowledged was sent.
    proved: Instant,
    /// The longest time between two acknowledged renewals.
    gap_max: Duration,
    /// Each time it was told that it is no longer a member: the time since the last acknowledged renewal.
    gone: Vec<Duration>,
}

impl Keeper {
    /// Joins a member, which renews from then on at whichever replica answers.
    pub(crate) async fn start(client: Client, id: &str, ttl: Duration) -> Self {
        let proved = Instant::now();
        let kept = Kept {
            member: let_in(&client, id, ttl).await,
            ttl,
            proved,
            gap_max: Duration::ZERO,
            gone: Vec::new(),
        };
        let (stop, stopped) = watch::channel(false);
        let (sender, acknowledged) = watch::channel(0);
        let task = tokio::spawn(keep(client, kept, stopped, sender));
        Self {
            stop,
            acknowledged,
            task,
        }
    }

    /// Waits until this many more renewals have been acknowledged.
    pub(crate) async fn acknowledge(&mut self, more: usize) {
        let wanted = *self.acknowledged.borrow_and_update() + more;
        let what = format!("{more} more renewals to be acknowledged");
        let waiting = self.acknowledged.wait_for(|count| *count >= wanted);
        within(&what, waiting)
            .await
            .expect("a member renews until it is told to stop");
    }

    /// Stops renewing, and checks that the member never expired before its TTL.
    pub(crate) async fn check(self) -> MemberEpoch {
        self.stop.send_replace(true);
        let Kept {
            member,
            ttl,
            gap_max,
            gone,
            ..
        } = within("a member to stop", self.task)
            .await
            .expect("no panic");
        println!(
            "{}: at most {gap_max:?} between renewals, of a TTL of {ttl:?}",
            member.member
        );
        for after in gone {
            assert!(
                after >= ttl,
                "{} was expired {after:?} after it renewed, of {ttl:?}",
                member.member
            );
        }
        member
    }
}

/// Joins, however long the replicas take to elect a leader.
async fn let_in(client: &Client, id: &str, ttl: Duration) -> MemberEpoch {
    let ttl_ms = u64::try_from(ttl.as_millis()).expect("it is short");
    join(&client.with_timeout(LIMIT), id, id, ttl_ms).await
}

async fn keep(
    client: Client,
    mut kept: Kept,
    stopped: watch::Receiver<bool>,
    acknowledged: watch::Sender<usize>,
) -> Kept {
    let impatient = client.with_timeout(kept.ttl);
    let mut beat = interval(kept.ttl / 8);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !*stopped.borrow() {
        beat.tick().await;
        let sent = Instant::now();
        match impatient.send_renew(&kept.member).await {
            Ok(_) => {
                kept.gap_max = kept.gap_max.max(sent - kept.proved);
                kept.proved = sent;
                acknowledged.send_modify(|count| *count += 1);
            }
            Err(error) if error.kind() == ErrorKind::NotAMember => {
                kept.gone.push(kept.proved.elapsed());
                // Correct only after a TTL without an acknowledged renewal (see `check`). It joins again.
                kept.proved = Instant::now();
                kept.member = let_in(&client, kept.member.member.as_str(), kept.ttl).await;
            }
            Err(_) => {}
        }
    }
    kept
}
