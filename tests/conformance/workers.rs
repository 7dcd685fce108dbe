//! The migration worker of the cases, with their codec.

use serde_json::{Value, json};
use synod_bound::{Bound, Migrator, Task};

use crate::handles::parsed;
use crate::objects::Codec;
use crate::run::{Done, Outcome, refused};
use crate::values::part;

/// A worker, and the codec that recodes objects for it.
#[derive(Debug)]
pub(crate) struct Worker {
    inner: Migrator,
    codec: Codec,
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
        let inner = client.migrator(&options.to_string());
        Ok(Self {
            inner: inner.map_err(|failure| refused(&failure))?,
            codec: Codec::new(&with["versions"]),
        })
    }

    /// Works at one migration, and answers its tasks meanwhile.
    pub(crate) async fn run_one(&self, with: &Value) -> Outcome {
        let name = part(with, "name").and_then(Value::as_str);
        let running = self.inner.run_one(name.unwrap_or_default());
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

    /// Answers a task by recoding the object.
    fn answer(&self, task: &Task) -> Result<(), Value> {
        let asked = parsed(&task.document());
        let version = part(&asked, "recode.version").and_then(Value::as_str);
        let version = version.expect("a collection asks for nothing but an encoding");
        let value = self.codec.decode(&asked["recode"]["object"]);
        let answer = match value {
            Ok(value) => json!({"content": self.codec.encode(&value, version)}),
            Err(fault) => json!({"undecodable": fault}),
        };
        let answered = task.answer(&answer.to_string());
        answered.map_err(|failure| refused(&failure))
    }
}
