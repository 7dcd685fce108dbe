//! What `synod doctor` finds, one row each.

use serde_json::{Value, json};
use synod_client::json as form;

use crate::commands::doctor::{Finding, Verdict};
use crate::output::{Document, Table};

/// The findings, and how many there are of each verdict. The narrow table leaves out advice where there is none to give.
pub(crate) fn findings(findings: &[Finding]) -> Document {
    let mut table = Table::new(["Verdict", "Check", "Where", "Found"]);
    let mut advised = Table::new(["Verdict", "Check", "Where", "WhatToDo"]);
    let mut wide = Table::new(["Verdict", "Check", "Where", "Found", "WhatToDo"]);
    for finding in findings {
        let cells = [finding.verdict.as_str(), finding.check, &finding.place];
        table.row(cells.into_iter().chain([&*finding.what]));
        wide.row(cells.into_iter().chain([&*finding.what, &*finding.advice]));
        if !finding.advice.is_empty() {
            advised.row(cells.into_iter().chain([&*finding.advice]));
        }
    }
    let count = |verdict| findings.iter().filter(|it| it.verdict == verdict).count();
    let counts = json!({
        "ok": count(Verdict::Ok),
        "warning": count(Verdict::Warning),
        "fault": count(Verdict::Fault),
    });
    let bad = findings.iter().filter(|it| it.verdict != Verdict::Ok);
    Document {
        value: json!({ "findings": form::list(findings, document), "counts": counts }),
        names: bad.map(|it| format!("{}/{}", it.place, it.check)).collect(),
        tables: [Some(table), (!advised.is_empty()).then_some(advised)]
            .into_iter()
            .flatten()
            .collect(),
        wide: vec![wide],
    }
}

fn document(finding: &Finding) -> Value {
    let advice = Some(&*finding.advice).filter(|advice| !advice.is_empty());
    let document = form::JsonObject::new()
        .with("verdict", finding.verdict.as_str())
        .with("check", finding.check)
        .with("where", finding.place.as_str())
        .with("found", finding.what.as_str());
    document.with_some("whatToDo", advice).into()
}
