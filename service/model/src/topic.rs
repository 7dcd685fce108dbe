//! Topics: what members agree on, by one rule for all of it.
//!
//! What a resource is encoded in is one topic. Which key encrypts its objects is another, which level of a feature is in
//! use a third, and whether a version of the API is served a fourth. All of them are agreed on alike: each member names
//! what it can read and what it would like to write, one value is selected that everybody can read, and members adopt it.
//!
//! Every topic is a [`GroupResource`]. The topic of an encoding is the resource itself; any other one is a resource of a
//! group that is no API group, since no domain ends in `.synod`: `keys/secrets` is the resource `secrets` of the group
//! `keys.synod`. So all that is said, kept, listed, watched and granted for resources holds for topics. Where the rules
//! of a kind differ, a function of [`TopicKind`] here says how.

use std::collections::BTreeSet;
use std::fmt;

use crate::limits::VERSIONS_PER_ENTRY_MAX;
use crate::{ApiVersion, GroupResource, Violation, Violations, known_machine_version};

/// The machine version that brought topics: under an older one each is an encoding like any other.
pub const TOPICS_SINCE: u32 = 2;

/// What a topic is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TopicKind {
    /// The version that a resource is encoded in.
    Encoding,
    /// The key that encrypts the objects of a resource. Its values are key names: `[provider/]key`.
    Key,
    /// The level of a feature. Its values are the levels `v1`, `v2` and so on: whoever has one has all below it.
    Feature,
    /// Whether a version of a resource is served. Its values are [`SERVED`] and [`WITHDRAWN`]: whoever has the code of the
    /// version can do both, everybody else the second alone.
    Served,
}

/// The value of a topic `served/...` with which members show the version.
pub const SERVED: &str = "served";
/// The value of a topic `served/...` with which no member shows the version.
pub const WITHDRAWN: &str = "withdrawn";

/// How the name of a served version is written.
const VERSION_OF_RESOURCE: &str =
    "must be `<version>.<resource>[.<group>]`, as in `v1beta1.widgets.example.io`";
/// The same for the resource that the topic is.
const VERSION_OF_NOTHING: &str =
    "must be `<resource>[.<group>].served.synod`, of a resource with the version's name";

impl TopicKind {
    /// All kinds.
    pub const ALL: &'static [Self] = &[Self::Encoding, Self::Key, Self::Feature, Self::Served];

