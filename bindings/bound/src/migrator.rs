//! Workers of migrations whose stores and codecs are written in another language.

mod asked;

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::stream::unfold;
use serde_json::{Value, json};
use synod_client::json as form;
use synod_client::{
    Attempt, Client, CollectionStore, Error, Fenced, GroupResource, MigrationId, Migrator as Inner,
    MigratorOptions, Ttl, Violation, Walk, Worked, WorkerName,
};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use crate::options::{Options, list, message, number, rule, text, used_up};
use crate::task::Task;
use crate::{Bound, Failure, Feed};
use asked::{Asked, collections};

/// A worker: [`synod_client::Migrator`], which asks its store or codec by tasks. The program has to serve it: during
/// [`run`](Self::run) or [`run_one`](Self::run_one), take tasks from [`tasks`](Self::tasks) and answer each. There are as
/// many tasks at a time as `objectsAtOnce` says, and each is answered by itself; [`asking`](Self::asking) also tells when
/// some of them are not wanted any more.
#[derive(Debug)]
pub struct Migrator {
    worker: Worker,
    tasks: Feed<Task>,
    withdrawn: Arc<Notify>,
    closed: CancellationToken,
}

/// A worker, by the place of its objects: collections of the cluster, or a store of the program's own.
#[derive(Debug)]
enum Worker {
    Collections(Inner<CollectionStore>),
    Own(Inner<Asked>),
    /// The cluster's id, which is in the fence, is only known once it has answered: so each run makes its worker.
    Fenced {
        client: Client,
        store: Asked,
        options: MigratorOptions,
    },
}

/// What a program that serves a worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// A task can be popped from [`Migrator::tasks`].
    Task,
    /// Some tasks that were taken are not wanted any more: [`Task::is_wanted`] tells which.
    Withdrawn,
    /// There are no more tasks: the worker was closed.
    Ended,
}

/// The number of tasks that may wait to be taken; the worker waits before it asks for more.
const TASKS_MAX: usize = 1;

