//! Writing objects of collections. Each write is conditional on what was read, and tried again if somebody was faster and
//! the caller does not mind.

use http::header::USER_AGENT;
use serde_json::Value;
use synod_model::ErrorKind;
use synod_proto::v1;

use crate::body::{Asks, is_named, place, preconditions};
use crate::documents::{self, RAW_DATA, time};
use crate::managed::{self, MANAGED, MANAGER_BYTES_MAX, Managed, Unapplied, Writer, is_name};
use crate::parts::Part;
use crate::patch::{Change, Patch, Patched};
use crate::present::{TRIES, conflict, written};
use crate::request::Asked;
use crate::sources::{Calls, object_key};
use crate::status::{About, Fault};

/// The manager of who says nothing about itself.
const UNNAMED: &str = "unknown";

/// An object as it was read.
struct Live {
    document: Value,
    managed: Managed,
    content: Option<v1::ObjectContent>,
}

/// What is to be written.
struct Next {
    document: Value,
    /// The managers of its fields, as they are kept.
    managers: Option<String>,
    preconditions: v1::Preconditions,
    /// What was stored when the document was made from it.
    stored: Option<v1::ObjectContent>,
}

/// Why nothing was written.
enum Missed {
    /// Somebody was faster.
    Overtaken(Fault),
    Refused(Fault),
}

impl From<Fault> for Missed {
    fn from(fault: Fault) -> Self {
        Self::Refused(fault)
    }
}

/// Creates an object.
pub(crate) async fn create(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    document: &Value,
) -> Result<Value, Fault> {
    let document = about.part.said(document, about.kind.has_status());
    let managers = Managed::created(&document, &writer(calls, about, asks)?);
    created(calls, about, asks, &document, managers).await
}

async fn created(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    document: &Value,
    managers: Option<String>,
) -> Result<Value, Fault> {
    let request = v1::ObjectsCreateRequest {
        key: Some(object_key(about.kind, about.namespace, about.name)),
        attributes: Some(attributes(document, managers, about)?),
        content: Some(documents::content(document, None)),
        dry_run: asks.query.is_dry_run(about.verb)?,
        ..v1::ObjectsCreateRequest::default()
    };
    let created: Result<v1::ObjectsCreateResponse, _> =
        calls.call("synod.v1.Objects/Create", &request).await;
    let created = created.map_err(|refusal| Fault::of(&refusal, about))?;
    told(calls, about, created.object).await
}

/// Replaces an object. Answers the status code, too.
pub(crate) async fn update(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    document: &Value,
) -> Result<(u16, Value), Fault> {
    let given = preconditions(document, about)?;
    let mut overtaken_at = None;
    // Each time somebody else has written, so all get there; the deadline of the request ends it.
    loop {
        let live = live(calls, about).await?;
        let at = match &live {
            Some(live) => live.revision(about)?,
            None => None,
        };
        match update_once(calls, about, asks, document, &given, live).await {
            // What did not change in between would be refused again.
            Err(Missed::Overtaken(_))
                if given.resource_version.is_none() && overtaken_at != Some(at) =>
            {
                overtaken_at = Some(at);
            }
            Err(Missed::Overtaken(fault) | Missed::Refused(fault)) => return Err(fault),
            Ok(updated) => return Ok(updated),
        }
    }
}

async fn update_once(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    document: &Value,
    given: &v1::Preconditions,
    live: Option<Live>,
) -> Result<(u16, Value), Missed> {
    let rules = about.kind.rules;
    let Some(live) = live else {
        let is_whole = about.part == Part::Object;
        let is_created =
            is_whole && rules.create_on_update && *given == v1::Preconditions::default();
        if !is_created {
            return Err(Fault::not_found(about).into());
        }
        return match create(calls, about, asks, document).await {
            Err(fault) if fault.code == 409 => Err(Missed::Overtaken(fault)),
            created => Ok((201, created?)),
        };
    };
    let mut preconditions = given.clone();
    // Where a revision has to be named, it is the caller that has to.
    if rules.unconditional_update && preconditions.resource_version.is_none() {
        preconditions.resource_version = live.revision(about)?;
    }
    let writer = writer(calls, about, asks)?;
    live.takes(about)?;
    let document = about
        .part
        .written(document.clone(), &live.document, about.kind.has_status());
    let next = Next {
        managers: live.managed.updated(&document, &writer),
        document,
        preconditions,
        stored: live.content,
    };
    replace(calls, about, asks, next, given.resource_version.is_some()).await
}

/// Patches an object.
pub(crate) async fn patch(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    patch: &Patch,
) -> Result<Patched, Fault> {
    let mut tries = TRIES;
    loop {
        tries -= 1;
        match patch_once(calls, about, asks, patch).await {
            Err(Missed::Overtaken(_)) if tries > 0 => {}
            Err(Missed::Overtaken(fault) | Missed::Refused(fault)) => return Err(fault),
            Ok(patched) => return Ok(patched),
        }
    }
}

