//! The codec between a client and a service, through tonic.

use bytes::{Buf as _, BufMut as _, Bytes};
use http::uri::PathAndQuery;
use prost::Message as _;
use synod_model::ErrorKind;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Request, Response, Status};

use crate::status::from_status;
use crate::v1;
use crate::v1::sessions_client::SessionsClient;
use crate::v1::sessions_server::{Sessions, SessionsServer};

/// A service that answers every `Close`.
struct Closing;

#[tonic::async_trait]
impl Sessions for Closing {
    async fn open(
        &self,
        _: Request<v1::SessionsOpenRequest>,
    ) -> Result<Response<v1::SessionsOpenResponse>, Status> {
        Ok(Response::new(v1::SessionsOpenResponse {
            session: 7,
            ..Default::default()
        }))
    }

    async fn close(
        &self,
        _: Request<v1::SessionsCloseRequest>,
    ) -> Result<Response<v1::SessionsCloseResponse>, Status> {
        Ok(Response::new(v1::SessionsCloseResponse {
            changed: true,
            ..Default::default()
        }))
    }

    async fn get_outcome(
        &self,
        _: Request<v1::SessionsGetOutcomeRequest>,
    ) -> Result<Response<v1::SessionsGetOutcomeResponse>, Status> {
        Err(Status::unimplemented("not asked for here"))
    }
}

/// Sends and receives bytes as they are.
#[derive(Clone, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, dst: &mut EncodeBuf<'_>) -> Result<(), Status> {
        dst.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, src: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(src.copy_to_bytes(src.remaining())))
    }
}

/// What a service answers to these bytes.
async fn close(bytes: &'static [u8]) -> Result<Bytes, Status> {
    let mut client = Grpc::new(SessionsServer::new(Closing));
    client.ready().await.unwrap();
    let path = PathAndQuery::from_static("/synod.v1.Sessions/Close");
    client
        .unary(Request::new(Bytes::from_static(bytes)), path, Raw)
        .await
        .map(Response::into_inner)
}

#[tokio::test]
async fn a_message_goes_there_and_back() {
    let mut client = SessionsClient::new(SessionsServer::new(Closing));
    assert_eq!(
        client
            .open(v1::SessionsOpenRequest {})
            .await
            .unwrap()
            .into_inner()
            .session,
        7
    );
    let response = close(&[0x08, 0x07]).await.unwrap();
    assert!(v1::SessionsCloseResponse::decode(response).unwrap().changed);
}

#[tokio::test]
async fn what_cannot_be_read_is_the_callers_fault() {
    // Cut off; a text that is not UTF-8, which only the decoder sees.
    for bytes in [&b"\x12\x05a"[..], b"\x12\x01\xff"] {
        let refusal = from_status(&close(bytes).await.unwrap_err());
        assert_eq!(refusal.kind, ErrorKind::InvalidArgument);
        assert_eq!(refusal.violations.len(), 1, "{refusal:?}");
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_not_the_callers_fault() {
    /// Answers every call with bytes that are no message.
    fn answer() -> http::Response<tonic::body::Body> {
        let frame = Bytes::from_static(b"\0\0\0\0\x01\xff");
        let body = tonic::body::Body::new(http_body_util::Full::new(frame));
        http::Response::builder()
            .header("content-type", "application/grpc")
            .body(body)
            .unwrap()
    }
    let service = tower::service_fn(|_: http::Request<tonic::body::Body>| async {
        Ok::<_, Status>(answer())
    });
    let status = SessionsClient::new(service)
        .open(v1::SessionsOpenRequest {})
        .await
        .unwrap_err();
    assert_eq!(from_status(&status).kind, ErrorKind::UnknownOutcome);
}
