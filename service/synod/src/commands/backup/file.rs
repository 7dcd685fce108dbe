//! The files of backups: read from a path or a pipe, and written so that a file is there only once it is whole.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use synod_model::ClusterId;
use tempfile::NamedTempFile;

use super::{encryption, kept};
use crate::failure::Failure;

/// What stands for standard input and standard output.
const PIPE: &str = "-";

/// Where a backup is written to.
pub(super) enum Target {
    /// A file that has no name yet, beside the one that it takes the place of.
    File {
        path: PathBuf,
        temporary: BufWriter<NamedTempFile>,
        force: bool,
    },
    /// Standard output.
    Pipe(BufWriter<io::Stdout>),
}

impl Target {
    /// Opens the target. A file that is there already is refused now, before the cluster is asked for anything.
    pub(super) fn open(path: &Path, force: bool) -> Result<Self, Failure> {
        Self::begin(path, force, ".synod-backup-")
    }

    /// Opens the target in a folder of backups of this cluster.
    pub(super) fn open_in_folder(
        path: &Path,
        force: bool,
        cluster: &ClusterId,
    ) -> Result<Self, Failure> {
        Self::begin(path, force, &kept::partial(cluster))
    }

    fn begin(path: &Path, force: bool, prefix: &str) -> Result<Self, Failure> {
        if path.as_os_str() == PIPE {
            return Ok(Self::Pipe(BufWriter::new(io::stdout())));
        }
        if !force && path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        // Its rights are those of its owner alone from the start.
        let temporary = tempfile::Builder::new()
            .prefix(prefix)
            .suffix(kept::PARTIAL)
            .tempfile_in(folder(path))
            .map_err(|error| unwritten(path, &error))?;
        // The lock says that somebody writes it, and goes with the process. Not every file system has locks.
        let _ = temporary.as_file().try_lock();
        Ok(Self::File {
            path: path.to_owned(),
            temporary: BufWriter::new(temporary),
            force,
        })
    }

    /// Makes what was written durable, and gives the file its name.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let (path, temporary, force) = match self {
            Self::File {
                path,
                temporary,
                force,
            } => (path, temporary, force),
            Self::Pipe(mut output) => {
                return output.flush().map_err(|error| unprinted(&error));
            }
        };
        let failed = |error: &io::Error| unwritten(&path, error);
        let temporary = temporary
            .into_inner()
            .map_err(|error| failed(error.error()))?;
        temporary
            .as_file()
            .sync_all()
            .map_err(|error| failed(&error))?;
        let named = match force {
            true => temporary.persist(&path),
            false => temporary.persist_noclobber(&path),
        };
        named.map_err(|refused| match refused.error.kind() {
            io::ErrorKind::AlreadyExists => exists(&path),
            _ => failed(&refused.error),
        })?;
        File::open(folder(&path))
            .and_then(|folder| folder.sync_all())
            .map_err(|error| failed(&error))
    }

    pub(super) fn is_pipe(&self) -> bool {
        matches!(self, Self::Pipe(_))
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File { temporary, .. } => temporary.write(bytes),
            Self::Pipe(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File { temporary, .. } => temporary.flush(),
            Self::Pipe(output) => output.flush(),
        }
    }
}

/// Opens a backup to read it, with the private keys of a file if it is encrypted; the text names it in failures.
pub(super) fn source(
    path: &Path,
    identity: Option<&Path>,
) -> Result<(Box<dyn Read>, String), Failure> {
    let (file, place) = raw(path)?;
    let opened = encryption::opened(file, &place, identity)?;
    Ok((opened, place))
}

fn raw(path: &Path) -> Result<(Box<dyn BufRead>, String), Failure> {
    if path.as_os_str() == PIPE {
        return Ok((Box::new(io::stdin().lock()), "standard input".to_owned()));
    }
    let place = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        let message = format!("the backup {place} cannot be read: {error}");
        Failure::local(message, "check the path and who may read it")
    })?;
    Ok((Box::new(BufReader::new(file)), place))
}

/// The folder of a file.
fn folder(path: &Path) -> &Path {
    let parent = path.parent();
    let named = parent.filter(|parent| !parent.as_os_str().is_empty());
    named.unwrap_or(Path::new("."))
}

fn exists(path: &Path) -> Failure {
    let message = format!("{} is there already", path.display());
    Failure::local(message, "give another name, or replace it with --force")
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    let message = format!("the backup {} cannot be written: {error}", path.display());
    Failure::local(
        message,
        "check that the folder is there, who may write to it, and its room",
    )
}

fn unprinted(error: &io::Error) -> Failure {
    let message = format!("standard output cannot be written: {error}");
    Failure::local(message, "check where it goes to")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    fn names(folder: &TempDir) -> Vec<String> {
        let names = fs::read_dir(folder.path()).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_file_is_there_once_it_is_whole_and_only_for_its_owner() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.backup");
        let mut target = Target::open(&path, false).unwrap();
        target.write_all(b"whole").unwrap();
        assert!(!path.exists());
        target.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(Target::open(&folder.path().join("b.backup"), false).unwrap());
        assert_eq!(names(&folder), ["a.backup"]);
    }

    #[test]
    fn a_file_that_is_there_is_replaced_only_by_force() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.backup");
        let late = Target::open(&path, false).unwrap();
        fs::write(&path, "mine").unwrap();
        assert!(Target::open(&path, false).is_err());
        // It came while the backup was written.
        let refused = late.finish().unwrap_err().to_string();
        assert!(refused.contains("is there already"), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        let mut target = Target::open(&path, true).unwrap();
        target.write_all(b"new").unwrap();
        target.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(&folder), ["a.backup"]);
    }
}
