//! Events: what the members of each resource agreed on, change by change, where `kubectl describe` looks for what has happened.
//!
//! They are made from the history of agreement that Synod keeps and nobody writes them. As those of all objects without a
//! namespace they are in the namespace `default`. The name of one is that of the StorageVersion and the revision of the change.

use futures::future::join_all;
use serde_json::{Value, json};
use synod_model::{ErrorKind, Refusal};
use synod_proto::v1;

use crate::documents::{document, time};
use crate::kinds::Kind;
use crate::request::Asked;
use crate::sources::{Calls, Page, Paging, Scope, Start, nothing, storage_version_of};

/// The namespace of events about objects without one.
const NAMESPACE: &str = "default";

/// What the events are about.
const INVOLVED: (&str, &str) = ("internal.apiserver.k8s.io/v1alpha1", "StorageVersion");

/// The most resources whose events are a page.
const RESOURCES_MAX: u32 = 50;

/// How many histories are read at a time.
const AT_ONCE: usize = 16;

/// A StorageVersion, or the one that there was.
struct Involved {
    name: String,
    resource: v1::GroupResource,
    /// Empty: nobody reports it now.
    uid: String,
}

impl Involved {
    fn of(resource: v1::GroupResource, version: Option<&v1::StorageVersion>) -> Self {
        let group = match resource.group.as_str() {
            "" => "core",
            group => group,
        };
        let metadata = version.and_then(|version| version.metadata.as_ref());
        Self {
            name: format!("{group}.{}", resource.resource),
            uid: metadata.map(|own| own.uid.clone()).unwrap_or_default(),
            resource,
        }
    }

    /// The event of a change.
    fn event(&self, kind: &Kind, change: &v1::AgreementChange) -> Value {
        let metadata = v1::Metadata {
            name: format!("{}.{:x}", self.name, change.revision),
            namespace: NAMESPACE.to_owned(),
            resource_version: change.revision,
            creation_time_ms: change.time_ms,
            ..v1::Metadata::default()
        };
        let (of, reason) = match (&change.from_version, &change.to_version) {
            (None | Some(_), None) => ("Warning", "AgreementEnded"),
            (None, Some(_)) => ("Normal", "AgreementReached"),
            (Some(_), Some(_)) => ("Normal", "AgreementMoved"),
        };
        let (version, involved) = INVOLVED;
        let mut about = json!({ "apiVersion": version, "kind": involved, "name": self.name });
        if !self.uid.is_empty() {
            about["uid"] = json!(self.uid);
        }
        let at = time(change.time_ms);
        let rest = json!({
            "involvedObject": about,
            "reason": reason,
            "message": message(change),
            "source": { "component": "synod" },
            "firstTimestamp": at,
            "lastTimestamp": at,
            "count": 1,
            "type": of,
            "eventTime": null,
            "reportingComponent": "synod",
            "reportingInstance": "",
        });
        document(kind, Some(&metadata), rest)
    }
}

/// A change in words.
fn message(change: &v1::AgreementChange) -> String {
    let what = match (&change.from_version, &change.to_version) {
        (Some(from), Some(to)) => format!("all servers encode {to}, no longer {from}"),
        (None, Some(to)) => format!("all servers encode {to}"),
        (Some(from), None) => format!("no agreement any more: it was {from}"),
        (None, None) => "no agreement".to_owned(),
    };
    let by = match (&change.cause_member, change.cause()) {
        (Some(member), _) => format!(", by {member}"),
        (None, v1::AgreementCause::Observed) => ", by what discovery shows".to_owned(),
        (None, v1::AgreementCause::Roster) => ", by a roster".to_owned(),
        (None, _) => String::new(),
    };
    format!("{what}{by}")
}

/// One event.
pub(crate) async fn get(
    calls: &Calls,
    kind: &Kind,
    namespace: Option<&str>,
    name: &str,
) -> Result<Value, Refusal> {
    let parts = name.rsplit_once('.');
    let parsed = parts.and_then(|(of, at)| Some((of, u64::from_str_radix(at, 16).ok()?)));
    let Some((of, at)) = parsed.filter(|_| namespace == Some(NAMESPACE)) else {
        return Err(nothing(name));
    };
    let page = of_one(calls, kind, of, Asked::Newest).await?;
    let mut events = page.items.into_iter();
    let at = at.to_string();
    let found = events.find(|event| event["metadata"]["resourceVersion"] == at);
    found.ok_or_else(|| nothing(name))
}

