//! Holding leases, and leading by them.

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

use crate::counts::{Counted, Live};
use crate::options::{Options, message, number, rule, text, used_up};
use crate::{Bound, Failure, Feed, Taken};

/// A lease that this process holds: [`synod_client::Lock`], by documents. It renews by itself until it is released, lost or
/// dropped.
#[derive(Debug)]
pub struct Lock {
    /// `None` once it is released.
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

/// What leading is given up for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeadingEnd {
    /// The lease is lost, or may be: stop at once.
    Lost(Failure),
    /// Another candidate should lead, of this identity: end in order, and release.
    Preferred(String),
}

impl Bound {
    /// Waits for a lease, in the order in which those who want it came, and holds it. A feed that is dropped or closed
    /// gives up its place, and what it holds that nobody has taken.
    ///
    /// Options: `lease`, a `LeaseKey`; and `holder`, `ttlMs` and `ifMember`, a `MemberEpoch`.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: an option is no such option, or breaks a rule. The feed fails as
    /// [`synod_client::Client::lock`] does.
    pub fn lock(&self, options: &str) -> Result<Feed<Lock>, Failure> {
        let options = lock_options(options)?;
        let client = self.client().clone();
        Ok(given(self.home(), move |over| async move {
            client.lock_unless(options, over.cancelled_owned()).await
        }))
    }

    /// Holds a lease if nobody else does. Options as for [`Bound::lock`].
    ///
    /// # Errors
    ///
    /// As [`Bound::lock`]; the feed fails with `CONFLICT`: another holds it, and the lease is in the failure.
    pub fn try_lock(&self, options: &str) -> Result<Feed<Lock>, Failure> {
        let options = lock_options(options)?;
        let client = self.client().clone();
        Ok(given(self.home(), move |_| async move {
            client.try_lock(options).await.map(Some)
        }))
    }

    /// Takes part in an election: who holds the lease leads.
    ///
    /// Options: those of [`Bound::lock`]; and `candidate`, with `binaryVersion` and `emulationVersion`, to stand for the
    /// lease under `holder`, so that the one of the lowest emulation version leads.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: an option is no such option, or breaks a rule.
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

    /// Observes a lease, a `LeaseKey`, which need not exist: a `Lease` as it is now, and after that each time it has
    /// changed; `null` while there is none.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: it is no key. The feed fails if the cluster refuses to be asked.
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

/// A lock that is asked for by a task of its own, so that a place in the queue is given up as soon as nobody waits.
fn given<Fut>(
    home: &Handle,
    ask: impl FnOnce(CancellationToken) -> Fut + Send + 'static,
) -> Feed<Lock>
where
    Fut: Future<Output = Result<Option<Inner>, Error>> + Send + 'static,
{
    let over = CancellationToken::new();
    // Within the feed: it goes when the feed does.
    let waiting = over.clone().drop_guard();
    let kept = home.clone();
    let asking = home.clone();
    Feed::once(async move {
        let task = asking.spawn(async move {
            let lock = ask(over).await?;
            Ok(lock.map(|lock| Lock::new(lock, kept)))
        });
        let given: Result<Option<Lock>, Failure> = match task.await {
            Ok(given) => given,
            Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
            Err(_) => Err(used_up("the client's runtime")),
        };
        drop(waiting);
        given?.ok_or_else(|| used_up("what waited for the lock"))
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

    /// Who holds it: this process.
    #[must_use]
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// The fencing token, which is higher than that of every holder before.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.token
    }

    /// What a write names that is to be made only while this lock is held: a `LeaseToken`.
    #[must_use]
    pub fn proof(&self) -> &str {
        &self.proof
    }

    /// Whether the lease is certainly held now.
    ///
    /// # Errors
    ///
    /// It is lost, or may be.
    pub fn check(&self) -> Result<(), Failure> {
        Ok(self.inner()?.check()?)
    }

    /// Waits until the lease is lost, or may be, and answers why: stop acting under it.
    ///
    /// # Errors
    ///
    /// It was released.
    pub async fn lost(&self) -> Result<Failure, Failure> {
        // The lock itself is not held on to: it can be released meanwhile.
        let lost = self.inner()?.lost();
        Ok(lost.await.into())
    }

    /// Gives the lease up; who waits next has it at once.
    ///
    /// # Errors
    ///
    /// Nobody carried it out in time. The lease ends by itself then, since it is renewed no longer.
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
    /// One that nobody has taken was never acted under: it is released at once.
    fn drop(&mut self) {
        let Some(inner) = self.take() else {
            return;
        };
        if self.taken.load(Ordering::SeqCst) {
            inner.stop();
        } else {
            self.home.spawn(async move {
                // If it cannot be told, the lease ends by itself.
                let _ = inner.give_up().await;
            });
        }
    }
}

impl Election {
    /// Waits until this process leads. A feed that is dropped or closed wants nothing any more.
    #[must_use]
    pub fn campaign(&self) -> Feed<Lock> {
        let election = Arc::clone(&self.inner);
        given(&self.home, move |over| async move {
            election.campaign_unless(over.cancelled_owned()).await
        })
    }

    /// Waits, while this process leads, for what it is over by.
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

    /// Stands for the lease no longer.
    ///
    /// # Errors
    ///
    /// No replica carried it out in time. The candidate ends by itself then.
    pub async fn withdraw(&self) -> Result<(), Failure> {
        Ok(self.inner.withdraw().await?)
    }
}
