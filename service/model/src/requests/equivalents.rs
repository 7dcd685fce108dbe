//! The requests by which an operator says that resources are one store under several names.

use std::collections::BTreeSet;

use crate::limits::EQUIVALENTS_MAX;
use crate::{GroupResource, TopicKind, Violation, Violations};

/// Says that resources are one store under several names. What is known of them is joined, and their keys follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddEquivalents {
    /// The resources, at least two. A set of one of them joins with all of its names.
    pub resources: BTreeSet<GroupResource>,
}

impl AddEquivalents {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        let named = self.resources.len();
        if named < 2 {
            let rule = "must name two resources at least: an objects' store with one name has no equivalents";
            violations.push(Violation::required(rule).at("resources"));
        }
        if named > EQUIVALENTS_MAX {
            violations.push(Violation::too_many(named, EQUIVALENTS_MAX).at("resources"));
        }
        for (i, resource) in self.resources.iter().enumerate() {
            if TopicKind::of(resource) != TopicKind::Encoding {
                let rule = "must be a resource that is encoded: its keys follow by themselves";
                let path = format!("resources[{i}]");
                violations.push(Violation::invalid(resource.qualified(), rule).at(&path));
            }
        }
        violations
    }
}

/// Takes a name out of its set of equivalent resources: what is stored under it and under the others is unknown from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoveEquivalent {
    /// The resource.
    pub resource: GroupResource,
}

impl RemoveEquivalent {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if TopicKind::of(&self.resource) != TopicKind::Encoding {
            let rule = "must be a resource that is encoded: its keys follow by themselves";
            let violation = Violation::invalid(self.resource.qualified(), rule);
            violations.push(violation.at("resource"));
        }
        violations
    }
}
