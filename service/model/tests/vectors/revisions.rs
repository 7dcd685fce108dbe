use std::cmp::Ordering;

use bytes::Bytes;
use serde_json::Value;
use synod_model::{
    ApiVersion, ControllerHistory, ControllerRevision, Kind, Labels, LiveMarks, MediaType,
    Metadata, NamePrefix, Namespace, NamespacedName, ObjectName, OwnerReference, Revision,
    RevisionData, RevisionHash, RevisionNumber, Uid, WallTime, compare_resource_versions,
    safe_encode,
};

use crate::{expanded, expect_eq, suite, text};

#[test]
fn every_text_is_encoded_in_the_safe_alphabet() {
    suite::run("safe_encode.json", 3, &[], |_, case| {
        expect_eq(
            safe_encode(text(case, "input")).as_str(),
            text(case, "expected"),
        )
    });
}

#[test]
fn every_resource_version_is_compared_as_kubernetes_compares_it() {
    suite::run("compare_resource_version.json", 9, &[], |_, case| {
        let compared = compare_resource_versions(text(case, "a"), text(case, "b"));
        let found = compared.ok().map(|ordering| match ordering {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        });
        let found = found.map_or(Value::from("err"), Value::from);
        expect_eq(&found, &case["result"])
    });
}

#[test]
fn every_hash_is_that_of_kubernetes() {
    suite::run(
        "controller_revision_hash.json",
        14,
        &[],
        |section, case| match section {
            "fnv1_32_known" => {
                let hash = RevisionHash::of_bytes(text(case, "input").as_bytes());
                expect_eq(format!("{:08x}", hash.get()).as_str(), text(case, "fnv1"))
            }
            "name_suffix_decodes_to_decimal" => expect_eq(
                safe_encode(text(case, "decimal")).as_str(),
                text(case, "suffix"),
            ),
            "derived" => {
                let hash = RevisionHash::of_bytes(text(case, "raw").as_bytes());
                let hash = match case["collisionCount"].as_u64() {
                    Some(count) => hash.with_collisions(count as u32),
                    None => hash,
                };
                expect_eq(Some(u64::from(hash.get())), case["sum32"].as_u64())?;
                expect_eq(hash.to_string().as_str(), text(case, "hash"))
            }
            other => Err(format!("unknown section {other}")),
        },
    );
}

#[test]
fn every_name_is_cut_where_kubernetes_cuts_it() {
    suite::run("controller_revision_name.json", 2, &[], |_, case| {
        let prefix = NamePrefix::parse(&expanded(text(case, "prefix"))).map_err(|v| v.rule)?;
        match case["expectedLength"].as_u64() {
            Some(length) => {
                let name = prefix.joined(&safe_encode(text(case, "hash")));
                expect_eq(name.len() as u64, length)
            }
            None => expect_eq(
                prefix.joined(text(case, "hash")),
                expanded(text(case, "expected")),
            ),
        }
    });
}

#[test]
fn every_revision_stands_where_kubernetes_sorts_it() {
    suite::run("controller_revision_sort.json", 3, &[], |_, case| {
        let numbers = |field: &str| -> Vec<u64> {
            let items = case[field].as_array().into_iter().flatten();
            items.filter_map(Value::as_u64).collect()
        };
        let of = |number: &u64| revision(&format!("r{number}"), *number, Some(1));
        let mut revisions: Vec<_> = numbers("revisions").iter().map(of).collect();
        revisions.sort_by_cached_key(ControllerRevision::place);
        let sorted: Vec<u64> = revisions.iter().map(|it| it.number.get()).collect();
        expect_eq(sorted, numbers("want"))
    });
}

#[test]
fn every_history_holds_what_kubernetes_lists() {
    suite::run("controller_revision_list.json", 4, &[], |_, case| {
        let parent = ControllerHistory {
            namespace: Namespace::parse("default").map_err(|v| v.rule)?,
            owner: owner(1),
            selector: Labels::parse([("foo", "bar")]).map_err(|v| v.to_string())?,
        };
        let names = |field: &str| -> Vec<&str> {
            let items = case[field].as_array().into_iter().flatten();
            items.filter_map(Value::as_str).collect()
        };
        let holds = |name: &&str| {
            let revision = known(name).2;
            parent.holds(&revision) || parent.may_adopt(&revision)
        };
        let mut found = names("revisions");
        found.retain(holds);
        expect_eq(found, names("want"))
    });
}

/// The revisions of the two parents of Kubernetes' test, by name: parent, number and the revision.
fn known(name: &str) -> (u8, u64, ControllerRevision) {
    let (parent, number) = match name {
        "ss1Rev1" => (1, 1),
        "ss1Rev2" => (1, 2),
        "ss1Orphan" => (0, 3),
        "ss2Rev1" => (2, 1),
        "ss2Rev2" => (2, 2),
        other => panic!("unknown revision {other}"),
    };
    let controller = (parent > 0).then_some(parent);
    let mut revision = revision(&name.to_lowercase(), number, controller);
    let data = format!("{{\"parent\":{parent},\"number\":{number}}}");
    revision.data = RevisionData::from_stored(MediaType::JSON, Bytes::from(data));
    (parent, number, revision)
}

fn owner(uid: u8) -> OwnerReference {
    OwnerReference {
        api_version: ApiVersion::parse("apps/v1").expect("a legal version"),
        kind: Kind::parse("StatefulSet").expect("a legal kind"),
        name: ObjectName::parse("ss").expect("a legal name"),
        uid: Uid::from_bytes([uid; 16]),
        controller: true,
        block_owner_deletion: true,
    }
}

fn revision(name: &str, number: u64, controller: Option<u8>) -> ControllerRevision {
    let namespace = Namespace::parse("default").expect("a legal namespace");
    let name = ObjectName::parse(name).expect("a legal name");
    ControllerRevision {
        key: NamespacedName::new(Some(&namespace), &name),
        metadata: Metadata {
            uid: Uid::from_bytes([9; 16]),
            resource_version: Revision::new(7),
            create_revision: Revision::new(7),
            generation: 1,
            created: WallTime::from_millis(0),
        },
        labels: Labels::parse([("foo", "bar")]).expect("a legal label"),
        annotations: synod_model::Annotations::default(),
        controller: controller.map(owner),
        number: RevisionNumber::new(number).expect("a legal number"),
        data: RevisionData::from_stored(MediaType::JSON, Bytes::from_static(b"{}")),
        marks: LiveMarks::default(),
    }
}
