//! Migrations: a StorageVersionMigration of Kubernetes on one of Synod's.
//!
//! | what Kubernetes does | what it is here |
//! |---|---|
//! | create | start, by request; the name is the alias. With `generateName: <resource>.<group>-` there is none, and Synod's name is shown |
//! | update | nothing: the resource stays what it is, and there is no place for anything else |
//! | update of the status | nothing: workers report it by gRPC. It is checked by Kubernetes' rules |
//! | delete | delete, at any time; one that has not ended is called off by that |

use serde_json::Value;
use synod_model::{ErrorKind, MigrationAlias, Refusal};
use synod_proto::v1;

use crate::kinds::{Kind, Source};
use crate::migration_status;
use crate::parts::Part;
use crate::present;
use crate::request::Asked;
use crate::shown;
use crate::sources::{self, Calls};
use crate::status::{About, Fault};

/// The migration that is shown under a name: its alias, or without one the name that Synod gave it.
///
/// # Errors
///
/// `NOT_FOUND`, and as any read.
pub(crate) async fn find(
    calls: &Calls,
    name: &str,
    asked: Asked,
) -> Result<v1::Migration, Refusal> {
    let request = v1::MigrationsGetRequest {
        name: name.to_owned(),
        read: sources::read(asked),
    };
    let found: v1::MigrationsGetResponse = calls.call("synod.v1.Migrations/Get", &request).await?;
    let migration = found.migration.unwrap_or_default();
    // Clients hold an object for another one if it has another name.
    if shown::migration_name(&migration) != name {
        return Err(sources::nothing(name));
    }
    Ok(migration)
}

/// Whether a document without a name asks for the one that Synod gives a migration of its resource.
pub(crate) fn is_named_by_synod(kind: &Kind, document: &Value, begins: &str) -> bool {
    kind.source == Source::Migrations && begins == format!("{}-", qualified(&resource_of(document)))
}

/// Starts the migration that a document asks for, under the name that it is about, or without one under Synod's own.
pub(crate) async fn create(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    dry_run: bool,
) -> Result<Value, Fault> {
    let (resource, alias) = (wanted(document, about)?, alias_of(about)?);
    let request = v1::MigrationsStartRequest {
        resource: Some(resource.clone()),
        reason: v1::MigrationReason::Manual.into(),
        dry_run,
        alias: alias.as_ref().map(ToString::to_string),
        ..v1::MigrationsStartRequest::default()
    };
    let started: Result<v1::MigrationsStartResponse, _> =
        calls.call("synod.v1.Migrations/Start", &request).await;
    let started = match started {
        Ok(started) => started,
        Err(refusal) => return Err(unstarted(calls, about, &refusal).await),
    };
    if dry_run {
        let name = started.name;
        return Ok(as_if(about.kind, name, request.alias, resource));
    }
    let about = About {
        name: alias
            .as_ref()
            .map_or(&*started.name, MigrationAlias::as_str),
        ..about.clone()
    };
    present::written(calls, &about).await
}

/// The document of a migration that would have been started.
fn as_if(kind: &Kind, name: String, alias: Option<String>, resource: v1::GroupResource) -> Value {
    let migration = v1::Migration {
        metadata: Some(v1::Metadata {
            name,
            generation: 1,
            ..v1::Metadata::default()
        }),
        resource: Some(resource),
        phase: v1::MigrationPhase::Pending.into(),
        alias,
        ..v1::Migration::default()
    };
    shown::migration(kind, &migration)
}

