//! The service `synod.v1.StorageVersions`.

use std::sync::Arc;

use synod_machine::{Answer, Command, Past, State, resource_agreement};
use synod_model::{AgreementChange, ErrorKind, GroupResource, Refusal, Report};
use synod_proto::{
    AgreementHistory, Change, Consistency, GetStorageVersion, ListStorageVersions, v1,
};

use super::calls::calls;
use super::pages::{Items, Page};
use super::{agreement, safety, typed, unexpected, upgrade};
use crate::handle::{Asking, Handle};
use crate::objects;
use crate::read::Reading;

calls! {
    report: StorageVersionsReportRequest => StorageVersionsReportResponse;
    adopt: StorageVersionsAdoptRequest => StorageVersionsAdoptResponse by Adopt, changed;
    forget: StorageVersionsForgetRequest => StorageVersionsForgetResponse by ForgetResource or dry_run;
    add_equivalents: StorageVersionsAddEquivalentsRequest => StorageVersionsAddEquivalentsResponse by AddEquivalents or dry_run;
    remove_equivalent: StorageVersionsRemoveEquivalentRequest => StorageVersionsRemoveEquivalentResponse by RemoveEquivalent or dry_run;
    get: StorageVersionsGetRequest => StorageVersionsGetResponse;
    list: StorageVersionsListRequest => StorageVersionsListResponse;
    history: StorageVersionsHistoryRequest => StorageVersionsHistoryResponse;
    check_drop = safety::check_drop: StorageVersionsCheckDropRequest => StorageVersionsCheckDropResponse;
    check_agreement = agreement::check_agreement: StorageVersionsCheckAgreementRequest => StorageVersionsCheckAgreementResponse;
    check_upgrade = upgrade::check_upgrade: StorageVersionsCheckUpgradeRequest => StorageVersionsCheckUpgradeResponse;
    check_binary = safety::check_binary: StorageVersionsCheckBinaryRequest => StorageVersionsCheckBinaryResponse;
}

async fn report(
    handle: &Handle,
    asking: &Asking,
    message: v1::StorageVersionsReportRequest,
) -> Result<v1::StorageVersionsReportResponse, Refusal> {
    let change: Change<Report> = typed(message)?;
    check_size(handle, asking, &change).await?;
    let done = handle.change(asking, change, Command::Report).await?;
    let Answer::Reported(told) = &done.answer else {
        return Err(unexpected(&done.answer));
    };
    Ok(v1::StorageVersionsReportResponse {
        header: Some(handle.header(done.revision)),
        changed: done.changed,
        resources: told.iter().map(objects::told).collect(),
    })
}

/// Refuses a report with more entries than `report_entries_max`. Apply decides this, too; checked here so that a caller
/// is told even while nothing can be written, because trying again would be in vain.
async fn check_size(
    handle: &Handle,
    asking: &Asking,
    change: &Change<Report>,
) -> Result<(), Refusal> {
    let present = handle.consensus().published();
    if fits(&present.state, change) {
        return Ok(());
    }
    // Another replica may have applied a higher setting, or this request itself, so ask for the newest state. If that
    // fails, the state of this replica decides.
    let newest = match handle.read(asking, Consistency::Linearizable).await {
        Ok(reading) => Arc::clone(reading.published()),
        Err(_) => present,
    };
    if fits(&newest.state, change) {
        return Ok(());
    }
    let most = newest.state.settings().report_entries_max;
    Err(change.body.too_large(change.body.entries.len(), most))
}

/// Whether a report has no more entries than are allowed, or was executed when it had not.
fn fits(state: &State, change: &Change<Report>) -> bool {
    let most = state.settings().report_entries_max;
    change.body.entries.len() as u64 <= u64::from(most) || state.may_have_executed(change.key)
}

