//! The statuses that the gRPC library gives for failed connections, through its own channel.

use std::io;

use hyper_util::rt::TokioIo;
use synod_model::{ErrorKind, Refusal};
use tokio::io::{AsyncReadExt as _, DuplexStream, duplex};
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;

use super::from_status;
use crate::v1;
use crate::v1::sessions_client::SessionsClient;

/// The refusal of a request over the connections that `connect` makes.
async fn refused_over(
    connect: impl Fn() -> io::Result<DuplexStream> + Send + Sync + Clone + 'static,
) -> Refusal {
    let connector = service_fn(move |_: Uri| {
        let connection = connect().map(TokioIo::new);
        async { connection }
    });
    let channel: Channel =
        Endpoint::from_static("http://replica").connect_with_connector_lazy(connector);
    let status = SessionsClient::new(channel)
        .open(v1::SessionsOpenRequest {})
        .await
        .unwrap_err();
    from_status(&status)
}

#[tokio::test]
async fn a_replica_that_cannot_be_reached_executed_nothing() {
    let refusal = refused_over(|| Err(io::Error::from(io::ErrorKind::ConnectionRefused))).await;
    assert_eq!(refusal.kind, ErrorKind::Unavailable);
}

#[tokio::test]
async fn a_connection_that_breaks_under_a_request_leaves_it_unknown() {
    let refusal = refused_over(|| {
        let (ours, mut theirs) = duplex(1 << 16);
        tokio::spawn(async move {
            // Reads enough to have the request, then closes.
            let mut received = [0; 64];
            let _ = theirs.read_exact(&mut received).await;
        });
        Ok(ours)
    })
    .await;
    assert_eq!(refusal.kind, ErrorKind::UnknownOutcome);
}
