//! Dry runs of what no call of Synod tries: leases, members by their leases, and candidates. All is checked as if it were done,
//! but for what only the log can tell: a quota, and who is faster. The answer is what would be there.

use serde_json::Value;
use synod_model::{AcquireLease, Join, PutLeaseCandidate};
use synod_proto::{Change, v1};

use crate::leases::Wanted;
use crate::present::is_expected;
use crate::sources::Calls;
use crate::status::{About, Fault};
use crate::{identity, leases, shown};

/// The lease that would be created.
pub(crate) fn create_lease(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
) -> Result<Value, Fault> {
    let wanted = Wanted::first(document, about)?;
    let lease = v1::Lease {
        metadata: Some(metadata(calls, about)),
        ..v1::Lease::default()
    };
    acquired(calls, about, lease, &wanted)
}

/// What a lease would be, if it is the one that is expected.
pub(crate) async fn update_lease(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    expected: &v1::Preconditions,
) -> Result<Value, Fault> {
    let wanted = Wanted::of(document, about)?;
    let lease = leases::read(calls, about).await;
    let mut lease = lease.map_err(|refusal| Fault::of(&refusal, about))?;
    let own = lease.metadata.clone().unwrap_or_default();
    is_expected(&own, expected, about)?;
    if wanted.holder.is_empty() {
        lease.hold = None;
        return Ok(leases::of(about.kind, &lease, None, calls.now_ms()));
    }
    acquired(calls, about, lease, &wanted)
}

/// A lease that its holder, or who wants a free one, has acquired.
fn acquired(
    calls: &Calls,
    about: &About<'_>,
    mut lease: v1::Lease,
    wanted: &Wanted,
) -> Result<Value, Fault> {
    let request = leases::acquisition(about, wanted);
    Change::<AcquireLease>::try_from(request).map_err(|found| Fault::unsound(&found, about))?;
    let now = calls.now_ms();
    match &mut lease.hold {
        Some(hold) if hold.holder == wanted.holder => hold.ttl_ms = wanted.ttl_ms,
        Some(hold) => {
            let why = format!("the lease is held by \"{}\"", hold.holder);
            return Err(Fault::conflict(about, &why));
        }
        free => {
            let is_new = lease.metadata.as_ref().is_none_or(|own| own.uid.is_empty());
            lease.transitions += u64::from(!is_new);
            *free = Some(v1::LeaseHold {
                holder: wanted.holder.clone(),
                ttl_ms: wanted.ttl_ms,
                acquired_ms: now,
                ..v1::LeaseHold::default()
            });
        }
    }
    Ok(leases::of(about.kind, &lease, Some(wanted.ttl_ms), now))
}

/// The lease of the member that would join.
pub(crate) fn create_member(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
) -> Result<Value, Fault> {
    let request = identity::asked_for(document, about)?;
    joined(calls, about, request, metadata(calls, about), 0)
}

/// What the lease of a member would be, if it is the one that is expected.
pub(crate) fn update_member(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    expected: &v1::Preconditions,
    member: &v1::Member,
) -> Result<Value, Fault> {
    let request = identity::asked_of(document, about, expected, member)?;
    let own = member.metadata.clone().unwrap_or_default();
    let is_same = request.instance == member.instance;
    let epoch = if is_same { member.epoch } else { 0 };
    joined(calls, about, request, own, epoch)
}

fn joined(
    calls: &Calls,
    about: &About<'_>,
    request: v1::MembershipJoinRequest,
    own: v1::Metadata,
    epoch: u64,
) -> Result<Value, Fault> {
    let member = v1::Member {
        metadata: Some(v1::Metadata {
            labels: request.labels.clone(),
            ..own
        }),
        instance: request.instance.clone(),
        ttl_ms: request.ttl_ms.unwrap_or_default(),
        epoch,
        ..v1::Member::default()
    };
    Change::<Join>::try_from(request).map_err(|found| Fault::unsound(&found, about))?;
    let left = Some(member.ttl_ms);
    Ok(identity::of(about.kind, &member, left, calls.now_ms()))
}

/// The candidate that would stand, in place of this one.
pub(crate) fn candidate(
    calls: &Calls,
    about: &About<'_>,
    said: &v1::LeasesPutCandidateRequest,
    there: Option<&Value>,
) -> Result<Value, Fault> {
    Change::<PutLeaseCandidate>::try_from(said.clone())
        .map_err(|found| Fault::unsound(&found, about))?;
    let candidate = v1::LeaseCandidate {
        metadata: Some(metadata(calls, about)),
        lease: said.candidate.clone().unwrap_or_default().lease,
        binary_version: said.binary_version.clone(),
        emulation_version: said.emulation_version.clone(),
        strategy: said.strategy.clone(),
        ..v1::LeaseCandidate::default()
    };
    let mut document = shown::lease_candidate(about.kind, &candidate, Some(calls.now_ms()));
    if let Some(there) = there {
        document["metadata"] = there["metadata"].clone();
    }
    Ok(document)
}

/// The metadata of what is not there.
fn metadata(calls: &Calls, about: &About<'_>) -> v1::Metadata {
    v1::Metadata {
        name: about.name.to_owned(),
        namespace: about.namespace.unwrap_or_default().to_owned(),
        creation_time_ms: calls.now_ms(),
        ..v1::Metadata::default()
    }
}
