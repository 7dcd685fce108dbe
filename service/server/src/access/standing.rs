//! What one caller may do.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use synod_model::{Actor, ErrorKind, Refusal};
use synod_policy::{Denial, Right};
use synod_proto::access::Names;
use synod_proto::v1;
use tokio::time::Sleep;

use super::guard::Guard;
use super::in_use::InUse;
use super::known::{Known, Proof};
use super::named;
use crate::seams::watch;

/// What the sender of a call may do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing(Option<Stands>);

#[derive(Clone, Debug)]
struct Stands {
    guard: Arc<Guard>,
    known: Arc<Known>,
}

/// What a stream that stays open rests on: that its caller may do what it could do when it was opened.
pub(crate) struct Lasting(Option<Box<Rests>>);

struct Rests {
    stands: Stands,
    changes: watch::Receiver<Arc<InUse>>,
    /// The generation of the policy at the last look.
    generation: u64,
    expiry: Pin<Box<Sleep>>,
}

/// Certificates without an end are valid until the year 9999, which is too far for a timer.
const TIMER_MAX: Duration = Duration::from_hours(365 * 24);

impl Standing {
    /// That of whoever calls a replica that knows nobody: it may do everything.
    pub(crate) fn of_anybody() -> Self {
        Self(None)
    }

    pub(super) fn of(guard: &Arc<Guard>, known: Arc<Known>) -> Self {
        Self(Some(Stands {
            guard: Arc::clone(guard),
            known,
        }))
    }

    /// Who sends the commands of the call; `None` if nobody knows.
    pub(crate) fn actor(&self) -> Option<Arc<Actor>> {
        let stands = self.0.as_ref()?;
        Some(Arc::clone(&stands.known.actor))
    }

    /// The groups that a front proxy tells of the caller; `None` if nobody speaks for it.
    pub(crate) fn told_groups(&self) -> Option<Vec<String>> {
        let known = &self.0.as_ref()?.known;
        matches!(known.proof, Proof::Proxy).then(|| known.caller.groups.clone())
    }

    /// Whether the caller may call a method that needs this with this request.
    ///
    /// # Errors
    ///
    /// `PERMISSION_DENIED`, and why.
    pub(crate) fn allow(&self, right: Right, request: &impl Names) -> Result<(), Refusal> {
        match &self.0 {
            Some(Stands { known, .. }) => {
                named::check(&known.rights, right, request).map_err(denied)
            }
            None => Ok(()),
        }
    }

    /// Whether the caller may open a stream of a method that needs this. Its messages are checked one by one.
    ///
    /// # Errors
    ///
    /// `PERMISSION_DENIED`, and why.
    pub(crate) fn allow_stream(&self, right: Right) -> Result<(), Refusal> {
        match &self.0 {
            Some(Stands { known, .. }) => known.rights.allow(right).map_err(denied),
            None => Ok(()),
        }
    }

    /// Returns whether the caller holds the right to operate, for whatever it may name.
    pub(crate) fn may_operate(&self) -> bool {
        self.allow_stream(Right::Operate).is_ok()
    }

    /// Whether the caller may see what a watch shows.
    ///
    /// # Errors
    ///
    /// `PERMISSION_DENIED`, and why.
    pub(crate) fn allow_watch(&self, request: &v1::WatchRequest) -> Result<(), Refusal> {
        match &self.0 {
            Some(Stands { known, .. }) => {
                named::check_watch(&known.rights, request).map_err(denied)
            }
            None => Ok(()),
        }
    }

    /// What a stream that is opened now rests on.
    pub(crate) fn lasting(&self) -> Lasting {
        let rests = self.0.as_ref().map(|stands| {
            let Stands { guard, known } = stands;
            let left = u64::try_from(known.until.saturating_sub(guard.now())).unwrap_or(0);
            let left = Duration::from_secs(left).min(TIMER_MAX);
            Box::new(Rests {
                changes: guard.changes(),
                // The policy may have changed since the caller was looked up, so the first look is a whole one.
                generation: u64::MAX,
                expiry: Box::pin(tokio::time::sleep(left)),
                stands: stands.clone(),
            })
        });
        Lasting(rests)
    }
}

impl Lasting {
    /// Whether the caller may do something else by now, or proves nothing any more.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.as_mut().is_some_and(|rests| rests.have_ended())
    }

    /// Resolves when [`Self::has_ended`] says so.
    pub(crate) async fn ended(mut self) {
        while !self.has_ended() {
            self.changed().await;
        }
    }

    /// Resolves when [`Self::has_ended`] may say something new.
    pub(crate) async fn changed(&mut self) {
        let Some(rests) = &mut self.0 else {
            return std::future::pending().await;
        };
        tokio::select! {
            biased;
            () = rests.expiry.as_mut() => {}
            // The sender lives as long as the guard, which is kept here.
            _ = rests.changes.changed() => {}
        }
    }
}

impl Lasting {
    /// Resolves when the caller proves nothing any more, or nothing at all is granted to it. A stream whose messages are
    /// checked one by one outlives any other change.
    pub(crate) async fn withdrawn(mut self) {
        loop {
            if self.0.as_mut().is_some_and(|rests| rests.are_gone()) {
                return;
            }
            self.changed().await;
        }
    }
}

impl Rests {
    fn are_gone(&mut self) -> bool {
        let Stands { guard, known } = &self.stands;
        if self.expiry.is_elapsed() || guard.has_expired(known) {
            return true;
        }
        let in_use = Arc::clone(&self.changes.borrow_and_update());
        !known.has_anything_by(&in_use)
    }

    fn have_ended(&mut self) -> bool {
        let Stands { guard, known } = &self.stands;
        if self.expiry.is_elapsed() || guard.has_expired(known) {
            return true;
        }
        let in_use = Arc::clone(&self.changes.borrow_and_update());
        if in_use.generation == self.generation {
            return false;
        }
        self.generation = in_use.generation;
        !known.is_unchanged_by(&in_use)
    }
}

fn denied(denial: Denial) -> Refusal {
    Refusal::new(ErrorKind::PermissionDenied, denial.to_string())
}