fn resource_of(document: &Value) -> v1::GroupResource {
    let asked = &document["spec"]["resource"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    v1::GroupResource {
        group: text(&asked["group"]),
        resource: text(&asked["resource"]),
    }
}

fn qualified(resource: &v1::GroupResource) -> String {
    match resource.group.as_str() {
        "" => resource.resource.clone(),
        group => format!("{}.{group}", resource.resource),
    }
}

/// The resource that a document asks for.
fn wanted(document: &Value, about: &About<'_>) -> Result<v1::GroupResource, Fault> {
    let resource = resource_of(document);
    if resource.resource.is_empty() {
        let rule = "Required value: resource is required to be set";
        return Err(invalid(about, "spec.resource.resource", rule));
    }
    Ok(resource)
}

/// The alias that a migration is to have; `None` if Synod names it.
fn alias_of(about: &About<'_>) -> Result<Option<MigrationAlias>, Fault> {
    if about.name.is_empty() {
        return Ok(None);
    }
    let alias = MigrationAlias::parse(about.name);
    alias
        .map(Some)
        .map_err(|fault| invalid(about, "metadata.name", &fault.rule))
}

fn invalid(about: &About<'_>, field: &str, rule: &str) -> Fault {
    Fault::invalid(about, &[(field.to_owned(), rule.to_owned())])
}

/// Why a migration was not started.
async fn unstarted(calls: &Calls, about: &About<'_>, refusal: &Refusal) -> Fault {
    match refusal.kind {
        ErrorKind::NotFound => {
            let rule = format!("Not found: {}", refusal.message);
            invalid(about, "spec.resource", &rule)
        }
        ErrorKind::AlreadyExists => {
            let name = shown_name_of(calls, refusal).await;
            let about = About {
                name: &name,
                ..about.clone()
            };
            Fault::already_exists(&about)
        }
        _ => Fault::of(&of_spec(refusal), about),
    }
}

/// A refusal with the paths of its fields in a document, where the resource is a field of `spec`.
fn of_spec(refusal: &Refusal) -> Refusal {
    let mut refusal = refusal.clone();
    for fault in &mut refusal.violations {
        if fault.field.starts_with("resource") {
            fault.field.insert_str(0, "spec.");
        }
    }
    refusal
}

/// The name under which the migration is shown that is in the way of another one.
async fn shown_name_of(calls: &Calls, refusal: &Refusal) -> String {
    let told = |key: &str| refusal.metadata.get(key).cloned().unwrap_or_default();
    let alias = told("alias");
    if !alias.is_empty() {
        return alias;
    }
    let name = told("migration");
    let request = v1::MigrationsGetRequest {
        name: name.clone(),
        read: None,
    };
    let found: Result<v1::MigrationsGetResponse, _> =
        calls.call("synod.v1.Migrations/Get", &request).await;
    // It may be gone, or not for this caller to read.
    let found = found.ok().and_then(|found| found.migration);
    found.map_or(name, |found| shown::migration_name(&found).to_owned())
}

/// Checks an update, which changes nothing: what is migrated stays, and all else follows from it.
pub(crate) async fn update(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    expected: &v1::Preconditions,
) -> Result<Value, Fault> {
    let there = present::read(calls, about).await?;
    present::means(about, &there, expected)?;
    if about.part == Part::Status {
        let faults = migration_status::faults(&there["status"], &document["status"]);
        return match faults.is_empty() {
            true => Ok(there),
            false => Err(Fault::invalid(about, &faults)),
        };
    }
    wanted(document, about)?;
    if document["spec"]["resource"] != there["spec"]["resource"] {
        let rule = format!(
            "Invalid value: {}: field is immutable",
            document["spec"]["resource"]
        );
        return Err(invalid(about, "spec.resource", &rule));
    }
    Ok(there)
}

/// Deletes a migration. Answers its uid.
pub(crate) async fn delete(
    calls: &Calls,
    about: &About<'_>,
    expected: &v1::Preconditions,
    dry_run: bool,
) -> Result<String, Fault> {
    let found = find(calls, about.name, Asked::Newest).await;
    let found = found.map_err(|refusal| Fault::of(&refusal, about))?;
    present::expected(about, &shown::migration(about.kind, &found), expected)?;
    let metadata = found.metadata.unwrap_or_default();
    let request = v1::MigrationsDeleteRequest {
        name: metadata.name,
        preconditions: Some(expected.clone()),
        dry_run,
        ..v1::MigrationsDeleteRequest::default()
    };
    let deleted: Result<v1::MigrationsDeleteResponse, _> =
        calls.call("synod.v1.Migrations/Delete", &request).await;
    deleted.map_err(|refusal| Fault::of(&refusal, about))?;
    Ok(metadata.uid)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::{KINDS, Verb};

    fn about(name: &str) -> About<'_> {
        About {
            kind: &KINDS[3],
            verb: Verb::Create,
            namespace: None,
            name,
            part: Part::Object,
            user: "",
        }
    }

    #[test]
    fn synod_names_a_migration_whose_name_begins_with_its_resource_and_no_other() {
        let of = |begins: &str, group: &str, resource: &str| {
            let resource = json!({"group": group, "resource": resource});
            is_named_by_synod(&KINDS[3], &json!({"spec": {"resource": resource}}), begins)
        };
        assert!(of("pods-", "", "pods"));
        assert!(of("deployments.apps-", "apps", "deployments"));
        for (begins, group) in [
            ("deployments-", "apps"),
            ("deployments.apps-", ""),
            ("", "apps"),
        ] {
            assert!(!of(begins, group, "deployments"), "{begins}");
        }
        assert!(!is_named_by_synod(&KINDS[0], &json!({}), "-"));
    }

    #[test]
    fn a_name_that_a_migration_may_have_by_itself_is_nobodys_own() {
        let of = |name| alias_of(&about(name)).map_err(|fault| fault.code);
        assert_eq!(of(""), Ok(None));
        assert_eq!(of("mine"), Ok(MigrationAlias::parse("mine").ok()));
        for bad in ["pods-17", "Mine", "a b"] {
            assert_eq!(of(bad), Err(422), "{bad}");
        }
    }
}
