//! Topics by their texts, so that no language has the rules of their names.

use serde_json::json;
use synod_client::{GroupResource, Topic};

use crate::Failure;
use crate::options::value;

/// The topic with this text, `keys/secrets`: `{"kind": text, "name": text, "resource": GroupResource}`.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, as [`Topic::parse`].
pub fn topic(text: &str) -> Result<String, Failure> {
    let topic = Topic::parse(text).map_err(Failure::invalid)?;
    Ok(document(&topic))
}

/// The topic that a resource is, a `GroupResource`, as [`topic`] tells it.
///
/// # Errors
///
/// `INVALID_ARGUMENT`: `resource` is not a resource.
pub fn topic_of(resource: &str) -> Result<String, Failure> {
    let resource: GroupResource = value(resource)?;
    Ok(document(&Topic::of(&resource)))
}

fn document(topic: &Topic) -> String {
    let told = json!({
        "kind": topic.kind().as_str(),
        "name": topic.name(),
        "resource": synod_client::json::of(topic.resource()),
    });
    told.to_string()
}
