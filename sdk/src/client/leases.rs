//! Leases: reading them, and the single calls that a lock is made of.

use std::time::Duration;

use synod_model::{
    AcquireLease, ClusterId, DeleteLease, FencingToken, HolderIdentity, LeaseKey,
    PutLeaseCandidate, ReleaseLease, RenewLease, RenewLeaseCandidate, WithdrawLeaseCandidate,
};
use synod_proto::{Change, LeaseRenewal, v1};
use tokio_stream::StreamExt as _;
use tonic::{Response, Status};

use super::{Client, stubs};
use crate::pages::Pages;
use crate::transport::{Failure, Repeats, Try};
use crate::values::read;
use crate::{
    Acquired, Changed, Error, Header, LeaseCandidateItem, LeaseCandidatePage, LeasePage, LeaseView,
    ReadOptions,
};

/// The limit of one try of a waiting call: it is answered before another replica is tried.
pub(super) const WAIT_ROUND: Duration = Duration::from_secs(9);
/// The timeout of a waiting call, which lets a single try take [`WAIT_ROUND`].
pub(super) const WAIT_CALL: Duration = Duration::from_secs(30);

impl Client {
    /// Reads one lease.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such lease (any more).
    pub async fn lease(&self, key: &LeaseKey, options: ReadOptions) -> Result<LeaseView, Error> {
        let message = v1::LeasesGetRequest {
            lease: Some(key.into()),
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move { stubs::leases(attempt.channel).get(request).await }
        });
        read::<v1::LeasesGetResponse, _>(answer.await?)
    }

    /// Reads all leases, or those of one namespace, all at one revision.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the list took so long that its revision left the window: begin again.
    pub async fn leases(
        &self,
        namespace: Option<&str>,
        options: ReadOptions,
    ) -> Result<LeasePage, Error> {
        let first = v1::LeasesListRequest {
            read: options.to_wire(),
            namespace: namespace.unwrap_or_default().to_owned(),
            ..v1::LeasesListRequest::default()
        };
        Pages::new(self.clone(), first).all().await
    }

    /// Reads the candidates of one lease.
    ///
    /// # Errors
    ///
    /// No replica answered in time.
    pub async fn lease_candidates(
        &self,
        key: &LeaseKey,
        options: ReadOptions,
    ) -> Result<Vec<LeaseCandidateItem>, Error> {
        Ok(self.candidates(Some(key), options).await?.items)
    }

    /// Reads the candidates of all leases, all at one revision.
    ///
    /// # Errors
    ///
    /// `COMPACTED`: the list took so long that its revision left the window: begin again.
    pub async fn all_lease_candidates(
        &self,
        options: ReadOptions,
    ) -> Result<LeaseCandidatePage, Error> {
        self.candidates(None, options).await
    }

    async fn candidates(
        &self,
        key: Option<&LeaseKey>,
        options: ReadOptions,
    ) -> Result<LeaseCandidatePage, Error> {
        let first = v1::LeasesListCandidatesRequest {
            lease: key.map(Into::into),
            read: options.to_wire(),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Pages::new(self.clone(), first).all().await
    }

    /// Takes a lease once, or a place in its queue, without renewing it: for programs that keep
    /// their leases themselves. Others use [`Client::lock`]. A call that waits is answered after
    /// some seconds at the latest: call again.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: another holder has it, and the caller does not wait.
    pub async fn send_acquire_lease(&self, acquire: AcquireLease) -> Result<Acquired, Error> {
        let waits = acquire.wait.is_some();
        let client = if waits {
            self.with_timeout(WAIT_CALL)
        } else {
            self.clone()
        };
        let change = client.change(Change::new(acquire), |attempt: Try, message| {
            let mut request = attempt.request::<v1::LeasesAcquireRequest>(message);
            if waits {
                request.set_timeout(attempt.remaining.min(WAIT_ROUND));
            }
            async move { stubs::leases(attempt.channel).acquire(request).await }
        });
        read::<v1::LeasesAcquireResponse, _>(change.await?)
    }

    /// Gives up a lease, or the place in its queue: with a token only the hold under it, else
    /// whatever the holder has.
    ///
    /// # Errors
    ///
    /// No replica executed it in time.
    pub async fn send_release_lease(&self, release: ReleaseLease) -> Result<Changed, Error> {
        let change = self.change(Change::new(release), |attempt: Try, message| {
            let request = attempt.request::<v1::LeasesReleaseRequest>(message);
            async move { stubs::leases(attempt.channel).release(request).await }
        });
        read::<v1::LeasesReleaseResponse, _>(change.await?)
    }

    /// Deletes a lease, whoever holds it. Its token is stale at once, but the holder may act until its next renewal, by which
    /// it learns of it. Who is next has a new lease of this name, with a higher token.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such lease. `CONFLICT`: it is not the one that is meant. `UNAVAILABLE`: not every replica
    /// knows this call yet (machine version 2).
    pub async fn delete_lease(&self, delete: DeleteLease) -> Result<Header, Error> {
        let change = self.change(Change::new(delete), |attempt: Try, message| {
            let request = attempt.request::<v1::LeasesDeleteRequest>(message);
            async move { stubs::leases(attempt.channel).delete(request).await }
        });
        let answer: v1::LeasesDeleteResponse = change.await?;
        read(answer.header)
    }

    /// Renews a lease once, and returns its TTL.
    ///
    /// # Errors
    ///
    /// `STALE_EPOCH`: the lease is not held under this token, and never will be again.
    pub async fn send_renew_lease(
        &self,
        key: &LeaseKey,
        token: FencingToken,
        cluster: Option<ClusterId>,
    ) -> Result<Duration, Error> {
        let renew = RenewLease {
            key: key.clone(),
            token,
        };
        self.renew_once(&LeaseRenewal::Lease { renew, cluster })
            .await
    }

    /// Makes a process a candidate for a lease, or changes what the candidate reports of itself,
    /// without renewing it. Most programs use [`Election`](crate::Election).
    ///
    /// # Errors
    ///
    /// `QUOTA`: the lease has too many candidates.
    pub async fn send_put_candidate(&self, put: PutLeaseCandidate) -> Result<Changed, Error> {
        let change = self.change(Change::new(put), |attempt: Try, message| {
            let request = attempt.request::<v1::LeasesPutCandidateRequest>(message);
            async move { stubs::leases(attempt.channel).put_candidate(request).await }
        });
        read::<v1::LeasesPutCandidateResponse, _>(change.await?)
    }

    /// Renews a candidate once, and returns its TTL.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: it is not a candidate any more.
    pub async fn send_renew_candidate(
        &self,
        key: &LeaseKey,
        identity: &HolderIdentity,
    ) -> Result<Duration, Error> {
        let renew = RenewLeaseCandidate {
            key: key.clone(),
            identity: identity.clone(),
        };
        self.renew_once(&LeaseRenewal::Candidate(renew)).await
    }

    /// Withdraws a candidate from a lease.
    ///
    /// # Errors
    ///
    /// No replica executed it in time.
    pub async fn send_withdraw_candidate(
        &self,
        key: &LeaseKey,
        identity: &HolderIdentity,
    ) -> Result<Changed, Error> {
        let withdraw = WithdrawLeaseCandidate {
            key: key.clone(),
            identity: identity.clone(),
        };
        let change = self.change(Change::new(withdraw), |attempt: Try, message| {
            let request = attempt.request::<v1::LeasesWithdrawCandidateRequest>(message);
            async move {
                stubs::leases(attempt.channel)
                    .withdraw_candidate(request)
                    .await
            }
        });
        read::<v1::LeasesWithdrawCandidateResponse, _>(change.await?)
    }

    async fn renew_once(&self, renewal: &LeaseRenewal) -> Result<Duration, Error> {
        use v1::leases_renew_response::Result as Headed;
        let message = v1::LeasesRenewRequest::of(renewal, 1);
        // Renewing twice does no harm, so the call is repeated like a read.
        let call = self.call(crate::session::deadline(self.timeout), Repeats::Read);
        let answer = call.run(|attempt| renewed(attempt, message.clone()));
        let answer = answer.await.map_err(|failure: Failure| failure.error)?;
        match answer.result {
            Some(Headed::Renewed(renewed)) => Ok(Duration::from_millis(renewed.ttl_ms)),
            Some(Headed::Refusal(refusal)) => Err(synod_model::Refusal::from(refusal).into()),
            None => {
                let fault = synod_model::Violation::required("every replica sets it").at("result");
                Err(Error::malformed(&fault.into()))
            }
        }
    }
}

async fn renewed(
    attempt: Try,
    message: v1::LeasesRenewRequest,
) -> Result<Response<v1::LeasesRenewResponse>, Status> {
    let request = attempt.request(tokio_stream::once(message));
    let answers = stubs::leases(attempt.channel).renew(request).await?;
    match answers.into_inner().next().await {
        // A refusal in the stream becomes the call's status: another replica may be tried.
        Some(Ok(v1::LeasesRenewResponse {
            result: Some(v1::leases_renew_response::Result::Refusal(refusal)),
            ..
        })) => Err(synod_proto::status::to_status(refusal.into())),
        Some(answer) => answer.map(Response::new),
        None => Err(Status::unavailable(
            "the stream of renewals ended without an answer",
        )),
    }
}
