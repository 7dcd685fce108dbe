//! Events in their encoded form, encoded once however many streams deliver them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::{Bytes, BytesMut};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};
use synod_machine::{Change, RevisionEvents};
use synod_model::{Identity, Revision, WallTime};
use synod_proto::{WatchFilter, v1};

use super::filter::{self, View, Wanted};
use crate::limits::{ENCODED_BYTES_MAX, ENCODED_REVISIONS_MAX, WATCH_MESSAGE_BYTES_MAX};
use crate::metrics::WatchMetrics;
use crate::objects;

/// The field numbers of `synod.v1` that are encoded by hand here.
mod field {
    /// `WatchResponse.events`.
    pub(super) const RESPONSE_EVENTS: u32 = 1;
    /// `WatchEvents.revision`.
    pub(super) const REVISION: u32 = 1;
    /// `WatchEvents.events`.
    pub(super) const EVENTS: u32 = 2;
}

/// An encoded `synod.v1.WatchResponse`, in pieces that are shared with other streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchMessage {
    pieces: Vec<Bytes>,
    /// The revision that it is of, or up to which it is a bookmark. Zero for the last message of a stream.
    revision: Revision,
    events: usize,
    more_fragments: bool,
}

/// The encoded events of recently requested revisions.
pub(super) struct EncodedHistory {
    kept: Mutex<EncodedRevisions>,
    metrics: Arc<WatchMetrics>,
}

#[derive(Default)]
struct EncodedRevisions {
    /// Each revision with the bytes of its events that are encoded so far.
    revisions: BTreeMap<Revision, (Arc<EncodedRevision>, usize)>,
    bytes: usize,
}

/// The events of one revision, with their encoded form once a stream has asked for it.
pub(super) struct EncodedRevision {
    source: Arc<RevisionEvents>,
    encoded: OnceLock<Encoded>,
}

struct Encoded {
    events: Vec<EncodedEvent>,
    /// The messages for a stream without a filter.
    unfiltered: Vec<WatchMessage>,
    bytes: usize,
}

/// What a message says of its revision beside the events.
#[derive(Clone, Copy)]
struct Origin<'a> {
    revision: Revision,
    time: Option<WallTime>,
    /// The caller, if the reader may see it.
    caller: Option<&'a Identity>,
}

/// One event, encoded as an item of `WatchEvents.events`.
struct EncodedEvent {
    name: String,
    plain: Bytes,
    appears: OnceLock<Bytes>,
    disappears: OnceLock<Bytes>,
}

impl WatchMessage {
    /// The message that was encoded from `response`.
    pub(super) fn of(response: &v1::WatchResponse) -> Self {
        Self {
            pieces: vec![response.encode_to_vec().into()],
            revision: Revision::ZERO,
            events: 0,
            more_fragments: false,
        }
    }

    /// The message as a bookmark of this revision.
    pub(super) fn up_to(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }

    /// The revision that the message is of.
    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether a watch that has everything up to a revision has yet to get this message. A bookmark tells no less than
    /// it knows, and the last message of a stream is for everybody.
    pub(crate) fn is_news_after(&self, has: Revision) -> bool {
        self.revision == Revision::ZERO
            || self.revision > has
            || (self.events == 0 && self.revision == has)
    }

    /// The number of events in the message.
    pub(super) fn events(&self) -> usize {
        self.events
    }

    /// Whether more events of its revision follow.
    pub(super) fn more_fragments(&self) -> bool {
        self.more_fragments
    }

    /// The bytes of the message, in pieces in order.
    pub(crate) fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// The number of bytes in the message.
    pub(crate) fn len(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }
}

impl<'a> Origin<'a> {
    fn new(events: &RevisionEvents, caller: Option<&'a Identity>) -> Self {
        Self {
            revision: events.revision,
            time: events.time,
            caller,
        }
    }
}

impl EncodedHistory {
    pub(super) fn new(metrics: Arc<WatchMetrics>) -> Self {
        Self {
            kept: Mutex::default(),
            metrics,
        }
    }

    /// The messages of one revision for a stream that wants this: none if no event passes.
    pub(super) fn messages_for(
        &self,
        events: &Arc<RevisionEvents>,
        wanted: &Wanted,
    ) -> Vec<WatchMessage> {
        let caller = events.caller.as_ref().filter(|_| wanted.shows_callers);
        self.messages(events, &wanted.filter, caller)
    }

    /// The messages of one revision for a stream with this filter that may see this caller.
    pub(super) fn messages(
        &self,
        events: &Arc<RevisionEvents>,
        filter: &WatchFilter,
        caller: Option<&Identity>,
    ) -> Vec<WatchMessage> {
        if events.changes.is_empty() {
            return Vec::new();
        }
        let revision = self.revision(events);
        let encoded = revision.encoded.get_or_init(|| {
            let encoded = Encoded::of(events);
            self.account(events.revision, encoded.bytes);
            encoded
        });
        // The messages that are shared name no caller. With one, the events are shared and the rest is not.
        if filter::passes_all(filter) && caller.is_none() {
            return encoded.unfiltered.clone();
        }
        let seen = encoded
            .events
            .iter()
            .zip(&revision.source.changes)
            .filter_map(|(event, change)| {
                let kept = |form, say: fn(&Change) -> v1::Event| {
                    Some(self.kept(form, events.revision, || framed(&say(change))))
                };
                match filter::view(filter, &event.name, change) {
                    View::Hidden => None,
                    View::Plain => Some(event.plain.clone()),
                    View::Appears => kept(&event.appears, objects::appearance),
                    View::Disappears => kept(&event.disappears, objects::disappearance),
                }
            });
        messages(Origin::new(events, caller), seen)
    }

