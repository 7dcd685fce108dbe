//! Creating, replacing and patching.

use std::hash::{BuildHasher, RandomState};

use serde_json::Value;
use synod_proto::v1;

use crate::answer::{self, Response, Shape};
use crate::body::{Asks, Written, place, preconditions};
use crate::kinds::Source;
use crate::objects::{self, expects};
use crate::parts::Part;
use crate::patch::{Change, Patch, Patched};
use crate::present::{TRIES, read, written};
use crate::request::FieldValidation;
use crate::rights::admit;
use crate::sources::Calls;
use crate::status::{About, Fault};
use crate::{candidates, identity, leases, migrations, reports, snapshots, tried};

/// The letters of made-up names: no word comes of them.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Those that are no digits. One ends each name, since what ends with `-` and a number may be the name of a migration.
const LAST_LETTERS: usize = 20;

/// Creates an object.
pub(crate) async fn create(
    calls: &Calls,
    shape: &Shape,
    about: &About<'_>,
    asks: &Asks<'_>,
) -> Result<Response, Fault> {
    let Written {
        document,
        mut warnings,
    } = asks.document(about)?;
    if preconditions(&document, about)?.resource_version.is_some() {
        return Err(Fault::bad_request(
            "resourceVersion should not be set on objects to be created",
        ));
    }
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
    let is_made_up =
        given.is_empty() && !migrations::is_named_by_synod(about.kind, &document, begins);
    let mut tries = if is_made_up { TRIES } else { 1 };
    loop {
        tries -= 1;
        let name = if is_made_up {
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
                warnings.extend(unkept(&about, asks, &document, &created));
                return Ok(made(calls, shape, created, &warnings));
            }
        }
    }
}

/// The answer to a creation.
fn made(calls: &Calls, shape: &Shape, created: Value, warnings: &[String]) -> Response {
    let mut response = answer::document(&calls.origin, shape.media, 201, &shape.one(created));
    answer::warn(&mut response, warnings);
    response
}

async fn create_named(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    document: &Value,
) -> Result<Value, Fault> {
    let is_dry = asks.query.is_dry_run(about.verb)?;
    if about.kind.source == Source::Migrations {
        // What is started is asked about by its resource, which the name does not say.
        let unnamed = About {
            name: "",
            ..about.clone()
        };
        admit(calls, &unnamed)?;
        return migrations::create(calls, about, document, is_dry).await;
    }
    admit(calls, about)?;
    match about.kind.source {
        Source::Leases => create_lease(calls, about, document, is_dry).await,
        Source::LeaseCandidates => candidates::create(calls, about, document, is_dry).await,
        Source::ControllerRevisions => snapshots::create(calls, about, document, is_dry).await,
        // It stores nothing in any case.
        Source::StorageVersions => reports::create(calls, about).await,
        _ => objects::create(calls, about, asks, document).await,
    }
}

/// Creates a lease, or the member that it is.
async fn create_lease(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    is_dry: bool,
) -> Result<Value, Fault> {
    if identity::is_of_member(document, about) {
        // Another lease of this name, which gRPC can make, keeps no server out.
        return match identity::present(calls, about).await? {
            Some(_) => Err(Fault::already_exists(about)),
            None if is_dry => tried::create_member(calls, about, document),
            None => {
                identity::create(calls, about, document).await?;
                written(calls, about).await
            }
        };
    }
    match read(calls, about).await {
        Ok(_) => Err(Fault::already_exists(about)),
        Err(fault) if fault.code != 404 => Err(fault),
        Err(_) if is_dry => tried::create_lease(calls, about, document),
        Err(_) => {
            leases::create(calls, about, document).await?;
            written(calls, about).await
        }
    }
}

/// Updates a lease, or the member that it is.
async fn update_lease(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    expected: &v1::Preconditions,
    is_dry: bool,
) -> Result<Value, Fault> {
    match identity::present(calls, about).await? {
        Some(present) if is_dry => {
            return tried::update_member(calls, about, document, expected, &present.member);
        }
        Some(present) => identity::update(calls, about, document, expected, &present).await?,
        None if identity::is_of_member(document, about) => return Err(Fault::not_found(about)),
        None if is_dry => return tried::update_lease(calls, about, document, expected).await,
        None => leases::update(calls, about, document, expected).await?,
    }
    written(calls, about).await
}

/// What is to be told of what a document says and nobody keeps: where there is no place for it, who writes is not to believe
/// that it was written.
fn unkept(about: &About<'_>, asks: &Asks<'_>, sent: &Value, shown: &Value) -> Vec<String> {
    let has_no_place = matches!(
        about.kind.source,
        Source::Leases | Source::LeaseCandidates | Source::Migrations
    );
    let is_told = asks.query.field_validation(about.verb).ok() != Some(FieldValidation::Ignore);
    if !has_no_place || !is_told {
        return Vec::new();
    }
    // A write of the object does not touch its status, nor one of the status the object.
    let fields: &[(&str, &str)] = match about.part {
        Part::Object => &[
            ("metadata", "labels"),
            ("metadata", "annotations"),
            ("metadata", "finalizers"),
            ("metadata", "ownerReferences"),
            ("spec", "preferredHolder"),
            ("spec", "strategy"),
        ],
        Part::Status => &[("status", "conditions"), ("status", "resourceVersion")],
    };
    let unkept = fields.iter().filter(|(of, field)| {
        let (sent, shown) = (&sent[of][field], &shown[of][field]);
        match sent {
            Value::Null => false,
            Value::Array(list) => !list.is_empty() && sent != shown,
            // Annotations of Synod are told, and change by themselves.
            Value::Object(map) => map
                .iter()
                .any(|(key, value)| !key.starts_with("synod.io/") && shown[key] != *value),
            _ => sent != "" && sent != shown,
        }
    });
    let told = unkept.map(|(of, field)| {
        format!(
            "{of}.{field} is not kept as it was sent: Synod has no place for it in {}",
            about.kind.plural
        )
    });
    told.collect()
}

