//! Candidates for leases, which are read by their leases.

use serde_json::Value;
use synod_model::Refusal;
use synod_proto::v1;

use super::{Calls, PAGE_MAX, Page, Paging, Start, nothing, revision};
use crate::kinds::Kind;
use crate::request::Asked;
use crate::shown;

impl Calls {
    /// The candidate with a name, which is looked for among all: Synod keeps them by their leases.
    pub(super) async fn candidate(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
        asked: Asked,
    ) -> Result<Value, Refusal> {
        let mut start = Start::First(asked);
        loop {
            let paging = Paging::of(start, PAGE_MAX);
            let namespace = namespace.unwrap_or_default();
            let page = self.candidates(kind, namespace, paging).await?;
            let mut items = page.items.into_iter();
            if let Some(found) = items.find(|item| item["metadata"]["name"] == name) {
                return Ok(found);
            }
            if page.next.is_empty() {
                return Err(nothing(name));
            }
            start = Start::After(page.next);
        }
    }

    /// A page of candidates of a namespace, or of all.
    pub(super) async fn candidates(
        &self,
        kind: &Kind,
        namespace: &str,
        paging: Paging,
    ) -> Result<Page, Refusal> {
        let request = v1::LeasesListCandidatesRequest {
            lease: None,
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
            let own = candidate.metadata.as_ref();
            let is_in = own.is_some_and(|own| namespace.is_empty() || own.namespace == namespace);
            is_in.then(|| shown::lease_candidate(kind, &candidate, renewed))
        };
        Ok(Page {
            items: found.items.into_iter().filter_map(of).collect(),
            revision: revision(found.header),
            next: found.continue_token,
        })
    }
}