async fn patch_once(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    patch: &Patch,
) -> Result<Patched, Missed> {
    let Some(live) = live(calls, about).await? else {
        return match &patch.change {
            Change::Apply(configuration) if about.part == Part::Object => {
                let (code, document) = begin(calls, about, asks, &configuration.document).await?;
                Ok(Patched {
                    code,
                    document,
                    warnings: configuration.warnings.clone(),
                })
            }
            _ => Err(Fault::not_found(about).into()),
        };
    };
    live.is_in_the_version_of(about)?;
    let writer = writer(calls, about, asks)?;
    let (document, managers, warnings) = match &patch.change {
        Change::Apply(configuration) => {
            let is_forced = asks.query.is("force")?;
            let said = about
                .part
                .said(&configuration.document, about.kind.has_status());
            let (document, managers) = live.applied(&said, &writer, is_forced, about)?;
            (document, managers, configuration.warnings.clone())
        }
        _ => {
            let mut patched = live.document.clone();
            patch.apply(&mut patched, about)?;
            place(&mut patched, about)?;
            expects(&patched["metadata"], &live.document["metadata"], about)?;
            let warnings = patch.warnings(asks, &patched, about)?;
            let patched = about
                .part
                .written(patched, &live.document, about.kind.has_status());
            let managers = live.managed.updated(&patched, &writer);
            (patched, managers, warnings)
        }
    };
    let next = Next {
        document,
        managers,
        preconditions: preconditions(&live.document, about)?,
        stored: live.content,
    };
    let (code, document) = replace(calls, about, asks, next, false).await?;
    Ok(Patched {
        code,
        document,
        warnings,
    })
}

/// Creates an object by applying a configuration where there is none.
async fn begin(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    configuration: &Value,
) -> Result<(u16, Value), Missed> {
    let own = configuration["metadata"]["name"].as_str();
    is_named(own.unwrap_or_default(), about)?;
    let expected = preconditions(configuration, about)?;
    if expected != v1::Preconditions::default() {
        // What is expected is not there.
        return Err(Fault::modified(about).into());
    }
    let writer = writer(calls, about, asks)?;
    let configuration = &about.part.said(configuration, about.kind.has_status());
    let managers = managed::begun(configuration, &writer);
    let managers = managers.map_err(|unapplied| self::unapplied(about, unapplied))?;
    match created(calls, about, asks, configuration, managers).await {
        Err(fault) if fault.code == 409 => Err(Missed::Overtaken(fault)),
        created => Ok((201, created?)),
    }
}

impl Live {
    /// The document and the managers after a configuration was applied.
    fn applied(
        &self,
        configuration: &Value,
        writer: &Writer,
        is_forced: bool,
        about: &About<'_>,
    ) -> Result<(Value, Option<String>), Fault> {
        expects(
            &configuration["metadata"],
            &self.document["metadata"],
            about,
        )?;
        let applied = self
            .managed
            .applied(&self.document, configuration, writer, is_forced);
        let applied = applied.map_err(|unapplied| self::unapplied(about, unapplied));
        let (document, managers) = applied?;
        // Nothing else changes, even what a manager has applied before it was written apart.
        let has_status = about.kind.has_status();
        let document = about.part.written(document, &self.document, has_status);
        Ok((document, managers))
    }

    /// Whether the part can be written in the version that was asked for: what is stored in another one stays as it is.
    fn takes(&self, about: &About<'_>) -> Result<(), Fault> {
        match about.part {
            Part::Object => Ok(()),
            Part::Status => self.is_in_the_version_of(about),
        }
    }

    fn revision(&self, about: &About<'_>) -> Result<Option<u64>, Fault> {
        Ok(preconditions(&self.document, about)?.resource_version)
    }

    fn is_in_the_version_of(&self, about: &About<'_>) -> Result<(), Fault> {
        let own = self.document["apiVersion"].as_str().unwrap_or_default();
        let asked = about.kind.api_version();
        if own == asked {
            return Ok(());
        }
        let why = format!("it is stored in {own}, and this is for {asked}: Synod does not convert");
        Err(Fault::conflict(about, &why))
    }
}

/// Checks what a patch says of the revision and the uid, which is what it expects.
pub(crate) fn expects(asked: &Value, own: &Value, about: &About<'_>) -> Result<(), Fault> {
    let is_expecting = |field: &str| {
        let asked = &asked[field];
        !asked.is_null() && asked != "" && asked != &own[field]
    };
    if is_expecting("resourceVersion") {
        return Err(Fault::modified(about));
    }
    if is_expecting("uid") {
        let shown = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let why = format!(
            "Precondition failed: UID in precondition: {}, UID in object meta: {}",
            shown(&asked["uid"]),
            shown(&own["uid"])
        );
        return Err(Fault::conflict(about, &why));
    }
    Ok(())
}

fn unapplied(about: &About<'_>, unapplied: Unapplied) -> Fault {
    match unapplied {
        Unapplied::Conflicts(conflicts) => Fault::unapplied(&conflicts),
        Unapplied::TooMany => {
            let rule = format!(
                "Too long: who manages which of its fields takes more than {} bytes, or fields are nested too deep: \
                 create or update it in place of applying",
                managed::MANAGED_BYTES_MAX
            );
            Fault::invalid(about, &[("metadata.managedFields".to_owned(), rule)])
        }
    }
}

