//! The service `synod.v1.Migrations`.

use std::collections::BTreeMap;

use synod_machine::{Answer, Command};
use synod_model::{CompleteMigration, ErrorKind, MigrationName, Refusal};
use synod_proto::{Change, GetMigration, ListMigrations, v1};

use super::calls::calls;
use super::pages::{Items, Page};
use super::safety::assumptions;
use super::{typed, unexpected};
use crate::handle::{Asking, Handle};

calls! {
    get: MigrationsGetRequest => MigrationsGetResponse;
    list: MigrationsListRequest => MigrationsListResponse;
    start: MigrationsStartRequest => MigrationsStartResponse;
    claim: MigrationsClaimRequest => MigrationsClaimResponse;
    progress: MigrationsProgressRequest => MigrationsProgressResponse by ReportMigrationProgress, changed;
    complete: MigrationsCompleteRequest => MigrationsCompleteResponse;
    fail: MigrationsFailRequest => MigrationsFailResponse by FailMigration;
    release: MigrationsReleaseRequest => MigrationsReleaseResponse by ReleaseMigration;
    abort: MigrationsAbortRequest => MigrationsAbortResponse by AbortMigration or dry_run;
    delete: MigrationsDeleteRequest => MigrationsDeleteResponse by DeleteMigration or dry_run;
    retry: MigrationsRetryRequest => MigrationsRetryResponse by RetryMigration or dry_run;
    observe: MigrationsObserveRequest => MigrationsObserveResponse by ObserveStorage, changed;
    dismiss: MigrationsDismissRequest => MigrationsDismissResponse by DismissLooks or dry_run, changed;
    reset: MigrationsResetRequest => MigrationsResetResponse by ResetStorageStates or dry_run, changed;
}

async fn get(
    handle: &Handle,
    asking: &Asking,
    message: v1::MigrationsGetRequest,
) -> Result<v1::MigrationsGetResponse, Refusal> {
    let GetMigration { name, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let past = reading.upgrade_past()?;
    let found = match &name {
        MigrationName::Id(id) => past.migration(id),
        MigrationName::Alias(alias) => past.migration_of(alias),
    };
    let migration = found.ok_or_else(|| {
        let revision = reading.revision();
        let message = format!("there is no migration \"{name}\" at revision {revision}");
        Refusal::new(ErrorKind::NotFound, message)
    })?;
    let progress = reading.published().state.migration_progress(&migration.id);
    Ok(v1::MigrationsGetResponse {
        header: Some(handle.header_of(&reading)),
        migration: Some((&*migration).into()),
        progress: progress.map(|kept| (&kept.progress).into()),
    })
}

async fn list(
    handle: &Handle,
    asking: &Asking,
    message: v1::MigrationsListRequest,
) -> Result<v1::MigrationsListResponse, Refusal> {
    let ListMigrations { page } = typed(message)?;
    let page = Page::open(handle, asking, page).await?;
    let past = page.reading.upgrade_past()?;
    let migrations = past.migrations(page.after.as_ref());
    let Items {
        items,
        continue_token,
    } = page.take(
        handle,
        migrations.map(|migration| (migration.id.clone(), v1::Migration::from(&*migration))),
    )?;
    Ok(v1::MigrationsListResponse {
        header: Some(handle.header_of(&page.reading)),
        migrations: items,
        continue_token,
        inconsistent: page.is_inconsistent(),
    })
}

async fn start(
    handle: &Handle,
    asking: &Asking,
    message: v1::MigrationsStartRequest,
) -> Result<v1::MigrationsStartResponse, Refusal> {
    let dry_run = message.dry_run;
    let carried = handle
        .carry_out(asking, typed(message)?, dry_run, Command::StartMigration)
        .await?;
    let done = carried.done;
    let Answer::MigrationStarted(id) = &done.answer else {
        return Err(unexpected(&done.answer));
    };
    Ok(v1::MigrationsStartResponse {
        header: Some(handle.header(done.revision)),
        name: id.to_string(),
    })
}

async fn claim(
    handle: &Handle,
    asking: &Asking,
    message: v1::MigrationsClaimRequest,
) -> Result<v1::MigrationsClaimResponse, Refusal> {
    let done = handle
        .change(asking, typed(message)?, Command::ClaimMigration)
        .await?;
    let Answer::MigrationClaimed { token, progress } = &done.answer else {
        return Err(unexpected(&done.answer));
    };
    Ok(v1::MigrationsClaimResponse {
        header: Some(handle.header(done.revision)),
        token: token.get(),
        progress: Some(progress.into()),
    })
}

async fn complete(
    handle: &Handle,
    asking: &Asking,
    message: v1::MigrationsCompleteRequest,
) -> Result<v1::MigrationsCompleteResponse, Refusal> {
    let change: Change<CompleteMigration> = typed(message)?;
    let resource = change.body.id.resource().clone();
    let done = handle
        .change(asking, change, Command::CompleteMigration)
        .await?;
    let Some(made) = done.answer.completion_assumptions() else {
        return Err(unexpected(&done.answer));
    };
    let published = handle.consensus().published();
    let is_observed = published.state.present().is_observed(&resource);
    let assumed = made.iter().map(|what| (*what, [resource.clone()].into()));
    Ok(v1::MigrationsCompleteResponse {
        header: Some(handle.header(done.revision)),
        assumptions: assumptions(&assumed.collect(), &BTreeMap::new(), is_observed),
    })
}
