use synod_model::{ApiVersion, LogTime, Persisted, StorageVersionHash, Violations};

use crate::wire::Wire;
use crate::{read_fields, v1};

impl From<&Persisted> for v1::PersistedVersion {
    fn from(persisted: &Persisted) -> Self {
        match persisted {
            Persisted::Unknown => Self {
                unknown: true,
                hash: String::new(),
                version: None,
            },
            Persisted::Version { hash, version } => Self {
                unknown: false,
                hash: hash.to_wire(),
                version: version.to_wire(),
            },
        }
    }
}

impl TryFrom<v1::PersistedVersion> for Persisted {
    type Error = Violations;

    fn try_from(pb: v1::PersistedVersion) -> Result<Self, Violations> {
        if pb.unknown {
            return Ok(Self::Unknown);
        }
        let mut found = Violations::new();
        read_fields! { pb, found; hash = hash, version = version }
        Ok(Self::Version { hash, version })
    }
}

impl v1::Drain {
    /// Writes in `version` may land until `until`.
    #[must_use]
    pub fn of(version: &ApiVersion, until: LogTime) -> Self {
        Self {
            version: version.to_string(),
            until_log_time_ms: until.as_millis(),
            ..Self::default()
        }
    }

    /// Writes in the encoding with this hash, which discovery has shown, may land until `until`.
    #[must_use]
    pub fn of_hash(hash: StorageVersionHash, until: LogTime) -> Self {
        Self {
            hash: hash.to_string(),
            until_log_time_ms: until.as_millis(),
            ..Self::default()
        }
    }

    /// Writes in versions that nobody can name may land until `until`.
    #[must_use]
    pub fn of_unknown(until: LogTime) -> Self {
        Self {
            unknown: true,
            until_log_time_ms: until.as_millis(),
            ..Self::default()
        }
    }
}
