//! Grants: who gets which role, as whom, and within what.

use serde::Deserialize;
use synod_model::{MemberId, NamePattern};
use toml::Spanned;

use crate::caller::Caller;
use crate::fault::Fault;
use crate::item::Item;
use crate::pattern::Pattern;
use crate::right::Role;

/// What stands in a `name` for what the `*` in `who` stands for.
const CAPTURED: &str = "*";

/// What stands in a `name` for the pod that the token of the caller is bound to. No member can have this name.
const POD: &str = "{pod}";

/// What the names of service accounts and those that front proxies tell begin with. The steps of these names are parted by `:`.
const PARTED: [&str; 3] = ["system:serviceaccount:", "remote:", REMOTE_GROUP];

/// What the names begin with that front proxies tell. A `who` that is for them begins so, too: a `*` stands for no such beginning.
const TOLD: [&str; 2] = ["remote:", REMOTE_GROUP];

/// What the names of groups begin with.
const REMOTE_GROUP: &str = "remote-group:";

/// The most `names` of a grant: the log carries them with every command of the caller.
const NAMES_MAX: usize = 16;

/// One grant of a policy.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The line of the policy in which it begins, from 1 on.
    pub line: usize,
    /// The role that it gives.
    pub role: Role,
    who: Pattern,
    name: Option<Naming>,
    names: Vec<NamePattern>,
    namespaces: Option<Vec<Pattern>>,
    collections: Option<Vec<Pattern>>,
    leases: Option<Vec<Pattern>>,
}

/// As which member a caller acts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Naming {
    Captured,
    Pod,
    Fixed(MemberId),
}

/// A grant as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    who: Spanned<String>,
    role: Role,
    name: Option<Spanned<String>>,
    #[serde(default)]
    names: Vec<Spanned<String>>,
    namespaces: Option<Vec<Spanned<String>>>,
    collections: Option<Vec<Spanned<String>>>,
    leases: Option<Vec<Spanned<String>>>,
}

/// Two grants are equal that say the same, wherever they stand.
impl PartialEq for Grant {
    fn eq(&self, other: &Self) -> bool {
        let said = |it: &Self| {
            let Self {
                line: _,
                role,
                who,
                name,
                names,
                namespaces,
                collections,
                leases,
            } = it.clone();
            (role, who, name, names, namespaces, collections, leases)
        };
        said(self) == said(other)
    }
}

impl Eq for Grant {}

impl Grant {
    pub(crate) fn read(text: &str, written: Written) -> Result<Self, Fault> {
        written.check(text)?;
        let who = pattern(text, "who", &written.who)?;
        let name = written.name.as_ref();
        let name = name.map(|name| naming(text, name, &who)).transpose()?;
        let limit = |field, patterns: Option<Vec<Spanned<String>>>| {
            let read = |it: &Spanned<String>| pattern(text, field, it);
            let read = patterns.map(|all| all.iter().map(read).collect());
            read.transpose()
        };
        let names = written.names.iter().map(|name| {
            let read = NamePattern::parse(name.get_ref());
            read.map_err(|rule| fault(text, "names", name, rule))
        });
        Ok(Self {
            line: Fault::at(text, written.who.span().start, "").line,
            role: written.role,
            name,
            names: names.collect::<Result<_, _>>()?,
            namespaces: limit("namespaces", written.namespaces)?,
            collections: limit("collections", written.collections)?,
            leases: limit("leases", written.leases)?,
            who,
        })
    }

    /// Whether the grant is for this caller.
    pub(crate) fn is_for(&self, caller: &Caller) -> bool {
        let groups = caller.groups.iter();
        let mut names = [caller.identity.as_str()]
            .into_iter()
            .chain(groups.map(String::as_str));
        names.any(|name| self.captured(name).is_some())
    }

    /// As which member the caller acts by this grant.
    pub(crate) fn member(&self, caller: &Caller) -> Option<MemberId> {
        match self.name.as_ref()? {
            // A group names nobody: none of its grants has a name.
            Naming::Captured => MemberId::parse(self.captured(caller.identity.as_str())?).ok(),
            Naming::Pod => MemberId::parse(caller.pod.as_deref()?).ok(),
            Naming::Fixed(id) => Some(id.clone()),
        }
    }

    /// Whether the caller acts as the member that has the name of its pod.
    pub(crate) fn is_for_pods(&self) -> bool {
        self.name == Some(Naming::Pod)
    }

    /// The names under which the caller may hold leases and work, besides that of its member.
    pub(crate) fn names(&self) -> &[NamePattern] {
        &self.names
    }

