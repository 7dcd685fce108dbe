use synod_model::names::dns1123_label;
use synod_model::{LeaseKey, Violation, Violations};

use super::consistency::consistency;
use super::{Consistency, PageRequest};
use crate::change::lease_key;
use crate::fields::sound;
use crate::v1;

/// Asks for one lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetLease {
    /// Which one.
    pub key: LeaseKey,
    /// How to read.
    pub read: Consistency,
}

impl From<&GetLease> for v1::LeasesGetRequest {
    fn from(get: &GetLease) -> Self {
        Self {
            lease: Some((&get.key).into()),
            read: Some(get.read.into()),
        }
    }
}

impl TryFrom<v1::LeasesGetRequest> for GetLease {
    type Error = Violations;

    fn try_from(pb: v1::LeasesGetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = lease_key(pb.lease, &mut found);
        let read = consistency(pb.read, &mut found);
        let Some(key) = key else { return Err(found) };
        sound(Self { key, read }, found)
    }
}

/// Asks for a page of leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListLeases {
    /// Which page.
    pub page: PageRequest<LeaseKey>,
    /// Only leases of this namespace; `None`: of all.
    pub namespace: Option<String>,
}

impl From<&ListLeases> for v1::LeasesListRequest {
    fn from(list: &ListLeases) -> Self {
        let page = list.page.to_wire();
        Self {
            read: page.read,
            namespace: list.namespace.clone().unwrap_or_default(),
            page_size: page.page_size,
            continue_token: page.continue_token,
            continue_at_present: page.continue_at_present,
        }
    }
}

impl TryFrom<v1::LeasesListRequest> for ListLeases {
    type Error = Violations;

    fn try_from(mut pb: v1::LeasesListRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let namespace = Some(pb.namespace).filter(|namespace| !namespace.is_empty());
        if let Some(Err(rule)) = namespace.as_deref().map(dns1123_label) {
            let given = namespace.as_deref().unwrap_or_default();
            found.push(Violation::invalid(given, rule).at("namespace"));
        }
        let Some(page) = page else {
            return Err(found);
        };
        sound(Self { page, namespace }, found)
    }
}

/// Asks who stand for a lease, or for any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListLeaseCandidates {
    /// Which lease; `None`: all.
    pub key: Option<LeaseKey>,
    /// Which page. Its size counts leases.
    pub page: PageRequest<LeaseKey>,
}

impl From<&ListLeaseCandidates> for v1::LeasesListCandidatesRequest {
    fn from(list: &ListLeaseCandidates) -> Self {
        let page = list.page.to_wire();
        Self {
            lease: list.key.as_ref().map(Into::into),
            read: page.read,
            continue_token: page.continue_token,
            continue_at_present: page.continue_at_present,
        }
    }
}

impl TryFrom<v1::LeasesListCandidatesRequest> for ListLeaseCandidates {
    type Error = Violations;

    fn try_from(mut pb: v1::LeasesListCandidatesRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let key = pb
            .lease
            .map(|lease| found.parsed("lease", LeaseKey::try_from(lease)));
        match (key, page) {
            (None, Some(page)) => sound(Self { key: None, page }, found),
            (Some(Some(key)), Some(page)) => {
                let key = Some(key);
                sound(Self { key, page }, found)
            }
            (Some(None), _) | (_, None) => Err(found),
        }
    }
}
