//! The type of the objects that all steps work on.

use kube::api::ObjectMeta;
use kube::{Api, Client, CustomResource};
use serde::{Deserialize, Serialize};

/// The namespace of everything.
pub(crate) const NAMESPACE: &str = "rust";

/// What is wanted of a widget.
#[derive(CustomResource, Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[kube(
    group = "example.io",
    version = "v1",
    kind = "Widget",
    namespaced,
    status = "WidgetStatus",
    schema = "disabled"
)]
#[kube(derive = "PartialEq")]
pub(crate) struct WidgetSpec {
    pub(crate) size: i64,
}

/// What a controller has seen of a widget.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
pub(crate) struct WidgetStatus {
    pub(crate) seen: i64,
}

pub(crate) fn widgets(client: &Client) -> Api<Widget> {
    Api::namespaced(client.clone(), NAMESPACE)
}

pub(crate) fn widget(name: &str, size: i64) -> Widget {
    Widget {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        spec: WidgetSpec { size },
        status: None,
    }
}
