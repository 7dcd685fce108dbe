//! The printed columns of the kinds that every cluster has.

use serde_json::{Value, json};

/// The cell of what a StorageVersion does not have.
const UNSET: &str = "<unset>";

/// A column of a table. Name comes before and Age behind all of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    /// `string` or `integer`.
    pub(crate) kind: &'static str,
    pub(crate) description: &'static str,
    /// More than 0: only `-o wide` shows it.
    pub(crate) priority: u8,
    /// The cell of a document.
    pub(crate) cell: fn(&Value) -> Value,
}

const fn column(
    name: &'static str,
    description: &'static str,
    priority: u8,
    cell: fn(&Value) -> Value,
) -> Column {
    Column {
        name,
        kind: "string",
        description,
        priority,
        cell,
    }
}

pub(crate) const HOLDER: Column = column("Holder", "Who holds it.", 0, |it| {
    text(&it["spec"]["holderIdentity"])
});
pub(crate) const LEASE: Column = column("LeaseName", "The lease that it stands for.", 0, |it| {
    text(&it["spec"]["leaseName"])
});
pub(crate) const BINARY_VERSION: Column =
    column("BinaryVersion", "The release that it runs.", 0, |it| {
        text(&it["spec"]["binaryVersion"])
    });
pub(crate) const EMULATION_VERSION: Column = column(
    "EmulationVersion",
    "The release that it behaves like.",
    0,
    |it| text(&it["spec"]["emulationVersion"]),
);
pub(crate) const CONTROLLER: Column =
    column("Controller", "The object that controls it.", 0, controller);
pub(crate) const REVISION: Column = Column {
    kind: "integer",
    ..column("Revision", "Its place in the history.", 0, |it| {
        it["revision"].clone()
    })
};
pub(crate) const COMMON: Column = column(
    "CommonEncodingVersion",
    "The version that all API servers encode.",
    0,
    |it| or(&it["status"]["commonEncodingVersion"], UNSET),
);
pub(crate) const ENCODINGS: Column = column(
    "StorageVersions",
    "What each API server encodes.",
    0,
    encodings,
);
pub(crate) const RESOURCE: Column = column("Resource", "What is migrated.", 0, |it| {
    let resource = &it["spec"]["resource"];
    let (name, group) = (&resource["resource"], &resource["group"]);
    let (name, group) = (
        name.as_str().unwrap_or_default(),
        group.as_str().unwrap_or_default(),
    );
    match group {
        "" => json!(name),
        group => json!(format!("{name}.{group}")),
    }
});
pub(crate) const PHASE: Column = column("Phase", "How far it is.", 0, |it| {
    text(&it["status"]["phase"])
});
pub(crate) const MEMBER_PHASE: Column = column("Phase", "Whether it is ready.", 0, |it| {
    text(&it["status"]["phase"])
});
pub(crate) const MEMBER_VERSION: Column =
    column("Version", "The version of its binary.", 0, |it| {
        text(&it["spec"]["version"])
    });
pub(crate) const ENDPOINT: Column = column("Endpoint", "Where it serves.", 1, |it| {
    text(&it["spec"]["endpoint"])
});
pub(crate) const CURRENT: Column = column("Current", "The version that was agreed on.", 0, |it| {
    or(&it["status"]["currentVersion"], "<none>")
});
pub(crate) const SELECTED: Column = column(
    "Selected",
    "The version that members are to encode.",
    0,
    |it| or(&it["status"]["selectedVersion"], "<none>"),
);
pub(crate) const PERSISTED: Column =
    column("Persisted", "The versions that may be stored.", 0, |it| {
        let of = |one: &Value| one.as_str().unwrap_or_default().to_owned();
        let persisted = it["status"]["persistedVersions"].as_array();
        let persisted: Vec<String> = persisted.into_iter().flatten().map(of).collect();
        json!(persisted.join(","))
    });

pub(crate) const CURRENT_HASH: Column = column(
    "Current",
    "The hash of the version that is written.",
    0,
    |it| text(&it["status"]["currentStorageVersionHash"]),
);
pub(crate) const PERSISTED_HASHES: Column = column(
    "Persisted",
    "The hashes of the versions that may be stored.",
    0,
    |it| {
        let of = |one: &Value| one.as_str().unwrap_or_default().to_owned();
        let all = it["status"]["persistedStorageVersionHashes"].as_array();
        let all: Vec<String> = all.into_iter().flatten().map(of).collect();
        json!(all.join(","))
    },
);

pub(crate) const EVENT_TYPE: Column =
    column("Type", "Normal or Warning.", 0, |it| text(&it["type"]));
pub(crate) const REASON: Column = column("Reason", "Why, in a word.", 0, |it| text(&it["reason"]));
pub(crate) const INVOLVED: Column = column("Object", "What it is about.", 0, |it| {
    let of = |field: &str| it["involvedObject"][field].as_str().unwrap_or_default();
    json!(format!("{}/{}", of("kind").to_lowercase(), of("name")))
});
pub(crate) const MESSAGE: Column =
    column("Message", "What, in words.", 0, |it| text(&it["message"]));

fn text(value: &Value) -> Value {
    json!(value.as_str().unwrap_or_default())
}

fn or(value: &Value, without: &str) -> Value {
    json!(value.as_str().unwrap_or(without))
}

/// The controller as kubectl prints it: `statefulset.apps/web`.
fn controller(document: &Value) -> Value {
    let owners = document["metadata"]["ownerReferences"].as_array();
    let controller = owners
        .into_iter()
        .flatten()
        .find(|owner| owner["controller"] == true);
    let Some(owner) = controller else {
        return json!("<none>");
    };
    let kind = owner["kind"].as_str().unwrap_or_default().to_lowercase();
    let name = owner["name"].as_str().unwrap_or_default();
    let group = owner["apiVersion"].as_str().unwrap_or_default();
    let group = group.split_once('/').map(|(group, _)| group);
    json!(match group {
        Some(group) => format!("{kind}.{group}/{name}"),
        None => format!("{kind}/{name}"),
    })
}

/// The encodings as Kubernetes prints them: at most three.
fn encodings(document: &Value) -> Value {
    let reported = document["status"]["storageVersions"].as_array();
    let reported: Vec<String> = reported
        .into_iter()
        .flatten()
        .map(|one| {
            let of = |field: &str| one[field].as_str().unwrap_or_default();
            format!("{}={}", of("apiServerID"), of("encodingVersion"))
        })
        .collect();
    if reported.is_empty() {
        return json!(UNSET);
    }
    let shown = reported
        .iter()
        .take(3)
        .cloned()
        .collect::<Vec<_>>()
        .join(",");
    json!(match reported.len().saturating_sub(3) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_print_what_kubernetes_prints() {
        let owner = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "controller": true});
        let document = json!({"metadata": {"ownerReferences": [owner]}});
        assert_eq!(controller(&document), "statefulset.apps/web");
        assert_eq!(controller(&json!({})), "<none>");
        let one = |id: &str| json!({"apiServerID": id, "encodingVersion": "v1"});
        let of = |ids: &[&str]| {
            let reported: Vec<Value> = ids.iter().map(|id| one(id)).collect();
            encodings(&json!({"status": {"storageVersions": reported}}))
        };
        assert_eq!(of(&[]), "<unset>");
        assert_eq!(of(&["a", "b"]), "a=v1,b=v1");
        assert_eq!(of(&["a", "b", "c", "d", "e"]), "a=v1,b=v1,c=v1 + 2 more...");
    }
}
