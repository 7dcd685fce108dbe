//! What all watches of a case have seen together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::load::{VALUE_BYTES, micros};

/// The events that watches have seen, and how long each took. Each value begins with the time when its write was sent,
/// so the time until it is seen includes the write.
pub(crate) struct Audience {
    begin: Instant,
    seen: AtomicU64,
    /// The number of events that the writer waits for.
    awaited: AtomicU64,
    reached: Notify,
    taken: Mutex<Vec<u32>>,
}

impl Audience {
    pub(crate) fn new() -> Self {
        Self {
            begin: Instant::now(),
            seen: AtomicU64::new(0),
            awaited: AtomicU64::new(u64::MAX),
            reached: Notify::new(),
            taken: Mutex::default(),
        }
    }

    /// A value that is sent now.
    pub(crate) fn value(&self) -> Bytes {
        let mut value = BytesMut::zeroed(VALUE_BYTES);
        let now = u64::try_from(self.begin.elapsed().as_nanos()).expect("a case is short");
        (&mut value[..8]).put_u64(now);
        value.freeze()
    }

    /// This many watches have seen a value.
    pub(crate) fn saw(&self, value: &[u8], watches: u64) {
        if let Some(sent) = value.first_chunk() {
            let sent = Duration::from_nanos(u64::from_be_bytes(*sent));
            let taken = micros(self.begin.elapsed().saturating_sub(sent));
            let mut all = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend((0..watches).map(|_| taken));
        }
        let seen = self.seen.fetch_add(watches, Ordering::SeqCst) + watches;
        if seen >= self.awaited.load(Ordering::SeqCst) {
            self.reached.notify_one();
        }
    }

    /// Waits until watches have seen this many events in all.
    pub(crate) async fn have_seen(&self, events: u64) {
        self.awaited.store(events, Ordering::SeqCst);
        while self.seen.load(Ordering::SeqCst) < events {
            self.reached.notified().await;
        }
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen.load(Ordering::SeqCst)
    }

    /// The time of each event until now, in microseconds.
    pub(crate) fn taken(&self) -> Vec<u32> {
        std::mem::take(&mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
