//! Calls of any method with any bytes, as a caller with a certificate of its own.

use std::error::Error as _;
use std::net::SocketAddr;

use bytes::{Buf as _, BufMut as _, Bytes};
use futures::{SinkExt as _, StreamExt as _};
use hyper_util::rt::TokioIo;
use prost::Message as _;
use rustls::version::TLS13;
use synod_proto::v1::pipeline_answer::Answer as Answered;
use synod_proto::v1::{self, pipeline_client::PipelineClient};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::Uri;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

use crate::certificates::{Certificates, Shown};
use crate::waiting::within;

/// A connection to one replica.
pub(super) struct Raw {
    channel: Channel,
    /// The token that each call shows.
    token: Option<String>,
}

impl Raw {
    pub(super) async fn connect(
        certificates: &Certificates,
        to: SocketAddr,
        shown: &Shown,
    ) -> Self {
        Self::with(certificates, to, Some(shown)).await
    }

    /// A connection without a certificate, whose calls show a token or nothing.
    pub(super) async fn bearing(
        certificates: &Certificates,
        to: SocketAddr,
        token: Option<&str>,
    ) -> Self {
        let raw = Self::with(certificates, to, None).await;
        match token {
            Some(token) => raw.and_sends(token),
            None => raw,
        }
    }

    /// The same connection, whose calls show this token.
    pub(super) fn and_sends(self, token: &str) -> Self {
        Self {
            token: Some(token.to_owned()),
            ..self
        }
    }

    async fn with(certificates: &Certificates, to: SocketAddr, shown: Option<&Shown>) -> Self {
        let channel = channel(certificates, to, shown).await;
        Self {
            channel: channel.expect("the replica lets it in"),
            token: None,
        }
    }

    /// The connection, for calls that show no token.
    pub(super) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            let value = format!("Bearer {token}").parse().expect("it is ASCII");
            request.metadata_mut().insert("authorization", value);
        }
        request
    }

    /// Calls a method that has one answer.
    pub(super) async fn unary(&self, method: &str, request: Bytes) -> Result<Bytes, Status> {
        self.sent(method, self.request(request)).await
    }

    /// Calls a method that has one answer, with a header that says who calls.
    pub(super) async fn unary_as(
        &self,
        method: &str,
        request: Bytes,
        authorization: &str,
    ) -> Result<Bytes, Status> {
        let mut request = Request::new(request);
        let header = authorization.parse().expect("a header takes it");
        request.metadata_mut().insert("authorization", header);
        self.sent(method, request).await
    }

    /// Calls a method that has one answer, within this span.
    pub(super) async fn unary_traced(
        &self,
        method: &str,
        request: Bytes,
        traceparent: &str,
    ) -> Result<Bytes, Status> {
        let mut request = self.request(request);
        let above = traceparent.parse().expect("a header takes it");
        request.metadata_mut().insert("traceparent", above);
        self.sent(method, request).await
    }

    async fn sent(&self, method: &str, request: Request<Bytes>) -> Result<Bytes, Status> {
        let answer = self.tried(method, request).await;
        answer.expect("the replica is there")
    }

    /// Calls a method that has one answer, perhaps over a connection that the replica has ended.
    async fn tried(
        &self,
        method: &str,
        request: Request<Bytes>,
    ) -> Result<Result<Bytes, Status>, tonic::transport::Error> {
        let path = PathAndQuery::try_from(format!("/{method}")).expect("it is a path");
        let mut grpc = tonic::client::Grpc::new(self.channel.clone());
        let answer = async {
            grpc.ready().await?;
            let answer = grpc.unary(request, path, Plain).await;
            Ok(answer.map(tonic::Response::into_inner))
        };
        within(method, answer).await
    }

    /// Calls a method in a pipeline, and returns the first answer.
    pub(super) async fn piped(&self, method: &str, request: Bytes) -> Result<Bytes, Status> {
        let call = v1::PipelineCall {
            number: 1,
            method: method.to_owned(),
            message: request,
            ..v1::PipelineCall::default()
        };
        let asked = v1::PipelineOpenRequest {
            calls: vec![call],
            cancel: Vec::new(),
        };
        let answer = async {
            // It stays open, as the answer to a watch does.
            let calls = futures::stream::iter([asked]).chain(futures::stream::pending());
            let mut client = PipelineClient::new(self.channel.clone());
            let opened = client.open(self.request(calls)).await?;
            let answers = opened.into_inner().next().await.expect("it is answered")?;
            let answer = answers.answers.into_iter().next().expect("of one call");
            match answer.answer.expect("it has a result") {
                Answered::Message(bytes) => Ok(bytes),
                Answered::Status(bytes) => Err(synod_proto::status::from_bytes(bytes)),
            }
        };
        within(method, answer).await
    }
}

/// A connection to a port for clients, whose other end may still refuse the certificate.
async fn channel(
    certificates: &Certificates,
    to: SocketAddr,
    shown: Option<&Shown>,
) -> Result<Channel, tonic::transport::Error> {
    let (certificates, shown) = (certificates.clone(), shown.cloned());
    let connector = tower::service_fn(move |_: Uri| {
        let (certificates, shown) = (certificates.clone(), shown.clone());
        async move {
            let stream = certificates
                .connect(to, "server-ca", shown.as_ref(), &[&TLS13])
                .await;
            stream.map(TokioIo::new).map_err(std::io::Error::other)
        }
    });
    let endpoint = Endpoint::from_shared(format!("https://{to}")).expect("it is an address");
    within("a connection", endpoint.connect_with_connector(connector)).await
}

