//! The table that a terminal shows: one row for each member, one column for each resource, and the status below.

use std::collections::BTreeMap;

use synod_client::{ApiVersion, Phase};

use super::board::{Board, Column, short};
use super::stage::{ReplicaState, Shown};

/// The lines of the table, without colours.
pub(crate) fn picture(shown: &Shown) -> Vec<String> {
    let seconds = shown.began.elapsed().as_secs_f64();
    let mut lines = vec![
        format!("{seconds:6.1} s  {}", shown.phase),
        format!("revision  {}", shown.board.revision),
        format!("replicas  {}", replicas(shown)),
        format!("clients   {}", clients(shown)),
    ];
    lines.extend(align(&rows(&shown.board)));
    lines
}

fn replicas(shown: &Shown) -> String {
    let replicas = shown.replicas.iter().map(|(id, state)| match state {
        ReplicaState::Down => format!("{id} is down"),
        ReplicaState::Follows { revision } => format!("{id} follows at {revision}"),
        ReplicaState::Leads { revision } => format!("{id} leads at {revision}"),
    });
    replicas.collect::<Vec<String>>().join(", ")
}

fn clients(shown: &Shown) -> String {
    let tally = &shown.tally;
    format!(
        "{} writes acknowledged, {} refused by a closed gate, {} objects read back",
        tally.acknowledged, tally.refused, tally.read
    )
}

fn rows(board: &Board) -> Vec<Vec<String>> {
    let resource_row = |name: &str, cell: fn(&Column) -> String| {
        let cells = board.resources.values().map(cell);
        [name.to_owned(), String::new()]
            .into_iter()
            .chain(cells)
            .collect()
    };
    let heading = board
        .resources
        .keys()
        .map(|name| name.split('.').next().unwrap_or(name).to_owned());
    let heading = ["member".to_owned(), "release".to_owned()]
        .into_iter()
        .chain(heading);
    let mut rows: Vec<Vec<String>> = vec![heading.collect()];
    for (id, seat) in &board.members {
        let release = match seat.phase {
            _ if seat.gone => "gone".to_owned(),
            Phase::Joining => format!("{} joins", seat.version),
            Phase::Ready => seat.version.clone(),
        };
        let cells = board.resources.values().map(|column| cell(column, id));
        rows.push([id.clone(), release].into_iter().chain(cells).collect());
    }
    rows.push(resource_row("selected", selected));
    rows.push(resource_row("agreed on", agreed));
    rows.push(kept(board));
    let stored = board.resources.keys().map(|name| board.stored_in(name));
    let stored = ["stored in".to_owned(), String::new()]
        .into_iter()
        .chain(stored);
    rows.push(stored.collect());
    rows
}

/// The row of objects that Synod keeps: their number for each resource, empty for resources of the other store.
fn kept(board: &Board) -> Vec<String> {
    let cells = board.resources.keys();
    let cells = cells.map(|resource| by_version(&board.kept, resource));
    ["in Synod".to_owned(), String::new()]
        .into_iter()
        .chain(cells)
        .collect()
}

/// The number of objects of a resource in each version, as in `9 v1 3 v2`.
fn by_version(kept: &BTreeMap<(String, String), ApiVersion>, resource: &str) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, version) in kept.iter().filter(|((of, _), _)| of == resource) {
        *counts.entry(version.version()).or_default() += 1;
    }
    let counts = counts
        .iter()
        .map(|(version, count)| format!("{count} {version}"));
    counts.collect::<Vec<String>>().join(" ")
}

/// A member's entry for a resource, in the words of `synod storage-versions matrix`.
fn cell(column: &Column, member: &str) -> String {
    let Some(entry) = column.entries.get(member) else {
        return "-".to_owned();
    };
    let encoding = entry.encoding.as_ref();
    match (encoding, entry.preferred.as_ref()) {
        (None, _) => "<unset>".to_owned(),
        (Some(_), Some(_)) if entry.adopted_revision != Some(column.status.selected_revision) => {
            format!("{} !", short(encoding))
        }
        (Some(encoding), Some(preferred)) if encoding != preferred => {
            format!("{} -> {}", encoding.version(), preferred.version())
        }
        (Some(encoding), _) => encoding.version().to_owned(),
    }
}

fn selected(column: &Column) -> String {
    match &column.status.selected {
        Some(version) => format!(
            "{} at {}",
            version.version(),
            column.status.selected_revision
        ),
        None => "-".to_owned(),
    }
}

fn agreed(column: &Column) -> String {
    match &column.status.agreed {
        Some(version) => format!(
            "{} at {}",
            version.version(),
            column.status.agreement_revision
        ),
        None => "NO".to_owned(),
    }
}

/// Lines in which the cells are aligned in columns.
fn align(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        cells
            .collect::<Vec<String>>()
            .join("   ")
            .trim_end()
            .to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_in_columns_and_lines_end_without_spaces() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["member", "release", "widgets"]),
            row(["a", "1.0", "v1"]),
            row(["longer-than-that", "gone", ""]),
        ];
        assert_eq!(
            align(&rows),
            [
                "member             release   widgets",
                "a                  1.0       v1",
                "longer-than-that   gone",
            ]
        );
    }

    #[test]
    fn objects_are_counted_by_resource_and_version() {
        let object = |resource: &str, name: &str, version: &str| {
            let key = (resource.to_owned(), name.to_owned());
            (key, ApiVersion::parse(version).unwrap())
        };
        let kept = BTreeMap::from([
            object("trinkets.example.io", "a", "example.io/v1"),
            object("trinkets.example.io", "b", "example.io/v2"),
            object("trinkets.example.io", "c", "example.io/v1"),
            object("widgets.example.io", "a", "example.io/v1"),
        ]);
        assert_eq!(by_version(&kept, "trinkets.example.io"), "2 v1 1 v2");
        assert_eq!(by_version(&kept, "gadgets.example.io"), "");
    }
}
