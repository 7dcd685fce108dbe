//! Watches: every change, in order, over lost connections and replicas.

mod connection;
mod event;
mod known;
mod lease;
mod listing;
mod options;
mod stream;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::stream::{BoxStream, Stream, StreamExt as _, unfold};

use crate::{Client, Error};
use stream::Driver;

pub use event::{ChangeType, Event, Events, StorageVersionChange, WatchMessage, WatchedObject};
pub use lease::LeaseObserver;
pub use options::{WatchFrom, WatchOptions};

/// A watch: a [`Stream`] of all changes, in the order of the revisions.
///
/// It reconnects by itself, to any replica, and continues where it was: no change is missed, and none is delivered
/// twice. If the history in between is gone, the changes are delivered as one [`WatchMessage::Resync`]. A connection
/// that has died in silence is noticed by its missing bookmarks.
///
/// The watch reads as fast as it is polled: events that are not polled yet stay at the replica, in the shared history,
/// and cost neither side memory. It ends with an error only if the cluster refuses it, or after
/// [`WatchOptions::disconnect_limit`].
pub struct Watch {
    stream: BoxStream<'static, Result<WatchMessage, Error>>,
}

impl Watch {
    /// The next message; `None` after an error has ended the watch. The future can be dropped at any time without
    /// losing a message.
    pub async fn next(&mut self) -> Option<Result<WatchMessage, Error>> {
        self.stream.next().await
    }
}

impl Stream for Watch {
    type Item = Result<WatchMessage, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.stream.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl Client {
    /// Watches the cluster. Returns once the watch is open: all later changes will be delivered.
    ///
    /// # Errors
    ///
    /// The cluster refuses the watch, or no replica accepted it within the client's timeout.
    pub async fn watch(&self, options: WatchOptions) -> Result<Watch, Error> {
        let mut driver = Driver::new(self.clone(), options);
        driver.begin().await?;
        let stream = unfold(driver, |mut driver| async move {
            let item = driver.next().await?;
            Some((item, driver))
        });
        Ok(Watch {
            stream: stream.boxed(),
        })
    }
}
