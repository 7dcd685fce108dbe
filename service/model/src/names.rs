//! The name rules of Kubernetes, with its messages for names that break them.
//!
//! Lengths are counted in bytes, as in Kubernetes.

use std::fmt;

use crate::limits::{LABEL_BYTES_MAX, SUBDOMAIN_BYTES_MAX};

/// The rules that a name breaks, all of them, in Kubernetes' words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameRule(Vec<String>);

impl NameRule {
    /// Each broken rule by itself.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl fmt::Display for NameRule {
    /// The broken rules, joined by a comma as Kubernetes joins them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl std::error::Error for NameRule {}

/// A DNS-1123 label: `my-name`, `123-abc`.
///
/// # Errors
///
/// Longer than 63 bytes, or other than lower case letters, digits and inner hyphens.
pub fn dns1123_label(name: &str) -> Result<(), NameRule> {
    let mut faults = Faults::default();
    faults.longer_than(name, LABEL_BYTES_MAX);
    if !is_dns1123_label(name) {
        if is_dns1123_subdomain(name) {
            faults.add("must not contain dots");
        } else {
            faults.add(DNS1123_LABEL);
        }
    }
    faults.into_result()
}

/// A DNS-1123 subdomain: `example.com`.
///
/// # Errors
///
/// Longer than 253 bytes, or other than DNS-1123 labels of any length, joined by dots.
pub fn dns1123_subdomain(name: &str) -> Result<(), NameRule> {
    let mut faults = Faults::default();
    faults.longer_than(name, SUBDOMAIN_BYTES_MAX);
    if !is_dns1123_subdomain(name) {
        faults.add(DNS1123_SUBDOMAIN);
    }
    faults.into_result()
}

/// A DNS-1035 label: like a DNS-1123 label, but it begins with a letter.
///
/// # Errors
///
/// Longer than 63 bytes, a first character that is no letter, or other than lower case letters,
/// digits and inner hyphens.
pub fn dns1035_label(name: &str) -> Result<(), NameRule> {
    let mut faults = Faults::default();
    faults.longer_than(name, LABEL_BYTES_MAX);
    if !is_dns1035_label(name) {
        faults.add(DNS1035_LABEL);
    }
    faults.into_result()
}

/// A qualified name: a name with an optional DNS-1123 subdomain before it, `example.com/MyName`.
///
/// # Errors
///
/// More than one slash, or a part that breaks its rule.
pub fn qualified_name(name: &str) -> Result<(), NameRule> {
    let mut faults = Faults::default();
    let (prefix, name) = match name.split_once('/') {
        None => (None, name),
        Some((_, rest)) if rest.contains('/') => {
            faults.add(&format!(
                "a qualified name {QUALIFIED_NAME} with an optional DNS subdomain prefix and '/' \
                 (e.g. 'example.com/MyName')"
            ));
            return faults.into_result();
        }
        Some((prefix, name)) => (Some(prefix), name),
    };
    match prefix {
        None => {}
        Some("") => faults.add("prefix part must be non-empty"),
        Some(prefix) => faults.nest("prefix part ", dns1123_subdomain(prefix)),
    }
    if name.is_empty() {
        faults.add("name part must be non-empty");
    } else if name.len() > LABEL_BYTES_MAX {
        faults.add(&format!(
            "name part must be no more than {LABEL_BYTES_MAX} characters"
        ));
    }
    if !is_qualified_part(name) {
        faults.add(&format!("name part {QUALIFIED_NAME}"));
    }
    faults.into_result()
}

/// A label's value: empty, or like the name part of a qualified name.
///
/// # Errors
///
/// Longer than 63 bytes, or a character that is not allowed where it stands.
pub fn label_value(value: &str) -> Result<(), NameRule> {
    let mut faults = Faults::default();
    faults.longer_than(value, LABEL_BYTES_MAX);
    if !value.is_empty() && !is_qualified_part(value) {
        faults.add(LABEL_VALUE);
    }
    faults.into_result()
}

// Kubernetes' messages have two spaces between examples, too: a search for the message must find
// it.

const DNS1123_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
    characters or '-', and must start and end with an alphanumeric character (e.g. \
    'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const DNS1123_SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
    alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character \
    (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const DNS1035_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters \
    or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. \
    'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const QUALIFIED_NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must \
    start and end with an alphanumeric character (e.g. \
    'MyName',  or 'my.name',  or '123-abc', \
    regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric \
    characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
    'MyValue',  or 'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// The broken rules found so far.
#[derive(Default)]
pub(crate) struct Faults(Vec<String>);

impl Faults {
    pub(crate) fn add(&mut self, rule: &str) {
        self.0.push(rule.to_owned());
    }

    /// Adds the rules that a part breaks, each after the part's name.
    pub(crate) fn nest(&mut self, part: &str, checked: Result<(), NameRule>) {
        if let Err(NameRule(rules)) = checked {
            self.0
                .extend(rules.into_iter().map(|rule| format!("{part}{rule}")));
        }
    }

    pub(crate) fn into_result(self) -> Result<(), NameRule> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(NameRule(self.0))
        }
    }

    fn longer_than(&mut self, name: &str, bytes_max: usize) {
        if name.len() > bytes_max {
            self.add(&format!("must be no more than {bytes_max} characters"));
        }
    }
}

fn is_dns1123_label(name: &str) -> bool {
    is_enclosed(name, is_lower_alphanumeric, |c| {
        is_lower_alphanumeric(c) || c == b'-'
    })
}

fn is_dns1123_subdomain(name: &str) -> bool {
    name.split('.').all(is_dns1123_label)
}

fn is_dns1035_label(name: &str) -> bool {
    is_dns1123_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase())
}

fn is_qualified_part(name: &str) -> bool {
    is_enclosed(
        name,
        |c| c.is_ascii_alphanumeric(),
        |c| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.'),
    )
}

/// Whether the first and last bytes satisfy `outer` and all of them `inner`. False when empty.
fn is_enclosed(name: &str, outer: fn(u8) -> bool, inner: fn(u8) -> bool) -> bool {
    match name.as_bytes() {
        [] => false,
        [only] => outer(*only),
        [first, middle @ .., last] => {
            outer(*first) && outer(*last) && middle.iter().all(|c| inner(*c))
        }
    }
}

fn is_lower_alphanumeric(c: u8) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

#[cfg(test)]
mod tests;
