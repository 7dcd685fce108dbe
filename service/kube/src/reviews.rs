//! Access reviews: who a caller is, and what it may do, by the policy that decides about its calls.
//!
//! kubectl sends them as protobuf without asking, and takes an answer in JSON.

use std::collections::HashSet;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use prost::Message;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use synod_model::{ErrorKind, Refusal};

use crate::answer::{self, Response};
use crate::bounded;
use crate::discovery::{groups, kind_at};
use crate::kinds::{KINDS, Kind, Verb};
use crate::parts::Part;
use crate::request::Review;
use crate::rights::Target;
use crate::sources::Calls;
use crate::status::Fault;

/// What stands before a message of protobuf of Kubernetes.
const MAGIC: &[u8] = b"k8s\0";

/// The form of such messages.
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Stands for everything.
const ALL: &str = "*";

/// The paths that everybody may read who is known.
const OPEN: [&str; 10] = [
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/version",
    "/version/",
];

/// What everybody may create who is known: the reviews of oneself.
const SELF: [(&str, &str); 3] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
];

/// `runtime.Unknown` of Kubernetes: a message in its envelope.
#[derive(Clone, PartialEq, Message)]
struct Unknown {
    #[prost(bytes = "vec", tag = "2")]
    raw: Vec<u8>,
}

/// A review, of which only its spec is read.
#[derive(Clone, PartialEq, Message)]
struct Reviewed {
    #[prost(bytes = "vec", tag = "2")]
    spec: Vec<u8>,
}

/// What a review of access asks for.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Asked {
    #[prost(message, optional, tag = "1")]
    resource_attributes: Option<Attributes>,
    #[prost(message, optional, tag = "2")]
    non_resource_attributes: Option<Path>,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