/// Who writes: the manager that it names, or its program.
fn writer(calls: &Calls, about: &About<'_>, asks: &Asks<'_>) -> Result<Writer, Fault> {
    let manager = match asks.query.get("fieldManager") {
        Some(named) => {
            if !is_name(named) {
                let rule = format!(
                    "Invalid value: must have printable characters only, and at most {MANAGER_BYTES_MAX} bytes"
                );
                return Err(Fault::of_options(about.verb, "fieldManager", &rule));
            }
            named.to_owned()
        }
        None => {
            let agent = asks.headers.get(USER_AGENT);
            let agent = agent.and_then(|agent| agent.to_str().ok());
            let program = agent.and_then(|agent| agent.split('/').next());
            let program = program.unwrap_or_default().trim();
            let program: String = program.chars().take(MANAGER_BYTES_MAX).collect();
            match program.as_str() {
                "" => UNNAMED.to_owned(),
                _ => program,
            }
        }
    };
    Ok(Writer {
        manager,
        api_version: about.kind.api_version(),
        subresource: about.part.subresource(),
        time: time(calls.now_ms()).as_str().unwrap_or_default().to_owned(),
    })
}

/// The object; `None` if it is not there.
async fn live(calls: &Calls, about: &About<'_>) -> Result<Option<Live>, Fault> {
    let found = calls
        .object(about.kind, about.namespace, about.name, Asked::Newest)
        .await;
    let object = match found {
        Ok(object) => object,
        Err(refusal) if refusal.kind == ErrorKind::NotFound => return Ok(None),
        Err(refusal) => return Err(Fault::of(&refusal, about)),
    };
    let (document, managed) = documents::managed_object(about.kind, &object);
    Ok(Some(Live {
        document,
        managed,
        content: object.content,
    }))
}

fn attributes(
    document: &Value,
    managers: Option<String>,
    about: &About<'_>,
) -> Result<v1::ObjectAttributes, Fault> {
    let mut faults = Vec::new();
    let mut attributes = documents::attributes(&document["metadata"], &mut faults);
    if !faults.is_empty() {
        return Err(Fault::invalid(about, &faults));
    }
    if let Some(managers) = managers {
        attributes.annotations.insert(MANAGED.to_owned(), managers);
    }
    Ok(attributes)
}

/// Writes a document in place of an object.
async fn replace(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    next: Next,
    is_expected: bool,
) -> Result<(u16, Value), Missed> {
    let document = &next.document;
    if !document[RAW_DATA].is_null() {
        let rule = "Forbidden: data that is no JSON object is written by other ways than this one";
        return Err(Fault::invalid(about, &[(RAW_DATA.to_owned(), rule.to_owned())]).into());
    }
    let uid = next.preconditions.uid.clone();
    let request = v1::ObjectsUpdateRequest {
        key: Some(object_key(about.kind, about.namespace, about.name)),
        attributes: Some(attributes(document, next.managers, about)?),
        content: Some(documents::content(document, next.stored.as_ref())),
        preconditions: Some(next.preconditions),
        dry_run: asks.query.is_dry_run(about.verb)?,
        ..v1::ObjectsUpdateRequest::default()
    };
    let updated: Result<v1::ObjectsUpdateResponse, _> =
        calls.call("synod.v1.Objects/Update", &request).await;
    let updated = updated.map_err(|refusal| match refusal.kind {
        ErrorKind::Conflict => Missed::Overtaken(conflict(about, &refusal, &uid, is_expected)),
        // It was there a moment ago.
        ErrorKind::NotFound => Missed::Overtaken(Fault::of(&refusal, about)),
        _ => Missed::Refused(Fault::of(&refusal, about)),
    })?;
    let code = if updated.created { 201 } else { 200 };
    let is_gone = updated.deleted;
    match updated.object {
        // It is told as it was last.
        Some(last) if is_gone => {
            let last = documents::object(about.kind, &last);
            Ok((code, gone(last, &next.document)))
        }
        object => Ok((code, told(calls, about, object).await?)),
    }
}

/// An object that went with this update, which took its last finalizer: as it was sent, with what only the server says of it.
fn gone(mut last: Value, sent: &Value) -> Value {
    let mut document = sent.clone();
    for field in ["annotations", "finalizers", "labels", "ownerReferences"] {
        let said = document["metadata"][field].take();
        let is_empty = match &said {
            Value::Null => true,
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        match last["metadata"].as_object_mut() {
            Some(metadata) if is_empty => drop(metadata.shift_remove(field)),
            Some(metadata) => drop(metadata.insert(field.to_owned(), said)),
            None => {}
        }
    }
    document["metadata"] = last["metadata"].take();
    document
}

/// The object that a write has told of; if it told of none, as it is now. The write was done, whatever becomes of this read.
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
