use synod_model::{Violation, Violations};

use super::Consistency;
use crate::{messages, v1};

/// Asks for the replicated settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GetSettings {
    /// The consistency of the read.
    pub read: Consistency,
}

/// Asks for a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakeBackup {
    /// How fresh the state must be.
    pub read: Consistency,
}

impl TakeBackup {
    /// Its faults: the rows of a past state are not kept.
    fn check(&self) -> Violations {
        let mut found = Violations::new();
        if let Consistency::AtRevision(revision) = self.read {
            let rule = "must not be given: a backup is of the present state";
            let fault = Violation::invalid_number(revision.get(), rule);
            found.push(fault.at("read.atRevision"));
        }
        found
    }
}

messages! {
    v1::ClusterBackupRequest = TakeBackup {
        read = read,
    } => check

    v1::ClusterGetSettingsRequest = GetSettings {
        read = read,
    }
}
