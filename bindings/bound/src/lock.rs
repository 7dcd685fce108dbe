//! Locks held under leases, elections, and observers of a lease.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use synod_client::json as form;
use synod_client::{
    Election as InnerElection, Error, HolderIdentity, LeadershipEnd, LeaseKey, Lock as Inner,
    LockOptions, MemberEpoch, SemanticVersion, Ttl,
};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;
use crate::counts::{Counted, Live};
use crate::options::{Options, message, number, rule, text, used_up};
use crate::{Bound, Failure, Feed, Taken};

/// A lease that this process holds: [`synod_client::Lock`], by documents. It is renewed in the background until it is
/// released, lost or dropped.
#[derive(Debug)]
pub struct Lock {
    /// `None` once the lock is released.
    inner: Mutex<Option<Arc<Inner>>>,
    proof: String,
    holder: String,
    token: u64,
    taken: AtomicBool,
    home: Handle,
    _live: Live,
}

/// An election in which this process takes part: [`synod_client::Election`], by documents.
#[derive(Debug)]
pub struct Election {
    inner: Arc<InnerElection>,
    home: Handle,
}

/// Why a leader must stop leading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeadingEnd {
    /// The lease is lost, or may be: stop at once.
    Lost(Failure),
    /// The candidate of this identity should lead: finish in order, and release.
    Preferred(String),
}

impl Bound {
    /// Waits for a lease, first come first served, and holds it. A feed that is dropped or closed gives up its place in
    /// the queue, and releases a lock that was granted and not popped.
    ///
    /// Options: `lease`, a `LeaseKey`, and `holder`, `ttlMs` and `ifMember`, a `MemberEpoch`.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule. The feed fails as
    /// [`synod_client::Client::lock`] does.
    pub fn lock(&self, options: &str) -> Result<Feed<Lock>, Failure> {
        let options = lock_options(options)?;
        let client = self.client().clone();
        Ok(given(self.home(), move |over| async move {
            client.lock_unless(options, over.cancelled_owned()).await
        }))
    }

    /// Holds a lease if no one else holds it. The options are those of [`Bound::lock`].
    ///
    /// # Errors
    ///
    /// As [`Bound::lock`]. The feed fails with `CONFLICT`, which carries the lease, if another holder has it.
    pub fn try_lock(&self, options: &str) -> Result<Feed<Lock>, Failure> {
        let options = lock_options(options)?;
        let client = self.client().clone();
        Ok(given(self.home(), move |_| async move {
            client.try_lock(options).await.map(Some)
        }))
    }

    /// Takes part in an election: the holder of the lease leads.
    ///
    /// Options: those of [`Bound::lock`], and `candidate` with `binaryVersion` and `emulationVersion`, to be a
    /// candidate for the lease under `holder`, so that the candidate of the lowest emulation version leads.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule.
    pub fn election(&self, options: &str) -> Result<Election, Failure> {
        Ok(Election {
            inner: Arc::new(self.inner_election(options)?),
            home: self.home().clone(),
        })
    }

    fn inner_election(&self, options: &str) -> Result<InnerElection, Failure> {
        let mut options = Options::parse(options)?;
        let Some(versions) = options.take("candidate", candidate) else {
            let made = read_lock(&mut options);
            let made = options.end(made)?;
            return Ok(InnerElection::new(self.client(), made));
        };
        let key = options.need("lease", message::<LeaseKey>);
        let holder = options.need("holder", text(HolderIdentity::parse));
        let ttl = options.take("ttlMs", |value| Ttl::from_millis(number(value)?));
        let (key, holder) = options.end(key.zip(holder))?;
        let (binary, emulation) = versions;
        let ttl = ttl.unwrap_or(Ttl::DEFAULT);
        let client = self.client();
        Ok(InnerElection::coordinated(
            client, key, holder, binary, emulation, ttl,
        ))
    }

    /// Observes a lease, a `LeaseKey`, which need not exist: yields a `Lease` as it is now and after each change, and
    /// `null` while there is no lease.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: `lease` is not a key. The feed fails if the cluster refuses the read.
    pub fn observe_lease(&self, lease: &str) -> Result<Feed<String>, Failure> {
        let key = crate::options::value(lease)?;
        Ok(observed(self.client().observe_lease(key)))
    }
}

fn observed(observer: synod_client::LeaseObserver) -> Feed<String> {
    Feed::of(futures::stream::unfold(
        observer,
        |mut observer| async move {
            let lease = observer.next().await.map_err(Failure::from);
            let shown = lease.map(|lease| match lease {
                Some(lease) => form::of(&lease).to_string(),
                None => "null".to_owned(),
            });
            Some((shown, observer))
        },
    ))
}

fn lock_options(options: &str) -> Result<LockOptions, Failure> {
    let mut options = Options::parse(options)?;
    let made = read_lock(&mut options);
    options.end(made)
}

fn read_lock(options: &mut Options) -> Option<LockOptions> {
    let mut made = options
        .need("lease", message::<LeaseKey>)
        .map(LockOptions::new);
    if let Some(holder) = options.take("holder", text(HolderIdentity::parse)) {
        made = made.map(|made| made.holder(holder));
    }
    let ttl = options.take("ttlMs", |value| Ttl::from_millis(number(value)?));
    if let Some(ttl) = ttl {
        made = made.map(|made| made.ttl(ttl));
    }
    if let Some(member) = options.take("ifMember", message::<MemberEpoch>) {
        made = made.map(|made| made.if_member(member.member, member.epoch));
    }
    made
}