/// Calls a method over a connection of its own, and answers what the replica has answered: nothing if it ended the
/// connection instead.
pub(super) async fn at_the_door(
    certificates: &Certificates,
    to: SocketAddr,
    shown: Option<&Shown>,
    (method, request): (&str, Bytes),
) -> Option<Result<Bytes, Status>> {
    let raw = Raw {
        channel: channel(certificates, to, shown).await.ok()?,
        token: None,
    };
    let answer = raw.tried(method, Request::new(request)).await.ok()?;
    let ended = matches!(&answer, Err(status) if status.source().is_some());
    (!ended).then_some(answer)
}

impl Raw {
    /// Sends a call in a pipeline, and cancels it once another one that was sent after it is answered.
    pub(super) async fn given_up(&self, method: &str, request: Bytes) {
        let call = |number, method: &str, message| v1::PipelineCall {
            number,
            method: method.to_owned(),
            message,
            ..v1::PipelineCall::default()
        };
        let calls = v1::PipelineOpenRequest {
            calls: vec![
                call(1, method, request),
                call(2, "synod.v1.Cluster/GetSettings", Bytes::new()),
            ],
            cancel: Vec::new(),
        };
        let (mut requests, queue) = futures::channel::mpsc::channel(2);
        requests.send(calls).await.expect("it is there");
        let mut client = PipelineClient::new(self.channel.clone());
        let opened = client.open(self.request(queue)).await;
        let mut answers = opened.expect("it may").into_inner();
        within("the answer to the other call", answers.next()).await;
        let cancel = v1::PipelineOpenRequest {
            calls: Vec::new(),
            cancel: vec![1],
        };
        requests.send(cancel).await.expect("it is there");
        within("that it is cancelled", answers.next()).await;
    }
}

/// Whether a call was refused for who has sent it, and why.
pub(super) fn denied(method: &str, answer: Result<Bytes, Status>) -> Option<String> {
    let of_reason = |refusal: v1::Refusal| {
        let is_denied = refusal.reason() == v1::ErrorReason::PermissionDenied;
        is_denied.then_some(refusal.message)
    };
    match answer {
        Err(status) => {
            let is_denied = matches!(
                status.code(),
                Code::PermissionDenied | Code::Unauthenticated
            );
            is_denied.then(|| status.message().to_owned())
        }
        // A renewal is refused in its answer, since it goes in a stream with others.
        Ok(answer) if method == "synod.v1.Membership/Renew" => {
            use v1::membership_renew_response::Result as Renewed;
            match v1::MembershipRenewResponse::decode(answer).ok()?.result? {
                Renewed::Refusal(refusal) => of_reason(refusal),
                Renewed::Renewed(_) => None,
            }
        }
        Ok(answer) if method == "synod.v1.Leases/Renew" => {
            use v1::leases_renew_response::Result as Renewed;
            match v1::LeasesRenewResponse::decode(answer).ok()?.result? {
                Renewed::Refusal(refusal) => of_reason(refusal),
                Renewed::Renewed(_) => None,
            }
        }
        Ok(_) => None,
    }
}

/// Passes bytes on as they are.
#[derive(Clone, Copy)]
struct Plain;

impl Codec for Plain {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put(item);
        Ok(())
    }
}

impl Decoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

/// A watch of everything, which stays open.
pub(super) enum Stream {
    ByItself(tonic::Streaming<v1::WatchResponse>),
    Piped(tonic::Streaming<v1::PipelineOpenResponse>),
}

impl Raw {
    /// Opens a watch, in a pipeline or by itself.
    pub(super) async fn watch(&self, is_piped: bool) -> Stream {
        if !is_piped {
            let mut client = v1::watch_client::WatchClient::new(self.channel.clone());
            let request = self.request(v1::WatchRequest::default());
            let opened = client.watch(request).await;
            return Stream::ByItself(opened.expect("it may").into_inner());
        }
        let call = v1::PipelineCall {
            number: 7,
            method: "synod.v1.Watch/Watch".to_owned(),
            ..v1::PipelineCall::default()
        };
        let asked = v1::PipelineOpenRequest {
            calls: vec![call],
            cancel: Vec::new(),
        };
        let calls = futures::stream::iter([asked]).chain(futures::stream::pending());
        let mut client = PipelineClient::new(self.channel.clone());
        let opened = client.open(self.request(calls)).await;
        Stream::Piped(opened.expect("it may").into_inner())
    }
}

impl Stream {
    /// Why the replica ends the watch.
    pub(super) async fn end(&mut self) -> v1::WatchEndReason {
        use v1::watch_response::Message;
        loop {
            let messages = match self {
                Self::ByItself(stream) => vec![
                    stream
                        .next()
                        .await
                        .expect("it is told")
                        .expect("it is no error"),
                ],
                Self::Piped(stream) => {
                    let answers = stream.next().await.expect("it is told");
                    let answers = answers.expect("it is no error");
                    let messages = answers
                        .answers
                        .into_iter()
                        .map(|answer| match answer.answer {
                            Some(Answered::Message(bytes)) => v1::WatchResponse::decode(bytes)
                                .expect("it is a message of a watch"),
                            other => panic!("the watch was answered {other:?}"),
                        });
                    messages.collect()
                }
            };
            for message in messages {
                if let Some(Message::Ended(ended)) = message.message {
                    return ended.reason();
                }
            }
        }
    }
}
