//! How widgets are encoded in each of their versions.

use serde_json::{Value, json};
use synod_client::{ApiVersion, Codec, CodecError, Content, MediaType, ObjectKey};

/// A widget as the program holds it.
#[derive(Clone, Debug)]
pub(crate) struct Widget {
    pub(crate) size: u64,
}

/// Encodes the size as a number in v1, and as a text with its unit in v2.
pub(crate) struct Widgets;

pub(crate) fn version(number: u32) -> ApiVersion {
    ApiVersion::parse(&format!("migrated.example.io/v{number}")).expect("it is a legal version")
}

impl Codec<Widget> for Widgets {
    fn preferred(&self) -> ApiVersion {
        version(1)
    }

    fn encode(
        &self,
        _key: &ObjectKey,
        widget: &Widget,
        wanted: &ApiVersion,
    ) -> Result<Content, CodecError> {
        let size = widget.size;
        let document = if *wanted == version(1) {
            json!({"size": size})
        } else if *wanted == version(2) {
            json!({"size": format!("{size}mm")})
        } else {
            return Err(format!("widgets have no version {wanted}").into());
        };
        Ok(Content {
            encoding: wanted.clone(),
            media_type: MediaType::JSON,
            data: document.to_string().into(),
        })
    }

    fn decode(&self, _key: &ObjectKey, content: &Content) -> Result<Widget, CodecError> {
        let document: Value = serde_json::from_slice(&content.data)?;
        let size = if content.encoding == version(1) {
            document["size"].as_u64()
        } else {
            let text = document["size"]
                .as_str()
                .and_then(|text| text.strip_suffix("mm"));
            text.and_then(|digits| digits.parse().ok())
        };
        let size = size.ok_or_else(|| format!("no size is in {document}"))?;
        Ok(Widget { size })
    }
}
