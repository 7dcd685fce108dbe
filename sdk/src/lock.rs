//! Holding a lease: taking it, renewing it, and knowing when it may be lost.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use synod_model::{
    AcquireLease, ClusterId, Epoch, ErrorKind, FencingToken, HolderIdentity, LeaseKey, MemberId,
    ReleaseLease, Ttl, Verdict,
};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::board::Board;
use crate::transport::Backoff;
use crate::{Acquisition, Client, Error};

/// The options of a [`Lock`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockOptions {
    key: LeaseKey,
    holder: Option<HolderIdentity>,
    ttl: Ttl,
    if_member: Option<(MemberId, Epoch)>,
}

impl LockOptions {
    /// Options for this lease, with a holder name that no other process has: a random one, behind the name of the client
    /// or of the member if there is one ([`ClientBuilder::name`](crate::ClientBuilder::name)).
    #[must_use]
    pub fn new(key: LeaseKey) -> Self {
        Self {
            key,
            holder: None,
            ttl: Ttl::DEFAULT,
            if_member: None,
        }
    }

    /// The lease.
    #[must_use]
    pub fn key(&self) -> &LeaseKey {
        &self.key
    }

    /// Sets the holder's name. No other process may hold or wait for the lease under this name at the same time: it
    /// would be taken for this one.
    #[must_use]
    pub fn holder(mut self, holder: HolderIdentity) -> Self {
        self.holder = Some(holder);
        self
    }

    /// How long the lease is held after a renewal; 15 seconds if not set.
    #[must_use]
    pub fn ttl(mut self, ttl: Ttl) -> Self {
        self.ttl = ttl;
        self
    }

    /// Takes the lease only while this member has this epoch.
    #[must_use]
    pub fn if_member(mut self, member: MemberId, epoch: Epoch) -> Self {
        self.if_member = Some((member, epoch));
        self
    }
}

/// Proof that a lease is held. A write that is only allowed under the lease carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseToken {
    /// The lease.
    pub lease: LeaseKey,
    /// The fencing token, from the answer to acquiring the lease.
    pub token: FencingToken,
    /// The cluster that issued the token. `None`: the cluster is not checked.
    pub cluster: Option<ClusterId>,
}

/// A lease that this process holds. It is renewed in the background until it is released, lost or dropped; after a
/// drop, the lease ends when its TTL has passed.
///
/// Before acting under the lease, call [`Lock::check`], and write [`Lock::token`] with the data: only a store that
/// compares the token is safe against a process that was suspended between check and write. For objects in the cluster
/// itself, use [`Objects::under_lease`](crate::Objects::under_lease).
pub struct Lock {
    client: Client,
    key: LeaseKey,
    holder: HolderIdentity,
    token: FencingToken,
    cluster: ClusterId,
    shared: Arc<LockParts>,
    keeping: JoinHandle<()>,
}

struct LockParts {
    client: Client,
    standing: Board<Standing>,
}

/// The state of the hold, as this process knows it.
#[derive(Debug, Default)]
struct Standing {
    /// The time until which the last acknowledged renewal proves the hold, by the clock that counts suspension.
    proved_until: Duration,
    /// Why the lease is lost for good.
    lost: Option<Error>,
}

/// How long a place in the queue is kept after it was last asked for: long enough for some calls to fail.
const WAIT_MS: u64 = 60_000;

