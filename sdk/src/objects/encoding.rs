//! In which version the next write is encoded.

use std::sync::{Arc, Mutex, PoisonError};

use synod_model::{ApiVersion, ErrorKind};
use synod_proto::status::key::SELECTED_VERSION;

use crate::Error;

/// How often a write is encoded anew because another version was selected meanwhile.
pub(super) const ENCODINGS_TRIED_MAX: u32 = 8;

/// The version that the next write to a collection is encoded in, as far as is known. Clones are one: what one write is
/// told of the selected version, the others know.
#[derive(Clone, Debug)]
pub struct EncodingVersion(Arc<Mutex<ApiVersion>>);

impl EncodingVersion {
    /// The version to begin with.
    #[must_use]
    pub fn new(version: ApiVersion) -> Self {
        Self(Arc::new(Mutex::new(version)))
    }

    /// The version that the next write is encoded in.
    #[must_use]
    pub fn get(&self) -> ApiVersion {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Encodes from now on in this version: the one that a permit of the gate names, say.
    pub fn set(&self, version: ApiVersion) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = version;
    }

    /// Takes note of the selected version, if the error is about another one.
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

/// One write, which is encoded anew when another version is selected meanwhile.
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

    /// Whether what was refused so is to be encoded in another version and sent again.
    pub(super) fn again(&mut self, refused: &Error) -> bool {
        if self.tries_left == 0 || !self.version.learned(refused) {
            return false;
        }
        self.tries_left -= 1;
        true
    }
}