    /// The kind of the topic that a resource is.
    pub fn of(resource: &GroupResource) -> Self {
        let in_group = |reserved: &str| {
            let before = resource.group().strip_suffix(reserved);
            before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        let mut kinds = Self::ALL.iter().copied();
        let kind = kinds.find(|kind| kind.group().is_some_and(in_group));
        // Machine version 1 knows no topics.
        let kind = kind.filter(|_| known_machine_version() > 1);
        kind.unwrap_or(Self::Encoding)
    }

    /// Its name, which a topic's text begins with.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Encoding => "encoding",
            Self::Key => "keys",
            Self::Feature => "features",
            Self::Served => "served",
        }
    }

    /// The reserved group of its topics; `None` for encodings, which are the resources of all other groups.
    pub const fn group(self) -> Option<&'static str> {
        match self {
            Self::Encoding => None,
            Self::Key => Some("keys.synod"),
            Self::Feature => Some("features.synod"),
            Self::Served => Some("served.synod"),
        }
    }

    /// What a value is called.
    pub const fn value(self) -> &'static str {
        match self {
            Self::Encoding => "version",
            Self::Key => "key",
            Self::Feature => "level",
            Self::Served => "state",
        }
    }

    /// What a member does that can read a value.
    pub const fn reads(self) -> &'static str {
        match self {
            Self::Encoding => "decodes",
            Self::Key => "holds",
            Self::Feature => "has",
            Self::Served => "can be",
        }
    }

    /// Whether a value is selected only once every member can read it and prefers it, so that a binary that prefers
    /// another one moves nothing alone.
    pub const fn waits_for_everybody(self) -> bool {
        match self {
            Self::Encoding | Self::Key => false,
            Self::Feature | Self::Served => true,
        }
    }

    /// Whether nothing new is selected while a member that a roster names is missing: it could not take part any more if it cannot
    /// read what is selected. For encodings the report says so, and a setting whether it is refused.
    pub const fn waits_for_named_members(self) -> bool {
        match self {
            Self::Encoding | Self::Served => false,
            Self::Key | Self::Feature => true,
        }
    }

    /// Whether a reset leaves what is selected. A level is not unlearned, and a version is not withdrawn, by doubt.
    pub const fn keeps_its_selection(self) -> bool {
        match self {
            Self::Encoding | Self::Key => false,
            Self::Feature | Self::Served => true,
        }
    }

    /// Whether what is written with a value stays after the writer. Of a version that was served nothing stays: once
    /// members agree and drains are over, nobody can meet the other value any more.
    pub const fn is_stored(self) -> bool {
        match self {
            Self::Encoding | Self::Key | Self::Feature => true,
            Self::Served => false,
        }
    }

    /// Whether an entry may name a time until which the version is served in any case.
    pub const fn is_promised_until(self) -> bool {
        match self {
            Self::Encoding | Self::Key | Self::Feature => false,
            Self::Served => true,
        }
    }

    /// The value that a binary without any code for the topic reads: it does not serve a version that it does not know.
    pub const fn read_by_strangers(self) -> Option<&'static str> {
        match self {
            Self::Encoding | Self::Key | Self::Feature => None,
            Self::Served => Some(WITHDRAWN),
        }
    }

    /// Whether every entry votes. A fixed entry would write what others may not be able to read.
    pub const fn is_voting_only(self) -> bool {
        match self {
            Self::Encoding => false,
            Self::Key | Self::Feature | Self::Served => true,
        }
    }

    /// Whether an entry that cannot read what may be stored is refused in any case. For encodings a setting says so.
    pub const fn always_enforces_persisted(self) -> bool {
        match self {
            Self::Encoding => false,
            Self::Key | Self::Feature | Self::Served => true,
        }
    }

    /// Whether what API servers show in discovery, what collections count and what ControllerRevisions hold is evidence of
    /// the topic: they know encodings alone.
    pub const fn is_seen_in_stores(self) -> bool {
        match self {
            Self::Encoding => true,
            Self::Key | Self::Feature | Self::Served => false,
        }
    }

    /// Whether anything may be stored before the first report. Nobody uses a level of a feature before a member has it, and
    /// nothing is stored of what was served.
    pub const fn may_precede_reports(self) -> bool {
        match self {
            Self::Encoding | Self::Key => true,
            Self::Feature | Self::Served => false,
        }
    }

    /// Whether a binary alone decides what its members can read. Keys are given to a server by its operator.
    pub const fn is_of_a_binary(self) -> bool {
        match self {
            Self::Encoding | Self::Feature | Self::Served => true,
            Self::Key => false,
        }
    }

    /// Checks that a resource names a topic of this kind: a served version is one of a resource.
    ///
    /// # Errors
    ///
    /// The rule of the kind that it breaks.
    pub fn names(self, resource: &GroupResource) -> Result<(), &'static str> {
        if self == Self::Served && Some(resource.group()) == self.group() {
            return Err(VERSION_OF_NOTHING);
        }
        Ok(())
    }

    /// Checks the values that a member can read, and the one that it prefers; `None`: its entry is fixed.
    ///
    /// # Errors
    ///
    /// The rule of the kind that they break.
    pub fn allows<'a>(
        self,
        readable: impl ExactSizeIterator<Item = &'a str>,
        preferred: Option<&str>,
    ) -> Result<(), &'static str> {
        if self.is_voting_only() && preferred.is_none() {
            return Err("must vote, with a preferred version: what everybody can read is selected");
        }
        match self {
            Self::Encoding | Self::Key => Ok(()),
            Self::Feature => {
                let count = readable.len();
                let levels: BTreeSet<u32> = readable.filter_map(level_of).collect();
                let highest = levels.last().copied();
                let is_whole = levels.len() == count
                    && highest.is_some_and(|highest| highest as usize == count);
                if is_whole && preferred.and_then(level_of) == highest {
                    return Ok(());
                }
                Err(
                    "must be the levels v1, v2 and so on without a gap, and the preferred one the highest: who has a level \
                     has all below it",
                )
            }
            Self::Served => is_of_a_version(readable).then_some(()).ok_or(
                "must be withdrawn, with served before or after it if the release has the code of the version: not to serve \
                 a version is in everybody's power",
            ),
        }
    }
}

