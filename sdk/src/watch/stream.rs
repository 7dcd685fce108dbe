//! Turns streams that break into one watch that does not.

use std::time::Duration;

use synod_model::{ClusterId, ErrorKind, Identity, Revision, Verdict, WallTime};
use synod_proto::v1;
use synod_proto::v1::watch_response::Message;
use tokio::time::{Instant, sleep};

use super::connection::{Broken, Connection};
use super::known::Known;
use super::listing::Listing;
use super::{Event, Events, WatchFrom, WatchMessage, WatchOptions};
use crate::transport::Backoff;
use crate::{Client, Error};

/// A watch, and the state that it needs to continue.
#[derive(Debug)]
pub(super) struct Driver {
    client: Client,
    options: WatchOptions,
    /// The first revision that was not delivered. `None`: the stream begins at the present.
    next: Option<Revision>,
    /// The cluster that the revisions are of.
    cluster: Option<ClusterId>,
    known: Known,
    /// Events of a revision whose other fragments are still to come.
    fragments: Vec<Event>,
    /// Whether to list before watching.
    stale: bool,
    connection: Option<Connection>,
    /// The first list, until it is delivered.
    first: Option<WatchMessage>,
    /// The replica to ask next.
    place: usize,
    /// Streams lost in a row that sent nothing after their first message.
    losses: usize,
    backoff: Backoff,
    /// Since when there is no stream.
    lost_at: Option<Instant>,
    over: bool,
}

/// Waits between rounds over all replicas.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(2));

impl Driver {
    pub(super) fn new(client: Client, options: WatchOptions) -> Self {
        let (next, stale) = match options.from {
            WatchFrom::Now => (None, false),
            WatchFrom::List => (None, true),
            WatchFrom::Revision(revision) => (Some(revision), false),
        };
        Self {
            place: client.replicas().preferred(),
            client,
            options,
            next,
            cluster: None,
            known: Known::default(),
            fragments: Vec::new(),
            stale,
            connection: None,
            first: None,
            losses: 0,
            backoff: BACKOFF,
            lost_at: None,
            over: false,
        }
    }

    /// Opens the watch: returns when the first stream is open or the first list is read.
    ///
    /// # Errors
    ///
    /// The cluster refuses the watch, or no replica accepted it within the client's timeout.
    pub(super) async fn begin(&mut self) -> Result<(), Error> {
        let limit = Some(self.client.timeout());
        while self.connection.is_none() && self.first.is_none() {
            if self.stale {
                self.first = Some(self.resync(limit).await?);
            } else {
                self.connect(limit).await?;
            }
        }
        Ok(())
    }

    /// The next message, or the error that ends the watch; then nothing more.
    pub(super) async fn next(&mut self) -> Option<Result<WatchMessage, Error>> {
        if self.over {
            return None;
        }
        let item = self.advance().await;
        self.over = item.is_err();
        Some(item)
    }

