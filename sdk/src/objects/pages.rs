//! The options and the first request of a list of objects.

use synod_model::{FieldSelector, GroupResource, LabelSelector, Namespace};
use synod_proto::v1;

use crate::pages::{Pages, page_size};
use crate::read_options::list_options;
use crate::{Client, ObjectPage, ReadOptions};

/// Which objects to list, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListObjects {
    /// The resource of the collection.
    pub resource: GroupResource,
    /// Only objects of this namespace; `None`: of all namespaces.
    pub namespace: Option<Namespace>,
    /// Only objects whose labels match.
    pub labels: LabelSelector,
    /// Only objects whose fields match.
    pub fields: FieldSelector,
    /// How to read.
    pub read: ReadOptions,
    /// How many to ask for at a time; at most 5,000. `None`: 500.
    pub page_size: Option<u32>,
}

impl ListObjects {
    /// All objects of a collection, linearizable.
    #[must_use]
    pub fn new(resource: GroupResource) -> Self {
        Self {
            resource,
            namespace: None,
            labels: LabelSelector::default(),
            fields: FieldSelector::default(),
            read: ReadOptions::default(),
            page_size: None,
        }
    }

    /// Only objects of this namespace.
    #[must_use]
    pub fn with_namespace(mut self, namespace: Namespace) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// Only objects whose labels match.
    #[must_use]
    pub fn with_labels(mut self, labels: LabelSelector) -> Self {
        self.labels = labels;
        self
    }

    /// Only objects whose fields match.
    #[must_use]
    pub fn with_fields(mut self, fields: FieldSelector) -> Self {
        self.fields = fields;
        self
    }
}

list_options!(ListObjects);

impl ListObjects {
    pub(super) fn pages(&self, client: Client) -> Pages<ObjectPage> {
        let namespace = self.namespace.as_ref();
        let first = v1::ObjectsListRequest {
            resource: Some((&self.resource).into()),
            namespace: namespace.map(ToString::to_string).unwrap_or_default(),
            label_selector: self.labels.to_string(),
            field_selector: self.fields.to_string(),
            read: self.read.to_wire(),
            page_size: page_size(self.page_size),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Pages::new(client, first)
    }
}
