//! Whose connections something of transport security is for.

/// Whose connections something is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    Client,
    Peer,
}

impl Side {
    pub(crate) const ALL: [Self; 2] = [Self::Client, Self::Peer];

    /// The name in metrics and logs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Peer => "peer",
        }
    }
}
