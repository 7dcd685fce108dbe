//! Workers of migrations whose stores and codecs are written in another language.

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::stream::unfold;
use serde_json::{Value, json};
use synod_client::json as form;
use synod_client::{
    ApiVersion, CollectionStore, Content, ContinueToken, GroupResource, Migration, MigrationId,
    Migrator as Inner, MigratorOptions, RecodeError, Store, StoreError, StorePage, StoredObject,
    Ttl, Worked, WorkerName,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::options::{Options, list, message, number, rule, text, used_up};
use crate::task::{Ask, Reply, Task};
use crate::{Bound, Failure, Feed};

/// A worker: [`synod_client::Migrator`], which asks its store or codec by tasks. The program has to serve it: during
/// [`run`](Self::run) or [`run_one`](Self::run_one), take tasks from [`tasks`](Self::tasks) and answer each.
#[derive(Debug)]
pub struct Migrator {
    worker: Worker,
    tasks: Feed<Task>,
    closed: CancellationToken,
}

/// A worker, by the place of its objects: collections of the cluster, or a store of the program's own.
#[derive(Debug)]
enum Worker {
    Collections(Inner<CollectionStore>),
    Own(Inner<Asked>),
}

/// The number of tasks that may wait to be taken; the worker waits before it asks for more.
const TASKS_MAX: usize = 1;

impl Bound {
    /// Makes a worker.
    ///
    /// Options: `worker`, its name, for people; `resources`, a list of `GroupResource`; and `ttlMs`,
    /// `objectsPerSecond`, `objectsAtOnce`, `pageSize`, and `store`: `"own"`, if the objects are not in collections of
    /// the cluster. Its tasks are `list` and `rewrite` with a store of its own, and `recode` without.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule.
    pub fn migrator(&self, options: &str) -> Result<Migrator, Failure> {
        let mut options = Options::parse(options)?;
        let own = options.take("store", |value| match value.as_str() {
            Some("own") => Ok(()),
            _ => Err(rule("must be \"own\" or left out")),
        });
        let page_size = options.take("pageSize", whole);
        let made = read_options(&mut options);
        let made = options.end(made)?;
        let (sender, receiver) = mpsc::channel(TASKS_MAX);
        let asked = Asked(sender);
        let client = self.client().clone();
        let worker = match own {
            Some(()) => Worker::Own(Inner::new(client, asked, made)),
            None => {
                let mut store = collections(client.clone(), asked);
                if let Some(page_size) = page_size {
                    store = store.page_size(page_size);
                }
                Worker::Collections(Inner::new(client, store, made))
            }
        };
        let tasks = unfold(receiver, |mut receiver| async move {
            let task = receiver.recv().await?;
            Some((Ok(task), receiver))
        });
        Ok(Migrator {
            worker,
            tasks: Feed::of(tasks),
            closed: CancellationToken::new(),
        })
    }
}

fn read_options(options: &mut Options) -> Option<MigratorOptions> {
    let worker = options.need("worker", text(WorkerName::parse));
    let resources = options.need("resources", list(message::<GroupResource>));
    let ttl = options.take("ttlMs", |value| Ttl::from_millis(number(value)?));
    let rate = options.take("objectsPerSecond", |value| {
        NonZeroU32::new(whole(value)?).ok_or_else(|| rule("must be at least 1"))
    });
    let at_once = options.take("objectsAtOnce", |value| {
        NonZeroUsize::new(whole(value)? as usize).ok_or_else(|| rule("must be at least 1"))
    });
    let resources: BTreeSet<GroupResource> = resources?.into_iter().collect();
    let mut made = MigratorOptions::new(worker?, resources);
    if let Some(ttl) = ttl {
        made = made.ttl(ttl);
    }
    if let Some(rate) = rate {
        made = made.objects_per_second(rate);
    }
    if let Some(at_once) = at_once {
        made = made.objects_at_once(at_once);
    }
    Some(made)
}

fn whole(value: &Value) -> Result<u32, synod_client::Violation> {
    let number = number(value)?;
    u32::try_from(number).map_err(|_| rule("must be a whole number of 32 bits"))
}

impl Migrator {
    /// The questions of the worker to its store or its codec.
    #[must_use]
    pub fn tasks(&self) -> &Feed<Task> {
        &self.tasks
    }

    /// Works at every migration of its resources, present and future ones, until the worker is closed.
    ///
    /// # Errors
    ///
    /// The cluster can no longer be watched.
    pub async fn run(&self) -> Result<(), Failure> {
        let running = async {
            match &self.worker {
                Worker::Collections(worker) => worker.run().await,
                Worker::Own(worker) => worker.run().await,
            }
        };
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Ok(()),
            ended = Box::pin(running) => Ok(ended?),
        }
    }

    /// Works at the migration of this name, if it can be claimed now, and returns
    /// `{"worked": "completed", "assumptions": [Assumption]}`,
    /// `{"worked": "failed", "failure": MigrationFailure}` or `{"worked": "lost"}`; `{}` if it cannot be claimed.
    ///
    /// # Errors
    ///
    /// The cluster does not answer, or the worker was closed.
    pub async fn run_one(&self, name: &str) -> Result<String, Failure> {
        let id = MigrationId::parse(name).map_err(Failure::invalid)?;
        let running = async {
            match &self.worker {
                Worker::Collections(worker) => worker.run_one(&id).await,
                Worker::Own(worker) => worker.run_one(&id).await,
            }
        };
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(used_up("the worker")),
            worked = Box::pin(running) => Ok(shown(worked?).to_string()),
        }
    }

    /// Stops the worker. Another worker takes over its migration when its claim has ended.
    pub fn close(&self) {
        self.closed.cancel();
        self.tasks.close();
    }
}

