use std::borrow::Cow;
use std::sync::Arc;

use synod_model::{
    FieldSelector, GroupResource, LabelSelector, Namespace, NamespacedName, ObjectKey, ObjectName,
    Violations,
};

use super::page::paged;
use super::{Consistency, PageKey, PageRequest};
use crate::wire::{Wire, sound};
use crate::{messages, read_fields, v1};

/// Asks for one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetObject {
    /// The key of the object.
    pub key: ObjectKey,
    /// The consistency of the read.
    pub read: Consistency,
}

messages! {
    v1::ObjectsGetRequest = GetObject {
        key = key,
        read = read,
    }
}

/// The objects that a list selects, the same on all of its pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectScope {
    /// The resource of the collection.
    pub resource: GroupResource,
    /// Only those in this namespace; `None`: in all.
    pub namespace: Option<Namespace>,
    /// Only those whose labels match.
    pub labels: LabelSelector,
    /// Only those whose fields match.
    pub fields: FieldSelector,
}

/// Asks for a page of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListObjects {
    /// The objects to list.
    pub scope: ObjectScope,
    /// The page.
    pub page: PageRequest<ObjectCursor>,
}

/// The end of a page of objects: the name of its last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectCursor {
    text: Arc<str>,
    last: NamespacedName,
}

impl ObjectCursor {
    /// The cursor after the object of this name.
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
        let namespace: Option<Namespace> = Wire::of_wire(space.to_owned()).ok()?;
        let last = NamespacedName::new(namespace.as_ref(), &ObjectName::parse(name).ok()?);
        Some(Self::new(&last))
    }
}

paged!(ObjectsListRequest);

impl From<&ListObjects> for v1::ObjectsListRequest {
    fn from(list: &ListObjects) -> Self {
        let page = list.page.to_wire();
        let scope = &list.scope;
        Self {
            resource: scope.resource.to_wire(),
            namespace: scope.namespace.to_wire(),
            label_selector: scope.labels.to_wire(),
            field_selector: scope.fields.to_wire(),
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
        read_fields! { pb, found;
            resource = resource,
            namespace = namespace,
            labels = label_selector,
            fields = field_selector,
        }
        let Some(page) = page else {
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
