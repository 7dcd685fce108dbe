//! The gRPC codec of messages in their stored form, see [`synod_model::stored`](mod@synod_model::stored).

use std::any::type_name;
use std::marker::PhantomData;

use bytes::{Buf as _, BufMut as _, Bytes};
use synod_model::stored::{Stored, from_foreign_bytes, to_bytes};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use crate::limits::PEER_ITEMS_MAX;

/// Encodes messages of one type and decodes those of another.
#[derive(Debug)]
pub struct StoredCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for StoredCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for StoredCodec<T, U>
where
    T: Stored + Send + 'static,
    U: Stored + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = StoredEncoder<T>;
    type Decoder = StoredDecoder<U>;

    fn encoder(&mut self) -> StoredEncoder<T> {
        StoredEncoder(PhantomData)
    }

    fn decoder(&mut self) -> StoredDecoder<U> {
        StoredDecoder(PhantomData)
    }
}

/// Encodes messages.
#[derive(Debug)]
pub struct StoredEncoder<T>(PhantomData<T>);

impl<T: Stored> Encoder for StoredEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put(to_bytes(&message));
        Ok(())
    }
}

/// Decodes messages.
#[derive(Debug)]
pub struct StoredDecoder<U>(PhantomData<U>);

impl<U: Stored> Decoder for StoredDecoder<U> {
    type Item = U;
    type Error = Status;

    /// Commands and parts of a checkpoint share the buffer that the network filled.
    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        read(&from.copy_to_bytes(from.remaining())).map(Some)
    }
}

fn read<U: Stored>(bytes: &Bytes) -> Result<U, Status> {
    from_foreign_bytes(bytes, PEER_ITEMS_MAX).map_err(|fault| {
        // Logged here because the handler of a stream only sees that the stream ended.
        tracing::warn!(message = type_name::<U>(), %fault, "refused a message of another replica");
        Status::invalid_argument(format!("the message cannot be read: {fault}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_small_on_the_wire_and_large_in_memory_is_refused() {
        let items = |count: u64| to_bytes(&vec![false; usize::try_from(count).unwrap()]);
        assert!(read::<Vec<bool>>(&items(PEER_ITEMS_MAX)).is_ok());
        let refused = read::<Vec<bool>>(&items(PEER_ITEMS_MAX + 1)).unwrap_err();
        assert_eq!(
            refused.message(),
            "the message cannot be read: its lists have too many items"
        );
    }
}
