//! Finds the lengths of gRPC messages in the bytes of a request's body.

/// The length of a message's head: whether it is compressed, and its length.
const HEAD: usize = 5;

/// Follows the messages in a stream of bytes, in whatever pieces these arrive.
#[derive(Clone, Debug, Default)]
pub(super) struct Framing {
    /// The head of the next message, as far as it has arrived.
    head: [u8; HEAD],
    headed: usize,
    /// The bytes of the current message that have not arrived yet.
    left: usize,
}

impl Framing {
    /// Reads on over these bytes. Returns the length of the longest message that begins in them.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) -> usize {
        let mut longest = 0;
        while !bytes.is_empty() {
            let passed = self.left.min(bytes.len());
            self.left -= passed;
            bytes = &bytes[passed..];
            let taken = (HEAD - self.headed).min(bytes.len());
            self.head[self.headed..self.headed + taken].copy_from_slice(&bytes[..taken]);
            self.headed += taken;
            bytes = &bytes[taken..];
            if self.headed == HEAD {
                let [_, length @ ..] = self.head;
                self.left = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
                self.headed = 0;
                longest = longest.max(self.left);
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: u32) -> Vec<u8> {
        let body = vec![7; usize::try_from(length).unwrap()];
        [&[0][..], &length.to_be_bytes(), &body].concat()
    }

    #[test]
    fn every_message_is_seen_however_the_bytes_are_cut() {
        let bytes = [message(3), message(0), message(300), message(2)].concat();
        for cut in 1..=bytes.len() {
            let mut framing = Framing::default();
            let seen = bytes.chunks(cut).map(|piece| framing.pass(piece));
            assert_eq!(seen.max(), Some(300), "in pieces of {cut}");
            assert_eq!((framing.left, framing.headed), (0, 0), "in pieces of {cut}");
        }
    }

    #[test]
    fn a_message_is_as_long_as_it_says_before_any_of_it_has_come() {
        assert_eq!(
            Framing::default().pass(&[0, 255, 255, 255, 255]),
            u32::MAX as usize
        );
    }
}
