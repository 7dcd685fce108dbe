//! Leases: a lease of Kubernetes on one of Synod's.
//!
//! | what Kubernetes does | what it is here |
//! |---|---|
//! | create, or update, with a holder while nobody holds it | acquire |
//! | update by the holder | renew; with another duration, acquire, which keeps the token |
//! | update by another while it is held | `Conflict`: the TTL decides when a lease is free, not the clock of who wants it |
//! | update without a holder | release |
//! | delete | delete: the holder loses it at once; who is next in Synod's queue, or elected, has a new one |
//!
//! A renewal changes no revision, so `resourceVersion` stays, and no watcher is woken. `renewTime` is what the deadline that
//! the leader keeps says. A lease that was freed stays for a day, with an empty holder, as one that ran out long ago: electors
//! read these fields of what nobody holds, too. Labels, annotations and the times of the writer are not kept.

use serde_json::{Value, json};
use synod_model::limits::TTL_MS_MAX;
use synod_model::{ErrorKind, Refusal};
use synod_proto::v1;

use crate::documents::{document, micro_time};
use crate::kinds::Kind;
use crate::present::is_expected;
use crate::sources::Calls;
use crate::status::{About, Fault};

/// The annotation with the fencing token of the present holder.
const TOKEN: &str = "synod.io/fencing-token";

/// The longest TTL of a lease.
const TTL_SECONDS_MAX: u64 = TTL_MS_MAX / 1_000;
const _: () = assert!(TTL_SECONDS_MAX == 86_400, "the rule says so");

/// The document of a lease that has this much left, at this time.
pub(crate) fn of(kind: &Kind, lease: &v1::Lease, left: Option<u64>, now: u64) -> Value {
    let metadata = lease.metadata.as_ref();
    let mut spec = json!({ "leaseTransitions": lease.transitions });
    if let Some(hold) = &lease.hold {
        spec["holderIdentity"] = json!(hold.holder);
        spec["leaseDurationSeconds"] = json!(hold.ttl_ms.div_ceil(1_000));
        spec["acquireTime"] = micro_time(hold.acquired_ms);
        // Who does not know when it was renewed does not say that it was long ago.
        if let Some(left) = left {
            let renewed = (now + left.min(hold.ttl_ms)).saturating_sub(hold.ttl_ms);
            spec["renewTime"] = micro_time(renewed.max(hold.acquired_ms));
        }
    } else {
        let created = metadata.map_or(0, |metadata| metadata.creation_time_ms);
        spec["holderIdentity"] = json!("");
        spec["leaseDurationSeconds"] = json!(1);
        spec["renewTime"] = micro_time(created);
    }
    if !lease.preferred_holder.is_empty() {
        spec["preferredHolder"] = json!(lease.preferred_holder);
    }
    let mut document = document(kind, metadata, json!({ "spec": spec }));
    // In a dry run nobody has one.
    if let Some(hold) = &lease.hold
        && hold.token > 0
    {
        document["metadata"]["annotations"][TOKEN] = json!(hold.token.to_string());
    }
    document
}

/// What a document wants of a lease.
pub(crate) struct Wanted {
    /// Empty: nobody is to hold it.
    pub(crate) holder: String,
    pub(crate) ttl_ms: u64,
}

impl Wanted {
    pub(crate) fn of(document: &Value, about: &About<'_>) -> Result<Self, Fault> {
        let spec = &document["spec"];
        let holder = match &spec["holderIdentity"] {
            Value::Null => String::new(),
            Value::String(holder) => holder.clone(),
            _ => return Err(invalid(about, "spec.holderIdentity", "must be a text")),
        };
        let seconds = match &spec["leaseDurationSeconds"] {
            Value::Null => None,
            seconds => {
                let faulty = |rule| Err(invalid(about, "spec.leaseDurationSeconds", rule));
                match seconds.as_u64() {
                    None | Some(0) => return faulty("Invalid value: must be greater than 0"),
                    Some(seconds) if seconds > TTL_SECONDS_MAX => {
                        return faulty("Invalid value: must be less than or equal to 86400");
                    }
                    seconds => seconds,
                }
            }
        };
        match (holder.is_empty(), seconds) {
            (false, None) => Err(invalid(
                about,
                "spec.leaseDurationSeconds",
                "Required value: a lease that somebody holds has a duration",
            )),
            (_, seconds) => Ok(Self {
                holder,
                ttl_ms: seconds.unwrap_or_default().saturating_mul(1_000),
            }),
        }
    }

    /// The same of a lease that is not there.
    pub(crate) fn first(document: &Value, about: &About<'_>) -> Result<Self, Fault> {
        let wanted = Self::of(document, about)?;
        if wanted.holder.is_empty() {
            let rule = "Required value: a lease begins with its first holder";
            return Err(invalid(about, "spec.holderIdentity", rule));
        }
        Ok(wanted)
    }
}

fn invalid(about: &About<'_>, field: &str, rule: &str) -> Fault {
    Fault::invalid(about, &[(field.to_owned(), rule.to_owned())])
}

/// Creates a lease that is not there: its holder acquires it.
pub(crate) async fn create(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
) -> Result<(), Fault> {
    let wanted = Wanted::first(document, about)?;
    match acquire(calls, about, &wanted).await {
        // Somebody was faster.
        Err(refusal) if refusal.kind == ErrorKind::Conflict => Err(Fault::already_exists(about)),
        other => other.map_err(|refusal| Fault::of(&refusal, about)),
    }
}

