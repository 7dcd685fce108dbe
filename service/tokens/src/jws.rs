//! The compact form of a JWS (RFC 7515, section 7.1): header, claims and signature, with dots between them.

use data_encoding::BASE64URL_NOPAD;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::fault::Refused;
use crate::keys::Algorithm;

/// A token as it was split. Nothing of it is checked yet.
pub(crate) struct Jws<'a> {
    pub(crate) algorithm: Algorithm,
    /// The id of the key that it says it is signed by.
    pub(crate) key_id: String,
    /// What is signed.
    pub(crate) message: &'a str,
    pub(crate) signature: Vec<u8>,
    claims: &'a str,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// What must be understood beyond the standard, which is nothing here.
    crit: Option<serde::de::IgnoredAny>,
    /// That the claims are not base64 (RFC 7797), which those of tokens are.
    b64: Option<serde::de::IgnoredAny>,
}

impl<'a> Jws<'a> {
    pub(crate) fn split(token: &'a str) -> Result<Self, Refused> {
        let (message, signature) = token.rsplit_once('.').ok_or(Refused::Malformed)?;
        let (header, claims) = message.split_once('.').ok_or(Refused::Malformed)?;
        let header: Header = json(header)?;
        if header.crit.is_some() || header.b64.is_some() {
            return Err(Refused::Malformed);
        }
        let algorithm = Algorithm::parse(&header.alg).ok_or(Refused::Algorithm)?;
        Ok(Self {
            algorithm,
            key_id: header.kid.ok_or(Refused::UnknownKey)?,
            message,
            signature: decoded(signature)?,
            claims,
        })
    }

    /// The claims. Call this once the signature was checked.
    pub(crate) fn claims<T: DeserializeOwned>(&self) -> Result<T, Refused> {
        json(self.claims)
    }
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, Refused> {
    serde_json::from_slice(&decoded(text)?).map_err(|_| Refused::Malformed)
}

fn decoded(text: &str) -> Result<Vec<u8>, Refused> {
    let decoded = BASE64URL_NOPAD.decode(text.as_bytes());
    decoded.map_err(|_| Refused::Malformed)
}
