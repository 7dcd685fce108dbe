//! The version in which the next write is encoded.

use std::sync::{Arc, Mutex, PoisonError};

use synod_model::{ApiVersion, ErrorKind};
use synod_proto::status::key::SELECTED_VERSION;

use crate::Error;

/// How often a write is encoded anew because another version was selected meanwhile.
pub(super) const ENCODINGS_TRIED_MAX: u32 = 8;

/// The version in which the next write to a collection is encoded, as far as it is known. Clones share it: what one
/// write learns of the selected version, all use.
#[derive(Clone, Debug)]
pub struct EncodingVersion(Arc<Mutex<ApiVersion>>);

impl EncodingVersion {
    /// The version to begin with.
    #[must_use]
    pub fn new(version: ApiVersion) -> Self {
        Self(Arc::new(Mutex::new(version)))
    }

    /// The version in which the next write is encoded.
    #[must_use]
    pub fn get(&self) -> ApiVersion {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Sets the version to encode in from now on, such as the one that a permit of the gate names.
    pub fn set(&self, version: ApiVersion) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = version;
    }

    /// Takes over the selected version if the error names it; returns whether it does.
    pub(super) fn learned(&self, error: &Error) -> bool {
        if error.kind() != ErrorKind::EncodingNotSelected {
            return false;
        }
        let selected = error.metadata().get(SELECTED_VERSION);
        match selected.and_then(|text| ApiVersion::parse(text).ok()) {
            Some(version) => {
                self.set(version);
                true
            }
            None => false,
        }
    }
}

/// One write, which is encoded again when another version is selected meanwhile.
#[derive(Debug)]
pub(super) struct Encodings {
    version: EncodingVersion,
    tries_left: u32,
}

impl Encodings {
    pub(super) fn new(version: &EncodingVersion) -> Self {
        Self {
            version: version.clone(),
            tries_left: ENCODINGS_TRIED_MAX,
        }
    }

    /// The version to encode in now.
    pub(super) fn version(&self) -> ApiVersion {
        self.version.get()
    }

    /// Whether a write that was refused with this error is to be encoded in another version and sent again.
    pub(super) fn again(&mut self, refused: &Error) -> bool {
        if self.tries_left == 0 || !self.version.learned(refused) {
            return false;
        }
        self.tries_left -= 1;
        true
    }
}
