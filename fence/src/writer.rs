//! [`FencedWriter`]: the server's side of a fence.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use synod_client::{ApiVersion, Client, Error, FenceGuard, Gate, GroupResource, MemberId, Permit};
use tokio::time::{Instant, sleep, timeout_at};

use crate::fence_key::FenceKeys;
use crate::{Condition, Fault, KeyStore, Pair};

/// How long to wait for what a moment brings: a newer agreement, or a new permit.
const PAUSE: Duration = Duration::from_millis(20);

/// Writes the objects of a server, each on condition that the fence of its resource lets the server write.
#[derive(Debug)]
pub struct FencedWriter<S> {
    store: S,
    guard: FenceGuard,
    keys: FenceKeys,
    /// The fences as they were read last, one of each resource. An old one makes a write fail that could have landed, or
    /// does not pass the check, and is then read again.
    seen: Mutex<BTreeMap<GroupResource, Option<Vec<u8>>>>,
}

/// What the store said to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The object is stored.
    Stored,
    /// Somebody has changed the object since it was read: read it again. Nothing was written.
    Changed,
}

/// A write that has passed every check in the server: from here on only the store can refuse it. Send it at once.
#[derive(Debug)]
pub struct Prepared<'a, S> {
    writer: &'a FencedWriter<S>,
    conditions: Vec<Condition>,
    /// What the fence key held.
    fence: Option<Vec<u8>>,
    key: String,
    value: Vec<u8>,
    /// `None` once it is being sent.
    permit: Option<Permit>,
}

