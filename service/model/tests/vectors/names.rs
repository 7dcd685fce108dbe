use synod_model::{
    GroupResource, NameRule, dns1035_label, dns1123_label, dns1123_subdomain, qualified_name,
};

use crate::suite::{self, Case};
use crate::{expanded, expect_eq, optional_text, text};

#[test]
fn every_dns_name_is_judged_as_kubernetes_judges_it() {
    suite::run("dns_names.json", 120, &[], check_name);
}

fn check_name(list: &str, case: &Case<'_>) -> Result<(), String> {
    let (rule, verdict) = list.split_once('.').ok_or("no rule and verdict")?;
    let rule: fn(&str) -> Result<(), NameRule> = match rule {
        "dns1123label" => dns1123_label,
        "dns1123subdomain" => dns1123_subdomain,
        "dns1035label" => dns1035_label,
        "qualified_name" => qualified_name,
        other => return Err(format!("unknown rule {other}")),
    };
    let name = expanded(case.whole().as_str().ok_or("not a text")?);
    expect_eq(rule(&name).is_ok(), verdict == "good").map_err(|fault| format!("{name:?}: {fault}"))
}

#[test]
fn every_storage_version_name_is_judged_as_kubernetes_judges_it() {
    suite::run("validate_storage_version_name.json", 8, &[], |_, case| {
        let name = expanded(text(case, "name"));
        let rule = GroupResource::parse_storage_version_name(&name)
            .err()
            .map(|v| v.rule);
        let expected =
            optional_text(case, "error").map(|error| format!("Invalid value: {name:?}: {error}"));
        expect_eq(rule, expected)
    });
}
