//! Whether a resource is agreed on, and if not, why: the members' encodings, the voters that have not adopted the
//! selected version, the members that a roster requires, and what discovery shows.

use std::collections::{BTreeMap, BTreeSet};

use synod_client::{
    Absent, ApiVersion, GroupResource, MemberId, StorageState, StorageVersion, StorageVersionEntry,
    StorageVersionHash,
};

/// The result of checking one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceVerdict {
    /// The resource.
    pub(crate) resource: GroupResource,
    /// The version that the members agree on.
    pub(crate) agreed: Option<ApiVersion>,
    /// Why there is no agreement; empty if there is one.
    pub(crate) reasons: Vec<Reason>,
}

/// One cause of disagreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// No member reports the resource.
    Unreported,
    /// These members vote, and no version is selected: they encode nothing.
    NothingSelected {
        votes: BTreeMap<ApiVersion, Vec<MemberId>>,
    },
    /// The members do not all encode one version.
    EncodingsDiffer {
        encodings: BTreeMap<ApiVersion, Vec<MemberId>>,
    },
    /// These fixed entries encode another version than the selected one.
    FixedElsewhere {
        selected: ApiVersion,
        members: Vec<MemberId>,
    },
    /// These voters have not adopted what was selected at this revision.
    NotAdopted {
        selected: ApiVersion,
        revision: u64,
        members: Vec<MemberId>,
    },
    /// A roster requires these members, which do not report the resource.
    Absent { absent: Absent },
    /// Discovery shows these hashes, or showed them last, and no member reports that it encodes them.
    Contradicted {
        hashes: BTreeSet<StorageVersionHash>,
        expired: bool,
    },
    /// Discovery was not looked at for so long that what it showed last is no longer valid.
    ObservationExpired,
    /// The cluster says that there is no agreement, and none of the above explains it.
    Unexplained,
}

impl ResourceVerdict {
    /// The verdict on a resource. `version` is `None` if no member reports it.
    pub(crate) fn of(
        resource: &GroupResource,
        version: Option<&StorageVersion>,
        state: Option<&StorageState>,
    ) -> Self {
        let agreed = version.and_then(|version| version.status.agreed.clone());
        let mut reasons = match (version, &agreed) {
            (_, Some(_)) => Vec::new(),
            (None, None) => vec![Reason::Unreported],
            (Some(version), None) => reasons(version),
        };
        if agreed.is_none() {
            reasons.extend(against(version, state));
            if reasons.is_empty() {
                reasons.push(Reason::Unexplained);
            }
        }
        Self {
            resource: resource.clone(),
            agreed,
            reasons,
        }
    }

    /// Whether there is agreement.
    pub(crate) fn is_agreed(&self) -> bool {
        self.agreed.is_some()
    }
}

impl Reason {
    /// The name of the reason in JSON.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Unreported => "UNREPORTED",
            Self::NothingSelected { .. } => "NOTHING_SELECTED",
            Self::EncodingsDiffer { .. } => "ENCODINGS_DIFFER",
            Self::FixedElsewhere { .. } => "FIXED_ELSEWHERE",
            Self::NotAdopted { .. } => "NOT_ADOPTED",
            Self::Absent { .. } => "ABSENT",
            Self::Contradicted { .. } => "CONTRADICTED",
            Self::ObservationExpired => "OBSERVATION_EXPIRED",
            Self::Unexplained => "UNEXPLAINED",
        }
    }

    /// A sentence that names at most `shown` members of each group.
    pub(crate) fn sentence(&self, shown: usize) -> String {
        match self {
            Self::Unreported => "no member reports it".to_owned(),
            Self::NothingSelected { votes } => {
                format!(
                    "nothing is selected: {}",
                    groups(votes, "votes for", "vote for", shown)
                )
            }
            Self::EncodingsDiffer { encodings } => groups(encodings, "encodes", "encode", shown),
            Self::FixedElsewhere { selected, members } => {
                let verb = if members.len() == 1 {
                    "encodes"
                } else {
                    "encode"
                };
                format!(
                    "{} {verb} by choice another version than the selected {selected}",
                    some(members, shown)
                )
            }
            Self::NotAdopted {
                selected,
                revision,
                members,
            } => {
                let verb = if members.len() == 1 { "has" } else { "have" };
                format!(
                    "{} {verb} not adopted {selected}, selected at revision {revision}",
                    some(members, shown)
                )
            }
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
            Self::Unexplained => "the cluster says that there is no agreement".to_owned(),
        }
    }

    /// The members that the reason is about, grouped by the version that they encode or vote for.
    pub(crate) fn members(&self) -> Vec<(Option<&ApiVersion>, Vec<&MemberId>)> {
        match self {
            Self::Unreported
            | Self::Contradicted { .. }
            | Self::ObservationExpired
            | Self::Unexplained => Vec::new(),
            Self::Absent { absent } => vec![(None, absent.members.iter().collect())],
            Self::NothingSelected { votes: groups }
            | Self::EncodingsDiffer { encodings: groups } => groups
                .iter()
                .map(|(version, members)| (Some(version), members.iter().collect()))
                .collect(),
            Self::FixedElsewhere { members, .. } | Self::NotAdopted { members, .. } => {
                vec![(None, members.iter().collect())]
            }
        }
    }
}