/// A name with this beginning, cut as Kubernetes cuts it.
fn made_up(begins: &str) -> String {
    const RANDOM: usize = 5;
    const NAME_MAX: usize = 63;
    let begins: String = begins.chars().take(NAME_MAX - RANDOM).collect();
    // The standard library seeds its hashers by the system's randomness. A name that is taken is refused, and another one
    // made up.
    let mut left = RandomState::new().hash_one(&begins);
    let letters = (1..=RANDOM).map(|place| {
        let count = match place {
            RANDOM => LAST_LETTERS as u64,
            _ => LETTERS.len() as u64,
        };
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
    admit(calls, about)?;
    let Written {
        document,
        mut warnings,
    } = asks.document(about)?;
    let (code, updated) = match about.kind.source {
        Source::ControllerRevisions
        | Source::LeaseCandidates
        | Source::Leases
        | Source::Migrations
        | Source::StorageVersions => {
            let expected = preconditions(&document, about)?;
            (200, put(calls, about, asks, &document, &expected).await?)
        }
        _ => objects::update(calls, about, asks, &document).await?,
    };
    warnings.extend(unkept(about, asks, &document, &updated));
    let mut response = answer::document(&calls.origin, shape.media, code, &shape.one(updated));
    answer::warn(&mut response, &warnings);
    Ok(response)
}

/// Patches an object.
pub(crate) async fn patch(
    calls: &Calls,
    shape: &Shape,
    about: &About<'_>,
    asks: &Asks<'_>,
) -> Result<Response, Fault> {
    admit(calls, about)?;
    let patch = Patch::of(asks, about)?;
    let Patched {
        code,
        document,
        warnings,
    } = match about.kind.source {
        Source::ControllerRevisions
        | Source::LeaseCandidates
        | Source::Leases
        | Source::Migrations
        | Source::StorageVersions => patch_own(calls, about, asks, &patch).await?,
        _ => objects::patch(calls, about, asks, &patch).await?,
    };
    let mut response = answer::document(&calls.origin, shape.media, code, &shape.one(document));
    answer::warn(&mut response, &warnings);
    Ok(response)
}

/// Puts a document in place of what is no object of a collection, if it is the one that is expected: the document of a
/// StorageVersion is that of its status.
async fn put(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    document: &Value,
    expected: &v1::Preconditions,
) -> Result<Value, Fault> {
    let is_dry = asks.query.is_dry_run(about.verb)?;
    match about.kind.source {
        Source::ControllerRevisions => {
            snapshots::update(calls, about, document, expected, is_dry).await
        }
        Source::LeaseCandidates => {
            candidates::update(calls, about, document, expected, is_dry).await
        }
        Source::Migrations => migrations::update(calls, about, document, expected).await,
        // What is voted on and who says it depends on more than the document.
        Source::StorageVersions if is_dry => Err(Fault::no_dry_run()),
        Source::StorageVersions => {
            reports::update(calls, about, document, expected).await?;
            written(calls, about).await
        }
        _ => update_lease(calls, about, document, expected, is_dry).await,
    }
}

/// Patches what is no object of a collection.
async fn patch_own(
    calls: &Calls,
    about: &About<'_>,
    asks: &Asks<'_>,
    patch: &Patch,
) -> Result<Patched, Fault> {
    let mut tries = TRIES;
    loop {
        tries -= 1;
        let done = match (read(calls, about).await, &patch.change) {
            (Err(fault), Change::Apply(configuration)) if fault.code == 404 => {
                let document = &configuration.document;
                // What is expected is not there.
                if preconditions(document, about)? != v1::Preconditions::default() {
                    return Err(Fault::modified(about));
                }
                let created = create_named(calls, about, asks, document).await;
                created.map(|created| {
                    let mut warnings = configuration.warnings.clone();
                    warnings.extend(unkept(about, asks, document, &created));
                    Patched {
                        code: 201,
                        document: created,
                        warnings,
                    }
                })
            }
            (current, _) => {
                let current = current?;
                let mut patched = current.clone();
                patch.apply(&mut patched, about)?;
                place(&mut patched, about)?;
                expects(&patched["metadata"], &current["metadata"], about)?;
                let mut warnings = patch.warnings(asks, &patched, about)?;
                let expected = preconditions(&current, about)?;
                let put = put(calls, about, asks, &patched, &expected).await;
                put.map(|document| {
                    warnings.extend(unkept(about, asks, &patched, &document));
                    Patched {
                        code: 200,
                        document,
                        warnings,
                    }
                })
            }
        };
        match done {
            // Somebody was faster, and the patch does not mind.
            Err(fault) if fault.code == 409 && tries > 0 => {}
            done => return done,
        }
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
        for _ in 0..1_000 {
            let name = made_up("pods-");
            assert!(
                !name.ends_with(|letter: char| letter.is_ascii_digit()),
                "{name}"
            );
        }
        assert_eq!(made_up(&"x".repeat(100)).len(), 63);
    }
}
