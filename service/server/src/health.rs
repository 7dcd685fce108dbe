//! Whether this replica serves: whether it has proved lately that its state is current.
//!
//! A replica that is cut off from the leader, or whose leader is cut off from a quorum, still accepts connections, but
//! gets no read index. So a read index is the proof; it is asked for every second unless reads have just done so.
//!
//! A replica that has just started also waits, before it serves for the first time, for the machine version of its build to
//! be in force if that is a matter of moments: in a new cluster its clients would be told that what the release brings is
//! not there yet.

use std::pin::Pin;
use std::time::Duration;

use futures::Stream;
use tokio::time::Instant;

use crate::announce::is_rising;
use crate::consensus::{Consensus, ReplicaId};
use crate::read::Reader;
use crate::seams::watch;
use crate::stop::Stop;

/// A proof older than this is renewed, if no reads do it.
const PERIOD: Duration = Duration::from_secs(1);

/// A replica whose last proof is older than this does not serve.
const LATELY: Duration = Duration::from_secs(3);

/// How long a replica that has just started waits for the machine version of its build. Another one of the set may be down,
/// and announce only much later that it knows it too.
const RISE_MAX: Duration = Duration::from_secs(2);

/// Whether the replica serves, as it changes. Clones show the same value.
#[derive(Clone)]
pub(crate) struct Health {
    serves: watch::Receiver<bool>,
    reader: Reader,
    consensus: Consensus,
}

/// The task that keeps [`Health`] up to date.
pub(crate) struct Pulse {
    serves: watch::Sender<bool>,
    reader: Reader,
    consensus: Consensus,
}

/// The task and what it updates. The replica does not serve yet.
pub(crate) fn health(reader: Reader, consensus: Consensus) -> (Pulse, Health) {
    let (sender, receiver) = watch::channel(false);
    let health = Health {
        serves: receiver,
        reader: reader.clone(),
        consensus: consensus.clone(),
    };
    let pulse = Pulse {
        serves: sender,
        reader,
        consensus,
    };
    (pulse, health)
}

impl Pulse {
    /// Checks every half [`PERIOD`] until `stop`. From then on the replica does not serve.
    pub(crate) async fn beat(self, stop: Stop) {
        let mut has_served = false;
        loop {
            if self.reader.age().is_none_or(|age| age >= PERIOD) {
                // A success shows in the reader's age, so the result is not needed.
                let _ = self.reader.confirm(Instant::now() + PERIOD).await;
            }
            let formed = self.consensus.published().state.cluster().is_some();
            if formed && !has_served {
                tokio::select! {
                    biased;
                    () = stop.requested() => break,
                    () = self.risen() => {}
                }
            }
            let serves = formed && is_lately(self.reader.age());
            has_served |= serves;
            self.tell(serves);
            tokio::select! {
                biased;
                () = stop.requested() => break,
                () = tokio::time::sleep(PERIOD / 2) => {}
            }
        }
        self.tell(false);
    }

    /// Waits until the machine version of this build is in force, or a replica has announced an older one, but at most
    /// [`RISE_MAX`].
    async fn risen(&self) {
        let mut progress = self.consensus.subscribe();
        let until = Instant::now() + RISE_MAX;
        while is_rising(&self.consensus) {
            match tokio::time::timeout_at(until, progress.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => break,
            }
        }
    }

    fn tell(&self, serves: bool) {
        self.serves.send_if_modified(|told| {
            let changed = *told != serves;
            if changed {
                tracing::info!(serves, "the health changed");
            }
            *told = serves;
            changed
        });
    }
}

fn is_lately(age: Option<Duration>) -> bool {
    age.is_some_and(|age| age <= LATELY)
}

impl Health {
    /// Whether the replica serves.
    pub(crate) fn serves(&self) -> bool {
        *self.serves.borrow()
    }

    /// Whether the replica has proved lately that its state is current, even if it does not serve for another reason.
    pub(crate) fn is_proved(&self) -> bool {
        is_lately(self.reader.age())
    }

    /// Who leads, as far as this replica has proved lately that somebody does. A follower that has lost its leader, and finds
    /// no quorum for another one, would name it for ever.
    pub(crate) fn leader(&self) -> Option<ReplicaId> {
        let leader = self.consensus.leadership().borrow().leader;
        leader.filter(|_| is_lately(self.reader.led_age()))
    }

    /// Waits until the replica starts or stops serving.
    pub(crate) async fn changed(&mut self) {
        if self.serves.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until the replica serves.
    pub(crate) async fn wait_until_serving(&self) {
        if self
            .serves
            .clone()
            .wait_for(|serves| *serves)
            .await
            .is_err()
        {
            std::future::pending::<()>().await;
        }
    }

    /// Yields whether the replica serves now, and then each change, until `stop`.
    pub(crate) fn changes(&self, stop: Stop) -> Pin<Box<dyn Stream<Item = bool> + Send>> {
        let told = (self.serves.clone(), stop, None);
        Box::pin(futures::stream::unfold(
            told,
            |(mut serves, stop, last)| async move {
                let changed = async {
                    loop {
                        let now = *serves.borrow_and_update();
                        if last != Some(now) {
                            return Some(now);
                        }
                        serves.changed().await.ok()?;
                    }
                };
                let next = tokio::select! {
                    biased;
                    next = changed => next,
                    () = stop.requested() => None,
                }?;
                Some((next, (serves, stop, Some(next))))
            },
        ))
    }
}
