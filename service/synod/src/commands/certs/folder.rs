//! The folder of certificates: `<name>.pem` beside `<name>-key.pem`.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Who may read a key: its owner alone.
const KEY_MODE: u32 = 0o600;
const CERTIFICATE_MODE: u32 = 0o644;

/// What the name of a key's file has more than that of its certificate.
pub(super) const KEY_ENDING: &str = "-key";

/// A certificate and its key, as PEM.
pub(super) struct Made {
    pub(super) certificate: String,
    pub(super) key: String,
}

/// What became of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    Wrote,
    Kept,
}

/// The folder.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// The folder at `path`, which is made if it is not there.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|error| failure("made", path, &error))?;
        Ok(Self(path.to_owned()))
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// A certificate and its key; `None` if the certificate is not there.
    pub(super) fn get(&self, name: &str) -> Result<Option<Made>, Failure> {
        let [certificate, key] = self.files(name);
        if !certificate.exists() {
            return Ok(None);
        }
        let read =
            |path: &Path| fs::read_to_string(path).map_err(|error| failure("read", path, &error));
        Ok(Some(Made {
            certificate: read(&certificate)?,
            key: read(&key)?,
        }))
    }

    /// Writes what `make` makes, unless it is there already and is not to be made anew. The key comes first.
    pub(super) fn put(
        &self,
        name: &str,
        anew: bool,
        make: impl FnOnce() -> Result<Made, Failure>,
    ) -> Result<Put, Failure> {
        let [certificate, key] = self.files(name);
        if certificate.exists() && !anew {
            return Ok(Put::Kept);
        }
        let made = make()?;
        for (path, text, mode) in [
            (&key, &made.key, KEY_MODE),
            (&certificate, &made.certificate, CERTIFICATE_MODE),
        ] {
            replace(path, text, mode).map_err(|error| failure("written", path, &error))?;
        }
        Ok(Put::Wrote)
    }

    fn files(&self, name: &str) -> [PathBuf; 2] {
        [
            self.path(&format!("{name}.pem")),
            self.path(&format!("{name}{KEY_ENDING}.pem")),
        ]
    }
}

/// Writes a file as a whole: who reads it meanwhile finds the old text or the new one.
fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let new = path.with_extension("pem.new");
    let _ = fs::remove_file(&new);
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&new)?;
    file.write_all(text.as_bytes())?;
    // The mask of the process may have taken rights away, and others must read a certificate.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.sync_all()?;
    fs::rename(&new, path)
}

fn failure(done: &str, path: &Path, error: &io::Error) -> Failure {
    let message = format!("{} cannot be {done}: {error}", path.display());
    Failure::local(message, "check the path and who may write there")
}

impl fmt::Display for Put {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wrote => "wrote",
            Self::Kept => "kept",
        })
    }
}
