//! Observes one lease: its present state, and then every change of it.

use std::time::Duration;

use synod_model::{ErrorKind, Lease, LeaseKey, Revision};
use synod_proto::v1;
use tokio::time::sleep;

use super::connection::{Broken, Connection, ended};
use crate::transport::Backoff;
use crate::{Client, Error, ReadOptions};

/// A lease under observation: its state, each time that it has changed. Quick successive changes may be seen as one.
#[derive(Debug)]
pub struct LeaseObserver {
    client: Client,
    key: LeaseKey,
    connection: Option<Connection>,
    place: usize,
    backoff: Backoff,
    seen: Seen,
}

/// What is known of the lease.
#[derive(Debug, Default)]
struct Seen {
    /// The revision of the newest state that was read or received. An event that is not newer is already part of it.
    newest: Revision,
    /// The revision of the lease in the last answer, if there was a lease; `None` before the first answer.
    answered: Option<Option<Revision>>,
}

/// How often a silent stream sends a bookmark.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(5);
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));

impl Client {
    /// Observes a lease, which need not exist.
    #[must_use]
    pub fn observe_lease(&self, key: LeaseKey) -> LeaseObserver {
        LeaseObserver {
            place: self.replicas().preferred(),
            client: self.clone(),
            key,
            connection: None,
            backoff: BACKOFF,
            seen: Seen::default(),
        }
    }
}

impl LeaseObserver {
    /// The lease as it is now, and after that each time it has changed; `None` while there is no such lease. Waits for
    /// replicas without a limit.
    ///
    /// # Errors
    ///
    /// The cluster refuses the request.
    pub async fn next(&mut self) -> Result<Option<Lease>, Error> {
        loop {
            match self.advance().await {
                Ok(lease) => {
                    if self.seen.is_news(lease.as_ref()) {
                        return Ok(lease);
                    }
                }
                Err(Broken::Refused(error)) => return Err(error),
                Err(Broken::Lost(_) | Broken::Compacted(_)) => {
                    self.connection = None;
                    self.place = self.client.replicas().after(self.place);
                    sleep(self.backoff.next(&*self.client.seams().randomness)).await;
                }
            }
        }
    }

    async fn advance(&mut self) -> Result<Option<Lease>, Broken> {
        if self.connection.is_none() {
            // First the stream, then the lease: a change in between is read, and its event is skipped. A read that finds
            // no lease does not tell its revision, so the events before a removal are still answered then.
            self.connect().await?;
            // A restored cluster counts revisions from an older one on.
            self.seen.newest = Revision::ZERO;
            return self.read().await;
        }
        loop {
            let connection = self.connection.as_mut();
            let message = match connection {
                Some(connection) => connection.next().await?,
                None => return self.read().await,
            };
            match message.message {
                Some(v1::watch_response::Message::Events(events)) => {
                    self.backoff = BACKOFF;
                    if let Some(lease) = self.seen.after(events, &self.key)? {
                        return Ok(lease);
                    }
                }
                Some(v1::watch_response::Message::Bookmark(_)) => {}
                Some(
                    v1::watch_response::Message::Compacted(_)
                    | v1::watch_response::Message::Ended(_),
                )
                | None => return Err(Broken::Lost(ended())),
            }
        }
    }

    async fn connect(&mut self) -> Result<(), Broken> {
        let message = v1::WatchRequest {
            filter: Some(v1::WatchFilter {
                kinds: vec![v1::ObjectKind::Lease.into()],
                names: vec![self.key.name().to_owned()],
                ..v1::WatchFilter::default()
            }),
            bookmark_interval_ms: u32::try_from(BOOKMARK_INTERVAL.as_millis()).ok(),
            ..v1::WatchRequest::default()
        };
        let (client, span) = (&self.client, self.client.timeout());
        let opened = Connection::open(client, self.place, message, span, BOOKMARK_INTERVAL);
        self.connection = Some(opened.await?);
        Ok(())
    }

    async fn read(&mut self) -> Result<Option<Lease>, Broken> {
        match self
            .client
            .lease(&self.key, ReadOptions::linearizable())
            .await
        {
            Ok(view) => {
                self.seen.newest = view.header.revision;
                Ok(Some(view.item.lease))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) if error.retryable() => Err(Broken::Lost(error)),
            Err(error) if error.kind() == ErrorKind::DeadlineExceeded => Err(Broken::Lost(error)),
            Err(error) => Err(Broken::Refused(error)),
        }
    }
}

impl Seen {
    /// Whether this state differs from the one that was answered last. From now on it is the last one.
    fn is_news(&mut self, lease: Option<&Lease>) -> bool {
        let revision = lease.map(|lease| lease.metadata.resource_version);
        self.answered.replace(revision) != Some(revision)
    }

    /// The lease after these events, if they change it and are newer than what is known.
    fn after(
        &mut self,
        events: v1::WatchEvents,
        key: &LeaseKey,
    ) -> Result<Option<Option<Lease>>, Broken> {
        let revision = Revision::new(events.revision);
        let mut ours = events
            .events
            .into_iter()
            .filter(|event| event.namespace == key.namespace() && event.name == key.name());
        let Some(event) = ours.next_back().filter(|_| revision > self.newest) else {
            return Ok(None);
        };
        self.newest = revision;
        lease_of(event).map(Some)
    }
}

/// The lease after an event.
fn lease_of(event: v1::Event) -> Result<Option<Lease>, Broken> {
    if event.r#type() == v1::EventType::Removed {
        return Ok(None);
    }
    match event.object {
        Some(v1::event::Object::Lease(lease)) => Lease::try_from(lease)
            .map(Some)
            .map_err(|fault| Broken::Refused(Error::malformed(&fault))),
        Some(_) | None => Ok(None),
    }
}

#[cfg(test)]
mod tests;
