use std::borrow::Cow;
use std::sync::Arc;

use synod_model::{
    FieldSelector, GroupResource, LabelSelector, Namespace, NamespacedName, ObjectKey, ObjectName,
    Violations,
};

use super::consistency::consistency;
use super::{Consistency, PageKey, PageRequest};
use crate::convert::namespace;
use crate::fields::{required, sound};
use crate::v1;

/// Asks for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetObject {
    /// Which one.
    pub key: ObjectKey,
    /// How to read.
    pub read: Consistency,
}

impl From<&GetObject> for v1::ObjectsGetRequest {
    fn from(get: &GetObject) -> Self {
        Self {
            key: Some((&get.key).into()),
            read: Some(get.read.into()),
        }
    }
}

impl TryFrom<v1::ObjectsGetRequest> for GetObject {
    type Error = Violations;

    fn try_from(pb: v1::ObjectsGetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = required(pb.key, "must name an object")
            .map_err(Violations::from)
            .and_then(ObjectKey::try_from);
        let key = found.parsed("key", key);
        let read = consistency(pb.read, &mut found);
        let Some(key) = key else { return Err(found) };
        sound(Self { key, read }, found)
    }
}

/// Which objects a list is about. All of its pages are about the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectScope {
    /// The resource of the collection.
    pub resource: GroupResource,
    /// Only those of this namespace; `None`: of all.
    pub namespace: Option<Namespace>,
    /// Only those whose labels match.
    pub labels: LabelSelector,
    /// Only those whose fields match.
    pub fields: FieldSelector,
}

/// Asks for a page of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListObjects {
    /// Which objects.
    pub scope: ObjectScope,
    /// Which page.
    pub page: PageRequest<ObjectCursor>,
}

/// Where a page of objects ended: at the one of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectCursor {
    text: Arc<str>,
    last: NamespacedName,
}

impl ObjectCursor {
    /// The end of a page: the name of its last object.
    #[must_use]
    pub fn new(last: &NamespacedName) -> Self {
        let namespace = last.namespace().unwrap_or_default();
        Self {
            text: format!("{namespace}/{}", last.name()).into(),
            last: last.clone(),
        }
    }

    /// The name of the last object of the page.
    #[must_use]
    pub fn last(&self) -> &NamespacedName {
        &self.last
    }
}

impl PageKey for ObjectCursor {
    const LIST: u8 = 6;

    fn as_text(&self) -> Cow<'_, str> {
        (&*self.text).into()
    }

    fn from_text(text: &str) -> Option<Self> {
        let (space, name) = text.split_once('/')?;
        let namespace = namespace(space).ok()?;
        let last = NamespacedName::new(namespace.as_ref(), &ObjectName::parse(name).ok()?);
        Some(Self::new(&last))
    }
}

impl From<&ListObjects> for v1::ObjectsListRequest {
    fn from(list: &ListObjects) -> Self {
        let page = list.page.to_wire();
        let scope = &list.scope;
        let space = scope.namespace.as_ref();
        Self {
            resource: Some((&scope.resource).into()),
            namespace: space.map(ToString::to_string).unwrap_or_default(),
            label_selector: scope.labels.to_string(),
            field_selector: scope.fields.to_string(),
            read: page.read,
            page_size: page.page_size,
            continue_token: page.continue_token,
            continue_at_present: page.continue_at_present,
        }
    }
}

impl TryFrom<v1::ObjectsListRequest> for ListObjects {
    type Error = Violations;

    fn try_from(mut pb: v1::ObjectsListRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let page = PageRequest::from_wire(&mut pb, &mut found);
        let resource = required(pb.resource, "must name a resource")
            .map_err(Violations::from)
            .and_then(GroupResource::try_from);
        let resource = found.parsed("resource", resource);
        let namespace = found.parsed("namespace", namespace(&pb.namespace));
        let labels = found.parsed("labelSelector", LabelSelector::parse(&pb.label_selector));
        let fields = found.parsed("fieldSelector", FieldSelector::parse(&pb.field_selector));
        let (Some(resource), Some(namespace), Some(labels), Some(fields), Some(page)) =
            (resource, namespace, labels, fields, page)
        else {
            return Err(found);
        };
        let scope = ObjectScope {
            resource,
            namespace,
            labels,
            fields,
        };
        sound(Self { scope, page }, found)
    }
}
