//! Transport security of three servers and of the load.

use synod_tls::Connector;
use tempfile::TempDir;

use crate::certificates::Certificates;

/// The certificates that servers and load show each other.
pub(crate) struct SecuredBy {
    pub(crate) certificates: Certificates,
    pub(crate) connector: Connector,
    /// Deleted when this is dropped.
    _folder: TempDir,
}

impl SecuredBy {
    pub(crate) fn new() -> Self {
        let folder = TempDir::with_prefix_in("certificates-", env!("CARGO_TARGET_TMPDIR"));
        let folder = folder.expect("the folder can be written");
        let certificates = Certificates::make(folder.path());
        let connector = Connector::load(certificates.admin());
        Self {
            certificates,
            connector: connector.expect("they can be used"),
            _folder: folder,
        }
    }
}
