//! Objections to an agreement in the status of a resource, beside its entries: missing members and discovery.

use std::collections::BTreeSet;

use synod_client::{Absent, StorageState, StorageVersion, StorageVersionEntry, StorageVersionHash};

/// An objection to an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Objection {
    /// A roster requires these members, which do not report the resource.
    Absent { absent: Absent },
    /// Discovery shows these hashes, or showed them last, and no member reports that it encodes them.
    Contradicted {
        hashes: BTreeSet<StorageVersionHash>,
        expired: bool,
    },
    /// Discovery was not looked at for so long that what it showed last is no longer valid.
    ObservationExpired,
}

impl Objection {
    /// A sentence that names at most `shown` members.
    pub(crate) fn sentence(&self, shown: usize) -> String {
        match self {
            Self::Absent { absent } => {
                format!("missing by its roster: {}", absent.sentence(shown))
            }
            Self::Contradicted { hashes, expired } => {
                let hashes: Vec<String> = hashes.iter().map(ToString::to_string).collect();
                let shows = if *expired { "showed last" } else { "shows" };
                format!(
                    "discovery {shows} {}, which no member says that it encodes",
                    hashes.join(", ")
                )
            }
            Self::ObservationExpired => {
                "nobody has looked at its discovery for two periods".to_owned()
            }
        }
    }
}

/// The objections to an agreement on a resource. `version` is `None` if no member reports it.
pub(crate) fn objections(
    version: Option<&StorageVersion>,
    state: Option<&StorageState>,
) -> Vec<Objection> {
    let mut objections = Vec::new();
    let Some(state) = state else {
        return objections;
    };
    if !state.absent.is_empty() {
        let absent = state.absent.clone();
        objections.push(Objection::Absent { absent });
    }
    if state.contradicted {
        let entries = version.map_or(&[][..], |version| &version.entries).iter();
        let reported: BTreeSet<StorageVersionHash> = entries.filter_map(encoding_hash).collect();
        let shown = state
            .observed
            .iter()
            .filter(|hash| !reported.contains(hash));
        objections.push(Objection::Contradicted {
            hashes: shown.copied().collect(),
            expired: state.observation_expired,
        });
    } else if state.observation_expired {
        objections.push(Objection::ObservationExpired);
    }
    objections
}

/// The hash of the version that a member reports to encode.
pub(crate) fn encoding_hash(entry: &StorageVersionEntry) -> Option<StorageVersionHash> {
    let encoding = entry.encoding.as_ref()?;
    Some(StorageVersionHash::of_version(encoding, &entry.kind))
}
