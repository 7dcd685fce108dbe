//! Where the fences of resources are, and what is asked of them.

use synod_client::GroupResource;

use crate::{Condition, Fault, KeyStore};

/// The keys of the fences: a prefix, and behind it the resource as `resource.group`. Servers and workers of a store must
/// have the same prefix, and no object a key that begins with it.
#[derive(Clone, Debug)]
pub(crate) struct FenceKeys(String);

impl FenceKeys {
    pub(crate) fn new(prefix: &str) -> Self {
        Self(prefix.to_owned())
    }

    pub(crate) fn of(&self, resource: &GroupResource) -> String {
        format!("{}{}", self.0, resource.qualified())
    }

    /// What the fence key holds; `None` if there is none.
    pub(crate) async fn read<S: KeyStore>(
        &self,
        store: &S,
        resource: &GroupResource,
    ) -> Result<Option<Vec<u8>>, Fault> {
        let pair = store.get(&self.of(resource)).await?;
        Ok(pair.map(|pair| pair.value))
    }

    /// The condition that the fence key still holds what was read.
    pub(crate) fn unchanged(&self, resource: &GroupResource, present: Option<&[u8]>) -> Condition {
        let key = self.of(resource);
        match present {
            Some(value) => Condition::Holds {
                key,
                value: value.to_vec(),
            },
            None => Condition::WrittenAt { key, revision: 0 },
        }
    }
}
