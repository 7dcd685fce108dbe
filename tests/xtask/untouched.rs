//! Checks that a command has not changed the checkout.
//!
//! A developer may run the tests with uncommitted changes. So the output of `git status` after the command is compared
//! with the output before, together with the contents of the files that it lists.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// The files that git lists as changed or untracked, each with a hash of its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Snapshot(BTreeMap<String, Seen>);

/// The status letters of a file, and the hash of its content.
type Seen = (String, u64);

impl Snapshot {
    /// Takes a snapshot of the checkout as it is now.
    ///
    /// # Errors
    ///
    /// git does not start or fails.
    pub(crate) fn take(checkout: &Path) -> Result<Self, String> {
        let output = Command::new("git")
            .args([
                "status",
                "--porcelain",
                "-z",
                "--untracked-files=all",
                "--no-renames",
            ])
            .current_dir(checkout)
            .output()
            .map_err(|error| format!("git does not start: {error}"))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let listing = String::from_utf8_lossy(&output.stdout);
        let files = listing
            .split_terminator('\0')
            .filter_map(|entry| Some((entry.get(..2)?, entry.get(3..)?)))
            .map(|(letters, path)| {
                let seen = (letters.to_owned(), content(&checkout.join(path)));
                (path.to_owned(), seen)
            });
        Ok(Self(files.collect()))
    }

    /// The files that differ between this snapshot and `later`.
    pub(crate) fn touched_by(&self, later: &Self) -> Vec<String> {
        let mut touched: Vec<String> = self
            .0
            .keys()
            .chain(later.0.keys())
            .filter(|&path| self.0.get(path) != later.0.get(path))
            .cloned()
            .collect();
        touched.sort_unstable();
        touched.dedup();
        touched
    }
}

/// A hash of the file's content, or of the link's target. A deleted file hashes as no content.
fn content(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    match fs::read_link(path) {
        Ok(target) => target.hash(&mut hasher),
        Err(_) => fs::read(path).ok().hash(&mut hasher),
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A checkout with a committed `kept.txt`.
    fn checkout() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("kept.txt"), "one").unwrap();
        fs::write(folder.path().join(".gitignore"), "/target/\n").unwrap();
        let git = |words: &[&str]| {
            let status = Command::new("git")
                .args(["-c", "user.name=a", "-c", "user.email=a@b"])
                .args(words)
                .current_dir(folder.path())
                .status();
            assert!(status.unwrap().success());
        };
        git(&["init", "--quiet"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message", "All"]);
        folder
    }

    /// The files reported when `before` has changed a checkout, and then `run` is run in it.
    fn touched(before: fn(&Path), run: fn(&Path)) -> Vec<String> {
        let checkout = checkout();
        before(checkout.path());
        let first = Snapshot::take(checkout.path()).unwrap();
        run(checkout.path());
        first.touched_by(&Snapshot::take(checkout.path()).unwrap())
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_run_that_writes_where_git_looks_is_found_out() {
        let nothing: fn(&Path) = |_| {};
        let found = touched(nothing, |it| {
            write(&it.join("kept.txt"), "two");
            write(&it.join("deep/new.txt"), "");
            write(&it.join("target/built"), "");
        });
        assert_eq!(found, ["deep/new.txt", "kept.txt"]);
        let removed = touched(nothing, |it| fs::remove_file(it.join("kept.txt")).unwrap());
        assert_eq!(removed, ["kept.txt"]);
    }

    #[test]
    fn what_was_changed_before_the_run_may_stay_so_and_no_more() {
        let before = |it: &Path| {
            write(&it.join("kept.txt"), "two");
            write(&it.join("new.txt"), "mine");
        };
        assert_eq!(touched(before, |_| {}), [""; 0]);
        let found = touched(before, |it| {
            write(&it.join("kept.txt"), "three");
            fs::remove_file(it.join("new.txt")).unwrap();
        });
        assert_eq!(found, ["kept.txt", "new.txt"]);
    }

    #[test]
    fn a_link_that_leads_elsewhere_is_another_file() {
        let link = |it: &Path, target: &str| {
            let _ = fs::remove_file(it.join("link"));
            std::os::unix::fs::symlink(target, it.join("link")).unwrap();
        };
        let checkout = checkout();
        link(checkout.path(), "kept.txt");
        let first = Snapshot::take(checkout.path()).unwrap();
        link(checkout.path(), ".gitignore");
        let second = Snapshot::take(checkout.path()).unwrap();
        assert_eq!(first.touched_by(&second), ["link"]);
    }
}
