//! Which replicas may be dead, and how it is found out.
//!
//! The system closes a process's sockets one after another, and the one that listens is often the last: it was opened
//! first. A dial that arrives in between is accepted by nobody and dropped a moment later. So a connection proves that
//! somebody lives only once something comes over it, as the settings of HTTP/2 do, with which a server begins.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::sync::Notify;

use super::ReplicaId;
use crate::seams::{Connection, Dial};

/// A replica that has not refused a connection after so long is not known to be dead.
const DIAL_TIMEOUT: Duration = Duration::from_millis(200);

/// After a connection that was accepted and dropped, the next is tried so much later.
const DIAL_PAUSE: Duration = Duration::from_millis(2);

/// The replicas that lost a connection to this one, and whom nobody has looked after yet.
#[derive(Debug, Default)]
pub(super) struct Suspicion {
    lost: Mutex<BTreeSet<ReplicaId>>,
    more: Notify,
}

impl Suspicion {
    /// Takes note that a connection of `replica` ended. Returns at once.
    pub(super) fn connection_lost(&self, replica: ReplicaId) {
        self.lock().insert(replica);
        self.more.notify_one();
    }

    /// Waits until connections have ended, and answers whose.
    pub(super) async fn suspects(&self) -> BTreeSet<ReplicaId> {
        self.more.notified().await;
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<ReplicaId>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether connections to `address` are refused, now or as soon as a dying process has closed what listens there.
pub(super) async fn refuses(dialer: &dyn Dial, address: &str) -> bool {
    let dialing = async {
        loop {
            match dialer.dial(address.to_owned()).await {
                Ok(connection) => {
                    if is_answered(connection).await {
                        return false;
                    }
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::ConnectionRefused => return true,
                    // It was dropped before it could be handed over.
                    io::ErrorKind::ConnectionReset => {}
                    _ => return false,
                },
            }
            tokio::time::sleep(DIAL_PAUSE).await;
        }
    };
    tokio::time::timeout(DIAL_TIMEOUT, dialing)
        .await
        .unwrap_or(false)
}

/// Whether anything comes over a connection before it ends.
async fn is_answered(mut connection: Connection) -> bool {
    connection.read_u8().await.is_ok()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use futures::future::BoxFuture;
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// What becomes of a connection.
    enum Dialed {
        /// Nobody listens.
        Refused,
        /// It is dropped before anything was said.
        Dropped,
        /// It is dropped while it is being made.
        Reset,
        /// Somebody speaks.
        Answered,
        /// Nothing comes, and it stays.
        Silent,
        /// Nothing comes back at all.
        Vanished,
    }

    /// Lets connections end as the test says, in order, and none thereafter.
    struct Scripted(Mutex<VecDeque<Dialed>>);

    impl Dial for Scripted {
        fn dial(&self, address: String) -> BoxFuture<'static, io::Result<Connection>> {
            let next = self.0.lock().unwrap().pop_front();
            let next = next.expect("a dial more than the test expects");
            Box::pin(async move {
                let (ours, mut theirs) = tokio::io::duplex(64);
                match next {
                    Dialed::Refused => return Err(io::ErrorKind::ConnectionRefused.into()),
                    Dialed::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
                    Dialed::Vanished => std::future::pending().await,
                    Dialed::Dropped => {}
                    Dialed::Answered => theirs.write_all(b"settings").await?,
                    Dialed::Silent => {
                        tokio::spawn(async move { theirs.read_u8().await });
                    }
                }
                Ok(Connection::new(ours, address))
            })
        }
    }

    async fn found_dead(script: impl IntoIterator<Item = Dialed>) -> bool {
        let dialer = Scripted(Mutex::new(script.into_iter().collect()));
        let dead = refuses(&dialer, "replica:1").await;
        assert!(dialer.0.lock().unwrap().is_empty(), "too few dials");
        dead
    }

    #[tokio::test(start_paused = true)]
    async fn who_refuses_a_connection_is_dead() {
        assert!(found_dead([Dialed::Refused]).await);
    }

    #[tokio::test(start_paused = true)]
    async fn who_dies_while_it_is_dialed_is_found_out() {
        assert!(found_dead([Dialed::Dropped, Dialed::Reset, Dialed::Refused]).await);
    }

    #[tokio::test(start_paused = true)]
    async fn who_answers_lives_although_a_connection_broke() {
        assert!(!found_dead([Dialed::Answered]).await);
        assert!(!found_dead([Dialed::Dropped, Dialed::Answered]).await);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_silent_or_cannot_be_reached_is_not_known_to_be_dead() {
        assert!(!found_dead([Dialed::Silent]).await);
        assert!(!found_dead([Dialed::Vanished]).await);
    }
}