impl fmt::Display for TopicKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The level of a feature that a value names; `None` if it names none.
pub fn feature_level(value: &ApiVersion) -> Option<u32> {
    level_of(value.as_str())
}

/// Whether these are all of the values that a member can have of a version: `withdrawn`, with or without `served`.
fn is_of_a_version<'a>(readable: impl ExactSizeIterator<Item = &'a str>) -> bool {
    let count = readable.len();
    let distinct: BTreeSet<&str> = readable.collect();
    let mut known = distinct.iter();
    distinct.contains(WITHDRAWN)
        && distinct.len() == count
        && known.all(|value| [SERVED, WITHDRAWN].contains(value))
}

fn level_of(text: &str) -> Option<u32> {
    let digits = text.strip_prefix('v')?;
    let is_plain = digits.bytes().all(|c| c.is_ascii_digit()) && !digits.starts_with('0');
    let level = digits.parse().ok().filter(|_| is_plain)?;
    (level as usize <= VERSIONS_PER_ENTRY_MAX).then_some(level)
}

/// A topic, by its kind and its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic {
    kind: TopicKind,
    resource: GroupResource,
}

impl Topic {
    /// The topic that a resource is.
    pub fn of(resource: &GroupResource) -> Self {
        Self {
            kind: TopicKind::of(resource),
            resource: resource.clone(),
        }
    }

    /// The topic of this kind and name. An encoding and a key have the name of the resource that they are for
    /// (`secrets`, `deployments.apps`), a served version its own before that of its resource (`v1beta1.deployments.apps`),
    /// a feature any name of this form.
    ///
    /// # Errors
    ///
    /// A name that is not of the form `<label>[.<subdomain>]`; a resource of a reserved group as an encoding; a served
    /// version without a resource.
    pub fn new(kind: TopicKind, name: &str) -> Result<Self, Violations> {
        // Parsed alone first, so that a fault is told in the words of the name.
        let named = GroupResource::parse_qualified(name)?;
        let Some(reserved) = kind.group() else {
            if TopicKind::of(&named) != kind {
                let rule = "is of a group that topics of another kind have";
                return Err(Violation::invalid(name, rule).into());
            }
            return Ok(Self::of(&named));
        };
        let group = match named.group() {
            "" => reserved.to_owned(),
            group => format!("{group}.{reserved}"),
        };
        let resource = GroupResource::new(&group, named.resource())?;
        kind.names(&resource)
            .map_err(|_| Violation::invalid(name, VERSION_OF_RESOURCE))?;
        Ok(Self { kind, resource })
    }

    /// The topic with this text: `encoding/<name>`, `keys/<name>`, `features/<name>` or `served/<name>`.
    ///
    /// # Errors
    ///
    /// Another form, or a name that breaks its rule.
    pub fn parse(text: &str) -> Result<Self, Violations> {
        let parts = text.split_once('/');
        let kinds = TopicKind::ALL.iter().copied();
        let found = parts.and_then(|(kind, name)| {
            let kind = kinds.clone().find(|one| one.as_str() == kind)?;
            Some((kind, name))
        });
        let Some((kind, name)) = found else {
            let forms: Vec<String> = kinds.map(|kind| format!("`{kind}/<name>`")).collect();
            let rule = format_args!("must be {}", forms.join(" or "));
            return Err(Violation::invalid(text, rule).into());
        };
        Self::new(kind, name)
    }

    /// What it is about.
    pub const fn kind(&self) -> TopicKind {
        self.kind
    }

    /// The resource that it is: by this it is reported, adopted, read, watched, migrated and granted.
    pub const fn resource(&self) -> &GroupResource {
        &self.resource
    }

    /// Its name within its kind: `secrets`, `deployments.apps`.
    pub fn name(&self) -> &str {
        let text = self.resource.qualified();
        let reserved = self.kind.group();
        let name = reserved.and_then(|group| text.strip_suffix(group)?.strip_suffix('.'));
        name.unwrap_or(text)
    }
}

impl fmt::Display for Topic {
    /// Its text: `keys/secrets`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name())
    }
}

impl fmt::Debug for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Topic({self})")
    }
}

#[cfg(test)]
mod tests;
