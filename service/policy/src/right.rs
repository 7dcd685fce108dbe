//! Rights, which methods need, and roles, which grants give.

use std::fmt;

use serde::Deserialize;

/// What a method needs. The protocol says of each method which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Anything at all is granted.
    Any,
    /// To see what there is.
    Read,
    /// To be a member.
    TakePart,
    /// To change objects and histories, and to have sessions.
    Write,
    /// To hold leases and stand for them.
    Hold,
    /// To carry out migrations.
    Migrate,
    /// To declare collections and rosters, and to start and abort migrations.
    Operate,
    /// To have everything that the cluster holds, as a backup.
    BackUp,
    /// To change the settings of the cluster.
    Administer,
}

/// What a grant gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// An API server: it takes part as itself, writes, holds leases and carries out migrations.
    Member,
    /// It sees what there is.
    Reader,
    /// It sees, writes, holds leases, carries out migrations, and says what a cluster is to do.
    Operator,
    /// It takes backups, and does nothing else.
    Backup,
    /// It may do everything, as everybody.
    Admin,
}

impl Right {
    /// The name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any right",
            Self::Read => "to read",
            Self::TakePart => "to take part",
            Self::Write => "to write",
            Self::Hold => "to hold leases",
            Self::Migrate => "to migrate",
            Self::Operate => "to operate",
            Self::BackUp => "to back up",
            Self::Administer => "to administer",
        }
    }
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] = [
        Self::Member,
        Self::Reader,
        Self::Operator,
        Self::Backup,
        Self::Admin,
    ];

    /// Whether the role has a right.
    #[must_use]
    pub const fn has(self, right: Right) -> bool {
        use Right::{Any, BackUp, Hold, Migrate, Operate, Read, TakePart, Write};
        match self {
            Self::Member => matches!(right, Any | Read | TakePart | Write | Hold | Migrate),
            Self::Reader => matches!(right, Any | Read),
            Self::Operator => matches!(right, Any | Read | Write | Hold | Migrate | Operate),
            Self::Backup => matches!(right, Any | BackUp),
            Self::Admin => true,
        }
    }

    /// The name in a policy.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Reader => "reader",
            Self::Operator => "operator",
            Self::Backup => "backup",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
