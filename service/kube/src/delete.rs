//! Deleting.

use futures::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use synod_model::{Current, ErrorKind, Refusal, Uid};
use synod_proto::v1;

use crate::answer::{self, Response, Shape};
use crate::body::{self, Asks, preconditions};
use crate::kinds::Source;
use crate::negotiate::Media;
use crate::present::{self, TRIES, conflict};
use crate::read;
use crate::request::is_dry;
use crate::rights::admit;
use crate::sources::{Calls, PAGE_MAX, Scope, Start, object_key};
use crate::status::{About, Fault};
use crate::{bounded, candidates, identity, migrations, protobuf};

/// Deletions that one request has under way at a time.
const AT_ONCE: usize = 16;

/// The forms in which options are read.
const READ: &str = "application/json, application/vnd.kubernetes.protobuf";

/// How an object is to be deleted.
#[derive(Clone)]
struct Options {
    preconditions: v1::Preconditions,
    propagation: v1::Propagation,
    dry_run: bool,
}

/// `DeleteOptions` of Kubernetes. A field of another type is a fault: an option that is not understood must not delete.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    dry_run: Option<Vec<String>>,
    orphan_dependents: Option<bool>,
    preconditions: Option<Value>,
    propagation_policy: Option<String>,
}

impl Written {
    fn of(asks: &Asks<'_>) -> Result<Self, Fault> {
        let unreadable = |fault: &dyn std::fmt::Display| {
            Fault::bad_request(format!("the options of a deletion cannot be read: {fault}"))
        };
        if asks.body.is_empty() {
            return Ok(Self::default());
        }
        let options = match body::media(asks.headers) {
            "" | "*/*" | "application/json" => {
                bounded::json(asks.body).map_err(|fault| unreadable(&fault))?
            }
            protobuf::MEDIA => protobuf::read(protobuf::delete_options(), asks.body)
                .map_err(|fault| unreadable(&fault))?,
            _ => return Err(Fault::unsupported(READ)),
        };
        match options {
            Value::Null => Ok(Self::default()),
            options @ Value::Object(_) => {
                serde_json::from_value(options).map_err(|fault| unreadable(&fault))
            }
            _ => Err(unreadable(&"they must be an object")),
        }
    }

    fn preconditions(&self, about: &About<'_>) -> Result<v1::Preconditions, Fault> {
        let Some(expected) = &self.preconditions else {
            return Ok(v1::Preconditions::default());
        };
        let invalid =
            |field: &str, rule: &str| Fault::invalid(about, &[(field.to_owned(), rule.to_owned())]);
        if !expected.is_object() {
            return Err(invalid("preconditions", "must be an object"));
        }
        for field in ["uid", "resourceVersion"] {
            if expected[field] == "" {
                return Err(invalid(
                    &format!("preconditions.{field}"),
                    "must not be empty",
                ));
            }
        }
        preconditions(&json!({ "metadata": expected }), about)
    }

    /// What becomes of the dependents; the query tells it where the body does not.
    fn propagation(
        &self,
        in_query: Option<&str>,
        about: &About<'_>,
    ) -> Result<v1::Propagation, Fault> {
        let policy = self.propagation_policy.as_deref().or(in_query);
        match (policy, self.orphan_dependents) {
            (Some(_), Some(_)) => {
                let rule =
                    "Invalid value: orphanDependents and propagationPolicy cannot be both set";
                Err(Fault::invalid(
                    about,
                    &[("propagationPolicy".to_owned(), rule.to_owned())],
                ))
            }
            (None | Some("Background"), None) | (None, Some(false)) => {
                Ok(v1::Propagation::Background)
            }
            (Some("Foreground"), None) => Ok(v1::Propagation::Foreground),
            (Some("Orphan"), None) | (None, Some(true)) => Ok(v1::Propagation::Orphan),
            (Some(other), None) => Err(unsupported(about, other)),
        }
    }
}

impl Options {
    /// The options of a request: in its body, or in its query.
    fn of(asks: &Asks<'_>, about: &About<'_>) -> Result<Self, Fault> {
        let mut written = Written::of(asks)?;
        if written.orphan_dependents.is_none() && asks.query.get("orphanDependents").is_some() {
            written.orphan_dependents = Some(asks.query.is("orphanDependents")?);
        }
        let in_body = written.dry_run.iter().flatten().map(String::as_str);
        let in_body = is_dry(in_body, about.verb)?;
        Ok(Self {
            preconditions: written.preconditions(about)?,
            propagation: written.propagation(asks.query.get("propagationPolicy"), about)?,
            dry_run: asks.query.is_dry_run(about.verb)? || in_body,
        })
    }
}

