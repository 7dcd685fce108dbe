//! The obstacles to an agreement, and their sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use synod_model::{
    Absent, ApiVersion, GroupResource, MemberId, ResourceScope, Revision, StorageVersionHash,
};

/// The most members or hashes of one kind that a sentence names; it counts the others.
const NAMED: usize = 8;

/// One cause why the members do not agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Nothing at all is known: no resource is reported, observed, draining or on a roster.
    NothingKnown,
    /// These members have joined and have not reported since: what they encode is unknown. An empty report counts.
    MemberSilent {
        /// The members, by id; at least one.
        members: Vec<MemberId>,
    },
    /// A roster asks for resources of this scope, and no such resource is known.
    ScopeUnknown {
        /// The scope of the roster; never that of all resources.
        scope: ResourceScope,
    },
    /// The resource was never reported or observed. The known resource with the most similar name is named if one is similar.
    Unknown {
        /// The known resource with the most similar name.
        nearest: Option<GroupResource>,
    },
    /// No member reports the resource, and discovery shows nothing of it.
    Unreported,
    /// These members vote, and no version is selected: they encode nothing.
    NothingSelected {
        /// The members by the version that they vote for.
        votes: BTreeMap<ApiVersion, Vec<MemberId>>,
    },
    /// The members do not all encode one version.
    EncodingsDiffer {
        /// The members by the version that they encode.
        encodings: BTreeMap<ApiVersion, Vec<MemberId>>,
    },
    /// The fixed entries of these members encode another version than the selected one.
    FixedElsewhere {
        /// The selected version.
        selected: ApiVersion,
        /// The members, by id.
        members: Vec<MemberId>,
    },
    /// These voters have not adopted what was selected at this revision.
    NotAdopted {
        /// The selected version.
        selected: ApiVersion,
        /// The revision that selected it.
        revision: Revision,
        /// The members, by id.
        members: Vec<MemberId>,
    },
    /// The roster asks for members that do not report the resource.
    Absent {
        /// The members that are missing.
        absent: Absent,
    },
    /// Discovery shows these encodings, or showed them last, and no member reports one of them.
    Contradicted {
        /// The hashes of the encodings.
        hashes: BTreeSet<StorageVersionHash>,
        /// Whether the observation has expired.
        expired: bool,
    },
    /// No member reports the resource, and its discovery was not looked at for two periods.
    ObservationExpired,
    /// No member reports the resource, and discovery shows several encodings.
    ObservationsDiffer {
        /// The hashes of the encodings.
        hashes: BTreeSet<StorageVersionHash>,
    },
}

impl Obstacle {
    /// The members that the obstacle names.
    #[must_use]
    pub fn members(&self) -> BTreeSet<&MemberId> {
        match self {
            Self::MemberSilent { members }
            | Self::FixedElsewhere { members, .. }
            | Self::NotAdopted { members, .. } => members.iter().collect(),
            Self::NothingSelected { votes: groups }
            | Self::EncodingsDiffer { encodings: groups } => groups.values().flatten().collect(),
            Self::Absent { absent } => absent.members.iter().collect(),
            Self::NothingKnown
            | Self::ScopeUnknown { .. }
            | Self::Unknown { .. }
            | Self::Unreported
            | Self::Contradicted { .. }
            | Self::ObservationExpired
            | Self::ObservationsDiffer { .. } => BTreeSet::new(),
        }
    }
}

impl fmt::Display for Obstacle {
    /// The obstacle in words. At most eight members or hashes of a group are named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingKnown => f.write_str(
                "nothing is known: no resource is reported, observed, draining or on a roster",
            ),
            Self::MemberSilent { members } => {
                let has = singular(members, "has", "have");
                let names = first(members);
                write!(f, "{names} {has} joined and {has} not reported")
            }
            Self::ScopeUnknown { scope } => {
                let scope = scope.qualified();
                write!(
                    f,
                    "a roster asks for {scope}, and no such resource is known"
                )
            }
            Self::Unknown { nearest } => f.write_str(&unknown_resource(nearest.as_ref())),
            Self::Unreported => f.write_str("no member reports it"),
            Self::NothingSelected { votes } => {
                let votes = group_sentence(votes, "votes for", "vote for");
                write!(f, "nothing is selected: {votes}")
            }
            Self::EncodingsDiffer { encodings } => {
                f.write_str(&group_sentence(encodings, "encodes", "encode"))
            }
            Self::FixedElsewhere { selected, members } => {
                let encode = singular(members, "encodes", "encode");
                let names = first(members);
                write!(
                    f,
                    "{names} {encode} by choice another version than the selected {selected}"
                )
            }
            Self::NotAdopted {
                selected,
                revision,
                members,
            } => {
                let has = singular(members, "has", "have");
                let names = first(members);
                write!(
                    f,
                    "{names} {has} not adopted {selected}, selected at revision {revision}"
                )
            }
            Self::Absent { absent } => {
                write!(f, "missing by its roster: {}", absent.sentence(NAMED))
            }
            Self::Contradicted { hashes, expired } => {
                let shows = if *expired { "showed last" } else { "shows" };
                let hashes = first(hashes);
                write!(
                    f,
                    "discovery {shows} {hashes}, which no member says that it encodes"
                )
            }
            Self::ObservationExpired => f.write_str(
                "no member reports it, and nobody has looked at its discovery for two periods",
            ),
            Self::ObservationsDiffer { hashes } => {
                let hashes = first(hashes);
                write!(
                    f,
                    "no member reports it, and discovery shows several encodings: {hashes}"
                )
            }
        }
    }
}

fn unknown_resource(nearest: Option<&GroupResource>) -> String {
    let unknown = "it was never reported or observed";
    match nearest {
        None => unknown.to_owned(),
        Some(nearest) => format!(
            "{unknown}; the nearest resource that is known is {}",
            nearest.qualified()
        ),
    }
}

fn singular(members: &[MemberId], one: &'static str, many: &'static str) -> &'static str {
    if members.len() == 1 { one } else { many }
}

/// A sentence such as `a, b encode v1; c encodes v2`.
fn group_sentence(
    groups: &BTreeMap<ApiVersion, Vec<MemberId>>,
    one: &'static str,
    many: &'static str,
) -> String {
    let parts = groups.iter().take(NAMED).map(|(version, members)| {
        let verb = singular(members, one, many);
        format!("{} {verb} {version}", first(members))
    });
    let mut parts: Vec<String> = parts.collect();
    if let Some(more @ 1..) = groups.len().checked_sub(NAMED) {
        parts.push(format!("{more} more versions"));
    }
    parts.join("; ")
}

/// The first few, and the number of the others.
pub(crate) fn first<T: fmt::Display>(
    all: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
) -> String {
    let all = all.into_iter();
    let more = all.len().saturating_sub(NAMED);
    let named: Vec<String> = all.take(NAMED).map(|one| one.to_string()).collect();
    let named = named.join(", ");
    match more {
        0 => named,
        more => format!("{named} + {more} more"),
    }
}
