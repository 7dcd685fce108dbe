//! Writes all tables of limits into one document, `docs/LIMITS.md`.

use std::fmt::Write as _;
use std::path::Path;

use synod_model::Limit;
use synod_model::settings::SETTINGS;
use synod_server::limits::{BOUNDS, Bound, CONNECTIONS};

const INTRODUCTION: &str = "\
# Limits

Every limit of Synod, from the tables in the program: a test writes this file and holds it against them. The value itself is
still allowed.
";

#[test]
fn the_document_of_limits_says_what_the_program_does() {
    let mut text = INTRODUCTION.to_owned();
    requests(&mut text);
    settings(&mut text);
    bounds(&mut text);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LIMITS.md");
    super::golden::check_file(&path, &text);
}

fn table(text: &mut String, title: &str, about: &str, columns: &[&str]) {
    let rule = vec!["---"; columns.len()].join("|");
    let columns = columns.join(" | ");
    writeln!(text, "\n## {title}\n\n{about}\n\n| {columns} |\n|{rule}|").unwrap();
}

/// The limits of one request or answer.
fn requests(text: &mut String) {
    let about = "What a request or an answer may carry, the same on every replica.";
    table(
        text,
        "Requests",
        about,
        &["what", "limit", "unit", "beyond it"],
    );
    let limits = synod_model::limits::LIMITS.iter();
    for limit in limits.chain(synod_proto::limits::LIMITS) {
        let Limit {
            name,
            value,
            unit,
            beyond,
        } = limit;
        writeln!(text, "| {name} | {value} | {unit} | {beyond} |").unwrap();
    }
}

/// The limits that apply checks.
fn settings(text: &mut String) {
    let about = "Replicated settings, which `synod settings set` changes: all that apply goes by.";
    let columns = ["setting", "least", "default", "most", "unit"];
    table(text, "Settings", about, &columns);
    for setting in SETTINGS {
        writeln!(
            text,
            "| `{}` | {} | {} | {} | {} |",
            setting.name, setting.min, setting.default, setting.max, setting.unit
        )
        .unwrap();
    }
}

/// The limits of what a replica holds at a time, and those of its connections.
fn bounds(text: &mut String) {
    let about = "What one replica holds in memory at a time, with the metric that shows how near it is or how often it was \
                 reached.\nWhere there is none, the limit is kept for each connection or message, and whoever meets it is told.";
    rows(text, "A replica", about, BOUNDS);
    let about = "At each port of a replica, over TLS or not. A connection that was not let in, or that was closed, is counted and logged \
                 with why.";
    rows(text, "Connections", about, CONNECTIONS);
}

fn rows(text: &mut String, title: &str, about: &str, bounds: &[Bound]) {
    let columns = ["what", "bound", "unit", "metric", "beyond it"];
    table(text, title, about, &columns);
    for bound in bounds {
        let metric = bound.metric.map(|metric| format!("`{metric}`"));
        writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            bound.name,
            bound.value,
            bound.unit,
            metric.unwrap_or_default(),
            bound.beyond
        )
        .unwrap();
    }
}
