//! Checks printed JSON against the protocol: every key is a field of the message, and its value has the field's type.

use data_encoding::BASE64;
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};
use serde_json::Value;

/// The messages of `synod.v1`, from their sources.
struct Protocol(FileDescriptorSet);

impl Protocol {
    fn load() -> Self {
        Self(FileDescriptorSet::decode(synod_proto::FILE_DESCRIPTOR_SET).unwrap())
    }

    fn message(&self, name: &str) -> &DescriptorProto {
        let messages = self.0.file.iter().flat_map(|file| {
            let package = file.package().to_owned();
            file.message_type
                .iter()
                .map(move |message| (format!("{package}.{}", message.name()), message))
        });
        let found = messages.into_iter().find(|(full, _)| full == name);
        found.unwrap_or_else(|| panic!("no message {name}")).1
    }

    /// Every fault of a document that should be a message.
    fn faults(&self, name: &str, document: &Value, path: &str) -> Vec<String> {
        let Some(object) = document.as_object() else {
            return vec![format!("{path} is no object")];
        };
        let message = self.message(name);
        let mut faults = Vec::new();
        for (key, value) in object {
            let path = format!("{path}.{key}");
            match message.field.iter().find(|field| field.json_name() == key) {
                Some(field) => faults.extend(self.field_faults(message, field, value, &path)),
                None => faults.push(format!("{path} is no field of {name}")),
            }
        }
        let always = message.field.iter().filter(|field| {
            let is_message = field.r#type() == Type::Message && field.label() != Label::Repeated;
            !is_message && !field.proto3_optional() && field.oneof_index.is_none()
        });
        let missing = always.filter(|field| !object.contains_key(field.json_name()));
        // The client combines this from several pages.
        let of_a_page = ["continueToken", "inconsistent"];
        let missing = missing.filter(|field| !of_a_page.contains(&field.json_name()));
        faults.extend(missing.map(|field| format!("{path}.{} is not printed", field.json_name())));
        faults
    }

    fn field_faults(
        &self,
        message: &DescriptorProto,
        field: &FieldDescriptorProto,
        value: &Value,
        path: &str,
    ) -> Vec<String> {
        if field.label() != Label::Repeated {
            return self.value_faults(field, value, path);
        }
        let entry = message
            .nested_type
            .iter()
            .find(|nested| field.type_name().ends_with(&format!(".{}", nested.name())));
        if entry.is_some_and(|entry| {
            entry
                .options
                .as_ref()
                .is_some_and(prost_types::MessageOptions::map_entry)
        }) {
            let is_text = |value: &Value| value.is_string();
            let texts = value
                .as_object()
                .is_some_and(|map| map.values().all(is_text));
            return if texts {
                Vec::new()
            } else {
                vec![format!("{path} is no map of texts")]
            };
        }
        let Some(items) = value.as_array() else {
            return vec![format!("{path} is no list")];
        };
        let items = items.iter().enumerate();
        items
            .flat_map(|(place, item)| self.value_faults(field, item, &format!("{path}[{place}]")))
            .collect()
    }

