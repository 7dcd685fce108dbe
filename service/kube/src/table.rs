//! Objects as rows of a table, which kubectl prints.

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::kinds::Kind;

/// How much of an object stands beside its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Include {
    Metadata,
    Object,
    None,
}

/// The columns of a kind.
pub(crate) fn columns(kind: &Kind) -> Value {
    let mut columns = vec![json!({
        "name": "Name",
        "type": "string",
        "format": "name",
        "description": "Name must be unique within a namespace.",
        "priority": 0,
    })];
    columns.extend(kind.columns.iter().map(|column| {
        json!({
            "name": column.name,
            "type": column.kind,
            "format": "",
            "description": column.description,
            "priority": column.priority,
        })
    }));
    columns.push(json!({
        "name": "Age",
        "type": "string",
        "format": "",
        "description": "How long ago it was created.",
        "priority": 0,
    }));
    Value::Array(columns)
}

/// The row of an object, at this time.
pub(crate) fn row(
    kind: &Kind,
    version: &str,
    include: Include,
    object: &Value,
    now_ms: u64,
) -> Value {
    let mut cells = vec![object["metadata"]["name"].clone()];
    cells.extend(kind.columns.iter().map(|column| (column.cell)(object)));
    cells.push(json!(age(&object["metadata"]["creationTimestamp"], now_ms)));
    let mut row = json!({ "cells": cells });
    match include {
        Include::Metadata => row["object"] = metadata_only(version, object),
        Include::Object => row["object"] = object.clone(),
        Include::None => {}
    }
    row
}

/// The metadata of an object alone, by this version of `meta.k8s.io`.
pub(crate) fn metadata_only(version: &str, object: &Value) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": object["metadata"],
    })
}

/// How long ago a time was, as kubectl prints it.
fn age(created: &Value, now_ms: u64) -> String {
    let created = created
        .as_str()
        .and_then(|text| OffsetDateTime::parse(text, &Rfc3339).ok());
    let Some(created) = created else {
        return "<unknown>".to_owned();
    };
    let now = i64::try_from(now_ms / 1_000).unwrap_or(i64::MAX);
    human(now.saturating_sub(created.unix_timestamp()))
}

/// A duration in the units that say most, as `duration.HumanDuration` of Kubernetes writes it.
fn human(seconds: i64) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;
    let two = |big: i64, big_unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{big_unit}"),
        small => format!("{big}{big_unit}{small}{small_unit}"),
    };
    match seconds {
        // Clocks of replicas may differ a little.
        ..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(seconds / DAY, "d", seconds % DAY / HOUR, "h"),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => two(seconds / YEAR, "y", seconds % YEAR / DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_reads_as_in_kubernetes() {
        for (seconds, text) in [
            (-3, "0s"),
            (5, "5s"),
            (119, "119s"),
            (125, "2m5s"),
            (480, "8m"),
            (600, "10m"),
            (10_800, "3h"),
            (14_700, "4h5m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (864_000, "10d"),
            (63_072_000, "2y"),
            (63_158_400, "2y1d"),
            (315_360_000, "10y"),
        ] {
            assert_eq!(human(seconds), text, "{seconds}");
        }
        assert_eq!(age(&Value::Null, 0), "<unknown>");
        assert_eq!(age(&json!("1970-01-01T00:00:10Z"), 15_000), "5s");
    }
}
