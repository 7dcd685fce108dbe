//! Where a policy comes from.

use std::path::PathBuf;

use synod_policy::Policy;

/// The file of a policy; `None`: the built-in one.
#[derive(Clone, Debug)]
pub(crate) struct Source(pub(super) Option<PathBuf>);

/// The file of a policy that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy {place}: {rule}")]
pub struct PolicyFault {
    /// The file.
    pub place: String,
    /// What is wrong with it.
    pub rule: String,
}

impl Source {
    /// Whether the policy may change.
    pub(super) fn is_file(&self) -> bool {
        self.0.is_some()
    }

    /// Reads the policy. Returns its text, too.
    pub(super) fn read(&self) -> Result<(String, Policy), PolicyFault> {
        let Some(path) = &self.0 else {
            return Ok((String::new(), Policy::built_in()));
        };
        let fault = |rule| PolicyFault {
            place: path.display().to_string(),
            rule,
        };
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| fault(format!("cannot be read: {error}")))?;
        let policy = Policy::parse(&text).map_err(|error| fault(error.to_string()))?;
        Ok((text, policy))
    }
}
