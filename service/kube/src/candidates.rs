//! Candidates for leases: a LeaseCandidate of Kubernetes on one of Synod's.
//!
//! | what Kubernetes does | what it is here |
//! |---|---|
//! | create | stand for the lease `spec.leaseName`, as the identity that is its name |
//! | update | say something else, and stand for another while |
//! | delete | withdraw |
//!
//! A candidate of Kubernetes renews every five minutes, so it stands for six. Who is elected holds the lease as long, if it
//! does not say for how long itself.

use serde_json::Value;
use synod_model::ErrorKind;
use synod_proto::v1;

use crate::present;
use crate::sources::Calls;
use crate::status::{About, Fault};
use crate::tried;

/// How long a candidate stands after it has said so.
const STANDS_MS: u64 = 6 * 60 * 1_000;

/// What a document says of a candidate.
fn said(document: &Value, about: &About<'_>) -> Result<v1::LeasesPutCandidateRequest, Fault> {
    let spec = &document["spec"];
    let text = |field: &str| spec[field].as_str().unwrap_or_default().to_owned();
    let mut faults = Vec::new();
    for field in ["leaseName", "binaryVersion", "strategy"] {
        if text(field).is_empty() {
            faults.push((format!("spec.{field}"), "Required value".to_owned()));
        }
    }
    if !faults.is_empty() {
        return Err(Fault::invalid(about, &faults));
    }
    Ok(v1::LeasesPutCandidateRequest {
        candidate: Some(contender(about, text("leaseName"))),
        binary_version: text("binaryVersion"),
        emulation_version: text("emulationVersion"),
        strategy: text("strategy"),
        ttl_ms: Some(STANDS_MS),
        ..v1::LeasesPutCandidateRequest::default()
    })
}

fn contender(about: &About<'_>, lease: String) -> v1::LeaseContender {
    v1::LeaseContender {
        lease: Some(v1::LeaseKey {
            namespace: about.namespace.unwrap_or_default().to_owned(),
            name: lease,
        }),
        identity: about.name.to_owned(),
    }
}

/// Stands for a lease.
pub(crate) async fn create(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    is_dry: bool,
) -> Result<Value, Fault> {
    let said = said(document, about)?;
    match present::read(calls, about).await {
        Ok(_) => return Err(Fault::already_exists(about)),
        Err(fault) if fault.code == 404 => {}
        Err(fault) => return Err(fault),
    }
    match is_dry {
        true => tried::candidate(calls, about, &said, None),
        false => put(calls, about, &said).await,
    }
}

/// Makes a candidate what a document says, if it is the one that is expected: its revision is compared when it is read, a
/// moment before it is written. The document names its lease, so no others are read: every candidate does this all the time.
pub(crate) async fn update(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    expected: &v1::Preconditions,
    is_dry: bool,
) -> Result<Value, Fault> {
    let said = said(document, about)?;
    let Some(there) = standing(calls, about, &said).await? else {
        // It is not there, or stands for another lease.
        let there = present::read(calls, about).await?;
        present::means(about, &there, expected)?;
        let rule = "Invalid value: field is immutable";
        let faults = [("spec.leaseName".to_owned(), rule.to_owned())];
        return Err(Fault::invalid(about, &faults));
    };
    present::means(about, &there, expected)?;
    match is_dry {
        true => tried::candidate(calls, about, &said, Some(&there)),
        false => put(calls, about, &said).await,
    }
}

/// The candidate that stands for the lease that was said; `None` if it does not.
async fn standing(
    calls: &Calls,
    about: &About<'_>,
    said: &v1::LeasesPutCandidateRequest,
) -> Result<Option<Value>, Fault> {
    let lease = said.candidate.clone().unwrap_or_default().lease;
    let found = calls
        .candidate_for(about.kind, lease.unwrap_or_default(), about.name)
        .await;
    found.map_err(|refusal| Fault::of(&refusal, about))
}

async fn put(
    calls: &Calls,
    about: &About<'_>,
    said: &v1::LeasesPutCandidateRequest,
) -> Result<Value, Fault> {
    let put: Result<v1::LeasesPutCandidateResponse, _> =
        calls.call("synod.v1.Leases/PutCandidate", said).await;
    put.map_err(|refusal| Fault::of(&refusal, about))?;
    let found = standing(calls, about, said).await;
    let found = found.and_then(|found| found.ok_or_else(|| Fault::not_found(about)));
    found.map_err(Fault::behind_a_write)
}

/// Withdraws a candidate. Its uid and revision are compared when it is read, a moment before. Answers its uid.
pub(crate) async fn delete(
    calls: &Calls,
    about: &About<'_>,
    expected: &v1::Preconditions,
    is_dry: bool,
) -> Result<String, Fault> {
    let there = present::read(calls, about).await?;
    present::expected(about, &there, expected)?;
    let uid = there["metadata"]["uid"].as_str().unwrap_or_default();
    if is_dry {
        return Ok(uid.to_owned());
    }
    let lease = there["spec"]["leaseName"].as_str().unwrap_or_default();
    let request = v1::LeasesWithdrawCandidateRequest {
        candidate: Some(contender(about, lease.to_owned())),
        ..v1::LeasesWithdrawCandidateRequest::default()
    };
    let withdrawn: Result<v1::LeasesWithdrawCandidateResponse, _> = calls
        .call("synod.v1.Leases/WithdrawCandidate", &request)
        .await;
    withdrawn.map_err(|refusal| match refusal.kind {
        ErrorKind::NotFound => Fault::not_found(about),
        _ => Fault::of(&refusal, about),
    })?;
    Ok(uid.to_owned())
}
