use synod_model::{GroupResource, Namespace, ObjectKey, ObjectName, Violations};

use crate::fields::required;
use crate::v1;

impl From<&ObjectKey> for v1::ObjectKey {
    fn from(key: &ObjectKey) -> Self {
        Self {
            resource: Some((&key.resource).into()),
            namespace: key.name.namespace().unwrap_or_default().to_owned(),
            name: key.name.name().to_owned(),
        }
    }
}

/// Whether the collection has namespaces is for apply to say.
impl TryFrom<v1::ObjectKey> for ObjectKey {
    type Error = Violations;

    fn try_from(pb: v1::ObjectKey) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let resource = required(pb.resource, "must name a resource")
            .map_err(Violations::from)
            .and_then(GroupResource::try_from);
        let resource = found.parsed("resource", resource);
        let namespace = found.parsed("namespace", namespace(&pb.namespace));
        let name = found.parsed("name", ObjectName::parse(&pb.name));
        match (resource, namespace, name) {
            (Some(resource), Some(namespace), Some(name)) => {
                Ok(Self::new(resource, namespace.as_ref(), &name))
            }
            _ => Err(found),
        }
    }
}

/// The namespace in a field; empty is none.
pub(crate) fn namespace(text: &str) -> Result<Option<Namespace>, Violations> {
    if text.is_empty() {
        return Ok(None);
    }
    Ok(Some(Namespace::parse(text)?))
}
