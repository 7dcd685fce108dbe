//! What a binary declares before it joins, for the check whether it may join.

use std::collections::BTreeSet;

use crate::limits::{LEFT_TO_OTHERS_MAX, VERSIONS_PER_ENTRY_MAX};
use crate::violation::excerpt;
use crate::{
    ApiVersion, GroupResource, Kind, ResourceScope, Stance, TopicKind, Violation, Violations,
    feature_level,
};

/// All that a binary declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binary {
    /// The declaration for each resource.
    pub resources: Vec<BinaryResource>,
    /// The resources that other binaries decode. Of every other known resource that `resources` does not name, this
    /// binary decodes nothing.
    pub left_to_others: Vec<ResourceScope>,
}

/// What a binary declares for one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryResource {
    /// The resource.
    pub resource: GroupResource,
    /// The kind of the resource's objects, if the caller gives it. It identifies stored encodings of which only the
    /// hash is known.
    pub kind: Option<Kind>,
    /// The versions that it decodes.
    pub decodable: BTreeSet<ApiVersion>,
    /// The version that it will encode or vote for, if the caller gives it.
    pub stance: Option<Stance>,
    /// Whether the binary brings the resource, so that nothing has to be known of it. A known resource is judged as any other.
    pub new: bool,
}

impl Binary {
    /// The broken rules of the declaration that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if self.resources.is_empty() {
            let rule = "must name at least one resource that the binary decodes; without one nothing can be checked";
            violations.push(Violation::required(rule).at("resources"));
        }
        let mut seen = BTreeSet::new();
        for (i, one) in self.resources.iter().enumerate() {
            let path = format!("resources[{i}]");
            if !seen.insert(&one.resource) {
                let twice = Violation::duplicate(one.resource.qualified());
                violations.push(twice.at(&format!("{path}.resource")));
            }
            violations.extend_at(&path, one.check());
        }
        let left = self.left_to_others.len();
        if left > LEFT_TO_OTHERS_MAX {
            violations.push(Violation::too_many(left, LEFT_TO_OTHERS_MAX).at("leftToOthers"));
        }
        violations
    }
}

impl BinaryResource {
    fn check(&self) -> Violations {
        let mut violations = Violations::new();
        let versions = self.decodable.len();
        if versions > VERSIONS_PER_ENTRY_MAX {
            let many = Violation::too_many(versions, VERSIONS_PER_ENTRY_MAX);
            violations.push(many.at("decodableVersions"));
        }
        let lacked = self.stance.as_ref().map(Stance::version);
        if let Some(version) = lacked.filter(|version| !self.decodable.contains(*version)) {
            let listed: Vec<&str> = self.decodable.iter().map(ApiVersion::as_str).collect();
            let rule = format_args!("must include {}", excerpt(version.as_str()));
            violations.push(Violation::invalid_list(&listed, rule).at("decodableVersions"));
        }
        self.check_topic(&mut violations);
        violations
    }

    /// The rules of the resource's topic, which a report of the binary's members has to obey, too.
    fn check_topic(&self, violations: &mut Violations) {
        let preferred = match &self.stance {
            // It decodes nothing of it, so its members will not report it.
            None if self.decodable.is_empty() => return,
            // What it will prefer is not told, so only what it reads is checked.
            None => self.decodable.iter().max_by_key(|one| feature_level(one)),
            Some(Stance::Fixed { .. }) => None,
            Some(Stance::Voting { preferred }) => Some(preferred),
        };
        let readable = self.decodable.iter().map(ApiVersion::as_str);
        let kind = TopicKind::of(&self.resource);
        if let Err(rule) = kind.allows(readable, preferred.map(ApiVersion::as_str)) {
            let listed: Vec<&str> = self.decodable.iter().map(ApiVersion::as_str).collect();
            violations.push(Violation::invalid_list(&listed, rule).at("decodableVersions"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pods(decodable: &[&str], encoding: Option<&str>) -> BinaryResource {
        let version = |text: &str| ApiVersion::parse(text).unwrap();
        BinaryResource {
            resource: GroupResource::new("", "pods").unwrap(),
            kind: None,
            decodable: decodable.iter().map(|text| version(text)).collect(),
            stance: encoding.map(|text| Stance::Fixed {
                encoding: version(text),
            }),
            new: false,
        }
    }

    fn faults(resources: Vec<BinaryResource>) -> Vec<String> {
        let binary = Binary {
            resources,
            left_to_others: Vec::new(),
        };
        binary.check().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_binary_encodes_it_must_decode() {
        assert!(faults(vec![pods(&["v1"], Some("v1"))]).is_empty());
        let found = faults(vec![pods(&["v1"], Some("v2"))]);
        assert!(
            found[0].starts_with("resources[0].decodableVersions: "),
            "{found:?}"
        );
    }

    #[test]
    fn a_binary_obeys_the_rules_of_topics_as_a_report_does() {
        let says = |group: &str, decodable: &[&str], stance: Option<Stance>| BinaryResource {
            resource: GroupResource::new(group, "locks").unwrap(),
            stance,
            ..pods(decodable, None)
        };
        let version = |text: &str| ApiVersion::parse(text).unwrap();
        let votes = |text: &str| {
            let preferred = version(text);
            Some(Stance::Voting { preferred })
        };
        let fixed = Some(Stance::Fixed {
            encoding: version("v1"),
        });
        let (features, keys) = ("features.synod", "keys.synod");
        for legal in [
            says(features, &["v1", "v2"], votes("v2")),
            says(features, &["v1", "v2"], None),
            says(features, &[], None),
            says(keys, &["k1", "k2"], None),
            says(keys, &["k1", "k2"], votes("k1")),
        ] {
            assert_eq!(faults(vec![legal]), Vec::<String>::new());
        }
        for broken in [
            says(features, &["v1", "v3"], None),
            says(features, &["v2"], votes("v2")),
            says(features, &["v1", "v2"], votes("v1")),
            says(features, &["v1"], fixed.clone()),
            says(keys, &["v1"], fixed),
        ] {
            let found = faults(vec![broken]);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].starts_with("resources[0].decodableVersions: "),
                "{found:?}"
            );
        }
    }

    // Guarantee: MG-24
    #[test]
    fn a_binary_that_names_nothing_is_refused() {
        let found = faults(Vec::new());
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("resources: Required value: "),
            "{found:?}"
        );
    }

    #[test]
    fn a_resource_stands_once() {
        let found = faults(vec![pods(&["v1"], None), pods(&["v2"], None)]);
        assert_eq!(found, ["resources[1].resource: Duplicate value: \"pods\""]);
    }
}
