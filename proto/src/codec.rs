//! How messages are read and written, with a guard against requests that are small on the wire and huge in memory.
//!
//! An empty sub-message takes two bytes on the wire and hundreds once it is decoded, so a limit on bytes alone lets a
//! few megabytes grow into gigabytes. Before a public request is decoded, its lists are counted as they stand on the
//! wire; one with too many items is refused at no more cost than its own bytes.

mod shape;

use std::marker::PhantomData;

use bytes::{Buf, Bytes};
use prost::{DecodeError, Message, Name};
use synod_model::{Violation, Violations};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstCodec, ProstEncoder};

use crate::status::to_status;
use shape::Shape;

/// The codec of every service of this crate: protobuf, and for public requests the guard.
#[derive(Debug, Clone)]
pub struct GuardedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for GuardedCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for GuardedCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Name + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = GuardedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<T, U>::raw_encoder(BufferSettings::default())
    }

    fn decoder(&mut self) -> Self::Decoder {
        GuardedDecoder {
            guard: Shape::of(U::PACKAGE, U::NAME),
            message: PhantomData,
        }
    }
}

/// Reads messages of one type; see [`GuardedCodec`].
#[derive(Debug)]
pub struct GuardedDecoder<U> {
    /// Set for public requests only.
    guard: Option<&'static Shape>,
    message: PhantomData<U>,
}

impl<U: Message + Default> Decoder for GuardedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        guarded(self.guard, buf).map(Some)
    }
}

/// Reads a whole message as the codec does, for a call that comes in without it.
///
/// # Errors
///
/// The status of a message that cannot be read, or of a public request with too many items.
pub fn decode<U: Message + Name + Default>(message: Bytes) -> Result<U, Status> {
    guarded(Shape::of(U::PACKAGE, U::NAME), message)
}

fn guarded<U: Message + Default>(guard: Option<&Shape>, buf: impl Buf) -> Result<U, Status> {
    match guard {
        Some(shape) => shape
            .check(buf.chunk())
            .and_then(|()| U::decode(buf).map_err(malformed))
            .map_err(refused),
        // A message of a replica that cannot be read is not the caller's fault.
        None => U::decode(buf)
            .map_err(|fault| Status::internal(format!("the message cannot be read: {fault}"))),
    }
}

fn malformed(fault: DecodeError) -> Violations {
    Violation {
        field: String::new(),
        rule: format!("the request is no message of its type: {fault}"),
    }
    .into()
}

fn refused(violations: Violations) -> Status {
    match violations.into_result() {
        Err(refusal) => to_status(refusal),
        Ok(()) => Status::internal("a request was refused without a reason"),
    }
}

#[cfg(test)]
mod tests;
