//! Creates a migration in the right state for each request of the table.

use std::collections::BTreeMap;

use synod_proto::v1;

use super::scene::DAY_MS;
use crate::cluster::{Clients, entry, group_resource, report};
use crate::migrations::claimed;

/// Resources that one member encodes, so that each has a pending migration.
const RESOURCES: [&str; 10] = [
    "aborting",
    "claiming",
    "completing",
    "deleting",
    "failing",
    "progressing",
    "releasing",
    "resetting",
    "retrying",
    "starting",
];

/// The names and claims that the requests need.
pub(crate) struct Migrating {
    names: BTreeMap<&'static str, String>,
    claims: BTreeMap<&'static str, v1::ClaimKey>,
}

impl Migrating {
    pub(crate) async fn set(clients: &mut Clients) -> Self {
        let member = clients.join("migrated", DAY_MS).await;
        let entries = RESOURCES.map(|resource| entry(resource, "apps/v1"));
        let request = report(&member, entries.into());
        clients.storage_versions.report(request).await.unwrap();
        let list = clients
            .migrations
            .list(v1::MigrationsListRequest::default());
        let listed = list.await.unwrap().into_inner().migrations;
        let name = |resource: &&'static str| {
            let named = group_resource(resource);
            let mut listed = listed.iter();
            let migration = listed.find(|migration| migration.resource.as_ref() == Some(&named));
            (*resource, migration.unwrap().metadata.clone().unwrap().name)
        };
        let names: BTreeMap<_, _> = RESOURCES.iter().map(name).collect();
        let mut claims = BTreeMap::new();
        for resource in [
            "completing",
            "failing",
            "progressing",
            "releasing",
            "retrying",
        ] {
            claims.insert(resource, claim(clients, &names[resource]).await);
        }
        let migrating = Self { names, claims };
        let failed = migrating.fail("retrying");
        clients.migrations.fail(failed).await.unwrap();
        migrating
    }

    pub(crate) fn name(&self, resource: &str) -> String {
        self.names[resource].clone()
    }

    pub(crate) fn claim_of(&self, resource: &str) -> Option<v1::ClaimKey> {
        self.claims.get(resource).cloned()
    }

    /// The request by which a worker gives its migration up for good.
    pub(crate) fn fail(&self, resource: &str) -> v1::MigrationsFailRequest {
        v1::MigrationsFailRequest {
            request_id: None,
            claim: self.claim_of(resource),
            class: v1::FailureClass::Forbidden.into(),
            reason: "it may not".to_owned(),
            ..v1::MigrationsFailRequest::default()
        }
    }
}

async fn claim(clients: &mut Clients, name: &str) -> v1::ClaimKey {
    let request = v1::MigrationsClaimRequest {
        name: name.to_owned(),
        worker: "one".to_owned(),
        ttl_ms: Some(DAY_MS),
        ..v1::MigrationsClaimRequest::default()
    };
    let claimed = claimed(clients, request).await;
    v1::ClaimKey {
        migration: name.to_owned(),
        token: claimed.token,
        cluster_id: claimed.header.unwrap().cluster_id,
    }
}