/// A page of events. Who asks for those of one object gets all of them.
pub(crate) async fn page(
    calls: &Calls,
    scope: &Scope,
    start: Start,
    size: u32,
) -> Result<Page, Refusal> {
    let fields = &scope.selection.fields;
    let is_elsewhere = !is_in(scope)
        || fields
            .equal("involvedObject.kind")
            .is_some_and(|it| it != INVOLVED.1);
    if is_elsewhere {
        let (_, revision) = calls.settings(&scope.kind, None).await?;
        return Ok(Page {
            items: Vec::new(),
            revision,
            next: String::new(),
        });
    }
    if let (Some(name), Start::First(asked)) = (fields.equal("involvedObject.name"), &start) {
        return of_one(calls, &scope.kind, name, *asked).await;
    }
    let (settings, _) = calls.settings(&scope.kind, None).await?;
    let kept = settings["spec"]["agreementsKept"].as_u64();
    let paging = Paging::of(start, resources_of(size, kept.unwrap_or(1)));
    let found = calls.resources(paging, true).await?;
    let revision = found
        .header
        .map(|header| header.revision)
        .unwrap_or_default();
    let involved = found.items.into_iter().filter_map(|item| {
        let resource = item.storage_state?.resource?;
        Some(Involved::of(resource, item.storage_version.as_ref()))
    });
    let involved: Vec<Involved> = involved.collect();
    let mut items = Vec::new();
    for some in involved.chunks(AT_ONCE) {
        let all = some
            .iter()
            .map(|one| calls.history(&one.resource, Asked::Exact(revision)));
        for (one, history) in some.iter().zip(join_all(all).await) {
            let changes = history?.changes;
            items.extend(changes.iter().map(|change| one.event(&scope.kind, change)));
        }
    }
    Ok(Page {
        items,
        revision,
        next: found.continue_token,
    })
}

/// How many resources have a page of this many events, if so many of each are kept; at least one.
fn resources_of(size: u32, kept: u64) -> u32 {
    let of = u64::from(size) / kept.max(1);
    u32::try_from(of).map_or(RESOURCES_MAX, |of| of.clamp(1, RESOURCES_MAX))
}

/// Whether the events are among what is read.
fn is_in(scope: &Scope) -> bool {
    scope.namespace.as_deref().is_none_or(|it| it == NAMESPACE)
}

/// All events about the StorageVersion of this name; none if there is no such resource.
async fn of_one(calls: &Calls, kind: &Kind, name: &str, asked: Asked) -> Result<Page, Refusal> {
    let resource = storage_version_of(name);
    let found = calls.of_resource(resource.clone(), asked).await;
    let history = calls.history(&resource, asked).await;
    let (found, history) = match (found, history) {
        (Ok(found), Ok(history)) => (found, history),
        (Err(refusal), _) | (_, Err(refusal)) if is_nothing(&refusal) => {
            let (_, revision) = calls.settings(kind, None).await?;
            return Ok(Page {
                items: Vec::new(),
                revision,
                next: String::new(),
            });
        }
        (Err(refusal), _) | (_, Err(refusal)) => return Err(refusal),
    };
    let involved = Involved::of(resource, found.storage_version.as_ref());
    let items = history.changes.iter();
    Ok(Page {
        items: items.map(|change| involved.event(kind, change)).collect(),
        // What is told of was there at the first of the two reads, or has come since.
        revision: found
            .header
            .map(|header| header.revision)
            .unwrap_or_default(),
        next: String::new(),
    })
}

fn is_nothing(refusal: &Refusal) -> bool {
    matches!(
        refusal.kind,
        ErrorKind::NotFound | ErrorKind::InvalidArgument
    )
}

/// The event of a change of a resource's state at this revision, if what was agreed on changed.
pub(crate) async fn of_change(
    calls: &Calls,
    scope: &Scope,
    revision: u64,
    state: v1::StorageState,
) -> Result<Option<Value>, Refusal> {
    let Some(resource) = state.resource.filter(|_| is_in(scope)) else {
        return Ok(None);
    };
    let history = calls.history(&resource, Asked::Exact(revision)).await?;
    let mut changes = history.changes.iter();
    let Some(change) = changes.find(|change| change.revision == revision) else {
        return Ok(None);
    };
    let found = calls
        .of_resource(resource.clone(), Asked::Exact(revision))
        .await?;
    let involved = Involved::of(resource, found.storage_version.as_ref());
    Ok(Some(involved.event(&scope.kind, change)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::EVENT;

    #[test]
    fn a_page_of_events_has_no_more_than_are_asked_for() {
        assert_eq!(resources_of(500, 16), 31);
        assert_eq!(resources_of(500, 1), RESOURCES_MAX);
        assert_eq!(resources_of(1, 100), 1);
        assert_eq!(resources_of(500, 0), RESOURCES_MAX);
    }

    #[test]
    fn an_event_tells_what_was_agreed_on_and_by_whom() {
        let resource = v1::GroupResource {
            group: String::new(),
            resource: "pods".to_owned(),
        };
        let involved = Involved::of(resource, None);
        let mut change = v1::AgreementChange {
            to_version: Some("v1".to_owned()),
            revision: 26,
            cause_member: Some("a".to_owned()),
            ..v1::AgreementChange::default()
        };
        let event = involved.event(&EVENT, &change);
        assert_eq!(event["apiVersion"], "v1");
        assert_eq!(event["metadata"]["name"], "core.pods.1a");
        assert_eq!(event["reason"], "AgreementReached");
        assert_eq!(event["message"], "all servers encode v1, by a");
        change.from_version = change.to_version.take();
        change.cause_member = None;
        change.cause = v1::AgreementCause::Roster.into();
        let event = involved.event(&EVENT, &change);
        assert_eq!(
            (&event["type"], &event["reason"]),
            (&json!("Warning"), &json!("AgreementEnded"))
        );
        assert_eq!(
            event["message"],
            "no agreement any more: it was v1, by a roster"
        );
    }
}
