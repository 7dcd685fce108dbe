//! Watches: streams of all events from a revision on, in order, each exactly once.
//!
//! The events are in the history, which is part of the replicated state and the same on every replica. A stream is a
//! cursor into the history ([`cursor`]) that its reader pulls: apply waits for no stream, and an idle stream costs
//! nothing. An event is encoded once, however many streams deliver it ([`encoded`]). A stream without events sends
//! bookmarks at intervals, timed by the runtime's timers. A replica that can no longer prove that its state is current
//! ends its streams: bookmarks alone would look like a cluster in which nothing happens.

#[cfg(test)]
pub(crate) mod costs;
mod cursor;
mod encoded;
mod filter;

use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::metrics::gauge::Gauge;
use synod_machine::EventScope;
use synod_model::{ErrorKind, Refusal, Revision};
use synod_proto::{WatchStart, v1};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::consensus::{Consensus, Published};
use crate::health::Health;
use crate::limits::WATCH_STREAMS_MAX;
use crate::metrics::WatchMetrics;
use crate::read::{Reader, out_of_reach};
use crate::stop::Stop;

pub(crate) use cursor::{Cursor, Step};
use encoded::EncodedHistory;
pub(crate) use encoded::WatchMessage;
pub(crate) use filter::{Wanted, has_labels};

/// Opens streams. Clones share the encoded events and the limit of streams.
#[derive(Clone)]
pub struct Watches {
    shared: Arc<WatchesParts>,
}

struct WatchesParts {
    consensus: Consensus,
    reader: Reader,
    health: Health,
    encoded: EncodedHistory,
    /// The encoded bookmark of the newest revision, which most streams have reached.
    bookmark: Mutex<Option<(Revision, WatchMessage)>>,
    slots: Arc<Semaphore>,
    metrics: Arc<WatchMetrics>,
    stop: Stop,
}

/// The place of a stream within [`WATCH_STREAMS_MAX`].
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
    streams: Gauge,
}

impl Watches {
    /// Creates the watches of a replica. Streams end when `stop` is requested.
    pub(crate) fn new(
        consensus: Consensus,
        reader: Reader,
        health: Health,
        metrics: &Arc<WatchMetrics>,
        stop: Stop,
    ) -> Self {
        let shared = WatchesParts {
            consensus,
            reader,
            health,
            encoded: EncodedHistory::new(Arc::clone(metrics)),
            bookmark: Mutex::new(None),
            slots: Arc::new(Semaphore::new(WATCH_STREAMS_MAX)),
            metrics: Arc::clone(metrics),
            stop,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Opens a stream. `deadline` bounds only the opening. With `shows_callers`, the events name the callers of revisions.
    ///
    /// # Errors
    ///
    /// `FUTURE_REVISION` for a revision beyond the next one, `OVERLOADED` if there are too many streams, and
    /// `UNAVAILABLE` or `DEADLINE_EXCEEDED` if this replica cannot prove in time that its state is current.
    pub(crate) async fn open(
        &self,
        start: WatchStart,
        shows_callers: bool,
        deadline: Instant,
    ) -> Result<Cursor, Refusal> {
        let slot = self.slot()?;
        let (published, seen) = self.beginning(&start, deadline).await?;
        let shared = Arc::clone(&self.shared);
        let scope = EventScope::for_kinds(&start.filter.kinds);
        let floor = published.state.history().floor_for(scope);
        let is_foreign = start
            .cluster
            .is_some_and(|cluster| published.state.cluster() != Some(&cluster));
        if seen < floor || is_foreign {
            let compacted = v1::WatchCompacted {
                oldest_revision: floor.next().get(),
                current_revision: published.state.revision().get(),
            };
            let compacted = message(v1::watch_response::Message::Compacted(compacted));
            return Ok(Cursor::ended(shared, slot, compacted));
        }
        let first = self.shared.bookmark(seen);
        Ok(Cursor::new(
            shared,
            slot,
            Wanted {
                filter: start.filter,
                scope,
                shows_callers,
                bookmark_interval: start.bookmark_interval,
            },
            seen,
            first,
        ))
    }

    /// The state published now, and the revision after which the stream begins.
    async fn beginning(
        &self,
        start: &WatchStart,
        deadline: Instant,
    ) -> Result<(Arc<Published>, Revision), Refusal> {
        let Some(from) = start.from else {
            let published = self.shared.reader.confirm(deadline).await?;
            let newest = published.state.revision();
            return Ok((published, newest));
        };
        let seen = Revision::new(from.get().saturating_sub(1));
        let mut published = self.shared.consensus.published();
        if published.state.revision() < seen || !self.shared.health.is_proved() {
            // Another replica may be ahead of this one, or this one may be cut off.
            published = self.shared.reader.confirm(deadline).await?;
        }
        let present = published.state.revision();
        if present < seen {
            return Err(out_of_reach(
                from,
                synod_machine::OutOfReach::Future { present },
            ));
        }
        Ok((published, seen))
    }

    fn slot(&self) -> Result<Slot, Refusal> {
        let permit = Arc::clone(&self.shared.slots)
            .try_acquire_owned()
            .map_err(|_| {
                let message = format!(
                    "this replica serves {WATCH_STREAMS_MAX} watches already: try another one"
                );
                Refusal::new(ErrorKind::Overloaded, message)
            })?;
        let streams = self.shared.metrics.streams().clone();
        streams.inc();
        Ok(Slot {
            _permit: permit,
            streams,
        })
    }
}

impl WatchesParts {
    /// The message that everything up to `revision` was delivered.
    fn bookmark(&self, revision: Revision) -> WatchMessage {
        self.metrics.bookmark();
        let mut newest = self.bookmark.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, encoded)) = newest.as_ref().filter(|(of, _)| *of == revision) {
            return encoded.clone();
        }
        let cluster = self
            .consensus
            .published()
            .state
            .cluster()
            .map(ToString::to_string);
        let encoded = message(v1::watch_response::Message::Bookmark(v1::WatchBookmark {
            revision: revision.get(),
            cluster_id: cluster.unwrap_or_default(),
            replica_id: self.consensus.replica().get(),
        }));
        let encoded = encoded.up_to(revision);
        *newest = Some((revision, encoded.clone()));
        encoded
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.streams.dec();
    }
}

fn message(message: v1::watch_response::Message) -> WatchMessage {
    WatchMessage::of(&v1::WatchResponse {
        message: Some(message),
    })
}
