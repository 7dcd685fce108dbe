//! The form in which a client takes an answer, by its `Accept` header.

use http::HeaderMap;
use http::header::ACCEPT;

use crate::protobuf;

/// A form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The document itself.
    Document,
    /// A table, by this version of `meta.k8s.io`.
    Table(&'static str),
    /// Metadata alone.
    Metadata,
    /// Discovery in one document, by this version of `apidiscovery.k8s.io`.
    Discovery(&'static str),
}

/// How a form is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Protobuf,
}

/// The form of an answer of JSON that the client lists first and that `can` be made; `None` if it lists none.
pub(crate) fn form(headers: &HeaderMap, can: impl Fn(Form) -> bool) -> Option<Form> {
    let accepted = accepted(headers, |form, media| media == Media::Json && can(form));
    accepted.map(|(form, _)| form)
}

/// How a client takes a document that has both ways.
pub(crate) fn media(headers: &HeaderMap) -> Media {
    let accepted = accepted(headers, |form, _| form == Form::Document);
    accepted.map_or(Media::Json, |(_, media)| media)
}

/// The first form that the client lists, and how it is written, which `can` be made; `None` if it lists none.
pub(crate) fn accepted(
    headers: &HeaderMap,
    can: impl Fn(Form, Media) -> bool,
) -> Option<(Form, Media)> {
    let listed: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|one| !one.is_empty())
        .collect();
    if listed.is_empty() {
        return Some((Form::Document, Media::Json));
    }
    listed
        .iter()
        .filter_map(|one| alternative(one))
        .find(|(form, media)| can(*form, *media))
}

/// Whether a client names JSON itself, and not only all that there is.
pub(crate) fn names_json(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).iter();
    let mut listed = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    listed.any(|one| {
        let media = one.split(';').next().unwrap_or_default();
        media.trim().eq_ignore_ascii_case("application/json")
    })
}

/// The form of one alternative; `None` for one that is never made.
fn alternative(text: &str) -> Option<(Form, Media)> {
    let mut parts = text.split(';').map(str::trim);
    let media = match parts.next()?.to_ascii_lowercase().as_str() {
        "application/json" | "application/*" | "*/*" => Media::Json,
        protobuf::MEDIA => Media::Protobuf,
        _ => return None,
    };
    let (mut shape, mut group, mut version) = (None, None, None);
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match name.trim() {
            "as" => shape = Some(value.trim()),
            "g" => group = Some(value.trim()),
            "v" => version = Some(value.trim()),
            // The order counts, and of a quality only that it is 0.
            "q" if value.trim().parse() == Ok(0.0) => return None,
            _ => {}
        }
    }
    let form = match (shape, group, version) {
        (None, ..) => Form::Document,
        (Some("Table"), Some("meta.k8s.io"), Some("v1")) => Form::Table("v1"),
        (Some("Table"), Some("meta.k8s.io"), Some("v1beta1")) => Form::Table("v1beta1"),
        (
            Some("PartialObjectMetadata" | "PartialObjectMetadataList"),
            Some("meta.k8s.io"),
            Some("v1"),
        ) => Form::Metadata,
        (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2")) => {
            Form::Discovery("v2")
        }
        (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2beta1")) => {
            Form::Discovery("v2beta1")
        }
        _ => return None,
    };
    // Of tables and discovery there are no messages.
    let has_message = matches!(form, Form::Document | Form::Metadata);
    (media == Media::Json || has_message).then_some((form, media))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(accept: &str) -> Option<Form> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().ok()?);
        form(&headers, |form| !matches!(form, Form::Discovery(_)))
    }

    #[test]
    fn the_first_form_that_can_be_made_is_chosen() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,\
                       application/json";
        assert_eq!(first(kubectl), Some(Form::Table("v1")));
        assert_eq!(first("application/json, */*;q=0.8"), Some(Form::Document));
        assert_eq!(
            first("application/vnd.kubernetes.protobuf,application/json"),
            Some(Form::Document)
        );
        assert_eq!(
            first("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
            Some(Form::Metadata)
        );
        let discovery =
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        assert_eq!(first(discovery), Some(Form::Document));
        assert_eq!(first("application/vnd.kubernetes.protobuf"), None);
        assert_eq!(form(&HeaderMap::new(), |_| true), Some(Form::Document));
    }

    #[test]
    fn protobuf_is_taken_where_it_is_listed_first_and_there_is_a_message() {
        let taken = |accept: &str, has_message: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, accept.parse().ok()?);
            accepted(&headers, |_, media| media == Media::Json || has_message)
        };
        let both = "application/vnd.kubernetes.protobuf,application/json";
        let document = |media| Some((Form::Document, media));
        assert_eq!(taken(both, true), document(Media::Protobuf));
        assert_eq!(taken(both, false), document(Media::Json));
        let never = "application/vnd.kubernetes.protobuf;q=0, application/json";
        assert_eq!(taken(never, true), document(Media::Json));
        let seldom = "application/vnd.kubernetes.protobuf;q=0.1, application/json";
        assert_eq!(taken(seldom, true), document(Media::Protobuf));
        let watch = "application/vnd.kubernetes.protobuf;stream=watch";
        assert_eq!(taken(watch, true), document(Media::Protobuf));
        assert_eq!(taken(watch, false), None);
        let json = "application/json,application/vnd.kubernetes.protobuf";
        assert_eq!(taken(json, true), document(Media::Json));
        let metadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
        let alone = Some((Form::Metadata, Media::Protobuf));
        assert_eq!(taken(metadata, true), alone);
        let table = "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1";
        assert_eq!(taken(table, true), None);
    }
}
