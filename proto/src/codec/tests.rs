use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};
use synod_model::Finalizers;
use synod_model::limits::{LABELS_MAX, VERSIONS_PER_ENTRY_MAX};
use synod_model::settings::{ENFORCE_PERSISTED, REPORT_ENTRIES_MAX};

use super::shape::{Field, Items, Shape};
use crate::limits::{WATCH_KINDS_MAX, WATCH_NAMES_MAX};
use crate::v1;

mod calls;

fn faults(shape: &Shape, message: &impl prost::Message) -> Vec<String> {
    faults_of(shape, &message.encode_to_vec())
}

fn faults_of(shape: &Shape, bytes: &[u8]) -> Vec<String> {
    match shape.check(bytes) {
        Ok(()) => Vec::new(),
        Err(violations) => violations.iter().map(ToString::to_string).collect(),
    }
}

fn shape(message: &str) -> &'static Shape {
    Shape::of("synod.v1", message).unwrap()
}

/// The public messages by their full names.
fn messages() -> BTreeMap<String, DescriptorProto> {
    let files = FileDescriptorSet::decode(crate::FILE_DESCRIPTOR_SET)
        .unwrap()
        .file;
    let named = files.into_iter().flat_map(|file| file.message_type);
    named
        .map(|message| (format!(".synod.v1.{}", message.name()), message))
        .collect()
}

#[test]
fn every_list_in_every_public_request_is_counted() {
    let messages = messages();
    for message in messages
        .values()
        .filter(|message| message.name().ends_with("Request"))
    {
        assert_eq!(
            listed(shape(message.name())),
            expected(message, &messages),
            "{}",
            message.name()
        );
    }
}

#[test]
fn only_public_requests_are_counted() {
    assert!(Shape::of("synod.v1", "MembershipListResponse").is_none());
    assert!(Shape::of("google.protobuf", "Any").is_none());
}

/// What a shape counts, as one line for each field.
fn listed(shape: &Shape) -> Vec<String> {
    shape
        .0
        .iter()
        .map(
            |Field {
                 number,
                 name,
                 items,
             }| format!("{number} {name} {}", of_items(items)),
        )
        .collect()
}

fn of_items(items: &Items) -> String {
    match items {
        Items::One(shape) => format!("one {:?}", listed(shape)),
        Items::Texts(_) => "texts".to_owned(),
        Items::Numbers(_) => "numbers".to_owned(),
        Items::Messages(_, shape) => format!("messages {:?}", listed(shape)),
    }
}

/// What the shape of a message must count, by its descriptor.
fn expected(
    message: &DescriptorProto,
    messages: &BTreeMap<String, DescriptorProto>,
) -> Vec<String> {
    let fields = message.field.iter();
    fields
        .filter_map(|field| {
            let below = messages
                .get(field.type_name())
                .map(|below| expected(below, messages))
                .unwrap_or_default();
            let items = match (field.label(), field.r#type()) {
                (Label::Repeated, Type::Message) => format!("messages {below:?}"),
                (Label::Repeated, Type::Enum | Type::Uint64) => "numbers".to_owned(),
                (Label::Repeated, Type::String) => "texts".to_owned(),
                (Label::Repeated, other) => panic!("nobody counts lists of {other:?}"),
                (Label::Optional | Label::Required, _) if below.is_empty() => return None,
                (Label::Optional | Label::Required, _) => format!("one {below:?}"),
            };
            Some(format!("{} {} {items}", field.number(), json_name(field)))
        })
        .collect()
}

fn json_name(field: &FieldDescriptorProto) -> &str {
    field.json_name()
}

#[test]
fn labels_have_as_many_items_as_their_limit_and_no_more() {
    let labels = |count: usize| (0..count).map(|i| (i.to_string(), String::new())).collect();
    at_the_limit("MembershipJoinRequest", "labels", LABELS_MAX, |count| {
        v1::MembershipJoinRequest {
            labels: labels(count),
            ..Default::default()
        }
        .encode_to_vec()
    });
    at_the_limit("MembershipListRequest", "labels", LABELS_MAX, |count| {
        v1::MembershipListRequest {
            labels: labels(count),
            ..Default::default()
        }
        .encode_to_vec()
    });
    at_the_limit("WatchRequest", "filter.labels", LABELS_MAX, |count| {
        watch(v1::WatchFilter {
            labels: labels(count),
            ..Default::default()
        })
    });
}

