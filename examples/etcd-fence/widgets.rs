//! Widgets in etcd: where they are, and how they are encoded in each version.

use serde_json::{Value, json};
use synod_client::{ApiVersion, GroupResource, Migration};
use synod_fence::{Pair, Recoder};

pub(crate) const WIDGETS: &str = "widgets.example.io";
pub(crate) const OBJECTS: &str = "/objects/widgets.example.io/";
/// What the keys of the fences begin with. All servers and workers of an etcd have the same.
pub(crate) const FENCES: &str = "/fences/";

pub(crate) fn key(name: &str) -> String {
    format!("{OBJECTS}{name}")
}

/// Encodes a widget of this size.
pub(crate) fn encode(size: u64, version: &ApiVersion) -> Vec<u8> {
    let document = match version.version() {
        "v1" => json!({"apiVersion": version.to_string(), "size": size}),
        _ => json!({"apiVersion": version.to_string(), "spec": {"size": size}}),
    };
    document.to_string().into_bytes()
}

/// The size of a widget, and the version that it is encoded in.
pub(crate) fn decode(bytes: &[u8]) -> Option<(u64, ApiVersion)> {
    let document: Value = serde_json::from_slice(bytes).ok()?;
    let version = ApiVersion::parse(document["apiVersion"].as_str()?).ok()?;
    let size = match version.version() {
        "v1" => &document["size"],
        "v2" => &document["spec"]["size"],
        _ => return None,
    };
    Some((size.as_u64()?, version))
}

/// How a migration worker encodes widgets anew.
#[derive(Debug)]
pub(crate) struct Widgets;

impl Recoder for Widgets {
    fn prefix(&self, _: &GroupResource) -> String {
        OBJECTS.to_owned()
    }

    fn recode(&self, migration: &Migration, object: &Pair) -> Result<Option<Vec<u8>>, String> {
        let target = migration.target.version.as_ref();
        let target = target.ok_or("the version of the target is not known")?;
        let (size, version) = decode(&object.value).ok_or("it is no widget")?;
        Ok((version != *target).then(|| encode(size, target)))
    }
}
