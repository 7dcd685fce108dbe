//! Renewals of leases and candidates. Like those of members they come in a stream of their own or in a pipeline.

use synod_machine::{Answer, Command};
use synod_model::{ErrorKind, Refusal, Revision, Ttl};
use synod_proto::{Change, LeaseRenewal, v1};

use super::calls::calls;
use super::{typed, unexpected};
use crate::handle::{Asking, Handle};

calls! {
    [checks] renew: LeasesRenewRequest => LeasesRenewResponse;
}

async fn renew(
    handle: &Handle,
    asking: &Asking,
    message: v1::LeasesRenewRequest,
) -> Result<v1::LeasesRenewResponse, Refusal> {
    use v1::leases_renew_response::Result as Answered;
    let correlation = message.correlation;
    let (revision, result) = match asking.told(carry_out(handle, asking, message).await) {
        Ok((revision, ttl)) => {
            let ttl_ms = ttl.as_millis();
            (revision, Answered::Renewed(v1::Renewed { ttl_ms }))
        }
        Err(refusal) => (
            handle.consensus().published().state.revision(),
            Answered::Refusal((&handle.with_hint(refusal)).into()),
        ),
    };
    Ok(v1::LeasesRenewResponse {
        header: Some(handle.header(revision)),
        correlation,
        result: Some(result),
    })
}

async fn carry_out(
    handle: &Handle,
    asking: &Asking,
    message: v1::LeasesRenewRequest,
) -> Result<(Revision, Ttl), Refusal> {
    asking.check(&message)?;
    let renewal: LeaseRenewal = typed(message)?;
    renewal.check_cluster(handle.cluster()?)?;
    match renewal {
        LeaseRenewal::Lease { renew, .. } => {
            let change = Change::new(renew);
            let done = handle.change(asking, change, Command::RenewLease).await?;
            match done.answer {
                Answer::LeaseHeld { ttl, .. } => Ok((done.revision, ttl)),
                other => Err(unexpected(&other)),
            }
        }
        LeaseRenewal::Candidate(renew) => {
            let (key, identity) = (renew.key.clone(), renew.identity.clone());
            let change = Change::new(renew);
            let done = handle
                .change(asking, change, Command::RenewLeaseCandidate)
                .await?;
            let published = handle.consensus().published();
            let standing = published.state.present().lease_candidate(&key, &identity);
            match standing {
                Some(candidate) => Ok((done.revision, candidate.ttl)),
                None => Err(Refusal::new(
                    ErrorKind::NotFound,
                    format!("\"{identity}\" does not stand for lease \"{key}\" any more"),
                )),
            }
        }
    }
}