impl<S: KeyStore> FencedWriter<S> {
    /// The writer of the member of this id. It watches the cluster until it is dropped. `fences` is what the keys of the
    /// fences begin with, and no key of an object.
    ///
    /// # Errors
    ///
    /// The cluster does not answer.
    pub async fn new(
        client: &Client,
        member: MemberId,
        store: S,
        fences: &str,
    ) -> Result<Self, Error> {
        Ok(Self {
            store,
            guard: FenceGuard::new(client, member).await?,
            keys: FenceKeys::new(fences),
            seen: Mutex::default(),
        })
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Changes an object, or creates it, until it is stored: takes a permit, reads the object, encodes what `change` makes
    /// of it in the version that the permit names, and writes. All of it again if somebody was faster, or if a migration
    /// has moved the fence, within the limit.
    ///
    /// # Errors
    ///
    /// What `change` returns. `NotExecuted`: there was no permit, or the store did not answer, or the limit is over.
    /// `Refused`: the store or the fence keeps the write out for good. `Unknown`: it may still land.
    pub async fn update(
        &self,
        gate: &Gate,
        resource: &GroupResource,
        key: &str,
        limit: Duration,
        change: impl Fn(Option<&Pair>, &ApiVersion) -> Result<Vec<u8>, Fault>,
    ) -> Result<(), Fault> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let permit = gate.permit_within(resource, left).await;
            let permit = permit.map_err(|error| Fault::of_check(&error))?;
            let object = match timeout_at(deadline, self.store.get(key)).await {
                Ok(object) => object?,
                Err(_) => return Err(late(key, limit)),
            };
            let value = change(object.as_ref(), permit.encoding())?;
            let revision = object.map_or(0, |object| object.revision);
            let pause = match self.write(permit, key, revision, value).await {
                Ok(Written::Stored) => return Ok(()),
                Ok(Written::Changed) => Duration::ZERO,
                Err(Fault::NotExecuted { retry_after, .. }) => retry_after.unwrap_or(PAUSE),
                Err(fault) => return Err(fault),
            };
            if timeout_at(deadline, sleep(pause)).await.is_err() {
                return Err(late(key, limit));
            }
        }
    }

    /// Writes an object that was encoded in the version of its permit, if it is still as it was read: `revision` is that
    /// of its [`Pair`], and 0 for an object that is not there. The permit is given back.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Self::prepare) and [`Prepared::send`].
    pub async fn write(
        &self,
        permit: Permit,
        key: &str,
        revision: u64,
        value: Vec<u8>,
    ) -> Result<Written, Fault> {
        self.prepare(permit, key, revision, value)
            .await?
            .send()
            .await
    }

    /// Does everything that precedes a write: reads the fence, unless one is known that lets it pass, and checks it and the
    /// permit.
    ///
    /// # Errors
    ///
    /// `NotExecuted`: take a new permit, encode again and write again: the store was migrated under an agreement that this
    /// server has not seen yet, or the permit is void. `Refused`: the fence is not one of this cluster and resource. The
    /// permit is given back.
    pub async fn prepare(
        &self,
        permit: Permit,
        key: &str,
        revision: u64,
        value: Vec<u8>,
    ) -> Result<Prepared<'_, S>, Fault> {
        let resource = permit.resource().clone();
        let known = self.seen().get(&resource).cloned();
        let fence = match known {
            Some(fence) if self.guard.check(&permit, fence.as_deref()).is_ok() => fence,
            // What keeps the write out may have been mended since it was read.
            Some(_) | None => self.read(&resource).await?,
        };
        let object = Condition::WrittenAt {
            key: key.to_owned(),
            revision,
        };
        let prepared = Prepared {
            writer: self,
            conditions: vec![object, self.keys.unchanged(&resource, fence.as_deref())],
            fence,
            key: key.to_owned(),
            value,
            permit: Some(permit),
        };
        match prepared.checked() {
            Ok(()) => Ok(prepared),
            Err(error) => Err(Fault::of_check(&error)),
        }
    }

    /// Reads the fence of a resource, and keeps it for the next writes.
    async fn read(&self, resource: &GroupResource) -> Result<Option<Vec<u8>>, Fault> {
        let fence = self.keys.read(&self.store, resource).await?;
        self.seen().insert(resource.clone(), fence.clone());
        Ok(fence)
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<GroupResource, Option<Vec<u8>>>> {
        // Poison is ignored: each change is one insert.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: KeyStore> Prepared<'_, S> {
    /// What must be true for the write to land: first of the object, then of the fence.
    #[must_use]
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The key of the object.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The encoded object.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// Sends the write, and gives the permit back by what comes of it.
    ///
    /// # Errors
    ///
    /// `NotExecuted`: take a new permit, encode again and write again: the fence has moved, or the store did not take the
    /// write. `Refused`: the store keeps it out for good. `Unknown`: it may still land; the gate waits for that.
    pub async fn send(mut self) -> Result<Written, Fault> {
        let Some(permit) = self.permit.take() else {
            return Err(Fault::not_executed("it was sent before"));
        };
        let store = &self.writer.store;
        // A permit that is dropped while it waits is one of unknown outcome.
        let written = store.put_if(&self.conditions, &self.key, &self.value).await;
        match written {
            Ok(true) => {
                permit.done();
                Ok(Written::Stored)
            }
            Ok(false) => {
                permit.done();
                let present = self.writer.read(permit.resource()).await?;
                if present == self.fence {
                    return Ok(Written::Changed);
                }
                let what = permit.resource().qualified();
                let why = format!("a migration of {what} has moved the fence since it was read");
                Err(Fault::not_executed(why))
            }
            Err(fault @ (Fault::NotExecuted { .. } | Fault::Refused(_))) => {
                permit.done();
                Err(fault)
            }
            Err(fault @ Fault::Unknown(_)) => {
                permit.unknown_outcome();
                Err(fault)
            }
        }
    }

    fn checked(&self) -> Result<(), Error> {
        let Some(permit) = &self.permit else {
            return Ok(());
        };
        self.writer.guard.check(permit, self.fence.as_deref())?;
        permit.check()
    }
}

impl<S> Drop for Prepared<'_, S> {
    /// Gives the permit of a write that was never sent back as done.
    fn drop(&mut self) {
        if let Some(permit) = self.permit.take() {
            permit.done();
        }
    }
}

fn late(key: &str, limit: Duration) -> Fault {
    Fault::not_executed(format!("{key} could not be written within {limit:?}"))
}
