use serde_json::Value;
use synod_model::{GroupResource, sort_and_fold_equivalents};

use crate::{expect_eq, suite, text};

#[test]
fn resources_sort_and_fold_as_in_kubernetes() {
    suite::run("resource_info_sort.json", 5, &[], |_, case| {
        let pair = &case["groupResource"];
        if pair.is_array() {
            let name = resource(pair)?.storage_version_name();
            return expect_eq(name.as_str(), text(case, "expectedObjectName"));
        }
        let input = resources(&case["input"])?;
        let equivalent = case["equivalent"].as_bool().unwrap_or(false);
        let expected = match &case["expectedReportedAs"] {
            Value::Null => resources(&case["expected"])?,
            pair => vec![resource(pair)?],
        };
        let equivalents = if equivalent {
            input.clone()
        } else {
            Vec::new()
        };
        let sorted = sort_and_fold_equivalents(input, |item| item, |_| equivalents.clone());
        expect_eq(sorted, expected)
    });
}

fn resources(pairs: &Value) -> Result<Vec<GroupResource>, String> {
    pairs
        .as_array()
        .ok_or("not a list")?
        .iter()
        .map(resource)
        .collect()
}

fn resource(pair: &Value) -> Result<GroupResource, String> {
    let part = |i: usize| {
        pair[i]
            .as_str()
            .ok_or(format!("not a group and a resource: {pair}"))
    };
    GroupResource::new(part(0)?, part(1)?).map_err(|violations| violations.to_string())
}