    async fn advance(&mut self) -> Result<WatchMessage, Error> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        loop {
            if self.stale {
                return self.resync(self.options.disconnect_limit).await;
            }
            let Some(connection) = &mut self.connection else {
                self.connect(self.options.disconnect_limit).await?;
                continue;
            };
            let of_use = connection.has_begun();
            match connection.next().await {
                Ok(message) => {
                    if of_use {
                        self.losses = 0;
                        self.backoff = BACKOFF;
                    }
                    if let Some(message) = self.take(message)? {
                        return Ok(message);
                    }
                }
                Err(broken) => {
                    self.lose(broken)?;
                }
            }
        }
    }

    /// One try to open a stream, after a wait if every replica has failed in turn.
    ///
    /// # Errors
    ///
    /// The cluster refuses the watch, or there was no stream for longer than the limit.
    async fn connect(&mut self, limit: Option<Duration>) -> Result<(), Error> {
        self.wait().await;
        let interval = self.options.bookmark_interval;
        let cluster = self.cluster.map(|cluster| cluster.to_string());
        let request = v1::WatchRequest {
            from_revision: self.next.map(Revision::get),
            filter: Some(self.options.filter_to_wire()),
            bookmark_interval_ms: Some(u32::try_from(interval.as_millis()).unwrap_or(u32::MAX)),
            cluster_id: cluster.unwrap_or_default(),
        };
        // A replica that hangs must not use up the time for the others.
        let span = self.client.timeout() / 3;
        match Connection::open(&self.client, self.place, request, span, interval).await {
            Ok(connection) => {
                self.connection = Some(connection);
                self.lost_at = None;
                Ok(())
            }
            Err(broken) => match self.lose(broken)? {
                Some(error) => self.check_limit(limit, error),
                None => Ok(()),
            },
        }
    }

    /// Records that there is no stream (any more); returns why, unless the watch continues with a list.
    ///
    /// # Errors
    ///
    /// The cluster refuses the watch.
    fn lose(&mut self, broken: Broken) -> Result<Option<Error>, Error> {
        self.connection = None;
        self.fragments.clear();
        match broken {
            Broken::Refused(error) => Err(error),
            Broken::Compacted(error) if !self.options.resync => Err(error),
            Broken::Compacted(_) => {
                self.stale = true;
                Ok(None)
            }
            Broken::Lost(error) => {
                tracing::debug!(
                    endpoint = self.client.replicas().text(self.place),
                    next = ?self.next,
                    %error,
                    "a watch lost its stream"
                );
                self.place = self.client.replicas().after(self.place);
                self.losses += 1;
                self.lost_at.get_or_insert_with(Instant::now);
                Ok(Some(error))
            }
        }
    }

    fn check_limit(&self, limit: Option<Duration>, error: Error) -> Result<(), Error> {
        let lost_for = self
            .lost_at
            .map(|lost_at| lost_at.elapsed())
            .unwrap_or_default();
        match limit {
            Some(limit) if lost_for >= limit => {
                Err(error.context(format_args!("no replica served the watch for {limit:?}")))
            }
            Some(_) | None => Ok(()),
        }
    }

    async fn wait(&mut self) {
        if self.losses >= self.client.replicas().len() {
            self.losses = 0;
            let wait = self.backoff.next(&*self.client.seams().randomness);
            sleep(wait).await;
        }
    }

    /// Handles a message of the stream; returns what the reader is to see of it.
    fn take(&mut self, message: v1::WatchResponse) -> Result<Option<WatchMessage>, Error> {
        match message.message {
            Some(Message::Events(events)) => self.take_events(events),
            Some(Message::Bookmark(bookmark)) => self.take_bookmark(&bookmark),
            Some(Message::Compacted(compacted)) => {
                let error = super::connection::compacted(&compacted);
                self.lose(Broken::Compacted(error))?;
                Ok(None)
            }
            Some(Message::Ended(ended)) => {
                tracing::debug!(reason = ?ended.reason(), "the replica ended a watch");
                self.lose(Broken::Lost(super::connection::ended()))?;
                Ok(None)
            }
            // A message of a later release.
            None => Ok(None),
        }
    }

    fn take_events(&mut self, pb: v1::WatchEvents) -> Result<Option<WatchMessage>, Error> {
        let revision = Revision::new(pb.revision);
        if self.next.is_some_and(|next| revision < next) {
            return Ok(None);
        }
        for event in pb.events {
            let event = Event::from_wire(event).map_err(|fault| Error::malformed(&fault))?;
            self.fragments.extend(event);
        }
        if pb.more_fragments {
            return Ok(None);
        }
        self.next = Some(revision.next());
        let events = Events {
            revision,
            events: std::mem::take(&mut self.fragments),
            time: pb.time_ms.map(WallTime::from_millis),
            // A text that this client does not take for an identity is for display alone, so the events do not fail for it.
            caller: pb.caller.and_then(|text| Identity::parse(&text).ok()),
        };
        for event in &events.events {
            self.known.deliver(event);
        }
        let nothing = events.events.is_empty();
        Ok((!nothing).then_some(WatchMessage::Events(events)))
    }

    fn take_bookmark(&mut self, pb: &v1::WatchBookmark) -> Result<Option<WatchMessage>, Error> {
        let cluster = ClusterId::parse(&pb.cluster_id)
            .map_err(|fault| Error::malformed(&fault.at("bookmark.clusterId").into()))?;
        let revision = Revision::new(pb.revision);
        if self.next.is_some_and(|next| revision.next() < next) {
            return Ok(None);
        }
        self.cluster = Some(cluster);
        self.next = Some(revision.next());
        Ok(Some(WatchMessage::Bookmark(revision)))
    }

    /// Lists all objects, and returns how they differ from what was delivered.
    ///
    /// # Errors
    ///
    /// The cluster refuses the list, or could not be read for longer than the limit.
    async fn resync(&mut self, limit: Option<Duration>) -> Result<WatchMessage, Error> {
        loop {
            self.wait().await;
            match Listing::read(&self.client, &self.options).await {
                Ok(listing) => {
                    self.stale = false;
                    self.lost_at = None;
                    self.cluster = Some(listing.cluster);
                    self.next = Some(listing.revision.next());
                    self.losses = 0;
                    self.backoff = BACKOFF;
                    let events = self.known.resync(listing.objects);
                    return Ok(WatchMessage::Resync(Events::listed(
                        listing.revision,
                        events,
                    )));
                }
                Err(error) if may_list_again(&error) => {
                    // The client has already tried every replica.
                    self.losses = self.client.replicas().len();
                    self.lost_at.get_or_insert_with(Instant::now);
                    self.check_limit(limit, error)?;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether a list that failed may succeed later.
fn may_list_again(error: &Error) -> bool {
    let moved_on = matches!(
        error.kind(),
        ErrorKind::Compacted | ErrorKind::FutureRevision
    );
    moved_on || error.retryable() || error.execution() == Verdict::Unknown
}