#[test]
fn a_report_has_as_many_items_as_its_limits_and_no_more() {
    const REPORT: &str = "StorageVersionsReportRequest";
    let entries_max = usize::try_from(REPORT_ENTRIES_MAX.max).unwrap();
    at_the_limit(REPORT, "entries", entries_max, |count| {
        report(vec![v1::ReportEntry::default(); count])
    });
    at_the_limit(
        REPORT,
        "entries[1].decodableVersions",
        VERSIONS_PER_ENTRY_MAX,
        |count| {
            let entry = v1::ReportEntry {
                decodable_versions: texts(count),
                ..Default::default()
            };
            report(vec![v1::ReportEntry::default(), entry])
        },
    );
    at_the_limit(
        REPORT,
        "entries[0].servedVersions",
        VERSIONS_PER_ENTRY_MAX,
        |count| {
            report(vec![v1::ReportEntry {
                served_versions: texts(count),
                ..Default::default()
            }])
        },
    );
}

#[test]
fn an_object_can_be_written_back_with_the_finalizers_of_its_deletion() {
    let most = Finalizers::ITEMS_MAX;
    at_the_limit(
        "ObjectsUpdateRequest",
        "attributes.finalizers",
        most,
        |count| {
            let attributes = v1::ObjectAttributes {
                finalizers: texts(count),
                ..Default::default()
            };
            v1::ObjectsUpdateRequest {
                attributes: Some(attributes),
                ..Default::default()
            }
            .encode_to_vec()
        },
    );
}

#[test]
fn a_filter_has_as_many_items_as_its_limits_and_no_more() {
    at_the_limit("WatchRequest", "filter.kinds", WATCH_KINDS_MAX, |count| {
        // Two bytes for each number.
        watch(v1::WatchFilter {
            kinds: vec![300; count],
            ..Default::default()
        })
    });
    at_the_limit("WatchRequest", "filter.names", WATCH_NAMES_MAX, |count| {
        watch(v1::WatchFilter {
            names: texts(count),
            ..Default::default()
        })
    });
}

#[test]
fn a_patch_has_as_many_items_as_its_limit_and_no_more() {
    let enforced_max = usize::try_from(ENFORCE_PERSISTED.max).unwrap();
    at_the_limit(
        "ClusterUpdateSettingsRequest",
        "patch.enforcePersisted.items",
        enforced_max,
        |count| {
            let list = v1::GroupResourceList {
                items: vec![v1::GroupResource::default(); count],
            };
            let patch = v1::SettingsPatch {
                enforce_persisted: Some(list),
                ..Default::default()
            };
            v1::ClusterUpdateSettingsRequest {
                patch: Some(patch),
                ..Default::default()
            }
            .encode_to_vec()
        },
    );
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|i| i.to_string()).collect()
}

fn report(entries: Vec<v1::ReportEntry>) -> Vec<u8> {
    v1::StorageVersionsReportRequest {
        entries,
        ..Default::default()
    }
    .encode_to_vec()
}

fn watch(filter: v1::WatchFilter) -> Vec<u8> {
    v1::WatchRequest {
        filter: Some(filter),
        ..Default::default()
    }
    .encode_to_vec()
}

fn at_the_limit(message: &str, path: &str, max: usize, encoded: impl Fn(usize) -> Vec<u8>) {
    let shape = shape(message);
    assert_eq!(faults_of(shape, &encoded(max - 1)), [""; 0]);
    assert_eq!(faults_of(shape, &encoded(max)), [""; 0]);
    let over = max + 1;
    let fault = format!("{path}: Too many: {over}: must have at most {max} items");
    assert_eq!(faults_of(shape, &encoded(over)), [fault]);
}

