//! Streams of renewals: each renewal is answered in the stream, in the order of arrival.

use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use synod_machine::Command;
use synod_model::{Refusal, Renew, Ttl};
use synod_proto::{Change, v1};
use tokio::time::Instant;
use tonic::Status;

use super::calls::{Handler, calls};
use super::gate::{GateParts, Request, Response};
use super::streams::{Messages, respond};
use super::typed;
use crate::handle::{Asking, Done, Handle};
use crate::limits::{DEADLINE_DEFAULT, RENEWALS_PER_STREAM_MAX};

calls! {
    renew: MembershipRenewRequest => MembershipRenewResponse;
}

/// Opens a stream whose messages are renewals, each carried out by `handler`.
pub(super) fn opened(
    gate: &GateParts,
    handler: Handler,
    trace: Arc<str>,
    request: Request,
) -> Response {
    let renewals = Messages::of(request.into_body());
    respond(answered(gate, handler, trace, renewals))
}

/// The answers to renewals, in their order. The next renewal is read when fewer than [`RENEWALS_PER_STREAM_MAX`] are
/// unanswered. When `stop` is requested, no more are read, and the stream ends when all that were read are answered.
fn answered(
    gate: &GateParts,
    handler: Handler,
    trace: Arc<str>,
    renewals: Messages,
) -> impl Stream<Item = Result<Bytes, Status>> + Send + 'static {
    let (handle, stop) = (gate.handle.clone(), gate.stop.clone());
    renewals
        .take_until(async move { stop.requested().await })
        .map(move |renewal| {
            let asking = Asking {
                deadline: Instant::now() + DEADLINE_DEFAULT,
                trace: Arc::clone(&trace),
                line: None,
            };
            let answer = renewal.map(|renewal| handler(handle.clone(), asking, renewal));
            async move { Ok(answer?.await?.framed()) }
        })
        .buffered(RENEWALS_PER_STREAM_MAX)
}

async fn renew(
    handle: &Handle,
    asking: &Asking,
    message: v1::MembershipRenewRequest,
) -> Result<v1::MembershipRenewResponse, Refusal> {
    use v1::membership_renew_response::Result as Answered;
    let correlation = message.correlation;
    Ok(match carry_out(handle, asking, message).await {
        Ok((done, ttl)) => v1::MembershipRenewResponse {
            header: Some(handle.header(done.revision)),
            correlation,
            result: Some(Answered::Renewed(v1::Renewed {
                ttl_ms: ttl.as_millis(),
            })),
        },
        Err(refusal) => v1::MembershipRenewResponse {
            header: Some(handle.header(handle.consensus().published().state.revision())),
            correlation,
            result: Some(Answered::Refusal((&handle.with_hint(refusal)).into())),
        },
    })
}

async fn carry_out(
    handle: &Handle,
    asking: &Asking,
    message: v1::MembershipRenewRequest,
) -> Result<(Done, Ttl), Refusal> {
    let change: Change<Renew> = typed(message)?;
    let Renew { member, epoch } = change.body.clone();
    let done = handle.change(asking, change, Command::Renew).await?;
    // The published state may be later than the renewal: a newer epoch's TTL would prove this one for too long.
    let published = handle.consensus().published();
    let ttl = published.state.fenced(&member, epoch)?.ttl;
    Ok((done, ttl))
}
