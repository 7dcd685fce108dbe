//! Candidates for leases, which are read by their leases.

use serde_json::Value;
use synod_model::{ErrorKind, Refusal};
use synod_proto::v1;

use super::{Calls, PAGE_MAX, Page, Paging, Start, nothing, revision};
use crate::kinds::Kind;
use crate::request::Asked;
use crate::shown;

impl Calls {
    /// The candidate with a name, which is looked for among all: Synod keeps them by their leases.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`; `CONFLICT` if the name stands for several leases; and as any read.
    pub(super) async fn candidate(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
        asked: Asked,
    ) -> Result<Value, Refusal> {
        let namespace = namespace.unwrap_or_default();
        let mut found: Option<Value> = None;
        let mut start = Start::First(asked);
        loop {
            let page = self
                .candidates(kind, namespace, Paging::of(start, PAGE_MAX))
                .await?;
            for item in named(page.items, name) {
                if let Some(other) = &found {
                    return Err(ambiguous(name, other, &item));
                }
                found = Some(item);
            }
            if page.next.is_empty() {
                return found.ok_or_else(|| nothing(name));
            }
            start = Start::After(page.next);
        }
    }

    /// The candidate with a name for one lease; `None` if it does not stand for it.
    ///
    /// # Errors
    ///
    /// As any read.
    pub(crate) async fn candidate_for(
        &self,
        kind: &Kind,
        lease: v1::LeaseKey,
        name: &str,
    ) -> Result<Option<Value>, Refusal> {
        // All candidates for a lease come in one page.
        let paging = Paging::of(Start::First(Asked::Newest), PAGE_MAX);
        let page = self.candidates_for(kind, Some(lease), paging).await?;
        Ok(named(page.items, name).next())
    }

    /// A page of candidates of a namespace, or of all.
    pub(super) async fn candidates(
        &self,
        kind: &Kind,
        namespace: &str,
        paging: Paging,
    ) -> Result<Page, Refusal> {
        let mut page = self.candidates_for(kind, None, paging).await?;
        if !namespace.is_empty() {
            page.items
                .retain(|item| item["metadata"]["namespace"] == namespace);
        }
        Ok(page)
    }

    /// A page of candidates for a lease, or for all.
    async fn candidates_for(
        &self,
        kind: &Kind,
        lease: Option<v1::LeaseKey>,
        paging: Paging,
    ) -> Result<Page, Refusal> {
        let request = v1::LeasesListCandidatesRequest {
            lease,
            read: paging.read,
            continue_token: paging.continue_token,
            continue_at_present: paging.continue_at_present,
        };
        let found: v1::LeasesListCandidatesResponse = self
            .call("synod.v1.Leases/ListCandidates", &request)
            .await?;
        let now = self.now_ms();
        let of = |item: v1::LeaseCandidateItem| {
            let candidate = item.candidate?;
            let ttl = candidate.ttl_ms;
            let renewed = item.remaining_ms;
            let renewed = renewed.map(|left| (now + left.min(ttl)).saturating_sub(ttl));
            Some(shown::lease_candidate(kind, &candidate, renewed))
        };
        Ok(Page {
            items: found.items.into_iter().filter_map(of).collect(),
            revision: revision(found.header),
            next: found.continue_token,
        })
    }
}

fn named(items: Vec<Value>, name: &str) -> impl Iterator<Item = Value> {
    items
        .into_iter()
        .filter(move |item| item["metadata"]["name"] == name)
}

fn ambiguous(name: &str, one: &Value, other: &Value) -> Refusal {
    let lease = |item: &Value| {
        let lease = item["spec"]["leaseName"].as_str();
        lease.unwrap_or_default().to_owned()
    };
    let message = format!(
        "\"{name}\" is ambiguous: it stands for the leases \"{}\" and \"{}\": name the one that is meant over gRPC",
        lease(one),
        lease(other)
    );
    Refusal::new(ErrorKind::Conflict, message)
}
