//! Changing an object until it is changed, step by step: for programs that decode and encode by themselves.

use synod_model::{
    Attributes, Content, Current, ErrorKind, Fences, Object, ObjectKey, TtlChange, UpdateObject,
};

use super::encoding::EncodingVersion;
use super::raw::RawObjects;
use super::stored::{Stored, Updated, updated};
use crate::{ApiVersion, Error, ReadOptions};

/// How often a change is tried before it is given up: so many others were faster each time.
const TRIES_MAX: u32 = 64;

/// A change on its way: [`Objects::guaranteed_update`](crate::Objects::guaranteed_update), for programs whose changes are no
/// closures.
///
/// [`begin`](Self::begin) it. Then decode [`object`](Self::object), change it, encode it in [`version`](Self::version), and
/// [`write`](Self::write) it, until that says that it is done. If the change itself fails, ask [`failed`](Self::failed)
/// whether there is another object to try it on.
#[derive(Debug)]
pub struct Updater {
    raw: RawObjects,
    key: ObjectKey,
    version: EncodingVersion,
    base: Option<Base>,
    tries_left: u32,
}

/// What a change begins with, and whether it is certain to be, or have been, the present object.
#[derive(Debug)]
struct Base {
    object: Object,
    /// It was given by the caller, and may have been stale even then.
    cached: bool,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateStep {
    /// The change is to be applied once more, to [`Updater::object`].
    Again {
        /// Whether that is another object than before.
        fresh: bool,
    },
    /// The object is as it is wanted.
    Done(Box<Updated<()>>),
}

impl RawObjects {
    /// Changes an object. It begins with `cached`, if that is given, and else reads.
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
            raw: self.clone(),
            key,
            version: version.clone(),
            base,
            tries_left: TRIES_MAX,
        }
    }
}

impl Updater {
    /// Answers the object to change, which is read unless it was given.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is none.
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

    /// The change could not be applied. True: there is another object now to apply it to, since the one before was from a
    /// cache. False: it failed on the present one.
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

    /// Stores what the change has made of the object, unless somebody else was faster. `same` says that the content is, to
    /// a reader, what the object has. Nothing is written if nothing is changed, but that is believed only of an object that
    /// was not from a cache.
    ///
    /// # Errors
    ///
    /// What a write is refused with; `CONFLICT` if others were faster too many times in a row. After `UNKNOWN_OUTCOME` the
    /// change may have been made, and may still be: [`Error::request_key`] says by which key to ask.
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
        // Boxed, since a call is large: what waits for it need not be.
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

    /// What to go on with after a refusal; or the refusal, if there is no going on.
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
            // What the cache still has may have been deleted and created again meanwhile.
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
            let message = format!("the change of {} was not begun", self.key);
            Error::new(ErrorKind::InvalidArgument, message)
        })
    }
}

impl RawObjects {
    /// The object as it stands: out of the refusal if it has it, else it is read.
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
