//! Changing an object until it is changed.

use synod_model::{
    Attributes, Content, ErrorKind, Fences, NamespacedName, ObjectKey, UpdateObject,
};

use super::stored::{Stored, Updated, updated};
use super::typed::Objects;
use crate::{Error, ReadOptions};

/// How often a change is tried before it is given up: so many others were faster each time.
const TRIES_MAX: u32 = 64;

/// What a change works on: an object's value and its attributes, to be changed in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft<T> {
    /// The value.
    pub value: T,
    /// What is said of it.
    pub attributes: Attributes,
}

/// What a change begins with, and whether it is certain to be, or have been, the present object.
struct Base<T> {
    stored: Stored<T>,
    /// It was given by the caller, and may have been stale even then.
    cached: bool,
}

impl<T: Clone + 'static> Objects<T> {
    /// Changes an object: applies `change` to it and stores what comes of it, and if somebody else was faster, does so
    /// again with what the object is then.
    ///
    /// It begins with `cached`, if that is given, and else reads. Nothing is written if `change` changes nothing, but
    /// that is believed only of an object that was not from a cache. If `change` fails on a cached object, it gets another
    /// chance on the present one. After a conflict the object in the refusal is taken, so that no read is needed.
    ///
    /// # Errors
    ///
    /// What `change` fails with; what a write is refused with; `CONFLICT` if others were faster too many times in a row.
    /// After `UNKNOWN_OUTCOME` the change may have been made, and may still be: [`Error::request_key`] says by which key
    /// to ask.
    pub async fn guaranteed_update<E: From<Error>>(
        &self,
        name: &NamespacedName,
        cached: Option<Stored<T>>,
        mut change: impl FnMut(&mut Draft<T>) -> Result<(), E>,
    ) -> Result<Updated<T>, E> {
        let key = self.key(name);
        let mut base = match cached {
            Some(stored) => Base {
                stored,
                cached: true,
            },
            None => self.read_base(&key).await?,
        };
        for _ in 0..TRIES_MAX {
            let mut draft = Draft {
                value: base.stored.value.clone(),
                attributes: base.stored.object.attributes.clone(),
            };
            let changed = change(&mut draft);
            if base.cached && changed.is_err() {
                base = self.read_base(&key).await?;
                continue;
            }
            changed?;
            let content = self.content(&key, &draft.value)?;
            if self.is_unchanged(&base.stored, &draft.attributes, &content) {
                if base.cached {
                    base = self.read_base(&key).await?;
                    continue;
                }
                return Ok(Updated {
                    stored: base.stored,
                    changed: false,
                    deleted: false,
                });
            }
            // Boxed, since a call is large: what waits for it need not be.
            let writing = Box::pin(self.write_draft(&base.stored, draft, content));
            match writing.await {
                Ok(updated) => return Ok(updated),
                Err(refused) => base = self.next_base(&key, base, refused).await?,
            }
        }
        Err(given_up(&key).into())
    }

    /// What to go on with after a refusal; or the refusal, if there is no going on.
    async fn next_base(
        &self,
        key: &ObjectKey,
        base: Base<T>,
        refused: Error,
    ) -> Result<Base<T>, Error> {
        match refused.kind() {
            ErrorKind::Conflict => {
                let object = self.present(key, &refused).await?;
                Ok(Base {
                    stored: self.decoded(object)?,
                    cached: false,
                })
            }
            ErrorKind::EncodingNotSelected if self.learned(&refused) => Ok(base),
            // What the cache still has may have been deleted and created again meanwhile.
            ErrorKind::NotFound if base.cached => self.read_base(key).await,
            _ => Err(refused),
        }
    }

    async fn read_base(&self, key: &ObjectKey) -> Result<Base<T>, Error> {
        let view = Box::pin(self.raw.get(key, ReadOptions::linearizable())).await?;
        Ok(Base {
            stored: self.decoded(view.object)?,
            cached: false,
        })
    }

    fn is_unchanged(&self, base: &Stored<T>, attributes: &Attributes, content: &Content) -> bool {
        base.object.attributes == *attributes
            && self
                .codec
                .is_same(&base.object.key, &base.object.content, content)
    }

    async fn write_draft(
        &self,
        base: &Stored<T>,
        draft: Draft<T>,
        content: Content,
    ) -> Result<Updated<T>, Error> {
        let update = UpdateObject {
            key: base.object.key.clone(),
            attributes: draft.attributes.clone(),
            content: content.clone(),
            ttl: None,
            preconditions: base.preconditions(),
            fences: Fences::default(),
        };
        let written = self.raw.update(update).await?;
        let mut object = base.object.clone();
        object.attributes = draft.attributes;
        let sent = Stored {
            object,
            value: draft.value,
        };
        Ok(updated(written, sent, content))
    }
}

fn given_up(key: &ObjectKey) -> Error {
    let message = format!(
        "{key} was changed by others {TRIES_MAX} times in a row, each time just before this change could be stored"
    );
    Error::new(ErrorKind::Conflict, message)
}
