//! Finds out whether a replica that lost a connection is dead.
//!
//! When a process dies, the system closes its sockets one after another, the listening socket often last, because it
//! was opened first. A dial in between is accepted by the system and dropped a moment later. So a connection proves
//! that the process lives only once bytes arrive over it, such as the settings with which an HTTP/2 server begins.

use std::io;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;

use crate::seams::{Connection, Dial};

/// A replica that has not refused a connection within this time is not known to be dead.
const DIAL_TIMEOUT: Duration = Duration::from_millis(200);

/// The pause before the next dial, after a connection that was accepted and dropped.
const DIAL_PAUSE: Duration = Duration::from_millis(2);

/// Whether connections to `address` are refused, now or as soon as a dying process's listening socket is closed.
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
                    // The connection was dropped before it could be accepted, or before both ends had agreed on
                    // transport security.
                    io::ErrorKind::ConnectionReset
                    | io::ErrorKind::ConnectionAborted
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::UnexpectedEof => {}
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

/// Whether a byte arrives over a connection before it ends.
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

    /// The fate of a dialed connection.
    enum Dialed {
        /// Refused: no process listens.
        Refused,
        /// Accepted, and dropped before any byte was sent.
        Dropped,
        /// Reset while it is being established.
        Reset,
        /// The other end sends bytes.
        Answered,
        /// No byte arrives, and the connection stays open.
        Silent,
        /// The dial gets no reply at all.
        Vanished,
    }

    /// A dialer whose connections end as scripted, in order. A dial beyond the script fails the test.
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

    // Guarantee: W-02
    #[tokio::test(start_paused = true)]
    async fn who_dies_while_it_is_dialed_is_found_out() {
        assert!(found_dead([Dialed::Dropped, Dialed::Reset, Dialed::Refused]).await);
    }

    // Guarantee: W-02
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
