//! [`Watch`]: every change of the cluster, in order, as documents.

use std::sync::atomic::{AtomicU64, Ordering};

use futures::stream::StreamExt as _;
use serde_json::json;
use synod_client::json as form;
use synod_client::{Revision, WatchFrom, WatchMessage, WatchOptions};

use crate::options::{Options, flag, millis, rule};
use crate::{Bound, Failure, Feed, Taken};

/// A watch: every change, in order. [`synod_client::Watch`], by documents.
///
/// Each message is one of `{"events": WatchEvents}`, `{"resync": WatchEvents}` and `{"bookmark": WatchBookmark}`. The
/// watch ends with a failure: with `COMPACTED` only if `resync` is false, and then the metadata has `oldest_revision`.
#[derive(Debug)]
pub struct Watch {
    feed: Feed<WatchDocument>,
    /// The revision after the last popped message; zero before the first.
    position: AtomicU64,
}

/// A message, and the last revision that it covers.
#[derive(Debug)]
struct WatchDocument {
    document: String,
    revision: Revision,
}

impl Taken for WatchDocument {}

impl Bound {
    /// Watches the cluster. Returns once a replica has taken the watch: every later change will be delivered.
    ///
    /// Options: those of a `WatchRequest`, except `clusterId`; `from: "list"`, to begin with all present objects, as a
    /// resync; `resync: false`, to end with `COMPACTED` where the history is gone; `disconnectLimitMs`, the time
    /// without any replica after which the watch fails.
    ///
    /// # Errors
    ///
    /// The cluster refuses the watch, or no replica took it in time.
    pub async fn watch(&self, options: &str) -> Result<Watch, Failure> {
        let watch = self.client().watch(watch_options(options)?).await?;
        let feed = Feed::of(watch.map(|message| Ok(told(&message?))));
        Ok(Watch {
            feed,
            position: AtomicU64::new(0),
        })
    }
}

fn watch_options(options: &str) -> Result<WatchOptions, Failure> {
    let mut options = Options::parse(options)?;
    let list = options.take("from", |value| match value.as_str() {
        Some("list") => Ok(()),
        _ => Err(rule("must be \"list\" or left out")),
    });
    let resync = options.take("resync", flag);
    let limit = options.take("disconnectLimitMs", millis);
    let mut made = options.rest::<WatchOptions>();
    if list.is_some() {
        made = made.map(|made| made.from(WatchFrom::List));
    }
    if resync == Some(false) {
        made = made.map(WatchOptions::without_resync);
    }
    if let Some(limit) = limit {
        made = made.map(|made| made.disconnect_limit(limit));
    }
    options.end(made)
}

fn told(message: &WatchMessage) -> WatchDocument {
    let (document, revision) = match message {
        WatchMessage::Events(events) => (json!({"events": form::of(events)}), events.revision),
        WatchMessage::Resync(events) => (json!({"resync": form::of(events)}), events.revision),
        WatchMessage::Bookmark(at) => (json!({"bookmark": form::bookmark(*at)}), *at),
    };
    WatchDocument {
        document: document.to_string(),
        revision,
    }
}

impl Watch {
    /// As [`Feed::ready`].
    ///
    /// # Errors
    ///
    /// The failure that ends the watch.
    pub async fn ready(&self) -> Result<bool, Failure> {
        self.feed.ready().await
    }

    /// As [`Feed::pop`].
    pub fn pop(&self) -> Option<String> {
        let message = self.feed.pop()?;
        let next = message.revision.next().get();
        self.position.store(next, Ordering::SeqCst);
        Some(message.document)
    }

    /// As [`Feed::next`].
    ///
    /// # Errors
    ///
    /// The failure that ends the watch.
    pub async fn next(&self) -> Result<Option<String>, Failure> {
        while self.ready().await? {
            if let Some(message) = self.pop() {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// The revision from which another watch continues after the last popped message; `None` before the first message.
    #[must_use]
    pub fn position(&self) -> Option<u64> {
        Some(self.position.load(Ordering::SeqCst)).filter(|position| *position > 0)
    }

    /// Ends the watch, and wakes its waiters.
    pub fn close(&self) {
        self.feed.close();
    }
}
