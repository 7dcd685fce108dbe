//! Looks at discovery, and their dismissal.

use std::collections::{BTreeMap, BTreeSet};

use synod_machine::{Command, State};
use synod_model::{
    DismissLooks, GroupResource, ObserveStorage, ObservedServer, ObserverName, Revision,
    ServerLook, StorageVersionHash,
};

use super::LEGAL;
use super::entries::{kind, member, resource, version};

use crate::calls::{By, Look};

/// Each observer that may look at the resource.
pub(super) fn of_observers(of: GroupResource) -> [(GroupResource, ObserverName); 2] {
    [0, 1].map(|number| (of.clone(), observer(number)))
}

fn observer(number: usize) -> ObserverName {
    ObserverName::parse(["east", "west"][number]).expect(LEGAL)
}

fn server(number: usize) -> ObservedServer {
    ObservedServer::parse(["https://a", "https://b"][number]).expect(LEGAL)
}

pub(super) fn look(look: &Look, state: &State) -> Command {
    let of = resource(look.resource);
    let kept = state.present().storage_state(&of);
    let changed = kept.map_or(Revision::ZERO, |kept| kept.row.metadata.resource_version);
    let shown = (0..3).filter(|i| look.hashes & (1 << i) != 0);
    let shown = shown.map(|i| StorageVersionHash::of_version(&version(i), &kind(0)));
    let shown: BTreeSet<StorageVersionHash> = shown.collect();
    let said = said(&of, state);
    let shown = if shown.is_empty() {
        said.clone()
    } else {
        shown
    };
    let unnamed = |hashes| ObserveStorage {
        if_revision: look.expects.map(|right| match right {
            true => changed,
            false => changed.next(),
        }),
        kind: look.tells_kind.then(|| kind(0)),
        ..ObserveStorage::unnamed(of.clone(), hashes)
    };
    match look.by {
        By::Nobody => Command::ObserveStorage(unnamed(shown)),
        By::Observer {
            observer: number,
            reached,
            names,
            is_bare,
        } => {
            let shown = if is_bare { BTreeSet::new() } else { shown };
            let all = [shown, said].into_iter().enumerate();
            let all = all.filter(|(at, _)| reached & (1 << at) != 0);
            let servers: BTreeMap<_, _> = all
                .map(|(at, hashes)| {
                    let member = names.then(|| member(at));
                    (server(at), ServerLook { hashes, member })
                })
                .collect();
            Command::ObserveStorage(ObserveStorage {
                observer: Some(observer(number)),
                servers,
                ..unnamed(BTreeSet::new())
            })
        }
        By::Dismissed {
            observer: by,
            server: at,
        } => Command::DismissLooks(DismissLooks {
            resource: of,
            observer: by.map(observer),
            server: at.map(server),
        }),
    }
}

/// What the members encode; the first version if nobody reports, since the protocol refuses an observation without hashes.
fn said(of: &GroupResource, state: &State) -> BTreeSet<StorageVersionHash> {
    let said = state.present().storage_version(of);
    let mut hashes = BTreeSet::new();
    if let Some(said) = &said {
        let encoded = said.entries().filter_map(|(_, entry)| {
            let encoding = entry.encoding.as_ref()?;
            Some(StorageVersionHash::of_version(encoding, &entry.kind))
        });
        hashes.extend(encoded);
    }
    if hashes.is_empty() {
        hashes.insert(StorageVersionHash::of_version(&version(0), &kind(0)));
    }
    hashes
}
