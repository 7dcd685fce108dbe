//! The handles of a case: opened, used by their functions, and dropped.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use synod_bound::{
    Admitted, Bound, Election, Failure, Feed, FenceGuard, LeadingEnd, Lock, Membership, Permit,
    Reflector, Taken, Watch,
};

use crate::caches::Cache;
use crate::objects::Objects;
use crate::run::{Done, Outcome, refused};
use crate::values::number;
use crate::workers::Worker;

/// A handle. Clones share one handle.
#[derive(Clone)]
pub(crate) enum Handle {
    /// A watch, and the options that it was opened with.
    Watch(Arc<Watch>, Value),
    Membership(Arc<Membership>),
    Permit(Arc<Permit>),
    Lock(Arc<Lock>),
    Election(Arc<Election>),
    Observer(Arc<Feed<String>>),
    Reflector(Arc<Reflector>),
    Objects(Arc<Objects>),
    ObjectReflector(Arc<Cache>),
    Migrator(Arc<Worker>),
    FenceGuard(Arc<FenceGuard>),
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The future of a step, which borrows nothing.
pub(crate) type Coming = Pin<Box<dyn Future<Output = Outcome> + Send>>;

impl Handle {
    /// Its name in the cases.
    fn name(&self) -> &'static str {
        match self {
            Self::Watch(..) => "watch",
            Self::Membership(_) => "membership",
            Self::Permit(_) => "permit",
            Self::Lock(_) => "lock",
            Self::Election(_) => "election",
            Self::Observer(_) => "observer",
            Self::Reflector(_) => "reflector",
            Self::Objects(_) => "objects",
            Self::ObjectReflector(_) => "object_reflector",
            Self::Migrator(_) => "migrator",
            Self::FenceGuard(_) => "fence_guard",
        }
    }

    /// Opens a handle that the client itself opens.
    pub(crate) async fn open(client: &Arc<Bound>, handle: &str, with: &Value) -> Outcome {
        let options = with.to_string();
        let opened = match handle {
            "membership" => {
                let joined = came(client.join(&options).map_err(|failure| refused(&failure))?);
                Self::Membership(Arc::new(joined.await?))
            }
            "lock" => {
                let held = came(client.lock(&options).map_err(|failure| refused(&failure))?);
                Self::Lock(Arc::new(held.await?))
            }
            "try_lock" => {
                let held = client.try_lock(&options);
                let held = came(held.map_err(|failure| refused(&failure))?);
                Self::Lock(Arc::new(held.await?))
            }
            "election" => {
                let election = client.election(&options);
                let election = election.map_err(|failure| refused(&failure))?;
                Self::Election(Arc::new(election))
            }
            "reflector" => {
                let reflector = client.reflect(&options).await;
                let reflector = reflector.map_err(|failure| refused(&failure))?;
                Self::Reflector(Arc::new(reflector))
            }
            "objects" => Self::Objects(Arc::new(Objects::open(client, with)?)),
            "object_reflector" => Self::ObjectReflector(Arc::new(Cache::open(client, with).await?)),
            "fence_guard" => {
                let member = with.get("member").and_then(Value::as_str);
                let guard = client.fence_guard(member.unwrap_or_default()).await;
                Self::FenceGuard(Arc::new(guard.map_err(|failure| refused(&failure))?))
            }
            "migrator" => Self::Migrator(Arc::new(Worker::open(client, with)?)),
            other => panic!("there is no handle `{other}`"),
        };
        Ok(opened.with(Value::Null))
    }

    /// Opens a watch.
    pub(crate) async fn watch(client: &Bound, mut options: Value, is_list: bool) -> Outcome {
        if is_list {
            options["from"] = json!("list");
        }
        let watch = client.watch(&options.to_string()).await;
        let watch = watch.map_err(|failure| refused(&failure))?;
        Ok(Self::Watch(Arc::new(watch), options).with(Value::Null))
    }

    /// Opens the watch again at the position of this one.
    pub(crate) async fn resumed(self, client: &Bound) -> Outcome {
        let Self::Watch(watch, mut options) = self else {
            panic!("a {self:?} is not resumed");
        };
        watch.close();
        if let Some(fields) = options.as_object_mut() {
            fields.remove("from");
        }
        if let Some(position) = watch.position() {
            options["fromRevision"] = json!(position.to_string());
        }
        Self::watch(client, options, false).await
    }

