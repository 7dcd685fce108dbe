//! [`Disk`] on the file system of the operating system.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use super::{Disk, DiskFile, DiskLock, Space};

/// Only the owner can access directories and files: the log holds what clients wrote.
const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The zeros of one write when a new file is filled.
static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// The file system of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(DIRECTORY_MODE)
            .create(path)
    }

    fn directory_mode(&self, path: &Path) -> io::Result<u32> {
        Ok(fs::metadata(path)?.permissions().mode() & 0o7777)
    }

    fn make_private(&self, path: &Path) -> io::Result<()> {
        fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE))
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        let mut names = fs::read_dir(directory)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn create(&self, path: &Path, length: u64) -> io::Result<Arc<dyn DiskFile>> {
        match fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            Ok(()) | Err(_) => {}
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(path)
            .map(RealFile)?;
        let mut left = length;
        while left > 0 {
            let step = usize::try_from(left).map_or(ZEROS.len(), |left| left.min(ZEROS.len()));
            file.write_all_at(&ZEROS[..step], length - left)?;
            left -= step as u64;
        }
        Ok(Arc::new(file))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        // Names are metadata, which fdatasync need not write, so this must be a full fsync.
        File::open(path)?.sync_all()
    }

    fn space(&self, directory: &Path) -> io::Result<Space> {
        let found = rustix::fs::statvfs(directory)?;
        Ok(Space {
            free: found.f_bavail.saturating_mul(found.f_frsize),
            size: found.f_blocks.saturating_mul(found.f_frsize),
        })
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn DiskLock>>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FILE_MODE)
            .open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(RealFile(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(e),
        }
    }
}

/// An open file of the operating system. It is its own type, so that [`File`] keeps its methods.
#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<usize> {
        self.0.write_at(data, offset)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// The lock belongs to the open file, so closing the file releases it.
impl DiskLock for RealFile {}

#[cfg(test)]
mod tests;