struct Attributes {
    #[prost(string, tag = "1")]
    namespace: String,
    #[prost(string, tag = "2")]
    verb: String,
    #[prost(string, tag = "3")]
    group: String,
    #[prost(string, tag = "4")]
    version: String,
    #[prost(string, tag = "5")]
    resource: String,
    #[prost(string, tag = "6")]
    subresource: String,
    #[prost(string, tag = "7")]
    name: String,
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
struct Path {
    #[prost(string, tag = "1")]
    path: String,
    #[prost(string, tag = "2")]
    verb: String,
}

/// What a review of all rights asks for.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
struct Place {
    #[prost(string, tag = "1")]
    namespace: String,
}

/// Answers a review of the caller, whose proved name this is.
pub(crate) async fn review(
    calls: &Calls,
    review: Review,
    headers: &HeaderMap,
    body: &[u8],
    user: Option<&str>,
) -> Result<Response, Fault> {
    let document = match review {
        // Nothing is asked that could be read.
        Review::Subject => subject(user),
        Review::Access => access(calls, &spec(headers, body)?).await?,
        Review::Rules => {
            let Place { namespace } = spec(headers, body)?;
            json!({
                "kind": "SelfSubjectRulesReview",
                "apiVersion": "authorization.k8s.io/v1",
                "metadata": {},
                "spec": {},
                "status": {
                    "resourceRules": rules(calls, &namespace).await.map_err(of_review)?,
                    "nonResourceRules": [{ "verbs": ["get"], "nonResourceURLs": OPEN }],
                    "incomplete": false,
                },
            })
        }
    };
    Ok(answer::document(&calls.origin, 201, &document))
}

fn of_review(refusal: Refusal) -> Fault {
    Fault::of_any(refusal.kind, &refusal.message)
}

/// The spec of a review, in JSON or in protobuf.
fn spec<T: Message + Default + DeserializeOwned>(
    headers: &HeaderMap,
    body: &[u8],
) -> Result<T, Fault> {
    let media = headers.get(CONTENT_TYPE);
    let media = media.and_then(|value| value.to_str().ok());
    let media = media.unwrap_or_default().split(';').next();
    let unreadable = |fault: &dyn std::fmt::Display| {
        Fault::bad_request(format!("the review cannot be read: {fault}"))
    };
    match media.unwrap_or_default().trim() {
        PROTOBUF => {
            let body = body.strip_prefix(MAGIC);
            let body = body.ok_or_else(|| unreadable(&"it does not begin as protobuf does"))?;
            let unknown = Unknown::decode(body).map_err(|fault| unreadable(&fault))?;
            let review = Reviewed::decode(unknown.raw.as_slice());
            let review = review.map_err(|fault| unreadable(&fault))?;
            T::decode(review.spec.as_slice()).map_err(|fault| unreadable(&fault))
        }
        "" | "*/*" | "application/json" => {
            let review = bounded::json(body).map_err(|fault| unreadable(&fault))?;
            match review.get("spec") {
                None | Some(Value::Null) => Ok(T::default()),
                Some(spec) => {
                    let spec = said(spec).ok_or_else(|| unreadable(&"its spec is no object"))?;
                    serde_json::from_value(spec).map_err(|fault| unreadable(&fault))
                }
            }
        }
        _ => Err(Fault::unsupported(&format!("application/json, {PROTOBUF}"))),
    }
}

/// A spec, or a part of it, without what is null; `None` if it or a part is a list.
fn said(spec: &Value) -> Option<Value> {
    let members = spec.as_object()?;
    let members = members.iter().filter(|(_, value)| !value.is_null());
    let members = members.map(|(name, value)| match (name.as_str(), value) {
        ("resourceAttributes" | "nonResourceAttributes", part) => Some((name.clone(), said(part)?)),
        (_, value) => Some((name.clone(), value.clone())),
    });
    members.collect::<Option<_>>().map(Value::Object)
}

/// Who the caller is. Where nobody is asked, everybody may do everything, and nobody has a name.
fn subject(user: Option<&str>) -> Value {
    let (name, group) = match user {
        Some(user) => (user, "system:authenticated"),
        None => ("system:anonymous", "system:unauthenticated"),
    };
    json!({
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": { "creationTimestamp": null },
        "status": { "userInfo": { "username": name, "groups": [group] } },
    })
}

/// Whether the caller may do one thing.
async fn access(calls: &Calls, asked: &Asked) -> Result<Value, Fault> {
    let (decided, spec) = match (&asked.resource_attributes, &asked.non_resource_attributes) {
        (Some(of), None) => (
            resource(calls, of).await,
            json!({ "resourceAttributes": {
                "namespace": of.namespace,
                "verb": of.verb,
                "group": of.group,
                "version": of.version,
                "resource": of.resource,
                "subresource": of.subresource,
                "name": of.name,
            }}),
        ),
        (None, Some(of)) => (
            path(of),
            json!({ "nonResourceAttributes": { "path": of.path, "verb": of.verb } }),
        ),
        _ => {
            let rule = "exactly one of spec.resourceAttributes and spec.nonResourceAttributes must be specified";
            return Err(Fault::bad_request(rule));
        }
    };
    let (is_allowed, reason) = match decided {
        Ok(()) => (true, String::new()),
        Err(refusal)
            if matches!(
                refusal.kind,
                ErrorKind::PermissionDenied | ErrorKind::NotFound
            ) =>
        {
            (false, refusal.message)
        }
        Err(refusal) => return Err(of_review(refusal)),
    };
    Ok(json!({
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": { "allowed": is_allowed, "reason": reason },
    }))
}

/// Whether the caller may read what stands at a path.
fn path(asked: &Path) -> Result<(), Refusal> {
    let is_open = OPEN.iter().any(|open| match open.strip_suffix('*') {
        Some(beginning) => asked.path.starts_with(beginning),
        None => asked.path == *open,
    });
    match is_open && asked.verb == Verb::Get.name() {
        true => Ok(()),
        false => Err(nothing(
            "nothing can be done at this path but to read it, if anything is there",
        )),
    }
}

fn nothing(message: &str) -> Refusal {
    Refusal::new(ErrorKind::NotFound, message)
}

/// Whether the caller may do something to objects.
async fn resource(calls: &Calls, asked: &Attributes) -> Result<(), Refusal> {
    let verbs: Vec<Verb> = match asked.verb.as_str() {
        ALL => Verb::EACH.to_vec(),
        name => Verb::EACH
            .into_iter()
            .filter(|verb| verb.name() == name)
            .collect(),
    };
    if verbs.is_empty() {
        return Err(nothing("there is no such verb"));
    }
    let namespace = Some(asked.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    if asked.resource == ALL {
        if !asked.subresource.is_empty() {
            return Err(nothing("subresources are those of one resource"));
        }
        return all(calls, asked, &verbs);
    }
    if SELF.contains(&(&asked.group, &asked.resource)) {
        return match asked.verb.as_str() {
            ALL | "create" => Ok(()),
            _ => Err(nothing("the resource has no such verb")),
        };
    }
    let kind = named(calls, asked).await?;
    let kind = kind.ok_or_else(|| nothing("no such resource is served"))?;
    let subresource = Some(asked.subresource.as_str()).filter(|it| !it.is_empty());
    let part = kind.part(subresource);
    let part = part.ok_or_else(|| nothing("the resource has no such subresource"))?;
    let target = Target::of(&kind, namespace, &asked.name);
    for verb in verbs {
        // Of all verbs, those count that there are.
        if kind.verbs_of(part).contains(&verb) {
            target.may(calls, verb)?;
        } else if asked.verb != ALL {
            return Err(nothing("the resource has no such verb"));
        }
    }
    Ok(())
}

/// Whether the caller may do something to whatever there is.
fn all(calls: &Calls, asked: &Attributes, verbs: &[Verb]) -> Result<(), Refusal> {
    let namespace = asked.namespace.as_str();
    let in_group = |group: &str| asked.group == ALL || asked.group == group;
    for verb in verbs {
        let kinds = KINDS.iter().filter(|kind| in_group(&kind.group));
        for kind in kinds.filter(|kind| kind.has(*verb)) {
            Target::of(kind, Some(namespace), "").may(calls, *verb)?;
        }
        // Collections may have any group.
        Target::all_objects(namespace).may(calls, *verb)?;
    }
    Ok(())
}

/// The kind of this group and name, in any version.
async fn named(calls: &Calls, asked: &Attributes) -> Result<Option<Kind>, Refusal> {
    let fixed = KINDS
        .iter()
        .find(|kind| kind.group == asked.group && kind.plural == asked.resource);
    match fixed {
        Some(kind) => Ok(Some(kind.clone())),
        // A collection takes any version.
        None => kind_at(calls, &asked.group, "v1", &asked.resource).await,
    }
}

/// What the caller may do to each kind.
async fn rules(calls: &Calls, namespace: &str) -> Result<Vec<Value>, Refusal> {
    let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
    let own = SELF.map(|(group, resource)| rule(&[Verb::Create.name()], group, resource));
    let mut rules = own.to_vec();
    let groups = groups(calls).await?;
    let versions = groups.iter().flat_map(|group| &group.versions);
    let mut told = HashSet::new();
    for kind in versions.flat_map(|(_, kinds)| kinds) {
        // A kind has the same rights in each version.
        if !told.insert((&kind.group, &kind.plural)) {
            continue;
        }
        let target = Target::of(kind, namespace, "");
        for part in [Part::Object, Part::Status] {
            let verbs = kind.verbs_of(part).iter();
            let verbs = verbs.filter(|verb| target.may(calls, **verb).is_ok());
            let verbs: Vec<&str> = verbs.map(|verb| verb.name()).collect();
            if !verbs.is_empty() {
                rules.push(rule(&verbs, &kind.group, &part.path(&kind.plural)));
            }
        }
    }
    Ok(rules)
}

fn rule(verbs: &[&str], group: &str, resource: &str) -> Value {
    json!({ "verbs": verbs, "apiGroups": [group], "resources": [resource] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(media: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(media));
        headers
    }

    #[test]
    fn a_review_is_read_in_both_forms() {
        let asked = Asked {
            resource_attributes: Some(Attributes {
                verb: "create".to_owned(),
                group: "coordination.k8s.io".to_owned(),
                resource: "leases".to_owned(),
                ..Attributes::default()
            }),
            non_resource_attributes: None,
        };
        let review = Reviewed {
            spec: asked.encode_to_vec(),
        };
        let unknown = Unknown {
            raw: review.encode_to_vec(),
        };
        let bytes = [MAGIC, &unknown.encode_to_vec()].concat();
        assert_eq!(spec::<Asked>(&headers(PROTOBUF), &bytes).unwrap(), asked);
        let text = json!({"spec": {"resourceAttributes": {
            "verb": "create", "group": "coordination.k8s.io", "resource": "leases",
        }}});
        let text = text.to_string();
        let json = spec::<Asked>(&headers("application/json"), text.as_bytes());
        assert_eq!(json.unwrap(), asked);
        let nulls =
            br#"{"spec": {"resourceAttributes": {"verb": "create", "group": "coordination.k8s.io",
            "resource": "leases", "name": null}, "nonResourceAttributes": null}}"#;
        let json = spec::<Asked>(&headers("application/json"), nulls);
        assert_eq!(json.unwrap(), asked);
        // Whatever is sent is answered.
        for length in 0..bytes.len() {
            let _ = spec::<Asked>(&headers(PROTOBUF), &bytes[..length]);
        }
        for (media, body) in [
            (PROTOBUF, &b"k8s"[..]),
            (PROTOBUF, b"k8s\0\xff\xff"),
            ("application/json", b"{"),
            ("application/json", b"{\"spec\": []}"),
            (
                "application/json",
                b"{\"spec\": {\"resourceAttributes\": [\"n\"]}}",
            ),
            (
                "application/json",
                b"{\"spec\": {\"resourceAttributes\": {\"verb\": 1}}}",
            ),
        ] {
            let code = spec::<Asked>(&headers(media), body).map_err(|fault| fault.code);
            assert_eq!(code, Err(400));
        }
        let other = spec::<Asked>(&headers("text/plain"), b"").map_err(|fault| fault.code);
        assert_eq!(other, Err(415));
    }

    #[test]
    fn paths_are_read_that_everybody_may_know() {
        let may = |text: &str, verb: &str| {
            let asked = Path {
                path: text.to_owned(),
                verb: verb.to_owned(),
            };
            path(&asked).is_ok()
        };
        assert!(may("/version", "get") && may("/apis/apps/v1", "get"));
        assert!(!may("/version", "post") && !may("/metrics", "get") && !may("/versions", "get"));
    }
}
