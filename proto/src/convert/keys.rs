//! The messages that name an object or its owner, and the preconditions on an object.

use synod_model::{
    GroupResource, LeaseKey, Namespace, NamespacedName, ObjectKey, ObjectName, OwnerReference,
    Preconditions, Revision, Violations,
};

use crate::wire::{Wire, read, sound};
use crate::{messages, read_fields, v1};

messages! {
    v1::OwnerReference = OwnerReference: "must name the owner" {
        api_version = api_version,
        kind = kind,
        name = name,
        uid = uid,
        controller = controller,
        block_owner_deletion = block_owner_deletion,
    }
}

impl Wire<v1::Preconditions> for Preconditions {
    fn to_wire(&self) -> v1::Preconditions {
        v1::Preconditions {
            uid: self.uid.to_wire(),
            resource_version: self.resource_version.to_wire(),
        }
    }

    fn of_wire(pb: v1::Preconditions) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let preconditions = Self {
            uid: read(&mut found, "uid", Wire::of_wire(pb.uid)).flatten(),
            resource_version: pb.resource_version.map(Revision::new),
        };
        found.extend_at("", preconditions.check());
        sound(preconditions, found)
    }
}

/// Implements both conversions of messages whose `Wire` is written by hand.
macro_rules! by_hand {
    ($($pb:ident = $of:ident $(: $rule:literal)? $(, $default:ident)?;)*) => { $(
        impl From<&$of> for v1::$pb {
            fn from(value: &$of) -> Self {
                value.to_wire()
            }
        }

        impl TryFrom<v1::$pb> for $of {
            type Error = Violations;

            fn try_from(pb: v1::$pb) -> Result<Self, Violations> {
                Self::of_wire(pb)
            }
        }

        messages!(@left_out v1::$pb, $of $(: $rule)? $(, $default)?);
    )* };
}

by_hand! {
    GroupResource = GroupResource: "must name a resource";
    LeaseKey = LeaseKey: "must name a lease";
    ObjectKey = ObjectKey: "must name an object";
    Preconditions = Preconditions, default;
}

impl Wire<v1::GroupResource> for GroupResource {
    fn to_wire(&self) -> v1::GroupResource {
        v1::GroupResource {
            group: self.group().to_owned(),
            resource: self.resource().to_owned(),
        }
    }

    fn of_wire(pb: v1::GroupResource) -> Result<Self, Violations> {
        Self::new(&pb.group, &pb.resource)
    }
}

impl Wire<v1::LeaseKey> for LeaseKey {
    fn to_wire(&self) -> v1::LeaseKey {
        v1::LeaseKey {
            namespace: self.namespace().to_owned(),
            name: self.name().to_owned(),
        }
    }

    fn of_wire(pb: v1::LeaseKey) -> Result<Self, Violations> {
        Self::new(&pb.namespace, &pb.name)
    }
}

impl Wire<v1::ObjectKey> for ObjectKey {
    fn to_wire(&self) -> v1::ObjectKey {
        v1::ObjectKey {
            resource: self.resource.to_wire(),
            namespace: self.name.namespace().unwrap_or_default().to_owned(),
            name: self.name.name().to_owned(),
        }
    }

    /// Apply checks whether the collection has namespaces.
    fn of_wire(pb: v1::ObjectKey) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found;
            resource = resource,
            namespace = namespace => Option::<Namespace>::of_wire(pb.namespace),
            name = name => ObjectName::of_wire(pb.name),
        }
        Ok(Self::new(resource, namespace.as_ref(), &name))
    }
}

/// Reads the name of an object that is always in a namespace, from two fields.
pub(crate) fn named(namespace: &str, name: &str) -> Result<NamespacedName, Violations> {
    let mut found = Violations::new();
    let namespace = found.parsed("namespace", Namespace::parse(namespace));
    let name = found.parsed("name", ObjectName::parse(name));
    let (Some(namespace), Some(name)) = (namespace, name) else {
        return Err(found);
    };
    Ok(NamespacedName::new(Some(&namespace), &name))
}

/// A name as two fields.
pub(crate) fn names(key: &NamespacedName) -> (String, String) {
    let namespace = key.namespace().unwrap_or_default();
    (namespace.to_owned(), key.name().to_owned())
}
