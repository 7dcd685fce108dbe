//! The observer of discovery, which pauses now and then and stops at the end.

use std::collections::BTreeSet;

use rand::RngExt;
use synod_client::{
    ApiVersion, GroupResource, ListStorageVersions, ObserveStorage, Revision, StorageVersionHash,
};

use super::{PERIOD, Participant, kind, rolls, seen, until_done, version};

/// A version that a server outside of Synod writes.
const FOREIGN: u64 = 3;

/// Observes again and again until the rollout is over.
pub(super) async fn run(mut observer: Participant) {
    let period = u64::try_from(PERIOD.as_millis()).unwrap();
    while !observer.is_over() {
        for _ in 0..observer.rng.random_range(1..8) {
            let first = observer.rng.random_range(1..=2);
            look(&observer, seen(), &[version(first)]).await;
            let shown = match observer.rng.random_range(0..6) {
                0 => vec![version(FOREIGN)],
                1 => vec![version(1), version(FOREIGN)],
                2 => vec![version(1), version(2)],
                _ => vec![version(1)],
            };
            look(&observer, rolls(), &shown).await;
            observer.pause(50..period).await;
        }
        // Up to four periods: an observation expires after two of log time, which may run slower.
        observer.pause(period..4 * period).await;
    }
    for (resource, shown) in [(seen(), version(1)), (rolls(), version(1))] {
        let observe = observation(resource, &[shown], None);
        until_done(|| observer.client.observe(observe.clone())).await;
    }
}

async fn look(observer: &Participant, resource: GroupResource, shown: &[ApiVersion]) {
    let Some(read) = read(observer, &resource).await else {
        return;
    };
    let observe = observation(resource, shown, Some(read));
    let looked = observer.client.observe(observe).await;
    observer
        .trace
        .add(format_args!("discovery shows {shown:?}: {looked:?}"));
}

/// The revision of the resource's state before an observation; `None` if the read fails.
async fn read(observer: &Participant, resource: &GroupResource) -> Option<Revision> {
    let list = ListStorageVersions::new().with_unreported();
    let page = observer.client.storage_versions(list).all().await.ok()?;
    let states = page
        .items
        .iter()
        .filter_map(|item| item.storage_state.as_ref());
    let mut of_it = states.filter(|state| state.resource == *resource);
    Some(
        of_it
            .next()
            .map_or(Revision::ZERO, |state| state.metadata.resource_version),
    )
}

fn observation(
    resource: GroupResource,
    shown: &[ApiVersion],
    if_revision: Option<Revision>,
) -> ObserveStorage {
    ObserveStorage {
        if_revision,
        kind: Some(kind()),
        ..ObserveStorage::unnamed(resource, hashes(shown))
    }
}

/// The hashes by which discovery shows these versions.
pub(super) fn hashes<'a>(
    versions: impl IntoIterator<Item = &'a ApiVersion>,
) -> BTreeSet<StorageVersionHash> {
    let versions = versions.into_iter();
    versions
        .map(|version| StorageVersionHash::of_version(version, &kind()))
        .collect()
}
