//! Why a policy cannot be used.

/// A broken rule of a policy, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {rule}")]
pub struct Fault {
    /// The line in the text, from 1 on.
    pub line: usize,
    /// What is wrong and what to write in its place.
    pub rule: String,
}

impl Fault {
    /// The fault of what begins at this byte of the text.
    pub(crate) fn at(text: &str, byte: usize, rule: impl Into<String>) -> Self {
        let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Self {
            line,
            rule: rule.into(),
        }
    }
}
