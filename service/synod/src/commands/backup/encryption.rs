//! The format of age (<https://age-encryption.org/v1>), which the program `age` writes and reads. Synod only recognizes it.

use std::io::{self, Read};

use crate::failure::Failure;

/// The first bytes of a file in the format of age: as bytes, and as text.
const MARKS: [&[u8]; 2] = [
    b"age-encryption.org/",
    b"-----BEGIN AGE ENCRYPTED FILE-----",
];

/// The length of the longest mark.
const MARK_BYTES_MAX: usize = 34;

/// Returns whether bytes that begin so are in the format of age.
pub(super) fn is_encrypted(begin: &[u8]) -> bool {
    MARKS.iter().any(|mark| begin.starts_with(mark))
}

/// Reads enough of the bytes that come to call [`is_encrypted`], or all if there are fewer.
pub(super) fn read_begin(from: impl Read) -> io::Result<Vec<u8>> {
    let mut begin = Vec::with_capacity(MARK_BYTES_MAX);
    from.take(MARK_BYTES_MAX as u64).read_to_end(&mut begin)?;
    Ok(begin)
}

/// Refuses an encrypted backup, and returns any other one from its first byte on. `place` names the backup in failures,
/// `command` is what reads it.
pub(super) fn refuse_encrypted(
    mut from: Box<dyn Read>,
    place: &str,
    command: &str,
) -> Result<Box<dyn Read>, Failure> {
    let begin = read_begin(&mut from).map_err(|error| {
        let message = format!("the backup {place} cannot be read: {error}");
        Failure::local(message, "check the path and who may read it")
    })?;
    if is_encrypted(&begin) {
        let message = format!("{place} is encrypted in the format of age (age-encryption.org/v1)");
        let advice = format!("decrypt it first: age -d -i key.txt FILE | {command}");
        return Err(Failure::local(message, advice));
    }
    Ok(Box::new(io::Cursor::new(begin).chain(from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe that never gives more than one byte at a time.
    struct Trickle(&'static [u8]);

    impl Read for Trickle {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let length = to.len().min(1);
            self.0.read(&mut to[..length])
        }
    }

    fn read(content: &'static [u8]) -> Result<Vec<u8>, String> {
        let from = Box::new(Trickle(content));
        let mut read = Vec::new();
        refuse_encrypted(from, "a.backup", "synod backup verify -")
            .map_err(|failure| failure.to_string())?
            .read_to_end(&mut read)
            .map_err(|error| error.to_string())?;
        Ok(read)
    }

    #[test]
    fn what_is_encrypted_is_refused_with_the_command_that_decrypts_it() {
        let armored = b"-----BEGIN AGE ENCRYPTED FILE-----\nYWdl";
        for content in [&b"age-encryption.org/v1\n-> X25519"[..], armored] {
            let refusal = read(content).unwrap_err();
            assert_eq!(
                refusal,
                "error: a.backup is encrypted in the format of age (age-encryption.org/v1)\n\
                 what to do: decrypt it first: age -d -i key.txt FILE | synod backup verify -\n"
            );
        }
    }

    #[test]
    fn what_is_not_encrypted_is_read_from_its_first_byte_on() {
        for content in [&b""[..], b"age", b"SYNODBKP", &[b'x'; 100]] {
            assert_eq!(read(content).unwrap(), content);
        }
    }
}
