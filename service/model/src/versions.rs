//! Versions of a resource, and sets of them.

use std::fmt;
use std::sync::Arc;

use crate::Violation;
use crate::names::{Faults, NameRule, dns1035_label, dns1123_subdomain};
use crate::text::shared_text;

/// A version that a resource can be encoded in: `[group/]version`, ordered as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion(Arc<str>);

impl ApiVersion {
    /// The version with this text.
    ///
    /// # Errors
    ///
    /// A group that is no DNS-1123 subdomain, a version that is no DNS-1035 label, or more than
    /// one slash; all of it in one violation.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        check(text).map_err(|rule| Violation::invalid(text, rule))?;
        Ok(Self(text.into()))
    }

    /// The group, or the empty string.
    pub fn group(&self) -> &str {
        self.0.split_once('/').map_or("", |(group, _)| group)
    }

    /// The version without its group.
    pub fn version(&self) -> &str {
        self.0
            .split_once('/')
            .map_or(&*self.0, |(_, version)| version)
    }
}

shared_text!(ApiVersion);

fn check(text: &str) -> Result<(), NameRule> {
    let mut faults = Faults::default();
    let (group, version) = match text.split_once('/') {
        None => (None, text),
        Some((_, rest)) if rest.contains('/') => {
            faults.add(API_VERSION);
            return faults.into_result();
        }
        Some((group, version)) => (Some(group), version),
    };
    match group {
        None => {}
        Some("") => faults.add("group part: must be non-empty"),
        Some(group) => faults.nest("group part: ", dns1123_subdomain(group)),
    }
    match version {
        "" => faults.add("version part: must be non-empty"),
        _ => faults.nest("version part: ", dns1035_label(version)),
    }
    faults.into_result()
}

const API_VERSION: &str = "an apiVersion is a DNS-1035 label, which must consist of lower case \
    alphanumeric characters or '-', start with an alphabetic character, and end with an \
    alphanumeric character (e.g. \
    'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?') \
    with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')";

/// Versions without duplicates, in the order in which they were given.
///
/// Two sets are equal when they hold the same versions in the same order: a report that only
/// reorders them is still another report.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionSet(Arc<[ApiVersion]>);

impl VersionSet {
    /// The set of these versions, in this order; `None` if one is there twice.
    pub(crate) fn of_distinct(versions: Vec<ApiVersion>) -> Option<Self> {
        let mut sorted: Vec<&ApiVersion> = versions.iter().collect();
        sorted.sort_unstable();
        let distinct = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        distinct.then(|| Self(versions.into()))
    }

    /// Whether it holds this version.
    pub fn contains(&self, version: &ApiVersion) -> bool {
        self.0.contains(version)
    }

    /// The versions in the order in which they were given.
    pub fn iter(&self) -> std::slice::Iter<'_, ApiVersion> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `other` holds every version of this set.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|version| other.contains(version))
    }
}

impl FromIterator<ApiVersion> for VersionSet {
    /// Keeps the first of equal versions.
    fn from_iter<I: IntoIterator<Item = ApiVersion>>(versions: I) -> Self {
        let mut kept: Vec<ApiVersion> = Vec::new();
        for version in versions {
            // A set has at most 64 versions, usually two or three: a scan is faster than hashing.
            if !kept.contains(&version) {
                kept.push(version);
            }
        }
        Self(kept.into())
    }
}

impl<'a> IntoIterator for &'a VersionSet {
    type Item = &'a ApiVersion;
    type IntoIter = std::slice::Iter<'a, ApiVersion>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for VersionSet {
    /// `[v1 apps/v1]`, as Kubernetes' messages print a list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<&str> = self.iter().map(ApiVersion::as_str).collect();
        write!(f, "[{}]", texts.join(" "))
    }
}

#[cfg(test)]
mod tests;
