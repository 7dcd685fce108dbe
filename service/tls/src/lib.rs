//! Transport security of Synod's replicas and clients, by rustls.
//!
//! - [`Acceptor`] is the serving end, [`Connector`] the calling end of a connection; a [`FreshConnector`] looks at its files before
//!   each one.
//! - [`Pem`] is a certificate, a key or a CA bundle, in a file or as bytes; [`KeyPair`] a certificate with its key.
//! - [`look()`] tells what a server shows even where it is not trusted.
//! - Files are read again by `refresh`: new connections use what they hold then, and open connections stay. A file that
//!   cannot be used changes nothing: what was read before stays in use, and the caller gets the [`Fault`].
//!
//! Connections speak TLS 1.3; an acceptor lets TLS 1.2 in only if asked. No session is resumed: each connection proves
//! anew who is at its ends, so a CA that was taken away is taken away for every new connection.

mod acceptor;
mod connector;
mod crypto;
mod fault;
mod fresh;
mod look;
mod pem;
mod reloaded;
mod subject;
mod validity;

pub use acceptor::{Acceptor, Certificate, Protocol, ServerTls, Signer, Versions};
pub use connector::{ClientTls, Connector};
pub use fault::{Fault, Part};
pub use fresh::FreshConnector;
pub use look::{Look, ShownCertificate, look};
pub use pem::{ChainAndKey, KeyPair, Pem, have_common_ca};
pub use reloaded::Refreshed;
pub use subject::Subject;
pub use validity::{Validities, Validity};

#[cfg(test)]
mod tests;