    /// The next message of a watch. Bookmarks are skipped unless `wants_bookmark`.
    pub(crate) fn next(&self, wants_bookmark: bool) -> Result<Coming, String> {
        let Self::Watch(watch, _) = self else {
            return Err(format!("a {self:?} has no messages"));
        };
        let watch = Arc::clone(watch);
        Ok(Box::pin(async move {
            loop {
                let message = watch.next().await.map_err(|failure| refused(&failure))?;
                let message = message.map(|message| parsed(&message)).unwrap_or_default();
                if wants_bookmark || message.get("bookmark").is_none() {
                    return Ok(Done::answer(message));
                }
            }
        }))
    }

    /// The objects, if the handle is of that kind.
    pub(crate) fn objects(&self) -> Option<&Arc<Objects>> {
        match self {
            Self::Objects(objects) => Some(objects),
            _ => None,
        }
    }

    /// Calls a function of the handle. `other` is a handle that is passed to the function.
    pub(crate) async fn call(self, function: &str, with: &Value, other: Option<Self>) -> Outcome {
        match &self {
            Self::Membership(membership) => of_membership(membership, function, with).await,
            Self::Permit(permit) => of_permit(permit, function),
            Self::Lock(lock) => of_lock(lock, function).await,
            Self::Election(election) => of_election(election, function, other).await,
            Self::Observer(observer) if function == "next" => {
                let lease = observer.next().await.map_err(|failure| refused(&failure))?;
                Ok(Done::answer(parsed(&lease.unwrap_or_default())))
            }
            Self::Reflector(reflector) => of_reflector(reflector, function, with).await,
            Self::Objects(objects) if function == "get" => objects.get(with).await,
            Self::Objects(objects) if function == "create" => objects.create(with).await,
            Self::ObjectReflector(cache) => cache.call(function, with).await,
            Self::Migrator(worker) if function == "run_one" => worker.run_one(with).await,
            Self::Migrator(worker) if function == "stored" => Ok(Done::answer(worker.stored())),
            Self::FenceGuard(guard) if function == "check" => check(guard, with, other),
            Self::Watch(..)
            | Self::Observer(_)
            | Self::Objects(_)
            | Self::Migrator(_)
            | Self::FenceGuard(_) => {
                panic!("a {self:?} has no function `{function}`")
            }
        }
    }

    fn with(self, answer: Value) -> Done {
        Done {
            answer,
            opened: Some(self),
        }
    }
}

async fn of_membership(membership: &Membership, function: &str, with: &Value) -> Outcome {
    let document = |key: &str| with.get(key).map(ToString::to_string).unwrap_or_default();
    let gate = membership.gate();
    let resource = document("resource");
    let answer = match function {
        "report" => membership.report(&document("entries")).await,
        "report_change" => membership.report_change(&document("entry")).await,
        "ready" => membership.ready().await.map(|()| "null".to_owned()),
        "leave" => {
            let limit = millis(with, "drainLimitMs").unwrap_or_default();
            let left = membership.leave(limit).await;
            left.map(|()| "null".to_owned())
        }
        "state" => membership.state(),
        "ended" => {
            let ended = membership.ended().await;
            ended.map(|why| json!({"ended": why}).to_string())
        }
        "permit" => {
            let feed = gate.permit(&resource, millis(with, "waitMs"));
            return Ok(permitted(
                came(feed.map_err(|failure| refused(&failure))?).await?,
            ));
        }
        "try_permit" => {
            let permit = gate.try_permit(&resource);
            return Ok(permitted(permit.map_err(|failure| refused(&failure))?));
        }
        "readiness" => Ok(match gate.waits_for() {
            None => json!({"ready": true}).to_string(),
            Some(what) => json!({"ready": false, "waitsFor": what}).to_string(),
        }),
        "discovery" => gate.discovery(&resource),
        "is_drained" => Ok(json!({"drained": gate.is_drained()}).to_string()),
        "admit" => return admit(membership, with).await,
        other => panic!("a membership has no function `{other}`"),
    };
    let answer = answer.map_err(|failure| refused(&failure))?;
    Ok(Done::answer(parsed(&answer)))
}

fn permitted(permit: Permit) -> Done {
    let answer = json!({
        "resource": parsed(&permit.resource()),
        "encoding": permit.encoding(),
        "epoch": permit.epoch().to_string(),
        "revision": permit.revision().to_string(),
    });
    Handle::Permit(Arc::new(permit)).with(answer)
}

