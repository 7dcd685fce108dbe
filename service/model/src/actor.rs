//! Who sends a command, as the replica that took the call has proved it.

use std::sync::Arc;

use crate::limits::IDENTITY_BYTES_MAX;
use crate::text::{shared_text, short_identity};
use crate::{Violation, limits::HOLDER_BYTES_MAX};

/// The proved name of a caller: the SPIFFE id or the common name of its certificate, or the subject of its token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(Arc<str>);

/// Which names of holders and workers are the caller's own: one name, or with a `*` at its end all that begin so.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamePattern(Arc<str>);

/// Who sends a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// Its proved name.
    pub identity: Identity,
    /// The names under which it may hold leases and work on migrations; `None`: under every name.
    pub names: Option<Vec<NamePattern>>,
}

impl Identity {
    /// The identity with this text.
    ///
    /// # Errors
    ///
    /// Empty, longer than 512 bytes, or with control characters, bidirectional marks or line separators.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            return Err(Violation::required("must be the proved name of a caller"));
        }
        short_identity(text, IDENTITY_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

impl NamePattern {
    /// The pattern with this text.
    ///
    /// # Errors
    ///
    /// Empty, longer than a holder's identity may be, with a `*` elsewhere than at its end, or with control characters,
    /// bidirectional marks or line separators.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            let rule = "must be a name, or the beginning of names and `*`";
            return Err(Violation::required(rule));
        }
        short_identity(text, HOLDER_BYTES_MAX)?;
        if text[..text.len() - 1].contains('*') {
            let rule = "must have a `*` at its end only";
            return Err(Violation::invalid(text, rule));
        }
        Ok(Self(text.into()))
    }

    /// Whether a name is this one, or one that begins with it and `_` or `/`: holders tell their processes apart so, and no
    /// other member's id can begin so.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        if let Some(beginning) = self.0.strip_suffix('*') {
            return name.starts_with(beginning);
        }
        let rest = name.strip_prefix(&*self.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '/']))
    }
}

shared_text!(Identity);
shared_text!(NamePattern);

impl Actor {
    /// Whether the caller may act under this name.
    #[must_use]
    pub fn may_act_as(&self, name: &str) -> bool {
        let own = self.names.as_ref();
        own.is_none_or(|own| own.iter().any(|pattern| pattern.matches(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> NamePattern {
        NamePattern::parse(text).unwrap()
    }

    #[test]
    fn a_name_covers_itself_and_its_processes_and_no_longer_name() {
        let own = pattern("server-1");
        for name in ["server-1", "server-1_7f3a", "server-1/lock"] {
            assert!(own.matches(name), "{name}");
        }
        for name in ["server-10", "server-1.b", "server-1-b", "server-", "x", ""] {
            assert!(!own.matches(name), "{name}");
        }
    }

    #[test]
    fn a_star_covers_all_that_begin_so() {
        assert!(pattern("batch-*").matches("batch-"));
        assert!(pattern("batch-*").matches("batch-7"));
        assert!(!pattern("batch-*").matches("batch"));
        assert!(pattern("*").matches("anything"));
    }

    #[test]
    fn a_pattern_has_a_star_only_at_its_end() {
        for text in ["", "a*b", "**", "*a", "a\nb"] {
            assert!(NamePattern::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn who_has_no_names_acts_under_none_and_who_has_all_under_each() {
        let actor = |names| Actor {
            identity: Identity::parse("spiffe://synod/reader").unwrap(),
            names,
        };
        assert!(!actor(Some(Vec::new())).may_act_as("server-1"));
        assert!(actor(None).may_act_as("server-1"));
        assert!(actor(Some(vec![pattern("a"), pattern("server-1")])).may_act_as("server-1_x"));
    }
}
