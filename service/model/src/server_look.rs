//! The part of a look at discovery that one server showed, and the names of observers and servers.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::limits::{OBSERVED_SERVER_BYTES_MAX, OBSERVER_BYTES_MAX};
use crate::text::{shared_text, short_identity};
use crate::{MemberId, StorageVersionHash, Violation};

/// The name that an observer of discovery gives itself. Since 0.1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObserverName(Arc<str>);

impl ObserverName {
    /// The observer of this name.
    ///
    /// # Errors
    ///
    /// Empty, longer than 253 bytes, or with control characters, bidirectional marks or line separators.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            return Err(Violation::required("must name the observer"));
        }
        short_identity(text, OBSERVER_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(ObserverName);

/// The name under which an observer reaches a server, as a URL. Two observers may reach different servers under one name.
/// Since 0.1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObservedServer(Arc<str>);

impl ObservedServer {
    /// The server of this name.
    ///
    /// # Errors
    ///
    /// Empty, longer than 253 bytes, or with control characters, bidirectional marks or line separators.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            return Err(Violation::required("must name the server"));
        }
        short_identity(text, OBSERVED_SERVER_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(ObservedServer);

/// The part of a look that one server showed. Since 0.1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerLook {
    /// The storage-version hashes that the server shows. None: it was reached, and does not show the resource.
    pub hashes: BTreeSet<StorageVersionHash>,
    /// The member that the server is, if the observer knows it.
    pub member: Option<MemberId>,
}