/// Makes a lease what a document says, if it is the one that is expected. Its revision is compared when it is read, a
/// moment before it is written; that another one holds it is found out by the write itself.
pub(crate) async fn update(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    expected: &v1::Preconditions,
) -> Result<(), Fault> {
    let wanted = Wanted::of(document, about)?;
    let lease = read(calls, about)
        .await
        .map_err(|refusal| Fault::of(&refusal, about))?;
    let metadata = lease.metadata.unwrap_or_default();
    is_expected(&metadata, expected, about)?;
    let done = match lease.hold {
        None if wanted.holder.is_empty() => Ok(()),
        Some(hold) if wanted.holder.is_empty() => release(calls, about, &hold).await,
        Some(hold) if hold.holder == wanted.holder && hold.ttl_ms == wanted.ttl_ms => {
            renew(calls, about, &hold).await
        }
        // The machine refuses who is not the holder.
        Some(_) | None => acquire(calls, about, &wanted).await,
    };
    done.map_err(|refusal| match refusal.kind {
        // It was lost meanwhile: to the caller it is another lease than the one it knew.
        ErrorKind::StaleEpoch => Fault::modified(about),
        _ => Fault::of(&refusal, about),
    })
}

fn key(about: &About<'_>) -> v1::LeaseKey {
    v1::LeaseKey {
        namespace: about.namespace.unwrap_or_default().to_owned(),
        name: about.name.to_owned(),
    }
}

pub(crate) async fn read(calls: &Calls, about: &About<'_>) -> Result<v1::Lease, Refusal> {
    let request = v1::LeasesGetRequest {
        lease: Some(key(about)),
        read: None,
    };
    let read: v1::LeasesGetResponse = calls.call("synod.v1.Leases/Get", &request).await?;
    Ok(read.lease.unwrap_or_default())
}

/// The request by which a lease is acquired.
pub(crate) fn acquisition(about: &About<'_>, wanted: &Wanted) -> v1::LeasesAcquireRequest {
    v1::LeasesAcquireRequest {
        lease: Some(key(about)),
        holder: wanted.holder.clone(),
        ttl_ms: Some(wanted.ttl_ms),
        ..v1::LeasesAcquireRequest::default()
    }
}

async fn acquire(calls: &Calls, about: &About<'_>, wanted: &Wanted) -> Result<(), Refusal> {
    let request = acquisition(about, wanted);
    let _: v1::LeasesAcquireResponse = calls.call("synod.v1.Leases/Acquire", &request).await?;
    Ok(())
}

async fn release(calls: &Calls, about: &About<'_>, hold: &v1::LeaseHold) -> Result<(), Refusal> {
    let request = v1::LeasesReleaseRequest {
        lease: Some(key(about)),
        holder: hold.holder.clone(),
        token: Some(hold.token),
        ..v1::LeasesReleaseRequest::default()
    };
    let _: v1::LeasesReleaseResponse = calls.call("synod.v1.Leases/Release", &request).await?;
    Ok(())
}

async fn renew(calls: &Calls, about: &About<'_>, hold: &v1::LeaseHold) -> Result<(), Refusal> {
    use v1::leases_renew_request::What;
    use v1::leases_renew_response::Result as Answered;
    let request = v1::LeasesRenewRequest {
        what: Some(What::Lease(v1::LeaseToken {
            lease: Some(key(about)),
            token: hold.token,
            cluster_id: String::new(),
        })),
        correlation: 0,
    };
    let answer: v1::LeasesRenewResponse = calls.call("synod.v1.Leases/Renew", &request).await?;
    match answer.result {
        Some(Answered::Refusal(refusal)) => Err(refusal.into()),
        Some(Answered::Renewed(_)) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::KINDS;

    #[test]
    fn a_lease_tells_when_it_was_renewed_by_what_it_has_left() {
        let lease = v1::Lease {
            metadata: Some(v1::Metadata {
                name: "a".to_owned(),
                namespace: "n".to_owned(),
                creation_time_ms: 1_700_000_000_000,
                ..v1::Metadata::default()
            }),
            hold: Some(v1::LeaseHold {
                holder: "x".to_owned(),
                token: 9,
                ttl_ms: 15_000,
                acquired_ms: 1_700_000_000_000,
                ..v1::LeaseHold::default()
            }),
            transitions: 2,
            preferred_holder: String::new(),
        };
        let shown = of(&KINDS[0], &lease, Some(10_000), 1_700_000_100_000);
        assert_eq!(shown["spec"]["renewTime"], "2023-11-14T22:14:55.000000Z");
        assert_eq!(shown["spec"]["acquireTime"], "2023-11-14T22:13:20.000000Z");
        assert_eq!(shown["spec"]["leaseDurationSeconds"], 15);
        assert_eq!(shown["metadata"]["annotations"][TOKEN], "9");
        let unknown = of(&KINDS[0], &lease, None, 1_700_000_100_000);
        assert_eq!(unknown["spec"]["renewTime"], Value::Null);
        let free = v1::Lease {
            hold: None,
            ..lease
        };
        let shown = of(&KINDS[0], &free, None, 0);
        let long_ago = json!({
            "leaseTransitions": 2,
            "holderIdentity": "",
            "leaseDurationSeconds": 1,
            "renewTime": "2023-11-14T22:13:20.000000Z",
        });
        assert_eq!(shown["spec"], long_ago);
        assert_eq!(shown["metadata"]["annotations"], Value::Null);
    }
}
