//! Tokens of Kubernetes' service accounts, checked offline: by the public keys of their issuer, which a file holds.
//!
//! - [`Verifier`] knows an issuer, the audiences that are taken and the issuer's [`Keys`], and checks a token.
//! - [`ServiceAccount`] is whom a token that was taken names; [`Refused`] why another was not.
//! - [`Print`] stands for a token where it must be told from others, and shows nothing of it.
//!
//! A token is a JWS in its compact form (RFC 7515) with the claims of Kubernetes. It is taken if the key that it names by
//! `kid` has signed it, by an algorithm that is that key's: RS256, RS384, RS512, ES256 or ES384. What carries no signature
//! and what is signed by a shared secret is never taken, since no key here is for that. Nothing here reads a clock, a file
//! or the network, and no message holds a part of a token.

mod claims;
mod fault;
mod jws;
mod keys;
mod print;
mod verifier;

pub use fault::{JwksFault, Refused};
pub use keys::Keys;
pub use print::Print;
pub use verifier::{ServiceAccount, Verifier};

/// The most bytes of a token. Those of Kubernetes have about 1,200; the headers of a request may have twice this.
pub const TOKEN_BYTES_MAX: usize = 8 << 10;

/// How far ahead of the replica's clock that of the issuer may be. It widens `nbf` and `iat` alone: a token ends at its
/// `exp`, before which whoever has it is given another one.
pub const LEEWAY_SECONDS: i64 = 30;

#[cfg(test)]
mod tests;