impl Drop for Migrator {
    fn drop(&mut self) {
        self.close();
    }
}

fn shown(worked: Option<Worked>) -> Value {
    match worked {
        None => json!({}),
        Some(Worked::Completed { assumptions }) => {
            json!({"worked": "completed", "assumptions": form::list(&assumptions, form::of)})
        }
        Some(Worked::Lost) => json!({"worked": "lost"}),
        Some(Worked::Failed(failure)) => {
            json!({"worked": "failed", "failure": form::of(&failure)})
        }
    }
}

/// A store that the worker asks by tasks.
#[derive(Clone, Debug)]
struct Asked(mpsc::Sender<Task>);

impl Asked {
    /// Asks, and waits for the answer. Once the feed of tasks is gone this waits forever: the worker is being closed.
    async fn ask<T>(&self, ask: Ask, reply: impl FnOnce(oneshot::Sender<T>) -> Reply) -> Option<T> {
        let (sender, answer) = oneshot::channel();
        if self.0.send(Task::new(ask, reply(sender))).await.is_err() {
            return std::future::pending().await;
        }
        answer.await.ok()
    }
}

const UNANSWERED: &str = "the store or codec dropped the worker's task without answering it";

impl Store for Asked {
    /// A document that the store made, and that only it understands.
    type Object = Value;

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<Value>, StoreError> {
        let ask = Ask::List {
            migration: form::of(migration),
            token: token.map(ToString::to_string),
        };
        let page = self.ask(ask, Reply::Page).await;
        page.unwrap_or_else(|| Err(StoreError::Refused(UNANSWERED.to_owned())))
    }

    async fn rewrite(&self, migration: &Migration, object: &Value) -> Result<(), StoreError> {
        let ask = Ask::Rewrite {
            migration: form::of(migration),
            object: object.clone(),
        };
        let rewritten = self.ask(ask, Reply::Rewritten).await;
        rewritten.unwrap_or_else(|| Err(StoreError::Refused(UNANSWERED.to_owned())))
    }
}

/// The collections of the cluster, whose objects are recoded by tasks.
fn collections(client: synod_client::Client, asked: Asked) -> CollectionStore {
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
