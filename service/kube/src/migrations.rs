//! Migrations: a StorageVersionMigration of Kubernetes on one of Synod's.
//!
//! | what Kubernetes does | what it is here |
//! |---|---|
//! | create | start, by request; the name ends with the revision, so `generateName` is all that a client can say of it |
//! | delete | abort: one that was aborted by request is not shown any more (`shown`) |
//!
//! One that has ended by itself cannot be deleted: the latest of each resource are kept, and the others go by themselves.

use serde_json::Value;
use synod_model::{ErrorKind, Refusal};
use synod_proto::v1;

use crate::kinds::Kind;
use crate::present;
use crate::shown;
use crate::sources::Calls;
use crate::status::{About, Fault};

/// Starts the migration that a document asks for.
pub(crate) async fn create(
    calls: &Calls,
    about: &About<'_>,
    document: &Value,
    dry_run: bool,
) -> Result<Value, Fault> {
    let resource = wanted(document, about)?;
    let request = v1::MigrationsStartRequest {
        resource: Some(resource.clone()),
        reason: v1::MigrationReason::Manual.into(),
        dry_run,
        ..v1::MigrationsStartRequest::default()
    };
    let started: Result<v1::MigrationsStartResponse, _> =
        calls.call("synod.v1.Migrations/Start", &request).await;
    let started = started.map_err(|refusal| unstarted(about, &refusal))?;
    if dry_run {
        return Ok(as_if(about.kind, started.name, resource));
    }
    let about = About {
        name: &started.name,
        ..about.clone()
    };
    present::written(calls, &about).await
}

/// The document of a migration that would have been started.
fn as_if(kind: &Kind, name: String, resource: v1::GroupResource) -> Value {
    let migration = v1::Migration {
        metadata: Some(v1::Metadata {
            name,
            generation: 1,
            ..v1::Metadata::default()
        }),
        resource: Some(resource),
        phase: v1::MigrationPhase::Pending.into(),
        ..v1::Migration::default()
    };
    shown::migration(kind, &migration)
}

/// The resource that a document asks for.
fn wanted(document: &Value, about: &About<'_>) -> Result<v1::GroupResource, Fault> {
    let (metadata, asked) = (&document["metadata"], &document["spec"]["resource"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, resource) = (text(&asked["group"]), text(&asked["resource"]));
    if resource.is_empty() {
        return Err(invalid(about, "spec.resource.resource", "Required value"));
    }
    let begins = match group.as_str() {
        "" => format!("{resource}-"),
        group => format!("{resource}.{group}-"),
    };
    let name = text(&metadata["name"]);
    if !name.is_empty() {
        let rule = format!(
            "Invalid value: \"{name}\": Synod names migrations: leave it out, and set generateName to \"{begins}\""
        );
        return Err(invalid(about, "metadata.name", &rule));
    }
    let asked = text(&metadata["generateName"]);
    if asked != begins {
        let rule = format!("Invalid value: \"{asked}\": must be \"{begins}\" for this resource");
        return Err(invalid(about, "metadata.generateName", &rule));
    }
    Ok(v1::GroupResource { group, resource })
}

fn invalid(about: &About<'_>, field: &str, rule: &str) -> Fault {
    Fault::invalid(about, &[(field.to_owned(), rule.to_owned())])
}

/// Why a migration was not started.
fn unstarted(about: &About<'_>, refusal: &Refusal) -> Fault {
    match refusal.kind {
        ErrorKind::NotFound => {
            let rule = format!("Not found: {}", refusal.message);
            invalid(about, "spec.resource", &rule)
        }
        ErrorKind::AlreadyExists => {
            let present = refusal.metadata.get("migration");
            let about = About {
                name: present.map_or("", String::as_str),
                ..about.clone()
            };
            Fault::already_exists(&about)
        }
        _ => Fault::of(refusal, about),
    }
}

/// Aborts a migration. Its uid and revision are compared when it is read, a moment before. Answers its uid.
pub(crate) async fn delete(
    calls: &Calls,
    about: &About<'_>,
    expected: &v1::Preconditions,
    dry_run: bool,
) -> Result<String, Fault> {
    let there = present::read(calls, about).await?;
    present::expected(about, &there, expected)?;
    let request = v1::MigrationsAbortRequest {
        name: about.name.to_owned(),
        dry_run,
        ..v1::MigrationsAbortRequest::default()
    };
    let aborted: Result<v1::MigrationsAbortResponse, _> =
        calls.call("synod.v1.Migrations/Abort", &request).await;
    aborted.map_err(|refusal| match refusal.kind {
        ErrorKind::Conflict => {
            let why = "it has come to its end: the latest migrations of a resource are kept, and the others go by \
                       themselves";
            Fault::conflict(about, why)
        }
        _ => Fault::of(&refusal, about),
    })?;
    let uid = there["metadata"]["uid"].as_str().unwrap_or_default();
    Ok(uid.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::{KINDS, Verb};
    use crate::parts::Part;

    #[test]
    fn a_migration_is_named_by_its_resource_alone() {
        let about = About {
            kind: &KINDS[3],
            verb: Verb::Create,
            namespace: None,
            name: "",
            part: Part::Object,
            user: "",
        };
        let of = |metadata: Value, group: &str, resource: &str| {
            let resource = json!({"group": group, "resource": resource});
            let document = json!({"metadata": metadata, "spec": {"resource": resource}});
            let wanted = wanted(&document, &about).map_err(|fault| fault.code);
            wanted.map(|found| (found.group, found.resource))
        };
        let begins = |text: &str| json!({ "generateName": text });
        let own = |group: &str, resource: &str| Ok((group.to_owned(), resource.to_owned()));
        assert_eq!(of(begins("pods-"), "", "pods"), own("", "pods"));
        let apps = of(begins("deployments.apps-"), "apps", "deployments");
        assert_eq!(apps, own("apps", "deployments"));
        for (metadata, resource) in [
            (begins("deployments-"), "deployments"),
            (begins("deployments.apps-"), ""),
            (json!({}), "deployments"),
            (json!({"name": "deployments.apps-7"}), "deployments"),
        ] {
            assert_eq!(of(metadata, "apps", resource), Err(422));
        }
    }
}