fn unsupported(about: &About<'_>, propagation: &str) -> Fault {
    let rule = format!(
        "Unsupported value: \"{propagation}\": supported values: \"Background\", \"Foreground\", \"Orphan\""
    );
    Fault::invalid(about, &[("propagationPolicy".to_owned(), rule)])
}

/// Deletes an object.
pub(crate) async fn delete(
    calls: &Calls,
    shape: &Shape,
    about: &About<'_>,
    asks: &Asks<'_>,
) -> Result<Response, Fault> {
    let options = Options::of(asks, about)?;
    let expected = &options.preconditions;
    if !expected.uid.is_empty() && Uid::parse(&expected.uid).is_err() {
        // Nothing has a uid that is none, so it is another object that is meant.
        let there = present::read(calls, about).await?;
        present::expected(about, &there, expected)?;
    }
    let uid = match about.kind.source {
        Source::ControllerRevisions => snapshot(calls, about, options).await?,
        Source::Leases => lease(calls, about, options).await?,
        Source::LeaseCandidates => {
            let expected = &options.preconditions;
            candidates::delete(calls, about, expected, options.dry_run).await?
        }
        Source::Migrations => {
            let expected = &options.preconditions;
            migrations::delete(calls, about, expected, options.dry_run).await?
        }
        Source::Agreements
        | Source::Events
        | Source::Members
        | Source::Objects
        | Source::Settings
        | Source::StorageStates
        | Source::StorageVersions => {
            let is_dry = options.dry_run;
            let deleted = object(calls, about, options).await?;
            if !deleted.deleted && !is_dry {
                // It waits for its finalizers, or its dependents.
                let waiting = present::read(calls, about)
                    .await
                    .map(|waiting| shape.one(waiting));
                let told = begun(about, &deleted.uid, waiting);
                return Ok(answer::document(&calls.origin, shape.media, 200, &told));
            }
            deleted.uid
        }
    };
    Ok(answer::document(
        &calls.origin,
        shape.media,
        200,
        &success(about, &uid),
    ))
}

/// Deletes all objects that are selected, page by page. What was deleted when it fails or its time is over stays so.
///
/// An object is deleted as it was selected: if somebody was faster it is looked at again.
pub(crate) async fn collection(
    calls: &Calls,
    media: Media,
    scope: &Scope,
    about: &About<'_>,
    asks: &Asks<'_>,
) -> Result<Response, Fault> {
    admit(calls, about)?;
    let options = Options::of(asks, about)?;
    let mut left = asks.query.number("limit")?.filter(|limit| *limit > 0);
    let mut start = read::start(asks.query)?;
    let mut has_begun = false;
    loop {
        let size = left.map_or(PAGE_MAX, |left| u32::try_from(left).unwrap_or(PAGE_MAX));
        let page = match read::page(calls, scope, start, size, about).await {
            Ok(page) => page,
            // It took long, and goes on at the present. Where a client begins is for the client to say.
            Err(Fault {
                continue_token: Some(token),
                ..
            }) if has_begun => {
                start = read::after(&token);
                continue;
            }
            Err(fault) => return Err(fault),
        };
        for some in page.items.chunks(AT_ONCE) {
            let all = some
                .iter()
                .map(|item| one_of(calls, scope, about, &options, item));
            for deleted in join_all(all).await {
                deleted?;
            }
        }
        left =
            left.map(|left| left.saturating_sub(u64::try_from(page.items.len()).unwrap_or(left)));
        if page.next.is_empty() || left == Some(0) {
            let told = success(about, "");
            return Ok(answer::document(&calls.origin, media, 200, &told));
        }
        start = Start::After(page.next);
        has_begun = true;
    }
}

