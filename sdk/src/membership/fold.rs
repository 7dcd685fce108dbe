//! Folds equivalent resources, which share one store, into one entry.

use std::collections::BTreeMap;

use synod_model::{
    GroupResource, ReportEntry, StoredIn, Topic, TopicKind, sort_and_fold_equivalents,
};

/// The entries to report, and for each resource that was folded the one that is reported for it.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) entries: Vec<ReportEntry>,
    pub(super) reported_as: BTreeMap<GroupResource, GroupResource>,
}

/// Keeps the first of the resources that share a store; its entry also decodes what the others decode.
pub(super) fn fold(entries: Vec<ReportEntry>, equivalents: &[Vec<GroupResource>]) -> Folded {
    let of = |resource: &GroupResource| {
        let store = equivalents.iter().find(|store| store.contains(resource));
        store
            .cloned()
            .unwrap_or_else(|| keys_of_store(resource, equivalents))
    };
    let all = entries.clone();
    let mut kept = sort_and_fold_equivalents(entries, |entry| &entry.resource, of);
    let mut reported_as = BTreeMap::new();
    for entry in &mut kept {
        let store = of(&entry.resource);
        for other in store.iter().filter(|other| **other != entry.resource) {
            reported_as.insert(other.clone(), entry.resource.clone());
        }
        // Their keys follow by themselves.
        if TopicKind::of(&entry.resource) == TopicKind::Encoding {
            let others = store.iter().filter(|other| **other != entry.resource);
            entry.equivalents.extend(others.cloned());
        }
        let others = all.iter();
        let others: Vec<&ReportEntry> = others
            .filter(|other| other.resource != entry.resource && store.contains(&other.resource))
            .collect();
        let decodable = entry
            .decodable
            .iter()
            .chain(others.iter().flat_map(|other| &other.decodable));
        entry.decodable = decodable.cloned().collect();
        if others.iter().any(|other| other.stored == StoredIn::Outside) {
            entry.stored = StoredIn::Outside;
        }
    }
    Folded {
        entries: kept,
        reported_as,
    }
}

/// The keys of the store whose objects are encrypted by a key; none for what is no key.
fn keys_of_store(key: &GroupResource, equivalents: &[Vec<GroupResource>]) -> Vec<GroupResource> {
    let topic = Topic::of(key);
    if topic.kind() != TopicKind::Key {
        return Vec::new();
    }
    let is_of = |one: &GroupResource| one.qualified() == topic.name();
    let store = equivalents.iter().find(|store| store.iter().any(is_of));
    let keys = store.into_iter().flatten();
    let keys = keys.filter_map(|one| Topic::new(TopicKind::Key, one.qualified()).ok());
    keys.map(|key| key.resource().clone()).collect()
}

#[cfg(test)]
mod tests {
    use synod_model::{ReportEntryText, StanceText};

    use super::*;

    fn entry(group: &str, resource: &str, decodable: &[&str]) -> ReportEntry {
        ReportEntry::parse(&ReportEntryText {
            group,
            resource,
            kind: "Ingress",
            decodable: decodable.to_vec(),
            served: Vec::new(),
            stance: StanceText::Fixed {
                encoding: decodable[0],
            },
            serve_until: None,
            stored: StoredIn::Outside,
            equivalents: Vec::new(),
        })
        .unwrap()
    }

    fn resource(name: &str) -> GroupResource {
        GroupResource::parse_qualified(name).unwrap()
    }

    #[test]
    fn of_equivalent_resources_the_first_is_reported_for_all() {
        let (old, new) = (
            resource("ingresses.extensions"),
            resource("ingresses.networking.k8s.io"),
        );
        let folded = fold(
            vec![
                entry("networking.k8s.io", "ingresses", &["networking.k8s.io/v1"]),
                entry("apps", "deployments", &["apps/v1"]),
                entry("extensions", "ingresses", &["extensions/v1beta1"]),
            ],
            &[vec![new.clone(), old.clone()]],
        );
        let reported: Vec<String> = folded
            .entries
            .iter()
            .map(|entry| entry.resource.to_string())
            .collect();
        assert_eq!(reported, ["apps.deployments", "extensions.ingresses"]);
        assert_eq!(
            folded.entries[1].decodable.to_string(),
            "[extensions/v1beta1 networking.k8s.io/v1]"
        );
        assert_eq!(folded.entries[1].equivalents, [new.clone()].into());
        assert_eq!(folded.reported_as, BTreeMap::from([(new, old)]));
    }

    #[test]
    fn a_resource_named_twice_stays_so_that_its_report_is_refused() {
        // The fold itself keeps the first of two: callers check for duplicates before they fold.
        let twice = vec![entry("apps", "deployments", &["apps/v1"]); 2];
        assert_eq!(fold(twice, &[]).entries.len(), 1);
    }
}
