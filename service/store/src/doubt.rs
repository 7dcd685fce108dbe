//! Whether this replica knows that the states of the replicas differ.
//!
//! A replica that finds out while no majority agrees refuses writes until one does. The file makes it outlive a restart: `DOUBT`
//! is there for as long as that is so. Its text is for people; that it is there is all that counts, so damage to it changes
//! nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::replace::{remove_if_there, replace_file};

const FILE_NAME: &str = "DOUBT";

const TEXT: &[u8] = b"The states of the replicas differ, and no majority agreed. The replica removes this file when one does.\n";

/// The file of one data directory.
#[derive(Clone, Debug)]
pub struct DoubtFile {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
}

impl DoubtFile {
    /// The file of this data directory. It need not exist.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, directory: &Path) -> Self {
        Self {
            disk,
            directory: directory.to_owned(),
        }
    }

    /// Whether the states are known to differ.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn is_raised(&self) -> Result<bool, IoFailure> {
        let file = self.directory.join(FILE_NAME);
        match self.disk.read(&file) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(IoFailure::while_doing("read", &file)(error)),
        }
    }

    /// Notes whether they are, durably.
    ///
    /// # Errors
    ///
    /// An error of the file system.
    pub fn set(&self, is_raised: bool) -> Result<(), IoFailure> {
        if is_raised {
            return replace_file(&*self.disk, &self.directory, FILE_NAME, TEXT);
        }
        remove_if_there(&*self.disk, &self.directory.join(FILE_NAME))?;
        self.disk
            .sync_directory(&self.directory)
            .map_err(IoFailure::while_doing("sync directory", &self.directory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SimDisk;

    #[test]
    fn a_doubt_outlives_a_power_cut_and_so_does_its_end() {
        let disk = SimDisk::new();
        let directory = Path::new("/data");
        disk.create_directory(directory).unwrap();
        disk.sync_directory(Path::new("/")).unwrap();
        let file = DoubtFile::new(Arc::new(disk.clone()), directory);
        assert!(!file.is_raised().unwrap());
        for is_raised in [true, false, false, true] {
            file.set(is_raised).unwrap();
            disk.crash(1);
            assert_eq!(file.is_raised().unwrap(), is_raised);
        }
    }
}
