//! Report entries: which versions of a resource a member decodes, serves, and encodes or votes for.

use std::collections::BTreeSet;
use std::fmt;

use crate::limits::{EQUIVALENTS_MAX, VERSIONS_PER_ENTRY_MAX};
use crate::violation::excerpt;
use crate::{
    ApiVersion, GroupResource, Kind, ServeUntil, StoredIn, TopicKind, VersionSet, Violation,
    Violations, WallTime,
};

/// One resource of one member: what it decodes and serves, and what it encodes or prefers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportEntry {
    /// The resource.
    pub resource: GroupResource,
    /// The kind that its objects have.
    pub kind: Kind,
    /// The versions that the member can read from the store.
    pub decodable: VersionSet,
    /// The versions that it serves; each is decodable.
    pub served: VersionSet,
    /// Whether the member fixes its encoding or votes; the named version is decodable.
    pub stance: Stance,
    /// Of the topic of a served version: the time before which nobody may withdraw it. `None`: the member names none.
    pub serve_until: Option<WallTime>,
    /// Where the member stores the objects.
    pub stored: StoredIn,
    /// The other resources under whose names the same objects are stored, as those of `extensions` are under `networking.k8s.io`.
    pub equivalents: BTreeSet<GroupResource>,
}

/// Who decides what a member encodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stance {
    /// The member does: it encodes this version.
    Fixed {
        /// The version that it encodes.
        encoding: ApiVersion,
    },
    /// All members do together: it encodes the selected version.
    Voting {
        /// The version that it votes for.
        preferred: ApiVersion,
    },
}

impl Stance {
    /// The version that it names: encoded if fixed, preferred if voting.
    pub const fn version(&self) -> &ApiVersion {
        match self {
            Self::Fixed { encoding } => encoding,
            Self::Voting { preferred } => preferred,
        }
    }

    /// Whether it votes.
    pub const fn is_voting(&self) -> bool {
        match self {
            Self::Fixed { .. } => false,
            Self::Voting { .. } => true,
        }
    }
}

/// An entry as it arrives, not checked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportEntryText<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The plural name.
    pub resource: &'a str,
    /// The kind of the objects.
    pub kind: &'a str,
    /// The decodable versions.
    pub decodable: Vec<&'a str>,
    /// The served versions.
    pub served: Vec<&'a str>,
    /// The encoded or preferred version.
    pub stance: StanceText<'a>,
    /// The time before which nobody may withdraw a served version, in milliseconds since the Unix epoch.
    pub serve_until: Option<u64>,
    /// See [`ReportEntry::stored`].
    pub stored: StoredIn,
    /// See [`ReportEntry::equivalents`]: the group and the plural name of each.
    pub equivalents: Vec<(&'a str, &'a str)>,
}

/// A stance as it arrives, not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StanceText<'a> {
    /// See [`Stance::Fixed`].
    Fixed {
        /// The version that is encoded.
        encoding: &'a str,
    },
    /// See [`Stance::Voting`].
    Voting {
        /// The version that is voted for.
        preferred: &'a str,
    },
}

impl ReportEntry {
    /// The entry that `text` describes.
    ///
    /// # Errors
    ///
    /// Every broken rule of every field at once, at the field's name.
    pub fn parse(text: &ReportEntryText<'_>) -> Result<Self, Violations> {
        let mut violations = Violations::new();
        let resource = violations.parsed("resource", GroupResource::new(text.group, text.resource));
        let kind = violations.parsed("kind", Kind::parse(text.kind));
        let stance = text.stance.parse(&mut violations);
        let decodable = parse_versions(DECODABLE, &text.decodable, &mut violations);
        let served = parse_versions(SERVED, &text.served, &mut violations);
        let date = text.serve_until.map(ServeUntil::date);
        let serve_until = date.and_then(|date| violations.parsed(SERVE_UNTIL, date));
        let equivalents = parse_equivalents(&text.equivalents, &mut violations);
        text.check_relations(resource.as_ref(), &mut violations);
        match (resource, kind, stance) {
            (Some(resource), Some(kind), Some(stance)) if violations.is_empty() => Ok(Self {
                resource,
                kind,
                decodable,
                served,
                stance,
                serve_until,
                stored: text.stored,
                equivalents,
            }),
            _ => Err(violations),
        }
    }

