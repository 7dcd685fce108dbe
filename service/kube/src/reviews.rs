//! Access reviews: who a caller is, and what it may do, by the policy that decides about its calls.
//!
//! kubectl sends them as protobuf without asking.

use std::collections::HashSet;

use bytes::Bytes;
use http::HeaderMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use synod_model::{ErrorKind, Refusal};

use crate::answer::{self, Response};
use crate::body::media;
use crate::discovery::{groups, kind_at};
use crate::kinds::{KINDS, Kind, Verb};
use crate::negotiate::Media;
use crate::parts::Part;
use crate::request::Review;
use crate::rights::Target;
use crate::sources::Calls;
use crate::status::Fault;
use crate::{bounded, protobuf};

/// What reviews of access are of.
const API_VERSION: &str = "authorization.k8s.io/v1";
const ACCESS: &str = "SelfSubjectAccessReview";
const RULES: &str = "SelfSubjectRulesReview";

/// Stands for everything.
const ALL: &str = "*";

/// The paths that everybody may read who is known.
const OPEN: [&str; 12] = [
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/readyz/*",
    "/version",
    "/version/",
];

/// What those may read who may read at all.
const METRICS: &str = "/metrics";

/// What everybody may create who is known: the reviews of oneself.
const SELF: [(&str, &str); 3] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
];

/// What a review of access asks for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Asked {
    resource_attributes: Option<Attributes>,
    non_resource_attributes: Option<Path>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Attributes {
    namespace: String,
    verb: String,
    group: String,
    version: String,
    resource: String,
    subresource: String,
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Path {
    path: String,
    verb: String,
}

/// What a review of all rights asks for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Place {
    namespace: String,
}

/// Answers a review of the caller, whose proved name this is, with the groups that a front proxy tells.
pub(crate) async fn review(
    calls: &Calls,
    review: Review,
    media: Media,
    headers: &HeaderMap,
    body: &Bytes,
    user: Option<&str>,
    groups: Option<Vec<String>>,
) -> Result<Response, Fault> {
    let document = match review {
        // Nothing is asked that could be read.
        Review::Subject => subject(user, groups),
        Review::Access => access(calls, &spec(ACCESS, headers, body)?).await?,
        Review::Rules => {
            let Place { namespace } = spec(RULES, headers, body)?;
            let mut paths = OPEN.to_vec();
            if calls.front.may_read_metrics(&calls.origin).is_ok() {
                paths.push(METRICS);
            }
            json!({
                "kind": RULES,
                "apiVersion": API_VERSION,
                "metadata": {},
                "spec": {},
                "status": {
                    "resourceRules": rules(calls, &namespace).await.map_err(of_review)?,
                    "nonResourceRules": [{ "verbs": ["get"], "nonResourceURLs": paths }],
                    "incomplete": false,
                },
            })
        }
    };
    Ok(answer::document(&calls.origin, media, 201, &document))
}

fn of_review(refusal: Refusal) -> Fault {
    Fault::of_any(refusal.kind, &refusal.message)
}

/// The spec of a review of this kind, in JSON or in protobuf.
fn spec<T: Default + DeserializeOwned>(
    kind: &str,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<T, Fault> {
    let unreadable = |fault: &dyn std::fmt::Display| {
        Fault::bad_request(format!("the review cannot be read: {fault}"))
    };
    let review = match (media(headers), protobuf::of(API_VERSION, kind)) {
        ("" | "*/*" | "application/json", _) => {
            bounded::json(body).map_err(|fault| unreadable(&fault))?
        }
        (protobuf::MEDIA, Some(message)) => {
            protobuf::read(message, body).map_err(|fault| unreadable(&fault))?
        }
        _ => {
            let read = format!("application/json, {}", protobuf::MEDIA);
            return Err(Fault::unsupported(&read));
        }
    };
    match review.get("spec") {
        None | Some(Value::Null) => Ok(T::default()),
        Some(spec) => {
            let spec = said(spec).ok_or_else(|| unreadable(&"its spec is no object"))?;
            serde_json::from_value(spec).map_err(|fault| unreadable(&fault))
        }
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

/// Who the caller is. Where nobody is asked, everybody may do everything, and nobody has a name. Of whom a front proxy speaks
/// for, the proxy tells the groups, and nothing else proves that it is in one.
fn subject(user: Option<&str>, groups: Option<Vec<String>>) -> Value {
    let (name, group) = match user {
        Some(user) => (user, "system:authenticated"),
        None => ("system:anonymous", "system:unauthenticated"),
    };
    let groups = groups.unwrap_or_else(|| vec![group.to_owned()]);
    json!({
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": { "creationTimestamp": null },
        "status": { "userInfo": { "username": name, "groups": groups } },
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
            match of.path == METRICS && of.verb == Verb::Get.name() {
                true => calls.front.may_read_metrics(&calls.origin),
                false => path(of),
            },
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
        "kind": ACCESS,
        "apiVersion": API_VERSION,
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
        None => kind_at(calls, &asked.group, "v1", &asked.resource, None).await,
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
    use http::header::CONTENT_TYPE;

    use super::*;

    fn headers(media: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(media));
        headers
    }

    fn read(media: &'static str, body: impl Into<Bytes>) -> Result<Asked, u16> {
        let asked = spec(ACCESS, &headers(media), &body.into());
        asked.map_err(|fault| fault.code)
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
        let review = json!({
            "apiVersion": API_VERSION,
            "kind": ACCESS,
            "spec": { "resourceAttributes": {
                "verb": "create", "group": "coordination.k8s.io", "resource": "leases",
            }},
        });
        let bytes = protobuf::written(&review).unwrap();
        assert_eq!(read(protobuf::MEDIA, bytes).unwrap(), asked);
        let text = review.to_string();
        assert_eq!(read("application/json", text).unwrap(), asked);
        let nulls = r#"{"spec": {"resourceAttributes": {"verb": "create", "group": "coordination.k8s.io",
            "resource": "leases", "name": null}, "nonResourceAttributes": null}}"#;
        assert_eq!(read("application/json", nulls).unwrap(), asked);
        for (media, body) in [
            (protobuf::MEDIA, &b"k8s"[..]),
            (protobuf::MEDIA, b"k8s\0\xff\xff"),
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
            assert_eq!(read(media, body), Err(400));
        }
        assert_eq!(read("text/plain", ""), Err(415));
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
