//! Leader election: a lock whose holder leads, and for which the cluster can choose among candidates.

use std::time::Duration;

use synod_model::{
    ErrorKind, HolderIdentity, Lease, LeaseKey, PutLeaseCandidate, ReleaseLease, SemanticVersion,
    Strategy, Ttl,
};
use tokio::time::sleep;

use crate::lock::Hold;
use crate::transport::Backoff;
use crate::{Client, Error, LeaseObserver, Lock, LockOptions, ReadOptions};

/// An election in which this process takes part.
///
/// With [`Election::new`], the first to ask leads, and the others wait in the order in which they asked. With
/// [`Election::coordinated`], this process is a candidate, and leads when Kubernetes' rule chooses it.
#[derive(Clone, Debug)]
pub struct Election {
    client: Client,
    options: LockOptions,
    candidate: Option<PutLeaseCandidate>,
}

/// Why this process must stop leading.
#[derive(Clone, Debug)]
pub enum LeadershipEnd {
    /// The lease is lost, or may be: stop at once.
    Lost(Error),
    /// Another candidate should lead: finish in order, then release the lease.
    Preferred(HolderIdentity),
}

impl Election {
    /// An election in which the holder of this lease leads.
    #[must_use]
    pub fn new(client: &Client, options: LockOptions) -> Self {
        Self {
            client: client.clone(),
            options,
            candidate: None,
        }
    }

    /// Makes this process a candidate under this identity: the candidate with the lowest emulation version leads.
    #[must_use]
    pub fn coordinated(
        client: &Client,
        key: LeaseKey,
        identity: HolderIdentity,
        binary_version: SemanticVersion,
        emulation_version: SemanticVersion,
        ttl: Ttl,
    ) -> Self {
        let options = LockOptions::new(key.clone());
        Self {
            client: client.clone(),
            options: options.holder(identity.clone()).ttl(ttl),
            candidate: Some(PutLeaseCandidate {
                key,
                identity,
                binary_version,
                emulation_version: Some(emulation_version),
                strategy: Strategy::OldestEmulationVersion,
                ttl,
            }),
        }
    }

    /// Waits until this process leads.
    ///
    /// # Errors
    ///
    /// The cluster refuses the candidate, or its wait.
    pub async fn campaign(&self) -> Result<Lock, Error> {
        match &self.candidate {
            None => Box::pin(self.client.lock(self.options.clone())).await,
            Some(candidate) => {
                tokio::select! {
                    biased;
                    refused = Box::pin(self.stand(candidate)) => Err(refused),
                    elected = Box::pin(self.elected(candidate)) => elected,
                }
            }
        }
    }

    /// As [`Election::campaign`], but only until `over` ends: then the campaign is given up, and the answer is `None`.
    ///
    /// # Errors
    ///
    /// As [`Election::campaign`].
    pub async fn campaign_unless(
        &self,
        over: impl Future<Output = ()>,
    ) -> Result<Option<Lock>, Error> {
        let Some(candidate) = &self.candidate else {
            return self.client.lock_unless(self.options.clone(), over).await;
        };
        tokio::select! {
            biased;
            elected = Box::pin(self.campaign()) => return elected.map(Some),
            () = over => {}
        }
        if let Err(error) = self.end(candidate).await {
            tracing::debug!(%error, "the candidate was not withdrawn or its lease not released; both expire with \
                                     their TTL");
        }
        Ok(None)
    }

    /// Waits until this process must stop leading, and returns why. A candidate is renewed meanwhile.
    pub async fn over(&self, lock: &Lock) -> LeadershipEnd {
        let Some(candidate) = &self.candidate else {
            return LeadershipEnd::Lost(lock.lost().await);
        };
        tokio::select! {
            biased;
            error = lock.lost() => LeadershipEnd::Lost(error),
            error = Box::pin(self.stand(candidate)) => LeadershipEnd::Lost(error),
            preferred = Box::pin(self.preferred(candidate)) => LeadershipEnd::Preferred(preferred),
        }
    }