impl Bound {
    /// Makes a worker.
    ///
    /// Options: `worker`, its name, for people; `resources`, a list of `GroupResource`; and `ttlMs`,
    /// `objectsPerSecond`, `objectsAtOnce`, `pageSize`, and `store`: `"own"`, if the objects are not in collections of
    /// the cluster, and `"fenced"`, if that store also has fence keys. A store of its own says by `walks`, a `Walk`, what it
    /// lists, by default what is stored outside of the cluster; a fenced one lists nothing else. Its tasks are `list` and `rewrite` with a store of
    /// its own, `readFence` and `writeFence`, too, if that is fenced, and `recode` without one.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule.
    pub fn migrator(&self, options: &str) -> Result<Migrator, Failure> {
        let mut options = Options::parse(options)?;
        let fenced = options.take("store", |value| match value.as_str() {
            Some("own") => Ok(false),
            Some("fenced") => Ok(true),
            _ => Err(rule("must be \"own\", \"fenced\" or left out")),
        });
        let walks = options.take("walks", |value| walk(value, fenced));
        let page_size = options.take("pageSize", whole);
        let made = read_options(&mut options);
        let made = options.end(made)?;
        let (sender, receiver) = mpsc::channel(TASKS_MAX);
        let withdrawn = Arc::new(Notify::new());
        let asked = Asked {
            tasks: sender,
            withdrawn: Arc::clone(&withdrawn),
            walks: walks.unwrap_or(Walk::Outside),
        };
        let client = self.client().clone();
        let worker = match fenced {
            Some(false) => Worker::Own(Inner::new(client, asked, made)),
            Some(true) => Worker::Fenced {
                client,
                store: asked,
                options: made,
            },
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
            withdrawn,
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

/// The walk of a worker's store, which only a store of the program's own may say.
fn walk(value: &Value, fenced: Option<bool>) -> Result<Walk, Violation> {
    let walks = match value.as_str() {
        Some("WALK_COLLECTION") => Walk::Collection,
        Some("WALK_OUTSIDE") => Walk::Outside,
        Some("WALK_BOTH") => Walk::Both,
        _ => {
            let rule_of_walks = "must be WALK_COLLECTION, WALK_OUTSIDE, WALK_BOTH or left out";
            return Err(rule(rule_of_walks));
        }
    };
    match (fenced, walks) {
        (Some(false), _) | (Some(true), Walk::Outside) => Ok(walks),
        (Some(true), Walk::Collection | Walk::Both) => Err(rule(
            "must be WALK_OUTSIDE or left out: a fenced store is outside of the cluster",
        )),
        (None, _) => Err(rule(
            "must be left out: a worker of collections walks collections",
        )),
    }
}

fn whole(value: &Value) -> Result<u32, Violation> {
    let number = number(value)?;
    u32::try_from(number).map_err(|_| rule("must be a whole number of 32 bits"))
}

impl Migrator {
    /// The questions of the worker to its store or its codec.
    #[must_use]
    pub fn tasks(&self) -> &Feed<Task> {
        &self.tasks
    }

    /// Waits for the next thing to do for the worker. A waiter may be cancelled at any time, and another one goes on.
    ///
    /// # Errors
    ///
    /// As [`Feed::ready`].
    pub async fn asking(&self) -> Result<Asking, Failure> {
        tokio::select! {
            biased;
            () = self.withdrawn.notified() => Ok(Asking::Withdrawn),
            ready = self.tasks.ready() => Ok(match ready? {
                true => Asking::Task,
                false => Asking::Ended,
            }),
        }
    }

    /// Works at every migration of its resources, present and future ones, until `stop` ends or the worker is closed. Then it
    /// gives back what it has claimed, and returns within three seconds.
    ///
    /// # Errors
    ///
    /// The cluster can no longer be watched.
    pub async fn run(&self, stop: impl Future<Output = ()> + Send) -> Result<(), Failure> {
        let stop = self.stopped(stop).boxed().shared();
        let running = async {
            match &self.worker {
                Worker::Collections(worker) => worker.run_until(stop).await,
                Worker::Own(worker) => worker.run_until(stop).await,
                Worker::Fenced {
                    client,
                    store,
                    options,
                } => {
                    let worker = fenced(client, store, options, stop.clone()).await?;
                    match worker {
                        Some(worker) => worker.run_until(stop).await,
                        None => Ok(()),
                    }
                }
            }
        };
        Ok(Box::pin(running).await?)
    }

    /// Works at the migration of this name, if it can be claimed now, until `stop` ends or the worker is closed, and returns
    /// `{"worked": "completed", "assumptions": [Assumption]}`, `{"worked": "failed", "failure": MigrationFailure}`,
    /// `{"worked": "released", "why": text}` or `{"worked": "lost"}`; `{}` if it cannot be claimed.
    ///
    /// # Errors
    ///
    /// The cluster does not answer; the worker was closed before; or what is claimed could not be given back.
    pub async fn run_one(
        &self,
        name: &str,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<String, Failure> {
        let id = MigrationId::parse(name).map_err(Failure::invalid)?;
        if self.closed.is_cancelled() {
            return Err(used_up("the worker"));
        }
        let stop = self.stopped(stop).boxed().shared();
        let running = async {
            match &self.worker {
                Worker::Collections(worker) => worker.run_one_until(&id, stop).await,
                Worker::Own(worker) => worker.run_one_until(&id, stop).await,
                Worker::Fenced {
                    client,
                    store,
                    options,
                } => {
                    let worker = fenced(client, store, options, stop.clone()).await?;
                    match worker {
                        Some(worker) => worker.run_one_until(&id, stop).await,
                        None => Ok(Attempt::Stopped),
                    }
                }
            }
        };
        Ok(shown(Box::pin(running).await?).to_string())
    }

    /// Ends with `stop`, or when the worker is closed.
    async fn stopped(&self, stop: impl Future<Output = ()> + Send) {
        tokio::select! {
            biased;
            () = self.closed.cancelled() => {}
            () = stop => {}
        }
    }

    /// Stops the worker. It gives back what it has claimed, for which whoever waits for [`run`](Self::run) or
    /// [`run_one`](Self::run_one) goes on waiting.
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

/// A worker whose store is fenced; `None` if it is told to stop before the cluster answers.
async fn fenced(
    client: &Client,
    store: &Asked,
    options: &MigratorOptions,
    stop: impl Future<Output = ()>,
) -> Result<Option<Inner<Fenced<Asked>>>, Error> {
    let store = tokio::select! {
        biased;
        () = stop => return Ok(None),
        store = Fenced::new(client, store.clone()) => store?,
    };
    Ok(Some(Inner::new(client.clone(), store, options.clone())))
}

fn shown(attempt: Attempt) -> Value {
    match attempt {
        Attempt::Refused(_) | Attempt::Stopped => json!({}),
        Attempt::Worked(Worked::Completed { assumptions }) => {
            json!({"worked": "completed", "assumptions": form::list(&assumptions, form::of)})
        }
        Attempt::Worked(Worked::Released { why }) => json!({"worked": "released", "why": why}),
        Attempt::Worked(Worked::Lost) => json!({"worked": "lost"}),
        Attempt::Worked(Worked::Failed(failure)) => {
            json!({"worked": "failed", "failure": form::of(&failure)})
        }
    }
}
