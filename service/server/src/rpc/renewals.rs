//! Streams of renewals: each renewal is answered in the stream, in the order of arrival.

use std::sync::Arc;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use synod_machine::Command;
use synod_model::{Refusal, Renew, Ttl};
use synod_proto::{Change, v1};
use tokio::time::Instant;
use tonic::Status;

use super::typed;
use crate::handle::{Asking, Done, Handle};
use crate::limits::{DEADLINE_DEFAULT, RENEWALS_PER_STREAM_MAX};
use crate::stop::Stop;

type Renewed = Result<v1::MembershipRenewResponse, Status>;

/// The answers to `renewals`, as given by [`in_order`].
pub(super) fn answered(
    handle: Handle,
    trace: Arc<str>,
    renewals: impl Stream<Item = Result<v1::MembershipRenewRequest, Status>> + Send + 'static,
    stop: Stop,
) -> BoxStream<'static, Renewed> {
    in_order(renewals, stop, move |renewal| {
        let (handle, trace) = (handle.clone(), Arc::clone(&trace));
        async move { renew(&handle, trace, renewal).await }
    })
}

/// The answers to `renewals`, in their order. The next renewal is read when fewer than [`RENEWALS_PER_STREAM_MAX`] are
/// unanswered. When `stop` is requested, no more are read, and the stream ends when all that were read are answered.
pub(super) fn in_order<M, A, Fut>(
    renewals: impl Stream<Item = Result<M, Status>> + Send + 'static,
    stop: Stop,
    renew: impl Fn(M) -> Fut + Send + 'static,
) -> BoxStream<'static, Result<A, Status>>
where
    M: Send + 'static,
    A: Send + 'static,
    Fut: Future<Output = A> + Send + 'static,
{
    renewals
        .take_until(async move { stop.requested().await })
        .map(move |renewal| {
            let answer = renewal.map(&renew);
            async move { Ok(answer?.await) }
        })
        .buffered(RENEWALS_PER_STREAM_MAX)
        .boxed()
}

async fn renew(
    handle: &Handle,
    trace: Arc<str>,
    message: v1::MembershipRenewRequest,
) -> v1::MembershipRenewResponse {
    use v1::membership_renew_response::Result as Answered;
    let correlation = message.correlation;
    let asking = Asking {
        deadline: Instant::now() + DEADLINE_DEFAULT,
        trace,
        line: None,
    };
    match carry_out(handle, &asking, message).await {
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
    }
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
