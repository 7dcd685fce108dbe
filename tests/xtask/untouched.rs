//! What a command leaves behind in the checkout: nothing, whatever was in it before.
//!
//! A developer runs the tests with changes of their own, so what git says at the end is compared with what it said at
//! the beginning, and a file that was changed before as well by what is in it.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// What git calls changed or unknown in a checkout, and what is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Snapshot(BTreeMap<String, Seen>);

/// The letters that git has for a file, and a hash of what is in it.
type Seen = (String, u64);

impl Snapshot {
    /// The checkout as it is now.
    ///
    /// # Errors
    ///
    /// When git does not start or has no answer.
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

    /// The files that are not in `later` as they were here.
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

/// What is in the file, or where the link leads; one that is gone has nothing.
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

    /// A checkout with `kept.txt` in it.
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

    /// What is named after `run` has done something in a checkout in which `before` was done before.
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
