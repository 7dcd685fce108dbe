//! What stands for a token.

use ring::digest::{SHA256, digest};

/// The SHA-256 of a token, by which it is told from others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Print([u8; 32]);

impl Print {
    /// That of this token.
    #[must_use]
    pub fn of(token: &str) -> Self {
        let mut print = [0; 32];
        print.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        Self(print)
    }
}

impl std::fmt::Debug for Print {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Print(..)")
    }
}
