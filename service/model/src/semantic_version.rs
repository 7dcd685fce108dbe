//! Semantic versions, which have an order.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::Violation;
use crate::limits::BINARY_VERSION_BYTES_MAX;
use crate::text::short_identity;

/// A semantic version with its text, read as Kubernetes reads it: a leading `v`, missing minor and
/// patch numbers and leading zeros are forgiven. Build metadata has no part in the order.
#[derive(Clone, Debug)]
pub struct SemanticVersion {
    text: Arc<str>,
    numbers: [u64; 3],
    pre: Vec<Identifier>,
}

/// An identifier of a pre-release. A number is ordered before any text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Text(String),
}

impl SemanticVersion {
    /// The version with this text.
    ///
    /// # Errors
    ///
    /// Not a semantic version, or longer than 128 bytes.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        short_identity(text, BINARY_VERSION_BYTES_MAX)?;
        let (numbers, pre) = read(text).ok_or_else(|| {
            Violation::invalid(text, "must be a semantic version, such as 1.37.0")
        })?;
        Ok(Self {
            text: text.into(),
            numbers,
            pre,
        })
    }

    /// The version with this text, or 0.0.0 if there is no legal text, as Kubernetes compares
    /// versions.
    pub fn or_zero(text: Option<&str>) -> Self {
        let parsed = text.and_then(|text| Self::parse(text).ok());
        parsed.unwrap_or_else(|| Self {
            text: "0.0.0".into(),
            numbers: [0; 3],
            pre: Vec::new(),
        })
    }

    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn read(text: &str) -> Option<([u64; 3], Vec<Identifier>)> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, build) = text
        .split_once('+')
        .map_or((text, None), |(text, build)| (text, Some(build)));
    let (core, pre) = text
        .split_once('-')
        .map_or((text, None), |(core, pre)| (core, Some(pre)));
    let parts: Vec<&str> = core.split('.').collect();
    // Missing numbers are zero, but then no pre-release and no build metadata may follow.
    if parts.len() > 3 || (parts.len() < 3 && (pre.is_some() || build.is_some())) {
        return None;
    }
    let mut numbers = [0; 3];
    for (number, part) in numbers.iter_mut().zip(parts) {
        *number = digits(part)?;
    }
    let legal = |part: &str| {
        !part.is_empty() && part.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
    };
    if !build
        .into_iter()
        .flat_map(|build| build.split('.'))
        .all(legal)
    {
        return None;
    }
    let pre: Vec<&str> = pre.into_iter().flat_map(|pre| pre.split('.')).collect();
    if !pre.iter().all(|part| legal(part)) {
        return None;
    }
    let pre = pre.into_iter().map(|part| match digits(part) {
        Some(number) => Identifier::Number(number),
        None => Identifier::Text(part.to_owned()),
    });
    Some((numbers, pre.collect()))
}

fn digits(part: &str) -> Option<u64> {
    let plain = !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    plain.then(|| part.parse().ok()).flatten()
}

impl Ord for SemanticVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let released = |version: &Self| version.pre.is_empty();
        self.numbers
            .cmp(&other.numbers)
            // A release is ordered after its pre-releases.
            .then_with(|| released(self).cmp(&released(other)))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}

impl PartialOrd for SemanticVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SemanticVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SemanticVersion {}

impl fmt::Display for SemanticVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> SemanticVersion {
        SemanticVersion::parse(text).unwrap()
    }

    #[test]
    fn versions_are_ordered_by_number_and_by_what_leads_up_to_them() {
        let ascending = [
            "0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.2.0",
            "1.19.0",
            "1.19.1",
            "2.0.0",
        ];
        for pair in ascending.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn what_kubernetes_forgives_is_read_and_build_metadata_does_not_count() {
        assert_eq!(version("v1.37"), version("1.37.0+k3s1"));
        assert_eq!(version("1").as_str(), "1");
        for bad in [
            "",
            "xyz",
            "1.2.3.4",
            "1.-2",
            "1.2.3-",
            "1.2.3-a..b",
            "1.2-rc",
            "1.2.3+",
        ] {
            assert!(SemanticVersion::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(SemanticVersion::or_zero(Some("xyz")), version("0.0.0"));
        assert_eq!(SemanticVersion::or_zero(None), version("0.0.0"));
    }
}