    /// Whether nothing narrows the grant.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.namespaces.is_none() && self.collections.is_none() && self.leases.is_none()
    }

    /// Whether what a call names is within what the grant is narrowed to.
    pub(crate) fn covers(&self, item: &Item<'_>) -> bool {
        match item {
            Item::Member(_) | Item::Holder(_) => true,
            // Who is kept within namespaces or leases does not decide about whole collections, unless they are named.
            Item::Collection(name) => {
                let is_named = self.collections.is_some() || self.is_wide();
                is_named && is_in(self.collections.as_ref(), name)
            }
            Item::Objects(spot) => {
                is_in(self.collections.as_ref(), spot.collection)
                    && is_in(self.namespaces.as_ref(), spot.namespace)
            }
            Item::Leases(spot) => {
                let full = match spot.namespace {
                    "" => String::new(),
                    namespace => format!("{namespace}/{}", spot.name),
                };
                let is_one = !spot.namespace.is_empty() && !spot.name.is_empty();
                let covers = |pattern: &Pattern| match is_one {
                    true => pattern.matches(&full),
                    false => pattern.covers_all_of(&full),
                };
                is_in(self.namespaces.as_ref(), spot.namespace)
                    && self
                        .leases
                        .as_ref()
                        .is_none_or(|all| all.iter().any(covers))
            }
        }
    }

    /// What the `*` in `who` stands for in a name of a caller; `None` if the grant is not for it.
    fn captured<'a>(&self, name: &'a str) -> Option<&'a str> {
        let captured = self.who.captured(name)?;
        let told = TOLD.iter().find(|begins| name.starts_with(**begins));
        if told.is_some_and(|begins| !self.who.begins_with(begins)) {
            return None;
        }
        let part = match PARTED.iter().any(|begins| name.starts_with(begins)) {
            true => ':',
            false => '/',
        };
        // A part of a path stands for one name, never for several steps of the path.
        let is_step = self.who.has_star() && (captured.is_empty() || captured.contains(part));
        (!is_step).then_some(captured)
    }
}

/// Whether a name is within a limit; an empty one means all.
fn is_in(limit: Option<&Vec<Pattern>>, name: &str) -> bool {
    let covers = |pattern: &Pattern| match name {
        "" => pattern.covers_all_of(""),
        name => pattern.matches(name),
    };
    limit.is_none_or(|all| all.iter().any(covers))
}

impl Written {
    /// What holds of more than one field.
    fn check(&self, text: &str) -> Result<(), Fault> {
        for lease in self.leases.iter().flatten() {
            if lease.get_ref() != "*" && !lease.get_ref().contains('/') {
                let rule = "must be `<namespace>/<name>`, with one `*` at most, or `*`";
                return Err(fault(text, "leases", lease, rule));
            }
        }
        if let Some(name) = self.names.get(NAMES_MAX) {
            let rule = format!("is one too many: a grant has {NAMES_MAX} names at most");
            return Err(fault(text, "names", name, rule));
        }
        let is_narrowed =
            self.namespaces.is_some() || self.collections.is_some() || self.leases.is_some();
        let rule = match self.role {
            Role::Admin => "an admin may do everything: give another role, or narrow nothing",
            Role::Backup => "a backup holds everything: narrow nothing",
            Role::Member | Role::Reader | Role::Operator => return Ok(()),
        };
        if is_narrowed {
            return Err(Fault::at(text, self.who.span().start, rule));
        }
        Ok(())
    }
}

fn naming(text: &str, name: &Spanned<String>, who: &Pattern) -> Result<Naming, Fault> {
    if who.begins_with(REMOTE_GROUP) {
        let rule = "a group is many callers, and a member is one of them: give a `name` to a `who` that begins with `remote:`";
        return Err(fault(text, "name", name, rule));
    }
    match name.get_ref().as_str() {
        POD => Ok(Naming::Pod),
        CAPTURED if who.has_star() => Ok(Naming::Captured),
        CAPTURED => Err(fault(
            text,
            "name",
            name,
            "`*` stands for what the `*` in `who` stands for, which has none",
        )),
        fixed => match MemberId::parse(fixed) {
            Ok(id) => Ok(Naming::Fixed(id)),
            Err(rule) => Err(fault(text, "name", name, rule)),
        },
    }
}

fn pattern(text: &str, field: &str, written: &Spanned<String>) -> Result<Pattern, Fault> {
    Pattern::parse(written.get_ref()).map_err(|rule| fault(text, field, written, rule))
}

fn fault(
    text: &str,
    field: &str,
    written: &Spanned<String>,
    rule: impl std::fmt::Display,
) -> Fault {
    let rule = format!(
        "`{field}` = \"{}\": {rule}",
        written.get_ref().escape_debug()
    );
    Fault::at(text, written.span().start, rule)
}