#[test]
fn every_list_with_too_many_items_is_named() {
    let texts = vec![String::new(); 65];
    let entry = v1::ReportEntry {
        decodable_versions: texts.clone(),
        served_versions: texts,
        ..Default::default()
    };
    let report = v1::StorageVersionsReportRequest {
        entries: vec![entry.clone(), entry],
        ..Default::default()
    };
    let named = faults(shape("StorageVersionsReportRequest"), &report);
    let paths: Vec<_> = named
        .iter()
        .map(|fault| fault.split(':').next().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "entries[0].decodableVersions",
            "entries[0].servedVersions",
            "entries[1].decodableVersions",
            "entries[1].servedVersions",
        ]
    );
}

/// A decoder merges a sub-message that is there twice, so that its lists would grow beyond what each part holds.
#[test]
fn what_stands_once_stands_once() {
    let filter = v1::WatchFilter {
        names: vec!["a".to_owned()],
        ..Default::default()
    };
    let once = v1::WatchRequest {
        filter: Some(filter),
        ..Default::default()
    }
    .encode_to_vec();
    let shape = shape("WatchRequest");
    assert_eq!(faults_of(shape, &once), [""; 0]);
    assert_eq!(
        faults_of(shape, &once.repeat(2)),
        ["filter: Too many: 2: must have at most 1 items"]
    );
}

#[test]
fn enums_count_the_same_packed_and_not() {
    // The field `kinds` (1), not packed: a tag and a number for each.
    let unpacked = |count: usize| [0x08, 0x01].repeat(count);
    let request =
        |filter: Vec<u8>| [vec![0x12, u8::try_from(filter.len()).unwrap()], filter].concat();
    let shape = shape("WatchRequest");
    let few = request(unpacked(2));
    assert_eq!(
        v1::WatchRequest::decode(few.as_slice())
            .unwrap()
            .filter
            .unwrap()
            .kinds,
        [1, 1]
    );
    assert_eq!(faults_of(shape, &few), [""; 0]);

    let mut many = vec![0x12, 0x82, 0x01];
    many.extend(unpacked(WATCH_KINDS_MAX + 1));
    assert_eq!(
        v1::WatchRequest::decode(many.as_slice())
            .unwrap()
            .filter
            .unwrap()
            .kinds
            .len(),
        WATCH_KINDS_MAX + 1
    );
    assert_eq!(
        faults_of(shape, &many),
        ["filter.kinds: Too many: 65: must have at most 64 items"]
    );
}

#[test]
fn a_request_that_is_small_on_the_wire_and_huge_in_memory_is_refused() {
    // Four million empty entries: a tag and a length of zero for each.
    let bomb = [0x1a, 0x00].repeat(4 << 20);
    assert_eq!(
        faults_of(shape("StorageVersionsReportRequest"), &bomb),
        ["entries: Too many: 4194304: must have at most 100000 items"]
    );
}

#[test]
fn bytes_that_are_no_message_are_refused_before_memory_is_taken_for_them() {
    let shape = shape("MembershipJoinRequest");
    let malformed: &[&[u8]] = &[
        // A tag without a value, a length without its bytes, a length beyond all memory, a number that never ends.
        &[0x12],
        &[0x12, 0x05, b'a'],
        &[
            0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
        ],
        &[0xff; 11],
        // Field zero, a group, a wire type that does not exist.
        &[0x02, 0x00],
        &[0x13, 0x14],
        &[0x17],
        // A fixed number that is cut off.
        &[0x0d, 0x00, 0x00],
        &[0x09, 0x00],
    ];
    for bytes in malformed {
        let found = faults_of(shape, bytes);
        assert!(
            found.len() == 1 && found[0].contains("no message of its type"),
            "{bytes:?}: {found:?}"
        );
    }
}

#[test]
fn fields_of_a_later_release_are_passed_over() {
    // Field 1000 as a number, as 8 and 4 bytes, and as text.
    let unknown: &[&[u8]] = &[
        &[0xc0, 0x3e, 0x2a],
        &[0xc1, 0x3e, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0xc5, 0x3e, 0, 0, 0, 0],
        &[0xc2, 0x3e, 0x02, b'h', b'i'],
    ];
    for bytes in unknown {
        assert_eq!(
            faults_of(shape("MembershipJoinRequest"), bytes),
            [""; 0],
            "{bytes:?}"
        );
        assert!(v1::MembershipJoinRequest::decode(*bytes).is_ok());
    }
}
