//! Combines what all servers show, and decides what of it may be posted.
//!
//! A server that cannot be read may encode anything. So the view of a resource is *whole* only if every server was
//! read: then its hashes are complete, and a single hash is an agreement. A view that is not whole can end an agreement
//! but never make one: a new hash is joined to the hashes that were observed last and those that members report. The
//! set then has several hashes, and a migration is aborted that would otherwise miss what is written now. Without a new
//! hash nothing is posted; then the observation becomes stale, and what is stored becomes unknown, unless the server is
//! read again in time.

use std::collections::{BTreeMap, BTreeSet};

use synod_client::{GroupResource, Kind, StorageVersionHash};

use super::names::StoreNames;
use super::server::Look;

/// What the servers show of one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The hashes of what the servers encode.
    pub(crate) hashes: BTreeSet<StorageVersionHash>,
    /// The kinds that the servers name: one if they agree.
    pub(crate) kinds: BTreeSet<Kind>,
    /// The servers whose encoding is not known.
    pub(crate) unknown: BTreeSet<String>,
}

/// What is seen of each resource that can be migrated and of which a server shows a hash, or showed one before.
pub(crate) fn sight<'a>(
    looks: &[Look],
    names: &StoreNames,
    before: impl Iterator<Item = &'a GroupResource>,
) -> BTreeMap<GroupResource, Seen> {
    let before = before.map(|resource| (resource.clone(), Seen::default()));
    let mut resources: BTreeMap<GroupResource, Seen> = before.collect();
    for shown in looks.iter().flat_map(|look| &look.shown) {
        if shown.is_migratable && shown.hash.is_some() {
            resources.entry(shown.resource.clone()).or_default();
        }
    }
    for look in looks {
        for shown in &look.shown {
            let Some(seen) = resources.get_mut(&shown.resource) else {
                continue;
            };
            seen.kinds.extend(shown.kind.clone());
            match shown.hash {
                Some(hash) => drop(seen.hashes.insert(hash)),
                None => drop(seen.unknown.insert(look.server.clone())),
            }
        }
        for (resource, seen) in &mut resources {
            let hides = |group: &Option<String>| {
                let group = group.as_deref();
                group.is_none_or(|group| names.is_of_group(resource, group))
            };
            if look.faults.iter().any(|fault| hides(&fault.group)) {
                seen.unknown.insert(look.server.clone());
            }
        }
    }
    resources
}

impl Seen {
    /// Whether every server was read.
    pub(crate) fn is_whole(&self) -> bool {
        self.unknown.is_empty()
    }

    /// The kind, if all servers name the same.
    pub(crate) fn kind(&self) -> Option<Kind> {
        let mut kinds = self.kinds.iter();
        kinds.next().filter(|_| kinds.next().is_none()).cloned()
    }

    /// The hashes to post, given those that were observed last or are reported. `None`: post nothing.
    pub(crate) fn post(
        &self,
        known: &BTreeSet<StorageVersionHash>,
    ) -> Option<BTreeSet<StorageVersionHash>> {
        if self.is_whole() {
            return Some(self.hashes.clone());
        }
        let is_new = !known.is_empty() && !self.hashes.is_subset(known);
        is_new.then(|| known | &self.hashes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::observe::documents::Shown;
    use crate::commands::observe::server::Fault;

    fn hash(version: &str) -> StorageVersionHash {
        StorageVersionHash::of("example.io", version, "Widget")
    }

    fn look(server: &str, shown: &[(&str, Option<&str>)], fault: Option<Option<&str>>) -> Look {
        let shown = shown.iter().map(|(name, version)| Shown {
            resource: GroupResource::parse_qualified(name).unwrap(),
            kind: Some(Kind::parse("Widget").unwrap()),
            is_migratable: true,
            hash: version.map(hash),
        });
        let fault = fault.map(|group| Fault {
            group: group.map(str::to_owned),
            why: "answered 503".to_owned(),
        });
        Look {
            server: server.to_owned(),
            shown: shown.collect(),
            faults: fault.into_iter().collect(),
        }
    }

    fn seen(looks: &[Look], name: &str) -> Seen {
        sight(looks, &StoreNames::default(), [].into_iter())
            [&GroupResource::parse_qualified(name).unwrap()]
            .clone()
    }

    const WIDGETS: &str = "widgets.example.io";

    #[test]
    fn what_all_servers_show_is_the_set_of_their_hashes() {
        let looks = [
            look("a", &[(WIDGETS, Some("v1"))], None),
            look("b", &[(WIDGETS, Some("v2"))], None),
            look("c", &[], None),
        ];
        let seen = seen(&looks, WIDGETS);
        assert!(seen.is_whole(), "a server without the resource writes none");
        let both: BTreeSet<_> = [hash("v1"), hash("v2")].into();
        assert_eq!(seen.post(&BTreeSet::new()), Some(both));
        assert_eq!(seen.kind(), Some(Kind::parse("Widget").unwrap()));
    }

    #[test]
    fn what_a_server_hides_is_never_posted_as_an_agreement() {
        let shown = look("a", &[(WIDGETS, Some("v1"))], None);
        for hiding in [
            look("b", &[], Some(None)),
            look("b", &[], Some(Some("example.io"))),
            look("b", &[(WIDGETS, None)], None),
        ] {
            let seen = seen(&[shown.clone(), hiding], WIDGETS);
            assert_eq!(seen.unknown, ["b".to_owned()].into());
            let post = |known: &[StorageVersionHash]| seen.post(&known.iter().copied().collect());
            assert_eq!(post(&[]), None, "nothing was known before");
            assert_eq!(post(&[hash("v1")]), None, "nothing is new");
            let widened = Some([hash("v1"), hash("v2")].into());
            assert_eq!(post(&[hash("v2")]), widened, "v1 is written again");
        }
    }

    #[test]
    fn a_kind_that_servers_do_not_agree_on_is_not_known() {
        let mut other = look("b", &[(WIDGETS, Some("v1"))], None);
        other.shown[0].kind = Some(Kind::parse("Gadget").unwrap());
        let looks = [look("a", &[(WIDGETS, Some("v1"))], None), other];
        assert_eq!(seen(&looks, WIDGETS).kind(), None);
    }

    #[test]
    fn a_group_that_cannot_be_read_hides_no_other() {
        let looks = [
            look("a", &[(WIDGETS, Some("v1")), ("pods", Some("v1"))], None),
            look("b", &[("pods", Some("v1"))], Some(Some("example.io"))),
        ];
        assert!(!seen(&looks, WIDGETS).is_whole());
        assert!(seen(&looks, "pods").is_whole());
    }

    #[test]
    fn what_nobody_says_the_encoding_of_is_passed_by() {
        assert!(
            sight(
                &[look("a", &[(WIDGETS, None)], None)],
                &StoreNames::default(),
                [].into_iter()
            )
            .is_empty()
        );
    }
}
