//! Golden files of what commands print. `UPDATE_GOLDEN=1 cargo test -p synod` writes them; they are reviewed as diffs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Compares texts with their files, and the set of texts with the files in the folder.
///
/// The names of all files begin with `group`: a file of the group that belongs to no text is a fault, too.
pub(super) fn check(group: &str, texts: &[(String, String)]) {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let names: BTreeSet<String> = texts
        .iter()
        .map(|(name, _)| format!("{group}.{name}.txt"))
        .collect();
    assert_eq!(names.len(), texts.len(), "two texts have one name");
    let mut faults = Vec::new();
    for (name, text) in texts {
        let path = folder().join(format!("{group}.{name}.txt"));
        if update {
            std::fs::write(&path, text).unwrap();
        } else if let Err(fault) = compare(&path, text) {
            faults.push(fault);
        }
    }
    for stale in files(group).difference(&names) {
        if update {
            std::fs::remove_file(folder().join(stale)).unwrap();
        } else {
            faults.push(format!("{stale}: nothing prints this any more"));
        }
    }
    assert!(
        faults.is_empty(),
        "{}\nUPDATE_GOLDEN=1 writes the files anew",
        faults.join("\n")
    );
}

/// Compares a text with a file that is elsewhere.
pub(super) fn check_file(path: &Path, text: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, text).unwrap();
    } else if let Err(fault) = compare(path, text) {
        panic!("{fault}\nUPDATE_GOLDEN=1 writes the file anew");
    }
}

fn compare(path: &Path, text: &str) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().display();
    let expected = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let pairs = (1..).zip(
        expected
            .lines()
            .map(Some)
            .chain(std::iter::repeat(None))
            .zip(text.lines().map(Some).chain(std::iter::repeat(None))),
    );
    for (number, (expected, found)) in pairs {
        if expected != found {
            return Err(format!(
                "{name}:{number}: expected {expected:?}\nfound {found:?}"
            ));
        }
        if expected.is_none() {
            break;
        }
    }
    if expected == text {
        Ok(())
    } else {
        Err(format!("{name}: line breaks differ"))
    }
}

fn files(group: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.starts_with(&format!("{group}.")))
        .collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}
