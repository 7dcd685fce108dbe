//! Encryption of backups in the format of age (<https://age-encryption.org/v1>), which the program `age` reads and writes, too.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use age::stream::StreamWriter;
use age::{DecryptError, Decryptor, Encryptor, Identity, IdentityFile, Recipient};

use crate::failure::Failure;

/// What everything that is encrypted begins with.
pub(super) const MARK: &[u8] = b"age-encryption.org/";

/// Where a backup is written to, encrypted or not.
pub(super) enum Sealed<W: Write> {
    Plain(W),
    Encrypted(StreamWriter<W>),
}

impl<W: Write> Sealed<W> {
    /// Encrypts what is written, if there is a recipient. Each of them can decrypt it.
    pub(super) fn new(to: W, recipients: &[age::x25519::Recipient]) -> Result<Self, Failure> {
        if recipients.is_empty() {
            return Ok(Self::Plain(to));
        }
        let recipients = recipients
            .iter()
            .map(|recipient| recipient as &dyn Recipient);
        let encryptor = Encryptor::with_recipients(recipients);
        let encryptor = encryptor.map_err(|error| unsealed(&error.to_string()))?;
        let writer = encryptor.wrap_output(to);
        let writer = writer.map_err(|error| unsealed(&error.to_string()))?;
        Ok(Self::Encrypted(writer))
    }

    /// Ends the encryption, and returns where it was written to.
    pub(super) fn finish(self) -> io::Result<W> {
        match self {
            Self::Plain(to) => Ok(to),
            Self::Encrypted(writer) => writer.finish(),
        }
    }
}

impl<W: Write> Write for Sealed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(to) => to.write(bytes),
            Self::Encrypted(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(to) => to.flush(),
            Self::Encrypted(writer) => writer.flush(),
        }
    }
}

/// What is in a backup, which is decrypted with the keys of a file if it is encrypted.
pub(super) fn opened(
    mut from: Box<dyn BufRead>,
    place: &str,
    identity: Option<&Path>,
) -> Result<Box<dyn Read>, Failure> {
    let begin = from.fill_buf().map_err(|error| {
        let message = format!("the backup {place} cannot be read: {error}");
        Failure::local(message, "check the path and who may read it")
    })?;
    if !begin.starts_with(MARK) {
        return Ok(Box::new(from));
    }
    let Some(identity) = identity else {
        let message = format!("{place} is encrypted");
        return Err(Failure::local(
            message,
            "name the file with its private key: --identity FILE",
        ));
    };
    let identities = identities(identity)?;
    let keys = identities
        .iter()
        .map(|identity| &**identity as &dyn Identity);
    let opened = Decryptor::new_buffered(from).and_then(|decryptor| decryptor.decrypt(keys));
    match opened {
        Ok(reader) => Ok(Box::new(reader)),
        Err(DecryptError::NoMatchingKeys) => {
            let message = format!(
                "{place} is encrypted for others: no key in {} fits",
                identity.display()
            );
            Err(Failure::local(
                message,
                "name the file with the private key of a recipient",
            ))
        }
        Err(error) => {
            let message = format!("{place} cannot be decrypted: {error}");
            Err(Failure::local(
                message,
                "use another backup, or another copy of this one",
            ))
        }
    }
}

fn identities(path: &Path) -> Result<Vec<Box<dyn Identity + Send + Sync>>, Failure> {
    let unread = |error: &dyn std::fmt::Display| {
        let message = format!(
            "the private keys in {} cannot be read: {error}",
            path.display()
        );
        Failure::local(
            message,
            "name a file that `age-keygen` has made, and check who may read it",
        )
    };
    let file = File::open(path).map_err(|error| unread(&error))?;
    let read = IdentityFile::from_buffer(BufReader::new(file)).map_err(|error| unread(&error))?;
    read.into_identities().map_err(|error| unread(&error))
}

fn unsealed(what: &str) -> Failure {
    Failure::local(
        format!("the backup cannot be encrypted: {what}"),
        "correct the recipients, and check where it goes to",
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Cursor;

    use age::secrecy::ExposeSecret as _;
    use age::x25519;
    use tempfile::TempDir;

    use super::*;

    fn sealed(recipients: &[x25519::Recipient]) -> Vec<u8> {
        let mut sealed = Sealed::new(Vec::new(), recipients).unwrap();
        sealed.write_all(b"whole").unwrap();
        sealed.finish().unwrap()
    }

    fn read(bytes: Vec<u8>, identity: Option<&Path>) -> Result<Vec<u8>, String> {
        let opened = opened(Box::new(Cursor::new(bytes)), "a.backup", identity);
        let mut content = Vec::new();
        opened
            .map_err(|failure| failure.to_string())?
            .read_to_end(&mut content)
            .map_err(|error| error.to_string())?;
        Ok(content)
    }

    #[test]
    fn what_is_encrypted_is_read_with_the_key_of_any_recipient_and_no_other() {
        let folder = TempDir::new().unwrap();
        let keys = [(); 3].map(|()| x25519::Identity::generate());
        let files = [0, 1, 2].map(|number| {
            let file = folder.path().join(number.to_string());
            let key = keys[number].to_string();
            fs::write(&file, format!("# a comment\n{}\n", key.expose_secret())).unwrap();
            file
        });
        let bytes = sealed(&[keys[0].to_public(), keys[1].to_public()]);
        assert!(bytes.starts_with(MARK));
        for file in &files[..2] {
            assert_eq!(read(bytes.clone(), Some(file)).unwrap(), b"whole");
        }
        let refused = read(bytes.clone(), Some(&files[2])).unwrap_err();
        assert!(refused.contains("encrypted for others"), "{refused}");
        let refused = read(bytes.clone(), None).unwrap_err();
        assert!(refused.contains("--identity FILE"), "{refused}");
        let refused = read(bytes.clone(), Some(&folder.path().join("none"))).unwrap_err();
        assert!(refused.contains("private keys in"), "{refused}");
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            // What no longer looks encrypted is no backup, which its reader finds.
            let is_whole = read(flipped, Some(&files[0])).is_ok_and(|content| content == b"whole");
            // A stanza of another recipient may be anything, but the header has a sum.
            assert!(!is_whole, "offset {at}");
        }
    }

    #[test]
    fn without_a_recipient_nothing_is_encrypted_and_no_key_is_needed() {
        let bytes = sealed(&[]);
        assert_eq!(bytes, b"whole");
        assert_eq!(read(bytes, None).unwrap(), b"whole");
    }
}
