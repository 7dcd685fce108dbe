//! Transport security, and what proves who calls, in the options of a client.

use serde_json::Value;
use synod_client::{ClientTls, KeyPair, Pem, Token, Violation, Violations};

use crate::options::{Options, rule, text};

/// Reads transport security.
pub(crate) fn tls(value: &Value) -> Result<ClientTls, Violations> {
    let mut options = Options::of(value)?;
    let trusted_ca = options.need("ca", pem);
    let (certificate, key) = (options.take("certificate", pem), options.take("key", pem));
    let server_name = options.take("serverName", plain());
    let own = match (certificate, key) {
        (Some(certificate), Some(key)) => Some(KeyPair { certificate, key }),
        (None, None) => None,
        (Some(_), None) => {
            options.complain(Violation::required("must be given with a certificate").at("key"));
            None
        }
        (None, Some(_)) => {
            options.complain(Violation::required("must be given with a key").at("certificate"));
            None
        }
    };
    options.finish(trusted_ca.map(|trusted_ca| ClientTls {
        trusted_ca,
        own,
        server_name,
    }))
}

/// Reads a token: where it stands, or itself.
pub(crate) fn token(value: &Value) -> Result<Token, Violations> {
    let mut options = Options::of(value)?;
    let file = options.take("file", plain());
    let text = options.take("text", plain());
    let token = match (file, text) {
        (Some(path), None) => Some(Token::File(path.into())),
        (None, Some(text)) => Some(Token::Text(text.into())),
        _ => {
            options.complain(rule("must have either `file` or `text`"));
            None
        }
    };
    options.finish(token)
}

/// Reads a PEM text: where it stands, or itself.
fn pem(value: &Value) -> Result<Pem, Violations> {
    let mut options = Options::of(value)?;
    let file = options.take("file", plain());
    let bytes = options.take("pem", plain());
    let pem = match (file, bytes) {
        (Some(path), None) => Some(Pem::File(path.into())),
        (None, Some(text)) => Some(Pem::Bytes(text.as_bytes().into())),
        _ => {
            options.complain(rule("must have either `file` or `pem`"));
            None
        }
    };
    options.finish(pem)
}

fn plain() -> impl Fn(&Value) -> Result<String, Violations> {
    text(|text| Ok::<_, Violation>(text.to_owned()))
}
