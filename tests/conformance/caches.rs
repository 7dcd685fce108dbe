//! Caches of objects, whose values are decoded by the codec of the cases.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use synod_bound::{Bound, ObjectReflector};

use crate::handles::{millis, parsed};
use crate::objects::Codec;
use crate::run::{Done, Outcome, refused};
use crate::values::{number, part};

/// A cache: what was pulled, by namespace and name.
#[derive(Debug)]
pub(crate) struct Cache {
    inner: ObjectReflector,
    codec: Codec,
    objects: Mutex<BTreeMap<(String, String), Value>>,
}

impl Cache {
    /// Opens a cache with a step's options.
    pub(crate) async fn open(client: &Bound, with: &Value) -> Result<Self, Value> {
        let mut options = with.clone();
        let versions = options.as_object_mut().and_then(|it| it.remove("versions"));
        let inner = client.reflect_objects(&options.to_string()).await;
        Ok(Self {
            inner: inner.map_err(|failure| refused(&failure))?,
            codec: Codec::new(&versions.unwrap_or_default()),
            objects: Mutex::default(),
        })
    }

    /// Calls a function of the cache.
    pub(crate) async fn call(&self, function: &str, with: &Value) -> Outcome {
        let revision = |key: &str| with.get(key).and_then(number).unwrap_or_default();
        let text = |key: &str| with.get(key).and_then(Value::as_str).unwrap_or_default();
        let answer = match function {
            "get" => {
                self.pull();
                let key = (text("namespace").to_owned(), text("name").to_owned());
                let objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(objects
                    .get(&key)
                    .map_or_else(|| json!({}), |object| self.shown(object)))
            }
            "list" => {
                self.pull();
                let objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
                let shown: Vec<Value> = objects.values().map(|object| self.shown(object)).collect();
                Ok(json!({"objects": shown}))
            }
            "changed" => {
                let changed = self.inner.changed(revision("since")).await;
                changed.map(|revision| json!({"revision": revision.to_string()}))
            }
            "reached" => {
                let limit = millis(with, "limitMs").unwrap_or_default();
                let reached = self.inner.reached(revision("revision"), limit).await;
                reached.map(|()| Value::Null)
            }
            other => panic!("a cache has no function `{other}`"),
        };
        answer
            .map(Done::answer)
            .map_err(|failure| refused(&failure))
    }

    /// Takes over what has changed.
    fn pull(&self) {
        let Some(changes) = self.inner.pull().changes else {
            return;
        };
        let changes = parsed(&changes);
        let text = |object: &Value, path: &str| {
            let text = part(object, path).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        for gone in changes["gone"].as_array().into_iter().flatten() {
            objects.remove(&(text(gone, "namespace"), text(gone, "name")));
        }
        for object in changes["changed"].as_array().into_iter().flatten() {
            let name = text(object, "metadata.name");
            objects.insert((text(object, "metadata.namespace"), name), object.clone());
        }
    }

    fn shown(&self, object: &Value) -> Value {
        let value = self.codec.known(object);
        json!({"object": object, "value": value})
    }
}
