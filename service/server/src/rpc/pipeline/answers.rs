//! The answers of a pipeline that are ready, encoded as one message.

use bytes::{BufMut, Bytes, BytesMut};
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};
use synod_proto::status::to_bytes;
use tonic::Status;

use super::super::calls::{HEAD_BYTES, head};

/// The field numbers of `synod.v1` that are encoded by hand here.
mod field {
    /// `PipelineOpenResponse.answers`.
    pub(super) const ANSWERS: u32 = 1;
    /// `PipelineAnswer.numbers`.
    pub(super) const NUMBERS: u32 = 1;
    /// `PipelineAnswer.message`.
    pub(super) const MESSAGE: u32 = 2;
    /// `PipelineAnswer.status`.
    pub(super) const STATUS: u32 = 3;
}

/// The next `PipelineOpenResponse`, with the head of a gRPC message.
#[derive(Default)]
pub(super) struct Answers {
    bytes: BytesMut,
}

impl Answers {
    /// The bytes of the message so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds the answer to a call.
    pub(super) fn message(&mut self, number: u64, message: &[u8]) {
        let number = std::iter::once(number);
        self.add(number, field::MESSAGE, message.len(), |bytes| {
            bytes.put_slice(message);
        });
    }

    /// Adds a message of the watches with these numbers.
    pub(super) fn event(&mut self, numbers: impl Iterator<Item = u64> + Clone, pieces: &[Bytes]) {
        let length = pieces.iter().map(Bytes::len).sum();
        self.add(numbers, field::MESSAGE, length, |bytes| {
            for piece in pieces {
                bytes.put_slice(piece);
            }
        });
    }

    /// Adds the failure of a call.
    pub(super) fn status(&mut self, number: u64, status: &Status) {
        let encoded = to_bytes(status);
        let number = std::iter::once(number);
        self.add(number, field::STATUS, encoded.len(), |bytes| {
            bytes.put_slice(&encoded);
        });
    }

    fn add(
        &mut self,
        numbers: impl Iterator<Item = u64> + Clone,
        field: u32,
        length: usize,
        put: impl FnOnce(&mut BytesMut),
    ) {
        let bytes = &mut self.bytes;
        if bytes.is_empty() {
            bytes.put_bytes(0, HEAD_BYTES);
        }
        let of_numbers = numbers.clone().map(encoded_len_varint).sum();
        let framed =
            |field, length: usize| key_len(field) + encoded_len_varint(length as u64) + length;
        let whole = framed(field::NUMBERS, of_numbers) + framed(field, length);
        bytes.reserve(framed(field::ANSWERS, whole));
        let head = |bytes: &mut BytesMut, field, length: usize| {
            encode_key(field, WireType::LengthDelimited, bytes);
            encode_varint(length as u64, bytes);
        };
        head(bytes, field::ANSWERS, whole);
        head(bytes, field::NUMBERS, of_numbers);
        numbers.for_each(|number| encode_varint(number, bytes));
        head(bytes, field, length);
        put(bytes);
    }

    /// The message, if it has any answer.
    pub(super) fn take(&mut self) -> Option<Bytes> {
        let mut message = self.bytes.split();
        let length = message.len().checked_sub(HEAD_BYTES)?;
        message[..HEAD_BYTES].copy_from_slice(&head(length));
        Some(message.freeze())
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;
    use synod_proto::status::from_bytes;
    use synod_proto::v1;

    use tonic::Code;

    use super::*;

    fn read(message: &Bytes) -> Vec<v1::PipelineAnswer> {
        let (head_bytes, rest) = message.split_at(HEAD_BYTES);
        assert_eq!(head_bytes, head(rest.len()));
        v1::PipelineOpenResponse::decode(rest).unwrap().answers
    }

    #[test]
    fn what_is_added_is_what_a_client_reads() {
        use v1::pipeline_answer::Answer;
        let mut answers = Answers::default();
        assert!(answers.take().is_none());
        answers.message(7, b"seven");
        let pieces = [Bytes::from_static(b"ev"), Bytes::from_static(b"ent")];
        answers.event([1, 300, u64::MAX].into_iter(), &pieces);
        answers.status(8, &Status::cancelled("no"));
        let read = read(&answers.take().unwrap());
        assert_eq!(read[0].numbers, [7]);
        assert_eq!(read[0].answer, Some(Answer::Message("seven".into())));
        assert_eq!(read[1].numbers, [1, 300, u64::MAX]);
        assert_eq!(read[1].answer, Some(Answer::Message("event".into())));
        assert_eq!(read[2].numbers, [8]);
        let Some(Answer::Status(status)) = &read[2].answer else {
            panic!("{read:?}");
        };
        let status = from_bytes(status.clone());
        assert_eq!((status.code(), status.message()), (Code::Cancelled, "no"));
        assert!(answers.take().is_none());
    }

    #[test]
    fn an_answer_of_no_bytes_is_still_one() {
        let mut answers = Answers::default();
        answers.message(0, b"");
        assert_eq!(read(&answers.take().unwrap())[0].numbers, [0]);
    }
}
