//! The calls with one request and one answer: each is read, carried out and answered here, whichever way it came in.

use bytes::{BufMut, Bytes, BytesMut};
use futures::future::BoxFuture;
use prost::Message;
use synod_model::Refusal;
use synod_proto::status::to_status;
use tonic::Status;

use crate::handle::{Asking, Handle};

/// Carries out one call: the encoded request in, the encoded answer out.
pub(super) type Handler = fn(Handle, Asking, Bytes) -> BoxFuture<'static, Result<Encoded, Status>>;

/// The calls of a service by the names of their functions.
pub(super) type Calls = &'static [(&'static str, Handler)];

/// An encoded answer, with the head that a gRPC message has.
#[derive(Debug)]
pub(super) struct Encoded(Bytes);

/// The length of a message's head: that it is not compressed, and its length.
pub(super) const HEAD_BYTES: usize = 5;

/// Lists the calls of a service, as `CALLS`. Each call is executed by the function of its name, or by the one after `=`,
/// which gets the handle, the context and the message.
macro_rules! calls {
    ($($method:ident $(= $call:path)?: $request:ident => $response:ident;)*) => {
        pub(super) const CALLS: $crate::rpc::calls::Calls = &[$((
            stringify!($method),
            |handle, asking, message| Box::pin(async move {
                let message: synod_proto::v1::$request = synod_proto::codec::decode(message)?;
                let done = $crate::rpc::calls::calls!(@call $method $($call)?);
                let answer: Result<synod_proto::v1::$response, _> = done(&handle, &asking, message).await;
                $crate::rpc::calls::encoded(&handle, answer)
            }),
        ),)*];
    };
    (@call $method:ident) => { $method };
    (@call $method:ident $call:path) => { $call };
}

pub(super) use calls;

/// The answer to a call, encoded, or its status.
pub(super) fn encoded<A: Message>(
    handle: &Handle,
    answer: Result<A, Refusal>,
) -> Result<Encoded, Status> {
    match answer {
        Ok(answer) => Ok(Encoded::of(&answer)),
        Err(refusal) => Err(to_status(handle.with_hint(refusal))),
    }
}

impl Encoded {
    fn of<A: Message>(answer: &A) -> Self {
        let length = answer.encoded_len();
        let mut bytes = BytesMut::with_capacity(HEAD_BYTES + length);
        bytes.put_slice(&head(length));
        answer.encode_raw(&mut bytes);
        Self(bytes.freeze())
    }

    /// The answer with its head.
    pub(super) fn framed(self) -> Bytes {
        self.0
    }

    /// The answer without its head.
    pub(super) fn message(&self) -> &[u8] {
        &self.0[HEAD_BYTES..]
    }
}

/// The head of a message of this length.
pub(super) fn head(length: usize) -> [u8; HEAD_BYTES] {
    let [a, b, c, d] = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    [0, a, b, c, d]
}
