//! [`KeyStore`]: what a store has to do so that its writes can be fenced.

use std::future::Future;

use crate::Fault;

/// A store of keys and values that can compare keys and write one in a single step.
///
/// Its answers are linearizable: what was written before a call began is seen by it.
pub trait KeyStore: Send + Sync {
    /// The present value of a key; `None` if there is no such key.
    ///
    /// # Errors
    ///
    /// The store does not answer.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<Pair>, Fault>> + Send;

    /// The pairs whose keys begin with `prefix` and come after `after`, in the order of their keys, at most `limit`.
    ///
    /// # Errors
    ///
    /// The store does not answer.
    fn list(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Page, Fault>> + Send;

    /// Writes a key if every condition holds, in one step. Returns false if one does not.
    ///
    /// # Errors
    ///
    /// The write was not executed, or was refused; or its outcome is unknown.
    fn put_if(
        &self,
        conditions: &[Condition],
        key: &str,
        value: &[u8],
    ) -> impl Future<Output = Result<bool, Fault>> + Send;
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: Vec<u8>,
    /// What changes with each write of the key, and is never 0: the revision of its last write, say.
    pub revision: u64,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The pairs, ordered by their keys.
    pub pairs: Vec<Pair>,
    /// Whether there are more behind the last one.
    pub more: bool,
}

/// What must be true of a key for a write to land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The key has this value.
    Holds {
        /// The key.
        key: String,
        /// The value.
        value: Vec<u8>,
    },
    /// The key was last written at this revision; 0: there is no such key.
    WrittenAt {
        /// The key.
        key: String,
        /// The revision of its [`Pair`].
        revision: u64,
    },
}
