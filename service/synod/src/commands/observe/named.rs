//! Posts the look of a named observer, server by server.
//!
//! A server that could not be read is left out, and what it showed last stays. So nothing has to be withheld, and two
//! observers that reach different servers do not undo what the other has seen.

use std::collections::{BTreeMap, BTreeSet};

use synod_client::{
    Client, GroupResource, MemberId, ObserveStorage, ObservedServer, ObserverLook, ObserverName,
    Revision, ServerLook, Violation,
};

use super::round::RoundEnd;
use super::server::Look;
use super::sight::Seen;
use crate::args::ObserveArgs;

/// The name of the observer, and what it knows of its servers.
#[derive(Debug)]
pub(super) struct NamedObserver {
    pub(super) observer: ObserverName,
    /// The members that servers are, by their URLs.
    members: BTreeMap<String, MemberId>,
}

impl NamedObserver {
    /// The observer that the arguments name; `None` without a name of the observer.
    pub(super) fn of(args: &ObserveArgs, observer: Option<ObserverName>) -> Option<Self> {
        let members = args.members.iter();
        Some(Self {
            observer: observer?,
            members: members
                .map(|it| (it.url.trim_end_matches('/').to_owned(), it.member.clone()))
                .collect(),
        })
    }

    /// Posts what the servers show that could be read.
    pub(super) async fn post(
        &self,
        client: &Client,
        (revision, known): (Revision, &[ObserverLook]),
        resource: &GroupResource,
        seen: &Seen,
        looks: &[Look],
    ) -> RoundEnd {
        let servers = match self.reached(resource, seen, looks) {
            Ok(servers) => servers,
            Err(fault) => return RoundEnd::Failed(fault.to_string()),
        };
        if servers.is_empty() {
            return RoundEnd::Withheld;
        }
        let own = known.iter().filter(|look| look.observer == self.observer);
        let kept = own.flat_map(|look| look.servers.keys());
        let kept = kept.filter(|server| !servers.contains_key(*server));
        let mut kept: BTreeSet<String> = kept.map(ToString::to_string).collect();
        kept.extend(seen.unknown.iter().cloned());
        let observe = ObserveStorage {
            kind: seen.kind(),
            observer: Some(self.observer.clone()),
            servers,
            if_revision: Some(revision),
            ..ObserveStorage::unnamed(resource.clone(), BTreeSet::new())
        };
        match client.observe(observe).await {
            Ok(_) if !kept.is_empty() => RoundEnd::Kept(kept),
            Ok(answer) if answer.changed => RoundEnd::Changed(answer.header.revision),
            Ok(_) => RoundEnd::Unchanged,
            Err(error) => RoundEnd::refused(&error),
        }
    }

    /// What each server shows of the resource that could be read.
    fn reached(
        &self,
        resource: &GroupResource,
        seen: &Seen,
        looks: &[Look],
    ) -> Result<BTreeMap<ObservedServer, ServerLook>, Violation> {
        let read = looks
            .iter()
            .filter(|look| !seen.unknown.contains(&look.server));
        let reached = read.map(|look| {
            let shown = look
                .shown
                .iter()
                .filter(|shown| shown.resource == *resource);
            let server = ServerLook {
                hashes: shown.filter_map(|shown| shown.hash).collect(),
                member: self.members.get(look.server.trim_end_matches('/')).cloned(),
            };
            Ok((ObservedServer::parse(&look.server)?, server))
        });
        reached.collect()
    }
}

#[cfg(test)]
mod tests {
    use synod_client::{Kind, StorageVersionHash};

    use super::*;
    use crate::commands::observe::documents::Shown;
    use crate::commands::observe::names::StoreNames;
    use crate::commands::observe::server::Fault;
    use crate::commands::observe::sight::sight;

    fn look(server: &str, version: Option<&str>, is_read: bool) -> Look {
        let hash = |version| StorageVersionHash::of("example.io", version, "Widget");
        let shown = version.map(|version| Shown {
            resource: GroupResource::parse_qualified("widgets.example.io").unwrap(),
            kind: Some(Kind::parse("Widget").unwrap()),
            is_migratable: true,
            hash: Some(hash(version)),
        });
        let fault = (!is_read).then(|| Fault {
            group: None,
            why: "answered 503".to_owned(),
        });
        Look {
            server: server.to_owned(),
            shown: shown.into_iter().collect(),
            faults: fault.into_iter().collect(),
        }
    }

    #[test]
    fn a_server_that_cannot_be_read_is_left_out_and_one_without_the_resource_shows_nothing() {
        let resource = GroupResource::parse_qualified("widgets.example.io").unwrap();
        let naming = NamedObserver {
            observer: ObserverName::parse("east").unwrap(),
            members: [("https://a".to_owned(), MemberId::parse("api-a").unwrap())].into(),
        };
        let looks = [
            look("https://a", Some("v1"), true),
            look("https://b", None, true),
            look("https://c", None, false),
        ];
        let seen = sight(&looks, &StoreNames::default(), [].into_iter());
        let reached = naming.reached(&resource, &seen[&resource], &looks).unwrap();
        let shown: Vec<_> = reached
            .iter()
            .map(|(server, shown)| (server.as_str(), shown.hashes.len(), shown.member.is_some()))
            .collect();
        assert_eq!(shown, [("https://a", 1, true), ("https://b", 0, false)]);
    }
}
