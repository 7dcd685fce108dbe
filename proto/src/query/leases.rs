use synod_model::names::dns1123_label;
use synod_model::{LeaseKey, Violation, Violations};

use super::page::lists;
use super::{Consistency, PageRequest};
use crate::wire::{Wire, read, sound};
use crate::{messages, v1};

/// Asks for one lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetLease {
    /// The key of the lease.
    pub key: LeaseKey,
    /// The consistency of the read.
    pub read: Consistency,
}

/// Asks for a page of leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListLeases {
    /// The page.
    pub page: PageRequest<LeaseKey>,
    /// Only leases in this namespace; `None`: in all.
    pub namespace: Option<String>,
}

/// Asks for a page of the candidates for a lease, or for all leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListLeaseCandidates {
    /// The lease; `None`: all leases.
    pub key: Option<LeaseKey>,
    /// The page. Its size counts leases.
    pub page: PageRequest<LeaseKey>,
}

messages! {
    v1::LeasesGetRequest = GetLease {
        key = lease,
        read = read,
    }
}

lists! {
    LeasesListRequest = ListLeases {
        namespace = namespace by label,
    }
}

/// A namespace of leases; an empty text is `None`.
mod label {
    use super::*;

    pub(super) fn write(namespace: &Option<String>) -> String {
        namespace.clone().unwrap_or_default()
    }

    pub(super) fn read(pb: String) -> Result<Option<String>, Violations> {
        if pb.is_empty() {
            return Ok(None);
        }
        match dns1123_label(&pb) {
            Ok(_) => Ok(Some(pb)),
            Err(rule) => Err(Violation::invalid(&pb, rule).into()),
        }
    }
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
        let key = read(&mut found, "lease", Wire::of_wire(pb.lease));
        let (Some(page), Some(key)) = (page, key) else {
            return Err(found);
        };
        sound(Self { key, page }, found)
    }
}
