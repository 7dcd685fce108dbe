//! Whether this replica serves: whether it has proved lately that its state is current.
//!
//! A replica that is cut off from the leader, or whose leader is cut off from a quorum, still answers the phone. What it
//! cannot do is get a read index; so that is what is asked, every second unless reads have just done it.

use std::pin::Pin;
use std::time::Duration;

use futures::Stream;
use tokio::time::Instant;

use crate::handle::Handle;
use crate::read::Reader;
use crate::seams::watch;
use crate::stop::Stop;

/// How often a replica proves itself that nobody reads from.
const PERIOD: Duration = Duration::from_secs(1);

/// A replica whose last proof is older does not serve.
const LATELY: Duration = Duration::from_secs(3);

/// Whether the replica serves, as it changes. Clones tell the same.
#[derive(Clone)]
pub(crate) struct Health {
    serves: watch::Receiver<bool>,
}

/// Keeps [`Health`] true.
pub(crate) struct Pulse {
    serves: watch::Sender<bool>,
    reader: Reader,
    handle: Handle,
}

/// Both ends. The replica does not serve yet.
pub(crate) fn health(reader: Reader, handle: Handle) -> (Pulse, Health) {
    let (sender, receiver) = watch::channel(false);
    (
        Pulse {
            serves: sender,
            reader,
            handle,
        },
        Health { serves: receiver },
    )
}

impl Pulse {
    /// Looks every second until `stop`. From then on the replica does not serve.
    pub(crate) async fn beat(self, stop: Stop) {
        loop {
            if self.reader.age().is_none_or(|age| age >= PERIOD) {
                // The outcome shows in the age.
                let _ = self.reader.confirm(Instant::now() + PERIOD).await;
            }
            let proved = self.reader.age().is_some_and(|age| age <= LATELY);
            self.tell(proved && self.handle.cluster().is_ok());
            tokio::select! {
                biased;
                () = stop.requested() => break,
                () = tokio::time::sleep(PERIOD / 2) => {}
            }
        }
        self.tell(false);
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

impl Health {
    /// Whether the replica serves.
    pub(crate) fn serves(&self) -> bool {
        *self.serves.borrow()
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

    /// Whether it serves now, and then whenever that changes, until `stop`.
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
