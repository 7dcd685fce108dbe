//! The rows that Kubernetes prints.

use serde_json::Value;
use synod_client::{ApiVersion, GroupResource};

use super::suite;
use crate::views;

/// What the file says of objects that do not exist here yet: snapshots of controllers and migrations.
const NOT_APPLICABLE_YET: [&str; 2] = ["controllerrevisions", "storageversionmigrations_v1alpha1"];

#[test]
fn storage_versions_are_printed_as_kubectl_prints_them() {
    let prose: Vec<&str> = NOT_APPLICABLE_YET
        .into_iter()
        .chain(["storageversions.columns"])
        .collect();
    suite::run("printer_rows.json", 3, &prose, |_, case| {
        let found = row(case);
        let expected: Vec<&str> = case["cells"]
            .as_array()
            .ok_or("no cells")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if found == expected {
            Ok(())
        } else {
            Err(format!("expected {expected:?}, found {found:?}"))
        }
    });
    let document = suite::document("printer_rows.json");
    let columns = document["storageversions"]["columns"].as_array().unwrap();
    assert!(
        columns
            .iter()
            .map(|column| column.as_str().unwrap())
            .eq(views::STORAGE_VERSION_COLUMNS)
    );
}

/// The cells of a case but for its age, which the cases do not give.
fn row(case: &Value) -> Vec<String> {
    let entries = case["storageVersions"].as_array().unwrap().iter();
    let encodings: Vec<(String, Option<ApiVersion>)> = entries
        .map(|pair| {
            let [member, version] = [&pair[0], &pair[1]].map(|part| part.as_str().unwrap());
            (member.to_owned(), Some(ApiVersion::parse(version).unwrap()))
        })
        .collect();
    let name = GroupResource::parse_storage_version_name(case["name"].as_str().unwrap()).unwrap();
    let common = case["common"]
        .as_str()
        .map(|version| ApiVersion::parse(version).unwrap());
    let encodings = encodings
        .iter()
        .map(|(member, version)| (member.as_str(), version.as_ref()));
    views::first_cells(&name.to_string(), common.as_ref(), encodings).into()
}