/// The reasons against an agreement other than the entries: rosters and discovery.
pub(crate) fn against(
    version: Option<&StorageVersion>,
    state: Option<&StorageState>,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let Some(state) = state else {
        return reasons;
    };
    if !state.absent.is_empty() {
        let absent = state.absent.clone();
        reasons.push(Reason::Absent { absent });
    }
    if state.contradicted {
        let entries = version.map_or(&[][..], |version| &version.entries).iter();
        let said: BTreeSet<StorageVersionHash> = entries.filter_map(said).collect();
        let shown = state.observed.iter().filter(|hash| !said.contains(hash));
        reasons.push(Reason::Contradicted {
            hashes: shown.copied().collect(),
            expired: state.observation_expired,
        });
    } else if state.observation_expired {
        reasons.push(Reason::ObservationExpired);
    }
    reasons
}

/// The hash of the version that a member reports to encode.
pub(crate) fn said(entry: &StorageVersionEntry) -> Option<StorageVersionHash> {
    let encoding = entry.encoding.as_ref()?;
    Some(StorageVersionHash::of_version(encoding, &entry.kind))
}

fn reasons(version: &StorageVersion) -> Vec<Reason> {
    let status = &version.status;
    let mut reasons = Vec::new();
    let undecided = |entry: &StorageVersionEntry| match entry.encoding {
        Some(_) => None,
        None => entry.preferred.clone(),
    };
    let votes = grouped(version, undecided);
    if !votes.is_empty() {
        reasons.push(Reason::NothingSelected { votes });
    }
    let encodings = grouped(version, |entry| entry.encoding.clone());
    if encodings.len() > 1 {
        reasons.push(Reason::EncodingsDiffer { encodings });
    }
    if let Some(selected) = &status.selected {
        let among = |matches: &dyn Fn(&StorageVersionEntry) -> bool| -> Vec<MemberId> {
            let found = version.entries.iter().filter(|entry| matches(entry));
            found.map(|entry| entry.member.clone()).collect()
        };
        let members =
            among(&|entry| entry.preferred.is_none() && entry.encoding.as_ref() != Some(selected));
        if !members.is_empty() {
            reasons.push(Reason::FixedElsewhere {
                selected: selected.clone(),
                members,
            });
        }
        let at = status.selected_revision;
        let members =
            among(&|entry| entry.preferred.is_some() && entry.adopted_revision != Some(at));
        if !members.is_empty() {
            let selected = selected.clone();
            reasons.push(Reason::NotAdopted {
                selected,
                revision: at.get(),
                members,
            });
        }
    }
    reasons
}

/// The members by the version that `version_of` gives for their entries.
fn grouped(
    version: &StorageVersion,
    version_of: impl Fn(&StorageVersionEntry) -> Option<ApiVersion>,
) -> BTreeMap<ApiVersion, Vec<MemberId>> {
    let mut groups: BTreeMap<ApiVersion, Vec<MemberId>> = BTreeMap::new();
    for entry in &version.entries {
        if let Some(version) = version_of(entry) {
            groups
                .entry(version)
                .or_default()
                .push(entry.member.clone());
        }
    }
    groups
}

/// A sentence such as `a, b encode v1; c encodes v2`.
fn groups(
    groups: &BTreeMap<ApiVersion, Vec<MemberId>>,
    one: &str,
    many: &str,
    shown: usize,
) -> String {
    let parts = groups.iter().map(|(version, members)| {
        let verb = if members.len() == 1 { one } else { many };
        format!("{} {verb} {version}", some(members, shown))
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// The first `shown` members, and the number of the others.
fn some(members: &[MemberId], shown: usize) -> String {
    let names: Vec<&str> = members.iter().take(shown).map(MemberId::as_str).collect();
    match members.len().saturating_sub(shown) {
        0 => names.join(", "),
        more => format!("{} + {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests;
