//! The cryptography behind every connection.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;

/// That of `ring`: it builds with a C compiler alone, for every platform that Synod is built for.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(default_provider())
}
