//! What a release of the servers knows of a version of the API that comes and goes.

use std::collections::BTreeSet;

use synod_client::{Kind, ReportEntry, Stance, StoredIn, VersionSet};
use synod_model::{ApiVersion, SERVED, WITHDRAWN, WallTime};

use super::widgets;

/// What is compiled into a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// It does not know the version.
    Without,
    /// It serves the version, which is promised until this time, in simulated milliseconds.
    Serves { until: u64 },
    /// It would have the version withdrawn, and can serve it still.
    Withdraws,
}

impl Release {
    /// Whether it has the code of the version.
    pub(super) fn can(self) -> bool {
        self != Self::Without
    }

    /// What it reports.
    pub(super) fn entry(self) -> ReportEntry {
        let both = [SERVED, WITHDRAWN];
        let (values, preferred, until) = match self {
            Self::Without => (&both[1..], WITHDRAWN, None),
            Self::Serves { until } => (&both[..], SERVED, Some(until)),
            Self::Withdraws => (&both[..], WITHDRAWN, None),
        };
        ReportEntry {
            resource: widgets(),
            kind: Kind::parse("Widget").unwrap(),
            decodable: values.iter().map(|text| value(text)).collect(),
            served: VersionSet::default(),
            stance: Stance::Voting {
                preferred: value(preferred),
            },
            serve_until: until.map(WallTime::from_millis),
            stored: StoredIn::Outside,
            equivalents: BTreeSet::new(),
        }
    }
}

pub(super) fn value(text: &str) -> ApiVersion {
    ApiVersion::parse(text).unwrap()
}