/// Deletes one of many objects, if it is still selected.
async fn one_of(
    calls: &Calls,
    scope: &Scope,
    about: &About<'_>,
    options: &Options,
    item: &Value,
) -> Result<(), Fault> {
    let mut item = item.clone();
    let mut tries = TRIES;
    loop {
        tries -= 1;
        let metadata = &item["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default().to_owned();
        let about = About {
            name: &name,
            ..about.clone()
        };
        let mut options = options.clone();
        let is_any = options.preconditions == v1::Preconditions::default();
        if is_any {
            options.preconditions = preconditions(&item, &about)?;
        }
        let deleted = match about.kind.source {
            Source::ControllerRevisions => snapshot(calls, &about, options).await.map(drop),
            Source::Leases => lease(calls, &about, options).await.map(drop),
            Source::Migrations => {
                let expected = &options.preconditions;
                let deleted = migrations::delete(calls, &about, expected, options.dry_run);
                deleted.await.map(drop)
            }
            _ => object(calls, &about, options).await.map(drop),
        };
        match deleted {
            // It is gone already.
            Err(fault) if fault.code == 404 => return Ok(()),
            Err(fault) if fault.code == 409 && is_any && tries > 0 => {}
            other => return other,
        }
        item = match present::read(calls, &about).await {
            Ok(item) if scope.selects(&item) => item,
            Ok(_) => return Ok(()),
            Err(fault) if fault.code == 404 => return Ok(()),
            Err(fault) => return Err(fault),
        };
    }
}

/// The answer to a deletion that has begun. A read that fails takes nothing back, so it is told of without the object.
fn begun(about: &About<'_>, uid: &str, waiting: Result<Value, Fault>) -> Value {
    waiting.unwrap_or_else(|_| success(about, uid))
}

/// Deletes an object of a collection.
async fn object(
    calls: &Calls,
    about: &About<'_>,
    options: Options,
) -> Result<v1::ObjectsDeleteResponse, Fault> {
    let expected = options.preconditions.clone();
    let request = v1::ObjectsDeleteRequest {
        key: Some(object_key(about.kind, about.namespace, about.name)),
        preconditions: Some(options.preconditions),
        propagation: options.propagation.into(),
        dry_run: options.dry_run,
        ..v1::ObjectsDeleteRequest::default()
    };
    let deleted = calls.call("synod.v1.Objects/Delete", &request).await;
    deleted.map_err(|refusal| fault(about, &refusal, &expected))
}

/// Deletes a snapshot of a controller, which nothing depends on. Answers its uid.
async fn snapshot(calls: &Calls, about: &About<'_>, options: Options) -> Result<String, Fault> {
    let there = present::read(calls, about).await?;
    let uid = there["metadata"]["uid"].as_str().unwrap_or_default();
    let expected = options.preconditions;
    let request = v1::ControllerRevisionsDeleteRequest {
        namespace: about.namespace.unwrap_or_default().to_owned(),
        name: about.name.to_owned(),
        if_uid: expected.uid.clone(),
        if_resource_version: expected.resource_version,
        dry_run: options.dry_run,
        ..v1::ControllerRevisionsDeleteRequest::default()
    };
    let deleted: Result<v1::ControllerRevisionsDeleteResponse, _> = calls
        .call("synod.v1.ControllerRevisions/Delete", &request)
        .await;
    deleted.map_err(|refusal| fault(about, &refusal, &expected))?;
    Ok(uid.to_owned())
}

/// Deletes a lease, whoever holds it, or removes the member that it is. Answers its uid.
async fn lease(calls: &Calls, about: &About<'_>, options: Options) -> Result<String, Fault> {
    if let Some(present) = identity::present(calls, about).await? {
        let expected = &options.preconditions;
        return identity::leave(calls, about, expected, &present.member, options.dry_run).await;
    }
    let there = present::read(calls, about).await?;
    let uid = there["metadata"]["uid"].as_str().unwrap_or_default();
    let mut expected = options.preconditions;
    if expected.uid.is_empty() {
        // The one whose uid is told.
        uid.clone_into(&mut expected.uid);
    }
    let request = v1::LeasesDeleteRequest {
        lease: Some(v1::LeaseKey {
            namespace: about.namespace.unwrap_or_default().to_owned(),
            name: about.name.to_owned(),
        }),
        preconditions: Some(expected.clone()),
        dry_run: options.dry_run,
        ..v1::LeasesDeleteRequest::default()
    };
    let deleted: Result<v1::LeasesDeleteResponse, _> =
        calls.call("synod.v1.Leases/Delete", &request).await;
    deleted.map_err(|refusal| fault(about, &refusal, &expected))?;
    Ok(uid.to_owned())
}

/// Why something was not deleted.
fn fault(about: &About<'_>, refusal: &Refusal, expected: &v1::Preconditions) -> Fault {
    if refusal.kind != ErrorKind::Conflict {
        return Fault::of(refusal, about);
    }
    let current = match refusal.current.as_deref() {
        Some(Current::Object(object)) => Some(&object.metadata),
        Some(Current::Lease(lease)) => Some(&lease.metadata),
        Some(Current::ControllerRevision(one)) => Some(&one.metadata),
        _ => None,
    };
    let current = current.map(|metadata| metadata.resource_version.get());
    match (expected.resource_version, current) {
        (Some(asked), Some(current)) if asked != current => {
            let why = format!(
                "Precondition failed: ResourceVersion in precondition: {asked}, ResourceVersion in object meta: {current}"
            );
            Fault::conflict(about, &why)
        }
        _ => conflict(about, refusal, &expected.uid, false),
    }
}

/// The answer to a deletion after which nothing is left.
fn success(about: &About<'_>, uid: &str) -> Value {
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {
            "name": about.name,
            "group": about.kind.group,
            "kind": about.kind.plural,
            "uid": uid,
        },
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;
    use crate::kinds::{KINDS, Verb};
    use crate::parts::Part;
    use crate::request::Query;

    fn about() -> About<'static> {
        About {
            kind: &KINDS[0],
            verb: Verb::Delete,
            namespace: None,
            name: "a",
            part: Part::Object,
            user: "",
        }
    }

    #[test]
    fn a_deletion_that_has_begun_is_told_of_even_if_the_object_cannot_be_read() {
        let waiting = json!({"kind": "Lease"});
        assert_eq!(begun(&about(), "u", Ok(waiting.clone())), waiting);
        let kinds = [
            ErrorKind::NotFound,
            ErrorKind::Unavailable,
            ErrorKind::PermissionDenied,
        ];
        for kind in kinds {
            let told = begun(&about(), "u", Err(Fault::of_any(kind, "x")));
            let (status, uid) = (&told["status"], &told["details"]["uid"]);
            assert_eq!((status, uid), (&json!("Success"), &json!("u")));
        }
    }

    /// What these options ask for, or the code of their fault.
    fn options(query: &str, body: &str) -> Result<(v1::Propagation, bool, v1::Preconditions), u16> {
        let about = about();
        let asks = Asks {
            query: &Query::of(Some(query)),
            headers: &HeaderMap::new(),
            body: &body.to_owned().into(),
        };
        let options = Options::of(&asks, &about).map_err(|fault| fault.code)?;
        Ok((options.propagation, options.dry_run, options.preconditions))
    }

    #[test]
    fn options_that_are_understood_are_kept() {
        let of = |query: &str, body: &str| options(query, body).map(|(how, dry, _)| (how, dry));
        let (background, orphan) = (v1::Propagation::Background, v1::Propagation::Orphan);
        assert_eq!(of("", ""), Ok((background, false)));
        assert_eq!(of("", "null"), Ok((background, false)));
        let dry = r#"{"kind": "DeleteOptions", "dryRun": ["All", "All"]}"#;
        assert_eq!(of("", dry), Ok((background, true)));
        assert_eq!(of("dryRun=All", "{}"), Ok((background, true)));
        assert_eq!(of("", r#"{"orphanDependents": true}"#), Ok((orphan, false)));
        assert_eq!(of("orphanDependents=true", ""), Ok((orphan, false)));
        let policy = r#"{"propagationPolicy": "Orphan", "preconditions": null}"#;
        assert_eq!(
            of("propagationPolicy=Background", policy),
            Ok((orphan, false))
        );
        let expected = r#"{"preconditions": {"uid": "u", "resourceVersion": "7"}}"#;
        let expected = options("", expected).map(|(_, _, expected)| expected);
        let uid = "u".to_owned();
        let resource_version = Some(7);
        assert_eq!(
            expected,
            Ok(v1::Preconditions {
                uid,
                resource_version
            })
        );
    }

    #[test]
    fn options_that_are_not_understood_delete_nothing() {
        for (body, code) in [
            ("[]", 400),
            ("\"x\"", 400),
            ("1", 400),
            (r#"{"dryRun": "All"}"#, 400),
            (r#"{"dryRun": ["All", "None"]}"#, 422),
            (r#"{"dryRun": [true]}"#, 400),
            (r#"{"orphanDependents": "true"}"#, 400),
            (r#"{"propagationPolicy": 1}"#, 400),
            (r#"{"propagationPolicy": "Later"}"#, 422),
            (
                r#"{"propagationPolicy": "Orphan", "orphanDependents": true}"#,
                422,
            ),
            (r#"{"preconditions": "uid"}"#, 422),
            (r#"{"preconditions": {"uid": 1}}"#, 422),
            (r#"{"preconditions": {"uid": ""}}"#, 422),
            (r#"{"preconditions": {"resourceVersion": 7}}"#, 422),
        ] {
            assert_eq!(options("", body).map(|_| ()), Err(code), "{body}");
        }
    }
}
