//! The id of a member.

use std::sync::Arc;

use crate::Violation;
use crate::names::dns1123_subdomain;
use crate::text::shared_text;

/// The id of an API server: a DNS-1123 subdomain, the same over its restarts.
///
/// [`apiserver_id`](crate::apiserver_id()) makes the one that Kubernetes would give it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(Arc<str>);

impl MemberId {
    /// The id with this text.
    ///
    /// # Errors
    ///
    /// Not a DNS-1123 subdomain.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        dns1123_subdomain(text).map_err(|rule| Violation::invalid(text, rule))?;
        Ok(Self(text.into()))
    }

    /// The id of an API server in Kubernetes' form. Lower case base32 is letters and digits, so
    /// the name rule holds for any `encoded` that is not longer than a label.
    pub(crate) fn from_base32(encoded: &str) -> Self {
        Self(format!("apiserver-{encoded}").into())
    }
}

shared_text!(MemberId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_dns_subdomain_and_displays_as_given() {
        assert_eq!(MemberId::parse("a.b-1").unwrap().to_string(), "a.b-1");
        let violation = MemberId::parse("-fea").unwrap_err().at("apiServerID");
        assert!(
            violation
                .to_string()
                .starts_with(r#"apiServerID: Invalid value: "-fea": a lower"#)
        );
    }
}
