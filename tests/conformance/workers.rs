//! The migration worker of the cases, with their codec or with a store in memory.

use std::future::pending;
use std::sync::{Mutex, PoisonError};

use data_encoding::BASE64;
use serde_json::{Map, Value, json};
use synod_bound::{Bound, Migrator, Task};

use crate::handles::parsed;
use crate::objects::Codec;
use crate::run::{Done, Outcome, refused};
use crate::values::part;

/// A worker, and the codec that recodes objects for it, or the store that has them.
#[derive(Debug)]
pub(crate) struct Worker {
    inner: Migrator,
    codec: Codec,
    store: Mutex<Memory>,
}

/// A store in memory: the version of each object, by its name, and the content of the fence key.
#[derive(Debug, Default)]
struct Memory {
    objects: Map<String, Value>,
    fence: Option<String>,
}

impl Worker {
    /// Opens the worker with a step's options.
    pub(crate) fn open(client: &Bound, with: &Value) -> Result<Self, Value> {
        let mut options = json!({"worker": with["worker"], "resources": [with["resource"]]});
        for option in ["ttlMs", "objectsAtOnce", "pageSize"] {
            if let Some(given) = with.get(option) {
                options[option] = given.clone();
            }
        }
        let objects = with.get("objects").and_then(Value::as_object);
        if objects.is_some() {
            options["store"] = json!("fenced");
        }
        let inner = client.migrator(&options.to_string());
        let fence = with.get("fence").and_then(Value::as_str);
        let store = Memory {
            objects: objects.cloned().unwrap_or_default(),
            fence: fence.map(str::to_owned),
        };
        Ok(Self {
            inner: inner.map_err(|failure| refused(&failure))?,
            codec: Codec::new(&with["versions"]),
            store: Mutex::new(store),
        })
    }

    /// What the store holds.
    pub(crate) fn stored(&self) -> Value {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        json!({"objects": store.objects, "fence": store.fence})
    }

    /// Works at one migration, and answers its tasks meanwhile.
    pub(crate) async fn run_one(&self, with: &Value) -> Outcome {
        let name = part(with, "name").and_then(Value::as_str);
        let running = self.inner.run_one(name.unwrap_or_default(), pending());
        tokio::pin!(running);
        loop {
            tokio::select! {
                biased;
                worked = &mut running => {
                    let worked = worked.map_err(|failure| refused(&failure))?;
                    return Ok(Done::answer(parsed(&worked)));
                }
                task = self.inner.tasks().next() => {
                    let task = task.map_err(|failure| refused(&failure))?;
                    let task = task.expect("tasks come as long as the worker runs");
                    self.answer(&task)?;
                }
            }
        }
    }

    /// Answers a task, by the codec or by the store.
    fn answer(&self, task: &Task) -> Result<(), Value> {
        let asked = parsed(&task.document());
        let answer = match asked.get("recode") {
            Some(recode) => self.recoded(recode),
            None => {
                let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
                store.answer(&asked)
            }
        };
        let answered = task.answer(&answer.to_string());
        answered.map_err(|failure| refused(&failure))
    }

    fn recoded(&self, recode: &Value) -> Value {
        let version = recode["version"].as_str().unwrap_or_default();
        match self.codec.decode(&recode["object"]) {
            Ok(value) => json!({"content": self.codec.encode(&value, version)}),
            Err(fault) => json!({"undecodable": fault}),
        }
    }
}

impl Memory {
    fn answer(&mut self, asked: &Value) -> Value {
        let text = |path: &str| part(asked, path).and_then(Value::as_str).map(str::to_owned);
        if asked.get("list").is_some() {
            let names: Vec<&String> = self.objects.keys().collect();
            return json!({"page": {"objects": names}});
        }
        if asked.get("readFence").is_some() {
            let fence = self.fence.as_ref();
            let fence = fence.map(|fence| BASE64.encode(fence.as_bytes()));
            return json!({"fence": fence});
        }
        if asked.get("writeFence").is_some() {
            let present = self.fence.as_ref();
            let present = present.map(|fence| BASE64.encode(fence.as_bytes()));
            let holds = present == text("writeFence.present");
            if holds {
                self.fence = text("writeFence.fence");
            }
            return json!({"written": holds});
        }
        if text("rewrite.fence") != self.fence {
            return json!({"error": {"kind": "refused", "why": "the fence is another one"}});
        }
        let target = part(asked, "rewrite.migration.targetVersion");
        if let Some(name) = text("rewrite.object") {
            self.objects
                .insert(name, target.cloned().unwrap_or_default());
        }
        json!({"rewritten": true})
    }
}