    /// Observes the lease, whose holder leads.
    #[must_use]
    pub fn observe(&self) -> LeaseObserver {
        self.client.observe_lease(self.options.key().clone())
    }

    /// Withdraws the candidate. This does not release a held lease: release it after this call. A free lease is given
    /// to the candidate that should lead, which may be this one again if it is not withdrawn before.
    ///
    /// # Errors
    ///
    /// No replica executed it in time. The candidate then expires by itself.
    pub async fn withdraw(&self) -> Result<(), Error> {
        match &self.candidate {
            Some(PutLeaseCandidate { key, identity, .. }) => {
                let withdrawn = self.client.send_withdraw_candidate(key, identity);
                withdrawn.await.map(|_| ())
            }
            None => Ok(()),
        }
    }

    /// Withdraws the candidate, and releases the lease in case it was given just before: it would not be used.
    async fn end(&self, candidate: &PutLeaseCandidate) -> Result<(), Error> {
        self.withdraw().await?;
        let release = ReleaseLease {
            key: candidate.key.clone(),
            holder: candidate.identity.clone(),
            token: None,
        };
        let released = self.client.send_release_lease(release).await;
        released.map(|_| ())
    }

    /// Registers the candidate, and renews it until the cluster refuses it.
    async fn stand(&self, candidate: &PutLeaseCandidate) -> Error {
        let interval = candidate.ttl.duration() / 3;
        let mut backoff = Backoff::new(Duration::from_millis(100), interval);
        let mut stands = false;
        loop {
            let result = if stands {
                let (key, identity) = (&candidate.key, &candidate.identity);
                let renewed = self.client.send_renew_candidate(key, identity);
                renewed.await.map(|_| ())
            } else {
                let put = self.client.send_put_candidate(candidate.clone());
                put.await.map(|_| ())
            };
            match result {
                Ok(()) => {
                    stands = true;
                    sleep(interval).await;
                }
                Err(error) if error.kind() == ErrorKind::NotFound => stands = false,
                Err(error) if error.execution() == synod_model::Verdict::Refused => return error,
                Err(_) => sleep(backoff.next(&*self.client.seams().randomness)).await,
            }
        }
    }

    /// Waits until the candidate is given the lease.
    async fn elected(&self, candidate: &PutLeaseCandidate) -> Result<Lock, Error> {
        let mut observer = self.observe();
        loop {
            let Some(hold) = observer.next().await?.and_then(|lease| lease.hold) else {
                continue;
            };
            if hold.holder != candidate.identity {
                continue;
            }
            if let Some(lock) = self.take_up(candidate).await {
                return Ok(lock);
            }
        }
    }

    /// Makes a [`Lock`] of the lease that the candidate was given; `None` if the lease is lost already.
    async fn take_up(&self, candidate: &PutLeaseCandidate) -> Option<Lock> {
        let mut backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(1));
        loop {
            let view = self
                .client
                .lease(&candidate.key, ReadOptions::linearizable());
            let proved = match view.await {
                Ok(view) => {
                    let hold = view.item.lease.hold?;
                    if hold.holder != candidate.identity {
                        return None;
                    }
                    let hold = Hold {
                        key: candidate.key.clone(),
                        holder: hold.holder,
                        token: hold.token,
                        ttl: hold.ttl.duration(),
                        cluster: view.header.cluster,
                    };
                    self.client.prove(hold).await
                }
                Err(error) => Err(error),
            };
            match proved {
                Ok(lock) => return Some(lock),
                Err(error) => tracing::debug!(%error, "the lease was not taken up"),
            }
            sleep(backoff.next(&*self.client.seams().randomness)).await;
        }
    }

    /// Waits until another candidate should lead.
    async fn preferred(&self, candidate: &PutLeaseCandidate) -> HolderIdentity {
        let mut observer = self.observe();
        loop {
            let lease: Option<Lease> = match observer.next().await {
                Ok(lease) => lease,
                Err(_) => std::future::pending().await,
            };
            let preferred = lease.and_then(|lease| lease.preferred);
            if let Some(preferred) = preferred.filter(|other| *other != candidate.identity) {
                return preferred;
            }
        }
    }
}
