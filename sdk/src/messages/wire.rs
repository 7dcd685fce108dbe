//! Sends and receives messages of any type over gRPC.

use prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage as _, Value};
use synod_proto::{Change, v1};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Response, Status};

use super::Method;

use crate::transport::{ANSWER_BYTES_MAX, Headed, Try};

/// A request that changes something, with its exactly-once key.
#[derive(Clone, Debug)]
pub(crate) struct AnyRequest(pub(crate) DynamicMessage);

/// An answer, with its header.
#[derive(Debug)]
pub(crate) struct AnyAnswer {
    header: Option<v1::ResponseHeader>,
    pub(crate) message: DynamicMessage,
}

impl From<&Change<DynamicMessage>> for AnyRequest {
    fn from(change: &Change<DynamicMessage>) -> Self {
        let mut message = change.body.clone();
        if let Some(key) = change.wire_key() {
            let descriptor = message.descriptor();
            if let Some(field) = descriptor.get_field_by_name("request_id")
                && let Some(kind) = field.kind().as_message()
            {
                let mut written = DynamicMessage::new(kind.clone());
                written
                    .transcode_from(&key)
                    .expect("the field of a key is of the type of keys");
                message.set_field(&field, Value::Message(written));
            }
        }
        Self(message)
    }
}

impl Headed for AnyAnswer {
    fn header(&self) -> Option<&v1::ResponseHeader> {
        self.header.as_ref()
    }
}

impl From<DynamicMessage> for AnyAnswer {
    fn from(message: DynamicMessage) -> Self {
        let header = message.get_field_by_name("header").and_then(|field| {
            let header = field.as_message()?;
            header.transcode_to().ok()
        });
        Self { header, message }
    }
}

impl Method {
    /// Sends a request of this method once.
    pub(crate) async fn send(
        &self,
        attempt: Try,
        message: DynamicMessage,
        limit: Option<std::time::Duration>,
    ) -> Result<Response<AnyAnswer>, Status> {
        let mut request = attempt.request(message);
        if let Some(limit) = limit {
            request.set_timeout(attempt.remaining.min(limit));
        }
        let mut grpc = Grpc::new(attempt.channel).max_decoding_message_size(ANSWER_BYTES_MAX);
        grpc.ready()
            .await
            .map_err(|error| Status::from_error(error.into()))?;
        let path = PathAndQuery::try_from(self.path())
            .map_err(|fault| Status::internal(fault.to_string()))?;
        let answer = grpc.unary(request, path, AnyCodec(self.answer())).await?;
        Ok(answer.map(AnyAnswer::from))
    }
}

/// Encodes messages of any type, and decodes those of one type.
struct AnyCodec(MessageDescriptor);

impl Codec for AnyCodec {
    type Encode = DynamicMessage;
    type Decode = DynamicMessage;
    type Encoder = AnyEncoder;
    type Decoder = AnyDecoder;

    fn encoder(&mut self) -> AnyEncoder {
        AnyEncoder
    }

    fn decoder(&mut self) -> AnyDecoder {
        AnyDecoder(self.0.clone())
    }
}

struct AnyEncoder;

impl Encoder for AnyEncoder {
    type Item = DynamicMessage;
    type Error = Status;

    fn encode(&mut self, item: DynamicMessage, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buf)
            .map_err(|fault| Status::internal(fault.to_string()))
    }
}

struct AnyDecoder(MessageDescriptor);

impl Decoder for AnyDecoder {
    type Item = DynamicMessage;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<DynamicMessage>, Status> {
        DynamicMessage::decode(self.0.clone(), buf)
            .map(Some)
            .map_err(|fault| Status::internal(format!("the message cannot be read: {fault}")))
    }
}
