//! The codec of the configuration: JSON documents, alike in each version.

use serde_json::Value;
use synod_client::{ApiVersion, Codec, CodecError, Content, MediaType, ObjectKey};

/// JSON documents.
pub(crate) struct Json;

impl Codec<Value> for Json {
    fn preferred(&self) -> ApiVersion {
        ApiVersion::parse("example.io/v1").expect("it is a version")
    }

    fn encode(&self, _: &ObjectKey, value: &Value, to: &ApiVersion) -> Result<Content, CodecError> {
        Ok(Content {
            encoding: to.clone(),
            media_type: MediaType::JSON,
            data: value.to_string().into(),
        })
    }

    fn decode(&self, _: &ObjectKey, content: &Content) -> Result<Value, CodecError> {
        Ok(serde_json::from_slice(&content.data)?)
    }
}
