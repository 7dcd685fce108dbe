//! Where a policy comes from, and the keys by which tokens are checked.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use synod_policy::{Policy, Tokens};
use synod_tokens::Keys;

/// The most bytes of a file of keys: one key has at most 2,000.
const KEYS_BYTES_MAX: u64 = 1 << 20;

/// The file of a policy; `None`: the built-in one.
#[derive(Clone, Debug)]
pub(crate) struct Source(pub(super) Option<PathBuf>);

/// The file of a policy, or of the keys that it names, that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {part} {place}: {rule}")]
pub struct PolicyFault {
    /// What the file is for.
    pub part: PolicyPart,
    /// The file.
    pub place: String,
    /// What is wrong with it.
    pub rule: String,
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyPart {
    /// It is the policy.
    Policy,
    /// It has the keys by which tokens are checked.
    Keys,
}

/// A policy as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) text: String,
    pub(super) policy: Policy,
    /// The keys that it names; `None`: it names none.
    pub(super) keys: Option<Result<Keys, PolicyFault>>,
}

impl Source {
    /// Whether the policy may change.
    pub(super) fn is_file(&self) -> bool {
        self.0.is_some()
    }

    /// Reads the policy, and the keys that it names.
    pub(super) fn read(&self) -> Result<Read, PolicyFault> {
        let Some(path) = &self.0 else {
            return Ok(Read {
                text: String::new(),
                policy: Policy::built_in(),
                keys: None,
            });
        };
        let fault = |rule| PolicyFault {
            part: PolicyPart::Policy,
            place: path.display().to_string(),
            rule,
        };
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| fault(format!("cannot be read: {error}")))?;
        let policy = Policy::parse(&text).map_err(|error| fault(error.to_string()))?;
        let keys = policy.tokens.as_ref().map(|tokens| keys(tokens, path));
        Ok(Read { text, policy, keys })
    }
}

/// The keys that the policy in this file names.
fn keys(tokens: &Tokens, policy: &Path) -> Result<Keys, PolicyFault> {
    let path = match policy.parent() {
        Some(folder) => folder.join(&tokens.jwks_file),
        None => PathBuf::from(&tokens.jwks_file),
    };
    let fault = |rule| PolicyFault {
        part: PolicyPart::Keys,
        place: path.display().to_string(),
        rule,
    };
    let text = read(&path).map_err(|error| fault(format!("cannot be read: {error}")))?;
    Keys::parse(&text).map_err(|error| fault(error.to_string()))
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let mut file = File::open(path)?.take(KEYS_BYTES_MAX + 1);
    if file.read_to_string(&mut text)? as u64 > KEYS_BYTES_MAX {
        let message = format!("it is longer than {KEYS_BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(text)
}

impl Read {
    /// Why the keys cannot be used.
    pub(super) fn fault(&self) -> Option<&PolicyFault> {
        self.keys.as_ref()?.as_ref().err()
    }
}

impl fmt::Display for PolicyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Policy => "policy",
            Self::Keys => "keys of tokens",
        })
    }
}
