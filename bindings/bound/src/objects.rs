//! Objects of collections for a language that encodes and decodes their values itself.

use synod_client::json as form;
use synod_client::{
    ApiVersion, Attributes, Content, Creator as InnerCreator, EncodingVersion, LeaseToken,
    MemberEpoch, ObjectKey, RawObjects, StoredObject, Ttl, UpdateStep, Updater as InnerUpdater,
};
use tokio::sync::Mutex;

use crate::options::{Options, flag, message, number, text, value};
use crate::{Bound, Failure};

/// The objects of a collection, for a language that has a codec: the version that the next write is encoded in, and the
/// fences of all writes. Clones share both.
///
/// Reads, and writes of content that is already encoded, go through [`Bound::call`].
#[derive(Clone, Debug)]
pub struct Objects {
    raw: RawObjects,
    version: EncodingVersion,
}

/// A change of an object that is under way: [`synod_client::Updater`], by documents.
#[derive(Debug)]
pub struct Updater(Mutex<InnerUpdater>);

/// A create of an object that is under way: [`synod_client::Creator`], by documents.
#[derive(Debug)]
pub struct Creator(Mutex<InnerCreator>);

/// The next step that an [`Updater`] asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Decode this object, an `Object`, change it, encode it in this version, and write it.
    Change {
        /// The object.
        object: String,
        /// The version to encode in.
        version: String,
    },
    /// The object, an `Object`, is as wanted.
    Done {
        /// The object as the write left it.
        object: String,
        /// False if the object was already as wanted: nothing was written.
        changed: bool,
        /// Whether the object is gone, because the write removed its last finalizer.
        deleted: bool,
    },
}

impl Bound {
    /// The objects of a collection.
    ///
    /// Options: `encodeIn`, the version to begin with; `ifMember`, a `MemberEpoch`, and `ifLease`, a `LeaseToken`,
    /// which fence every write; and `dryRun`.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule.
    pub fn objects(&self, options: &str) -> Result<Objects, Failure> {
        let mut options = Options::parse(options)?;
        let version = options.need("encodeIn", text(ApiVersion::parse));
        let mut raw = self.client().raw_objects();
        if let Some(member) = options.take("ifMember", message::<MemberEpoch>) {
            raw = raw.fenced_by(member);
        }
        if let Some(lease) = options.take("ifLease", message::<LeaseToken>) {
            raw = raw.under_lease(lease);
        }
        if options.take("dryRun", flag) == Some(true) {
            raw = raw.dry_run();
        }
        let version = EncodingVersion::new(options.end(version)?);
        Ok(Objects { raw, version })
    }
}

impl Objects {
    /// The version that the next write is encoded in.
    #[must_use]
    pub fn version(&self) -> String {
        self.version.get().to_string()
    }

    /// Sets the version for all later writes, such as the one that a permit names.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: `version` is not a version.
    pub fn encode_in(&self, version: &str) -> Result<(), Failure> {
        let version =
            ApiVersion::parse(version).map_err(|fault| Failure::invalid(fault.at("version")))?;
        self.version.set(version);
        Ok(())
    }

    /// Changes the object of this `ObjectKey`, again after each conflict. `cached`, an `Object`, may be stale.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: a document is not of its message.
    pub fn updater(&self, key: &str, cached: Option<&str>) -> Result<Updater, Failure> {
        let key: ObjectKey = value(key)?;
        let cached: Option<StoredObject> = cached.map(value).transpose()?;
        let updater = self.raw.updater(key, cached, &self.version);
        Ok(Updater(Mutex::new(updater)))
    }

    /// Creates an object, whose content is encoded in later steps.
    ///
    /// Options: `key`, an `ObjectKey`, and `attributes`, `ObjectAttributes`, and `ttlMs`.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule.
    pub fn creator(&self, options: &str) -> Result<Creator, Failure> {
        let mut options = Options::parse(options)?;
        let key = options.need("key", message::<ObjectKey>);
        let attributes = options.take("attributes", message::<Attributes>);
        let ttl = options.take("ttlMs", |value| Ttl::from_millis(number(value)?));
        let key = options.end(key)?;
        let attributes = attributes.unwrap_or_default();
        let creator = self.raw.creator(key, attributes, ttl, &self.version);
        Ok(Creator(Mutex::new(creator)))
    }
}

impl Updater {
    /// The first step. It reads the object unless a cached one was given.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such object.
    pub async fn begin(&self) -> Result<Step, Failure> {
        let mut updater = self.0.lock().await;
        updater.begin().await?;
        change(&updater)
    }

    /// Says that the change could not be applied to the object of the last step. Returns a step with the present object
    /// if that one was from a cache; `None`: it was the present object already, so the change has failed.
    ///
    /// # Errors
    ///
    /// The present object cannot be read.
    pub async fn failed(&self) -> Result<Option<Step>, Failure> {
        let mut updater = self.0.lock().await;
        if updater.failed().await? {
            change(&updater).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Stores the changed object: its `ObjectAttributes` and its `ObjectContent`. `same` says whether a reader would
    /// see the same content as before; with `None` the bytes are compared. Returns the next step.
    ///
    /// # Errors
    ///
    /// As [`synod_client::Updater::write`].
    pub async fn write(
        &self,
        attributes: &str,
        content: &str,
        same: Option<bool>,
    ) -> Result<Step, Failure> {
        let attributes: Attributes = value(attributes)?;
        let content: Content = value(content)?;
        let mut updater = self.0.lock().await;
        let equal = || {
            updater
                .object()
                .is_some_and(|object| object.content == content)
        };
        let same = same.unwrap_or_else(equal);
        match updater.write(attributes, content, same).await? {
            UpdateStep::Again { .. } => change(&updater),
            UpdateStep::Done(updated) => Ok(Step::Done {
                object: form::of(&updated.stored.object).to_string(),
                changed: updated.changed,
                deleted: updated.deleted,
            }),
        }
    }
}

fn change(updater: &InnerUpdater) -> Result<Step, Failure> {
    let object = updater.object();
    let object = object.ok_or_else(|| crate::options::used_up("the change"))?;
    Ok(Step::Change {
        object: form::of(object).to_string(),
        version: updater.version().to_string(),
    })
}

impl Creator {
    /// The version to encode the object in now.
    pub async fn version(&self) -> String {
        self.0.lock().await.version().to_string()
    }

    /// Writes the object, an `ObjectContent`, and returns it as stored, an `Object`. `None`: another version was
    /// selected meanwhile; encode again in [`version`](Self::version).
    ///
    /// # Errors
    ///
    /// As [`synod_client::Creator::write`].
    pub async fn write(&self, content: &str) -> Result<Option<String>, Failure> {
        let content: Content = value(content)?;
        let object = self.0.lock().await.write(content).await?;
        Ok(object.map(|object| form::of(&object).to_string()))
    }
}