impl Client {
    /// Waits for a lease in the order of the requests for it, and holds it.
    ///
    /// Dropping the future gives up the place in the queue some time later.
    ///
    /// # Errors
    ///
    /// The cluster refuses it: `QUOTA`, `NOT_A_MEMBER`, `STALE_EPOCH`. Without an answer, it is repeated.
    pub async fn lock(&self, options: LockOptions) -> Result<Lock, Error> {
        let mut acquire = options.to_acquire(self);
        acquire.wait = Ttl::from_millis(WAIT_MS).ok();
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
        loop {
            match self.lock_once(&acquire).await {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) => {}
                // Asking again is safe: a holder keeps the lease, and a waiting process keeps its place.
                Err(error) if is_worth_another_try(&error) => {
                    tracing::debug!(lease = %acquire.key, %error, "asking for the lease again");
                    sleep(backoff.next(&*self.seams().randomness)).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// As [`Client::lock`], but only until `over` ends: then the place in the queue is given up, so that the lease is
    /// not given to a process that no longer wants it, and the answer is `None`.
    ///
    /// # Errors
    ///
    /// As [`Client::lock`].
    pub async fn lock_unless(
        &self,
        mut options: LockOptions,
        over: impl Future<Output = ()>,
    ) -> Result<Option<Lock>, Error> {
        let holder = options.holder.take();
        let holder = holder.unwrap_or_else(|| self.own_holder(&options));
        let place = ReleaseLease {
            key: options.key.clone(),
            holder: holder.clone(),
            token: None,
        };
        tokio::select! {
            biased;
            lock = Box::pin(self.lock(options.holder(holder))) => return lock.map(Some),
            () = over => {}
        }
        if let Err(error) = self.send_release_lease(place).await {
            tracing::debug!(%error, "the place in the queue ends by itself");
        }
        Ok(None)
    }

    /// Takes a lease if no other process holds it.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: another process holds the lease, which is in the error.
    pub async fn try_lock(&self, options: LockOptions) -> Result<Lock, Error> {
        let acquire = options.to_acquire(self);
        self.lock_once(&acquire).await?.ok_or_else(|| {
            let message = "the replica answered with a place in the queue, although the request did not ask to wait";
            Error::new(ErrorKind::UnknownOutcome, message)
        })
    }

    /// Asks once for the lease; `None`: the request waits in the queue.
    async fn lock_once(&self, acquire: &AcquireLease) -> Result<Option<Lock>, Error> {
        let sent_at = self.seams().clock.now();
        let acquired = self.send_acquire_lease(acquire.clone()).await?;
        let Acquisition::Held { token, ttl } = acquired.acquisition else {
            return Ok(None);
        };
        let (key, holder) = (acquire.key.clone(), acquire.holder.clone());
        let hold = Hold {
            key,
            holder,
            token,
            ttl,
            cluster: acquired.header.cluster,
        };
        if acquire.wait.is_none() {
            return Ok(Some(Lock::keep(self, hold, sent_at)));
        }
        // The lease may have been given at any time since the request: only a renewal proves that it is still held.
        self.prove(hold).await.map(Some)
    }

    /// Makes a lock of a hold that was given some time ago, by renewing it.
    pub(crate) async fn prove(&self, hold: Hold) -> Result<Lock, Error> {
        let sent_at = self.seams().clock.now();
        let renewal = self.send_renew_lease(&hold.key, hold.token, Some(hold.cluster));
        let ttl = renewal.await?;
        Ok(Lock::keep(self, Hold { ttl, ..hold }, sent_at))
    }
}

/// Errors after which the lease is asked for again: nothing was decided, or the decision is out of date already.
fn is_worth_another_try(error: &Error) -> bool {
    let passed = matches!(
        error.kind(),
        ErrorKind::Conflict | ErrorKind::RequestExpired
    );
    passed || error.execution() != Verdict::Refused
}

/// A lease, and how a holder has it.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub(crate) key: LeaseKey,
    pub(crate) holder: HolderIdentity,
    pub(crate) token: FencingToken,
    pub(crate) ttl: Duration,
    pub(crate) cluster: ClusterId,
}

impl Lock {
    fn keep(client: &Client, hold: Hold, sent_at: Duration) -> Self {
        let shared = Arc::new(LockParts {
            client: client.clone(),
            standing: Board::default(),
        });
        shared.proved(sent_at, hold.ttl);
        let keeper = Arc::clone(&shared);
        let (key, holder, token) = (hold.key.clone(), hold.holder.clone(), hold.token);
        Self {
            client: client.clone(),
            key,
            holder,
            token,
            cluster: hold.cluster,
            keeping: tokio::spawn(async move { keeper.keep(hold).await }),
            shared,
        }
    }

    /// The lease.
    #[must_use]
    pub fn key(&self) -> &LeaseKey {
        &self.key
    }

    /// The name under which this process holds the lease.
    #[must_use]
    pub fn holder(&self) -> &HolderIdentity {
        &self.holder
    }

    /// The fencing token, which is higher than that of every earlier holder.
    #[must_use]
    pub fn token(&self) -> FencingToken {
        self.token
    }

    /// The proof for a write that may be made only while this lock is held.
    #[must_use]
    pub fn proof(&self) -> LeaseToken {
        LeaseToken {
            lease: self.key.clone(),
            token: self.token,
            cluster: Some(self.cluster),
        }
    }

    /// Whether the lease is certainly held now: until 0.9 of the TTL after the last acknowledged renewal was sent, by a
    /// clock that counts suspension.
    ///
    /// # Errors
    ///
    /// The lease is lost, or may be.
    pub fn check(&self) -> Result<(), Error> {
        match self.shared.end() {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    /// Waits until the lease is lost, or may be: stop acting under it. Suspension of the machine is noticed late here,
    /// and at once by [`Lock::check`].
    pub fn lost(&self) -> impl Future<Output = Error> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        async move { shared.lost().await }
    }

    /// Releases the lease; the next in the queue gets it at once.
    ///
    /// # Errors
    ///
    /// No replica executed it in time. The lease then ends by itself, since it is not renewed any more.
    pub async fn release(self) -> Result<(), Error> {
        self.give_up().await
    }

    /// Stops the renewals, as dropping does, for a lock that is shared: the lease ends when its TTL has passed.
    pub fn stop(&self) {
        self.keeping.abort();
    }

    /// As [`Lock::release`], for a lock that is shared: its other users find it lost from now on.
    ///
    /// # Errors
    ///
    /// As [`Lock::release`].
    pub async fn give_up(&self) -> Result<(), Error> {
        self.keeping.abort();
        let given_up = Error::new(ErrorKind::StaleEpoch, "the lease was given up here");
        let standing = &self.shared.standing;
        standing.update(|standing| standing.lost = standing.lost.take().or(Some(given_up)));
        let release = ReleaseLease {
            key: self.key.clone(),
            holder: self.holder.clone(),
            token: Some(self.token),
        };
        self.client.send_release_lease(release).await.map(|_| ())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lock")
            .field("key", &self.key)
            .field("holder", &self.holder)
            .field("token", &self.token)
            .finish_non_exhaustive()
    }
}

impl LockParts {
    /// Renews until the lease is lost.
    async fn keep(&self, hold: Hold) {
        let interval = hold.ttl / 3;
        let client = self.client.with_timeout(interval);
        loop {
            sleep(interval).await;
            let sent_at = self.client.seams().clock.now();
            match client
                .send_renew_lease(&hold.key, hold.token, Some(hold.cluster))
                .await
            {
                // The TTL is at most the one with which the lease was taken.
                Ok(ttl) => self.proved(sent_at, ttl.min(hold.ttl)),
                Err(error) if error.kind() == ErrorKind::StaleEpoch => {
                    tracing::warn!(lease = %hold.key, token = %hold.token, %error, "the lease was lost");
                    return self.standing.update(|standing| standing.lost = Some(error));
                }
                Err(error) => {
                    tracing::debug!(lease = %hold.key, %error, "the lease was not renewed")
                }
            }
        }
    }

    /// The renewal that was sent at `sent_at` was acknowledged.
    fn proved(&self, sent_at: Duration, ttl: Duration) {
        // In the cluster, the lease ends the TTL after the renewal was received.
        let until = sent_at + ttl / 10 * 9;
        self.standing
            .update(|standing| standing.proved_until = until.max(standing.proved_until));
    }

    /// Why the lease is not certainly held; `None` if it is.
    fn end(&self) -> Option<Error> {
        let standing = self.standing.lock();
        if let Some(lost) = &standing.lost {
            return Some(lost.clone());
        }
        (standing.proved_until <= self.client.seams().clock.now()).then(|| {
            let message = "the lease was not renewed in time: another may hold it by now";
            Error::new(ErrorKind::StaleEpoch, message)
        })
    }

    async fn lost(&self) -> Error {
        loop {
            if let Some(error) = self.end() {
                return error;
            }
            let until = self.standing.lock().proved_until;
            let left = until.saturating_sub(self.client.seams().clock.now());
            let lost = self.standing.wait(|standing| standing.lost.clone());
            if let Ok(error) = timeout(left, lost).await {
                return error;
            }
        }
    }
}

impl LockOptions {
    fn to_acquire(&self, client: &Client) -> AcquireLease {
        let holder = self.holder.clone();
        AcquireLease {
            key: self.key.clone(),
            holder: holder.unwrap_or_else(|| client.own_holder(self)),
            ttl: self.ttl,
            wait: None,
            if_member: self.if_member.clone(),
        }
    }
}

impl Client {
    /// A holder name that no other process has. It begins with the name of the member that the lease ends with, or with that
    /// of the client: a replica that knows its callers lets each hold leases only under names that begin so.
    fn own_holder(&self, options: &LockOptions) -> HolderIdentity {
        let randomness = &*self.seams().randomness;
        let mut text = format!("{:016x}{:016x}", randomness.next(), randomness.next());
        let member = options.if_member.as_ref().map(|(id, _)| id);
        if let Some(name) = member.or(self.name()) {
            text = format!("{name}_{text}");
        }
        HolderIdentity::parse(&text).expect("an id and 33 more bytes name a holder")
    }
}
