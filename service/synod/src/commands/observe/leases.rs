//! How many API servers there are, as far as they say by the leases that they renew: each has one of its own, whatever
//! address it advertises.

use std::time::Duration;

use axum::http::StatusCode;
use serde::Deserialize;
use synod_apiserver::{ApiServer, Fault};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The leases of the identities of API servers.
const IDENTITIES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver";

#[derive(Deserialize)]
struct LeaseList {
    items: Option<Vec<Lease>>,
}

#[derive(Deserialize)]
struct Lease {
    spec: Spec,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    renew_time: Option<String>,
    lease_duration_seconds: Option<u64>,
}

/// How many API servers hold a lease that has not expired. `None`: they have none, or they may not be listed.
pub(super) async fn servers(through: &ApiServer) -> Result<Option<usize>, String> {
    match through.document::<LeaseList>(IDENTITIES).await {
        Ok(list) => Ok(list.map(unexpired)),
        Err(Fault::Answered(StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED, _)) => Ok(None),
        Err(fault) => Err(fault.to_string()),
    }
}

/// Those that had not expired when the last one of all was renewed: no clock of this machine counts.
fn unexpired(list: LeaseList) -> usize {
    let leases = list.items.into_iter().flatten().filter_map(|lease| {
        let renewed = OffsetDateTime::parse(&lease.spec.renew_time?, &Rfc3339).ok()?;
        let lasts = Duration::from_secs(lease.spec.lease_duration_seconds?);
        Some((renewed, renewed.checked_add(lasts.try_into().ok()?)?))
    });
    let leases: Vec<_> = leases.collect();
    let now = leases.iter().map(|(renewed, _)| *renewed).max();
    let lives = leases.iter().filter(|(_, ends)| Some(*ends) > now);
    lives.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_counts_until_another_is_renewed_after_its_end() {
        let list = r#"{"items": [
            {"spec": {"renewTime": "2026-11-24T12:00:00.000001Z", "leaseDurationSeconds": 3600}},
            {"spec": {"renewTime": "2026-11-24T11:30:00.000000Z", "leaseDurationSeconds": 3600}},
            {"spec": {"renewTime": "2026-11-24T11:00:00.000000Z", "leaseDurationSeconds": 3600}},
            {"spec": {"holderIdentity": "nobody"}}]}"#;
        assert_eq!(unexpired(serde_json::from_str(list).unwrap()), 2);
        assert_eq!(unexpired(LeaseList { items: None }), 0);
    }
}
