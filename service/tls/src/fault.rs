//! Why certificates, keys and CA bundles cannot be used.

use std::fmt;

/// What a PEM text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// One's own certificate, followed by those of the CAs between it and the one that the other end trusts.
    Certificate,
    /// The private key of one's own certificate.
    Key,
    /// The certificates of the CAs that the other end's certificate must be signed by.
    TrustedCa,
    /// The name that the other end's certificate must be for. It is no PEM text, but stands beside them.
    ServerName,
}

/// Why a PEM text cannot be used. The message never holds a part of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {part} {place} {rule}")]
pub struct Fault {
    /// What the text is for.
    pub part: Part,
    /// Where it stands: a path, or that it was given as bytes; of a name, the name.
    pub place: String,
    /// What is wrong.
    pub rule: String,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Certificate => "certificate",
            Self::Key => "private key",
            Self::TrustedCa => "CA bundle",
            Self::ServerName => "server name",
        })
    }
}
