//! The public keys of an issuer: a JSON Web Key Set (RFC 7517).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;

use crate::fault::JwksFault;

/// The most keys of a set: an issuer has two while it changes them.
const KEYS_MAX: usize = 64;

/// The least bytes of the modulus of an RSA key.
const MODULUS_BYTES_MIN: usize = 256;

/// The most bytes of the modulus of an RSA key.
const MODULUS_BYTES_MAX: usize = 1_024;

/// The keys of an issuer, by their ids.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys(BTreeMap<String, Arc<Key>>);

/// A public key, and what it signs by.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key {
    material: Material,
    /// The one algorithm that it is for; `None`: each of its kind.
    only: Option<Algorithm>,
}

#[derive(Clone, PartialEq, Eq)]
enum Material {
    /// The modulus and the exponent, big-endian, without zeros before them.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// A point on a curve, not compressed.
    Ec { curve: Curve, point: Vec<u8> },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Curve {
    P256,
    P384,
}

/// An algorithm that a token may be signed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Es256,
    Es384,
}

/// A set as it is written. What is not known of a key is left alone, as the standard asks.
#[derive(Deserialize)]
struct Written {
    keys: Vec<WrittenKey>,
}

#[derive(Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    n: Option<String>,
    e: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    /// The private part, of RSA and of curves alike.
    d: Option<serde::de::IgnoredAny>,
}

impl Keys {
    /// Reads a set. Keys of other kinds, for other purposes and without an id are left out.
    ///
    /// # Errors
    ///
    /// The first broken rule, or that no key is left.
    pub fn parse(text: &str) -> Result<Self, JwksFault> {
        let written: Written = serde_json::from_str(text).map_err(|error| {
            // The library's own words may repeat what stands there.
            JwksFault::NotASet(format!("line {} cannot be read", error.line()))
        })?;
        if written.keys.len() > KEYS_MAX {
            return Err(JwksFault::TooMany(KEYS_MAX));
        }
        let mut keys: BTreeMap<String, Arc<Key>> = BTreeMap::new();
        for (number, key) in (1..).zip(written.keys) {
            let fault = |rule| JwksFault::Key { number, rule };
            let Some((id, key)) = key.read().map_err(fault)? else {
                continue;
            };
            if keys.get(&id).is_some_and(|other| **other != key) {
                return Err(fault("another key before it has the same `kid`"));
            }
            keys.insert(id, Arc::new(key));
        }
        match keys.is_empty() {
            true => Err(JwksFault::NoKey),
            false => Ok(Self(keys)),
        }
    }

    /// The key with this id.
    pub(crate) fn get(&self, id: &str) -> Option<&Arc<Key>> {
        self.0.get(id)
    }
}

/// Shows the ids alone.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl WrittenKey {
    /// The key and its id. `None`: no token is signed by it.
    fn read(self) -> Result<Option<(String, Key)>, &'static str> {
        if self.d.is_some() {
            return Err("it has its private part (`d`), which nobody but the issuer may know");
        }
        if self.purpose.is_some_and(|purpose| purpose != "sig") {
            return Ok(None);
        }
        let material = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => rsa(self.n, self.e)?,
            ("EC", Some("P-256")) => point(Curve::P256, self.x, self.y)?,
            ("EC", Some("P-384")) => point(Curve::P384, self.x, self.y)?,
            _ => return Ok(None),
        };
        let only = match &self.alg {
            None => None,
            Some(name) => match Algorithm::parse(name) {
                Some(algorithm) => Some(algorithm),
                // It is for something else, such as RSA-OAEP.
                None => return Ok(None),
            },
        };
        let key = Key { material, only };
        if only.is_some_and(|only| !key.fits(only)) {
            return Err("its `alg` is not of its kind (`kty`, `crv`)");
        }
        Ok(self.kid.map(|id| (id, key)))
    }
}

fn rsa(n: Option<String>, e: Option<String>) -> Result<Material, &'static str> {
    let read = |text: Option<String>| {
        let bytes = BASE64URL_NOPAD.decode(text?.as_bytes()).ok()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Some(bytes[zeros..].to_vec())
    };
    let (Some(n), Some(e)) = (read(n), read(e)) else {
        return Err("its `n` and its `e` must be base64url without padding");
    };
    if !(MODULUS_BYTES_MIN..=MODULUS_BYTES_MAX).contains(&n.len()) {
        return Err("an RSA key must have 2,048 to 8,192 bits");
    }
    Ok(Material::Rsa { n, e })
}

fn point(curve: Curve, x: Option<String>, y: Option<String>) -> Result<Material, &'static str> {
    let bytes = curve.bytes();
    let read = |text: Option<String>| {
        let read = BASE64URL_NOPAD.decode(text?.as_bytes()).ok()?;
        (read.len() == bytes).then_some(read)
    };
    let (Some(x), Some(y)) = (read(x), read(y)) else {
        return Err(
            "its `x` and its `y` must be numbers of its curve, as base64url without padding",
        );
    };
    // What SEC 1, section 2.3.3, puts before a point that is not compressed.
    let point = [vec![4], x, y].concat();
    Ok(Material::Ec { curve, point })
}

impl Key {
    /// Whether the algorithm is this key's.
    fn fits(&self, algorithm: Algorithm) -> bool {
        use Algorithm::{Es256, Es384, Rs256, Rs384, Rs512};
        let is_of_kind = match &self.material {
            Material::Rsa { .. } => matches!(algorithm, Rs256 | Rs384 | Rs512),
            Material::Ec { curve, .. } => match curve {
                Curve::P256 => algorithm == Es256,
                Curve::P384 => algorithm == Es384,
            },
        };
        is_of_kind && self.only.is_none_or(|only| only == algorithm)
    }

    /// Whether this key has signed a message by an algorithm that is its own.
    pub(crate) fn has_signed(
        &self,
        algorithm: Algorithm,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        if !self.fits(algorithm) {
            return false;
        }
        let verified = match &self.material {
            Material::Rsa { n, e } => {
                let Some(by) = algorithm.of_rsa() else {
                    return false;
                };
                RsaPublicKeyComponents { n, e }.verify(by, message, signature)
            }
            Material::Ec { curve, point } => {
                UnparsedPublicKey::new(curve.verification(), point).verify(message, signature)
            }
        };
        verified.is_ok()
    }
}

impl Curve {
    /// The bytes of a number.
    const fn bytes(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
        }
    }

    fn verification(self) -> &'static dyn VerificationAlgorithm {
        match self {
            Self::P256 => &ECDSA_P256_SHA256_FIXED,
            Self::P384 => &ECDSA_P384_SHA384_FIXED,
        }
    }
}

impl Algorithm {
    /// The algorithm with this name (RFC 7518, section 3.1), if it is taken.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "RS256" => Self::Rs256,
            "RS384" => Self::Rs384,
            "RS512" => Self::Rs512,
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            _ => return None,
        })
    }

    fn of_rsa(self) -> Option<&'static RsaParameters> {
        match self {
            Self::Rs256 => Some(&RSA_PKCS1_2048_8192_SHA256),
            Self::Rs384 => Some(&RSA_PKCS1_2048_8192_SHA384),
            Self::Rs512 => Some(&RSA_PKCS1_2048_8192_SHA512),
            Self::Es256 | Self::Es384 => None,
        }
    }
}