    /// Adds every rule that the entry breaks, at `path`: the relations between its fields, which
    /// their types cannot express.
    pub fn check(&self, path: impl fmt::Display, violations: &mut Violations) {
        let mut found = Violations::new();
        self.as_text()
            .check_relations(Some(&self.resource), &mut found);
        violations.extend_at(path, found);
    }

    /// Whether it is as the kind of its topic demands.
    pub fn is_of_its_topic(&self) -> bool {
        let readable = self.decodable.iter().map(ApiVersion::as_str);
        let preferred = match &self.stance {
            Stance::Fixed { .. } => None,
            Stance::Voting { preferred } => Some(preferred.as_str()),
        };
        let kind = TopicKind::of(&self.resource);
        kind.allows(readable, preferred).is_ok()
            && kind.names(&self.resource).is_ok()
            && (self.serve_until.is_none() || kind.is_promised_until())
            && self.names_equivalents_alone()
    }

    /// Whether its equivalents are other resources that a store can have.
    fn names_equivalents_alone(&self) -> bool {
        let of_stores = |resource| TopicKind::of(resource) == TopicKind::Encoding;
        self.equivalents.len() < EQUIVALENTS_MAX
            && !self.equivalents.contains(&self.resource)
            && (self.equivalents.is_empty() || of_stores(&self.resource))
            && self.equivalents.iter().all(of_stores)
    }

    /// The entry in the form in which it arrives.
    pub fn as_text(&self) -> ReportEntryText<'_> {
        ReportEntryText {
            group: self.resource.group(),
            resource: self.resource.resource(),
            kind: self.kind.as_str(),
            decodable: self.decodable.iter().map(ApiVersion::as_str).collect(),
            served: self.served.iter().map(ApiVersion::as_str).collect(),
            stance: match &self.stance {
                Stance::Fixed { encoding } => StanceText::Fixed {
                    encoding: encoding.as_str(),
                },
                Stance::Voting { preferred } => StanceText::Voting {
                    preferred: preferred.as_str(),
                },
            },
            serve_until: self.serve_until.map(WallTime::as_millis),
            stored: self.stored,
            equivalents: self
                .equivalents
                .iter()
                .map(|one| (one.group(), one.resource()))
                .collect(),
        }
    }
}

const GROUP: &str = "group";
const DECODABLE: &str = "decodableVersions";
const SERVED: &str = "servedVersions";
const SERVE_UNTIL: &str = "serveUntilMs";
const EQUIVALENTS: &str = "equivalents";

/// Parses the names of equivalent resources; those beyond the limit are refused without being parsed.
fn parse_equivalents(
    names: &[(&str, &str)],
    violations: &mut Violations,
) -> BTreeSet<GroupResource> {
    let most = EQUIVALENTS_MAX - 1;
    if names.len() > most {
        violations.push(Violation::too_many(names.len(), most).at(EQUIVALENTS));
    }
    let within = names.iter().take(most).enumerate();
    within
        .filter_map(|(i, (group, resource))| {
            let path = format_args!("{EQUIVALENTS}[{i}]");
            violations.parsed(path, GroupResource::new(group, resource))
        })
        .collect()
}

/// Parses the versions of a list; those beyond the limit are refused without being parsed.
fn parse_versions(field: &str, texts: &[&str], violations: &mut Violations) -> VersionSet {
    if texts.len() > VERSIONS_PER_ENTRY_MAX {
        violations.push(Violation::too_many(texts.len(), VERSIONS_PER_ENTRY_MAX).at(field));
    }
    let within = texts.iter().take(VERSIONS_PER_ENTRY_MAX).enumerate();
    within
        .filter_map(|(i, text)| {
            violations.parsed(format_args!("{field}[{i}]"), ApiVersion::parse(text))
        })
        .collect()
}

