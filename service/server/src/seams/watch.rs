//! A watch channel that wakes its receivers in the order in which they began to wait.
//!
//! `tokio::sync::watch` spreads its receivers over several lists by a random number, so the order of wake-ups differs
//! from run to run and a simulation that uses it cannot be replayed. This channel keeps a single list. It holds only
//! the latest value: a slow receiver sees the newest value and not those in between.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tokio::sync::Notify;

/// Makes a channel that holds `initial`. The receiver counts that value as seen.
#[must_use]
pub fn channel<T>(initial: T) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Channel {
        slot: RwLock::new(Slot {
            value: initial,
            version: 0,
            closed: false,
        }),
        changed: Notify::new(),
        senders: AtomicUsize::new(1),
        receivers: AtomicUsize::new(1),
    });
    (
        Sender {
            shared: Arc::clone(&shared),
        },
        Receiver { shared, seen: 0 },
    )
}

/// The sending end. Clones share one channel, which closes with the last of them.
#[derive(Debug)]
pub struct Sender<T> {
    shared: Arc<Channel<T>>,
}

/// The receiving end: reads the latest value, and waits for a newer one.
#[derive(Debug)]
pub struct Receiver<T> {
    shared: Arc<Channel<T>>,
    seen: u64,
}

/// A reference to the value. It blocks senders for as long as it lives, so keep that short.
#[derive(Debug)]
pub struct Ref<'a, T> {
    slot: RwLockReadGuard<'a, Slot<T>>,
}

/// All senders are dropped; no newer value will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the watched value has no sender any more")]
pub struct Closed;

#[derive(Debug)]
struct Channel<T> {
    slot: RwLock<Slot<T>>,
    changed: Notify,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

#[derive(Debug)]
struct Slot<T> {
    value: T,
    version: u64,
    closed: bool,
}

impl<T> Channel<T> {
    fn read(&self) -> Ref<'_, T> {
        Ref {
            slot: self.slot.read().unwrap_or_else(PoisonError::into_inner),
        }
    }
}

impl<T> Sender<T> {
    /// Sets the value and wakes every receiver.
    pub fn send(&self, value: T) {
        self.send_if_modified(|current| {
            *current = value;
            true
        });
    }

    /// Lets `modify` change the value in place, and wakes the receivers if it returns true. Returns the same.
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        {
            let mut slot = self
                .shared
                .slot
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            if !modify(&mut slot.value) {
                return false;
            }
            slot.version += 1;
        }
        self.shared.changed.notify_waiters();
        true
    }

    /// Whether the channel has a receiver.
    #[must_use]
    pub fn has_receivers(&self) -> bool {
        self.shared.receivers.load(Ordering::Acquire) > 0
    }

    /// The latest value.
    #[must_use]
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.read()
    }

    /// Another receiver, which counts the present value as seen.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        self.shared.receivers.fetch_add(1, Ordering::AcqRel);
        let seen = self.shared.read().slot.version;
        Receiver {
            shared: Arc::clone(&self.shared),
            seen,
        }
    }
}

impl<T> Receiver<T> {
    /// Waits until the value is newer than the one last marked as seen, and marks it as seen.
    ///
    /// # Errors
    ///
    /// [`Closed`], when the last sender is dropped and every value has been seen.
    pub async fn changed(&mut self) -> Result<(), Closed> {
        loop {
            // Created before the value is checked, so that a change right after the check still wakes this receiver.
            let woken = self.shared.changed.notified();
            let (version, closed) = {
                let slot = self.shared.read().slot;
                (slot.version, slot.closed)
            };
            if version != self.seen {
                self.seen = version;
                return Ok(());
            }
            if closed {
                return Err(Closed);
            }
            woken.await;
        }
    }

    /// The latest value, not marked as seen.
    #[must_use]
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.read()
    }

    /// The latest value, marked as seen.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let latest = self.shared.read();
        self.seen = latest.slot.version;
        latest
    }

    /// Waits until `condition` holds for the latest value, and returns that value.
    ///
    /// # Errors
    ///
    /// [`Closed`], when the last sender is dropped and the condition does not hold.
    pub async fn wait_for(&mut self, mut condition: impl FnMut(&T) -> bool) -> Result<T, Closed>
    where
        T: Clone,
    {
        loop {
            {
                let latest = self.borrow_and_update();
                if condition(&latest) {
                    return Ok(latest.clone());
                }
            }
            self.changed().await?;
        }
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.slot.value
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Ordering::AcqRel);
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared
                .slot
                .write()
                .unwrap_or_else(PoisonError::into_inner)
                .closed = true;
            self.shared.changed.notify_waiters();
        }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.receivers.fetch_add(1, Ordering::AcqRel);
        Self {
            shared: Arc::clone(&self.shared),
            seen: self.seen,
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.receivers.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn a_receiver_sees_the_newest_value_once() {
        let (sender, mut receiver) = channel(1);
        sender.send(2);
        sender.send(3);
        assert_eq!(receiver.changed().await, Ok(()));
        assert_eq!(*receiver.borrow_and_update(), 3);
        drop(sender);
        assert_eq!(receiver.changed().await, Err(Closed));
    }

    #[tokio::test]
    async fn a_value_sent_before_the_last_sender_went_is_still_seen() {
        let (sender, mut receiver) = channel(1);
        sender.send(2);
        drop(sender);
        assert_eq!(receiver.changed().await, Ok(()));
        assert_eq!(receiver.changed().await, Err(Closed));
    }

    #[tokio::test]
    async fn a_silent_modification_wakes_nobody() {
        let (sender, receiver) = channel(1);
        assert!(!sender.send_if_modified(|value| {
            *value = 9;
            false
        }));
        assert_eq!(*receiver.borrow(), 9);
        assert!(!sender.send_if_modified(|_| false));
        assert_eq!(receiver.seen, 0);
    }

    #[tokio::test]
    async fn receivers_are_woken_in_the_order_in_which_they_wait() {
        let (sender, receiver) = channel(0);
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..100 {
            let (mut receiver, order) = (receiver.clone(), Arc::clone(&order));
            tasks.push(tokio::spawn(async move {
                receiver.changed().await.unwrap();
                order.lock().unwrap().push(number);
            }));
        }
        // One yield returns before the runtime has polled all tasks, so yield once for each.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        sender.send(1);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn waiting_for_a_condition_answers_the_value_that_met_it() {
        let (sender, mut receiver) = channel(0);
        let waiting = tokio::spawn(async move { receiver.wait_for(|value| *value >= 2).await });
        for value in 1..=2 {
            tokio::task::yield_now().await;
            sender.send(value);
        }
        assert_eq!(waiting.await.unwrap(), Ok(2));
    }

    #[test]
    fn a_channel_knows_whether_anybody_listens() {
        let (sender, receiver) = channel(0);
        let second = sender.subscribe();
        drop(receiver);
        assert!(sender.has_receivers());
        drop(second);
        assert!(!sender.has_receivers());
    }
}
