//! Every alert has its section in the runbook, and says where it is: whoever is woken at night should not have to search.

use serde_json::Value;

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

const RULES: &str = "deploy/prometheus/synod.rules.yaml";
const RUNBOOK: &str = "docs/OPERATIONS.md";

// Guarantee: TM-37
#[test]
fn every_alert_has_its_section_in_the_runbook() {
    assert_none(unexplained(Tree::load()));
}

fn unexplained(tree: &Tree) -> Vec<Finding> {
    let titles: Vec<&str> = tree
        .text(RUNBOOK)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.strip_prefix("### "))
        .collect();
    let alerts = alerts(tree);
    let mut findings = Vec::new();
    for alert in &alerts {
        let name = alert["alert"].as_str().unwrap_or_default();
        if !titles.contains(&name) {
            let message = format!("it has no section `### {name}`");
            findings.push(Finding::about(RUNBOOK, message));
        }
        for key in ["summary", "description", "runbook_url"] {
            let text = alert["annotations"][key].as_str().unwrap_or_default();
            let wanted = format!("{RUNBOOK}#{}", name.to_lowercase());
            if text.is_empty() || (key == "runbook_url" && text != wanted) {
                let message = match key {
                    "runbook_url" => format!("{name}: `runbook_url` is not `{wanted}`"),
                    _ => format!("{name}: it has no `{key}`"),
                };
                findings.push(Finding::about(RULES, message));
            }
        }
    }
    let is_alert = |title: &str| alerts.iter().any(|alert| alert["alert"] == title);
    for title in titles.iter().filter(|title| title.starts_with("Synod")) {
        if !is_alert(title) {
            let message = format!("there is no alert `{title}`");
            findings.push(Finding::about(RUNBOOK, message));
        }
    }
    findings
}

/// The alerts of all groups.
fn alerts(tree: &Tree) -> Vec<Value> {
    let rules: Result<Value, _> = synod_yaml::from_str(tree.text(RULES).unwrap_or_default());
    let rules = rules.unwrap_or_default();
    let groups = rules["groups"].as_array().into_iter().flatten();
    let rules = groups.flat_map(|group| group["rules"].as_array().into_iter().flatten());
    rules
        .filter(|rule| rule.get("alert").is_some())
        .cloned()
        .collect()
}

#[test]
fn an_alert_without_a_section_and_a_section_without_an_alert_are_found() {
    let tree = Tree::of(&[
        (
            RULES,
            "groups:\n- rules:\n  - record: a:b\n  - alert: SynodSlow\n    annotations: \
             {summary: s, description: d, runbook_url: docs/OPERATIONS.md#synodslow}\n  - alert: SynodDown\n    \
             annotations: {summary: s, runbook_url: elsewhere}\n",
        ),
        (RUNBOOK, "### SynodSlow\n\n### SynodGone\n\n### The drill\n"),
    ]);
    let mut findings = unexplained(&tree);
    findings.sort();
    assert_eq!(
        lines(&findings),
        "deploy/prometheus/synod.rules.yaml: SynodDown: `runbook_url` is not `docs/OPERATIONS.md#synoddown`\n\
         deploy/prometheus/synod.rules.yaml: SynodDown: it has no `description`\n\
         docs/OPERATIONS.md: it has no section `### SynodDown`\n\
         docs/OPERATIONS.md: there is no alert `SynodGone`"
    );
}
