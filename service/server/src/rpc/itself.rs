//! The calls of `synod.v1.Cluster` about the replica that is asked, and nobody else.

use synod_model::{Refusal, Violation};
use synod_proto::{SetLogFilter, v1};

use super::{refused, typed};
use crate::handle::{Asking, Handle};
use crate::itself::sent;

pub(super) async fn get_log_filter(
    handle: &Handle,
    _: &Asking,
    v1::ClusterGetLogFilterRequest {}: v1::ClusterGetLogFilterRequest,
) -> Result<v1::ClusterGetLogFilterResponse, Refusal> {
    Ok(v1::ClusterGetLogFilterResponse {
        header: Some(header(handle)),
        log_filter: Some(handle.itself().log_filter()),
    })
}

pub(super) async fn set_log_filter(
    handle: &Handle,
    asking: &Asking,
    message: v1::ClusterSetLogFilterRequest,
) -> Result<v1::ClusterSetLogFilterResponse, Refusal> {
    let SetLogFilter { filter, lasts } = typed(message)?;
    let other = filter.as_deref().map(|filter| (filter, lasts));
    let set = handle.itself().log.set_filter(other).map_err(|rule| {
        let given = filter.as_deref().unwrap_or_default();
        refused(Violation::invalid(given, rule).at("filter").into())
    })?;
    tracing::info!(trace = %asking.trace, filter = set.filter, remaining = ?set.remaining, "the log filter was set");
    Ok(v1::ClusterSetLogFilterResponse {
        header: Some(header(handle)),
        log_filter: Some(sent(set)),
    })
}

pub(super) async fn get_diagnostics(
    handle: &Handle,
    _: &Asking,
    v1::ClusterGetDiagnosticsRequest {}: v1::ClusterGetDiagnosticsRequest,
) -> Result<v1::ClusterGetDiagnosticsResponse, Refusal> {
    let itself = handle.itself();
    Ok(v1::ClusterGetDiagnosticsResponse {
        header: Some(header(handle)),
        configuration: itself.configuration.clone(),
        metrics: (itself.metrics_text)(),
        readiness: itself.probed.readiness(),
        log_filter: Some(itself.log_filter()),
    })
}

/// The header with this replica's own revision.
fn header(handle: &Handle) -> v1::ResponseHeader {
    handle.header(handle.consensus().published().state.revision())
}
