//! Counts what the guard of `tests/costs` counts, in an optimized build and with more objects stored: instructions and
//! allocations of an operation. A busy machine does not change them, so they compare two builds where times do not.

#[path = "../costs/counted.rs"]
#[expect(dead_code, reason = "the guard also compares with a record")]
mod counted;
#[path = "../costs/paths.rs"]
mod paths;
#[path = "apply/workload.rs"]
mod workload;

use counted::Count;
use workload::Scale;

/// The word with which the program runs itself again.
const AGAIN: &str = "under-callgrind";

const SCALE: Scale = Scale {
    objects: 5_000,
    commands: 3_000,
    members: 100,
    large: 3,
};

fn main() {
    if std::env::args().any(|word| word == AGAIN) {
        counted::under_callgrind(all);
    } else {
        print!("{}", counted::table(&counted::costs(all, &[AGAIN])));
    }
}

fn all(count: &mut Count<'_>) {
    paths::paths(SCALE, count);
}
