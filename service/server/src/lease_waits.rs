//! The calls at this replica that wait for a lease, and what wakes them when the lease is given to them.
//!
//! The queue of each lease is in the replicated state; here are only the calls that wait for places in it. One task
//! follows the history and wakes the calls whose ticket got the lease, so a thousand waiting calls cost nothing while
//! others write. A call that ends, by its deadline or with its replica, leaves its place: the caller asks again, at any
//! replica.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use synod_machine::{Change, QueuePlace};
use synod_model::{Lease, LeaseKey, Revision, Settings, Ticket};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::consensus::Consensus;
use crate::stop::Stop;

/// The calls that wait at this replica. Clones share them.
#[derive(Clone)]
pub(crate) struct LeaseWaits {
    shared: Arc<LeaseWaitsParts>,
}

struct LeaseWaitsParts {
    consensus: Consensus,
    /// By ticket: how many calls wait for it, and what wakes them. At most as many as admission lets in.
    calls: Mutex<BTreeMap<Ticket, (usize, Arc<Notify>)>>,
    stop: Stop,
}

/// A waiting call. It is removed from the calls when this is dropped.
struct Call<'a> {
    shared: &'a LeaseWaitsParts,
    ticket: Ticket,
    called: Arc<Notify>,
}

impl LeaseWaits {
    /// Creates an empty set, and spawns the task that wakes calls until `stop`. Calls end with `stop`, too.
    pub(crate) fn new(consensus: &Consensus, stop: &Stop, tasks: &mut JoinSet<()>) -> Self {
        let shared = Arc::new(LeaseWaitsParts {
            consensus: consensus.clone(),
            calls: Mutex::default(),
            stop: stop.clone(),
        });
        let (followed, stop) = (Arc::clone(&shared), stop.clone());
        tasks.spawn(async move {
            tokio::select! {
                biased;
                () = stop.requested() => {}
                () = followed.follow() => {}
            }
        });
        Self { shared }
    }

    /// Waits until the place no longer waits, at most until `deadline` or the end of this replica.
    pub(crate) async fn wait(
        &self,
        key: &LeaseKey,
        ticket: Ticket,
        deadline: Instant,
    ) -> QueuePlace {
        let call = self.shared.call(ticket);
        loop {
            // Enabled before the state is read: otherwise a change right after that would not wake this call.
            let called = call.called.notified();
            tokio::pin!(called);
            called.as_mut().enable();
            let place = self
                .shared
                .consensus
                .published()
                .state
                .lease_place(key, ticket);
            if !matches!(place, QueuePlace::Waiting { .. }) || self.shared.stop.is_requested() {
                return place;
            }
            tokio::select! {
                biased;
                () = self.shared.stop.requested() => {}
                () = called => {}
                () = tokio::time::sleep_until(deadline) => return place,
            }
        }
    }
}

impl LeaseWaitsParts {
    /// Follows the history and wakes the calls whose lease was given to them.
    async fn follow(&self) {
        let mut progress = self.consensus.subscribe();
        let first = self.consensus.published();
        let (mut seen, mut generation) = (first.state.revision(), first.generation);
        drop(first);
        while progress.changed().await.is_ok() {
            let published = self.consensus.published();
            if published.generation != generation {
                // Some revisions were skipped by a checkpoint, so every call reads the state itself.
                self.wake_all();
            } else if !self.lock().is_empty() {
                self.wake_after(seen, published.state.history());
            }
            // With no calls waiting, these revisions may be skipped: a later call reads the state first.
            (seen, generation) = (published.state.revision(), published.generation);
        }
    }

    fn call(&self, ticket: Ticket) -> Call<'_> {
        let mut calls = self.lock();
        let (count, called) = calls.entry(ticket).or_default();
        *count += 1;
        Call {
            shared: self,
            ticket,
            called: Arc::clone(called),
        }
    }

    fn wake_after(&self, mut seen: Revision, history: &synod_machine::History) {
        loop {
            match history.next_after(seen) {
                Ok(None) => return,
                Ok(Some(events)) => {
                    seen = events.revision;
                    // Leases may have been switched off, which ends all queues.
                    if events
                        .changes
                        .iter()
                        .any(|it| it.of::<Settings>().is_some())
                    {
                        self.wake_all();
                    }
                    let called = events.changes.iter().filter_map(ticket_called);
                    for ticket in called {
                        if let Some((_, called)) = self.lock().get(&ticket) {
                            called.notify_waiters();
                        }
                    }
                }
                Err(_) => return self.wake_all(),
            }
        }
    }

    fn wake_all(&self) {
        for (_, called) in self.lock().values() {
            called.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Ticket, (usize, Arc<Notify>)>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ticket that a change gave a lease to.
fn ticket_called(change: &Change) -> Option<Ticket> {
    let lease = change.of::<Lease>()?.after?;
    lease.hold.as_ref()?.ticket
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        let mut calls = self.shared.lock();
        if let Some((count, _)) = calls.get_mut(&self.ticket) {
            *count -= 1;
            if *count == 0 {
                calls.remove(&self.ticket);
            }
        }
    }
}
