//! A calling end that looks at its files before each connection.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use crate::connector::{ClientTls, Connector};
use crate::fault::Fault;
use crate::reloaded::Refreshed;

/// A connection does not wait longer for changed files.
const REFRESH_MAX: Duration = Duration::from_millis(250);

/// The calling end of connections, which reads changed files before each of them. Clones share what was read.
#[derive(Clone)]
pub struct FreshConnector {
    connector: Connector,
    /// The fault of the files that was logged last.
    told: Arc<Mutex<Option<Fault>>>,
}

impl FreshConnector {
    /// Reads the CAs, the certificate and the key.
    ///
    /// # Errors
    ///
    /// The [`Fault`] of the first one that cannot be used.
    pub fn load(tls: ClientTls) -> Result<Self, Fault> {
        Ok(Self {
            connector: Connector::load(tls)?,
            told: Arc::default(),
        })
    }

    /// Reads the files again if they have changed, and agrees with the server as [`Connector::connect`] does. Files that cannot
    /// be used are logged once, and what was read before stays in use. Call it within a tokio runtime.
    ///
    /// # Errors
    ///
    /// Those of [`Connector::connect`].
    pub async fn connect<S>(&self, stream: S, host: &str) -> io::Result<BufReader<TlsStream<S>>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.refresh().await;
        self.connector.connect(stream, host).await
    }

    async fn refresh(&self) {
        let Ok(Ok(refreshed)) = timeout(REFRESH_MAX, read(self.connector.clone())).await else {
            // The disk hangs, or the runtime ends: what was read before stays in use.
            return;
        };
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = refreshed.err();
        if let Some(fault) = &fault
            && told.as_ref() != Some(fault)
        {
            tracing::warn!(%fault, "new certificates cannot be used; the old ones stay");
        }
        *told = fault;
    }
}

impl fmt::Debug for FreshConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreshConnector").finish_non_exhaustive()
    }
}

/// Reads changed files on a thread that may wait for a disk.
#[expect(
    clippy::disallowed_methods,
    reason = "a simulation has no transport security, so it has no files to read"
)]
fn read(connector: Connector) -> JoinHandle<Result<Refreshed, Fault>> {
    tokio::task::spawn_blocking(move || connector.refresh())
}
