//! Lists in pages, all read at the revision of the first page unless the caller asks for the present one.

use prost::Message;
use synod_machine::Past;
use synod_model::{ErrorKind, Refusal, Revision};
use synod_proto::{Consistency, ContinueToken, ListId, PageKey, PageRequest, PageStart};

use crate::handle::{Asking, Handle};
use crate::limits::PAGE_BYTES_MAX;
use crate::read::Reading;

/// A page that is being read.
pub(super) struct Page<K> {
    /// The state that this page is read from.
    pub(super) reading: Reading,
    /// The key after which this page begins.
    pub(super) after: Option<K>,
    /// The revision in the continue token, if there was one.
    pinned: Option<Revision>,
    size: usize,
    list: ListId,
}

/// The items of a page.
pub(super) struct Items<T> {
    pub(super) items: Vec<T>,
    /// Empty on the last page.
    pub(super) continue_token: String,
}

impl<K: PageKey + Clone> Page<K> {
    /// Reads the state that the page is taken from.
    pub(super) async fn open(
        handle: &Handle,
        asking: &Asking,
        request: PageRequest<K>,
    ) -> Result<Self, Refusal> {
        let (consistency, token) = match request.start {
            PageStart::First(consistency) => (consistency, None),
            PageStart::After(token) => (Consistency::AtRevision(token.revision), Some(token)),
            PageStart::AtPresent(token) => (Consistency::Linearizable, Some(token)),
        };
        if let Some(token) = &token
            && token.cluster != handle.cluster()?
        {
            return Err(foreign(token));
        }
        let reading = handle.read(asking, consistency).await;
        let reading = match &token {
            None => reading?,
            Some(_) => reading.map_err(or_at_present)?,
        };
        Ok(Self {
            reading,
            pinned: token.as_ref().map(|token| token.revision),
            after: token.map(|token| token.last),
            size: request.size,
            list: request.list,
        })
    }

    /// The state at the revision of the page.
    ///
    /// # Errors
    ///
    /// `COMPACTED` if the revision is no longer kept, and how the list can be continued.
    pub(super) fn past(&self) -> Result<Past<'_>, Refusal> {
        let past = self.reading.past();
        match self.pinned {
            None => past,
            Some(_) => past.map_err(or_at_present),
        }
    }

    /// Whether the page is of another revision than the page before it.
    pub(super) fn is_inconsistent(&self) -> bool {
        self.pinned
            .is_some_and(|pinned| pinned != self.reading.revision())
    }

    /// Takes the items of the page: as many as were asked for, but no more than fit into a message.
    pub(super) fn take<T: Message>(
        &self,
        handle: &Handle,
        objects: impl Iterator<Item = (K, T)>,
    ) -> Result<Items<T>, Refusal> {
        let (mut items, mut bytes, mut last) = (Vec::new(), 0, None);
        for (key, object) in objects {
            let object_bytes = object.encoded_len();
            let is_full = bytes + object_bytes > PAGE_BYTES_MAX && !items.is_empty();
            if items.len() == self.size || is_full {
                if items.len() < self.size {
                    handle.read_metrics().page_cut();
                }
                let continue_token = self.token(handle, last)?;
                return Ok(Items {
                    items,
                    continue_token,
                });
            }
            bytes += object_bytes;
            items.push(object);
            last = Some(key);
        }
        Ok(Items {
            items,
            continue_token: String::new(),
        })
    }

    fn token(&self, handle: &Handle, last: Option<K>) -> Result<String, Refusal> {
        let cluster = handle.cluster()?;
        let token = last.map(|last| ContinueToken {
            cluster,
            revision: self.reading.revision(),
            list: self.list,
            last,
        });
        Ok(token.map(|token| token.to_string()).unwrap_or_default())
    }
}

/// Adds to a refusal as `COMPACTED` how the list can be continued.
fn or_at_present(mut refusal: Refusal) -> Refusal {
    if refusal.kind == ErrorKind::Compacted {
        refusal.message.push_str(
            ": list again from the beginning, or go on with continueAtPresent, which tells of the rest as it is now",
        );
    }
    refusal
}

/// The refusal of another cluster's token. Its revision has another meaning here, so it counts as no longer kept.
fn foreign<K>(token: &ContinueToken<K>) -> Refusal {
    let message = format!(
        "the token was given by another cluster, {}: list again from the beginning",
        token.cluster
    );
    Refusal::new(ErrorKind::Compacted, message)
}
