use super::Consistency;
use crate::{messages, v1};

/// Asks for the replicated settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetSettings {
    /// The consistency of the read.
    pub read: Consistency,
}

messages! {
    v1::ClusterGetSettingsRequest = GetSettings {
        read = read,
    }
}
