//! Objects with the codec of the cases, and changes of them.

use std::sync::Arc;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};
use synod_bound::{Bound, Step, Updater};

use crate::handles::parsed;
use crate::run::{Done, Outcome, refused};
use crate::values::part;

/// The codec of the cases: a value is wrapped together with its version.
#[derive(Clone, Debug)]
pub(crate) struct Codec {
    versions: Vec<String>,
}

impl Codec {
    /// A codec of these versions.
    pub(crate) fn new(versions: &Value) -> Self {
        let versions = versions.as_array().into_iter().flatten();
        Self {
            versions: versions
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The version to encode in at first.
    fn first(&self) -> Option<&str> {
        self.versions.first().map(String::as_str)
    }

    /// A value as `ObjectContent`.
    pub(crate) fn encode(&self, value: &Value, version: &str) -> Value {
        let is_known = self.versions.iter().any(|known| known == version);
        assert!(is_known, "{version} is none of {:?}", self.versions);
        let document = json!({"apiVersion": version, "value": value}).to_string();
        json!({
            "encodingVersion": version,
            "mediaType": "application/json",
            "data": BASE64.encode(document.as_bytes()),
        })
    }

    /// The value in an `Object`.
    ///
    /// # Errors
    ///
    /// The object is not of one of the versions, or is not wrapped.
    pub(crate) fn decode(&self, object: &Value) -> Result<Value, String> {
        let data = part(object, "content.data").and_then(Value::as_str);
        let data = BASE64.decode(data.unwrap_or_default().as_bytes());
        let document = serde_json::from_slice::<Value>(&data.expect("bytes are in base64"));
        let document = document.map_err(|error| format!("the data is no JSON: {error}"))?;
        let version = document.get("apiVersion").and_then(Value::as_str);
        let mut known = self.versions.iter().map(String::as_str);
        let is_known = version.is_some_and(|version| known.any(|known| known == version));
        match document.get("value").filter(|_| is_known) {
            Some(value) => Ok(value.clone()),
            None => Err(format!("{document} has none of {:?}", self.versions)),
        }
    }

    /// The value in an object that this codec has written.
    pub(crate) fn known(&self, object: &Value) -> Value {
        let value = self.decode(object);
        value.unwrap_or_else(|fault| panic!("{fault}"))
    }
}

/// The objects of a collection.
#[derive(Debug)]
pub(crate) struct Objects {
    client: Arc<Bound>,
    inner: synod_bound::Objects,
    codec: Codec,
}

/// A change under way.
#[derive(Debug)]
pub(crate) struct Update {
    updater: Updater,
    codec: Codec,
    merge: Value,
    /// The object to change, and the version to encode it in.
    asked: Option<(Value, String)>,
}

/// The next stage of a change.
#[derive(Debug)]
pub(crate) enum Stage {
    /// The change is to be applied and written.
    Change,
    /// The change was made.
    Done(Value),
}

impl Objects {
    /// Opens the objects of a collection with a step's options.
    pub(crate) fn open(client: &Arc<Bound>, with: &Value) -> Result<Self, Value> {
        let codec = Codec::new(&with["versions"]);
        let first = codec.first().map(|version| json!(version));
        let mut options = json!({"encodeIn": with.get("encodeIn").cloned().or(first)});
        for fence in ["ifMember", "ifLease"] {
            if let Some(given) = with.get(fence) {
                options[fence] = given.clone();
            }
        }
        let inner = client.objects(&options.to_string());
        Ok(Self {
            client: Arc::clone(client),
            inner: inner.map_err(|failure| refused(&failure))?,
            codec,
        })
    }

    /// Reads one of them, with its value.
    pub(crate) async fn get(&self, with: &Value) -> Outcome {
        let request = json!({"key": with["key"]}).to_string();
        let answer = self.client.call("synod.v1.Objects/Get", &request, None);
        let answer = answer.await.map_err(|failure| refused(&failure))?;
        let object = parsed(&answer)["object"].take();
        let value = self.codec.known(&object);
        Ok(Done::answer(json!({"object": object, "value": value})))
    }

    /// Creates an object, and encodes it again each time another version was selected meanwhile.
    pub(crate) async fn create(&self, with: &Value) -> Outcome {
        let creator = self.inner.creator(&json!({"key": with["key"]}).to_string());
        let creator = creator.map_err(|failure| refused(&failure))?;
        loop {
            let content = self.codec.encode(&with["value"], &creator.version().await);
            let created = creator.write(&content.to_string()).await;
            if let Some(object) = created.map_err(|failure| refused(&failure))? {
                let object = parsed(&object);
                let value = self.codec.known(&object);
                return Ok(Done::answer(json!({"object": object, "value": value})));
            }
        }
    }

    /// Begins a change of one of them.
    pub(crate) fn update(&self, with: &Value) -> Result<Update, Value> {
        let updater = self.inner.updater(&with["key"].to_string(), None);
        Ok(Update {
            updater: updater.map_err(|failure| refused(&failure))?,
            codec: self.codec.clone(),
            merge: with["merge"].clone(),
            asked: None,
        })
    }
}

impl Update {
    /// Reads the object, or writes the changed one, and returns the next stage.
    ///
    /// # Errors
    ///
    /// The failure of the client.
    pub(crate) async fn next(&mut self) -> Result<Stage, Value> {
        let step = match self.asked.take() {
            None => self.updater.begin().await,
            Some((object, version)) => {
                let (attributes, content) = self.changed(&object, &version);
                self.updater
                    .write(&attributes.to_string(), &content.to_string(), None)
                    .await
            }
        };
        Ok(match step.map_err(|failure| refused(&failure))? {
            Step::Change { object, version } => {
                self.asked = Some((parsed(&object), version));
                Stage::Change
            }
            Step::Done {
                object, changed, ..
            } => {
                let object = parsed(&object);
                let value = self.codec.known(&object);
                Stage::Done(json!({"object": object, "value": value, "changed": changed}))
            }
        })
    }

    /// The attributes and the content that the change makes of an object.
    fn changed(&self, object: &Value, version: &str) -> (Value, Value) {
        let mut value = self.codec.known(object);
        merge(&mut value, &self.merge);
        let content = self.codec.encode(&value, version);
        let kept = ["labels", "annotations", "ownerReferences", "finalizers"];
        let metadata = &object["metadata"];
        let attributes: Map<String, Value> = kept
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), part(metadata, key)?.clone())))
            .collect();
        (Value::Object(attributes), content)
    }
}

/// Applies a JSON merge patch (RFC 7386).
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = json!({});
    }
    if let Value::Object(fields) = value {
        for (key, change) in changes {
            if change.is_null() {
                fields.remove(key);
            } else {
                merge(fields.entry(key.clone()).or_insert(Value::Null), change);
            }
        }
    }
}
