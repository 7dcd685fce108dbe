//! Lists of objects that are too long for one answer.

use std::collections::VecDeque;

use futures::stream::{Stream, unfold};
use synod_model::{FieldSelector, GroupResource, LabelSelector, Namespace};
use synod_proto::v1;

use crate::pages::{Pages, page_size, pager};
use crate::{Client, Error, ObjectItem, ObjectPage, ReadOptions};

/// Which objects to list, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListObjects {
    /// The resource of the collection.
    pub resource: GroupResource,
    /// Only those of this namespace; `None`: of all.
    pub namespace: Option<Namespace>,
    /// Only those whose labels match.
    pub labels: LabelSelector,
    /// Only those whose fields match.
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

    /// Only those of this namespace.
    #[must_use]
    pub fn with_namespace(mut self, namespace: Namespace) -> Self {
        self.namespace = Some(namespace);
        self
    }

    /// Only those whose labels match.
    #[must_use]
    pub fn with_labels(mut self, labels: LabelSelector) -> Self {
        self.labels = labels;
        self
    }

    /// Only those whose fields match.
    #[must_use]
    pub fn with_fields(mut self, fields: FieldSelector) -> Self {
        self.fields = fields;
        self
    }

    /// How to read.
    #[must_use]
    pub fn with_read(mut self, read: ReadOptions) -> Self {
        self.read = read;
        self
    }

    /// How many to ask for at a time; at most 5,000.
    #[must_use]
    pub fn with_page_size(mut self, page_size: u32) -> Self {
        self.page_size = Some(page_size);
        self
    }
}

/// The pages of a list of objects.
#[derive(Debug)]
pub struct ObjectPages(Pages<v1::ObjectsListRequest>);

pager!(ObjectPages, ObjectPage);

impl ObjectPages {
    pub(super) fn new(client: Client, list: &ListObjects) -> Self {
        let namespace = list.namespace.as_ref();
        let first = v1::ObjectsListRequest {
            resource: Some((&list.resource).into()),
            namespace: namespace.map(ToString::to_string).unwrap_or_default(),
            label_selector: list.labels.to_string(),
            field_selector: list.fields.to_string(),
            read: list.read.to_wire(),
            page_size: page_size(list.page_size),
            continue_token: String::new(),
            continue_at_present: false,
        };
        Self(Pages::new(client, first))
    }

    /// The same list, but from where this token was given, at the revision of its first page.
    ///
    /// [`next`](Self::next) fails with `COMPACTED` if that revision is not kept any more, and with `INVALID_ARGUMENT` if
    /// the token is of another list.
    #[must_use]
    pub fn resumed(self, token: &str) -> Self {
        Self(self.0.resumed(token))
    }

    /// Where the next page begins; `None` at the end, and before the first page.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.0.token()
    }

    /// One object after the other, at the revisions of their pages; a page is asked for when the one before is used up. It ends after
    /// an error.
    pub fn stream(self) -> impl Stream<Item = Result<ObjectItem, Error>> + Send {
        let begin = (Some(self), VecDeque::new());
        unfold(begin, |(mut pages, mut items)| async move {
            loop {
                if let Some(item) = items.pop_front() {
                    return Some((Ok(item), (pages, items)));
                }
                match pages.as_mut()?.next().await {
                    Ok(Some(page)) => items = page.items.into(),
                    Ok(None) => return None,
                    Err(error) => return Some((Err(error), (None, items))),
                }
            }
        })
    }
}
