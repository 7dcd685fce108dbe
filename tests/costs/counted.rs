//! Counts what paths of the code cost: instructions and allocations, which a busy machine does not change.
//!
//! A program counts allocations in its own process. It counts instructions by running itself again under callgrind, where
//! it goes through the same paths with the same seeds.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

/// Counts the work that is done in a number of operations of the path of this name.
pub(crate) type Count<'a> = dyn FnMut(&str, usize, &mut dyn FnMut()) + 'a;

/// What one operation of a path costs, on average.
#[derive(Clone, Debug)]
pub(crate) struct Cost {
    path: String,
    operations: usize,
    /// One count for each column.
    pub(crate) counts: [f64; COLUMNS.len()],
}

const COLUMNS: [&str; 3] = ["instructions", "allocations", "bytes"];

/// The width of the column with the names of the paths.
const NAME: usize = 52;

/// How far a count may be from the recorded one: a fall is recorded too, or the next rise would hide in it.
const TOLERANCE: f64 = 0.05;

/// Callgrind counts in this function, and writes a file whenever it returns. Its name stands in [`PATTERN`].
#[inline(never)]
fn work_of_a_path(work: &mut dyn FnMut()) {
    work();
    // Without anything after it, the call would be a jump in an optimized build, after which nothing returns here.
    std::hint::black_box(());
}

const PATTERN: &str = "*::work_of_a_path";

/// Goes through the paths where callgrind counts them.
pub(crate) fn under_callgrind(paths: fn(&mut Count<'_>)) {
    paths(&mut |_, _, work| work_of_a_path(work));
}

/// What the paths cost. With the words `again` this program calls [`under_callgrind`] with the same paths.
pub(crate) fn costs(paths: fn(&mut Count<'_>), again: &[&str]) -> Vec<Cost> {
    let instructions = instructions(again);
    let mut costs = allocations(paths);
    assert_eq!(
        costs.len(),
        instructions.len(),
        "callgrind has to count each path once"
    );
    for (cost, instructions) in costs.iter_mut().zip(instructions) {
        cost.counts[0] = each(instructions, cost.operations);
    }
    costs
}

/// The allocations of the paths, with no instructions.
pub(crate) fn allocations(paths: fn(&mut Count<'_>)) -> Vec<Cost> {
    let mut costs = Vec::new();
    paths(&mut |path, operations, work| {
        let counted = allocation_counter::measure(work);
        costs.push(Cost {
            path: path.to_owned(),
            operations,
            counts: [
                0.0,
                each(counted.count_total, operations),
                each(counted.bytes_total, operations),
            ],
        });
    });
    costs
}

fn each(total: u64, operations: usize) -> f64 {
    total as f64 / operations as f64
}

/// The instructions of each path, in order.
fn instructions(again: &[&str]) -> Vec<u64> {
    let folder = TempDir::new().expect("there is room for a folder");
    let program = std::env::current_exe().expect("this program has a path");
    let out = format!(
        "--callgrind-out-file={}",
        folder.path().join("out").display()
    );
    let mut callgrind = Command::new("valgrind");
    callgrind
        .args([
            "--tool=callgrind",
            "--quiet",
            "--dump-line=no",
            "--read-inline-info=no",
        ])
        .args([
            format!("--toggle-collect={PATTERN}"),
            format!("--dump-after={PATTERN}"),
            out,
        ])
        .arg(program)
        .args(again);
    let output = callgrind.output().unwrap_or_else(|error| {
        panic!("valgrind does not start: {error}. Install it by `apt-get install valgrind`, or run `cargo xtask test rust`")
    });
    assert!(
        output.status.success(),
        "{callgrind:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    written(folder.path())
}

/// The counts that callgrind has written, in order: a file for each.
fn written(folder: &Path) -> Vec<u64> {
    let mut counts = Vec::new();
    loop {
        let file = folder.join(format!("out.{}", counts.len() + 1));
        let text = fs::read_to_string(&file).unwrap_or_default();
        // What was counted when the program ended belongs to no path.
        if !text.contains("--dump-after") {
            return counts;
        }
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        let total = total.and_then(|total| total.trim().parse().ok());
        counts.push(total.expect("callgrind says in each file how much it counted"));
    }
}

/// The words with which a test program runs this ignored test alone, in its main thread.
pub(crate) const fn ignored(test: &str) -> [&str; 4] {
    ["--ignored", "--exact", test, "--test-threads=1"]
}

/// Holds the costs against their record; `UPDATE_GOLDEN=1` records them anew.
pub(crate) fn hold(record: &Path, costs: &[Cost]) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(record, table(costs)).expect("the record can be written");
    }
    let recorded = fs::read_to_string(record).expect("the record is there");
    let differing = differing(&recorded, costs);
    assert!(
        differing.is_empty(),
        "not as it was recorded in {} (with the same compiler, C library and kind of processor?):\n{}\nfound:\n{}",
        record.display(),
        differing.join("\n"),
        table(costs)
    );
}

pub(crate) fn table(costs: &[Cost]) -> String {
    let mut table = format!("{:<NAME$}", "");
    for column in COLUMNS {
        let _ = write!(table, " {column:>12}");
    }
    table.push('\n');
    for cost in costs {
        let _ = write!(table, "{:<NAME$}", cost.path);
        for count in cost.counts {
            let _ = write!(table, " {count:>12.2}");
        }
        table.push('\n');
    }
    table
}

/// The paths whose counts are not those of the record, and those of the record that are no longer counted.
pub(crate) fn differing(recorded: &str, found: &[Cost]) -> Vec<String> {
    let rows: Vec<(&str, &str)> = recorded
        .lines()
        .skip(1)
        .filter_map(|line| line.split_at_checked(NAME))
        .map(|(path, counts)| (path.trim_end(), counts))
        .collect();
    let is_near =
        |count: f64, recorded: f64| (count - recorded).abs() <= TOLERANCE * recorded.max(1.0);
    let mut differing = Vec::new();
    for Cost { path, counts, .. } in found {
        let row = rows.iter().find(|(recorded, _)| recorded == path);
        let Some((_, recorded)) = row else {
            differing.push(format!("{path}: not recorded"));
            continue;
        };
        let recorded: Vec<f64> = recorded
            .split_whitespace()
            .filter_map(|count| count.parse().ok())
            .collect();
        if recorded.len() != COLUMNS.len() {
            differing.push(format!("{path}: its record cannot be read"));
        }
        for ((column, count), recorded) in COLUMNS.iter().zip(counts).zip(recorded) {
            if !is_near(*count, recorded) {
                let change = (count / recorded - 1.0) * 100.0;
                differing.push(format!(
                    "{path}: {count:.2} {column} where {recorded:.2} are recorded, {change:+.1} %"
                ));
            }
        }
    }
    let is_gone = |(path, _): &&(&str, &str)| found.iter().all(|cost| cost.path != *path);
    let gone = rows.iter().filter(is_gone);
    differing.extend(gone.map(|(path, _)| format!("{path}: recorded, and no longer counted")));
    differing
}
