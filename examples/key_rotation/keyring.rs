//! The keys that a server holds, and what it does with them: AES-256-GCM, a random nonce for every write. Random nonces of 96 bits are
//! safe for about 2^32 writes with one key, which is a reason to rotate it.

use std::collections::BTreeMap;
use std::fmt;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use synod_client::ApiVersion;

/// A key as an operator hands it out: its name, and 32 bytes that nobody else knows.
#[derive(Clone)]
pub(crate) struct Secret {
    name: ApiVersion,
    bytes: [u8; 32],
}

impl Secret {
    /// A new key of this name.
    pub(crate) fn generate(name: ApiVersion) -> Result<Self, CipherError> {
        let mut bytes = [0; 32];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| CipherError::new("the system has no random numbers"))?;
        Ok(Self { name, bytes })
    }

    pub(crate) fn name(&self) -> &ApiVersion {
        &self.name
    }
}

/// An object as it is stored: the name of its key, and what only that key opens.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) key: ApiVersion,
    /// The nonce, the encrypted object and its tag.
    bytes: Vec<u8>,
}

/// The keys of one server.
pub(crate) struct Keyring {
    keys: BTreeMap<ApiVersion, LessSafeKey>,
    random: SystemRandom,
}

impl Keyring {
    pub(crate) fn holding(secrets: &[&Secret]) -> Result<Self, CipherError> {
        let keys = secrets.iter().map(|secret| {
            let key = UnboundKey::new(&AES_256_GCM, &secret.bytes);
            let key = key.map_err(|_| CipherError::new("a key has 32 bytes"))?;
            Ok((secret.name.clone(), LessSafeKey::new(key)))
        });
        Ok(Self {
            keys: keys.collect::<Result<_, _>>()?,
            random: SystemRandom::new(),
        })
    }

    /// Encrypts an object with the key of this name. It opens under the same object's name alone, so nobody can store one
    /// object in the place of another.
    pub(crate) fn seal(
        &self,
        key: &ApiVersion,
        object: &str,
        plain: &[u8],
    ) -> Result<Sealed, CipherError> {
        let cipher = self.key(key)?;
        let mut nonce = [0; NONCE_LEN];
        let filled = self.random.fill(&mut nonce);
        filled.map_err(|_| CipherError::new("the system has no random numbers"))?;
        let mut encrypted = plain.to_vec();
        let under = Nonce::assume_unique_for_key(nonce);
        let sealed = cipher.seal_in_place_append_tag(under, Aad::from(object), &mut encrypted);
        sealed.map_err(|_| CipherError::new(format!("{object} is too long to encrypt")))?;
        Ok(Sealed {
            key: key.clone(),
            bytes: [nonce.as_slice(), &encrypted].concat(),
        })
    }

    /// Decrypts an object.
    pub(crate) fn open(&self, object: &str, sealed: &Sealed) -> Result<Vec<u8>, CipherError> {
        let cipher = self.key(&sealed.key)?;
        let broken = || CipherError::new(format!("{object} is not what {} encrypted", sealed.key));
        let (nonce, encrypted) = sealed.bytes.split_first_chunk().ok_or_else(broken)?;
        let mut encrypted = encrypted.to_vec();
        let under = Nonce::assume_unique_for_key(*nonce);
        let opened = cipher.open_in_place(under, Aad::from(object), &mut encrypted);
        Ok(opened.map_err(|_| broken())?.to_vec())
    }

    fn key(&self, name: &ApiVersion) -> Result<&LessSafeKey, CipherError> {
        let held = self.keys.get(name);
        held.ok_or_else(|| CipherError::new(format!("this server does not hold the key {name}")))
    }
}

/// What could not be encrypted or decrypted, and why.
#[derive(Debug)]
pub(crate) struct CipherError(String);

impl CipherError {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for CipherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CipherError {}
