//! Equivalent resources, which share their objects in the store.

use std::collections::BTreeSet;

use crate::GroupResource;

/// Sorts by resource, and keeps only the first of the resources that share their objects.
///
/// `equivalents` names the resources that share their objects with the given one, which may be
/// among them. `extensions/ingresses` and `networking.k8s.io/ingresses`, say, are the same objects,
/// so they are reported once, under `extensions`: a report under both would make one store look
/// like two.
pub fn sort_and_fold_equivalents<T, E>(
    mut items: Vec<T>,
    resource: impl Fn(&T) -> &GroupResource,
    equivalents: impl Fn(&GroupResource) -> E,
) -> Vec<T>
where
    E: IntoIterator<Item = GroupResource>,
{
    items.sort_by(|a, b| resource(a).cmp(resource(b)));
    let mut covered = BTreeSet::new();
    items.retain(|item| {
        let resource = resource(item);
        let first = covered.insert(resource.clone());
        if first {
            covered.extend(equivalents(resource));
        }
        first
    });
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(names: &[&str]) -> Vec<GroupResource> {
        names
            .iter()
            .map(|name| GroupResource::parse_qualified(name).unwrap())
            .collect()
    }

    #[test]
    fn a_resource_that_stands_twice_is_kept_once() {
        let folded = sort_and_fold_equivalents(
            resources(&["pods", "deployments.apps", "pods"]),
            |resource| resource,
            |_| None,
        );
        assert_eq!(folded, resources(&["pods", "deployments.apps"]));
    }

    #[test]
    fn of_equivalent_resources_the_first_in_order_is_kept() {
        let same = resources(&["events", "events.events.k8s.io"]);
        let folded = sort_and_fold_equivalents(
            resources(&["events.events.k8s.io", "zebras", "events"]),
            |resource| resource,
            |resource| {
                if same.contains(resource) {
                    same.clone()
                } else {
                    Vec::new()
                }
            },
        );
        assert_eq!(folded, resources(&["events", "zebras"]));
    }
}