impl StanceText<'_> {
    fn parse(self, violations: &mut Violations) -> Option<Stance> {
        let (field, version) = self.named();
        let version = violations.parsed(field, ApiVersion::parse(version))?;
        Some(match self {
            Self::Fixed { .. } => Stance::Fixed { encoding: version },
            Self::Voting { .. } => Stance::Voting { preferred: version },
        })
    }

    /// The field that is given, and the version in it.
    const fn named(&self) -> (&'static str, &str) {
        match self {
            Self::Fixed { encoding } => ("encodingVersion", encoding),
            Self::Voting { preferred } => ("preferredVersion", preferred),
        }
    }
}

impl ReportEntryText<'_> {
    /// Every encoded, preferred or served version must be decodable. Versions are compared as text,
    /// so that a malformed version does not hide that it is not among the decodable ones. The rules of its topic are checked if
    /// it names a legal `resource`: one that is not is told by the rules of names.
    fn check_relations(&self, resource: Option<&GroupResource>, violations: &mut Violations) {
        let longest = self.decodable.len().max(self.served.len());
        if longest > VERSIONS_PER_ENTRY_MAX {
            return;
        }
        let (field, version) = self.stance.named();
        if !self.decodable.contains(&version) {
            let rule = format_args!("{DECODABLE} must include {field} {}", excerpt(version));
            violations.push(Violation::invalid_list(&self.decodable, rule).at(DECODABLE));
        }
        if let Some(resource) = resource {
            self.check_topic(resource, violations);
        }
        for (i, version) in self.served.iter().enumerate() {
            if !self.decodable.contains(version) {
                let decodable = format!("[{}]", self.decodable.join(" "));
                let rule = format_args!(
                    "individual served version : {} must be included in {DECODABLE} : {}",
                    excerpt(version),
                    excerpt(&decodable)
                );
                violations.push(Violation::invalid(version, rule).at(&format!("{SERVED}[{i}]")));
            }
        }
    }

    fn check_topic(&self, resource: &GroupResource, violations: &mut Violations) {
        let kind = TopicKind::of(resource);
        let preferred = match self.stance {
            StanceText::Fixed { .. } => None,
            StanceText::Voting { preferred } => Some(preferred),
        };
        if let Err(rule) = kind.allows(self.decodable.iter().copied(), preferred) {
            violations.push(Violation::invalid_list(&self.decodable, rule).at(DECODABLE));
        }
        if let Err(rule) = kind.names(resource) {
            violations.push(Violation::invalid(self.group, rule).at(GROUP));
        }
        let date = self.serve_until.filter(|_| !kind.is_promised_until());
        if let Some(millis) = date {
            let rule = "must be left out: only a version that is served is promised until a date";
            violations
                .push(Violation::invalid_number(millis, format_args!("{rule}")).at(SERVE_UNTIL));
        }
        self.check_equivalents(resource, violations);
    }

    fn check_equivalents(&self, resource: &GroupResource, violations: &mut Violations) {
        for (i, (group, name)) in self.equivalents.iter().enumerate() {
            let Ok(other) = GroupResource::new(group, name) else {
                continue;
            };
            let kinds = [TopicKind::of(resource), TopicKind::of(&other)];
            let rule = if other == *resource {
                "must be another resource than the one that it is equivalent to"
            } else if kinds != [TopicKind::Encoding; 2] {
                "must be left out: only what is encoded is stored under several names, and its keys follow"
            } else {
                continue;
            };
            let path = format!("{EQUIVALENTS}[{i}]");
            violations.push(Violation::invalid(other.qualified(), rule).at(&path));
        }
    }
}

#[cfg(test)]
mod tests;