    fn value_faults(&self, field: &FieldDescriptorProto, value: &Value, path: &str) -> Vec<String> {
        let fits = match field.r#type() {
            Type::Message => {
                return self.faults(field.type_name().trim_start_matches('.'), value, path);
            }
            Type::Enum => self.has_value(field.type_name().trim_start_matches('.'), value),
            Type::Uint64 | Type::Int64 => value
                .as_str()
                .is_some_and(|text| text.parse::<u64>().is_ok()),
            Type::Uint32 | Type::Int32 => value.is_u64(),
            Type::Bool => value.is_boolean(),
            Type::String => value.is_string(),
            Type::Bytes => value
                .as_str()
                .is_some_and(|text| BASE64.decode(text.as_bytes()).is_ok()),
            other => panic!("{path} is a {other:?}, which nothing here had before"),
        };
        if fits {
            Vec::new()
        } else {
            vec![format!("{path} is {value}, not a {:?}", field.r#type())]
        }
    }

    fn has_value(&self, name: &str, value: &Value) -> bool {
        let enums = self.0.file.iter().flat_map(|file| &file.enum_type);
        let mut found = enums.filter(|found| name.ends_with(&format!(".{}", found.name())));
        found.any(|found| {
            found
                .value
                .iter()
                .any(|known| Some(known.name()) == value.as_str())
        })
    }
}

/// The JSON documents in a golden file.
fn printed(name: &str) -> Vec<Value> {
    let path = format!(
        "{}/tests/golden/{name}.json.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::Deserializer::from_str(&text)
        .into_iter()
        .map(Result::unwrap)
        .collect()
}

#[track_caller]
fn check(document: &Value, message: &str) {
    let faults = Protocol::load().faults(message, document, "");
    assert!(faults.is_empty(), "{message}:\n{}", faults.join("\n"));
}

#[test]
fn answers_are_printed_in_the_form_of_the_protocol() {
    for (name, message) in [
        ("members-list", "synod.v1.MembershipListResponse"),
        ("members-get", "synod.v1.MembershipGetResponse"),
        (
            "storage-versions-list",
            "synod.v1.StorageVersionsListResponse",
        ),
        (
            "storage-versions-get",
            "synod.v1.StorageVersionsGetResponse",
        ),
        (
            "storage-versions-get-unreported",
            "synod.v1.StorageVersionsGetResponse",
        ),
        (
            "storage-versions-history",
            "synod.v1.StorageVersionsHistoryResponse",
        ),
        ("topics-list", "synod.v1.StorageVersionsListResponse"),
        ("topics-get", "synod.v1.StorageVersionsGetResponse"),
        ("collections-list", "synod.v1.CollectionsListResponse"),
        ("collections-get", "synod.v1.CollectionsGetResponse"),
        ("collections-create", "synod.v1.CollectionsUpdateResponse"),
        ("collections-delete", "synod.v1.CollectionsDeleteResponse"),
        ("rosters-list", "synod.v1.RostersListResponse"),
        ("rosters-get", "synod.v1.RostersGetResponse"),
        ("rosters-set", "synod.v1.RostersSetResponse"),
        ("rosters-delete", "synod.v1.RostersDeleteResponse"),
        ("check-drop", "synod.v1.StorageVersionsCheckDropResponse"),
        (
            "check-drop-assumed",
            "synod.v1.StorageVersionsCheckDropResponse",
        ),
        ("replace", "synod.v1.ObjectsUpdateResponse"),
        ("cluster-add", "synod.v1.ClusterAddReplicaResponse"),
        ("cluster-promote", "synod.v1.ClusterPromoteReplicaResponse"),
        ("cluster-remove", "synod.v1.ClusterRemoveReplicaResponse"),
        (
            "cluster-transfer-leader",
            "synod.v1.ClusterTransferLeaderResponse",
        ),
        ("settings-get", "synod.v1.ClusterGetSettingsResponse"),
        ("settings-set", "synod.v1.ClusterUpdateSettingsResponse"),
    ] {
        check(&printed(name)[0], message);
    }
    check(
        &printed("status")[0]["status"],
        "synod.v1.ClusterStatusResponse",
    );
}

#[test]
fn events_are_printed_in_the_form_of_the_protocol() {
    let lines = printed("watch");
    let events: Vec<&Value> = lines
        .iter()
        .filter_map(|line| line["events"]["events"].as_array())
        .flatten()
        .collect();
    assert_eq!(events.len(), 10);
    for event in events {
        check(event, "synod.v1.Event");
    }
}

#[test]
fn a_document_of_another_form_is_found() {
    let mut document = printed("members-get").remove(0);
    document["header"]["revision"] = 47.into();
    document["member"]["phase"] = "ready".into();
    document["member"]["shoeSize"] = 1.into();
    document["member"]
        .as_object_mut()
        .unwrap()
        .remove("reported");
    let faults = Protocol::load().faults("synod.v1.MembershipGetResponse", &document, "");
    assert_eq!(
        faults,
        [
            ".header.revision is 47, not a Uint64",
            ".member.phase is \"ready\", not a Enum",
            ".member.shoeSize is no field of synod.v1.Member",
            ".member.reported is not printed",
        ]
    );
}