    /// A form of an event that only streams with a filter need, encoded for the first of them.
    fn kept(
        &self,
        form: &OnceLock<Bytes>,
        revision: Revision,
        encode: impl FnOnce() -> Bytes,
    ) -> Bytes {
        let encoded = form.get_or_init(|| {
            let encoded = encode();
            self.account(revision, encoded.len());
            encoded
        });
        encoded.clone()
    }

    fn revision(&self, events: &Arc<RevisionEvents>) -> Arc<EncodedRevision> {
        let mut kept = self.lock();
        match kept.revisions.get(&events.revision) {
            Some((revision, _)) if Arc::ptr_eq(&revision.source, events) => {
                return Arc::clone(revision);
            }
            // A checkpoint replaced the history, so the same revision is another allocation.
            Some(_) => kept.remove(events.revision),
            None => {}
        }
        let revision = Arc::new(EncodedRevision {
            source: Arc::clone(events),
            encoded: OnceLock::new(),
        });
        kept.revisions
            .insert(events.revision, (Arc::clone(&revision), 0));
        kept.trim();
        revision
    }

    fn account(&self, revision: Revision, bytes: usize) {
        let mut kept = self.lock();
        if let Some((_, kept_bytes)) = kept.revisions.get_mut(&revision) {
            *kept_bytes += bytes;
            kept.bytes += bytes;
            kept.trim();
        }
        self.metrics.encoded(kept.revisions.len(), kept.bytes);
    }

    fn lock(&self) -> MutexGuard<'_, EncodedRevisions> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EncodedRevisions {
    fn trim(&mut self) {
        while self.revisions.len() > ENCODED_REVISIONS_MAX
            || (self.bytes > ENCODED_BYTES_MAX && self.revisions.len() > 1)
        {
            let Some(oldest) = self.revisions.keys().next().copied() else {
                return;
            };
            self.remove(oldest);
        }
    }

    fn remove(&mut self, revision: Revision) {
        if let Some((_, bytes)) = self.revisions.remove(&revision) {
            self.bytes -= bytes;
        }
    }
}

impl Encoded {
    fn of(events: &RevisionEvents) -> Self {
        let of_change = |change: &Change| EncodedEvent {
            name: change.object.name(),
            plain: framed(&objects::event(change)),
            appears: OnceLock::new(),
            disappears: OnceLock::new(),
        };
        let encoded: Vec<EncodedEvent> = events.changes.iter().map(of_change).collect();
        let unfiltered = messages(
            Origin::new(events, None),
            encoded.iter().map(|event| event.plain.clone()),
        );
        let bytes = encoded
            .iter()
            .map(|event| event.plain.len() + event.name.len())
            .sum();
        Self {
            events: encoded,
            unfiltered,
            bytes,
        }
    }
}

/// Encodes an event as an item of `WatchEvents.events`.
fn framed(event: &v1::Event) -> Bytes {
    let mut bytes = BytesMut::with_capacity(length_framed(field::EVENTS, event.encoded_len()));
    encode_key(field::EVENTS, WireType::LengthDelimited, &mut bytes);
    encode_varint(event.encoded_len() as u64, &mut bytes);
    event.encode_raw(&mut bytes);
    bytes.freeze()
}

/// Packs the encoded events of one revision into messages of a bounded size. All but the last say that more follow.
fn messages(origin: Origin<'_>, events: impl Iterator<Item = Bytes>) -> Vec<WatchMessage> {
    let mut fragments: Vec<(Vec<Bytes>, usize)> = Vec::new();
    for event in events {
        match fragments.last_mut() {
            Some((fragment, bytes)) if *bytes + event.len() <= WATCH_MESSAGE_BYTES_MAX => {
                *bytes += event.len();
                fragment.push(event);
            }
            Some(_) | None => {
                let bytes = event.len();
                fragments.push((vec![event], bytes));
            }
        }
    }
    let last = fragments.len().saturating_sub(1);
    let numbered = fragments.into_iter().enumerate();
    numbered
        .map(|(i, (events, bytes))| message(origin, events, bytes, i < last))
        .collect()
}

fn message(
    origin: Origin<'_>,
    events: Vec<Bytes>,
    bytes: usize,
    more_fragments: bool,
) -> WatchMessage {
    let Origin {
        revision,
        time,
        caller,
    } = origin;
    let head_len = key_len(field::REVISION) + encoded_len_varint(revision.get());
    let tail = v1::WatchEvents {
        more_fragments,
        time_ms: time.map(WallTime::as_millis),
        caller: caller.map(ToString::to_string),
        ..v1::WatchEvents::default()
    };
    let tail = tail.encode_to_vec();
    let body_len = head_len + bytes + tail.len();
    let mut head = BytesMut::with_capacity(length_framed(field::RESPONSE_EVENTS, head_len));
    encode_key(field::RESPONSE_EVENTS, WireType::LengthDelimited, &mut head);
    encode_varint(body_len as u64, &mut head);
    prost::encoding::uint64::encode(field::REVISION, &revision.get(), &mut head);
    let count = events.len();
    let mut pieces = Vec::with_capacity(count + 2);
    pieces.push(head.freeze());
    pieces.extend(events);
    if !tail.is_empty() {
        pieces.push(tail.into());
    }
    WatchMessage {
        pieces,
        revision,
        events: count,
        more_fragments,
    }
}

fn length_framed(field: u32, bytes: usize) -> usize {
    key_len(field) + encoded_len_varint(bytes as u64) + bytes
}

#[cfg(test)]
mod tests;
