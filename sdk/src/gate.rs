//! The write gate: a server may store an object only when the cluster knows in which version the server encodes it.

mod admission;
mod answer;
pub(crate) mod book;
mod discovery;
mod grant;
mod layer;
mod obstacle;
mod permit;
mod readiness;
mod request_info;
mod rules;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use synod_model::{ErrorKind, GroupResource, Revision};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::{Instant, sleep, timeout_at};

use crate::Error;
use crate::seams::Clock;
use book::{Book, Drain};
use obstacle::Obstacle;

pub use admission::{Admission, NotAdmitted};
pub use discovery::Discovery;
pub use layer::{GateLayer, GateService};
pub use permit::Permit;
pub use readiness::Readiness;
pub use request_info::RequestInfo;

/// The write gate of a membership, from [`Membership::gate`](crate::Membership::gate).
///
/// The gate is closed for a resource until the cluster has acknowledged the report of that resource under the member's
/// present epoch. It closes when the membership cannot be proved: 0.9 of the TTL after the last acknowledged renewal
/// was sent, by a clock that counts suspension. Nothing but such a report and such a proof opens it.
///
/// Each write takes a [`Permit`], which says in which version to encode. [`GateLayer`] does this for HTTP handlers.
#[derive(Clone)]
pub struct Gate {
    shared: Arc<GateParts>,
}

/// The gate's book, and the tasks that wait for it to change.
pub(crate) struct GateParts {
    book: Mutex<Book>,
    clock: Arc<dyn Clock>,
    permit_wait: Duration,
    /// Wakes the tasks that wait for a permit.
    opened: Notify,
    /// Wakes the tasks that wait for permits to be given back.
    released: Notify,
}

impl Gate {
    pub(crate) fn new(clock: Arc<dyn Clock>, permit_wait: Duration, write_grace: Duration) -> Self {
        Self {
            shared: Arc::new(GateParts {
                book: Mutex::new(Book::new(write_grace)),
                clock,
                permit_wait,
                opened: Notify::new(),
                released: Notify::new(),
            }),
        }
    }

    /// A permit to write objects of a resource. Waits for the gate to open, at most for the membership's `permit_wait`.
    ///
    /// # Errors
    ///
    /// `UNAVAILABLE`: the gate did not open in time; the message says what it waits for. `STALE_EPOCH` and
    /// `NOT_A_MEMBER`: the gate will not open any more.
    pub async fn permit(&self, resource: &GroupResource) -> Result<Permit, Error> {
        self.permit_within(resource, self.shared.permit_wait).await
    }

    /// As [`Gate::permit`], but waits at most for `wait`.
    ///
    /// # Errors
    ///
    /// As [`Gate::permit`].
    pub async fn permit_within(
        &self,
        resource: &GroupResource,
        wait: Duration,
    ) -> Result<Permit, Error> {
        let granted = self.wait_for_permit(resource, wait).await;
        granted.map_err(|obstacle| obstacle.error(resource.qualified()))
    }

    /// A permit, if the gate is open now.
    ///
    /// # Errors
    ///
    /// As [`Gate::permit`].
    pub fn try_permit(&self, resource: &GroupResource) -> Result<Permit, Error> {
        let granted = self.grant(resource);
        granted.map_err(|obstacle| obstacle.error(resource.qualified()))
    }

    /// Whether the server is ready: it has reported all of its resources, and its membership has not ended.
    ///
    /// # Errors
    ///
    /// What the server waits for, as a sentence.
    pub fn readiness(&self) -> Result<(), String> {
        let book = self.book();
        match book.standing() {
            book::Standing::Ended(ended) => Err(Obstacle::Ended(*ended).last_seen()),
            _ if book.is_completed() => Ok(()),
            _ => Err("the first report of all storage versions is not acknowledged yet".to_owned()),
        }
    }

    /// What the server's own discovery shows of a resource now: the hash of the version in which a write would be
    /// encoded, if all members agree on it. It waits for nothing, and takes no permit.
    #[must_use]
    pub fn discovery(&self, resource: &GroupResource) -> Discovery {
        let shown = self.book().shows(resource, self.now());
        match shown {
            Ok(hash) => Discovery::Hash(hash),
            Err(dissent) => Discovery::NoConsensus(dissent.said()),
        }
    }

