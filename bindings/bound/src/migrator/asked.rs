//! What a worker asks of a store or a codec that is written in another language.

use std::sync::Arc;

use futures::FutureExt as _;
use serde_json::Value;
use synod_client::json as form;
use synod_client::{
    ApiVersion, CollectionStore, Content, ContinueToken, Fence, FencedStore, GroupResource,
    Migration, RecodeError, Store, StoreError, StorePage, StoredObject, Walk,
};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::task::{Ask, Reply, Task};

/// A store that the worker asks by tasks.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) tasks: mpsc::Sender<Task>,
    /// Notified when the worker gives up waiting for an answer.
    pub(super) withdrawn: Arc<Notify>,
    /// The objects that the store lists.
    pub(super) walks: Walk,
}

/// Notifies when it is dropped before it is told that the task was answered.
struct Unanswered<'a> {
    withdrawn: &'a Notify,
    answered: bool,
}

impl Drop for Unanswered<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.withdrawn.notify_one();
        }
    }
}

impl Asked {
    /// Asks, and waits for the answer. Once the feed of tasks is gone this waits forever: the worker is being closed.
    async fn ask<T>(&self, ask: Ask, reply: impl FnOnce(oneshot::Sender<T>) -> Reply) -> Option<T> {
        // Made before the channel, so dropped after it: whoever is notified finds that the task is not wanted.
        let mut unanswered = Unanswered {
            withdrawn: &self.withdrawn,
            answered: false,
        };
        let (sender, answer) = oneshot::channel();
        if self
            .tasks
            .send(Task::new(ask, reply(sender)))
            .await
            .is_err()
        {
            return std::future::pending().await;
        }
        let answer = answer.await.ok();
        unanswered.answered = true;
        answer
    }

    /// As [`ask`](Self::ask), of a store.
    async fn ask_store<T>(
        &self,
        ask: Ask,
        reply: impl FnOnce(oneshot::Sender<Result<T, StoreError>>) -> Reply,
    ) -> Result<T, StoreError> {
        let answer = self.ask(ask, reply).await;
        answer.unwrap_or_else(|| Err(StoreError::Refused(UNANSWERED.to_owned())))
    }
}

const UNANSWERED: &str = "the store or codec dropped the worker's task without answering it";

impl Store for Asked {
    /// A document that the store made, and that only it understands.
    type Object = Value;

    fn walks(&self) -> Walk {
        self.walks
    }

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Value>, StoreError> {
        let ask = Ask::List {
            migration: form::of(migration),
            token: token.map(ToString::to_string),
        };
        self.ask_store(ask, Reply::Page).await
    }

    async fn rewrite(&self, migration: &Migration, object: &Value) -> Result<(), StoreError> {
        let ask = Ask::Rewrite {
            migration: form::of(migration),
            object: object.clone(),
            fence: None,
        };
        self.ask_store(ask, Reply::Rewritten).await
    }
}

impl FencedStore for Asked {
    type Object = Value;

    async fn read_fence(&self, resource: &GroupResource) -> Result<Option<Vec<u8>>, StoreError> {
        let ask = Ask::ReadFence {
            resource: form::of(resource),
        };
        self.ask_store(ask, Reply::FenceRead).await
    }

    async fn write_fence(&self, present: Option<&[u8]>, fence: &Fence) -> Result<bool, StoreError> {
        let ask = Ask::WriteFence {
            resource: form::of(fence.resource()),
            present: present.map(<[u8]>::to_vec),
            fence: fence.to_string(),
        };
        self.ask_store(ask, Reply::FenceWritten).await
    }

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Value>, StoreError> {
        Store::list_page(self, migration, token).await
    }

    async fn rewrite(
        &self,
        migration: &Migration,
        object: &Value,
        fence: &Fence,
    ) -> Result<(), StoreError> {
        let ask = Ask::Rewrite {
            migration: form::of(migration),
            object: object.clone(),
            fence: Some(fence.to_string()),
        };
        self.ask_store(ask, Reply::Rewritten).await
    }
}

/// The collections of the cluster, whose objects are recoded by tasks.
pub(super) fn collections(client: synod_client::Client, asked: Asked) -> CollectionStore {
    let asked = Arc::new(asked);
    CollectionStore::recoded_by(client, move |object, target| {
        let asked = Arc::clone(&asked);
        recoded(asked, object, target).boxed()
    })
}

async fn recoded(
    asked: Arc<Asked>,
    object: StoredObject,
    target: ApiVersion,
) -> Result<Content, RecodeError> {
    let ask = Ask::Recode {
        object: form::of(&object),
        version: target.to_string(),
    };
    let content = asked.ask(ask, Reply::Recoded).await;
    content.unwrap_or_else(|| Err(RecodeError::Encode(UNANSWERED.into())))
}