async fn get(
    handle: &Handle,
    asking: &Asking,
    message: v1::StorageVersionsGetRequest,
) -> Result<v1::StorageVersionsGetResponse, Refusal> {
    let GetStorageVersion { resource, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    let past = reading.upgrade_past()?;
    let state = past
        .storage_state(&resource)
        .ok_or_else(|| not_found(&resource, &reading))?;
    let version = past.storage_version(&resource);
    Ok(v1::StorageVersionsGetResponse {
        header: Some(handle.header_of(&reading)),
        storage_version: version.as_ref().map(objects::storage_version),
        storage_state: Some(objects::storage_state(&state)),
        log_time_ms: log_time_ms(&reading),
        heartbeat: heartbeat(&reading, &resource),
        reasons: reasons(&past, &resource),
    })
}

async fn list(
    handle: &Handle,
    asking: &Asking,
    message: v1::StorageVersionsListRequest,
) -> Result<v1::StorageVersionsListResponse, Refusal> {
    let ListStorageVersions {
        page,
        include_unreported,
    } = typed(message)?;
    let page = Page::open(handle, asking, page).await?;
    let past = page.reading.upgrade_past()?;
    let after = page.after.as_ref();
    let Items {
        items,
        continue_token,
    } = if include_unreported {
        let known = past.known_resources(after);
        page.take(
            handle,
            known.map(|resource| (resource.clone(), item(&past, &resource))),
        )?
    } else {
        page.take(
            handle,
            past.storage_versions(after)
                .map(|version| (version.resource.clone(), item(&past, &version.resource))),
        )?
    };
    Ok(v1::StorageVersionsListResponse {
        header: Some(handle.header_of(&page.reading)),
        items,
        continue_token,
        inconsistent: page.is_inconsistent(),
        log_time_ms: log_time_ms(&page.reading),
    })
}

async fn history(
    handle: &Handle,
    asking: &Asking,
    message: v1::StorageVersionsHistoryRequest,
) -> Result<v1::StorageVersionsHistoryResponse, Refusal> {
    let AgreementHistory { resource, read } = typed(message)?;
    let reading = handle.read(asking, read).await?;
    if reading.upgrade_past()?.storage_state(&resource).is_none() {
        return Err(not_found(&resource, &reading));
    }
    let state = &reading.published().state;
    let changes = state
        .agreements(&resource)
        .filter(|change| change.revision <= reading.revision());
    let shows_caller = asking.standing.may_operate();
    let shown = |change: &Arc<AgreementChange>| {
        let shown = v1::AgreementChange::from(&**change);
        let caller = shown.caller.filter(|_| shows_caller);
        v1::AgreementChange { caller, ..shown }
    };
    Ok(v1::StorageVersionsHistoryResponse {
        header: Some(handle.header_of(&reading)),
        changes: changes.map(shown).collect(),
    })
}

fn item(past: &Past<'_>, resource: &GroupResource) -> v1::StorageVersionListItem {
    let version = past.storage_version(resource);
    let state = past.storage_state(resource);
    v1::StorageVersionListItem {
        storage_version: version.as_ref().map(objects::storage_version),
        storage_state: state.as_ref().map(objects::storage_state),
        reasons: reasons(past, resource),
    }
}

/// The obstacles to an agreement on the resource.
fn reasons(past: &Past<'_>, resource: &GroupResource) -> Vec<v1::Obstacle> {
    let agreement = resource_agreement(past, resource);
    let obstacles = agreement.obstacles.iter();
    obstacles.map(agreement::obstacle).collect()
}

fn heartbeat(reading: &Reading, resource: &GroupResource) -> Option<v1::Heartbeat> {
    let state = &reading.published().state;
    let heartbeat = state.heartbeat(resource)?;
    Some(v1::Heartbeat {
        log_time_ms: heartbeat.at.as_millis(),
        time_ms: heartbeat.wall.as_millis(),
        stale: state.is_observation_over(resource),
    })
}

fn log_time_ms(reading: &Reading) -> u64 {
    reading.published().state.log_time().as_millis()
}

fn not_found(resource: &GroupResource, reading: &Reading) -> Refusal {
    let message = format!(
        "\"{}\" is not known at revision {}: nobody has reported it, or it was forgotten",
        resource.qualified(),
        reading.revision()
    );
    Refusal::new(ErrorKind::NotFound, message)
}
