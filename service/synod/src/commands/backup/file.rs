//! The files of backups: read from a path or a pipe, and written so that a file is there only once it is whole.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use synod_model::ClusterId;
use tempfile::NamedTempFile;

use super::form::Form;
use super::{encryption, kept};
use crate::failure::Failure;

/// The argument that stands for standard input and standard output.
const PIPE: &str = "-";

/// The target of a backup.
pub(super) enum Target {
    File(NewFile),
    /// Standard output.
    Pipe(BufWriter<io::Stdout>),
}

/// A file that has no name yet, in the folder where it gets one.
pub(super) struct NewFile {
    /// The file or folder that the caller has named.
    place: PathBuf,
    temporary: BufWriter<NamedTempFile>,
}

impl Target {
    /// Opens the target. A file that is there already is refused now, before the cluster is asked for anything.
    pub(super) fn open(path: &Path, force: bool) -> Result<Self, Failure> {
        if is_pipe(path) {
            return Ok(Self::Pipe(BufWriter::new(io::stdout())));
        }
        if !force && path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        NewFile::create(folder(path), path, ".synod-backup-").map(Self::File)
    }

    /// Opens a target in a folder of backups of this cluster.
    pub(super) fn open_in_folder(path: &Path, cluster: &ClusterId) -> Result<Self, Failure> {
        NewFile::create(path, path, &kept::partial(cluster)).map(Self::File)
    }
}

impl NewFile {
    fn create(folder: &Path, place: &Path, prefix: &str) -> Result<Self, Failure> {
        // Its rights are those of its owner alone from the start.
        let temporary = tempfile::Builder::new()
            .prefix(prefix)
            .suffix(kept::PARTIAL)
            .tempfile_in(folder)
            .map_err(|error| unwritten(place, &error))?;
        // The lock says that somebody writes it, and goes with the process. Not every file system has locks.
        let _ = temporary.as_file().try_lock();
        Ok(Self {
            place: place.to_owned(),
            temporary: BufWriter::new(temporary),
        })
    }

    /// Returns the file for another process to write to, which then writes in place of this one.
    pub(super) fn output(&self) -> Result<File, Failure> {
        let file = self.temporary.get_ref().as_file().try_clone();
        file.map_err(|error| unwritten(&self.place, &error))
    }

    /// Reads what a command has written, as far as that shows its form.
    pub(super) fn form(&self) -> Result<Form, Failure> {
        let file = self.temporary.get_ref().reopen();
        let begin = file.and_then(encryption::read_begin);
        let begin = begin.map_err(|error| unwritten(&self.place, &error))?;
        if begin.is_empty() {
            let message = "the command wrote nothing to its standard output".to_owned();
            let advice = "no file was written: correct the command, whose output becomes the file";
            return Err(Failure::local(message, advice));
        }
        Ok(Form::of_begin(&begin))
    }

    /// Makes what was written durable, and gives the file its name.
    pub(super) fn finish(self, path: &Path, force: bool) -> Result<(), Failure> {
        let failed = |error: &io::Error| unwritten(path, error);
        let temporary = self.temporary.into_inner();
        let temporary = temporary.map_err(|error| failed(error.error()))?;
        temporary
            .as_file()
            .sync_all()
            .map_err(|error| failed(&error))?;
        let named = match force {
            true => temporary.persist(path),
            false => temporary.persist_noclobber(path),
        };
        named.map_err(|refused| match refused.error.kind() {
            io::ErrorKind::AlreadyExists => exists(path),
            _ => failed(&refused.error),
        })?;
        File::open(folder(path))
            .and_then(|folder| folder.sync_all())
            .map_err(|error| failed(&error))
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.temporary.write(bytes),
            Self::Pipe(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.temporary.flush(),
            Self::Pipe(output) => output.flush(),
        }
    }
}

/// Returns whether the path stands for standard input or standard output.
pub(super) fn is_pipe(path: &Path) -> bool {
    path.as_os_str() == PIPE
}

/// Opens a backup for the command that reads it, and refuses an encrypted one. The text names the backup in failures.
pub(super) fn source(path: &Path, command: &str) -> Result<(Box<dyn Read>, String), Failure> {
    let (file, place) = raw(path)?;
    let from = encryption::refuse_encrypted(file, &place, command)?;
    Ok((from, place))
}

fn raw(path: &Path) -> Result<(Box<dyn Read>, String), Failure> {
    if is_pipe(path) {
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

    fn open(path: &Path, force: bool) -> Result<NewFile, Failure> {
        match Target::open(path, force)? {
            Target::File(file) => Ok(file),
            Target::Pipe(_) => panic!("{} is no pipe", path.display()),
        }
    }

    #[test]
    fn a_file_is_there_once_it_is_whole_and_only_for_its_owner() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.backup");
        let mut target = Target::File(open(&path, false).unwrap());
        target.write_all(b"whole").unwrap();
        assert!(!path.exists());
        let Target::File(file) = target else {
            unreachable!()
        };
        file.finish(&path, false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(open(&folder.path().join("b.backup"), false).unwrap());
        assert_eq!(names(&folder), ["a.backup"]);
    }

    #[test]
    fn a_file_that_is_there_is_replaced_only_by_force() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.backup");
        let late = open(&path, false).unwrap();
        fs::write(&path, "mine").unwrap();
        assert!(open(&path, false).is_err());
        // It came while the backup was written.
        let refused = late.finish(&path, false).unwrap_err().to_string();
        assert!(refused.contains("is there already"), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        let file = open(&path, true).unwrap();
        file.output().unwrap().write_all(b"new").unwrap();
        file.finish(&path, true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(&folder), ["a.backup"]);
    }
}
