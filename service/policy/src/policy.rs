//! The policy: a file of TOML, and the one that counts where there is no file.

use crate::caller::Caller;
use crate::fault::Fault;
use crate::grant::{Grant, Written};
use crate::rights::Rights;
use crate::tokens::{self, Tokens};
use serde::Deserialize;

/// The most bytes of a policy.
const BYTES_MAX: usize = 1 << 20;

/// The most grants of a policy.
const GRANTS_MAX: usize = 10_000;

/// What counts without a file: the names that `synod certs dev` gives.
const BUILT_IN: &str = r#"
[[grant]]
who = "spiffe://synod/admin"
role = "admin"

[[grant]]
who = "spiffe://synod/operator"
role = "operator"

[[grant]]
who = "spiffe://synod/reader"
role = "reader"

[[grant]]
who = "spiffe://synod/backup"
role = "backup"

[[grant]]
who = "spiffe://synod/member/*"
role = "member"
name = "*"
"#;

/// What the callers of a replica may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether a certificate without a SPIFFE id names its owner by its common name, as `cn:<name>`.
    pub common_names: bool,
    /// Whose tokens count; `None`: nobody's.
    pub tokens: Option<Tokens>,
    /// What is granted.
    pub grants: Vec<Grant>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    certificates: Certificates,
    tokens: Option<tokens::Written>,
    #[serde(default)]
    grant: Vec<Written>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Certificates {
    #[serde(default)]
    common_names: bool,
}

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    ///
    /// The first broken rule, with its line.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if text.len() > BYTES_MAX {
            let rule = format!("a policy has {BYTES_MAX} bytes at most");
            return Err(Fault::at(text, 0, rule));
        }
        let file: File = toml::from_str(text).map_err(|error| {
            let byte = error.span().map_or(0, |span| span.start);
            Fault::at(text, byte, error.message().to_owned())
        })?;
        if file.grant.len() > GRANTS_MAX {
            let rule = format!("a policy has {GRANTS_MAX} grants at most");
            return Err(Fault::at(text, 0, rule));
        }
        let tokens = file.tokens.map(|written| Tokens::read(text, written));
        let grants = file.grant.into_iter();
        let grants = grants.map(|written| Grant::read(text, written));
        Ok(Self {
            common_names: file.certificates.common_names,
            tokens: tokens.transpose()?,
            grants: grants.collect::<Result<_, _>>()?,
        })
    }

    /// The policy that counts where none is given: `spiffe://synod/admin` is an admin, `operator`, `reader` and
    /// `backup` have the roles of their names, and `spiffe://synod/member/<id>` is the member of this id.
    #[must_use]
    pub fn built_in() -> Self {
        Self::parse(BUILT_IN).expect("a test reads the built-in policy")
    }

    /// What a caller may do.
    #[must_use]
    pub fn rights(&self, caller: &Caller) -> Rights {
        let granted = self.grants.iter().filter(|grant| grant.is_for(caller));
        Rights::of(caller, granted)
    }
}
