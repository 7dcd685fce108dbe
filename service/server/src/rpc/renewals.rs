//! Streams of renewals: each renewal is answered in the stream, in the order of arrival.

use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use synod_machine::Command;
use synod_model::{Refusal, Renew, Ttl};
use synod_proto::status::to_status;
use synod_proto::{Change, v1};
use tonic::Status;

use super::calls::{Handler, calls};
use super::gate::{GateParts, Request, Response, caller_of};
use super::handlers::Known;
use super::streams::{Messages, respond};
use super::typed;
use crate::access::Standing;
use crate::handle::{Asking, Done, Handle};
use crate::limits::{DEADLINE_DEFAULT, RENEWALS_PER_STREAM_MAX};
use crate::seams::Caller;

calls! {
    [checks] renew: MembershipRenewRequest => MembershipRenewResponse;
}

/// Opens a stream whose messages are renewals, each carried out by `handler`.
pub(super) fn opened(
    gate: &Arc<GateParts>,
    known: &'static Known,
    handler: Handler,
    asking: &Asking,
    request: Request,
) -> Response {
    let origin = caller_of(&request);
    let renewals = Messages::of(request.into_body());
    let trace = Arc::clone(&asking.trace);
    let standing = &asking.standing;
    respond(answered(
        gate, known, origin, standing, handler, trace, renewals,
    ))
}

/// The answers to renewals, in their order. The next renewal is read when fewer than [`RENEWALS_PER_STREAM_MAX`] are
/// unanswered. When `stop` is requested, or nothing is granted to the caller any more, no more are
/// read, and the stream ends when all that were read are answered.
fn answered(
    gate: &Arc<GateParts>,
    known: &'static Known,
    (caller, peer): (Caller, Arc<str>),
    standing: &Standing,
    handler: Handler,
    trace: Arc<str>,
    renewals: Messages,
) -> impl Stream<Item = Result<Bytes, Status>> + Send + 'static {
    let (gate, stop) = (Arc::clone(gate), gate.stop.clone());
    let lasting = standing.lasting();
    renewals
        .take_until(async move {
            tokio::select! {
                biased;
                () = stop.requested() => {}
                () = lasting.withdrawn() => {}
            }
        })
        .map(move |renewal| {
            // The caller's rights may be withdrawn while the stream is open.
            let mut asking = gate.asking(known, &trace, None, &peer);
            asking.deadline += DEADLINE_DEFAULT;
            let stands = gate.stand(&mut asking, known, &caller).map_err(to_status);
            let answer = stands.and(renewal);
            let answer = answer.map(|renewal| handler(gate.handle.clone(), asking, renewal));
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
    Ok(
        match asking.told(carry_out(handle, asking, message).await) {
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
        },
    )
}

async fn carry_out(
    handle: &Handle,
    asking: &Asking,
    message: v1::MembershipRenewRequest,
) -> Result<(Done, Ttl), Refusal> {
    asking.check(&message)?;
    let change: Change<Renew> = typed(message)?;
    let Renew { member, epoch } = change.body.clone();
    let done = handle.change(asking, change, Command::Renew).await?;
    // The published state may be later than the renewal: a newer epoch's TTL would prove this one for too long.
    let published = handle.consensus().published();
    let ttl = published.state.fenced(&member, epoch)?.ttl;
    Ok((done, ttl))
}
