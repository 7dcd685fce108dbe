//! Changing an object, with retries as long as other writers are faster.

use synod_model::{Attributes, NamespacedName};

use super::stored::{Stored, Updated};
use super::typed::Objects;
use super::updater::UpdateStep;
use crate::Error;

/// The object that a change works on: its value and its attributes, to be changed in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft<T> {
    /// The value.
    pub value: T,
    /// The attributes.
    pub attributes: Attributes,
}

impl<T: Clone + 'static> Objects<T> {
    /// Changes an object: applies `change` to it and stores the result. If another writer was faster, does so again
    /// with the new state of the object.
    ///
    /// It begins with `cached`, if that is given, and else reads the object. If `change` changes nothing, nothing is
    /// written; if the object came from a cache, it is first read to be sure. If `change` fails on a cached object, it
    /// is applied to the present one. After a conflict the object in the refusal is used, so that no read is needed.
    ///
    /// # Errors
    ///
    /// The error of `change`; the refusal of a write; `CONFLICT` if other writers were faster too many times in a row.
    /// After `UNKNOWN_OUTCOME` the change may have been made, and may still be: [`Error::request_key`] is the key by
    /// which to read the outcome.
    pub async fn guaranteed_update<E: From<Error>>(
        &self,
        name: &NamespacedName,
        cached: Option<Stored<T>>,
        mut change: impl FnMut(&mut Draft<T>) -> Result<(), E>,
    ) -> Result<Updated<T>, E> {
        let key = self.key(name);
        let object = cached.as_ref().map(|stored| stored.object.clone());
        let mut updater = self.raw.updater(key.clone(), object, &self.version);
        let mut base = match (updater.begin().await?, cached) {
            (_, Some(stored)) => stored,
            (object, None) => self.decoded(object.clone())?,
        };
        loop {
            let mut draft = Draft {
                value: base.value.clone(),
                attributes: base.object.attributes.clone(),
            };
            let mut fresh = match change(&mut draft) {
                Ok(()) => false,
                Err(_) if updater.failed().await? => true,
                Err(error) => return Err(error),
            };
            if !fresh {
                let content = self.content(&key, &draft.value)?;
                let same = self.codec.is_same(&key, &base.object.content, &content);
                match updater.write(draft.attributes, content, same).await? {
                    UpdateStep::Done(updated) => {
                        let changed = updated.changed;
                        let value = if changed { draft.value } else { base.value };
                        return Ok(updated.with_value(value));
                    }
                    UpdateStep::Again { fresh: other } => fresh = other,
                }
            }
            if fresh && let Some(object) = updater.object() {
                base = self.decoded(object.clone())?;
            }
        }
    }
}
