//! Whose tokens count.

use serde::Deserialize;
use toml::Spanned;

use crate::fault::Fault;

/// The most audiences of a policy.
const AUDIENCES_MAX: usize = 16;

/// The most bytes of an issuer, an audience or a path.
const TEXT_BYTES_MAX: usize = 1_024;

/// Whose tokens prove who calls. Nothing here checks a token: who does takes it from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// Who makes them.
    pub issuer: String,
    /// Whom they are for; at least one.
    pub audiences: Vec<String>,
    /// The file with the issuer's keys, as it is written: from the folder of the policy on, unless it is absolute.
    pub jwks_file: String,
}

/// The table as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    issuer: Spanned<String>,
    audiences: Spanned<Vec<Spanned<String>>>,
    jwks_file: Spanned<String>,
}

impl Tokens {
    pub(crate) fn read(text: &str, written: Written) -> Result<Self, Fault> {
        let Written {
            issuer,
            audiences,
            jwks_file,
        } = written;
        check(text, "issuer", &issuer)?;
        check(text, "jwks_file", &jwks_file)?;
        let begin = audiences.span().start;
        let audiences = audiences.into_inner();
        if audiences.is_empty() || audiences.len() > AUDIENCES_MAX {
            let rule = format!("`audiences` must name one at least, and {AUDIENCES_MAX} at most");
            return Err(Fault::at(text, begin, rule));
        }
        for audience in &audiences {
            check(text, "audiences", audience)?;
        }
        Ok(Self {
            issuer: issuer.into_inner(),
            audiences: audiences.into_iter().map(Spanned::into_inner).collect(),
            jwks_file: jwks_file.into_inner(),
        })
    }
}

fn check(text: &str, field: &str, written: &Spanned<String>) -> Result<(), Fault> {
    let bytes = written.get_ref().len();
    if (1..=TEXT_BYTES_MAX).contains(&bytes) {
        return Ok(());
    }
    let rule = format!("`{field}` must have 1 to {TEXT_BYTES_MAX} bytes");
    Err(Fault::at(text, written.span().start, rule))
}
