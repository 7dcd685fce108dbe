//! Creating, replacing and patching.

use std::hash::{BuildHasher, RandomState};

use serde_json::Value;
use synod_model::ErrorKind;
use synod_proto::v1;

use crate::answer::{self, Response, Shape};
use crate::body::{Asks, Written, place, preconditions};
use crate::documents::{self, RAW_DATA};
use crate::kinds::Source;
use crate::leases;
use crate::patch::Patch;
use crate::request::Asked;
use crate::sources::{Calls, object_key};
use crate::status::{About, Fault};

/// How often a patch without a revision is tried, and a name that was made up.
const TRIES: usize = 5;

/// The letters of made-up names: no word comes of them.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

fn attributes(document: &Value, about: &About<'_>) -> Result<v1::ObjectAttributes, Fault> {
    let mut faults = Vec::new();
    let attributes = documents::attributes(&document["metadata"], &mut faults);
    if !faults.is_empty() {
        return Err(Fault::invalid(about, &faults));
    }
    Ok(attributes)
}

/// Creates an object.
pub(crate) async fn create(
    calls: &Calls,
    shape: &Shape,
    about: &About<'_>,
    asks: &Asks<'_>,
) -> Result<Response, Fault> {
    let Written { document, warnings } = asks.document(about)?;
    let given = document["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let begins = document["metadata"]["generateName"]
        .as_str()
        .unwrap_or_default();
    if given.is_empty() && begins.is_empty() {
        let rule = "Required value: name or generateName is required";
        return Err(Fault::invalid(
            about,
            &[("metadata.name".to_owned(), rule.to_owned())],
        ));
    }
    if preconditions(&document, about)?.resource_version.is_some() {
        return Err(Fault::bad_request(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    let mut tries = if given.is_empty() { TRIES } else { 1 };
    loop {
        tries -= 1;
        let name = if given.is_empty() {
            made_up(begins)
        } else {
            given.clone()
        };
        let about = About {
            name: &name,
            ..about.clone()
        };
        match create_named(calls, &about, asks, &document).await {
            // The name was made up, and another one is as good.
            Err(fault) if fault.code == 409 && tries > 0 => {}
            Err(fault) => return Err(fault),
            Ok(created) => {
                let mut response = answer::document(&calls.origin, 201, &shape.one(created));
                answer::warn(&mut response, &warnings);
                return Ok(response);
            }
        }
    }
}

async fn create_named(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    document: &Value,
) -> Result<Value, Fault> {
    let kind = about.kind;
    if kind.source == Source::Leases {
        not_dry(asks)?;
        leases::create(calls, about, document).await?;
        return written(calls, about).await;
    }
    let request = v1::ObjectsCreateRequest {
        key: Some(object_key(kind, about.namespace, about.name)),
        attributes: Some(attributes(document, about)?),
        content: Some(documents::content(document, None)),
        dry_run: asks.query.is_dry_run()?,
        ..v1::ObjectsCreateRequest::default()
    };
    let created: Result<v1::ObjectsCreateResponse, _> =
        calls.call("synod.v1.Objects/Create", &request).await;
    let created = created.map_err(|refusal| Fault::of(&refusal, about))?;
    told(calls, about, created.object).await
}

/// A dry run of what is no object would be a dry run in words alone.
fn not_dry(asks: &Asks<'_>) -> Result<(), Fault> {
    if asks.query.is_dry_run()? {
        return Err(Fault::bad_request(
            "the dryRun feature is not supported for this resource",
        ));
    }
    Ok(())
}

/// The object that a write has told of; if it told of none, as it is now.
async fn told(
    calls: &Calls,
    about: &About<'_>,
    object: Option<v1::Object>,
) -> Result<Value, Fault> {
    match object {
        Some(object) => Ok(documents::object(about.kind, &object)),
        None => written(calls, about).await,
    }
}

/// What a write that does not tell it has left. The write was done, whatever becomes of this read.
async fn written(calls: &Calls, about: &About<'_>) -> Result<Value, Fault> {
    read(calls, about).await.map_err(Fault::behind_a_write)
}

pub(crate) async fn read(calls: &Calls, about: &About<'_>) -> Result<Value, Fault> {
    let found = calls
        .get(about.kind, about.namespace, about.name, Asked::Newest)
        .await;
    found.map_err(|refusal| Fault::of(&refusal, about))
}

/// A name with this beginning, cut as Kubernetes cuts it.
fn made_up(begins: &str) -> String {
    const RANDOM: usize = 5;
    const NAME_MAX: usize = 63;
    let begins: String = begins.chars().take(NAME_MAX - RANDOM).collect();
    // The standard library seeds its hashers by the system's randomness. A name that is taken is refused, and another one
    // made up.
    let mut left = RandomState::new().hash_one(&begins);
    let letters = (0..RANDOM).map(|_| {
        let count = LETTERS.len() as u64;
        let letter = LETTERS[usize::try_from(left % count).unwrap_or_default()];
        left /= count;
        char::from(letter)
    });
    format!("{begins}{}", letters.collect::<String>())
}

/// Replaces an object.
pub(crate) async fn update(
    calls: &Calls,
    shape: &Shape,
    about: &About<'_>,
    asks: &Asks<'_>,
) -> Result<Response, Fault> {
    let Written { document, warnings } = asks.document(about)?;
    let preconditions = preconditions(&document, about)?;
    let dry_run = asks.query.is_dry_run()?;
    if about.kind.source == Source::Leases {
        not_dry(asks)?;
    }
    let (code, updated) = replace(calls, about, &document, preconditions, (dry_run, None)).await?;
    let mut response = answer::document(&calls.origin, code, &shape.one(updated));
    answer::warn(&mut response, &warnings);
    Ok(response)
}

/// Writes a document in place of an object. `stored` is what was stored when the document was made from it.
async fn replace(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    preconditions: v1::Preconditions,
    (dry_run, stored): (bool, Option<&v1::ObjectContent>),
) -> Result<(u16, Value), Fault> {
    let kind = about.kind;
    if kind.source == Source::Leases {
        leases::update(calls, about, document, &preconditions).await?;
        return Ok((200, written(calls, about).await?));
    }
    if !document[RAW_DATA].is_null() {
        let rule = "Forbidden: data that is no JSON object is written by other ways than this one";
        return Err(Fault::invalid(
            about,
            &[(RAW_DATA.to_owned(), rule.to_owned())],
        ));
    }
    let has_expected = preconditions.resource_version.is_some();
    let uid = preconditions.uid.clone();
    let request = v1::ObjectsUpdateRequest {
        key: Some(object_key(kind, about.namespace, about.name)),
        attributes: Some(attributes(document, about)?),
        content: Some(documents::content(document, stored)),
        preconditions: Some(preconditions),
        dry_run,
        ..v1::ObjectsUpdateRequest::default()
    };
    let updated: Result<v1::ObjectsUpdateResponse, _> =
        calls.call("synod.v1.Objects/Update", &request).await;
    let updated = updated.map_err(|refusal| match refusal.kind {
        ErrorKind::Conflict => conflict(about, &refusal, &uid, has_expected),
        _ => Fault::of(&refusal, about),
    })?;
    let code = if updated.created { 201 } else { 200 };
    Ok((code, told(calls, about, updated.object).await?))
}

/// A conflict, in Kubernetes' words.
pub(crate) fn conflict(
    about: &About<'_>,
    refusal: &synod_model::Refusal,
    uid: &str,
    has_expected: bool,
) -> Fault {
    let current = match refusal.current.as_deref() {
        Some(synod_model::Current::Object(object)) => Some(object.metadata.uid.to_string()),
        _ => None,
    };
    match current {
        Some(current) if !uid.is_empty() && current != uid => {
            let why = format!(
                "Precondition failed: UID in precondition: {uid}, UID in object meta: {current}"
            );
            Fault::conflict(about, &why)
        }
        _ if has_expected => Fault::modified(about),
        _ => Fault::of(refusal, about),
    }
}

/// Patches an object.
pub(crate) async fn patch(
    calls: &Calls,
    shape: &Shape,
    about: &About<'_>,
    asks: &Asks<'_>,
) -> Result<Response, Fault> {
    let patch = Patch::of(asks.headers, asks.body)?;
    let dry_run = asks.query.is_dry_run()?;
    if about.kind.source == Source::Leases {
        not_dry(asks)?;
    }
    let mut tries = TRIES;
    loop {
        tries -= 1;
        match patch_once(calls, about, &patch, dry_run).await {
            Err(Missed::Overtaken(_)) if tries > 0 => {}
            Err(Missed::Overtaken(fault) | Missed::Refused(fault)) => return Err(fault),
            Ok(patched) => return Ok(answer::document(&calls.origin, 200, &shape.one(patched))),
        }
    }
}

/// Why a patch was not written.
enum Missed {
    /// Somebody was faster, and the patch does not mind.
    Overtaken(Fault),
    Refused(Fault),
}

impl From<Fault> for Missed {
    fn from(fault: Fault) -> Self {
        Self::Refused(fault)
    }
}

async fn patch_once(
    calls: &Calls,
    about: &About<'_>,
    patch: &Patch,
    dry_run: bool,
) -> Result<Value, Missed> {
    let (current, stored) = match about.kind.source {
        Source::Objects => {
            let object = calls
                .object(about.kind, about.namespace, about.name, Asked::Newest)
                .await;
            let object = object.map_err(|refusal| Fault::of(&refusal, about))?;
            (documents::object(about.kind, &object), object.content)
        }
        _ => (read(calls, about).await?, None),
    };
    if current["apiVersion"] != about.kind.api_version() {
        let why = format!(
            "it is stored in {}, and this patch is for {}: Synod does not convert",
            current["apiVersion"].as_str().unwrap_or_default(),
            about.kind.api_version()
        );
        return Err(Fault::conflict(about, &why).into());
    }
    let mut patched = current.clone();
    patch.apply(&mut patched, about)?;
    place(&mut patched, about)?;
    let (of, to) = (&current["metadata"], &patched["metadata"]);
    // What the patch says of the revision and the uid is what it expects.
    let is_expecting = |field: &str| !to[field].is_null() && to[field] != of[field];
    if is_expecting("resourceVersion") {
        return Err(Fault::modified(about).into());
    }
    if is_expecting("uid") {
        let shown = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let why = format!(
            "Precondition failed: UID in precondition: {}, UID in object meta: {}",
            shown(&to["uid"]),
            shown(&of["uid"])
        );
        return Err(Fault::conflict(about, &why).into());
    }
    let preconditions = preconditions(&current, about)?;
    match replace(
        calls,
        about,
        &patched,
        preconditions,
        (dry_run, stored.as_ref()),
    )
    .await
    {
        Ok((_, patched)) => Ok(patched),
        Err(fault) if fault.code == 409 => Err(Missed::Overtaken(fault)),
        Err(fault) => Err(Missed::Refused(fault)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_up_of_letters_that_make_no_word() {
        let name = made_up("web-");
        let made = name.strip_prefix("web-").unwrap_or_default();
        assert_eq!(made.len(), 5);
        assert!(
            made.bytes().all(|letter| LETTERS.contains(&letter)),
            "{name}"
        );
        assert_eq!(made_up(&"x".repeat(100)).len(), 63);
    }
}
