//! Pages of objects, each of which can be written back byte for byte.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::discovery::{Resource, escaped};

/// A page of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The objects.
    pub items: Vec<Item>,
    /// The token with which the next page begins; `None` at the end.
    pub next: Option<String>,
    /// How many objects there may be behind this page, if the server says so.
    pub remaining: Option<u64>,
}

/// An object as it was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its namespace, if it has one.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its resource version.
    pub resource_version: String,
    /// The whole object, as the server said it: no number was rounded, and no key moved.
    pub document: Bytes,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    kind: String,
    metadata: ListMetadata,
    // Without a function of its own, a field that is missing would be taken for one that is null.
    #[serde(borrow, deserialize_with = "Option::deserialize")]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ListMetadata {
    #[serde(rename = "continue")]
    next: String,
    remaining_item_count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    kind: Option<String>,
    metadata: ObjectMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectMetadata {
    name: String,
    namespace: Option<String>,
    resource_version: String,
}

impl Page {
    /// The path of a page of at most so many objects, which begins at this token, or else with the first object.
    #[must_use]
    pub fn path(resource: &Resource, objects: u32, token: Option<&str>) -> String {
        let token = token.map(|token| format!("&continue={}", escaped(token)));
        let token = token.unwrap_or_default();
        format!("{}?limit={objects}{token}", resource.collection())
    }

    /// The objects in the answer of a server.
    ///
    /// # Errors
    ///
    /// It is no list of objects, which an answer of success may be all the same: something in between may have said it. The
    /// text says why.
    pub fn parse(resource: &Resource, body: &Bytes) -> Result<Self, String> {
        let fault =
            |error: serde_json::Error| format!("it is no list of {}: {error}", resource.plural);
        let document: Document<'_> = serde_json::from_slice(body).map_err(fault)?;
        if !document.kind.ends_with("List") {
            let (plural, kind) = (&resource.plural, document.kind);
            return Err(format!("it is no list of {plural}, but of kind {kind:?}"));
        }
        let items = document.items.unwrap_or_default().into_iter();
        let items = items
            .map(|raw| Item::of(resource, body, raw))
            .collect::<Result<_, _>>();
        Ok(Self {
            items: items.map_err(fault)?,
            next: Some(document.metadata.next).filter(|token| !token.is_empty()),
            remaining: document.metadata.remaining_item_count,
        })
    }
}

impl Item {
    fn of(resource: &Resource, body: &Bytes, raw: &RawValue) -> Result<Self, serde_json::Error> {
        let head: Head = serde_json::from_str(raw.get())?;
        let document = match head.kind {
            Some(_) => body.slice_ref(raw.get().as_bytes()),
            // In lists, objects of built-in kinds do not say what they are.
            None => resource.named(raw.get()),
        };
        Ok(Self {
            namespace: head.metadata.namespace.filter(|name| !name.is_empty()),
            name: head.metadata.name,
            resource_version: head.metadata.resource_version,
            document,
        })
    }

    /// The object as others name it.
    #[must_use]
    pub fn key(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widgets() -> Resource {
        Resource {
            group: "example.io".to_owned(),
            version: "v2".to_owned(),
            plural: "widgets".to_owned(),
            kind: "Widget".to_owned(),
            storage_version_hash: None,
        }
    }

    #[test]
    fn an_object_is_kept_byte_for_byte() {
        let object = r#"{"kind":"Widget","metadata":{"resourceVersion":"7","name":"a","namespace":"n"},"size":1.10,"id":12345678901234567890123}"#;
        let body = format!(
            r#"{{"kind":"WidgetList","items":[{object}],"metadata":{{"continue":"c","remainingItemCount":3}}}}"#
        );
        let page = Page::parse(&widgets(), &Bytes::from(body)).unwrap();
        assert_eq!(page.items[0].document, object);
        assert_eq!(page.items[0].key(), "n/a");
        assert_eq!((page.next.as_deref(), page.remaining), (Some("c"), Some(3)));
    }

    #[test]
    fn an_object_that_does_not_say_what_it_is_is_named_before_it_is_written_back() {
        let body = r#"{"kind":"WidgetList","items":[{"metadata":{"name":"a","resourceVersion":"7"}}],"metadata":{"continue":""}}"#;
        let page = Page::parse(&widgets(), &Bytes::from(body)).unwrap();
        let named = r#"{"apiVersion":"example.io/v2","kind":"Widget","metadata":{"name":"a","resourceVersion":"7"}}"#;
        assert_eq!(page.items[0].document, named);
        assert_eq!(page.next, None);
    }

    #[test]
    fn what_is_no_list_is_no_page() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"kind":"WidgetList","metadata":{},"items":[{"metadata":{}}]}"#,
            r#"{"kind":"WidgetList","metadata":{},"items":7}"#,
            r#"{"kind":"WidgetList","metadata":{}}"#,
            r#"{"kind":"WidgetList","items":[]}"#,
            r#"{"metadata":{},"items":[]}"#,
            r#"{"kind":"Status","metadata":{},"status":"Failure"}"#,
            r#"{"kind":"Widget","metadata":{"name":"a"},"items":[]}"#,
        ] {
            assert!(
                Page::parse(&widgets(), &Bytes::from(body)).is_err(),
                "{body}"
            );
        }
    }

    #[test]
    fn a_list_without_items_is_an_empty_one_if_it_says_so() {
        let body = r#"{"kind":"WidgetList","metadata":{},"items":null}"#;
        let page = Page::parse(&widgets(), &Bytes::from(body)).unwrap();
        assert!(page.items.is_empty() && page.next.is_none());
    }

    #[test]
    fn a_token_of_any_letters_stands_in_a_query() {
        let path = Page::path(&widgets(), 2, Some("a+b/c=&"));
        assert_eq!(
            path,
            "/apis/example.io/v2/widgets?limit=2&continue=a%2Bb%2Fc%3D%26"
        );
    }
}
