//! The file of the audit log.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Who may read a new file: its owner and its group.
const MODE: u32 = 0o640;

/// A file that lines are added to. Whoever moves it away finds a new one at its path with the next line.
pub(crate) struct File {
    path: PathBuf,
    open: fs::File,
    /// Whether the end of the file is yet to be looked at: a write before may have left a line in part.
    is_doubtful: bool,
}

impl File {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let open = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(MODE)
            .open(path)?;
        Ok(Self {
            path: path.to_owned(),
            open,
            is_doubtful: true,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a text of whole lines. A line that was left in part, by a full disk or a killed process, is ended first.
    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        if self.was_moved()? {
            *self = Self::open(&self.path)?;
        }
        if self.is_doubtful && self.ends_within_a_line()? {
            self.open.write_all(b"\n")?;
        }
        self.is_doubtful = true;
        self.open.write_all(text)?;
        self.is_doubtful = false;
        Ok(())
    }

    fn ends_within_a_line(&self) -> io::Result<bool> {
        let Some(last) = self.open.metadata()?.len().checked_sub(1) else {
            return Ok(false);
        };
        let mut byte = [0];
        self.open.read_exact_at(&mut byte, last)?;
        Ok(&byte != b"\n")
    }

    fn was_moved(&self) -> io::Result<bool> {
        let own = self.open.metadata()?;
        match fs::metadata(&self.path) {
            Ok(there) => Ok((own.dev(), own.ino()) != (there.dev(), there.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Guarantee: A-11, TM-23
    #[test]
    fn a_line_that_was_left_in_part_does_not_swallow_the_next_one() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("audit.log");
        fs::write(&path, "{\"time\": \"20").unwrap();
        let mut file = File::open(&path).unwrap();
        file.write(b"one\n").unwrap();
        file.write(b"two\n").unwrap();
        drop(file);
        File::open(&path).unwrap().write(b"three\n").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "{\"time\": \"20\none\ntwo\nthree\n");
    }

    // Guarantee: A-11
    #[test]
    fn a_file_that_was_moved_away_is_followed_by_a_new_one() {
        let folder = tempfile::TempDir::new().unwrap();
        let (path, old) = (folder.path().join("audit.log"), folder.path().join("old"));
        let mut file = File::open(&path).unwrap();
        file.write(b"one\n").unwrap();
        fs::rename(&path, &old).unwrap();
        file.write(b"two\n").unwrap();
        fs::remove_file(&path).unwrap();
        file.write(b"three\n").unwrap();
        file.write(b"four\n").unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "one\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\nfour\n");
    }
}