async fn admit(membership: &Membership, with: &Value) -> Outcome {
    let text = |key: &str| with.get(key).and_then(Value::as_str).unwrap_or_default();
    let not_stored = with
        .get("notStored")
        .cloned()
        .unwrap_or_else(|| json!([]))
        .to_string();
    let door = membership.gate().door(Duration::ZERO, &not_stored);
    let door = door.map_err(|failure| refused(&failure))?;
    let admitted = came(door.admit(text("method"), text("uri"))).await?;
    Ok(Done::answer(match admitted {
        Admitted::Pass | Admitted::Permitted(_) => json!({"pass": true}),
        Admitted::Refused { code, .. } => json!({"pass": false, "status": code}),
    }))
}

fn of_permit(permit: &Permit, function: &str) -> Outcome {
    match function {
        "check" => permit.check().map_err(|failure| refused(&failure))?,
        "done" => permit.done(),
        "unknown_outcome" => permit.unknown_outcome(),
        other => panic!("a permit has no function `{other}`"),
    }
    Ok(Done::answer(Value::Null))
}

fn check(guard: &FenceGuard, with: &Value, other: Option<Handle>) -> Outcome {
    let Some(Handle::Permit(permit)) = other else {
        panic!("`check` is asked about a permit");
    };
    let present = with.get("present").and_then(Value::as_str);
    let checked = guard.check(&permit, present.map(str::as_bytes));
    checked.map_err(|failure| refused(&failure))?;
    Ok(Done::answer(Value::Null))
}

async fn of_lock(lock: &Lock, function: &str) -> Outcome {
    let answer = match function {
        "proof" => Ok(parsed(lock.proof())),
        "check" => lock.check().map(|()| Value::Null),
        "lost" => lock.lost().await.map(|why| json!({"lost": refused(&why)})),
        "release" => lock.release().await.map(|()| Value::Null),
        other => panic!("a lock has no function `{other}`"),
    };
    answer
        .map(Done::answer)
        .map_err(|failure| refused(&failure))
}

async fn of_election(election: &Election, function: &str, other: Option<Handle>) -> Outcome {
    match function {
        "campaign" => {
            let lock = came(election.campaign()).await?;
            let proof = parsed(lock.proof());
            Ok(Handle::Lock(Arc::new(lock)).with(proof))
        }
        "over" => {
            let Some(Handle::Lock(lock)) = other else {
                panic!("`over` is asked about a lock");
            };
            let end = election.over(&lock).await;
            let end = end.map_err(|failure| refused(&failure))?;
            Ok(Done::answer(match end {
                LeadingEnd::Lost(why) => json!({"lost": refused(&why)}),
                LeadingEnd::Preferred(identity) => json!({"preferred": identity}),
            }))
        }
        "observe" => Ok(Handle::Observer(Arc::new(election.observe())).with(Value::Null)),
        "withdraw" => {
            let withdrawn = election.withdraw().await;
            withdrawn.map_err(|failure| refused(&failure))?;
            Ok(Done::answer(Value::Null))
        }
        other => panic!("an election has no function `{other}`"),
    }
}

async fn of_reflector(reflector: &Reflector, function: &str, with: &Value) -> Outcome {
    let revision = |key: &str| with.get(key).and_then(number).unwrap_or_default();
    let answer = match function {
        "get" => reflector.get(&with.to_string()).map(|object| {
            let object = object.map(|object| parsed(&object));
            json!({"object": object})
        }),
        "list" => {
            let kind = with.get("kind").and_then(Value::as_str).unwrap_or_default();
            let objects = reflector.list(kind);
            objects.map(|objects| json!({"objects": parsed(&objects)}))
        }
        "changed" => {
            let changed = reflector.changed(revision("since")).await;
            changed.map(|revision| json!({"revision": revision.to_string()}))
        }
        "reached" => {
            let limit = millis(with, "limitMs").unwrap_or_default();
            let reached = reflector.reached(revision("revision"), limit).await;
            reached.map(|()| Value::Null)
        }
        other => panic!("a reflector has no function `{other}`"),
    };
    answer
        .map(Done::answer)
        .map_err(|failure| refused(&failure))
}

/// The only result of a feed.
async fn came<T: Taken>(feed: Feed<T>) -> Result<T, Value> {
    let result: Result<Option<T>, Failure> = feed.next().await;
    let result = result.map_err(|failure| refused(&failure))?;
    result.ok_or_else(|| json!({"code": "", "message": "the feed ended with nothing"}))
}

/// Parses a document of the clients.
pub(crate) fn parsed(document: &str) -> Value {
    serde_json::from_str(document).unwrap_or_else(|_| panic!("{document} is no JSON"))
}

/// The duration under a key, in milliseconds.
pub(crate) fn millis(with: &Value, key: &str) -> Option<Duration> {
    with.get(key).and_then(number).map(Duration::from_millis)
}
