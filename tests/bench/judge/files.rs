//! The files of a run: every round as it was measured, and charts of the medians.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::cases::{CASES, Case};
use crate::chart::{Bar, Group, svg};
use crate::options::Options;
use crate::rows::{Quantity, Row};
use crate::services::SERVICES;
use crate::table::Table;
use crate::usage::cores;

/// Writes all files into the folder, which is made if it is missing.
pub(crate) fn write(
    folder: &Path,
    options: &Options,
    versions: &[(&'static str, String)],
    table: &Table<'_>,
) {
    fs::create_dir_all(folder).expect("the folder for the files can be made");
    let put = |name: &str, text: &str| {
        fs::write(folder.join(name), text).expect("the folder for the files can be written");
    };
    put("rounds.json", &rounds(options, versions, table));
    let mut families: Vec<&str> = CASES.iter().map(|case| case.family).collect();
    families.dedup();
    families.sort_unstable();
    families.dedup();
    for family in families {
        let quantity = match family {
            "memory" => Quantity::Memory,
            _ => Quantity::PerSecond,
        };
        let cases = CASES.iter().filter(|case| case.family == family);
        if let Some(text) = chart(family, quantity, cases, table) {
            put(&format!("{family}.svg"), &text);
        }
    }
    if let Some(text) = chart("processor time", Quantity::Cpu, CASES.iter(), table) {
        put("processor.svg", &text);
    }
}

/// One row a line, so that two runs can be compared line by line.
fn rounds(options: &Options, versions: &[(&'static str, String)], table: &Table<'_>) -> String {
    let versions: Map<String, Value> = versions
        .iter()
        .map(|(name, version)| ((*name).to_owned(), json!(version)))
        .collect();
    let head = json!({
        "cores": cores(),
        "seconds": options.span.as_secs_f64(),
        "rounds": options.rounds,
        "versions": versions,
    });
    let rows: Vec<String> = table
        .rows
        .0
        .iter()
        .map(|row| object(row).to_string())
        .collect();
    format!("{{\"run\":{head},\n\"rows\":[\n{}\n]}}\n", rows.join(",\n"))
}

fn object(row: &Row) -> Value {
    let mut object = json!({
        "round": row.round,
        "service": row.service,
        "case": row.case,
        "repeat": row.repeat,
        "counts": row.counts,
        "others": rounded(row.others),
        "conflicts": row.conflicts,
        "failures": row.failures,
    });
    for (quantity, value) in &row.quantities {
        object[quantity.name()] = json!(rounded(*value));
    }
    if let Some(failure) = &row.failure {
        object["failure"] = json!(failure);
    }
    object
}

/// With as many digits as a measurement has.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// A chart of those cases that some service has been measured in.
fn chart<'a>(
    title: &str,
    quantity: Quantity,
    cases: impl Iterator<Item = &'a Case>,
    table: &Table<'_>,
) -> Option<String> {
    let groups: Vec<Group> = cases
        .map(|case| Group {
            title: case.name.to_owned(),
            bars: bars(case, quantity, table),
        })
        .filter(|group| !group.bars.is_empty())
        .collect();
    let title = format!("{title}: {}", quantity.title());
    let note = format!(
        "Medians, and the ratio to {} in the same rounds: median (least to most). Each case has its own scale.",
        table.reference
    );
    (!groups.is_empty()).then(|| svg(&title, &note, &groups))
}

fn bars(case: &Case, quantity: Quantity, table: &Table<'_>) -> Vec<Bar> {
    let bars = SERVICES.iter().enumerate().filter_map(|(colour, service)| {
        let rows = table.rows;
        let median = rows.sample(case.name, service.name, quantity)?.median();
        let ratio = rows.ratio(case.name, service.name, table.reference, quantity);
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| ratio.spread());
        Some(Bar {
            name: service.name.to_owned(),
            colour,
            value: median,
            label: format!("{}, ratio {ratio}", quantity.text(median)),
        })
    });
    bars.collect()
}
