//! Codecs: how values are encoded as bytes.

use std::error::Error as StdError;

use synod_model::{ApiVersion, Content, ErrorKind, ObjectKey};

use crate::Error;

/// Why a value could not be encoded or decoded.
pub type CodecError = Box<dyn StdError + Send + Sync>;

/// Encodes the values of one collection, in each of its versions, and decodes them. It may also compress and encrypt:
/// the cluster sees nothing but its output.
pub trait Codec<T>: Send + Sync + 'static {
    /// The version to encode in as long as the selected version is not known.
    fn preferred(&self) -> ApiVersion;

    /// Encodes the value in this version. Encrypted content should be bound to the key, so that it cannot be passed off
    /// as another object.
    ///
    /// # Errors
    ///
    /// The value has no form in this version, or the codec does not know the version.
    fn encode(
        &self,
        key: &ObjectKey,
        value: &T,
        version: &ApiVersion,
    ) -> Result<Content, CodecError>;

    /// Decodes a value, in whichever version it was encoded.
    ///
    /// # Errors
    ///
    /// The codec does not know the version, or the bytes are damaged.
    fn decode(&self, key: &ObjectKey, content: &Content) -> Result<T, CodecError>;

    /// Whether two contents are the same to a reader, in version and in value. A codec whose output differs each time,
    /// as that of an encryption should, defines here what it compares; by default it is every byte.
    fn is_same(&self, _key: &ObjectKey, one: &Content, other: &Content) -> bool {
        one == other
    }
}

/// The error of a value that cannot be encoded: nothing was sent.
pub(crate) fn not_encoded(key: &ObjectKey, version: &ApiVersion, error: &CodecError) -> Error {
    let message = format!("{key} cannot be encoded in {version}: {error}");
    Error::new(ErrorKind::InvalidArgument, message)
}

/// The error of bytes that cannot be decoded.
pub(crate) fn not_decoded(key: &ObjectKey, content: &Content, error: &CodecError) -> Error {
    let message = format!(
        "{key} is stored in {} and cannot be decoded: {error}",
        content.encoding
    );
    Error::new(ErrorKind::NotDecodable, message)
}