fn candidate(
    value: &serde_json::Value,
) -> Result<(SemanticVersion, SemanticVersion), synod_client::Violations> {
    let mut found = synod_client::Violations::new();
    let version = |name: &str| {
        let text = value.get(name).and_then(serde_json::Value::as_str);
        let text = text.ok_or_else(|| rule("must be given, as a text").into());
        text.and_then(|text| SemanticVersion::parse(text).map_err(synod_client::Violations::from))
    };
    let binary = found.parsed("binaryVersion", version("binaryVersion"));
    let emulation = found.parsed("emulationVersion", version("emulationVersion"));
    binary.zip(emulation).ok_or(found)
}

/// Asks for a lock in a task of its own, so that the place in the queue is given up as soon as the feed is dropped.
fn given<Fut>(
    home: &Handle,
    ask: impl FnOnce(CancellationToken) -> Fut + Send + 'static,
) -> Feed<Lock>
where
    Fut: Future<Output = Result<Option<Inner>, Error>> + Send + 'static,
{
    let over = CancellationToken::new();
    // The feed's future owns this guard: dropping the feed cancels `over`.
    let waiting = over.clone().drop_guard();
    let kept = home.clone();
    let asking = home.clone();
    let caller = Caller::present();
    Feed::once(async move {
        let task = asking.spawn(Caller::of(caller, async move {
            let lock = ask(over).await?;
            Ok(lock.map(|lock| Lock::new(lock, kept)))
        }));
        let given: Result<Option<Lock>, Failure> = match task.await {
            Ok(given) => given,
            Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
            Err(_) => Err(used_up("the client's runtime")),
        };
        drop(waiting);
        given?.ok_or_else(|| Failure::invalid(rule("the wait for the lock was cancelled")))
    })
}

impl Lock {
    fn new(inner: Inner, home: Handle) -> Self {
        Self {
            proof: form::of(&inner.proof()).to_string(),
            holder: inner.holder().to_string(),
            token: inner.token().get(),
            inner: Mutex::new(Some(Arc::new(inner))),
            taken: AtomicBool::new(false),
            home,
            _live: Live::new(Counted::Lock),
        }
    }

    /// The name under which this process holds the lease.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// The fencing token, higher than that of every earlier holder.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.token
    }

    /// The `LeaseToken` to name in a write that may be executed only while this lock is held.
    #[must_use]
    pub fn proof(&self) -> &str {
        &self.proof
    }

    /// Whether the lease is certainly held now.
    ///
    /// # Errors
    ///
    /// The lease is lost, or may be.
    pub fn check(&self) -> Result<(), Failure> {
        Ok(self.inner()?.check()?)
    }

    /// Waits until the lease is lost, or may be, and returns why: stop acting under it.
    ///
    /// # Errors
    ///
    /// The lock was released.
    pub async fn lost(&self) -> Result<Failure, Failure> {
        // No `Arc` of the lock is kept while waiting, so that it can be released meanwhile.
        let lost = self.inner()?.lost();
        Ok(lost.await.into())
    }

    /// Releases the lease; the first waiter holds it at once.
    ///
    /// # Errors
    ///
    /// No replica executed the release in time. The lease then expires by itself, since it is no longer renewed.
    pub async fn release(&self) -> Result<(), Failure> {
        let inner = self.take().ok_or_else(|| used_up("the lock"))?;
        Ok(inner.give_up().await?)
    }

    fn take(&self) -> Option<Arc<Inner>> {
        self.inner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn inner(&self) -> Result<Arc<Inner>, Failure> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| used_up("the lock"))
    }
}

impl Taken for Lock {
    fn taken(&self) {
        self.taken.store(true, Ordering::SeqCst);
    }
}

impl Drop for Lock {
    /// A lock that was never popped was never used: it is released at once.
    fn drop(&mut self) {
        let Some(inner) = self.take() else {
            return;
        };
        if self.taken.load(Ordering::SeqCst) {
            inner.stop();
        } else {
            self.home.spawn(async move {
                // If the release fails, the lease expires by itself.
                let _ = inner.give_up().await;
            });
        }
    }
}

impl Election {
    /// Waits until this process leads. Dropping or closing the feed ends the campaign.
    #[must_use]
    pub fn campaign(&self) -> Feed<Lock> {
        let election = Arc::clone(&self.inner);
        given(&self.home, move |over| async move {
            election.campaign_unless(over.cancelled_owned()).await
        })
    }

    /// Waits, while this process leads, until it must stop, and returns why.
    ///
    /// # Errors
    ///
    /// The lock was released.
    pub async fn over(&self, lock: &Lock) -> Result<LeadingEnd, Failure> {
        let inner = lock.inner()?;
        Ok(match self.inner.over(&inner).await {
            LeadershipEnd::Lost(error) => LeadingEnd::Lost(error.into()),
            LeadershipEnd::Preferred(other) => LeadingEnd::Preferred(other.to_string()),
        })
    }

    /// Observes who leads, as [`Bound::observe_lease`].
    #[must_use]
    pub fn observe(&self) -> Feed<String> {
        observed(self.inner.observe())
    }

    /// Withdraws this process's candidacy for the lease.
    ///
    /// # Errors
    ///
    /// No replica executed it in time. The candidate then expires by itself.
    pub async fn withdraw(&self) -> Result<(), Failure> {
        Ok(self.inner.withdraw().await?)
    }
}
