//! The gRPC server that other replicas call, with the check of identities before every call.

use std::future::Future;
use std::sync::Arc;

use synod_model::limits::PEER_MESSAGE_BYTES_MAX;
use tonic::service::interceptor::InterceptedService;
use tonic::{Request, Status};

use super::connections::{Whose, watched};
use super::identity::Refusal;
use super::protocol::peer_server::PeerServer;
use super::refusals::Refusals;
use super::service::{ForwardHandler, PeerService};
use super::{CONNECTION_WINDOW, STREAM_WINDOW};
use crate::connections::http2;
use crate::consensus::Consensus;
use crate::limits::{PEER_CALLS_MAX, PEER_PING_INTERVAL, PEER_PING_PATIENCE};
use crate::seams::Incoming;

/// Serves the other replicas until `stop` resolves, then lets the calls in progress end.
///
/// # Errors
///
/// A description, when the server fails.
pub async fn serve(
    consensus: Consensus,
    forward: Arc<dyn ForwardHandler>,
    incoming: Incoming,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), String> {
    let service = PeerServer::new(PeerService::new(consensus.clone(), forward))
        .max_decoding_message_size(PEER_MESSAGE_BYTES_MAX)
        .max_encoding_message_size(PEER_MESSAGE_BYTES_MAX);
    let incoming = watched(incoming, consensus.clone());
    let refusals = Arc::new(Refusals::default());
    let let_in = move |request: Request<()>| admit(&consensus, &refusals, request);
    http2()
        .http2_keepalive_interval(Some(PEER_PING_INTERVAL))
        .http2_keepalive_timeout(Some(PEER_PING_PATIENCE))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(PEER_CALLS_MAX)
        .add_service(InterceptedService::new(service, let_in))
        .serve_with_incoming_shutdown(incoming, stop)
        .await
        .map_err(|error| format!("the peer server ended: {error}"))
}

/// Checks the identities of caller and callee before the message is read.
fn admit(
    consensus: &Consensus,
    refusals: &Refusals,
    mut request: Request<()>,
) -> Result<Request<()>, Status> {
    let checked = consensus.identity().check(request.metadata(), |replica| {
        consensus.known_directory(replica)
    });
    let checked = checked.and_then(|caller| {
        if consensus.has_left(caller.replica) {
            return Err(Refusal::CallerLeft);
        }
        if consensus.has_gone_back(caller.directory) {
            return Err(Refusal::CallerWentBack);
        }
        Ok(caller)
    });
    match checked {
        Ok(caller) => {
            if let Some(whose) = request.extensions().get::<Whose>() {
                whose.is(caller.replica);
            }
            request.extensions_mut().insert(caller);
            Ok(request)
        }
        Err(refusal) => {
            refusals.note(refusal);
            consensus.on_refused_call(refusal);
            Err(refusal.into_status())
        }
    }
}
