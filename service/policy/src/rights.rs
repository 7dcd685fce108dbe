//! What one caller may do, and the decision about a call.

use std::fmt;

use synod_model::{Actor, MemberId, NamePattern};

use crate::caller::Caller;
use crate::grant::Grant;
use crate::item::Item;
use crate::right::{Right, Role};

/// The most names of a caller: the log carries them with every command. Those of later grants are left out.
const NAMES_MAX: usize = 64;

/// What one caller may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    actor: Actor,
    granted: Vec<Granted>,
}

/// A grant to this caller.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Granted {
    grant: Grant,
    member: Option<MemberId>,
}

/// Why a call is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Denial(String);

impl Rights {
    pub(crate) fn of<'a>(caller: &Caller, grants: impl Iterator<Item = &'a Grant>) -> Self {
        let granted: Vec<_> = grants
            .map(|grant| Granted {
                grant: grant.clone(),
                member: grant.member(caller),
            })
            .collect();
        let is_everybody = granted.iter().any(|it| it.grant.role == Role::Admin);
        let names = granted.iter().flat_map(|it| {
            let member = it.member.as_ref().map(|id| id.as_str());
            let own = member.and_then(|id| NamePattern::parse(id).ok());
            own.into_iter().chain(it.grant.names().iter().cloned())
        });
        let mut own: Vec<NamePattern> = Vec::new();
        for name in names {
            if own.len() < NAMES_MAX && !own.contains(&name) {
                own.push(name);
            }
        }
        let actor = Actor {
            identity: caller.identity.clone(),
            names: (!is_everybody).then_some(own),
        };
        Self { actor, granted }
    }

    /// Who calls, and under which names it acts.
    #[must_use]
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The grants to this caller, with the member as which it acts by each.
    pub fn grants(&self) -> impl Iterator<Item = (&Grant, Option<&MemberId>)> {
        self.granted
            .iter()
            .map(|it| (&it.grant, it.member.as_ref()))
    }

    /// Whether the caller may call a method that needs this, whatever the call names.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn allow(&self, right: Right) -> Result<(), Denial> {
        if self.with(right).next().is_some() {
            return Ok(());
        }
        let who = &self.actor.identity;
        if self.granted.is_empty() {
            return Err(Denial(format!(
                "nothing is granted to \"{who}\": an operator must add a grant to the policy whose `who` it matches"
            )));
        }
        let have = list(self.granted.iter().map(|it| it.grant.role));
        let need = list(Role::ALL.into_iter().filter(|role| role.has(right)));
        Err(Denial(format!(
            "this needs the right {}, which the roles {need} have, and \"{who}\" has the role {have}",
            right.name()
        )))
    }

    /// Whether the caller may name this in a call that needs this right.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn allow_item(&self, right: Right, item: &Item<'_>) -> Result<(), Denial> {
        let permits = |it: &Granted| {
            let is_own = match item {
                Item::Member(name) => {
                    it.grant.role == Role::Admin
                        || it.member.as_ref().is_some_and(|id| id.as_str() == *name)
                }
                Item::Holder(name) => self.actor.may_act_as(name),
                Item::Collection(_) | Item::Objects(_) | Item::Leases(_) => true,
            };
            is_own && it.grant.covers(item)
        };
        if self.with(right).any(permits) {
            return Ok(());
        }
        self.allow(right)?;
        let who = &self.actor.identity;
        Err(Denial(match item {
            Item::Member(_) => {
                let own = self.granted.iter().filter_map(|it| it.member.as_ref());
                match list(own).as_str() {
                    "" if self.granted.iter().any(|it| it.grant.is_for_pods()) => format!(
                        "\"{who}\" may not act as {item}: the policy gives it the `name` of its pod, and its token is \
                         bound to none"
                    ),
                    "" => format!("\"{who}\" may not act as {item}: the policy gives it no `name`"),
                    own => format!("\"{who}\" may not act as {item}: it is {own}"),
                }
            }
            Item::Holder(_) => match list(self.actor.names.iter().flatten()).as_str() {
                "" => format!(
                    "\"{who}\" may not act as {item}: the policy gives it neither a `name` nor `names`"
                ),
                own => format!(
                    "\"{who}\" may not act as {item}: its names are {own}, each alone or with `_` or `/` and more behind it"
                ),
            },
            Item::Collection(_) | Item::Objects(_) | Item::Leases(_) => {
                format!(
                    "\"{who}\" has the right {} for less than {item}: its grants are narrowed",
                    right.name()
                )
            }
        }))
    }

    /// Whether nothing that a call of this right names, but members and holders, can be refused.
    #[must_use]
    pub fn is_wide(&self, right: Right) -> bool {
        self.with(right).any(|it| it.grant.is_wide())
    }

    fn with(&self, right: Right) -> impl Iterator<Item = &Granted> {
        self.granted
            .iter()
            .filter(move |it| it.grant.role.has(right))
    }
}

/// The texts with commas, none twice.
fn list<T: fmt::Display>(all: impl Iterator<Item = T>) -> String {
    let mut said: Vec<String> = Vec::new();
    for one in all {
        let one = one.to_string();
        if !said.contains(&one) {
            said.push(one);
        }
    }
    said.join(", ")
}