    /// Whether no write that this gate let through can land any more: every permit was given back, and if its outcome
    /// was unknown, `write_grace` has passed since.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.book().drain_all(self.now()) == Drain::Done
    }

    /// The permit, or the obstacle that is still there when the wait is over.
    pub(crate) async fn wait_for_permit(
        &self,
        resource: &GroupResource,
        wait: Duration,
    ) -> Result<Permit, Obstacle> {
        let deadline = Instant::now() + wait;
        loop {
            let opened = self.shared.opened.notified();
            tokio::pin!(opened);
            opened.as_mut().enable();
            let obstacle = match self.grant(resource) {
                Err(obstacle) if !obstacle.is_final() => obstacle,
                decided => return decided,
            };
            if timeout_at(deadline, opened).await.is_err() {
                return Err(obstacle);
            }
        }
    }

    fn grant(&self, resource: &GroupResource) -> Result<Permit, Obstacle> {
        let grant = self.book().grant(resource, self.now())?;
        Ok(Permit::new(Arc::clone(&self.shared), grant))
    }

    /// Locks the book for reading.
    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.shared.book()
    }

    /// Changes the book, and wakes all tasks that wait for a change.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut Book) -> T) -> T {
        let result = change(&mut self.book());
        self.shared.opened.notify_waiters();
        self.shared.released.notify_waiters();
        result
    }

    /// Resolves at the next change of the book other than of its permits.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.shared.opened.notified()
    }

    /// How much longer the present epoch can be proved; `None` if it cannot.
    pub(crate) fn proof(&self) -> Option<Duration> {
        self.book().proof_left(self.now())
    }

    pub(crate) fn now(&self) -> Duration {
        self.shared.clock.now()
    }

    /// Waits until no permit for these resources is out and none of their writes can land any more.
    ///
    /// # Errors
    ///
    /// `DRAINING`: the resources are not drained within the limit.
    pub(crate) async fn drained(
        &self,
        resources: &BTreeSet<GroupResource>,
        limit: Duration,
    ) -> Result<(), Error> {
        let draining = self.wait_for_drain(|book, now| Some(book.drain(resources, now)));
        match timeout_at(Instant::now() + limit, draining).await {
            Ok(_) => Ok(()),
            Err(_) => Err(self.undrained(self.book().drain(resources, self.now()), limit)),
        }
    }

    /// Waits, at most for `limit`, until no permit is out and no write can land. Returns whether that is so.
    pub(crate) async fn all_drained(&self, limit: Duration) -> bool {
        let draining = self.wait_for_drain(|book, now| Some(book.drain_all(now)));
        timeout_at(Instant::now() + limit, draining).await.is_ok()
    }

    /// Waits until a selection can be adopted. Returns false if something else was selected meanwhile.
    pub(crate) async fn drained_for_adoption(
        &self,
        resource: &GroupResource,
        selected_revision: Revision,
    ) -> bool {
        self.wait_for_drain(|book, now| book.drain_for_adoption(resource, selected_revision, now))
            .await
    }

    /// Waits until `ask` returns `Drain::Done`; returns false if it returns `None`, when the drain is no longer needed.
    async fn wait_for_drain(&self, ask: impl Fn(&Book, Duration) -> Option<Drain>) -> bool {
        loop {
            let released = self.shared.released.notified();
            tokio::pin!(released);
            released.as_mut().enable();
            let now = self.now();
            let drain = ask(&self.book(), now);
            match drain {
                None => return false,
                Some(Drain::Done) => return true,
                Some(Drain::Open(_)) => released.await,
                Some(Drain::Until(until)) => {
                    tokio::select! {
                        biased;
                        () = released => {}
                        () = sleep(until.saturating_sub(now)) => {}
                    }
                }
            }
        }
    }

    fn undrained(&self, drain: Drain, limit: Duration) -> Error {
        let what = match drain {
            Drain::Open(permits) => format!("{permits} permits are still out"),
            Drain::Until(until) => format!(
                "writes of unknown outcome may land for another {:?}",
                until.saturating_sub(self.now())
            ),
            Drain::Done => "the last permit has just come back".to_owned(),
        };
        let message =
            format!("the gate was not drained within {limit:?}: {what}; nothing was reported");
        Error::new(ErrorKind::Draining, message)
    }
}

impl GateParts {
    fn book(&self) -> MutexGuard<'_, Book> {
        // Poison is ignored: every method changes the book field by field, so a panic leaves a whole book.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("standing", self.book().standing())
            .finish_non_exhaustive()
    }
}
