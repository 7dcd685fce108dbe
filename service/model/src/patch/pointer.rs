//! JSON pointers (RFC 6901): the places in a document at which operations work.

use crate::limits::JSON_DEPTH_MAX;
use crate::{Json, Violation};

/// The keys and indexes that lead from the root to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pointer(Vec<String>);

impl Pointer {
    /// The pointer with this text: empty for the root, else each step after a slash.
    pub(super) fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let Some(steps) = text.strip_prefix('/') else {
            return Err(Violation::invalid(text, "must be empty or begin with '/'"));
        };
        let steps: Vec<String> = steps
            .split('/')
            .map(|step| unescaped(step).ok_or_else(|| escape(text)))
            .collect::<Result<_, _>>()?;
        if steps.len() > JSON_DEPTH_MAX {
            return Err(Violation::too_many(steps.len(), JSON_DEPTH_MAX));
        }
        Ok(Self(steps))
    }

    /// The number of its steps.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether `other` leads to a value inside of the one that this pointer leads to.
    pub(super) fn is_above(&self, other: &Self) -> bool {
        self.len() < other.len() && other.0.starts_with(&self.0)
    }

    /// The value that it leads to.
    pub(super) fn value<'a>(&self, root: &'a Json) -> Option<&'a Json> {
        reached(&self.0, root)
    }

    /// Whether it leads to a member that an object which is there does not have.
    pub(super) fn is_vacant(&self, root: &Json) -> bool {
        let Some((last, above)) = self.0.split_last() else {
            return false;
        };
        match reached(above, root) {
            Some(Json::Object(members)) => !members.contains_key(last),
            Some(
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_),
            )
            | None => false,
        }
    }

    /// The value that it leads to.
    pub(super) fn value_mut<'a>(&self, root: &'a mut Json) -> Option<&'a mut Json> {
        followed(&self.0, root)
    }

    /// The list or object that holds the value it leads to, and the last step. `None` for the root, and if an earlier
    /// step leads nowhere.
    pub(super) fn holder_mut<'a, 'b>(
        &'b self,
        root: &'a mut Json,
    ) -> Option<(&'a mut Json, &'b str)> {
        let (last, above) = self.0.split_last()?;
        Some((followed(above, root)?, last))
    }
}

fn reached<'a>(steps: &[String], root: &'a Json) -> Option<&'a Json> {
    steps.iter().try_fold(root, |value, step| match value {
        Json::Object(members) => members.get(step),
        Json::Array(items) => items.get(index(step)?),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
    })
}

fn followed<'a>(steps: &[String], root: &'a mut Json) -> Option<&'a mut Json> {
    steps.iter().try_fold(root, |value, step| match value {
        Json::Object(members) => members.get_mut(step),
        Json::Array(items) => items.get_mut(index(step)?),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => None,
    })
}

/// The index in an array: digits without a zero before them.
pub(super) fn index(step: &str) -> Option<usize> {
    let plain = step.bytes().all(|c| c.is_ascii_digit());
    let shortest = step == "0" || !step.starts_with('0');
    (plain && shortest).then(|| step.parse().ok()).flatten()
}

fn unescaped(step: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = step.chars();
    while let Some(c) = rest.next() {
        text.push(match c {
            '~' => match rest.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            _ => c,
        });
    }
    Some(text)
}

fn escape(text: &str) -> Violation {
    Violation::invalid(text, "must have '0' or '1' after each '~'")
}
