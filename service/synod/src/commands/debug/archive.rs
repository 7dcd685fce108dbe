//! A compressed archive of text files that only its owner can read.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use synod_client::WallTime;
use tar::{Builder, Header};

/// For the owner alone: even without secrets it tells much of a cluster.
const MODE: u32 = 0o600;

/// An archive that is being written.
pub(super) struct Archive {
    builder: Builder<GzEncoder<File>>,
    /// The folder in it that all files are in.
    folder: String,
    seconds: u64,
}

impl Archive {
    /// Creates the file.
    ///
    /// # Errors
    ///
    /// It is there already, or cannot be created.
    pub(super) fn create(out: &Path, folder: &str, now: WallTime) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(MODE).open(out)?;
        Ok(Self {
            builder: Builder::new(GzEncoder::new(file, Compression::default())),
            folder: folder.to_owned(),
            seconds: now.as_millis() / 1_000,
        })
    }

    /// Adds a file.
    ///
    /// # Errors
    ///
    /// The disk's.
    pub(super) fn add(&mut self, path: &str, text: &str) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(MODE);
        header.set_mtime(self.seconds);
        let path = format!("{}/{path}", self.folder);
        self.builder.append_data(&mut header, path, text.as_bytes())
    }

    /// Writes the end.
    ///
    /// # Errors
    ///
    /// The disk's.
    pub(super) fn finish(self) -> io::Result<()> {
        let mut file = self.builder.into_inner()?.finish()?;
        file.flush()?;
        file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;

    use flate2::read::GzDecoder;

    use super::*;

    // Guarantee: F-06
    #[test]
    fn an_archive_is_for_its_owner_alone_and_replaces_nothing() {
        let folder = tempfile::TempDir::new().unwrap();
        let out = folder.path().join("bundle.tar.gz");
        let create = || Archive::create(&out, "bundle", WallTime::from_millis(7_000));
        let mut archive = create().unwrap();
        archive.add("replica-1/status.json", "{}").unwrap();
        archive.finish().unwrap();
        let mode = std::fs::metadata(&out).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, MODE);
        let mut archive = tar::Archive::new(GzDecoder::new(File::open(&out).unwrap()));
        let mut entry = archive.entries().unwrap().next().unwrap().unwrap();
        assert_eq!(
            entry.path().unwrap().to_str(),
            Some("bundle/replica-1/status.json")
        );
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        assert_eq!(text, "{}");
        let again = create().map(drop).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    }
}
