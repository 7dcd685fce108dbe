//! Which requests need a permit: Kubernetes' rules, in Kubernetes' order.

use std::collections::BTreeSet;

use synod_model::GroupResource;

use super::{Gate, RequestInfo};

/// What the gate requires of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    /// The request needs no permit.
    Pass,
    /// The request could not be parsed.
    Unreadable,
    /// The request needs a permit for this resource.
    Permit(GroupResource),
    /// The request would need a permit for a resource with an illegal name, which no member can report; the text is in
    /// the form `resource.group`.
    Unreportable(String),
}

/// What the gate requires of a request, by the first rule that fits it.
pub(super) fn rule(
    gate: &Gate,
    not_stored: &BTreeSet<GroupResource>,
    info: Option<&RequestInfo>,
) -> Ruling {
    let Some(info) = info else {
        // A server that has reported all its resources, and is still a member, refuses such a request by itself.
        return if is_completed(gate) {
            Ruling::Pass
        } else {
            Ruling::Unreadable
        };
    };
    let reads = matches!(info.verb.as_str(), "get" | "list" | "watch");
    let registry = info.group == "internal.apiserver.k8s.io" && info.resource == "storageversions";
    if !info.is_resource_request || reads || registry {
        return Ruling::Pass;
    }
    match GroupResource::new(&info.group, &info.resource) {
        Ok(resource) if not_stored.contains(&resource) => Ruling::Pass,
        Ok(resource) => Ruling::Permit(resource),
        Err(_) => Ruling::Unreportable(match info.group.as_str() {
            "" => info.resource.clone(),
            group => format!("{}.{group}", info.resource),
        }),
    }
}

fn is_completed(gate: &Gate) -> bool {
    let book = gate.book();
    book.is_completed() && book.proved_epoch(gate.now()).is_ok()
}

/// The resources of Kubernetes whose creates are answered without storing an object.
pub(super) fn not_stored_by_kubernetes() -> BTreeSet<GroupResource> {
    const NOT_STORED: [(&str, &str); 8] = [
        ("", "bindings"),
        ("authentication.k8s.io", "selfsubjectreviews"),
        ("authentication.k8s.io", "tokenreviews"),
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
        ("imagepolicy.k8s.io", "imagereviews"),
    ];
    let resources = NOT_STORED.iter();
    resources
        .filter_map(|(group, resource)| GroupResource::new(group, resource).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resource_that_is_not_stored_has_a_legal_name() {
        assert_eq!(not_stored_by_kubernetes().len(), 8);
    }
}
