//! Why keys and tokens cannot be used.

use crate::{LEEWAY_SECONDS, TOKEN_BYTES_MAX};

/// Why a set of keys cannot be used. The message holds no part of a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JwksFault {
    /// It is not what RFC 7517 describes.
    #[error("is no JSON Web Key Set: {0}")]
    NotASet(String),
    /// It has more than this many keys.
    #[error("has more than {0} keys")]
    TooMany(usize),
    /// This key, counted from 1 on, breaks a rule.
    #[error("cannot be used for its key {number}: {rule}")]
    Key {
        /// Its place in the set.
        number: usize,
        /// The rule.
        rule: &'static str,
    },
    /// All of its keys are of kinds that sign no tokens.
    #[error(
        "has no key that signs tokens: each needs a `kid`, and `kty` RSA, or EC with the curve P-256 or P-384"
    )]
    NoKey,
}

/// Why a token is not taken. The message holds no part of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is longer than a token may be.
    #[error("the token is longer than {TOKEN_BYTES_MAX} bytes")]
    TooLong,
    /// It is no JWS in its compact form, or its header or its claims cannot be read.
    #[error("the token is none of a Kubernetes service account: it cannot be read as one")]
    Malformed,
    /// It is signed by no algorithm that counts here.
    #[error(
        "the token is signed by an algorithm that is not taken: RS256, RS384, RS512, ES256 or ES384 must be used"
    )]
    Algorithm,
    /// No key has the id that it names.
    #[error("the token is signed by a key that is not among those of the issuer (`jwks_file`)")]
    UnknownKey,
    /// The key that it names has not signed it.
    #[error("the signature of the token is not that of the key that it names")]
    Signature,
    /// Another issuer has made it.
    #[error("the token is of another issuer than the policy names below [tokens]")]
    Issuer,
    /// It is for somebody else.
    #[error("the token is for none of the `audiences` that the policy names below [tokens]")]
    Audience,
    /// Its time is over.
    #[error("the token has expired: read it again, where it has been renewed by now")]
    Expired,
    /// Its time is still to come.
    #[error(
        "the token is not valid yet: its time begins more than {LEEWAY_SECONDS} seconds from now by this replica's clock"
    )]
    NotYetValid,
    /// It names nobody, or two different ones.
    #[error("the token does not name one service account")]
    Subject,
}
