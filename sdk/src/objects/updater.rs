//! Changing an object step by step, with retries: for programs that decode and encode themselves.

use synod_model::{
    Attributes, Content, Current, ErrorKind, Fences, Object, ObjectKey, TtlChange, UpdateObject,
};

use super::encoding::EncodingVersion;
use super::raw::RawObjects;
use super::stored::{Stored, Updated, updated};
use crate::{ApiVersion, Error, ReadOptions};

/// How often a change is tried, if another writer is faster each time, before it is given up.
const TRIES_MAX: u32 = 64;

/// A change in progress: [`Objects::guaranteed_update`](crate::Objects::guaranteed_update), for programs whose changes
/// are no closures.
///
/// Call [`begin`](Self::begin). Then decode [`object`](Self::object), change it, encode it in
/// [`version`](Self::version), and [`write`](Self::write) it, until that returns [`UpdateStep::Done`]. If the change
/// itself fails, [`failed`](Self::failed) tells whether there is another object to try it on.
#[derive(Debug)]
pub struct Updater {
    raw: RawObjects,
    key: ObjectKey,
    version: EncodingVersion,
    base: Option<Base>,
    tries_left: u32,
}

/// The object that a change begins with, and whether it may be out of date.
#[derive(Debug)]
struct Base {
    object: Object,
    /// The object was given by the caller, and may have been out of date even then.
    cached: bool,
}

/// The next step of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateStep {
    /// The change is to be applied again, to [`Updater::object`].
    Again {
        /// Whether this is another object than before.
        fresh: bool,
    },
    /// The object is stored as wanted.
    Done(Box<Updated<()>>),
}

impl RawObjects {
    /// Begins a change of an object: with `cached`, if that is given, and else by reading it.
    #[must_use]
    pub fn updater(
        &self,
        key: ObjectKey,
        cached: Option<Object>,
        version: &EncodingVersion,
    ) -> Updater {
        let base = cached.map(|object| Base {
            object,
            cached: true,
        });
        Updater {
            raw: self.with_objects(),
            key,
            version: version.clone(),
            base,
            tries_left: TRIES_MAX,
        }
    }
}

impl Updater {
    /// Returns the object to change; reads it unless it was given.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such object.
    pub async fn begin(&mut self) -> Result<&Object, Error> {
        if self.base.is_none() {
            self.read().await?;
        }
        self.base().map(|base| &base.object)
    }

    /// The object to change; `None` before it was read.
    #[must_use]
    pub fn object(&self) -> Option<&Object> {
        self.base.as_ref().map(|base| &base.object)
    }

    /// The version to encode in now.
    #[must_use]
    pub fn version(&self) -> ApiVersion {
        self.version.get()
    }

    /// Tells the updater that the change could not be applied. Returns true if there is another object now to apply it
    /// to, since the previous one came from a cache; false if the change failed on the present object.
    ///
    /// # Errors
    ///
    /// The present object cannot be read.
    pub async fn failed(&mut self) -> Result<bool, Error> {
        let cached = self.base()?.cached;
        if cached {
            self.read().await?;
        }
        Ok(cached)
    }

    /// Stores the changed object, unless another writer was faster. `same` says that the content is, to a reader, that
    /// of the object. If nothing is changed, nothing is written; an object from a cache is first read to be sure.
    ///
    /// # Errors
    ///
    /// The refusal of the write; `CONFLICT` if other writers were faster too many times in a row. After
    /// `UNKNOWN_OUTCOME` the change may have been made, and may still be: [`Error::request_key`] is the key by which to
    /// read the outcome.
    pub async fn write(
        &mut self,
        attributes: Attributes,
        content: Content,
        same: bool,
    ) -> Result<UpdateStep, Error> {
        let base = self.base()?;
        if same && base.object.attributes == attributes {
            if base.cached {
                self.read().await?;
                return Ok(UpdateStep::Again { fresh: true });
            }
            return Ok(UpdateStep::Done(Box::new(unchanged(base.object.clone()))));
        }
        if self.tries_left == 0 {
            return Err(given_up(&self.key));
        }
        self.tries_left -= 1;
        // Boxed, since the future of a call is large.
        match Box::pin(self.send(attributes, content)).await {
            Ok(updated) => Ok(UpdateStep::Done(Box::new(updated))),
            Err(refused) => self.go_on(refused).await,
        }
    }

    async fn send(&self, attributes: Attributes, content: Content) -> Result<Updated<()>, Error> {
        let base = Stored {
            object: self.base()?.object.clone(),
            value: (),
        };
        let update = UpdateObject {
            key: self.key.clone(),
            attributes: attributes.clone(),
            content: content.clone(),
            ttl: TtlChange::Keep,
            preconditions: base.preconditions(),
            fences: Fences::default(),
        };
        let written = self.raw.update(update).await?;
        let mut sent = base;
        sent.object.attributes = attributes;
        Ok(updated(written, sent, content))
    }

    /// The next step after a refusal; or the refusal, if it is final.
    async fn go_on(&mut self, refused: Error) -> Result<UpdateStep, Error> {
        let cached = self.base()?.cached;
        match refused.kind() {
            ErrorKind::Conflict => {
                let object = self.raw.present(&self.key, &refused).await?;
                self.base = Some(Base {
                    object,
                    cached: false,
                });
                Ok(UpdateStep::Again { fresh: true })
            }
            ErrorKind::EncodingNotSelected if self.version.learned(&refused) => {
                Ok(UpdateStep::Again { fresh: false })
            }
            // The cached object may have been deleted and created again meanwhile.
            ErrorKind::NotFound if cached => {
                self.read().await?;
                Ok(UpdateStep::Again { fresh: true })
            }
            _ => Err(refused),
        }
    }

    async fn read(&mut self) -> Result<(), Error> {
        let read = self.raw.get(&self.key, ReadOptions::linearizable());
        let object = Box::pin(read).await?.object;
        self.base = Some(Base {
            object,
            cached: false,
        });
        Ok(())
    }

    fn base(&self) -> Result<&Base, Error> {
        self.base.as_ref().ok_or_else(|| {
            let message = format!("call begin before changing {}", self.key);
            Error::new(ErrorKind::InvalidArgument, message)
        })
    }
}

impl RawObjects {
    /// The present object: from the refusal if it contains the object, else by a read.
    pub(crate) async fn present(&self, key: &ObjectKey, refused: &Error) -> Result<Object, Error> {
        match refused.current() {
            Some(Current::Object(object)) => Ok((**object).clone()),
            _ => {
                let read = self.get(key, ReadOptions::linearizable());
                Ok(Box::pin(read).await?.object)
            }
        }
    }
}

fn unchanged(object: Object) -> Updated<()> {
    let stored = Stored { object, value: () };
    Updated {
        stored,
        changed: false,
        deleted: false,
    }
}

fn given_up(key: &ObjectKey) -> Error {
    let message = format!(
        "{key} was changed by others {TRIES_MAX} times in a row, each time just before this change could be stored"
    );
    Error::new(ErrorKind::Conflict, message)
}
