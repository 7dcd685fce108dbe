//! Resources as they are typed. Wherever a resource goes, a topic does: `keys/secrets` is the resource `secrets` of the group
//! `keys.synod`.

use synod_client::{GroupResource, ResourceScope, Topic, Violations};

/// The resource whose storage version has this name, as `apps.deployments`, or that is the topic with this text.
pub(crate) fn resource(name: &str) -> Result<GroupResource, Violations> {
    topic(name).unwrap_or_else(|| Ok(GroupResource::parse_storage_version_name(name)?))
}

/// The resource with this name in the form of CustomResourceDefinitions, as `deployments.apps`, or that is the topic with this
/// text.
pub(crate) fn qualified(name: &str) -> Result<GroupResource, Violations> {
    topic(name).unwrap_or_else(|| GroupResource::parse_qualified(name))
}

/// The scope with this name, or the one topic with this text.
pub(crate) fn scope(name: &str) -> Result<ResourceScope, Violations> {
    match topic(name) {
        Some(resource) => Ok(ResourceScope::Resource(resource?)),
        None => Ok(ResourceScope::parse(name)?),
    }
}

/// The resource of a topic; `None`: the name has not the form of one.
fn topic(name: &str) -> Option<Result<GroupResource, Violations>> {
    let topic = name.contains('/').then(|| Topic::parse(name))?;
    Some(topic.map(|topic| topic.resource().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_goes_wherever_a_resource_does() {
        let secrets = GroupResource::new("keys.synod", "secrets").unwrap();
        for name in ["keys/secrets", "keys.synod.secrets"] {
            assert_eq!(resource(name).unwrap(), secrets);
            let one = ResourceScope::Resource(secrets.clone());
            assert_eq!(scope(name).unwrap(), one);
        }
        for name in ["keys/secrets", "secrets.keys.synod"] {
            assert_eq!(qualified(name).unwrap(), secrets);
        }
        assert_eq!(scope("*").unwrap(), ResourceScope::All);
    }

    #[test]
    fn what_looks_like_a_topic_and_is_none_is_refused_with_the_forms_of_topics() {
        for told in [
            resource("key/secrets").unwrap_err(),
            qualified("key/secrets").unwrap_err(),
            scope("keys/*").unwrap_err(),
        ] {
            assert!(!told.is_empty());
        }
        let told = scope("key/secrets").unwrap_err().to_string();
        assert!(told.contains("`keys/<name>`"), "{told}");
    }
}
