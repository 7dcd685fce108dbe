//! Storing a new object step by step: for programs that encode it themselves.

use synod_model::{Attributes, Content, CreateObject, Fences, Object, ObjectKey, Ttl};

use super::encoding::{EncodingVersion, Encodings};
use super::raw::RawObjects;
use super::stored::created;
use crate::{ApiVersion, Error};

/// A new object that is being stored: encode it in [`version`](Self::version), and [`write`](Self::write) it, until the
/// write succeeds. [`Objects::create`](crate::Objects::create) does the same in one call.
#[derive(Debug)]
pub struct Creator {
    raw: RawObjects,
    key: ObjectKey,
    attributes: Attributes,
    ttl: Option<Ttl>,
    encodings: Encodings,
}

impl RawObjects {
    /// Begins to store a new object, which is still to be encoded.
    #[must_use]
    pub fn creator(
        &self,
        key: ObjectKey,
        attributes: Attributes,
        ttl: Option<Ttl>,
        version: &EncodingVersion,
    ) -> Creator {
        Creator {
            raw: self.with_objects(),
            key,
            attributes,
            ttl,
            encodings: Encodings::new(version),
        }
    }
}

impl Creator {
    /// The version to encode in now.
    #[must_use]
    pub fn version(&self) -> ApiVersion {
        self.encodings.version()
    }

    /// Writes the encoded object, and returns it as stored. `None`: another version was selected since; encode again.
    ///
    /// If the answer was lost, and a retry was answered only after the object had been deleted, its time of creation is
    /// not known, and is zero.
    ///
    /// # Errors
    ///
    /// `ALREADY_EXISTS`: there is one of its name. `NO_AGREEMENT`: the collection is strict, and no version is
    /// selected.
    pub async fn write(&mut self, content: Content) -> Result<Option<Object>, Error> {
        let create = CreateObject {
            key: self.key.clone(),
            attributes: self.attributes.clone(),
            content: content.clone(),
            ttl: self.ttl,
            fences: Fences::default(),
        };
        // Boxed, since the future of a call is large.
        let mut written = match Box::pin(self.raw.create(create)).await {
            Ok(written) => written,
            Err(refused) if self.encodings.again(&refused) => return Ok(None),
            Err(refused) => return Err(refused),
        };
        if let Some(object) = written.object.take() {
            return Ok(Some(object));
        }
        let found = self.raw.found_after(&self.key, &written).await;
        let (key, attributes) = (self.key.clone(), self.attributes.clone());
        let object = created(&written.result, key, attributes, content, found);
        Ok(Some(object))
    }
}
